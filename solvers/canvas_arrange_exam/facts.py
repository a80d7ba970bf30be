"""Finds the facts of finals in what teachers write."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, field

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DATES = (
    re.compile(r"(?P<year>\d{4})-(?P<number>\d\d)-(?P<day>\d\d)"),
    re.compile(r"(?P<month>[A-Z][a-z]{2,8}) (?P<day>\d{1,2}), (?P<year>\d{4})"),
    re.compile(r"(?P<day>\d{1,2}) (?P<month>[A-Z][a-z]{2,8}) (?P<year>\d{4})"),
)
_CLOCK = r"\d{1,2}:\d\d(?: ?(?:[AP]M|[ap]\.m\.))?"
_TIMES = re.compile(
    rf"(?P<start>{_CLOCK})(?:(?:–| - | to )(?P<end>{_CLOCK}))?"
    r"(?P<zone> (?:[A-Z]\w+(?: [A-Z]\w+)? time \()?UTC(?P<hours>[+-]\d{1,2})?)?"
)
_ROOM = re.compile(
    r"(?:[A-Z][\w'’-]+ )+(?:Hall|Building|Centre|House|Pavilion|Theatre) [A-C]?\d+", re.UNICODE
)
_NUMBERS = {"an": 1, "one": 1, "two": 2, "three": 3}
_MINUTES = re.compile(r"\b(\d+) minutes\b")
_HOURS_MINUTES = re.compile(r"\b(\d+) h (\d+) min\b")
_HOURS = re.compile(r"\b(\d+(?:\.\d)?|an|one|two|three)( and a half)? hours?( and a half)?\b")
_OPEN = re.compile(
    r"to be announced|TBA|not fixed|published later|not been fixed|announced later|still open|still to be",
    re.IGNORECASE,
)
_NOT_THE_FINAL = re.compile(
    r"\b(?:midterm|mock|practice|make-up) exam\b|\blast year's\b|\bSection \d+ only\b", re.I
)
_PERSON = re.compile(
    r"(?P<name>[A-Z][\w'’.-]*(?: [A-Z][\w'’.-]*)+),? [(<]?(?P<email>[^\s()<>,]+@[^\s()<>,]+\w)"
)

OPEN = "open"
"""In place of a value: it has not been published."""


@dataclass
class Facts:
    """What one text says; ``None``: nothing about that."""

    date: dt.date | str | None = None
    time: dt.time | str | None = None
    duration: int | str | None = None
    room: str | None = None
    book: str | None = None
    proctor: tuple[str, str] | None = None
    credits: float | None = None
    average: float | None = None
    exemption: tuple[float, bool] | None = None
    """The average to be reached, and whether reaching it is enough."""
    ruled_out: str | None = None
    """Why the student need not come."""
    detailed: bool = field(default=False)
    """Whether the text is about date, time, duration or room."""


def read_facts(text: str, section: int, ahead: dt.timedelta) -> Facts:
    """The facts of a text, with times by the campus clock, which is ``ahead`` of UTC."""
    facts = Facts()
    if _foreign(text, section):
        return facts
    _read_course(text, facts)
    if not re.search(r"\bfinal\b|\bexam\b", text):
        return facts
    _read_status(text, facts)
    if facts.ruled_out or facts.average is not None:
        return facts
    _read_book(text, facts)
    _read_proctor(text, facts)
    if "final exam" in text:
        _read_start(text, facts, ahead)
        _read_duration(text, facts)
        _read_room(text, facts)
        _read_open(text, facts)
    facts.detailed = any(value is not None for value in (facts.date, facts.time, facts.duration, facts.room))
    return facts


def _foreign(text: str, section: int) -> bool:
    sections = {int(number) for number in re.findall(r"\bSection (\d+)", text)}
    return bool(_NOT_THE_FINAL.search(text)) or bool(sections and section not in sections)


def _sentences(text: str) -> list[str]:
    """Sentences and lines; the dots of "p.m." end none."""
    kept = re.sub(r"\b([ap])\.m\.", r"\1·m·", text)
    parts = re.split(r"(?<=[.!?])\s+|\n+", kept)
    return [part.replace("·", ".").strip() for part in parts if part.strip()]


def _read_course(text: str, facts: Facts) -> None:
    if found := re.search(r"(\d+(?:\.\d+)?) credits|[Cc]redit: (\d+(?:\.\d+)?)", text):
        facts.credits = float(found[1] or found[2])
    if found := re.search(r"average (?:of (?:at least |more than )?|above )(\d+\.\d)( or higher)?", text):
        facts.exemption = float(found[1]), bool(found[2]) or "at least" in found[0]
    elif found := re.search(r"coursework average in .*?(?: is|comes to|,) (\d+\.\d)", text):
        facts.average = float(found[1])


def _read_status(text: str, facts: Facts) -> None:
    if re.search(r"\bno final exam\b|final exam in .* is cancelled", text):
        facts.ruled_out = "there is none"
    elif re.search(r"exempt from the final exam|exempts you from it", text):
        facts.ruled_out = "exempt"
    elif re.search(r"\bis optional\b|Auditors do not sit|not compulsory for auditors", text):
        facts.ruled_out = "not compulsory"


def _read_book(text: str, facts: Facts) -> None:
    for sentence in _sentences(text):
        kinds = set(re.findall(r"\b(open|closed)-book\b", sentence))
        if len(kinds) == 2:
            facts.book = OPEN
        elif kinds and "final" in sentence:
            facts.book = f"{kinds.pop().capitalize()}-book"


def _read_proctor(text: str, facts: Facts) -> None:
    for sentence in _sentences(text):
        if not re.search(r"\bproctor", sentence, re.IGNORECASE):
            continue
        if found := _PERSON.search(sentence.removeprefix("Proctor: ")):
            facts.proctor = found["name"], found["email"]
        elif re.search(r"announced", sentence):
            facts.proctor = OPEN, OPEN


def _read_start(text: str, facts: Facts, ahead: dt.timedelta) -> None:
    day, time = _first_date(text), _TIMES.search(text)
    if day:
        facts.date = day
    if not time:
        return
    start = _clock(time["start"])
    facts.time = start
    if time["end"]:
        begin, end = (
            dt.datetime.combine(dt.date(2000, 1, 1), clock) for clock in (start, _clock(time["end"]))
        )
        facts.duration = int((end - begin).total_seconds() // 60) % (24 * 60)
    if time["zone"] and day:
        moment = dt.datetime.combine(day, start) - dt.timedelta(hours=int(time["hours"] or 0)) + ahead
        facts.date, facts.time = moment.date(), moment.time()


def _first_date(text: str) -> dt.date | None:
    for pattern in _DATES:
        if found := pattern.search(text):
            parts = found.groupdict()
            month = (
                int(parts["number"]) if "number" in parts else 1 + _MONTHS.index(parts["month"][:3].lower())
            )
            return dt.date(int(parts["year"]), month, int(parts["day"]))
    return None


def _clock(text: str) -> dt.time:
    found = re.fullmatch(r"(\d{1,2}):(\d\d) ?([APap]?)[.Mm]*", text)
    assert found
    hour = int(found[1])
    if found[3]:
        hour = hour % 12 + (12 if found[3].lower() == "p" else 0)
    return dt.time(hour, int(found[2]))


def _read_duration(text: str, facts: Facts) -> None:
    if found := _MINUTES.search(text):
        facts.duration = int(found[1])
    elif found := _HOURS_MINUTES.search(text):
        facts.duration = 60 * int(found[1]) + int(found[2])
    elif found := _HOURS.search(text):
        hours = float(_NUMBERS.get(found[1], 0) or found[1])
        facts.duration = int(60 * (hours + (0.5 if found[2] or found[3] else 0)))


def _read_room(text: str, facts: Facts) -> None:
    if found := _ROOM.search(text):
        facts.room = found[0].removeprefix("Location ").removeprefix("Room ")


def _read_open(text: str, facts: Facts) -> None:
    for sentence in _sentences(text):
        if not _OPEN.search(sentence) or re.search(r"\bproctor", sentence, re.IGNORECASE):
            continue
        label = sentence.partition(":")[0] if ":" in sentence else sentence
        if re.search(r"\bdate\b", label, re.I):
            facts.date = facts.time = OPEN
        if re.search(r"\btime\b|\bstart\b", label, re.I):
            facts.time = OPEN
        if re.search(r"\bduration\b", label, re.I):
            facts.duration = OPEN
        if re.search(r"\broom\b", label, re.I):
            facts.room = OPEN
