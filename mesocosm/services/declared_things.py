"""Things of task files that follow from a declared resource (``services/resources.py``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

import orjson

from mesocosm.services.content import service_of
from mesocosm.services.numbers import number_of, written
from mesocosm.services.words import Fields, Found, Thing, Word, stamp

if TYPE_CHECKING:
    from mesocosm.services.resources import Resource
    from mesocosm.services.world import World
    from mesocosm.worlds.changes import Changes, Row, TableChanges


class _Said:
    """The words of a declared resource, which is not loaded before somebody asks for them."""

    def __get__(self, thing: DeclaredThing | None, owner: type[DeclaredThing]) -> Mapping[str, Word]:
        return {} if thing is None else thing.resource().words()


class DeclaredThing(Thing):
    """A thing described entirely by its resource's declaration."""

    says: ClassVar[Mapping[str, Word]] = _Said()  # type: ignore[assignment]
    judges: ClassVar[Mapping[str, Word]] = _Said()  # type: ignore[assignment]
    gives: ClassVar[Mapping[str, str]] = {"id": "Its id."}

    def resource(self) -> Resource:
        """The declaration."""
        raise NotImplementedError

    def fill(self, world: World, rows: Sequence[Fields]) -> Sequence[int]:
        """Put objects into the store; their ids."""
        raise NotImplementedError

    def add(self, world: World, things: Sequence[Fields]) -> list[Fields]:
        rows = [{name: self._kept(name, value) for name, value in fields.items()} for fields in things]
        return [{"id": number} for number in self.fill(world, rows)]

    def _kept(self, name: str, value: Any) -> Any:
        """A value of a task file as clients of the API write it."""
        if isinstance(value, datetime):
            return stamp(value)
        if self.resource().is_text(name) and isinstance(value, int | float):
            return written(float(value))
        return value

    def _seen(self, row: Row) -> Fields:
        return {name: _read(word, row[name]) for name, word in self.says.items()}

    def _rows(self, row: Row) -> frozenset[tuple[str, Any]]:
        return frozenset({(self.resource().table.name, row["id"])})

    def _changes(self, changes: Changes) -> TableChanges:
        resource = self.resource()
        return changes.table(service_of(type(self).__module__) or "", resource.table.name)

    def made(self, world: World, changes: Changes) -> Iterator[Found]:
        for row in self._changes(changes).added:
            yield Found(self._seen(row), self._rows(row))

    def altered(self, world: World, changes: Changes) -> Iterator[Found]:
        for before, after in self._changes(changes).changed:
            columns = {name for name in before if before[name] != after[name]} & self.judges.keys()
            stamps = {"date_modified", "updated_at"}
            yield Found(self._seen(after), self._rows(after), frozenset(columns | stamps), self._seen(before))

    def gone(self, world: World, changes: Changes) -> Iterator[Found]:
        for row in self._changes(changes).removed:
            yield Found(self._seen(row), self._rows(row))


def _read(word: Word, value: Any) -> Any:
    """A value of a table as goals speak of it."""
    if word.shape == "number" and isinstance(value, str):
        return number_of(value)
    if word.shape == "flag":
        return bool(value)
    if word.shape in ("list", "data") and isinstance(value, str):
        return orjson.loads(value)
    return "" if value is None and word.shape == "text" else value
