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
_HOURS = re.compile(r"\b(\d+(?:\.\d)?|an|one|two|three)( and a half)? hours?( and a half)?\b", re.IGNORECASE)
_OPEN = re.compile(
    r"to be announced|TBA|not fixed|published later|not been fixed|announced later|still open|still to be|"
    r"nothing has been settled|nobody can tell|still waiting",
    re.IGNORECASE,
)
_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_SECTION = rf"(?:\d|{'|'.join(_WORDS)})\b"
_SECTIONS = re.compile(rf"\bsections? ({_SECTION}(?:(?:, | and ){_SECTION})*)", re.IGNORECASE)
_NTH_SECTION = re.compile(rf"\b({'|'.join(_ORDINALS)}) section\b", re.IGNORECASE)
_TERM = re.compile(r"\b((?:spring|fall) \d{4}) final exam\b")
_NONE = re.compile(
    r"cancelled|no sitting of|called off|have dropped (?:the|our) [^.]*final exam|will not take place|"
    r"no such thing|does not exist|"
    r"there is none|nobody will sit|\bwe do without",
    re.IGNORECASE,
)
_EXEMPT = re.compile(
    r"exempt from|exempts you|excused you from|is not for you|you are free of", re.IGNORECASE
)
_OPTIONAL = re.compile(r"\boptional\b|\bvoluntary\b|up to you whether|own choice|\bauditor", re.IGNORECASE)
_LIMIT = re.compile(r"\b\d+\.\d\b")
_REACHING_IS_ENOUGH = re.compile(r"or higher|at least|or more|(?<!not) included", re.IGNORECASE)
STATES = re.compile(r"\b(?:final|exam|credits?|average)\b", re.IGNORECASE)
"""What sentences say that a schedule is made of."""
_PERSON = re.compile(
    r"(?P<name>[A-ZÀ-Þ][\w'’.-]*(?: [A-ZÀ-Þ][\w'’.-]*)+),? [(<]?(?P<email>[^\s()<>,]+@[^\s()<>,]+\w)"
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


def read_facts(text: str, section: int, term: str, ahead: dt.timedelta) -> Facts:
    """The facts of a text for a section in a term, by the campus clock, which is ``ahead`` of UTC."""
    facts = Facts()
    if _of_others(text, section, term):
        return facts
    _read_terms(text, facts)
    if facts.average is not None or not re.search(r"\bfinal exam\b", text):
        return facts
    facts.ruled_out = _ruled_out(text)
    if facts.ruled_out:
        return facts
    _read_proctor(text, facts)
    _read_start(text, facts, ahead)
    _read_duration(text, facts)
    _read_room(text, facts)
    _read_open(text, facts)
    facts.detailed = any(value is not None for value in (facts.date, facts.time, facts.duration, facts.room))
    return facts


def _of_others(text: str, section: int, term: str) -> bool:
    """Whether it is about other sections only, or about another term."""
    named: set[int] = set()
    for found in _SECTIONS.finditer(text):
        words = re.findall(r"\w+", found[1].lower())
        named |= {int(word) if word.isdigit() else 1 + _WORDS.index(word) for word in words if word != "and"}
    named |= {1 + _ORDINALS.index(found[1].lower()) for found in _NTH_SECTION.finditer(text)}
    return bool(named and section not in named) or any(found != term for found in _TERM.findall(text))


def sentences(text: str) -> list[str]:
    """Sentences and lines; the last dot of "p.m." ends one where another begins, not before a time zone."""
    kept = re.sub(r"\b([ap])\.m\.", r"\1·m·", text)
    parts = re.split(r"(?<=[.!?])\s+|\n+|(?<=·m·)\s+(?=[A-Z])(?!UTC|(?:[A-Z]\w+ ){1,2}time\b)", kept)
    return [part.replace("·", ".").strip() for part in parts if part.strip()]


def _read_terms(text: str, facts: Facts) -> None:
    """Credits, averages and books, which need not speak of an exam; "it" may be another than the final."""
    subject = r"\bfinal\b|\b[Ii]t\b" if re.search(r"\bfinal exam\b", text) else r"\bfinal\b"
    for sentence in sentences(text):
        if found := re.search(r"(\d+(?:\.\d+)?) credits|\bcredit \(.*\): (\d+(?:\.\d+)?)", sentence):
            facts.credits = float(found[1] or found[2])
        if "coursework average" in sentence and (limit := _LIMIT.search(sentence)):
            if "final" in sentence:
                facts.exemption = float(limit[0]), bool(_REACHING_IS_ENOUGH.search(sentence))
            else:
                facts.average = float(limit[0])
        if re.search(subject, sentence) and re.search(r"\b[Bb]ooks?\b", sentence):
            _read_book(sentence, facts)


def _read_book(sentence: str, facts: Facts) -> None:
    lower = sentence.lower()
    if "open-book" in lower and "closed-book" in lower:
        facts.book = OPEN
    elif re.search(r"closed-book|\bno books|\bnot (?:welcome|bring|allowed)", lower):
        facts.book = "Closed-book"
    elif re.search(r"open-book|may be used|welcome|may bring|allowed", lower):
        facts.book = "Open-book"


def _ruled_out(text: str) -> str | None:
    said = " ".join(sentence for sentence in sentences(text) if "average" not in sentence)
    if _EXEMPT.search(said):
        return "exempt"
    if _OPTIONAL.search(said):
        return "not compulsory"
    return "there is none" if _NONE.search(said) else None


def _read_proctor(text: str, facts: Facts) -> None:
    for sentence in sentences(text):
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
        hours = float(_NUMBERS.get(found[1].lower(), 0) or found[1])
        facts.duration = int(60 * (hours + (0.5 if found[2] or found[3] else 0)))


def _read_room(text: str, facts: Facts) -> None:
    if found := _ROOM.search(text):
        facts.room = found[0].removeprefix("Location ").removeprefix("Room ")


def _read_open(text: str, facts: Facts) -> None:
    for sentence in sentences(text):
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
