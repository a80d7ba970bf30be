"""Glob patterns over relative paths: ``*``, ``?``, ``[a-z]``, ``{a,b}`` within a part, ``**`` over parts.

Names that start with a dot are matched like any other. The work is bounded for every pattern: parts are
matched one by one by expressions that cannot backtrack, and ``**`` by going over pattern and path once.
"""

from __future__ import annotations

import fnmatch
import re
from functools import lru_cache

from mesocosm.errors import Invalid
from mesocosm.worlds import deadlines

MAX_LENGTH = 1_000
MAX_ALTERNATIVES = 100

_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")


class Glob:
    """A compiled pattern."""

    def __init__(self, pattern: str) -> None:
        if not pattern:
            raise Invalid("The pattern must not be empty.")
        if len(pattern) > MAX_LENGTH:
            raise Invalid(f"The pattern is too long: at most {MAX_LENGTH:,} characters.")
        self._alternatives = [_Alternative(alternative) for alternative in _expand(pattern)]

    def matches(self, path: str) -> bool:
        """True if the pattern matches the whole relative path."""
        return self.matches_parts(path.split("/"))

    def matches_parts(self, parts: list[str]) -> bool:
        """The same for a path that was taken apart."""
        deadlines.check()
        return any(alternative.matches(parts) for alternative in self._alternatives)


class Exclusions:
    """Patterns of what is left out of a listing."""

    def __init__(self, patterns: list[str], *, names_anywhere: bool = False) -> None:
        globs = []
        for pattern in patterns:
            globs.append(Glob(pattern))
            if names_anywhere and "*" not in pattern:
                globs += [Glob(f"**/{pattern}"), Glob(f"**/{pattern}/**")]
        self._globs = globs

    def __call__(self, path: str) -> bool:
        """True if the path is excluded."""
        parts = path.split("/")
        return any(glob.matches_parts(parts) for glob in self._globs)


def _expand(pattern: str) -> list[str]:
    """The patterns without braces that a pattern with braces stands for."""
    pending, done = [pattern], []
    while pending:
        current = pending.pop(0)
        braces = _BRACES.search(current)
        if not braces:
            done.append(current)
            continue
        pending += [
            current[: braces.start()] + choice + current[braces.end() :] for choice in braces[1].split(",")
        ]
        if len(pending) + len(done) > MAX_ALTERNATIVES:
            raise Invalid(f"The pattern stands for more than {MAX_ALTERNATIVES} alternatives.")
    return done


class _Alternative:
    """A pattern without braces, part by part."""

    def __init__(self, pattern: str) -> None:
        self._parts: list[str] = []
        for part in pattern.removeprefix("./").split("/"):
            if part != "**" or self._parts[-1:] != ["**"]:
                self._parts.append(part)
        self._runs = self._parts.count("**")
        self._least = len(self._parts) - self._runs
        self._expressions: list[re.Pattern[str] | None] = [None] * len(self._parts)

    def matches(self, path: list[str]) -> bool:
        """True if the whole path matches; ``reached`` holds the parts matched so far."""
        # Most patterns stand for names of another depth, which shows without looking at them.
        if len(path) < self._least or (not self._runs and len(path) > self._least):
            return False
        reached = {0}
        for index, part in enumerate(self._parts):
            if part == "**":
                # In the middle it may stand for nothing, at the end it stands for at least one part.
                first = min(reached) + (index == len(self._parts) - 1)
                reached = set(range(first, len(path) + 1))
            else:
                expression = self._expression(index)
                reached = {
                    position + 1
                    for position in reached
                    if position < len(path) and expression.match(path[position])
                }
            if not reached:
                return False
        return len(path) in reached

    def _expression(self, index: int) -> re.Pattern[str]:
        """Compile a part's pattern, lazily and cached, since compiling takes longer than matching."""
        made = self._expressions[index]
        if made is None:
            made = self._expressions[index] = _expression(self._parts[index])
        return made


@lru_cache(maxsize=512)
def _expression(part: str) -> re.Pattern[str]:
    # A run of stars means what one star means, and fnmatch spells negation with an exclamation mark only.
    part = re.sub(r"\*+", "*", part).replace("[^", "[!")
    return re.compile(fnmatch.translate(part))
