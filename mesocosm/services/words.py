"""Vocabulary of a service in task files: fields, and how they are filled, read and judged.

A service brings them by existing: ``servers/<name>/words.py`` with a ``Words`` named ``words``. They stand on
the service's store and tables; a kit that makes tasks from files knows them only as what is declared here.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from mesocosm.services.calling import Tools
from mesocosm.services.content import find_module, service_names

if TYPE_CHECKING:
    from mesocosm.services.world import World
    from mesocosm.worlds.changes import Changes, Row, TableChanges

Shape = Literal["text", "number", "moment", "date", "flag", "list", "addresses", "data"]
"""A kind of value. Texts and lists are drawn from where a file gives several; ``data`` is as it is."""

Fields = dict[str, Any]
"""Values of a thing by the names of its fields."""

_NAMES = ("name", "title", "summary", "subject", "path", "email")
"""Columns by which a reader knows a row."""


@dataclass(frozen=True)
class Word:
    """One field."""

    about: str
    shape: Shape = "text"
    required: bool = False
    choices: tuple[str, ...] = ()
    """The values that there are, where it has only some."""
    default: str = ""
    """Default in evidence, over fields of its entity."""


class Cells(dict[str, Any]):
    """Values by column, as found: right where those that a goal speaks of are; ``Whole``: and no others."""

    whole: ClassVar[bool] = False


class Whole(Cells):
    """Values by name of which a goal speaks of all."""

    whole = True


class InForms(str):
    """A text with several visible forms, each of which has to be right: as text or HTML, with or without
    quotes.
    """

    texts: tuple[str, ...]
    htmls: tuple[str, ...]

    def __new__(cls, text: str, texts: Sequence[str], htmls: Sequence[str]) -> InForms:
        """Make it from its main text and all forms."""
        made = super().__new__(cls, text)
        made.texts, made.htmls = tuple(texts), tuple(htmls)
        return made


@dataclass(frozen=True)
class Owner:
    """The person who acts in a world, signed in wherever possible."""

    name: str
    email: str
    zone: str
    """IANA name of the time zone that the owner lives in."""
    house: str = ""
    """Where the owner works or studies, if the task says so."""


@dataclass(frozen=True)
class Found:
    """Something an agent made, changed or removed, as a goal judges it."""

    fields: Fields
    rows: frozenset[tuple[str, Any]]
    """(table, primary key) of the rows that it accounts for."""
    columns: frozenset[str] = frozenset()
    """Of rows that were there before: the columns that it accounts for."""
    before: Fields | None = None
    """Of what was there before: the same fields as they were, so that what no goal speaks of has stayed."""


class Thing:
    """Something that a service has: a mail, an event, an order. Subclasses are its words."""

    name: ClassVar[str]
    about: ClassVar[str]
    says: ClassVar[Mapping[str, Word]] = {}
    """Fields of evidence; empty for things of goals only."""
    judges: ClassVar[Mapping[str, Word]] = {}
    """Fields of goals; empty for things of evidence only."""
    usual: ClassVar[Mapping[str, Any]] = {}
    """Judged fields that must have these values where a goal does not speak of them."""
    gives: ClassVar[Mapping[str, str]] = {}
    """Values assigned by the service (ids): entities refer to them by the evidence's ``as``."""
    when: ClassVar[str | None] = None
    """The field that says when it came about: things are put in by it, whatever they are about."""
    text: ClassVar[str | None] = None
    """The field that everyday text may stand around, and that an everyday thing has for itself."""
    serial: ClassVar[str | None] = None
    """The field whose digits are others in everyday things, such as the path of a file."""
    title: ClassVar[str | None] = None
    """The field that says in a few words what it is about."""
    writer: ClassVar[str | None] = None
    """The field that names who wrote it, where most who write do so once."""
    by_the_minute: ClassVar[bool] = False
    """True if it shows its writer and minute: nobody writes two in one minute."""
    remarks: ClassVar[str | None] = None
    """The field with what was said about it later, which everyday things have for themselves."""
    letter: ClassVar[bool] = False
    """True for a letter, with greeting and signature."""
    overhead: ClassVar[int] = 60
    """Tokens that a survey spends on it besides its own values, measured on whole worlds."""
    listed: ClassVar[bool] = True
    """True if a survey meets the title twice: in a list, and in the thing itself."""
    ordered: ClassVar[bool] = True
    """True if the rows of it have an order that can be judged."""
    written: ClassVar[bool] = False
    """True if rows are free-form lines of cells, possibly of different lengths."""
    identified_by: ClassVar[str | None] = None
    """The judged field that says which of the present ones is meant, where a goal changes or removes."""

    def check(self, fields: Fields) -> str | None:
        """Return an error if values that are valid alone do not fit together."""
        return None

    def moved(self, fields: Fields, moment: datetime) -> Fields:
        """The same at another time."""
        assert self.when
        return {**fields, self.when: moment}

    def unlike(self, fields: Fields) -> Fields:
        """The fields of evidence without what belongs to that alone: from these are everyday ones."""
        return fields

    def row_overhead(self, cells: Mapping[str, Any], count: Callable[[str], int]) -> int:
        """Tokens that a survey spends on one row of it besides the cells, as ``count`` counts them."""
        return 0

    def row_trace(self, cells: Mapping[str, Any]) -> str | None:
        """A text that occurs in exactly those results of the survey that hold a row; ``None`` where a table
        has one trace for all of it."""
        return None

    def size(self, fields: Fields, count: Callable[[str], int]) -> int:
        """Tokens that a survey spends on values that are no texts, as ``count`` counts them."""
        return 0

    def read_singly(self, fields: Fields, options: Mapping[str, Any]) -> bool:
        """True if a survey with these options reads the thing itself; otherwise only query results depend on
        it.
        """
        return True

    def continued(self, things: Sequence[tuple[Fields, Collection[str]]]) -> list[Fields]:
        """Return the fields of things in order of creation, with fields that follow from earlier things
        filled in.
        """
        return [fields for fields, _ in things]

    def add(self, world: World, things: Sequence[Fields]) -> list[Fields]:
        """Put things into a world that is being built; returns what ``gives`` promises of each.

        A thing that has no words to state is only judged, and never added.
        """
        raise TypeError(f"a {self.name} is judged, not stated")

    def trace(self, fields: Fields, given: Fields) -> str | list[str]:
        """A text (or several) that occurs in exactly those results of the survey that hold this thing."""
        text = str(fields.get(self.text or "", ""))
        return max(text.split("\n"), key=len, default="")

    def elsewhere(self, fields: Fields, given: Fields) -> tuple[str, ...]:
        """Such texts for results of calls that the survey does not make, where its own is not in these."""
        return ()

    def shown(self, name: str, value: Any) -> str:
        """Return a field's value as the survey shows it."""
        if isinstance(value, datetime):
            return stamp(value)
        if isinstance(value, bool):
            return str(value).lower()
        return "" if value is None or isinstance(value, (list, dict)) else str(value)

    def rearranged(self, world: World, fields: Fields, change: Callable[[list[list[Any]]], Any]) -> bool:
        """Change the agent's table: ``change`` maps its lines, header first, to new ones. False if this thing
        is not a table or does not exist.
        """
        return False

    def made(self, world: World, changes: Changes) -> Iterator[Found]:
        """Those that were not there when the world was built."""
        return iter(())

    def altered(self, world: World, changes: Changes) -> Iterator[Found]:
        """Those that were there and are another now, with all that is judged as it is now."""
        return iter(())

    def gone(self, world: World, changes: Changes) -> Iterator[Found]:
        """Those that were there and are no longer, as they were."""
        return iter(())


@dataclass(frozen=True)
class Spoiling:
    """Something that no task asks for, done to a world whose task was done."""

    name: str
    apply: Callable[[World], bool]
    """Does it; false where the world has nothing to do it to."""
    breaks: frozenset[str] = frozenset()
    """Findings that may fail for it besides the one that the service is unchanged."""


@dataclass(frozen=True)
class Words:
    service: str
    things: Mapping[str, Thing]
    survey: Callable[[Tools, Mapping[str, Any]], None]
    """Reads all there is, from the first page to the last. It is told what the file says under ``survey``."""
    open: Callable[[World, Owner, Sequence[tuple[str, str]]], None] = lambda world, owner, people: None
    """Makes the accounts of the owner and of other people (name, address), before anything is put in."""
    unseen: Collection[str] = ()
    """Tables that follow from others or from reading."""
    spoilings: Sequence[Spoiling] = ()
    excuses: Callable[[World, Changes], Collection[tuple[str, Any]]] = lambda world, changes: ()
    """Changed rows that are the same for all who judge: (table, primary key). See ``docs/judging.md``."""
    survey_options: Mapping[str, str] = field(default_factory=dict)
    """Options under ``survey`` of this service in a file, and what they mean."""
    files_listed_by: str = ""
    """The service by which the survey finds ``files`` of itself, where a task has it."""

    def others(
        self,
        world: World,
        changes: Changes,
        explained: Sequence[Found] = (),
        apart_from: Collection[str] = (),
    ) -> Iterator[str]:
        """Yield changes in the service that nothing explains, except in the tables ``apart_from``."""
        rows = {row for found in explained for row in found.rows} | set(self.excuses(world, changes))
        columns: dict[tuple[str, Any], set[str]] = {}
        for found in explained:
            for row in found.rows:
                columns.setdefault(row, set()).update(found.columns)
        for (service, table), difference in changes.tables.items():
            if service != self.service or table in self.unseen or table in (*apart_from, "sign_in"):
                continue
            keys = keys_of(world, service, table)
            yield from _unexplained(table, difference, keys, rows, columns)


def only_stamped(difference: TableChanges, key: str, stamps: Collection[str]) -> Iterator[Any]:
    """Yield the keys of rows that differ only in time stamps and counters of saving."""
    for before, after in difference.changed:
        if all(after[name] == value for name, value in before.items() if name not in stamps):
            yield after[key]


def saved_rows(
    world: World, changes: Changes, service: str, stamps: Collection[str]
) -> Iterator[tuple[str, Any]]:
    """Rows of any table of a service, (table, primary key), that only such columns changed of."""
    for (owner, table), difference in changes.tables.items():
        if owner == service and difference.changed:
            keys = keys_of(world, service, table)
            for before, after in difference.changed:
                if all(after[name] == value for name, value in before.items() if name not in stamps):
                    yield table, key_of(after, keys)


def made_anew(
    difference: TableChanges,
    key: str,
    stamps: Collection[str],
    only: Callable[[Row], bool] = lambda row: True,
    belongs: Mapping[str, Mapping[Any, Any]] | None = None,
) -> Iterator[tuple[Any, Any]]:
    """Keys (old, new) of rows that went and came again as they had been, apart from key and ``stamps``.

    ``belongs``: of columns that hold another key, the old one by the new one where that was made anew.
    """

    def holds(row: Row) -> tuple[Any, ...]:
        same = belongs or {}
        return tuple(
            same.get(name, {}).get(value, value)
            for name, value in row.items()
            if name != key and name not in stamps
        )

    gone: dict[tuple[Any, ...], list[Any]] = {}
    for row in difference.removed:
        if only(row):
            gone.setdefault(holds(row), []).append(row[key])
    for row in difference.added:
        if only(row) and (keys := gone.get(holds(row))):
            yield keys.pop(0), row[key]


def keys_of(world: World, service: str, table: str) -> Sequence[str]:
    """Return the names of a table's primary key."""
    from mesocosm.services.service import load_service

    metadata = load_service(service).metadata
    assert metadata is not None
    return [column.name for column in metadata.tables[table].primary_key.columns]


def key_of(row: Row, keys: Sequence[str]) -> Any:
    """The primary key of a row: a value, or a tuple of several."""
    return row[keys[0]] if len(keys) == 1 else tuple(row[key] for key in keys)


def _unexplained(
    table: str,
    difference: TableChanges,
    keys: Sequence[str],
    rows: Collection[tuple[str, Any]],
    columns: Mapping[tuple[str, Any], Collection[str]],
) -> Iterator[str]:
    for row in difference.added:
        if (table, key_of(row, keys)) not in rows:
            yield f"{table} {key_of(row, keys)}{_named(row)} was added"
    for row in difference.removed:
        if (table, key_of(row, keys)) not in rows:
            yield f"{table} {key_of(row, keys)}{_named(row)} was removed"
    for before, after in difference.changed:
        which = table, key_of(after, keys)
        if which in rows and not columns.get(which):
            continue
        other = [
            name for name in before if before[name] != after[name] and name not in columns.get(which, ())
        ]
        if other:
            yield f"{table} {which[1]} was changed ({', '.join(other)})"


def _named(row: Row) -> str:
    names = (row[name] for name in _NAMES if isinstance(row.get(name), str) and row[name])
    return next((f" ({name[:80]})" for name in names), "")


def stamp(moment: datetime) -> str:
    """An instant as most services keep it: ``2025-01-15T09:00:00Z``."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


@cache
def load_words(service: str) -> Words | None:
    """The words of a service; ``None`` if it has none."""
    module = find_module("servers", service, "words") if service in service_names() else None
    if module is None:
        return None
    words = importlib.import_module(module).words
    if not isinstance(words, Words) or words.service != service:
        raise TypeError(f"servers/{service}/words.py: `words` must be the Words of {service!r}")
    return words


def find_thing(name: str) -> Thing | None:
    """The thing called ``service.thing``."""
    service, _, thing = name.partition(".")
    words = load_words(service)
    return words.things.get(thing) if words else None


def thing_names(
    among: Iterable[str] | None = None, *, stated: bool = False, judged: bool = False
) -> list[str]:
    """Every ``service.thing`` there is, of some services; only those that can be stated, or judged."""
    return [
        f"{service}.{name}"
        for service in (service_names() if among is None else sorted(among))
        if (words := load_words(service))
        for name, thing in words.things.items()
        if (not stated or thing.says) and (not judged or thing.judges)
    ]
