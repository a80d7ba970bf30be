"""Faults of ours in an episode, told apart by where they arose: so that none stays unseen among many runs."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from pydantic import BaseModel

_FRAME = re.compile(r'^\s*File "(?P<file>[^"]+)", line \d+, in (?P<function>\S+)', re.MULTILINE)
_RAISED = re.compile(r"^(?P<type>[A-Za-z_][\w.]*)(?::|$)", re.MULTILINE)
_OURS = "/mesocosm/"


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
    """The exception's type: its line follows the last frame."""
    after = 0
    for frame in _FRAME.finditer(text):
        after = frame.end()
    types = [match["type"] for match in _RAISED.finditer(text, after)]
    return types[0] if types else "unknown"


def _place(text: str) -> str:
    """The innermost frame in Mesocosm's own code, else the innermost of all."""
    frames = [(_shown(match["file"]), match["function"]) for match in _FRAME.finditer(text)]
    ours = [frame for frame in frames if frame[0].startswith(_OURS)]
    if not frames:
        return "unknown"
    file, name = (ours or frames)[-1]
    return f"{file.removeprefix(_OURS)}:{name}"


def _shown(file: str) -> str:
    """The path from the package on, wherever it is installed."""
    path = "/" + file.rpartition("/site-packages/")[2].lstrip("/")
    before, ours, rest = path.rpartition(_OURS)
    return ours + rest if ours and "/site-packages" not in before else path
