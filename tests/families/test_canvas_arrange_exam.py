"""The exam schedule: what its worlds contain, what its checker finds, and that its solver reads them."""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from openpyxl import Workbook, load_workbook
from trials import failed, rows_of, sizes, solve, truth

from mesocosm.checkers.canvas_arrange_exam import MUTANTS
from mesocosm.errors import UsageError
from mesocosm.families.building import Instance
from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.generators.canvas_arrange_exam import Params
from mesocosm.generators.canvas_arrange_exam.courses import is_free
from mesocosm.generators.canvas_arrange_exam.expected import HEADER, SHEET, WORKBOOK
from mesocosm.kits.apportioning import apportion
from mesocosm.servers.canvas.models import User
from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.servers.excel.store import save_workbook
from mesocosm.services.world import World
from mesocosm.solvers.canvas_arrange_exam.facts import OPEN, read_facts, sentences

FAMILY = load_family("canvas_arrange_exam")
COURSES = 60
"""Enough for every kind of change to occur, so that every mutant has its place."""
LARGE = (4, {"num_courses": COURSES})

Build = Callable[..., Instance]


# -- worlds ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", sizes(FAMILY).values(), ids=sizes(FAMILY))
@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_every_edge_case_occurs_at_every_length(build: Build, size: int, seed: int) -> None:
    expected = build(seed, num_courses=size).expected
    rows = expected.rows
    starts = Counter((row.date, row.time) for row in rows if row.time)
    assert {row.source for row in rows} == {"Announcement", "Email", "Message"}
    assert {course.reason for course in expected.left_out} == {"no_exam", "exemption", "past", "optional"}
    assert max(starts.values()) >= 2, "no tie"
    assert any(row.date is None or row.time is None for row in rows), "no start is open"
    assert expected.superseded
    assert expected.unconverted
    assert any(row.proctor not in (None, expected.instructors[row.code][0]) for row in rows) or any(
        row.proctor is None for row in rows
    )
    assert any("-" in row.name for row in rows)


@pytest.mark.parametrize("seed", range(4))
def test_the_day_itself_is_a_boundary(build: Build, seed: int) -> None:
    instance = build(seed, num_courses=7)
    expected = instance.expected
    now = dt.datetime.strptime(expected.public["now"], "%A, %B %d, %Y, %H:%M")  # noqa: DTZ007 - campus time
    later = [row for row in expected.rows if row.date == now.date()]
    over = [left.row for left in expected.left_out if left.reason == "past"]
    assert later
    assert all(row.time is not None and row.time > now.time() for row in later)
    assert any(row.date == now.date() and row.time is not None and row.time < now.time() for row in over)


@pytest.mark.parametrize("size", sizes(FAMILY).values(), ids=sizes(FAMILY))
def test_an_average_just_short_of_the_rule_occurs(build: Build, size: int) -> None:
    instance = build(3, num_courses=size)
    bodies = [row[0] for row in rows_of(instance, "canvas", "SELECT message FROM discussion_topics")]
    bodies += [row[0] or "" for row in rows_of(instance, "canvas", "SELECT syllabus_body FROM courses")]
    rule = r"(?i)coursework average [^.]*\d\d\.\d|\d\d\.\d[^.]* coursework average"
    final = r"\b(?:the final (?:there|for them|in question)|their final|that final)\b"
    assert any(re.search(rule, body) and re.search(final, body) for body in bodies)


def test_nobody_is_examined_on_a_free_day(build: Build) -> None:
    for seed in range(3):
        expected = build(seed, num_courses=150).expected
        rows = [*expected.rows, *expected.superseded, *(left.row for left in expected.left_out)]
        assert not [row for row in rows if row.date and is_free(row.date)]


def test_addresses_are_nobodys_and_offices_write_in_office_hours(build: Build) -> None:
    instance = build(2, num_courses=9, distraction_emails=80)
    zone = ZoneInfo(instance.expected.public["zone"])
    mails = rows_of(instance, "email", "SELECT sender, date FROM emails")
    assert all(sender.rstrip(">").endswith(".example") for sender, _ in mails)
    desks = [date for sender, date in mails if re.search(r"<\w+@", sender)]
    assert desks
    for date in desks:
        moment = dt.datetime.fromisoformat(date).astimezone(zone)
        assert moment.weekday() < 5, date
        assert 8 <= moment.hour < 18, date


def test_rows_are_ordered_by_start_then_code_with_open_starts_last(build: Build) -> None:
    rows = build(0, num_courses=40).expected.rows
    keys = [(not (row.date and row.time), str(row.date), str(row.time), row.code) for row in rows if row.time]
    open_codes = [row.code for row in rows if not row.time]
    assert keys == sorted(keys)
    assert [row.code for row in rows[-len(open_codes) :]] == sorted(open_codes)


def test_shares_are_apportioned_exactly() -> None:
    params = Params(num_courses=100)
    assert Counter(params.fates()) == {
        "announcement": 40,
        "email": 15,
        "message": 10,
        "no_exam": 10,
        "exemption": 10,
        "past": 10,
        "optional": 5,
    }
    assert apportion({"a": 0.9, "b": 0.1, "c": 0.0}, 4) == {"a": 3, "b": 1, "c": 0}


def test_shares_must_sum_to_one() -> None:
    with pytest.raises(ValueError, match=r"must sum to 1, not 1\.1"):
        Params(canvas_exam_rate=0.5)


def test_too_few_courses_for_the_shares_are_refused() -> None:
    with pytest.raises(UsageError, match="at least 7"):
        FAMILY.params(num_courses=6)


def test_a_rate_of_zero_means_none(build: Build) -> None:
    parameters = {"message_exam_rate": 0, "optional_rate": 0, "canvas_exam_rate": 0.55}
    parameters |= {"superseded_rate": 0, "time_zone_rate": 0, "tbd_rate": 0}
    expected = build(0, num_courses=20, **parameters).expected
    assert {row.source for row in expected.rows} == {"Announcement", "Email"}
    assert "optional" not in {left.reason for left in expected.left_out}
    assert not expected.superseded
    assert not expected.unconverted
    assert all(row.date and row.time and row.duration and row.location for row in expected.rows)


def test_filler_does_not_move_the_evidence(build: Build) -> None:
    bare, filled = build(1, num_courses=9), build(1, num_courses=9, filler_tokens=6_000)
    assert bare.expected == filled.expected
    assert bare.prompt == filled.prompt


@pytest.mark.parametrize("filler", [700, 5_000, 60_000])
def test_filler_costs_what_it_says(build: Build, filler: int) -> None:
    bare, filled = build(2, num_courses=9), build(2, num_courses=9, filler_tokens=filler)
    assert abs(filled.survey.tokens - bare.survey.tokens - filler) <= max(40, 0.025 * filler)


def test_filler_is_spread_over_posts_mails_and_conversations(build: Build) -> None:
    bare, filled = build(2, num_courses=9), build(2, num_courses=9, filler_tokens=30_000)
    for service, table in (("canvas", "discussion_topics"), ("canvas", "conversations"), ("email", "emails")):
        count = f"SELECT count(*) FROM {table}"
        assert rows_of(filled, service, count)[0][0] >= rows_of(bare, service, count)[0][0] + 5


def test_distraction_parameters_add_that_many_items(build: Build) -> None:
    without = build(0, num_courses=8, distraction_emails=0, distraction_announcements=0)
    some = build(0, num_courses=8, distraction_emails=5, distraction_announcements=2)
    mails, posts = "SELECT count(*) FROM emails", "SELECT count(*) FROM discussion_topics"
    assert rows_of(some, "email", mails)[0][0] == rows_of(without, "email", mails)[0][0] + 5
    assert rows_of(some, "canvas", posts)[0][0] == rows_of(without, "canvas", posts)[0][0] + 16


def test_nothing_was_written_in_the_future(build: Build) -> None:
    instance = build(0, num_courses=12, filler_tokens=20_000)
    with World(instance.path / "world", read_only=True) as world:
        now = f"{world.manifest.start:%Y-%m-%dT%H:%M:%SZ}"
    for service, query in (
        ("canvas", "SELECT max(posted_at) FROM discussion_topics"),
        ("canvas", "SELECT max(created_at) FROM conversation_messages"),
        ("email", "SELECT max(date) FROM emails"),
    ):
        assert rows_of(instance, service, query)[0][0] < now


def test_ids_follow_the_dates_over_evidence_and_distraction_alike(build: Build) -> None:
    instance = build(0, num_courses=12, filler_tokens=20_000)
    for service, query in (
        ("canvas", "SELECT posted_at FROM discussion_topics ORDER BY id"),
        ("canvas", "SELECT created_at FROM conversation_messages GROUP BY conversation_id ORDER BY id"),
        ("email", "SELECT date FROM emails ORDER BY id"),
    ):
        dates = [row[0] for row in rows_of(instance, service, query)]
        assert dates == sorted(dates)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_survey_meets_all_evidence(build: Build, seed: int) -> None:
    instance = build(seed, target=16_000)
    met = {index for result in instance.survey.results for index in result.evidence}
    assert met == set(range(len(instance.expected.evidence)))


# -- solving -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seed", "parameters"),
    [
        *((seed, {"target": 8_000}) for seed in range(5)),
        (5, {"target": 40_000}),
        (6, {"num_courses": 120, "filler_tokens": 2_000}),
        (7, {"num_courses": 30, "superseded_rate": 1, "time_zone_rate": 1, "tbd_rate": 0}),
        (8, {"num_courses": 30, "tbd_rate": 1, "proctor_rate": 1, "decoy_rate": 1}),
    ],
)
def test_the_solver_passes(build: Build, tmp_path: Path, seed: int, parameters: dict[str, Any]) -> None:
    episode = Episode.create(tmp_path / "episode", build(seed, **parameters).path, FAMILY)
    solve(FAMILY, episode)
    verdict = episode.grade()
    episode.close()
    assert verdict.verdict == "passed", verdict


# -- judging -----------------------------------------------------------------------------------------------


def spoil(episode: Episode, change: Callable[[Workbook], object]) -> set[str]:
    """Change the workbook and say what the checker finds."""
    world = episode.world
    workbook = load_workbook(BytesIO(world.workspace.read(WORKBOOK)))
    change(workbook)
    world.workspace.write(WORKBOOK, save_workbook(workbook, world.now), world.now)
    return failed(episode.grade())


def test_the_solver_reads_an_open_room_beside_a_start_that_is_known() -> None:
    text = "The final exam of section 1: the start is at 2:00 p.m. The room is still open."
    facts = read_facts(text, 1, "fall 2025", dt.timedelta(0))
    assert (facts.time, facts.room) == (dt.time(14), OPEN)
    assert sentences("At 5:00 p.m. New York time (UTC-5). Or 6:00 p.m. UTC-6.") == [
        "At 5:00 p.m. New York time (UTC-5).",
        "Or 6:00 p.m. UTC-6.",
    ]


def test_the_solved_schedule_passes(fork: Episode) -> None:
    assert failed(fork.grade()) == set()


def test_doing_nothing_fails(build: Build, tmp_path: Path) -> None:
    episode = Episode.create(tmp_path / "idle", build(0, num_courses=7).path, FAMILY)
    verdict = episode.grade()
    episode.close()
    assert {"rows_missing", "course_name", "row_order"} <= failed(verdict)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_near_miss_fails_for_its_own_reason(fork: Episode, mutant: Any) -> None:
    with fork.world.editing() as world:
        mutant.apply(world, truth(FAMILY, fork))
    assert mutant.breaks in failed(fork.grade())


ALONE = {
    "workbook": "a second sheet",
    "header": "column-renamed",
    "rows_missing": "row-missing",
    "rows_extra": "row-twice",
    "row_order": "tie-swapped",
    "course_name": "name-cut-at-hyphen",
    "proctor_name": "instructor-as-proctor",
    "proctor_email": "address-of-assistant",
    "book": "book-flipped",
    "final_date": "day-before-month",
    "start_time": "half-an-hour-late",
    "duration": "duration-in-hours",
    "location": "building-without-room",
    "information_source": "source-wrong",
    "course_credit": "credit-off-by-one",
    "other_files": "a file left behind",
    "mailbox": "a mail sent to a stranger",
    "canvas": "an announcement removed",
    "memory": "something noted",
}


@pytest.mark.parametrize(("finding", "name"), ALONE.items())
def test_each_finding_can_fail_alone(fork: Episode, finding: str, name: str) -> None:
    [mutant] = [mutant for mutant in MUTANTS if mutant.name == name]
    with fork.world.editing() as world:
        mutant.apply(world, truth(FAMILY, fork))
    assert failed(fork.grade()) == {finding}


def test_every_finding_has_a_test_of_its_own(fork: Episode) -> None:
    assert {check.name for check in fork.grade().findings} == set(ALONE)


def test_cells_of_other_kinds_and_harmless_spellings_are_accepted(fork: Episode) -> None:
    rows = truth(FAMILY, fork).rows

    def respell(workbook: Workbook) -> None:
        sheet = workbook[SHEET]
        for number, row in enumerate(rows, start=2):
            cells = [sheet.cell(number, column) for column in range(1, len(HEADER) + 1)]
            cells[3].value = str(cells[3].value).upper()
            cells[4].value = f" {str(cells[4].value).lower()} "
            cells[5].value = row.date or "tbd"
            cells[6].value = row.time or "tbd"
            cells[7].value = str(cells[7].value)
            cells[10].value = f"{row.credit:.1f}"

    assert spoil(fork, respell) == set()


def test_leading_zeros_may_be_missing(fork: Episode) -> None:
    rows = truth(FAMILY, fork).rows

    def shorten(workbook: Workbook) -> None:
        for number, row in enumerate(rows, start=2):
            if row.date and row.time:
                workbook[SHEET].cell(number, 6).value = f"{row.date.month}/{row.date.day}/{row.date.year}"
                workbook[SHEET].cell(number, 7).value = f"{row.time.hour}:{row.time:%M}"

    assert spoil(fork, shorten) == set()


@pytest.mark.parametrize("value", ["", "!", "TB", None, True, 12345, "=1/0", "x" * 500])
def test_empty_and_nonsense_values_are_refused_in_every_column(fork: Episode, value: Any) -> None:
    def overwrite(workbook: Workbook) -> None:
        for number in range(2, workbook[SHEET].max_row + 1):
            for column in range(2, len(HEADER) + 1):
                workbook[SHEET].cell(number, column).value = value

    columns = set(ALONE) - {"workbook", "header", "rows_missing", "rows_extra", "row_order"}
    assert spoil(fork, overwrite) == columns - {"other_files", "mailbox", "canvas", "memory"}


def test_values_beside_the_table_are_found(fork: Episode) -> None:
    assert spoil(fork, lambda workbook: workbook[SHEET].cell(3, 14, "checked")) == {"workbook"}


def test_blank_rows_do_not_matter(fork: Episode) -> None:
    assert spoil(fork, lambda workbook: workbook[SHEET].insert_rows(3)) == set()


def test_a_renamed_sheet_is_no_schedule(fork: Episode) -> None:
    found = spoil(fork, lambda workbook: setattr(workbook[SHEET], "title", "Sheet1"))
    assert {"workbook", "header", "rows_missing", "row_order", "location"} <= found


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 not a workbook", b"Course Code,Course Name\n"])
def test_a_broken_workbook_is_a_failure_and_no_fault(fork: Episode, data: bytes) -> None:
    fork.world.workspace.write(WORKBOOK, data, fork.world.now)
    assert {"workbook", "rows_missing"} <= failed(fork.grade())


def test_a_missing_workbook_is_a_failure_and_no_fault(fork: Episode) -> None:
    fork.world.workspace.delete(WORKBOOK, fork.world.now)
    assert {"workbook", "rows_missing", "other_files"} <= failed(fork.grade())


def test_signing_in_again_is_no_damage(fork: Episode) -> None:
    with fork.world.editing() as world:
        store = world.store(CanvasStore)
        store.change(User, store.user_id, {"last_login": store.stamp})
    assert failed(fork.grade()) == set()
