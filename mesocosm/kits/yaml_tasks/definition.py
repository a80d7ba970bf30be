"""What a task file says, checked as far as that goes without drawing anything."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, WithJsonSchema, model_validator

from mesocosm.kits.prose import TOPICS
from mesocosm.kits.yaml_tasks.drawing import DRAWS, Draw, One, drawn, read_draw
from mesocosm.kits.yaml_tasks.expressions import Expression, ExpressionError
from mesocosm.services.service import load_service, service_names
from mesocosm.services.words import find_thing, thing_names

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
TAKEN = ("kind", "nth", "now", "today", "size", "filler_tokens", "span", "file", "loop", "self")
"""Names that mean something of themselves."""
MAX_COUNT = 50_000


def _value(given: Any) -> Any:
    return read_draw(given)


def _expression(given: Any) -> Expression:
    try:
        return Expression(str(given), bare=True)
    except ExpressionError as error:
        raise ValueError(str(error)) from None


def _inlined(value: Any, parts: Mapping[str, Any]) -> Any:
    """A schema with what it refers to in its place."""
    if isinstance(value, dict):
        if name := str(value.get("$ref", "")).rpartition("/")[2]:
            return _inlined(parts[name], parts)
        return {key: _inlined(inner, parts) for key, inner in value.items() if key != "$defs"}
    return [_inlined(inner, parts) for inner in value] if isinstance(value, list) else value


def _schema_of(draw: type[Draw]) -> dict[str, Any]:
    whole = draw.model_json_schema()
    found: dict[str, Any] = _inlined(whole, whole.get("$defs", {}))
    return found | {"description": draw.about()}


_VALUE_SCHEMA = {
    "description": "A constant, a text with {{ expressions }}, or a mapping with one of these keys.",
    "anyOf": [
        {"type": ["string", "number", "boolean", "array", "null"]},
        *map(_schema_of, DRAWS.values()),
    ],
}
Value = Annotated[Any, PlainValidator(_value), WithJsonSchema(_VALUE_SCHEMA)]
Condition = Annotated[
    Any,
    PlainValidator(_expression),
    WithJsonSchema({"type": "string", "description": "An expression without {{ }}."}),
]


class Strict(BaseModel):
    """Unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True, use_attribute_docstrings=True)


class Kind(Strict):
    """A case that an entity may be."""

    share: float | None = Field(default=None, gt=0)
    """Its part of the count, against those of the other kinds; one at least."""
    background: float | None = Field(default=None, gt=0)
    """Instead of a share: further entities of this kind fill the length, in this proportion."""
    fields: dict[str, Value] = {}
    """Fields that only this kind has, or has otherwise; for the others they are empty."""
    about: str = ""
    """Why it does not count, or what is special; shown by ``describe``."""

    @model_validator(mode="after")
    def _one_of_both(self) -> Kind:
        if (self.share is None) == (self.background is None):
            raise ValueError("a kind has either a share or is background")
        return self


class Between(Strict):
    """A number between two."""

    least: int = Field(ge=0, le=1000, alias="from")
    most: int = Field(ge=0, le=1000, alias="to")


class Fact(Strict):
    """Something that is true: one entity, or as many as ``count`` says."""

    count: int | str | Between | None = None
    """How many: a number, the name of a parameter, or (with ``of``) ``{from: 1, to: 3}``; without: one."""
    of: str | None = None
    """The fact that each of these belongs to."""
    fields: dict[str, Value] = {}
    kinds: dict[str, Kind] = {}

    @property
    def single(self) -> bool:
        """Whether there is one of it."""
        return self.count is None

    @cached_property
    def own_fields(self) -> dict[str, Any]:
        """All fields there are, those of kinds included."""
        return self.fields | {name: None for kind in self.kinds.values() for name in kind.fields}

    def kinds_with(self, *, background: bool) -> list[str]:
        """The kinds that are background, or those that are not."""
        return [name for name, kind in self.kinds.items() if (kind.background is not None) == background]


class Selection(Strict):
    """Which entities something is done for."""

    for_: str | None = Field(default=None, alias="for")
    """A fact; left out, it is done once."""
    kinds: list[str] | None = None
    """Only these kinds of it (a fact that has kinds)."""
    where: Condition | None = None
    """Only where this is true."""


class Rows(Selection):
    """Rows of a table, one for each entity."""

    by: list[str] = []
    """Fields that the rows are sorted by; ``-total`` is falling."""
    columns: dict[str, Any] = Field(min_length=1)
    """The cells by the columns' names."""
    within: dict[str, float] = {}
    """How far the numbers of a column may be off."""


class Doing(Selection):
    """Something done with one thing of a service: the key ``service.thing`` says what."""

    model_config = ConfigDict(extra="allow")

    @property
    def what(self) -> str:
        """The ``service.thing``."""
        return next(iter(self.model_extra or {}), "")

    @property
    def fields(self) -> dict[str, Any]:
        """What is said of it."""
        return dict((self.model_extra or {}).get(self.what) or {})


class Statement(Doing):
    """Where a fact is told."""

    as_: str | None = Field(default=None, alias="as")
    """A field of the entity that holds what the service gives (its id)."""
    around: bool = True
    """Whether everyday text may stand around what it says."""


class Goal(Doing):
    """What must be so in the end and was not before."""

    how: Literal["add", "change", "remove"] = "add"
    name: str | None = Field(default=None, pattern=r"^[a-z][a-z0-9_]*$")
    """What its findings are called; default: the thing's name."""
    key: list[str] | None = None
    """The judged fields that tell one from the other; default: the first that differs for each."""


class Step(Doing):
    """A call of the walk: the key ``service.tool`` has the arguments."""

    as_: str | None = Field(default=None, alias="as")
    """A name by which later steps of the same entity read its result."""
    by: list[str] = []
    """Fields by which the entities are sorted."""


class Everyday(Strict):
    """Everyday things of one sort."""

    topics: list[str] = Field(min_length=1)
    """What they are about."""
    around: tuple[int, int] = (0, 120)
    """How many tokens of such text stand around each statement of this sort."""
    share: float = Field(default=1, gt=0)
    """Its part of the filler that is everyday, against the other sorts."""


class Setting(Strict):
    """When and where it happens."""

    now: Value = None
    """The world's clock at the beginning; default: a weekday morning of 2025."""
    zone: str | list[str] = "UTC"
    """IANA time zone, or some to draw from; all moments are on its clocks."""


class Definition(Strict):
    """The parts of a task file that describe its world, its goal and how it is reached."""

    world: Setting = Setting()
    facts: dict[str, Fact] = Field(min_length=1)
    statements: list[Statement] = Field(min_length=1)
    background: dict[str, Everyday] = Field(min_length=1)
    survey: dict[str, dict[str, Any]] = {}
    goal: list[Goal] = Field(min_length=1)
    walk: list[Step] = Field(min_length=1)


Complaint = tuple[tuple[Any, ...], str]
"""Keys that lead to it, and what is wrong."""


def check(
    definition: Definition, servers: Mapping[str, Any], parameters: Iterable[str]
) -> Iterator[Complaint]:
    """What is wrong with a definition whose shape is right."""
    yield from _check_facts(definition, list(parameters))
    for index, statement in enumerate(definition.statements):
        place: tuple[Any, ...] = ("statements", index)
        yield from _check_selection(definition, statement, place)
        yield from _check_thing(definition, statement, place, servers, stated=True)
    for name in definition.background:
        thing = find_thing(name)
        told = {statement.what for statement in definition.statements}
        if thing is None or thing.text is None:
            possible = [one for one in thing_names(stated=True) if (it := find_thing(one)) and it.text]
            yield ("background", name), f"no such text; possible: {', '.join(possible)}"
        elif name not in told:
            yield (
                ("background", name),
                f"no statement is a {name}; the statements have {', '.join(sorted(told))}",
            )
        for topic in definition.background[name].topics:
            if topic not in TOPICS:
                yield ("background", name, "topics"), f"no topic {topic!r}; possible: {', '.join(TOPICS)}"
    for index, goal in enumerate(definition.goal):
        place = ("goal", index)
        yield from _check_selection(definition, goal, place)
        yield from _check_thing(definition, goal, place, servers, stated=False)
    for index, step in enumerate(definition.walk):
        place = ("walk", index)
        yield from _check_selection(definition, step, place)
        yield from _check_step(step, place, servers)
    for service in definition.survey:
        if service not in servers:
            yield ("survey", service), f"the task has no such server; it has {', '.join(servers)}"


def _check_facts(definition: Definition, parameters: list[str]) -> Iterator[Complaint]:
    for name, fact in definition.facts.items():
        place = ("facts", name)
        if not _NAME.fullmatch(name) or name in TAKEN:
            yield place, f"not a name for a fact: small letters, digits and _; not {', '.join(TAKEN)}"
        everything = [*fact.fields.items(), *(f for kind in fact.kinds.values() for f in kind.fields.items())]
        for field, source in everything:
            if not _NAME.fullmatch(field) or field in TAKEN:
                yield (*place, "fields", field), "not a name for a field: small letters, digits and _"
            if field in definition.facts and not (isinstance(source, One) and source.one == field):
                yield (*place, "fields", field), f"{field!r} is a fact already"
        if isinstance(fact.count, str) and fact.count not in parameters:
            yield (*place, "count"), f"no parameter {fact.count!r}; there are {', '.join(parameters)}"
        if isinstance(fact.count, int) and not 1 <= fact.count <= MAX_COUNT:
            yield (*place, "count"), f"between 1 and {MAX_COUNT:,}"
        if isinstance(fact.count, Between):
            if fact.of is None:
                yield (*place, "count"), "a range is for facts that belong to another (of)"
            elif fact.count.most < fact.count.least:
                yield (*place, "count"), "from is more than to"
        if fact.of is not None and (fact.of not in definition.facts or definition.facts[fact.of].single):
            several = [other for other, it in definition.facts.items() if not it.single and other != name]
            yield (
                (*place, "of"),
                f"no fact {fact.of!r} of which there are several; there are {', '.join(several)}",
            )
        if fact.kinds and fact.single:
            yield (*place, "kinds"), "kinds are for facts of which there are several (count)"
        if fact.kinds and not fact.kinds_with(background=False):
            yield (*place, "kinds"), "all kinds are background; one at least needs a share"
        if fact.of is not None and fact.kinds_with(background=True):
            yield (
                (*place, "kinds"),
                f"what belongs to another is background when that is; give {fact.of} the kind",
            )
    me = definition.facts.get("me")
    if me is None or not me.single or not {"name", "email"} <= set(me.fields):
        yield ("facts",), "there must be a fact `me` with the fields name and email: who acts"


def _check_selection(
    definition: Definition, chosen: Selection, place: tuple[Any, ...]
) -> Iterator[Complaint]:
    if chosen.for_ is None:
        if chosen.kinds or chosen.where:
            yield place, "kinds and where need a fact (for)"
        return
    fact = definition.facts.get(chosen.for_)
    if fact is None or fact.single:
        several = [name for name, it in definition.facts.items() if not it.single]
        yield (
            (*place, "for"),
            f"no fact {chosen.for_!r} of which there are several; there are {', '.join(several)}",
        )
        return
    for kind in chosen.kinds or ():
        if kind not in fact.kinds:
            known = ", ".join(fact.kinds) or "none"
            yield (*place, "kinds"), f"{chosen.for_} has no kind {kind!r}; it has {known}"


def _check_thing(
    definition: Definition, doing: Doing, place: tuple[Any, ...], servers: Mapping[str, Any], *, stated: bool
) -> Iterator[Complaint]:
    offered = thing_names(servers, stated=stated, judged=not stated)
    if len(doing.model_extra or {}) != 1:
        extra = ", ".join(doing.model_extra or {}) or "none"
        yield place, f"one key service.thing is needed, found {extra}; possible: {', '.join(offered)}"
        return
    thing = find_thing(doing.what)
    if thing and doing.what.partition(".")[0] not in servers:
        service = doing.what.partition(".")[0]
        yield (*place, doing.what), f"servers does not have {service}; it has {', '.join(servers)}"
        return
    if thing is None or doing.what not in offered:
        yield (*place, doing.what), f"no such thing; possible: {', '.join(offered)}"
        return
    given = (doing.model_extra or {})[doing.what]
    if not isinstance(given, dict):
        yield (*place, doing.what), "its fields are needed, as a mapping"
        return
    words = thing.says if stated else thing.judges
    for field, value in given.items():
        if field not in words:
            yield (*place, doing.what, field), f"unknown field; {doing.what} has {', '.join(words)}"
            continue
        if words[field].shape == "list" and isinstance(value, dict) and "columns" in value:
            try:
                rows = Rows.model_validate(value)
            except ValueError as error:
                yield (*place, doing.what, field), str(error).partition("\n")[2].strip()
                continue
            yield from _check_selection(definition, rows, (*place, doing.what, field))
    for field, word in words.items():
        if word.required and field not in given:
            yield (*place, doing.what), f"the field {field!r} is required: {word.about}"
    yield from _check_expressions(given, (*place, doing.what))


def _check_expressions(given: Any, place: tuple[Any, ...]) -> Iterator[Complaint]:
    """Texts that are no expressions or not allowed; where they are."""
    if isinstance(given, str):
        try:
            drawn(given)
        except ValueError as error:
            yield place, str(error)
    elif isinstance(given, Mapping):
        for key, inner in given.items():
            yield from _check_expressions(inner, (*place, key))
    elif isinstance(given, list):
        for index, inner in enumerate(given):
            yield from _check_expressions(inner, (*place, index))


def _check_step(step: Step, place: tuple[Any, ...], servers: Mapping[str, Any]) -> Iterator[Complaint]:
    if len(step.model_extra or {}) != 1:
        extra = ", ".join(step.model_extra or {}) or "none"
        yield place, f"one key service.tool is needed, found {extra}"
        return
    service, _, tool = step.what.partition(".")
    if service not in servers or service not in service_names():
        yield (*place, step.what), f"servers does not have {service!r}; it has {', '.join(servers)}"
        return
    tools = load_service(service).select(servers[service]).tools
    if tool not in tools:
        yield (*place, step.what), f"{service} has no tool {tool!r}; it has {', '.join(tools)}"
        return
    parameters = tools[tool].signature.schema["properties"]
    for name in step.fields:
        if name not in parameters:
            yield (*place, step.what, name), f"unknown argument; {tool} has {', '.join(parameters) or 'none'}"
    for name in tools[tool].signature.schema.get("required", ()):
        if name not in step.fields:
            yield (*place, step.what), f"the argument {name!r} is required"
    yield from _check_expressions(step.fields, (*place, step.what))


__all__ = [
    "Complaint",
    "Definition",
    "Draw",
    "Fact",
    "Goal",
    "Rows",
    "Selection",
    "Statement",
    "Step",
    "check",
]
