"""Objects of a bucket, page by page, with what looks like folders."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sqlalchemy import select

from mesocosm.errors import Invalid
from mesocosm.servers.google_cloud.models import StorageObject
from mesocosm.servers.google_cloud.store.part import StorePart, page_size, page_token, quoted, read_token
from mesocosm.services.patterns import BadPattern, Pattern
from mesocosm.worlds import deadlines

MAX_LENGTH = 1_024
_DEEPEST = 50
"""Braces in each other."""
_TOKENS = re.compile(r"\*\*/|\*\*|\[[^\]][^\]]*\]|.", re.DOTALL)
_PIECES = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


class Glob:
    """A pattern of names of objects; ``Invalid`` for one that cannot be.

    ``**`` goes past slashes, ``{a,b}`` may be nested.
    """

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._tokens = _TOKENS.findall(pattern)[::-1]
        if len(pattern) > MAX_LENGTH:
            raise self._refusal()
        try:
            # RE2, so that the work is bounded whatever the pattern.
            self._compiled = Pattern(self._sequence(0), flags="s", bounded=False, longest=10 * MAX_LENGTH)
        except BadPattern:
            raise self._refusal() from None

    def matches(self, name: str) -> bool:
        """True if the pattern matches the whole name."""
        return self._compiled.fullmatch(name) is not None

    def _refusal(self) -> Invalid:
        return Invalid(f"Invalid glob pattern: {quoted(self._pattern)}.", code="invalid")

    def _sequence(self, depth: int) -> str:
        """The pieces up to the end, or within braces up to what ends an alternative."""
        made = ""
        while self._tokens and not (depth and self._tokens[-1] in ",}"):
            token = self._tokens.pop()
            made += self._braces(depth + 1) if token == "{" else _PIECES.get(token) or _plain(token)
        return made

    def _braces(self, depth: int) -> str:
        alternatives = []
        while True:
            alternatives.append(self._sequence(depth))
            if not self._tokens or depth > _DEEPEST:
                raise self._refusal()
            if self._tokens.pop() == "}":
                return f"(?:{'|'.join(alternatives)})"


def _plain(token: str) -> str:
    """A character, or a class of characters."""
    if len(token) == 1:
        return f"\\{token}" if token in r"\.+*?()|[]{}^$" else token
    negated = token[1] in "!^" and len(token) > 3
    escaped = re.sub(r"([\\\[\]&~|^])", r"\\\1", token[1 + negated : -1])
    return f"[{'^' * negated}{escaped}]"


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
