"""Reads what conferences write about submissions, mail by mail."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass

from mesocosm.solvers.set_conf_cr_ddl.deadlines import deadlines

_NUMBER = re.compile(r"\b(?:[Pp]aper|[Ss]ubmission):? (\d{3,4})\b")
_CAMERA_READY = re.compile(r"camera-ready|final version", re.IGNORECASE)
_SETTLED = re.compile(
    r"has not been accepted|has been rejected|has been withdrawn"
    r"|have received the camera-ready|camera-ready version .{1,150} received",
    re.DOTALL,
)
_WORDS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
_LONGER = re.compile(
    rf"(?:extended by exactly|We give .{{1,60}}?) (\d+|one|{'|'.join(_WORDS)}) (day|week)s?\b", re.DOTALL
)


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
        """What its reminder is called."""
        return f"Camera-ready: {self.conference} ({self.track})"

    def learn(self, text: str) -> None:
        """Take in what a later mail of the conference says."""
        if not self._concerned(text):
            return
        if _SETTLED.search(text):
            self.settled = True
        elif re.search(r"has been accepted|decided to accept", text):
            self.accepted, self.settled = True, False
        if re.search(r"deadline .{1,80}no longer holds|suspended the camera-ready deadline", text, re.S):
            self.deadline = None
        elif longer := _LONGER.search(text):
            if self.deadline and _CAMERA_READY.search(text):
                number = int(longer[1]) if longer[1].isdigit() else _WORDS.get(longer[1], 1)
                self.deadline += dt.timedelta(days=number * (7 if longer[2] == "week" else 1))
        elif stated := self._stated(text):
            self.deadline = stated

    def _concerned(self, text: str) -> bool:
        """Whether a mail is about this paper, or about all of its track."""
        if not re.search(rf"(?<!\w){re.escape(self.conference)}(?!\w)", text):
            return False
        if re.search(r"automatic reminder", text, re.IGNORECASE):
            return False
        numbers = {int(number) for number in _NUMBER.findall(text)}
        if numbers:
            return self.number in numbers
        return self.track in text or "all tracks" in text

    def _stated(self, text: str) -> dt.datetime | None:
        """The deadline of the camera-ready version that a mail states."""
        if table := re.search(rf"^- {re.escape(self.track)}: (.+)$", text, re.MULTILINE):
            return next(deadlines(table[1]), None)
        if new := re.search(r"^New deadline: (.+)$", text, re.MULTILINE):
            return next(deadlines(new[1]), None)
        for line in text.splitlines():
            if found := _CAMERA_READY.search(line):
                # The sentence that speaks of it; what it replaces stands behind the new one.
                sentence = line[_start_of_sentence(line, found.start()) :]
                if stated := next(deadlines(sentence), None):
                    return stated
        return None


def _start_of_sentence(line: str, at: int) -> int:
    """Where the sentence begins that a place in a line is in."""
    ends = [end.end() for end in re.finditer(r"[.!?] ", line[:at]) if line[end.start() - 2] != "."]
    return ends[-1] if ends else 0
