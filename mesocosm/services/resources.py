"""Resources: the kinds of objects that a vendor's API has, each declared once, in the class of its table.

A column that is declared with ``field`` is a field of the API as well::

    class Coupon(Base):
        id: Mapped[int] = mapped_column(primary_key=True)
        code: Mapped[str] = field(line, tool=True)
        date_created: Mapped[str] = field(date, by="filling", sort_order=1)
        used_by: ClassVar[Shown] = Shown()

A ``Resource`` reads the class: what may be written and how it is checked, what tools take, what answers show
(in the order of the class) and what task files may say. A column without ``field`` is shown, and only the
product writes it. So a new field is one line, in the class.
"""

# Column, check, default, vendor name and filter of a field stand in one place (decision 093).

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter
from typing import Any, ClassVar, Literal, TypedDict, get_args, get_origin

from sqlalchemy.orm import mapped_column

from mesocosm.services.schema import Json
from mesocosm.services.values import Check, Checks, OneOf
from mesocosm.services.words import Shape, Word

Record = Mapping[str, Any]
By = Literal["clients", "filling", "product"]
"""Writers of a field: clients (and generators), generators alone, the product alone."""

_KEY = "field"


@dataclass(frozen=True)
class Field:
    """Declaration of one field of a vendor's API.

    Args:
        check: Of what is written; ``None`` where only the product writes it.
        by: Who writes it.
        tool: Whether tools take it: as the type of its column, as one of its choices, or as the type given.
        shown: Whether answers show it.
        also: A second name that it is taken and shown by.
        spelled: What tools call it, where that is something else.
        made: Works out what is shown from the record; usually what it has by the field's name.
        word: What task files are told of it, where they may speak of it; as a ``Word`` where it is another
            shape than the column's type.
    """

    check: Check | None = None
    by: By = "product"
    tool: Any = False
    shown: bool = True
    also: str = ""
    spelled: str = ""
    made: Callable[[Record], Any] | None = None
    word: str | Word = ""


@dataclass(frozen=True)
class Shown(Field):
    """A field that is no column."""

    default: Any = None


def field(
    check: Check | None = None,
    *args: Any,
    by: By | None = None,
    tool: Any = False,
    shown: bool = True,
    also: str = "",
    spelled: str = "",
    made: Callable[[Record], Any] | None = None,
    word: str | Word = "",
    **column: Any,
) -> Any:
    """A column that is a field of the API; ``args`` and ``column`` are what ``mapped_column`` takes."""
    said = Field(check, by or ("clients" if check else "product"), tool, shown, also, spelled, made, word)
    return mapped_column(*args, info={_KEY: said}, **column)


def blank(kind: type[Any]) -> Json:
    """A row of a table with nothing but its defaults."""
    row: Json = {}
    for column in kind.__table__.columns:
        if not column.primary_key:
            value = getattr(column.default, "arg", None)
            row[str(column.key)] = value(None) if callable(value) else value
    return row


class Resource:
    """Everything derived from the declaration of a table, or of objects without a table."""

    passed_over: ClassVar[frozenset[str]] = frozenset()
    """Further fields of the vendor's answers, which clients send back."""

    required: Sequence[str] = ()
    """Fields that a new one must have."""

    def __init__(self, model: type[Any]) -> None:
        self.model: Any = model
        self.table: Any = getattr(model, "__table__", None)
        columns = {} if self.table is None else dict(model.__mapper__.columns.items())
        self.fields: dict[str, Field] = {}
        """By the vendor's names, in the order in which answers show them."""
        self._attributes: dict[str, str] = {}
        for attribute in model.__annotations__:
            if attribute in columns:
                column = columns[attribute]
                name = str(column.name)  # it may be a quoted name, which is no plain text
                self._attributes[name] = attribute
                self.fields[name] = column.info.get(_KEY, Field())
            elif isinstance(said := model.__dict__.get(attribute), Field):
                self.fields[attribute] = said
        bare = [name for name, said in self.fields.items() if said.check or name == "id"]
        self.kept: Sequence[str] = list(self._attributes) or bare
        """The fields of an object that are kept, by the vendor's names."""

    @cached_property
    def checks(self) -> Checks:
        """Checks on what clients write."""
        return dict(self._checks("clients"))

    @cached_property
    def filled_checks(self) -> Checks:
        """Checks on what generators write."""
        return dict(self._checks("clients", "filling"))

    def _checks(self, *writers: By) -> Iterator[tuple[str, Check]]:
        for name, said in self.fields.items():
            if said.check and said.by in writers:
                yield name, said.check
                yield from ((other, said.check) for other in (said.also, said.spelled) if other)

    @cached_property
    def read_only(self) -> frozenset[str]:
        """Fields that clients may send back but not change."""
        shown = {name for name, said in self.fields.items() if said.shown}
        shown |= {said.also for said in self.fields.values() if said.also}
        return frozenset((shown | self.passed_over) - self.checks.keys())

    def columns(self, values: Record) -> Json:
        """Of checked values, what is kept."""
        second = {
            name: other
            for name, said in self.fields.items()
            for other in (said.also, said.spelled)
            if other in values
        }
        return {name: values[second.get(name, name)] for name in self.kept if name in {*values, *second}}

    def blank(self) -> Json:
        """Return the stored form of an object with only default values."""
        if self.table is not None:
            return blank(self.model)
        return {name: said.default for name, said in self.fields.items() if isinstance(said, Shown)}

    # -- answers ----------------------------------------------------------------------------------------

    @cached_property
    def _shape(self) -> Sequence[tuple[str, Callable[[Record], Any]]]:
        found: list[tuple[str, Callable[[Record], Any]]] = []
        for name, said in self.fields.items():
            if said.shown:
                made = said.made or itemgetter(name)
                found += [(spelled, made) for spelled in (name, said.also) if spelled]
        return found

    def shape(self, record: Record) -> Json:
        """An object as answers show it."""
        return {name: made(record) for name, made in self._shape}

    # -- what tools take --------------------------------------------------------------------------------

    @cached_property
    def _hints(self) -> Mapping[str, Any]:
        hints = typing.get_type_hints(self.model)
        return {
            name: _bare(get_args(hints[attribute])[0])
            for name, attribute in self._attributes.items()
            if attribute in hints
        }

    def taken(self, name: str) -> Any:
        """The type of a field that tools take."""
        said = self.fields[name]
        if said.tool is not True:
            return said.tool
        return Literal[said.check.choices] if isinstance(said.check, OneOf) else self._hints[name]

    def data(
        self, name: str, *, required: Iterable[str] = (), first: Sequence[str] = (), **others: Any
    ) -> Any:
        """The ``TypedDict`` of what tools take for a new object.

        Args:
            name: What it is called.
            required: Fields that must be there.
            first: Fields that stand before the others.
            others: Types of fields that have another one here.
        """
        known = [name for name, said in self.fields.items() if said.tool]
        must = set(required)
        hints = {
            self.fields[one].spelled or one: (
                typing.Required[self.taken(one)] if one in must else others.get(one) or self.taken(one)
            )
            for one in [*first, *(one for one in known if one not in first)]
        }
        return TypedDict(name, hints, total=False)  # type: ignore[operator]

    # -- what task files say ----------------------------------------------------------------------------

    def words(self) -> dict[str, Word]:
        """The fields that task files may speak of."""
        return {
            name: self._word(name, said.word if isinstance(said.word, Word) else Word(said.word, shape))
            for name, said in self.fields.items()
            if said.word
            for shape in [self._word_shape(name)]
        }

    def _word(self, name: str, word: Word) -> Word:
        return replace(word, required=name in self.required, choices=_choices(self.fields[name].check))

    def _word_shape(self, name: str) -> Shape:
        if name.startswith("date_") or name.endswith("_at"):
            return "moment"
        hint = self._hints[name]
        kind = get_origin(hint) or hint
        return _WORDS.get(kind, "data")

    def is_text(self, name: str) -> bool:
        """True if a field is stored as text, as some vendors do with amounts."""
        return self._hints[name] is str


_WORDS: Mapping[Any, Shape] = {str: "text", bool: "flag", int: "number", float: "number", list: "list"}


def _choices(check: Check | None) -> tuple[str, ...]:
    return check.choices if isinstance(check, OneOf) else ()


def _bare(hint: Any) -> Any:
    """A type without ``None``."""
    if get_origin(hint) not in (typing.Union, types.UnionType):
        return hint
    rest = [arg for arg in get_args(hint) if arg is not type(None)]
    return rest[0] if len(rest) == 1 else hint
