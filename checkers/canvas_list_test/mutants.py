"""Near misses of two solved lists."""

from __future__ import annotations

import csv
import datetime as dt
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise

from sqlalchemy import delete, select

from mesocosm.checkers.canvas_list_test.lists import ASSIGNMENTS, QUIZZES, Listing
from mesocosm.errors import Refusal
from mesocosm.families.verdict import Inapplicable, Mutant
from mesocosm.generators.canvas_list_test.expected import AssignmentRow, Expected, QuizRow, Row
from mesocosm.servers.canvas.models import Course, DiscussionTopic, Quiz
from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.servers.memory.store import MemoryStore
from mesocosm.services.world import World

Apply = Callable[[World, Expected], None]


# -- files -------------------------------------------------------------------------------------------------


@contextmanager
def _lines(world: World, listing: Listing) -> Iterator[list[list[str]]]:
    """All lines of a file, the header first, to be changed in place."""
    lines = list(csv.reader(io.StringIO(world.workspace.read(listing.file).decode())))
    yield lines
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    world.workspace.write(listing.file, text.getvalue().encode(), world.now)


def _at(listing: Listing, lines: Sequence[list[str]], row: Row) -> int:
    title = listing.header.index(listing.title)
    for number, cells in enumerate(lines):
        if number and (cells[0], cells[title]) == (row.code, row.title):
            return number
    raise Inapplicable


def _set(world: World, listing: Listing, row: Row, column: str, value: str) -> None:
    with _lines(world, listing) as lines:
        lines[_at(listing, lines, row)][listing.header.index(column)] = value


def _first(listing: Listing, expected: Expected, apt: Callable[[Row], bool] = lambda _: True) -> Row:
    for row in listing.rows(expected):
        if apt(row):
            return row
    raise Inapplicable


def _written(row: Row) -> list[str]:
    """A row as it would be written down."""
    if isinstance(row, QuizRow):
        return [
            row.code,
            row.name,
            f"{row.credits:g}",
            row.title,
            str(row.questions),
            str(row.time_limit or ""),
            "unlimited" if row.attempts < 0 else str(row.attempts),
            row.policy,
            f"{row.points:g}",
            row.deadline or "",
        ]
    assert isinstance(row, AssignmentRow)
    return [row.code, row.name, row.title, row.description, row.deadline or "", f"{row.points:g}"]


# -- rows --------------------------------------------------------------------------------------------------


def _remove_last(listing: Listing) -> Apply:
    def apply(world: World, expected: Expected) -> None:
        rows = listing.rows(expected)
        if not rows:
            raise Inapplicable
        row = rows[-1]
        with _lines(world, listing) as lines:
            del lines[_at(listing, lines, row)]

    return apply


def _add(listing: Listing, reason: str, variant: str) -> Apply:
    """Something that belongs into no list stands in its list all the same."""

    def apply(world: World, expected: Expected) -> None:
        for left_out in expected.left_out:
            row: Row | None = left_out.quiz if listing is QUIZZES else left_out.assignment
            if row and left_out.reason == reason and variant in ("", left_out.variant):
                with _lines(world, listing) as lines:
                    lines.append(_written(row))
                return
        raise Inapplicable

    return apply


def _quiz_among_assignments(world: World, expected: Expected) -> None:
    quiz = _first(QUIZZES, expected)
    with _lines(world, ASSIGNMENTS) as lines:
        lines.append([quiz.code, quiz.name, quiz.title, "", quiz.deadline or "", f"{quiz.points:g}"])


def _repeat_first(world: World, expected: Expected) -> None:
    with _lines(world, QUIZZES) as lines:
        lines.append(_written(_first(QUIZZES, expected)))


def _keep_example(world: World, expected: Expected) -> None:
    with _lines(world, ASSIGNMENTS) as lines:
        day = (world.now.date()).isoformat()
        lines.insert(
            1, ["DEMO 100", "Example Course", "Essay 1 (Example)", "Write one page.", f"{day} 17:00", "50"]
        )


def _cut_title(listing: Listing) -> Apply:
    def apply(world: World, expected: Expected) -> None:
        row = _first(listing, expected, lambda row: row.title != _short(row.title))
        _set(world, listing, row, listing.title, _short(row.title))

    return apply


def _short(title: str) -> str:
    return title.partition(",")[0].partition(":")[0]


def _swap(listing: Listing, apt: Callable[[Row, Row], bool]) -> Apply:
    def apply(world: World, expected: Expected) -> None:
        rows = listing.rows(expected)
        for one, other in pairwise(rows):
            if apt(one, other):
                with _lines(world, listing) as lines:
                    a, b = _at(listing, lines, one), _at(listing, lines, other)
                    lines[a], lines[b] = lines[b], lines[a]
                return
        raise Inapplicable

    return apply


def _same_deadline(one: Row, other: Row) -> bool:
    return one.deadline is not None and one.deadline == other.deadline


def _only_other_dated(one: Row, other: Row) -> bool:
    return one.deadline is not None and other.deadline is None


def _reverse(listing: Listing) -> Apply:
    def apply(world: World, expected: Expected) -> None:
        with _lines(world, listing) as lines:
            if len(lines) < 3:
                raise Inapplicable
            lines[1:] = reversed(lines[1:])

    return apply


# -- cells -------------------------------------------------------------------------------------------------


def _cell(
    listing: Listing,
    column: str,
    value: Callable[[Row], str | None],
    apt: Callable[[Row], bool] = lambda _: True,
) -> Apply:
    """Another value in one cell: of the first row that it can stand in."""

    def apply(world: World, expected: Expected) -> None:
        row = _first(listing, expected, apt)
        _set(world, listing, row, column, value(row) or "")

    return apply


def _quiz(row: Row) -> QuizRow:
    assert isinstance(row, QuizRow)
    return row


def _description(row: Row) -> str:
    assert isinstance(row, AssignmentRow)
    return row.description


def _is_stale(row: Row) -> bool:
    return row.stale is not None and row.stale != row.deadline


def _in_utc(row: Row) -> bool:
    return row.deadline != row.utc


def _dated(row: Row) -> bool:
    return row.deadline is not None


def _undated(row: Row) -> bool:
    return row.deadline is None


def _hour_off(row: Row) -> str:
    moment = dt.datetime.fromisoformat(row.deadline or "") - dt.timedelta(hours=1)
    return f"{moment:%Y-%m-%d %H:%M}"


def _other_policy(row: Row) -> str:
    return "keep_latest" if _quiz(row).policy == "keep_highest" else "keep_highest"


def _other_limit(row: Row) -> str:
    return str((_quiz(row).time_limit or 0) + 15)


def _other_attempts(row: Row) -> str:
    return "2" if _quiz(row).attempts == 1 else "1"


# -- around the files --------------------------------------------------------------------------------------


def _rename_column(listing: Listing) -> Apply:
    def apply(world: World, expected: Expected) -> None:
        with _lines(world, listing) as lines:
            lines[0][0] = "course"

    return apply


def _stray_cell(listing: Listing) -> Apply:
    def apply(world: World, expected: Expected) -> None:
        with _lines(world, listing) as lines:
            lines[-1].append("checked")

    return apply


def _other_digits(value: str) -> str:
    """The same number in Arabic-Indic digits."""
    return value.translate({ord("0") + digit: 0x0660 + digit for digit in range(10)})


def _link_left_behind(world: World, expected: Expected) -> None:
    (world.path / "workspace" / "latest.csv").symlink_to(QUIZZES.file)


def _folder_left_behind(world: World, expected: Expected) -> None:
    (world.path / "workspace" / "drafts").mkdir()


def _file_left_behind(world: World, expected: Expected) -> None:
    world.workspace.write("collect.py", b"print('done')\n", world.now)


def _announcement_removed(world: World, expected: Expected) -> None:
    session = world.store(CanvasStore).session
    oldest = session.execute(select(DiscussionTopic.id).order_by(DiscussionTopic.id).limit(1)).scalar()
    if oldest is None:
        raise Inapplicable
    session.execute(delete(DiscussionTopic).where(DiscussionTopic.id == oldest))


def _quiz_begun(world: World, expected: Expected) -> None:
    store = world.store(CanvasStore)
    for row in expected.quizzes:
        found = select(Quiz.course_id, Quiz.id).join(Course, Course.id == Quiz.course_id)
        course_id, quiz_id = store.session.execute(
            found.where(Course.course_code == row.code, Quiz.title == row.title)
        ).one()
        try:
            store.quizzes.start_attempt(store.reading(course_id), quiz_id)
        except Refusal:
            continue  # not open yet
        return
    raise Inapplicable


def _noted(world: World, expected: Expected) -> None:
    world.store(MemoryStore).add_graph([("To do", "list", [f"{len(expected.quizzes)} quizzes"])])


def _added(name: str, reason: str, listing: Listing, variant: str = "") -> Mutant:
    """The mutant that lists something that belongs into no list, for one reason and one of the lists."""
    return Mutant(name, f"{listing.kind}_rows_extra", _add(listing, reason, variant))


MUTANTS = [
    Mutant("quiz-missing", "quiz_rows_missing", _remove_last(QUIZZES)),
    Mutant("assignment-missing", "assignment_rows_missing", _remove_last(ASSIGNMENTS)),
    Mutant("title-cut", "assignment_rows_missing", _cut_title(ASSIGNMENTS)),
    Mutant("quiz-title-cut", "quiz_rows_missing", _cut_title(QUIZZES)),
    Mutant("quiz-twice", "quiz_rows_extra", _repeat_first),
    Mutant("quiz-among-assignments", "assignment_rows_extra", _quiz_among_assignments),
    Mutant("example-kept", "assignment_rows_extra", _keep_example),
    _added("attempted-quiz-listed", "submitted", QUIZZES),
    _added("handed-in-assignment-listed", "submitted", ASSIGNMENTS),
    _added("exempt-quiz-listed", "exempt", QUIZZES),
    _added("exempt-assignment-listed", "exempt", ASSIGNMENTS),
    _added("due-right-now-listed", "over", QUIZZES, "now"),
    _added("assignment-due-right-now-listed", "over", ASSIGNMENTS, "now"),
    _added("brought-forward-quiz-listed", "over", QUIZZES, "brought_forward"),
    _added("brought-forward-assignment-listed", "over", ASSIGNMENTS, "brought_forward"),
    _added("practice-quiz-listed", "ungraded", QUIZZES),
    _added("ungraded-assignment-listed", "ungraded", ASSIGNMENTS),
    _added("dropped-quiz-listed", "dropped", QUIZZES),
    _added("dropped-assignment-listed", "dropped", ASSIGNMENTS),
    _added("assisted-course-listed", "assistant", ASSIGNMENTS),
    _added("ended-course-listed", "ended", ASSIGNMENTS),
    Mutant("quiz-tie-swapped", "quiz_order", _swap(QUIZZES, _same_deadline)),
    Mutant("assignment-tie-swapped", "assignment_order", _swap(ASSIGNMENTS, _same_deadline)),
    Mutant("undated-quiz-first", "quiz_order", _swap(QUIZZES, _only_other_dated)),
    Mutant("undated-assignment-first", "assignment_order", _swap(ASSIGNMENTS, _only_other_dated)),
    Mutant("quizzes-farthest-first", "quiz_order", _reverse(QUIZZES)),
    Mutant("assignments-farthest-first", "assignment_order", _reverse(ASSIGNMENTS)),
    Mutant(
        "quiz-deadline-superseded", "quiz_deadline", _cell(QUIZZES, "deadline", lambda r: r.stale, _is_stale)
    ),
    Mutant(
        "assignment-deadline-superseded",
        "assignment_deadline",
        _cell(ASSIGNMENTS, "deadline", lambda r: r.stale, _is_stale),
    ),
    Mutant("quiz-deadline-in-utc", "quiz_deadline", _cell(QUIZZES, "deadline", lambda r: r.utc, _in_utc)),
    Mutant(
        "assignment-deadline-in-utc",
        "assignment_deadline",
        _cell(ASSIGNMENTS, "deadline", lambda r: r.utc, _in_utc),
    ),
    Mutant("deadline-an-hour-off", "assignment_deadline", _cell(ASSIGNMENTS, "deadline", _hour_off, _dated)),
    Mutant("deadline-missing", "quiz_deadline", _cell(QUIZZES, "deadline", lambda _: "", _dated)),
    Mutant(
        "deadline-made-up", "assignment_deadline", _cell(ASSIGNMENTS, "deadline", lambda _: "TBD", _undated)
    ),
    Mutant("quiz-course-code-as-name", "quiz_course_name", _cell(QUIZZES, "course_name", lambda r: r.code)),
    Mutant(
        "course-code-as-name", "assignment_course_name", _cell(ASSIGNMENTS, "course_name", lambda r: r.code)
    ),
    Mutant(
        "credits-off-by-one", "quiz_credits", _cell(QUIZZES, "credits", lambda r: f"{_quiz(r).credits + 1:g}")
    ),
    Mutant(
        "questions-off-by-one",
        "quiz_number_of_questions",
        _cell(QUIZZES, "number_of_questions", lambda r: str(_quiz(r).questions + 1)),
    ),
    Mutant(
        "digits-of-another-script",
        "quiz_credits",
        _cell(QUIZZES, "credits", lambda r: _other_digits(f"{_quiz(r).credits:g}")),
    ),
    Mutant("link-left-behind", "other_files", _link_left_behind),
    Mutant("folder-left-behind", "other_files", _folder_left_behind),
    Mutant("time-limit-wrong", "quiz_time_limit", _cell(QUIZZES, "time_limit", _other_limit)),
    Mutant("attempts-wrong", "quiz_allowed_attempts", _cell(QUIZZES, "allowed_attempts", _other_attempts)),
    Mutant(
        "unlimited-as-number",
        "quiz_allowed_attempts",
        _cell(QUIZZES, "allowed_attempts", lambda _: "-1", lambda r: _quiz(r).attempts < 0),
    ),
    Mutant("policy-wrong", "quiz_scoring_policy", _cell(QUIZZES, "scoring_policy", _other_policy)),
    Mutant(
        "quiz-points-off-by-one",
        "quiz_points_possible",
        _cell(QUIZZES, "points_possible", lambda r: f"{r.points + 1:g}"),
    ),
    Mutant(
        "points-off-by-one",
        "assignment_points_possible",
        _cell(ASSIGNMENTS, "points_possible", lambda r: f"{r.points + 1:g}"),
    ),
    Mutant(
        "description-as-html",
        "assignment_description",
        _cell(
            ASSIGNMENTS, "description", lambda r: f"<p>{_description(r)}</p>", lambda r: bool(_description(r))
        ),
    ),
    Mutant(
        "description-cut",
        "assignment_description",
        _cell(
            ASSIGNMENTS, "description", lambda r: _description(r)[:20], lambda r: len(_description(r)) > 20
        ),
    ),
    Mutant("quiz-column-renamed", "quiz_file", _rename_column(QUIZZES)),
    Mutant("column-renamed", "assignment_file", _rename_column(ASSIGNMENTS)),
    Mutant("quiz-row-too-long", "quiz_file", _stray_cell(QUIZZES)),
    Mutant("row-too-long", "assignment_file", _stray_cell(ASSIGNMENTS)),
    Mutant("file-left-behind", "other_files", _file_left_behind),
    Mutant("announcement-removed", "canvas", _announcement_removed),
    Mutant("quiz-begun", "canvas", _quiz_begun),
    Mutant("note-left-in-memory", "memory", _noted),
]
