"""The lists of unfinished work: what worlds contain, what the checker finds, that the solver reads them."""

from __future__ import annotations

import csv
import datetime as dt
import io
import re
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from samples import sampled
from trials import failed, rows_of, sizes, solve, truth

from mesocosm.checkers.canvas_list_test import MUTANTS
from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.families.instances import Instance
from mesocosm.generators.canvas_list_test import Params
from mesocosm.generators.canvas_list_test.expected import ASSIGNMENT_FILE, QUIZ_FILE, QUIZ_HEADER
from mesocosm.generators.canvas_list_test.filling import plain
from mesocosm.servers.canvas.models import User
from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.services.world import World

FAMILY = load_family("canvas_list_test")
COURSES = 80
"""Enough for every kind of story to occur, so that nearly every mutant has its place."""
LARGE = (1, {"num_courses": COURSES})

Build = Callable[..., Instance]


# -- worlds ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", sizes(FAMILY).values(), ids=sizes(FAMILY))
@pytest.mark.parametrize("seed", sampled(range(5), {0, 1}))
def test_every_edge_case_occurs_at_every_length(build: Build, size: int, seed: int) -> None:
    expected = build(seed, num_courses=size).expected
    reasons = {left_out.reason for left_out in expected.left_out}
    assert reasons == {"submitted", "over", "exempt", "ungraded", "dropped", "assistant", "ended"}
    assert any(left_out.variant == "now" for left_out in expected.left_out)
    kinds = {re.sub(r"_.*", "", feature) for feature in expected.features}
    # A deadline, a rule that is met and one that is not, an announcement taken back, and so on.
    assert kinds == {"tie", "undated", "deadline", "rule", "reinstated", "unopened", "empty"}
    assert {feature[:8] for feature in expected.features if feature.startswith("rule")} == {
        "rule_met",
        "rule_nea",
    }
    for rows in (expected.quizzes, expected.assignments):
        assert rows
    ties = Counter(
        row.deadline for rows in (expected.quizzes, expected.assignments) for row in rows if row.deadline
    )
    assert max(ties.values()) >= 2
    assert any(row.deadline is None for row in [*expected.quizzes, *expected.assignments])
    assert any(quiz.questions == 0 for quiz in expected.quizzes)


@pytest.mark.parametrize("seed", range(3))
def test_now_is_a_boundary(build: Build, seed: int) -> None:
    expected = build(seed, num_courses=30).expected
    now = f"{dt.datetime.strptime(expected.public['now'], '%A, %B %d, %Y, %H:%M'):%Y-%m-%d %H:%M}"  # noqa: DTZ007
    listed = [row.deadline for row in [*expected.quizzes, *expected.assignments] if row.deadline]
    assert min(listed) > now
    over = [left.quiz or left.assignment for left in expected.left_out if left.reason == "over"]
    assert all(row and row.deadline and row.deadline <= now for row in over)
    assert any(row and row.deadline == now for row in over)


def test_rows_are_ordered_by_deadline_code_and_title(build: Build) -> None:
    expected = build(0, num_courses=60).expected
    for rows in (expected.quizzes, expected.assignments):
        keys = [(row.deadline is None, row.deadline or "", row.code, row.title) for row in rows]
        assert keys == sorted(keys)
        assert len({(row.code, row.title) for row in rows}) == len(rows)


def test_deadlines_lie_on_both_sides_of_a_change_of_the_clocks(build: Build) -> None:
    found = set()
    for seed in range(12):
        expected = build(seed, num_courses=12).expected
        if "until" in expected.public["offsets"]:
            rows = [row for row in [*expected.quizzes, *expected.assignments] if row.deadline and row.utc]
            moments = [
                (dt.datetime.fromisoformat(row.deadline), dt.datetime.fromisoformat(row.utc)) for row in rows
            ]  # type: ignore[arg-type]
            found |= {len({local - utc for local, utc in moments})}
    assert 2 in found


def test_a_work_that_is_not_open_yet_has_no_description(build: Build) -> None:
    descriptions = [row.description for row in build(0, num_courses=60).expected.assignments]
    assert "" in descriptions
    assert any(descriptions)
    assert not any("<" in text or "&amp;" in text for text in descriptions)


def test_html_becomes_one_line_of_text() -> None:
    assert (
        plain("<p>Q&amp;A on <em>tone</em>.<br>Bring it.</p><p>Twice.</p>") == "Q&A on tone. Bring it. Twice."
    )


def test_shares_are_respected() -> None:
    fates = Params().fates(100, exempt=9)
    assert fates == {"listed": 46, "submitted": 18, "over": 10, "exempt": 9, "ungraded": 7, "dropped": 10}
    assert Params().works(20) == (28, 42)
    assert Params(exemption_prob=0.5, exemption_meet_prob=0.6).rules(20, 15) == (6, 4)
    assert Params(exemption_prob=1, exemption_meet_prob=0.5).rules(20, 8) == (4, 4)


def test_every_course_has_a_share_of_the_works_that_its_parameters_say(build: Build) -> None:
    instance = build(4, num_courses=40, quiz_prob=0.5, assignment_prob=0.25, assistant_rate=0)
    for table, courses in (("quizzes", 20), ("assignments", 10)):
        extra = " AND quiz_id IS NULL" if table == "assignments" else ""
        query = f"SELECT count(DISTINCT t.course_id) FROM {table} t JOIN courses c ON c.id = t.course_id"
        query += f" WHERE t.published AND c.workflow_state = 'available'{extra}"
        assert rows_of(instance, "canvas", query)[0][0] == courses


def test_rules_of_exemption_are_in_different_courses(build: Build) -> None:
    instance = build(0, num_courses=40, exemption_prob=0.5, assistant_rate=0)
    expected = instance.expected
    rules = {feature: number for feature, number in expected.features.items() if feature.startswith("rule_")}
    assert sum(rules.values()) == pytest.approx(20, abs=1)
    exempt = [left.quiz or left.assignment for left in expected.left_out if left.reason == "exempt"]
    assert len({row.code for row in exempt if row}) == len(exempt)


def test_courses_without_a_final_exam_say_so(build: Build) -> None:
    for share, number in ((0.0, 0), (0.5, 20)):
        instance = build(0, num_courses=40, no_exam_prob=share, assistant_rate=0)
        posts = rows_of(instance, "canvas", "SELECT message FROM discussion_topics")
        assert (
            sum(bool(re.search("no final exam|without a final|not sit a final", post[0])) for post in posts)
            == number
        )


def test_no_course_contradicts_itself_about_its_final_exam(build: Build) -> None:
    instance = build(0, num_courses=60, no_exam_prob=0.5, decoy_rate=1)
    query = "SELECT course_id, message FROM discussion_topics WHERE message LIKE '%final exam%'"
    spoken = [course for course, _ in rows_of(instance, "canvas", query)]
    assert len(spoken) == len(set(spoken)) > 30


def test_sister_courses_are_of_the_same_department(build: Build) -> None:
    instance = build(0, num_courses=60, decoy_rate=1)
    query = "SELECT course_code, message FROM discussion_topics JOIN courses ON courses.id = course_id"
    named = [
        (code.split()[0], other)
        for code, message in rows_of(instance, "canvas", query)
        for other in re.findall(r"\b([A-Z]{2,4}) \d{3}\b", message)
    ]
    assert len(named) > 5
    assert all(own == other for own, other in named)


@pytest.mark.parametrize(
    ("difficulty", "questions", "attempts"), [("easy", (2, 6), {2, 3, -1}), ("hard", (10, 25), {1, 2})]
)
def test_demanding_quizzes_have_more_questions_and_fewer_attempts(
    build: Build, difficulty: str, questions: tuple[int, int], attempts: set[int]
) -> None:
    quizzes = build(0, num_courses=30, quiz_difficulty=difficulty, empty_quiz_rate=0).expected.quizzes
    assert {quiz.attempts for quiz in quizzes} <= attempts
    assert all(questions[0] <= quiz.questions <= questions[1] for quiz in quizzes)


def test_shares_that_leave_nothing_to_list_are_refused() -> None:
    with pytest.raises(ValueError, match=r"must not exceed 0\.9 together"):
        Params(submission_prob=0.5, over_rate=0.3, ungraded_rate=0.2)


def test_a_rate_of_zero_means_none(build: Build) -> None:
    rates = ["over", "ungraded", "dropped", "new_deadline", "reinstated", "undated", "unopened", "tie"]
    none = [f"{rate}_rate" for rate in [*rates, "empty_quiz", "assistant", "decoy"]]
    none += ["submission_prob", "exemption_prob", "no_exam_prob"]
    expected = build(0, num_courses=8, **dict.fromkeys(none, 0)).expected
    assert not expected.features
    assert {left_out.reason for left_out in expected.left_out} <= {"ended"}


def test_filler_does_not_move_the_evidence(build: Build) -> None:
    bare, filled = build(1, num_courses=6), build(1, num_courses=6, filler_tokens=6_000)
    assert bare.expected.quizzes == filled.expected.quizzes
    assert bare.expected.assignments == filled.expected.assignments
    assert bare.prompt == filled.prompt


@pytest.mark.parametrize("filler", [700, 5_000, 60_000])
def test_filler_costs_what_it_says(build: Build, filler: int) -> None:
    bare, filled = build(2, num_courses=9), build(2, num_courses=9, filler_tokens=filler)
    assert abs(filled.survey.tokens - bare.survey.tokens - filler) <= max(60, 0.02 * filler)


def test_filler_is_spread_over_posts_quizzes_and_assignments(build: Build) -> None:
    bare, filled = build(2, num_courses=9), build(2, num_courses=9, filler_tokens=30_000)
    for table in ("discussion_topics", "quizzes", "assignments"):
        count = f"SELECT count(*) FROM {table}"
        assert rows_of(filled, "canvas", count)[0][0] >= rows_of(bare, "canvas", count)[0][0] + 4


def test_nothing_was_written_in_the_future_and_ids_follow_the_dates(build: Build) -> None:
    instance = build(0, num_courses=10, filler_tokens=20_000)
    with World(instance.path / "world", read_only=True) as world:
        now = f"{world.manifest.start:%Y-%m-%dT%H:%M:%SZ}"
    for query in (
        "SELECT posted_at FROM discussion_topics ORDER BY id",
        "SELECT created_at FROM quizzes ORDER BY id",
        "SELECT created_at FROM assignments WHERE quiz_id IS NULL ORDER BY id",
    ):
        dates = [row[0] for row in rows_of(instance, "canvas", query)]
        assert dates == sorted(dates)
        assert dates[-1] < now
    for column in ("submitted_at", "graded_at"):
        assert rows_of(instance, "canvas", f"SELECT max({column}) FROM submissions")[0][0] < now


def test_only_evidence_and_decoys_are_about_listed_works(build: Build) -> None:
    instance = build(3, num_courses=10, filler_tokens=60_000)
    evidence = {piece.contains for piece in instance.expected.evidence}
    listed = {row.title for row in (*instance.expected.quizzes, *instance.expected.assignments)}
    titles: dict[int, list[str]] = {}
    for course, title in rows_of(instance, "canvas", "SELECT course_id, name FROM assignments"):
        titles.setdefault(course, []).append(title)
    posts = rows_of(instance, "canvas", "SELECT course_id, title, message FROM discussion_topics")
    about = [
        (post, max((title for title in titles.get(post[0], []) if title in f"{post[1]} {post[2]}"), key=len))
        for post in posts
        if any(title in f"{post[1]} {post[2]}" for title in titles.get(post[0], []))
    ]
    others = [post for post, title in about if title in listed and post[2] not in evidence]
    assert len(others) <= 12, "only decoys name a work and are no evidence"


@pytest.mark.parametrize("seed", [0, 1])
def test_the_survey_meets_all_evidence(build: Build, seed: int) -> None:
    instance = build(seed, target=16_000)
    met = {index for result in instance.survey.results for index in result.evidence}
    assert met == set(range(len(instance.expected.evidence)))


def test_everyday_posts_do_not_repeat_themselves(build: Build) -> None:
    instance = build(0, num_courses=20, filler_tokens=100_000)
    evidence = {piece.contains for piece in instance.expected.evidence}
    texts = [
        row[0]
        for row in rows_of(instance, "canvas", "SELECT message FROM discussion_topics")
        if row[0] not in evidence
    ]
    texts += [row[0] for row in rows_of(instance, "canvas", "SELECT description FROM assignments")]
    words = [text.split() for text in texts]
    shingles = Counter(tuple(w[i : i + 8]) for w in words for i in range(len(w) - 7))
    repeated = sum(number for number in shingles.values() if number > 1)
    assert repeated < 0.05 * shingles.total()
    text = "\n".join(texts).encode()
    assert len(zlib.compress(text, 9)) > 0.25 * len(text)


# -- solving -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seed", "parameters"),
    [
        (0, {"target": 8_000}),
        *(pytest.param(seed, {"target": 8_000}, marks=pytest.mark.long) for seed in range(1, 5)),
        pytest.param(5, {"target": 40_000}, marks=pytest.mark.long),
        (6, {"num_courses": 80, "filler_tokens": 2_000}),
        (7, {"num_courses": 30, "new_deadline_rate": 1, "exemption_prob": 1}),
        (8, {"num_courses": 30, "reinstated_rate": 1, "decoy_rate": 1, "dropped_rate": 0.3}),
    ],
)
def test_the_solver_passes(build: Build, tmp_path: Path, seed: int, parameters: dict[str, Any]) -> None:
    episode = Episode.create(tmp_path / "episode", build(seed, **parameters).path, FAMILY)
    solve(FAMILY, episode)
    verdict = episode.grade()
    episode.close()
    assert verdict.verdict == "passed", verdict


# -- judging -----------------------------------------------------------------------------------------------


def write(episode: Episode, name: str, data: bytes) -> set[str]:
    """Replace a file and say what the checker finds."""
    episode.world.workspace.write(name, data, episode.world.now)
    return failed(episode.grade())


def lines_of(episode: Episode, name: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(episode.world.workspace.read(name).decode())))


def as_csv(lines: list[list[str]], **dialect: Any) -> bytes:
    text = io.StringIO()
    csv.writer(text, **dialect).writerows(lines)
    return text.getvalue().encode()


def test_the_solved_lists_pass(fork: Episode) -> None:
    assert failed(fork.grade()) == set()


def test_doing_nothing_fails(build: Build, tmp_path: Path) -> None:
    episode = Episode.create(tmp_path / "idle", build(0, num_courses=4).path, FAMILY)
    verdict = episode.grade()
    episode.close()
    assert {
        "quiz_rows_missing",
        "quiz_rows_extra",
        "assignment_rows_missing",
        "assignment_deadline",
    } <= failed(verdict)


_ELSEWHERE = {
    f"{kind}: {odd}"
    for kind in ("assignment", "quiz")
    for odd in ("a heading twice", "a line above the table")
}
AMONG_OTHERS = {"assignment-title-cut", "quiz-title-cut", *_ELSEWHERE}
"""A row with another title is missing, and another one is there instead; or its cells stand elsewhere."""


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_near_miss_fails_for_its_own_reason(fork: Episode, mutant: Any) -> None:
    with fork.world.editing() as world:
        mutant.apply(world, truth(FAMILY, fork))
    found = failed(fork.grade())
    assert mutant.breaks in found if mutant.name in AMONG_OTHERS else found == {mutant.breaks}


def test_every_finding_has_a_mutant_of_its_own(fork: Episode) -> None:
    alone = {mutant.breaks for mutant in MUTANTS if mutant.name not in AMONG_OTHERS}
    assert {check.name for check in fork.grade().findings} == alone


def test_harmless_spellings_are_accepted(fork: Episode) -> None:
    lines = lines_of(fork, QUIZ_FILE)
    for cells in lines[1:]:
        cells[2] = f"{float(cells[2]):.2f}"
        cells[6] = f" {cells[6].title()} "
        cells[8] = f"{float(cells[8]):.1f}"
        cells[9] = cells[9] and f"{cells[9].replace(' ', 'T')}:00"
    data = b"\xef\xbb\xbf" + as_csv(lines, lineterminator="\r\n", quoting=csv.QUOTE_ALL) + b"\r\n\r\n"
    assert write(fork, QUIZ_FILE, data) == set()


def test_paragraphs_may_be_joined_without_a_blank(fork: Episode) -> None:
    lines = lines_of(fork, ASSIGNMENT_FILE)
    for cells in lines[1:]:
        cells[3] = cells[3].replace(". ", ".")
    assert write(fork, ASSIGNMENT_FILE, as_csv(lines)) == set()


def test_a_description_is_one_line_of_words(fork: Episode) -> None:
    for blank in ("\n", "\r\n", ""):
        lines = lines_of(fork, ASSIGNMENT_FILE)
        for cells in lines[1:]:
            cells[3] = cells[3].replace(" ", blank, 1)
        assert write(fork, ASSIGNMENT_FILE, as_csv(lines)) == {"assignment_description"}


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("blank", [[], ["", "", ""], [" "]])
def test_blank_lines_end_a_file_and_stand_nowhere_else(fork: Episode, place: int, blank: list[str]) -> None:
    lines = lines_of(fork, ASSIGNMENT_FILE)
    assert write(fork, ASSIGNMENT_FILE, as_csv([*lines, blank, blank])) == set()
    lines.insert(place, blank)
    assert write(fork, ASSIGNMENT_FILE, as_csv(lines)) == {"assignment_file"}


@pytest.mark.parametrize("value", ["", "!", "TBD", "nan", "-1", "1e0", "12345", "x" * 500])
def test_nonsense_is_refused_in_every_column(fork: Episode, value: str) -> None:
    lines = lines_of(fork, QUIZ_FILE)
    for cells in lines[1:]:
        cells[1:3], cells[4:] = [value] * 2, [value] * 6
    columns = {f"quiz_{name}" for name in QUIZ_HEADER} - {"quiz_course_code", "quiz_quiz_title"}
    assert write(fork, QUIZ_FILE, as_csv(lines)) == columns


@pytest.mark.parametrize("data", [b"", b"\xff\xfe\x00", b"\x00\x00", b"PK\x03\x04", b'"', b"a;b;c\n1;2;3\n"])
def test_a_broken_file_is_a_failure_and_no_fault(fork: Episode, data: bytes) -> None:
    assert {"assignment_file", "assignment_rows_missing", "assignment_order"} <= write(
        fork, ASSIGNMENT_FILE, data
    )


def test_a_missing_file_is_a_failure_and_no_fault(fork: Episode) -> None:
    fork.world.workspace.delete(QUIZ_FILE, fork.world.now)
    assert {"quiz_file", "quiz_rows_missing", "other_files"} <= failed(fork.grade())


def test_a_header_without_rows_fails_every_column(fork: Episode) -> None:
    found = write(fork, QUIZ_FILE, as_csv([list(QUIZ_HEADER)]))
    assert found == {"quiz_rows_missing", "quiz_order"} | {
        f"quiz_{name}" for name in QUIZ_HEADER if name not in ("course_code", "quiz_title")
    }


def test_short_rows_are_found(fork: Episode) -> None:
    lines = lines_of(fork, ASSIGNMENT_FILE)
    del lines[1][-1]
    assert write(fork, ASSIGNMENT_FILE, as_csv(lines)) == {"assignment_file", "assignment_points_possible"}


def test_signing_in_again_is_no_damage(fork: Episode) -> None:
    with fork.world.editing() as world:
        store = world.store(CanvasStore)
        store.change(User, store.user_id, {"last_login": store.stamp})
    assert failed(fork.grade()) == set()
