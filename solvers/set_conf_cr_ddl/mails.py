"""Reads what conferences write about submissions, mail by mail and sentence by sentence."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAY = (
    r"\d{4}-\d\d-\d\d"
    r"|(?:[A-Z][a-z]+day, )?[A-Z][a-z]{2,8} \d{1,2}, \d{4}"
    r"|(?:[A-Z][a-z]{2,8},? )?\d{1,2} [A-Z][a-z]{2,8} \d{4}"
)
_CLOCK = r"\d{1,2}:\d\d(?: ?(?:[AP]M|[ap]\.m\.))?"
_ZONE = (
    r"AoE \(UTC-12\)|AoE|Anywhere on Earth|[A-Z]\w+(?: [A-Z]\w+)? time \(UTC[+-]\d{1,2}(?::\d\d)?\)"
    r"|UTC-12|UTC|GMT"
)
_DEADLINE = re.compile(
    rf"(?:(?P<clock1>{_CLOCK})(?: (?P<zone1>{_ZONE}))? on )?(?P<day>{_DAY})"
    rf"(?:(?:, | at )(?P<clock2>{_CLOCK})(?: (?P<zone2>{_ZONE}))?)?"
    rf"(?: \((?P<zone3>{_ZONE})\)|, (?P<zone4>{_ZONE}))?"
)
_NUMBER = re.compile(r"\b(?:[Pp]aper|[Ss]ubmission):? (\d{3,4})\b")
_CAMERA_READY = re.compile(r"camera-ready|final version", re.IGNORECASE)
_SETTLED = re.compile(
    # Not accepted
    r"not been accepted|not find room|been rejected|not among|will not include|decided against|cannot accept"
    r"|does not take|no place for|turned down|to decline|did not make it"
    # Withdrawn
    r"|withdrawn|withdrawal|withdraw |taken .* out of|no longer in|has removed|will not appear|has left"
    r"|is struck|is out of"
    # Delivered
    r"|have received|been received|all it needs|have arrived|taken over|is with us|checked and filed"
    r"|hold the complete|went well|now contain|nothing more is needed|the receipt of",
    re.IGNORECASE,
)
_ACCEPTED = re.compile(r"accept|will include|takes it|has a place", re.IGNORECASE)
_VOID = re.compile(
    r"no longer holds|have suspended|please forget|is void|there is no deadline|is off, since"
    r"|have cancelled the date|nobody knows at present|no camera-ready deadline any more"
    r"|do not go by the date|no longer true|is open again",
    re.IGNORECASE,
)
_WORDS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
_LONGER = re.compile(rf"\b(\d+|one|{'|'.join(_WORDS)}) (day|week)s?\b")
_REPLACED = re.compile(rf"(?:\b[Nn]ot|no longer due|[Ii]nstead of|\bfrom) (?:{_DEADLINE.pattern})")


@dataclass
class Submission:
    """A line of the file, and what is known of it so far."""

    conference: str
    track: str
    number: int
    domain: str
    accepted: bool = False
    settled: bool = False
    """Not accepted, withdrawn, or delivered."""
    deadline: dt.datetime | None = None

    @property
    def title(self) -> str:
        """Title of its reminder."""
        return f"Camera-ready: {self.conference} ({self.track})"

    def learn(self, text: str) -> None:
        """Take in what a later mail of the conference says."""
        if not self._concerned(text):
            return
        for sentence in _sentences(text):
            if str(self.number) in _NUMBER.findall(sentence):
                if _SETTLED.search(sentence):
                    self.settled = True
                elif _ACCEPTED.search(sentence):
                    self.accepted, self.settled = True, False
        self._learn_deadline(text)

    def _learn_deadline(self, text: str) -> None:
        if table := re.search(rf"^- {re.escape(self.track)}: (.+)$", text, re.MULTILINE):
            self.deadline = next(deadlines(table[1]), self.deadline)
            return
        for sentence in _sentences(text):
            if not re.search(r"camera-ready|final version|date", sentence, re.IGNORECASE):
                continue
            stated = next(deadlines(_REPLACED.sub("", sentence)), None)
            if stated and _CAMERA_READY.search(sentence):
                self.deadline = stated
            elif _VOID.search(sentence):
                self.deadline = None
            elif (longer := _LONGER.search(sentence)) and _CAMERA_READY.search(sentence) and self.deadline:
                number = int(longer[1]) if longer[1].isdigit() else _WORDS.get(longer[1], 1)
                self.deadline += dt.timedelta(days=number * (7 if longer[2] == "week" else 1))

    def _concerned(self, text: str) -> bool:
        """True if a mail is about this paper or its whole track."""
        if not re.search(rf"(?<!\w){re.escape(self.conference)}(?!\w)", text):
            return False
        if re.search(r"automatic reminder", text, re.IGNORECASE):
            return False
        # The subject line may name a track in which everybody is written to.
        subject, _, body = text.partition("\n")
        numbers = {int(number) for number in _NUMBER.findall(f"{subject}\n{body}")}
        if numbers:
            return self.number in numbers
        return self.track in body or "every track" in body


def _sentences(text: str) -> Iterator[str]:
    for line in text.splitlines():
        # "5 p.m. on ..." goes on.
        yield from re.split(r"(?<![ap]\.m\.)(?<=[.!?]) (?=[A-Z“])", line)


# -- deadlines ---------------------------------------------------------------------------------------------


def deadlines(text: str) -> Iterator[dt.datetime]:
    """The moments that a text states: no time is the end of the day, no zone is AoE."""
    for found in _DEADLINE.finditer(text):
        clock = found["clock1"] or found["clock2"]
        zone = found["zone1"] or found["zone2"] or found["zone3"] or found["zone4"]
        time = _time(clock) if clock else dt.time(23, 59)
        yield dt.datetime.combine(_day(found["day"]), time, dt.UTC) - _offset(zone)


def _day(text: str) -> dt.date:
    if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        return dt.date.fromisoformat(text)
    words = [word for word in re.findall(r"\w+", text) if not word.endswith("day")]
    numbers = [int(word) for word in words if word.isdigit()]
    # A weekday may be short ("Wed"), and then stands before the month.
    month = [word[:3].lower() for word in words if word[:3].lower() in _MONTHS][-1]
    return dt.date(numbers[1], 1 + _MONTHS.index(month), numbers[0])


def _time(text: str) -> dt.time:
    found = re.fullmatch(r"(\d{1,2}):(\d\d) ?([APap]?)[.Mm]*", text)
    assert found
    hour = int(found[1])
    if found[3]:
        hour = hour % 12 + (12 if found[3].lower() == "p" else 0)
    return dt.time(hour, int(found[2]))


def _offset(zone: str | None) -> dt.timedelta:
    if zone in ("UTC", "GMT"):
        return dt.timedelta()
    found = re.search(r"UTC([+-])(\d{1,2})(?::(\d\d))?", zone or "")
    if not found:
        return dt.timedelta(hours=-12)
    sign = -1 if found[1] == "-" else 1
    return sign * dt.timedelta(hours=int(found[2]), minutes=int(found[3] or 0))
