"""Rulings of announcements on the works of a course."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass

from mesocosm.solvers.canvas_list_test.gathering import Course

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DATES = (
    re.compile(r"(?P<year>\d{4})-(?P<number>\d\d)-(?P<day>\d\d)"),
    re.compile(r"(?P<month>[A-Z][a-z]{2,8}) (?P<day>\d{1,2}), (?P<year>\d{4})"),
    re.compile(r"(?P<day>\d{1,2}) (?P<month>[A-Z][a-z]{2,8}) (?P<year>\d{4})"),
)
_TIME = re.compile(r"(\d{1,2}):(\d\d)(?: ?([AaPp])\.?[Mm])?")
_UNTOUCHED = re.compile(
    r"was last year|This year all goes|this year all goes|no such rule this year|nothing changes"
    r"|will not be put off|: it cannot|and ours stays|does not affect|office hour is cancelled"
    r"|tutorial is optional",
    re.IGNORECASE,
)
_WITHDRAWN = re.compile(
    r"does not hold after all|forget what I wrote about the deadline|take back the change|Canvas is right"
    r"|is void|Canvas has the right|no new deadline|the one on Canvas|when Canvas says|deadline on Canvas",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"compulsory|counts after all|everybody has to do|is required again|nobody may skip"
    r"|take back that .* voluntary|by all of you after all|the choice that I gave|no choice about"
    r"|part of the mark again|everybody does|takes place|back on the programme|is on again|we do have"
    r"|so it is back|on your lists again|was cancelled\.|do not cross out|goes ahead|we keep",
    re.IGNORECASE,
)
_DROPPED = re.compile(
    r"is optional|voluntary|optional extra|nobody has to do|is up to you|may skip|for nobody else"
    r"|own choice|no longer counts|no duty"
    r"|is cancelled|have cancelled|we drop|will not take place|we do without|is off|given up the plan"
    r"|can cross out|falls away|is struck|strike ",
    re.IGNORECASE,
)
_EXCUSED = re.compile(
    r"excuse|need not do|let .* off|can leave out|is not for|may miss|is waived for", re.IGNORECASE
)
_RULE = re.compile(r"students (?:with|who|whose|for whom) .{0,80}(?:midterm|course)", re.IGNORECASE)


@dataclass
class Ruling:
    """Final state of a work."""

    deadline: dt.datetime | None = None
    """``None``: as Canvas says."""
    dropped: bool = False
    """The student need not do it."""


def rulings(course: Course, student: str, notes: Sequence[str]) -> dict[str, Ruling]:
    """Combine a course's announcements, oldest first, into rulings by title."""
    found: dict[str, Ruling] = {}
    for text in course.announcements:
        if title := _title_in(text, [piece.title for piece in course.pieces]):
            _apply(text, found.setdefault(title, Ruling()), student, notes)
    return found


def _title_in(text: str, titles: Sequence[str]) -> str | None:
    """The title that a text gives: the longest, since one title may contain another."""
    given = [title for title in titles if re.search(rf"(?<!\w){re.escape(title)}(?!\w)", text)]
    return max(given, key=len, default=None)


def _apply(text: str, ruling: Ruling, student: str, notes: Sequence[str]) -> None:
    if _UNTOUCHED.search(text):
        return
    if any(_dated(pattern, text) for pattern in _DATES):
        ruling.deadline = _moment(text)
    elif _RULE.search(text):
        ruling.dropped = ruling.dropped or _satisfied(text, notes)
    elif _WITHDRAWN.search(text):
        ruling.deadline = None
    elif _BACK.search(text):
        ruling.dropped = False
    elif _DROPPED.search(text):
        ruling.dropped = True
    elif _EXCUSED.search(text):
        ruling.dropped = ruling.dropped or bool(re.search(rf"(?<![\w-]){re.escape(student)}(?![\w-])", text))


def _moment(text: str) -> dt.datetime:
    day = next(found for pattern in _DATES if (found := _dated(pattern, text)))
    time = _TIME.search(text)
    assert time
    hour = int(time[1])
    if time[3]:
        hour = hour % 12 + (12 if time[3].lower() == "p" else 0)
    return dt.datetime.combine(day, dt.time(hour, int(time[2])))


def _dated(pattern: re.Pattern[str], text: str) -> dt.date | None:
    for found in pattern.finditer(text):
        parts = found.groupdict()
        if "number" in parts:
            return dt.date(int(parts["year"]), int(parts["number"]), int(parts["day"]))
        if (month := parts["month"][:3].lower()) in _MONTHS:
            return dt.date(int(parts["year"]), 1 + _MONTHS.index(month), int(parts["day"]))
    return None


def _satisfied(text: str, notes: Sequence[str]) -> bool:
    if "midterm" not in text:
        return any(note.startswith("Repeats") for note in notes)
    found = re.search(
        r"at least (\d+) points|reached (\d+) points or more|result of (\d+) or higher"
        r"|has (\d+) points or more|fall below (\d+) points|no fewer than (\d+) points"
        r"|more than (\d+) points|is above (\d+)|higher than (\d+)|better than (\d+)|result over (\d+)"
        r"|beat (\d+) points",
        text,
    )
    assert found
    threshold = int(next(part for part in found.groups() if part))
    inclusive = any(found.groups()[:6])
    result = _midterm(notes)
    return result is not None and (result > threshold or (inclusive and result == threshold))


def _midterm(notes: Sequence[str]) -> int | None:
    result = None
    again = False
    for note in notes:
        found = re.match(r"Midterm in [A-Z]+ \d+( marked again)?: (\d+) of 100", note)
        if found and (found[1] or not again):
            result, again = int(found[2]), bool(found[1])
    return result
