"""Globs over names of objects: ``*`` and ``?`` stop at slashes, ``**`` does not, ``{a,b}`` may be nested.

The places of a name that are reached so far are carried through the pattern, so that the work is at most the
pattern's length times the name's, whatever the pattern.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from mesocosm.errors import Invalid
from mesocosm.servers.google_cloud.store.part import quoted

MAX_LENGTH = 1_024
_DEEPEST = 50
"""Braces in each other."""
_TOKENS = re.compile(r"\*\*/|\*\*|\[[^\]][^\]]*\]|.", re.DOTALL)

Places = set[int]
Step = Callable[[str, Places], Places]
"""From the places of a name that were reached to those that are reached behind a piece of the pattern."""


class Glob:
    """A pattern that has been read; ``Invalid`` for one that cannot be."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._tokens = _TOKENS.findall(pattern)[::-1]
        if len(pattern) > MAX_LENGTH:
            raise self._refusal()
        self._steps = self._sequence(0)

    def matches(self, name: str) -> bool:
        """True if the pattern matches the whole name."""
        return len(name) in _run(self._steps, name, {0})

    def _refusal(self) -> Invalid:
        return Invalid(f"Invalid glob pattern: {quoted(self._pattern)}.", code="invalid")

    def _sequence(self, depth: int) -> list[Step]:
        """The pieces up to the end, or within braces up to what ends an alternative."""
        steps: list[Step] = []
        while self._tokens and not (depth and self._tokens[-1] in ",}"):
            token = self._tokens.pop()
            steps.append(self._braces(depth + 1) if token == "{" else self._step(token))
        return steps

    def _braces(self, depth: int) -> Step:
        alternatives = []
        while True:
            alternatives.append(self._sequence(depth))
            if not self._tokens or depth > _DEEPEST:
                raise self._refusal()
            if self._tokens.pop() == "}":
                return lambda name, places: set().union(*(_run(one, name, places) for one in alternatives))

    def _step(self, token: str) -> Step:
        if token == "**/":
            return _folders
        if token == "**":
            return lambda name, places: set(range(min(places), len(name) + 1))
        if token == "*":
            return _within_folder
        if token == "?":
            return lambda name, places: _next(name, places, lambda character: character != "/")
        if len(token) > 1:
            return self._class(token[1:-1])
        return lambda name, places: _next(name, places, token.__eq__)

    def _class(self, inside: str) -> Step:
        negated = inside[0] in "!^" and len(inside) > 1
        escaped = re.sub(r"([\\\[\]&~|^])", r"\\\1", inside[negated:])
        try:
            character = re.compile(f"[{'^' * negated}{escaped}]", re.DOTALL)
        except re.error:
            raise self._refusal() from None
        return lambda name, places: _next(name, places, character.match)


def _run(steps: Sequence[Step], name: str, places: Places) -> Places:
    for step in steps:
        if not places:
            break
        places = step(name, places)
    return places


def _next(name: str, places: Places, fits: Callable[[str], object]) -> Places:
    return {place + 1 for place in places if place < len(name) and fits(name[place])}


def _folders(name: str, places: Places) -> Places:
    """Behind any number of folders, or none."""
    first = min(places)
    return places | {place + 1 for place in range(first, len(name)) if name[place] == "/"}


def _within_folder(name: str, places: Places) -> Places:
    found: Places = set()
    for place in places:
        while place not in found:
            found.add(place)
            if place == len(name) or name[place] == "/":
                break
            place += 1
    return found
