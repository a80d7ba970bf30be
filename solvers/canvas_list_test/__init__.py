"""Fills in both lists by reading Canvas and the memory, through the tools alone."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from mesocosm.services.calling import Tools
from mesocosm.solvers.canvas_list_test.gathering import Clock, Course, Piece, courses, own_notes, plain
from mesocosm.solvers.canvas_list_test.rulings import rulings

_FILES = ("quiz_info.csv", "assignment_info.csv")
_UNGRADED = ("practice_quiz", "survey")


def solve(tools: Tools, prompt: str) -> None:
    """Read everything, decide about each piece of work, and write both files."""
    clock = Clock(prompt)
    notes = own_notes(tools)
    quizzes: list[tuple[tuple[bool, str, str, str], list[str]]] = []
    assignments: list[tuple[tuple[bool, str, str, str], list[str]]] = []
    for course in courses(tools):
        found = rulings(course, clock.student, notes.get(course.code, []))
        for piece in course.pieces:
            ruling = found.get(piece.title)
            deadline = clock.local(piece.due_at)
            if ruling and ruling.deadline:
                deadline = ruling.deadline
            if piece.ungraded or (ruling and ruling.dropped) or (deadline and deadline <= clock.now):
                continue
            if _done(tools, course, piece):
                continue
            shown = f"{deadline:%Y-%m-%d %H:%M}" if deadline else ""
            key = (not shown, shown, course.code, piece.title)
            (quizzes if piece.is_quiz else assignments).append((key, _row(course, piece, shown)))
    for name, rows in zip(_FILES, (quizzes, assignments), strict=True):
        _write(tools, name, [row for _, row in sorted(rows)])
    tools.call("claim_done", "claim_done")


def _done(tools: Tools, course: Course, piece: Piece) -> bool:
    submission = tools.call(
        "canvas", "canvas_get_submission", course_id=course.id, assignment_id=piece.assignment_id
    )
    return submission["submitted_at"] is not None or submission["graded_at"] is not None


def _row(course: Course, piece: Piece, deadline: str) -> list[str]:
    record = piece.record
    points = f"{record['points_possible']:g}"
    if not piece.is_quiz:
        return [course.code, course.name, piece.title, plain(record["description"] or ""), deadline, points]
    attempts = record["allowed_attempts"]
    return [
        course.code,
        course.name,
        f"{course.credits:g}",
        piece.title,
        str(record["question_count"]),
        str(record["time_limit"] or ""),
        "unlimited" if attempts < 0 else str(attempts),
        record["scoring_policy"],
        points,
        deadline,
    ]


def _write(tools: Tools, name: str, rows: Sequence[list[str]]) -> None:
    header = tools.call("filesystem", "read_text_file", path=name, head=1).splitlines()[0]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    tools.call("filesystem", "write_file", path=name, content=f"{header}\n{text.getvalue()}")
