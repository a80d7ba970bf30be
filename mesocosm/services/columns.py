"""Rows of tables that are kept column by column: a million readings take the room of their values alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, overload

Row = Mapping[str, Any]


class Columns(Sequence[Row]):
    """Rows by their columns, all of one length; a row is made when it is looked at."""

    def __init__(self, columns: Mapping[str, Sequence[Any]]) -> None:
        self.columns = dict(columns)
        lengths = {name: len(values) for name, values in self.columns.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"columns of one length are expected, not {lengths}")
        self._length = next(iter(lengths.values()), 0)

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Row]: ...
    def __getitem__(self, place: int | slice) -> Row | Sequence[Row]:
        found = {name: values[place] for name, values in self.columns.items()}
        return Columns(found) if isinstance(place, slice) else found

    def __iter__(self) -> Iterator[Row]:
        names = list(self.columns)
        return (dict(zip(names, values, strict=True)) for values in zip(*self.columns.values(), strict=True))


class Joined(Sequence[Row]):
    """Rows of several tables as those of one, without a copy of them."""

    def __init__(self, parts: Sequence[Sequence[Row]]) -> None:
        self.parts = [part for part in parts if len(part)]

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Row]: ...
    def __getitem__(self, place: int | slice) -> Row | Sequence[Row]:
        if isinstance(place, slice):
            return list(self)[place]
        place += len(self) if place < 0 else 0
        for part in self.parts:
            if 0 <= place < len(part):
                return part[place]
            place -= len(part)
        raise IndexError(place)

    def __iter__(self) -> Iterator[Row]:
        return (row for part in self.parts for row in part)


def blocks_of(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """The rows in the pieces in which they are kept."""
    if isinstance(rows, Joined):
        for part in rows.parts:
            yield from blocks_of(part)
    else:
        yield rows
