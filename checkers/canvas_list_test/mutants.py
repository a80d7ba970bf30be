"""Near misses of two solved lists."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import replace

from sqlalchemy import select

from mesocosm.checkers.canvas_list_test.lists import ASSIGNMENTS, QUIZZES, Listing
from mesocosm.errors import Refusal
from mesocosm.families.verdict import Inapplicable, Mutant
from mesocosm.generators.canvas_list_test.expected import AssignmentRow, Expected, QuizRow, Row
from mesocosm.kits.near_misses import first, spoilings
from mesocosm.kits.near_tables import Lines, NearTable
from mesocosm.servers.canvas.models import Course, Quiz
from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.services.world import World


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


def _table(listing: Listing) -> NearTable[Expected, Row]:
    return NearTable(listing.file, listing.header, listing.rows, _written)


# -- both lists --------------------------------------------------------------------------------------------


def _of_both(listing: Listing) -> Iterator[Mutant]:
    """Yield the mistakes possible in either list."""
    table, kind = _table(listing), listing.kind
    yield Mutant(f"{kind}-missing", f"{kind}_rows_missing", table.short())
    yield Mutant(f"{kind}-title-cut", f"{kind}_rows_missing", table.cell(listing.title, _short_title))
    yield Mutant(f"{kind}-twice", f"{kind}_rows_extra", table.long())
    yield from (replace(odd, name=f"{kind}: {odd.name}") for odd in table.oddities(f"{kind}_file"))
    yield from (
        Mutant(f"{name}-{kind}-listed", f"{kind}_rows_extra", table.added(_left_out(listing, *reason)))
        for name, reason in _LEFT_OUT.items()
    )
    yield Mutant(f"{kind}-tie-swapped", f"{kind}_order", table.swapped(_same_deadline))
    yield Mutant(f"undated-{kind}-first", f"{kind}_order", table.swapped(_only_other_undated))
    yield Mutant(f"{kind}-farthest-first", f"{kind}_order", table.turned_round())
    yield from (
        Mutant(f"{kind}-{name}", f"{kind}_{column}", table.cell(column, value))
        for name, (column, value) in _CELLS.items()
    )
    yield Mutant(f"{kind}-column-renamed", f"{kind}_file", table.heading(listing.header[0], "course"))
    yield Mutant(f"{kind}-row-too-long", f"{kind}_file", table.edit(_stray_cell))
    yield Mutant(f"{kind}-blank-line", f"{kind}_file", table.edit(_blank_line))


_LEFT_OUT = {
    "submitted": ("submitted",),
    "exempt": ("exempt",),
    "due-right-now": ("over", "now"),
    "brought-forward": ("over", "brought_forward"),
    "ungraded": ("ungraded",),
    "dropped": ("dropped",),
    "assisted-course's": ("assistant",),
}
"""Reasons and forms of leaving an item out of all lists."""


def _left_out(listing: Listing, reason: str, variant: str = "") -> Callable[[Expected], Row]:
    def row(expected: Expected) -> Row:
        rows = (
            one.quiz if listing is QUIZZES else one.assignment
            for one in expected.left_out
            if one.reason == reason and variant in ("", one.variant)
        )
        return first(row for row in rows if row)

    return row


def _short_title(row: Row, expected: Expected) -> str:
    return row.title.partition(",")[0].partition(":")[0]


def _same_deadline(one: Row, other: Row) -> bool:
    return one.deadline is not None and one.deadline == other.deadline


def _only_other_undated(one: Row, other: Row) -> bool:
    return one.deadline is not None and other.deadline is None


def _hour_off(row: Row, expected: Expected) -> str | None:
    if row.deadline is None:
        return None
    return f"{dt.datetime.fromisoformat(row.deadline) - dt.timedelta(hours=1):%Y-%m-%d %H:%M}"


_CELLS: dict[str, tuple[str, Callable[[Row, Expected], str | None]]] = {
    "deadline-superseded": ("deadline", lambda row, _: row.stale),
    "deadline-in-utc": ("deadline", lambda row, _: row.utc),
    "deadline-an-hour-off": ("deadline", _hour_off),
    "deadline-missing": ("deadline", lambda row, _: ""),
    "deadline-made-up": ("deadline", lambda row, _: None if row.deadline else "TBD"),
    "course-code-as-name": ("course_name", lambda row, _: row.code),
    "points-off-by-one": ("points_possible", lambda row, _: f"{row.points + 1:g}"),
}
"""The column, and what stands there."""


def _stray_cell(lines: Lines, expected: Expected) -> None:
    lines[-1].append("checked")


def _blank_line(lines: Lines, expected: Expected) -> None:
    lines.insert(1, [])


# -- one of them -------------------------------------------------------------------------------------------


def _quiz(column: str, value: Callable[[QuizRow], str | None]) -> Callable[[World, Expected], None]:
    def of(row: Row, expected: Expected) -> str | None:
        assert isinstance(row, QuizRow)
        return value(row)

    return _table(QUIZZES).cell(column, of)


def _description(value: Callable[[str], str]) -> Callable[[World, Expected], None]:
    def of(row: Row, expected: Expected) -> str:
        assert isinstance(row, AssignmentRow)
        return value(row.description) if row.description else ""

    return _table(ASSIGNMENTS).cell("description", of)


def _quiz_among_assignments(lines: Lines, expected: Expected) -> None:
    quiz = first(expected.quizzes)
    lines.append([quiz.code, quiz.name, quiz.title, "", quiz.deadline or "", f"{quiz.points:g}"])


def _keep_example(world: World, expected: Expected) -> None:
    example = ["DEMO 100", "Example Course", "Essay 1 (Example)", "Write one page."]
    last = [f"{world.now.date()} 17:00", "50"]
    _table(ASSIGNMENTS).edit(lambda lines, _: lines.insert(1, [*example, *last]))(world, expected)


def _other_digits(value: str) -> str:
    """The same number in Arabic-Indic digits."""
    return value.translate({ord("0") + digit: 0x0660 + digit for digit in range(10)})


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


MUTANTS = [
    *(mutant for listing in (QUIZZES, ASSIGNMENTS) for mutant in _of_both(listing)),
    Mutant(
        "quiz-among-assignments", "assignment_rows_extra", _table(ASSIGNMENTS).edit(_quiz_among_assignments)
    ),
    Mutant("example-kept", "assignment_rows_extra", _keep_example),
    Mutant(
        "ended-course's-assignment-listed",
        "assignment_rows_extra",
        _table(ASSIGNMENTS).added(_left_out(ASSIGNMENTS, "ended")),
    ),
    Mutant("credits-off-by-one", "quiz_credits", _quiz("credits", lambda row: f"{row.credits + 1:g}")),
    Mutant(
        "digits-of-another-script",
        "quiz_credits",
        _quiz("credits", lambda row: _other_digits(f"{row.credits:g}")),
    ),
    Mutant(
        "questions-off-by-one",
        "quiz_number_of_questions",
        _quiz("number_of_questions", lambda row: str(row.questions + 1)),
    ),
    Mutant(
        "time-limit-wrong",
        "quiz_time_limit",
        _quiz("time_limit", lambda row: str((row.time_limit or 0) + 15)),
    ),
    Mutant(
        "attempts-wrong",
        "quiz_allowed_attempts",
        _quiz("allowed_attempts", lambda row: "2" if row.attempts == 1 else "1"),
    ),
    Mutant(
        "unlimited-as-number",
        "quiz_allowed_attempts",
        _quiz("allowed_attempts", lambda row: "-1" if row.attempts < 0 else None),
    ),
    Mutant(
        "policy-wrong",
        "quiz_scoring_policy",
        _quiz(
            "scoring_policy",
            lambda row: "keep_latest" if row.policy == "keep_highest" else "keep_highest",
        ),
    ),
    Mutant("description-as-html", "assignment_description", _description(lambda text: f"<p>{text}</p>")),
    Mutant(
        "description-on-two-lines",
        "assignment_description",
        _description(lambda text: text.replace(" ", "\n", 1)),
    ),
    Mutant(
        "description-without-blanks",
        "assignment_description",
        _description(lambda text: text.replace(" ", "")),
    ),
    Mutant("description-cut", "assignment_description", _description(lambda text: text[:20])),
    *spoilings(
        "filesystem", "other_files", "a file left behind", "a link left behind", "a folder left behind"
    ),
    *spoilings("canvas", "canvas", "an announcement rewritten", "an announcement removed"),
    Mutant("quiz-begun", "canvas", _quiz_begun),
    *spoilings("memory", "memory"),
]
