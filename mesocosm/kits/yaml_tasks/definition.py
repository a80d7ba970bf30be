"""The schema of a task file, checked without drawing anything."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from mesocosm.kits.yaml_tasks.draws import DRAWS, Condition, Draw, condition, read_draw
from mesocosm.kits.yaml_tasks.goal_calls import Unknown, known_goals, solution_of

MAX_COUNT = 50_000
MAX_BELONGING = 1_000
"""So many entities may belong to one, through all generations."""
MAX_ENTITIES = 200_000
"""Of all entities together, without those that fill the length."""


def _value(given: Any) -> Any:
    return read_draw(given)


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


class _ValueSchema:
    """Describes a value when a schema is asked for: that takes longer than to read a whole file."""

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        return {
            "description": "A constant, a text with {expressions}, or a mapping with one of these keys.",
            "anyOf": [
                {"type": ["string", "number", "boolean", "array", "null"]},
                *map(_schema_of, DRAWS.values()),
            ],
        }


Value = Annotated[Any, PlainValidator(_value), _ValueSchema()]


def _words(given: Any) -> Any:
    texts = given if isinstance(given, list) else [given]
    if not texts or not all(isinstance(one, str) and one.strip() for one in texts):
        raise ValueError("a text that is to be found, or a list of such texts, is needed")
    return given


Quote = Annotated[
    Any,
    PlainValidator(_words),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]
Conditions = Annotated[
    list[Any],
    PlainValidator(lambda given: [condition(one) for one in (given if isinstance(given, list) else [given])]),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]


class Strict(BaseModel):
    """Unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True, use_attribute_docstrings=True)


class Case(Strict):
    """A case that an entity may be."""

    share: Annotated[float, Field(gt=0, allow_inf_nan=False)] | str | None = None
    """Its part of the count, against those of the other cases; one at least; default: 1. Or an expression of
    parameters, such as ``drop_rate / 2``; where that is 0 there are none."""
    weight: Annotated[float, Field(gt=0, allow_inf_nan=False)] | str | None = None
    """Instead of a share: further entities of this case fill the length, in this proportion. Or an expression
    of parameters; where that is 0 there are none."""
    fields: dict[str, Value] = {}
    """Fields that only this case has, or has otherwise; for the others they are empty."""
    about: str = ""
    """Reason why it does not count, or what is special; shown by ``describe``."""
    quote: Quote = None
    """The words that say so: of the prompt, of a document or of what is told of it. The proof has to find
    them; with ``{expressions}`` for values."""
    expect: Conditions = []
    """Conditions on each of them, as a second reading of the rules: ``amount == 0 and not wanted``; an
    expression or a list. ``wanted`` is true if the goal is for it."""

    @model_validator(mode="after")
    def _one_of_both(self) -> Case:
        if self.share is not None and self.weight is not None:
            raise ValueError(
                "a case has either a share (of what counts) or a weight (in what fills the length)"
            )
        if self.share is None and self.weight is None:
            self.share = 1.0
        return self


def _plain_ones(given: Any) -> Any:
    """Normalise cases that have no keys."""
    if isinstance(given, Mapping):
        return {name: {} if case is None else case for name, case in given.items()}
    return given


class Distractor(Strict):
    """Entities that do not count and fill the length: with the same cases and evidence, but different in the
    fields that say why.
    """

    weight: Annotated[float, Field(gt=0, allow_inf_nan=False)] | str = 1
    """Relative frequency among distractors and cases with a weight: a number, or an expression of parameters;
    0 for none."""
    fields: dict[str, Value] = Field(min_length=1)
    """Fields that differ: another place, another year, another customer."""
    about: str = ""
    """Reason why it does not count."""
    quote: Quote = None
    """The words that say so, where no field does that the prompt or a rule names. The proof has to find them
    in the prompt or in what is delivered."""


class Between(Strict):
    """A number between two, each given or an expression of parameters."""

    least: Annotated[int, Field(ge=0, le=1000)] | str = Field(alias="from")
    most: Annotated[int, Field(ge=0, le=1000)] | str = Field(alias="to")


class EntityType(Strict):
    """One entity, or as many as ``count`` says."""

    count: int | str | Between | None = None
    """Number of entities: a number, the name of a parameter, an expression of parameters (``days * 2``), or
    (with ``parent``) ``{from: 1, to: 3}``. Default: one."""
    parent: str | None = None
    """Entity type that each of these belongs to."""
    fields: dict[str, Value] = {}
    given: list[str] = []
    """Fields whose values the answer to the task's question has (a task with a domain)."""
    cases: Annotated[dict[str, Case], BeforeValidator(_plain_ones)] = {}
    """Cases; the field ``case`` says which one an entity is."""
    distractors: dict[str, Distractor] = {}
    """Further ones that do not count."""

    @property
    def single(self) -> bool:
        return self.count is None

    @cached_property
    def own_fields(self) -> dict[str, Any]:
        """All fields there are, those of cases included."""
        special = {name: None for fields in self.special_fields for name in fields}
        return dict.fromkeys(self.given) | self.fields | special

    @property
    def special_fields(self) -> list[dict[str, Any]]:
        """The fields of each case and of each distractor."""
        return [case.fields for case in self.cases.values()] + [
            other.fields for other in self.distractors.values()
        ]

    def cases_with(self, *, background: bool) -> list[str]:
        """The cases that fill the length, or those that do not."""
        return [name for name, case in self.cases.items() if (case.weight is not None) == background]

    @property
    def fills(self) -> bool:
        """True if the number of entities can grow with the length."""
        return bool(self.distractors or self.cases_with(background=True))


class Selection(Strict):
    """Selection of entities."""

    for_: str | None = Field(default=None, alias="for")
    """Entity type; without it, it is done once."""
    cases: list[str] | None = None
    """Only those of these cases."""
    where: Condition | None = None
    """Only where this is true."""


class Rows(Selection):
    """Rows of a table, one for each entity."""

    sort: list[str] = []
    """Fields that the rows are sorted by; ``-total`` is falling."""
    columns: dict[str, Any]
    """The cells by the columns' names; none where the things of ``each`` are the rows."""
    each: Condition = None
    """A field that is a list of things, or an expression that makes one (``order.group('city')``):
    there is a row for each; ``row`` is the thing."""
    within: dict[str, float] = {}
    """Tolerance of numeric columns."""
    footer: dict[str, Any] = {}
    """The cells of one more row below all others, such as that of totals."""

    @model_validator(mode="after")
    def _same_columns(self) -> Rows:
        if self.footer and list(self.footer) != list(self.columns):
            raise ValueError(f"footer: these columns are needed: {', '.join(self.columns)}")
        return self

    @model_validator(mode="after")
    def _says_what_is_in_them(self) -> Rows:
        if not self.columns and self.each is None:
            raise ValueError("rows need columns, unless `each` names a field with whole rows")
        return self


class Doing(Selection):
    """Something done with one thing of a service: the key ``service.thing`` says what."""

    model_config = ConfigDict(extra="allow")

    @property
    def what(self) -> str:
        """The ``service.thing``."""
        return next(iter(self.model_extra or {}), "")

    @property
    def fields(self) -> dict[str, Any]:
        given = (self.model_extra or {}).get(self.what)
        return dict(given) if isinstance(given, Mapping) else {}


class Statement(Doing):
    """Evidence that is told somewhere."""

    as_: str | None = Field(default=None, alias="as")
    """A field of the entity that holds what the service gives (its id)."""
    around: bool = True
    """True if everyday text may stand around what it says."""
    topics: list[str] = []
    """Topics of that text, and of noise like this item; default: those of ``noise``."""
    asked: bool = False
    """True if the survey's ``queries`` read it although its table is ``summed``."""
    answered: int = Field(default=0, ge=0, le=100_000)
    """About how many tokens of queries' answers are about it, where its rows are only summed."""
    matters: Condition | None = None
    """Condition for mattering; default: everything but filler."""


class Goal(Doing):
    """Goal: something that must be true in the end and was not at the start."""

    how: Literal["add", "change", "remove"] = "add"
    name: str | None = Field(default=None, pattern=r"^[a-z][a-z0-9_]*$")
    """Name of its findings; default: the thing's name."""
    key: list[str] | None = None
    """The judged fields that tell one from the other; default: the first that differs for each."""


class SolutionStep(Doing):
    """A call of the solution: the key ``service.tool`` has the arguments."""

    as_: str | None = Field(default=None, alias="as")
    """A name by which later steps of the same entity read its result."""
    sort: list[str] = []
    """Fields by which the entities are sorted."""


_MOST_AROUND = 20_000


class Everyday(Strict):
    """Everyday things of one sort."""

    topics: list[str] = Field(min_length=1)
    """Their topics."""
    around: tuple[int, int] = (0, 120)
    """Tokens of such text around each piece of evidence of this sort."""

    @field_validator("around", mode="before")
    @classmethod
    def _a_range(cls, given: Any) -> Any:
        match given:
            case [int(least), int(most)] if 0 <= least <= most <= _MOST_AROUND:
                return given
        raise ValueError(f"found {str(given)[:40]}; the least and the most are needed, such as [0, 120]")

    apart: float = Field(default=0, ge=0, le=1)
    """The share of evidence that is a paragraph of its own among these; the rest stands within one."""
    course: str | None = None
    """The course that it is about, where a topic is about one: the name of a field, or of the entity that
    the evidence is for. It has a ``title`` of the pool of courses and a number as ``code``."""
    html: float = Field(default=0, ge=0, le=1)
    """The share of mails, told and everyday, that have their text in HTML, too."""
    copies: float = Field(default=0, ge=0, le=1)
    """The share of them of which somebody at the sender's gets a copy."""
    answers: float = Field(default=0, ge=0, le=1)
    """The share of them that answer a mail of the owner, which they quote below and which lies in Sent."""
    attached: float = Field(default=0, ge=0, le=1)
    """The share of them that have a file, in which nothing matters."""
    currency: str = Field(default="$", min_length=1)
    """The sign before sums in it: that of the currency that the task has."""
    weight: float = Field(default=1, gt=0, allow_inf_nan=False)
    """Its part of the filler that is everyday, against the other sorts."""

    @property
    def dresses(self) -> bool:
        """True if some mails have more than text."""
        return any((self.html, self.copies, self.answers, self.attached))


class Setting(Strict):
    """Time and place of the world."""

    now: Value = None
    """The world's clock at the beginning; default: a weekday morning of 2025."""
    zone: str | Annotated[list[str], Field(min_length=1)] = "UTC"
    """IANA time zone, or some to draw from; all moments are on its clocks."""


class Definition(Strict):
    """The parts of a task file that describe its world, its goal and how it is reached."""

    world: Setting = Setting()
    entities: dict[str, EntityType] = Field(min_length=1)
    domain: str = ""
    """Kind of organisation. Scenes then tell the facts, and there is no evidence."""
    evidence: list[Statement] = []
    noise: dict[str, Everyday] = {}
    survey: dict[str, dict[str, Any]] = {}
    goal: list[Goal] = Field(min_length=1)
    solution: list[SolutionStep] = Field(min_length=1)
    """The calls that bring the goal about; left out, those that follow from it."""

    @model_validator(mode="before")
    @classmethod
    def _follows_from_the_goal(cls, data: Any) -> Any:
        if not isinstance(data, Mapping) or "solution" in data or not isinstance(data.get("goal"), list):
            return data
        goals, evidence = data["goal"], data.get("evidence") or ()
        if not all(isinstance(one, Mapping) for one in goals):
            return data
        try:
            return {**data, "solution": solution_of(goals, evidence)}
        except Unknown as unknown:
            known = ", ".join(known_goals())
            message = f"solution: this key is required: no call is known for {unknown}; known are {known}"
            raise ValueError(message) from None

    @model_validator(mode="after")
    def _can_be_filled(self) -> Definition:
        if self.domain:
            return self
        if not self.evidence:
            raise ValueError("evidence: this key is required where there is no domain")
        if not self.noise and not any(one.fills for one in self.entities.values()):
            raise ValueError("noise: this key is required where no entities have distractors")
        return self
