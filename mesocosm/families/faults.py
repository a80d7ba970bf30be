"""Faults of ours in an episode, told apart by where they arose: so that none stays unseen among many runs."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from pydantic import BaseModel

_FRAME = re.compile(r'^\s*File "(?P<file>[^"]+)", line \d+, in (?P<function>\S+)', re.MULTILINE)
_RAISED = re.compile(r"^(?P<type>[A-Za-z_][\w.]*)(?::|$)", re.MULTILINE)
_OURS = "/mesocosm/"
UNKNOWN = "unknown"
"""The place of what is no traceback."""
_SAID = 80
"""Letters of a first line that are the name of a kind."""


class Fault(BaseModel):
    """One kind of fault: the same exception from the same place."""

    fingerprint: str
    """Ten hexadecimal digits, which stay the same from run to run and while lines move within a file."""
    exception: str
    place: str
    """The innermost function of Mesocosm, as file and name."""
    count: int
    first: str
    """Place of the first occurrence: a call's number, or an activity."""
    traceback: str
    """Of the first."""

    @property
    def kind(self) -> str:
        """The exception, and its place where there is one."""
        return self.exception if self.place == UNKNOWN else f"{self.exception} in {self.place}"


def faults_of(met: Iterable[tuple[str, str]]) -> list[Fault]:
    """The kinds among faults that are given as (where they were met, traceback), in the order of meeting."""
    found: dict[str, Fault] = {}
    for where, text in met:
        exception, place = _raised(text), _place(text)
        print_ = hashlib.sha256(f"{exception} in {place}".encode()).hexdigest()[:10]
        if print_ in found:
            found[print_].count += 1
        else:
            found[print_] = Fault(
                fingerprint=print_, exception=exception, place=place, count=1, first=where, traceback=text
            )
    return list(found.values())


def _raised(text: str) -> str:
    """The exception's type: its line follows the last frame. Of what is no traceback, such as the end of an
    agent's program with its last lines, what the first line says.
    """
    after = max((frame.end() for frame in _FRAME.finditer(text)), default=0)
    first = text.strip().partition("\n")[0]
    found = _RAISED.search(text, after) if after else _RAISED.match(first)
    return found["type"] if found else first.partition(";")[0][:_SAID].rstrip(":") or UNKNOWN


def _place(text: str) -> str:
    """The innermost frame in Mesocosm's own code, else the innermost of all."""
    frames = [(_shown(match["file"]), match["function"]) for match in _FRAME.finditer(text)]
    ours = [frame for frame in frames if frame[0].startswith(_OURS)]
    if not frames:
        return UNKNOWN
    file, name = (ours or frames)[-1]
    return f"{file.removeprefix(_OURS)}:{name}"


def _shown(file: str) -> str:
    """The path from the package on, wherever it is installed."""
    path = "/" + file.rpartition("/site-packages/")[2].lstrip("/")
    before, ours, rest = path.rpartition(_OURS)
    return ours + rest if ours and "/site-packages" not in before else path
