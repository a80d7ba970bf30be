"""Reads what conferences write about submissions, mail by mail and sentence by sentence."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass

from mesocosm.solvers.set_conf_cr_ddl.deadlines import DEADLINE, deadlines

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
_REPLACED = re.compile(rf"(?:\b[Nn]ot|no longer due|[Ii]nstead of|\bfrom) (?:{DEADLINE.pattern})")


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
        """Whether a mail is about this paper, or about all of its track."""
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
