"""Objects of a bucket, page by page, with what looks like folders."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from sqlalchemy import select

from mesocosm.errors import Invalid
from mesocosm.servers.google_cloud.models import StorageObject
from mesocosm.servers.google_cloud.store.part import StorePart, page_size, page_token, quoted, read_token
from mesocosm.worlds import deadlines

# Globs over names of objects: ``*`` and ``?`` stop at slashes, ``**`` does not, ``{a,b}`` may be nested.
#
# The places of a name that are reached so far are carried through the pattern, so that the work is at most
# the pattern's length times the name's, whatever the pattern.

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


_LAST = "\U0010ffff"
_AT_ONCE = 500


@dataclass
class ObjectPage:
    """A page of objects; ``prefixes`` stand for all objects that share them up to the delimiter."""

    items: list[StorageObject] = field(default_factory=list)
    prefixes: list[str] = field(default_factory=list)
    next_token: str | None = None


@dataclass(frozen=True)
class Wanted:
    """Selection of objects to list."""

    prefix: str = ""
    delimiter: str = ""
    start: str = ""
    """The first name, inclusive."""
    end: str = ""
    """The last name, exclusive; none if empty."""
    glob: str = ""
    versions: bool = False


class Listing(StorePart):
    """The objects of buckets in the order of their names."""

    def page(
        self, bucket: str, wanted: Wanted, limit: int | None = None, token: str | None = None
    ) -> ObjectPage:
        """A page of the objects of a bucket.

        A token stands for the name (and generation) after which the page begins.
        """
        number = self.store.storage.bucket(bucket).number
        size = page_size(limit, 1000, 1000)
        glob = Glob(wanted.glob) if wanted.glob else None
        position = read_token(token, str, int) or ("", 0)
        page, taken = ObjectPage(), 0
        while True:
            deadlines.check()
            rows = self._rows(number, wanted, position)
            for row in rows:
                if taken == size:
                    page.next_token = page_token(*position)
                    return page
                group = _group(row.name, wanted)
                if group is None and glob and not glob.matches(row.name):
                    deadlines.check()
                    position = (row.name, row.generation)
                    continue
                taken += 1
                if group is not None:
                    page.prefixes.append(group)
                    position = (group + _LAST, 0)
                    break
                page.items.append(row)
                position = (row.name, row.generation)
            else:
                if len(rows) < _AT_ONCE:
                    return page

    def all_of(self, bucket: str, prefix: str) -> Iterator[StorageObject]:
        """All objects of a bucket whose names begin so, by name."""
        token: str | None = None
        while True:
            page = self.page(bucket, Wanted(prefix), token=token)
            yield from page.items
            token = page.next_token
            if token is None:
                return

    def _rows(self, bucket: int, wanted: Wanted, after: tuple[str, int]) -> Sequence[StorageObject]:
        name, generation = after
        start = max(wanted.prefix, wanted.start)
        chosen = select(StorageObject).where(StorageObject.bucket == bucket, StorageObject.name >= start)
        if wanted.prefix:
            chosen = chosen.where(StorageObject.name < wanted.prefix + _LAST)
        if wanted.end:
            chosen = chosen.where(StorageObject.name < wanted.end)
        if not wanted.versions:
            chosen = chosen.where(StorageObject.live)
        if name:
            later = StorageObject.name > name
            same = (StorageObject.name == name) & (StorageObject.generation > generation)
            chosen = chosen.where(later | same if generation else later)
        ordered = chosen.order_by(StorageObject.name, StorageObject.generation).limit(_AT_ONCE)
        return self.session.scalars(ordered).all()


def _group(name: str, wanted: Wanted) -> str | None:
    if not wanted.delimiter:
        return None
    at = name.find(wanted.delimiter, len(wanted.prefix))
    return None if at < 0 else name[: at + len(wanted.delimiter)]
