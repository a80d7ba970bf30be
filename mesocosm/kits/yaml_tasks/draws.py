"""Values that are drawn: ``{choice: [a, b]}``, ``{number: {from: 1, to: 9}}``, ``{moment: ...}``."""

from __future__ import annotations

import datetime as dt
import math
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, Protocol, TypeVar

from faker import Faker
from pydantic import BaseModel, ConfigDict, Field, PlainValidator, ValidationError, WithJsonSchema

from mesocosm.kits.moments import is_holiday
from mesocosm.kits.prose import TOPICS, Prose, faked
from mesocosm.kits.yaml_tasks.braces import has_values
from mesocosm.kits.yaml_tasks.complaints import complaints_of
from mesocosm.kits.yaml_tasks.expressions import Expression, Lookup, bare
from mesocosm.kits.yaml_tasks.language import ExpressionError, bounded

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_TRIES = 300
_MAX_VALUES = 10**9
"""Of a range."""
_SHORT_SPAN = 20
"""Days that have some of the weekdays more often than others."""
_CANDIDATES = 4
_SHOWN = 60
"""Characters of what is complained about."""
T = TypeVar("T")
FAKED = (
    "name", "first_name", "last_name", "company", "city", "country", "street_address", "postcode",
    "phone_number", "job",
    "catch_phrase", "bs", "color_name", "license_plate", "iban", "ean13", "isbn13", "currency_code",
    "language_name",
    "user_name", "domain_name", "word", "sentence", "text", "building_number", "state", "street_name",
    "prefix",
)  # fmt: skip
"""Providers of Faker that a file may name: those that read no clock."""
POOLS = ("person", "company", "place", "town", "product", "course", "goods")


class Undrawable(Exception):
    """A value that cannot be drawn, with why."""


class Source(Protocol):
    """Source of a drawn value: the entity that is being made."""

    rng: random.Random
    """Of this one field."""
    locale: str

    @property
    def serial(self) -> int:
        """A number of the entity that no other of its fact has, from 0; it rises within its parent, and from
        one parent to the next."""

    @property
    def zone(self) -> dt.tzinfo:
        """The world's time zone."""

    def even(self, part: str) -> float:
        """From 0 to below 1 for a part of the value: spread evenly over entities that follow one another.

        Asked again for the same part, it leaves the answers to chance.
        """

    def lookup(self, name: str) -> Any:
        """Resolve a name."""

    def entities(self, fact: str, kinds: Sequence[str] | None, where: Expression | None) -> Sequence[Any]:
        """The entities of a fact that are of some kinds, and of which something is true."""

    def hooked(self, name: str) -> Any:
        """Call a Python function beside the file."""


def _bare(given: Any) -> Any:
    """A constant, or an expression without braces; of a list each thing in it."""
    if isinstance(given, list):
        return [_bare(one) for one in given]
    if isinstance(given, Mapping):
        raise ValueError(f"found {_shortly(given)}; a value or an expression without braces is needed")
    try:
        return bare(given) if isinstance(given, str) else bounded(given)
    except ExpressionError as error:
        raise ValueError(str(error)) from None


def _shortly(given: Any) -> str:
    text = " ".join(str(given).split())
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


Bare = Annotated[
    Any,
    PlainValidator(_bare),
    WithJsonSchema(
        {
            "type": ["string", "number", "array"],
            "description": "A value, or an expression without braces; or a list of them.",
        }
    ),
]


def condition(given: Any) -> Expression:
    """An expression without braces."""
    if isinstance(given, (list, Mapping)):
        what = "a list" if isinstance(given, list) else "a mapping"
        raise ValueError(
            f"found {what}, {_shortly(given)}; one expression is needed, with `and` or `or` between parts"
        )
    try:
        return bare(str(given))
    except ExpressionError as error:
        raise ValueError(str(error)) from None


Condition = Annotated[
    Any,
    PlainValidator(condition),
    WithJsonSchema(
        {"type": ["string", "boolean"], "description": "An expression without braces, or true or false."}
    ),
]


def value_of(given: Any, lookup: Lookup) -> Any:
    """The value of what may be an expression, or a list with some in it."""
    if isinstance(given, list):
        return [value_of(one, lookup) for one in given]
    return given.value(lookup) if isinstance(given, Expression) else given


def _all_in(given: Any) -> Iterator[Expression]:
    """The expressions in what may be one, or a list with some in it."""
    if isinstance(given, Expression):
        yield given
    elif isinstance(given, (list, tuple)):
        for one in given:
            yield from _all_in(one)


class Draw(BaseModel, ABC):
    """One way to draw a value."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True, use_attribute_docstrings=True)
    key: ClassVar[str]

    unique: bool | Literal["parent"] = False
    """True if all entities must differ; ``parent``: all of one parent."""
    unlike: Bare = None
    """Value or list of values to avoid."""
    drawn_as: str | None = None
    """The name that the field had before, so that instances stay the same though it has another now."""

    @abstractmethod
    def draw(self, source: Source) -> Any:
        """A value; raises ``Undrawable``."""

    def expressions(self) -> list[Expression]:
        return list(_all_in([self.unlike, *self.parts()]))

    def parts(self) -> Sequence[Any]:
        """List the parts that may be expressions."""
        return ()

    @property
    def values(self) -> int | None:
        """Number of different values, if known without drawing."""
        return None

    @classmethod
    def about(cls) -> str:
        """Describe what is drawn."""
        return (cls.__doc__ or "").partition("\n")[0]


_CHOICES = "values are a list, [bachelor, master], or have weights, {bachelor: 3, master: 1}"


def _choices(given: Any) -> Any:
    """Values with what is in their braces as expressions, and weights as numbers or expressions."""
    if isinstance(given, Mapping) and given:
        return {drawn(value): _weight(value, weight) for value, weight in given.items()}
    if not isinstance(given, list) or not given:
        raise ValueError(f"found {_shortly(given) or 'nothing'}; {_CHOICES}")
    singly = [dict(one) for one in given if isinstance(one, Mapping) and len(one) == 1]
    if len(given) == len(singly) > 1 and len({key for one in singly for key in one}) == len(given):
        together = ", ".join(f"{key}: {weight}" for one in singly for key, weight in one.items())
        raise ValueError(f"found a mapping for each; values with weights are one mapping: {{{together}}}")
    return [drawn(one) for one in given]


def _weight(value: Any, given: Any) -> Any:
    number = isinstance(given, (int, float)) and not isinstance(given, bool)
    if not (number and 0 <= given < math.inf) and not isinstance(given, str):
        raise ValueError(f"{value}: found {_shortly(given)} as a weight; {_CHOICES}")
    return _bare(given)


class Choice(Draw):
    """One of some values, or of values with weights."""

    key = "choice"
    choice: Annotated[
        Any,
        PlainValidator(_choices),
        WithJsonSchema(
            {
                "description": "Values, or values with weights.",
                "anyOf": [
                    {"type": "array", "minItems": 1},
                    {
                        "type": "object",
                        "minProperties": 1,
                        "additionalProperties": {"type": ["number", "string"]},
                    },
                ],
            }
        ),
    ]

    @property
    def values(self) -> int | None:
        return None if any(self.parts()) else len(self.choice)

    def parts(self) -> Sequence[Any]:
        weights = self.choice.values() if isinstance(self.choice, dict) else ()
        return list(_all_in([*self.choice, *weights]))

    def draw(self, source: Source) -> Any:
        if isinstance(self.choice, dict):
            weights = {value: value_of(weight, source.lookup) for value, weight in self.choice.items()}
            if any(not isinstance(one, (int, float)) or one < 0 for one in weights.values()):
                raise Undrawable("the weights must be numbers from 0 on")
            if not 0 < sum(weights.values()) < math.inf:
                raise Undrawable("one of the weights must be above 0")
            return value_of(weighted(weights, source.even("choice")), source.lookup)
        return value_of(self.choice[int(source.even("choice") * len(self.choice))], source.lookup)


def weighted(weights: Mapping[T, float], share: float) -> T:
    """Return the value at a share (0 to below 1) of the cumulative weights."""
    left = share * sum(weights.values())
    for value, weight in weights.items():
        left -= weight
        if left < 0:
            return value
    return [value for value, weight in weights.items() if weight > 0][-1]


class Span(BaseModel):
    """From the first number to the last, in steps."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)
    least: Bare = Field(alias="from")
    most: Bare = Field(alias="to")
    step: float = Field(default=1, gt=0, allow_inf_nan=False)


class Number(Draw):
    """A number from a range."""

    key = "number"
    number: Span

    @property
    def values(self) -> int | None:
        least, most = self.number.least, self.number.most
        known = isinstance(least, (int, float)) and isinstance(most, (int, float))
        return int(round((most - least) / self.number.step, 9)) + 1 if known and most >= least else None

    def parts(self) -> Sequence[Any]:
        return self.number.least, self.number.most

    def draw(self, source: Source) -> Any:
        least, most = (value_of(part, source.lookup) for part in (self.number.least, self.number.most))
        if not all(isinstance(part, (int, float)) for part in (least, most)):
            raise Undrawable(f"from {least!r} to {most!r} is no range of numbers")
        steps = round((most - least) / self.number.step, 9)
        if not 0 <= steps <= _MAX_VALUES:
            what = "an empty range" if steps < 0 else f"a range of more than {_MAX_VALUES:,} values"
            raise Undrawable(f"{what}: from {least:g} to {most:g}")
        found = round(least + int(source.even("number") * (int(steps) + 1)) * self.number.step, 9)
        return int(found) if found == int(found) and self.number.step == int(self.number.step) else found


class Period(BaseModel):
    """Period for a moment."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)
    after: Bare
    before: Bare
    hours: list[Annotated[int, Field(ge=0, le=23)]] = Field(
        default=[8, 9, 10, 11, 13, 14, 15, 16, 17], min_length=1
    )
    """Hours of the day."""
    minutes: list[Annotated[int, Field(ge=0, le=59)]] = Field(default=list(range(60)), min_length=1)
    """Minutes of the hour, at which it is then to the second; left out, it may be at any second."""
    weekdays: bool | list[str] = False
    """True: Monday to Friday; or some days by name."""
    holidays: bool = True
    """True if it may be on a public holiday."""

    @property
    def appointed(self) -> bool:
        """True if people agreed on the moment. Others happen at any second."""
        return "minutes" in self.model_fields_set

    def days(self) -> Sequence[int]:
        """Numbers of the weekdays, Monday is 0."""
        if isinstance(self.weekdays, list):
            unknown = [day for day in self.weekdays if day.lower() not in _WEEKDAYS]
            if unknown:
                raise Undrawable(f"no weekday {unknown[0]!r}; possible: {', '.join(_WEEKDAYS)}")
            return [_WEEKDAYS.index(day.lower()) for day in self.weekdays]
        return range(5) if self.weekdays else range(7)

    def allows(self, day: dt.date) -> bool:
        """True if the moment may lie on this day."""
        return day.weekday() in self.days() and (self.holidays or not is_holiday(day))


def _bounds(period: Period, source: Source) -> tuple[dt.datetime, dt.datetime]:
    ends = [value_of(part, source.lookup) for part in (period.after, period.before)]
    moments = []
    for name, end in zip(("after", "before"), ends, strict=True):
        if isinstance(end, dt.datetime):
            moments.append(end.astimezone(source.zone))
        elif isinstance(end, dt.date):
            moments.append(dt.datetime.combine(end, dt.time(), source.zone))
        else:
            raise Undrawable(f"{name}: {end!r} is no moment")
    return moments[0], moments[1]


def _day(first: dt.date, span: int, weekdays: Sequence[int], source: Source) -> dt.date:
    """A day of a span, of these weekdays where it has any: early and late ones, and in spans of some weeks
    the weekdays, are spread evenly."""
    share = source.even("day")
    if span <= _SHORT_SPAN:
        days = [day for day in range(span + 1) if (first.weekday() + day) % 7 in weekdays] or [0]
        return first + dt.timedelta(days=days[int(share * len(days))])
    day = int(share * (span + 1))
    wanted = weekdays[int(source.even("weekday") * len(weekdays))]
    day += (wanted - first.weekday() - day + 3) % 7 - 3
    return first + dt.timedelta(days=day + 7 if day < 0 else day - 7 if day > span else day)


class Moment(Draw):
    """A moment on the clocks of the world's zone."""

    key = "moment"
    moment: Period

    def parts(self) -> Sequence[Any]:
        return self.moment.after, self.moment.before

    def draw(self, source: Source) -> Any:
        after, before = _bounds(self.moment, source)
        span, days = (before.date() - after.date()).days, self.moment.days()
        hours, minutes = self.moment.hours, self.moment.minutes
        for _ in range(_TRIES if span >= 0 else 0):
            day = _day(after.date(), span, days, source)
            hour, minute = source.even("hour"), source.even("minute")
            second = 0 if self.moment.appointed else source.rng.randrange(60)
            clock = dt.time(hours[int(hour * len(hours))], minutes[int(minute * len(minutes))], second)
            found = dt.datetime.combine(day, clock, source.zone)
            if self.moment.allows(day) and after <= found <= before:
                return found
        raise Undrawable(
            f"no moment between {after:%Y-%m-%d %H:%M} and {before:%Y-%m-%d %H:%M} at its `hours` "
            f"({', '.join(map(str, hours))}) on its days"
        )


class Date(Draw):
    """A day."""

    key = "date"
    date: Period

    def parts(self) -> Sequence[Any]:
        return self.date.after, self.date.before

    def draw(self, source: Source) -> Any:
        after, before = _bounds(self.date, source)
        span, days = (before.date() - after.date()).days, self.date.days()
        for _ in range(_TRIES if span >= 0 else 0):
            day = _day(after.date(), span, days, source)
            if self.date.allows(day):
                return day
        raise Undrawable(f"no such day between {after:%Y-%m-%d} and {before:%Y-%m-%d}")


class Faked(Draw):
    """Value from a Faker provider."""

    key = "faker"
    faker: str = Field(json_schema_extra={"enum": list(FAKED)})

    def draw(self, source: Source) -> Any:
        if self.faker not in FAKED:
            raise Undrawable(f"no provider {self.faker!r}; possible: {', '.join(FAKED)}")
        made = _faker(source.locale)
        made.seed_instance(source.rng.getrandbits(64))
        return _of_even_length(lambda: self._made(made), source)

    def _made(self, made: Faker) -> str:
        if self.faker == "name":  # Faker's own now and then has a title, which nobody is greeted by
            first, last = made.first_name(), faked.surname(made.last_name())
            return f"{first} {last}" if last and first != last else self._made(made)
        text = " ".join(str(getattr(made, self.faker)()).split())
        return faked.scottish(text) if self.faker == "company" else text


def _of_even_length(make: Callable[[], str], source: Source) -> str:
    """One of some values, so that short and long ones are spread evenly over the entities."""
    values = sorted((make() for _ in range(_CANDIDATES)), key=len)
    return values[int(source.even("length") * _CANDIDATES)]


@cache
def _faker(locale: str) -> Faker:
    return Faker(locale)


class Pooled(Draw):
    """Somebody or something from our own pools."""

    key = "pool"
    pool: str = Field(json_schema_extra={"enum": list(POOLS)})

    def draw(self, source: Source) -> Any:
        if self.pool not in POOLS:
            raise Undrawable(f"no pool {self.pool!r}; possible: {', '.join(POOLS)}")
        prose = Prose(source.rng)
        if self.pool == "goods":
            return _goods(prose, source)
        return _of_even_length(lambda: self._made(prose), source)

    def _made(self, prose: Prose) -> str:
        if self.pool == "course":
            return prose.course_subject().title
        made = getattr(prose, self.pool)()
        return made if isinstance(made, str) else str(made.name)


def _goods(prose: Prose, source: Source) -> dict[str, Any]:
    """A product with its category and a price as such things have it."""
    products = sorted((prose.product() for _ in range(_CANDIDATES)), key=lambda one: len(one.name))
    found = products[int(source.even("length") * _CANDIDATES)]
    return {"name": found.name, "category": found.category, "price": float(found.price)}


class Series(Draw):
    """Numbers one after the other, no two alike: 1001, 1002 ..., with gaps of at most ``gap``.

    There are gaps, too, where fewer belong to an entity than could.
    """

    key = "sequence"
    sequence: int
    gap: int = Field(default=1, ge=1, le=1000)

    def draw(self, source: Source) -> Any:
        number = self.sequence + source.serial * self.gap
        return number + (source.rng.randrange(self.gap) if self.gap > 1 else 0)


class Ref(Draw):
    """One of other entities."""

    key = "ref"
    ref: str
    cases: list[str] | None = None
    where: Condition = None
    """Only those of which this is true: `city == order.city`, in `order`, reads the city of both."""

    def draw(self, source: Source) -> Any:
        entities = source.entities(self.ref, self.cases, self.where)
        if not entities:
            such = f" where {self.where.source}" if self.where else ""
            raise Undrawable(f"there is no {self.ref} to choose{such}")
        return source.rng.choice(entities)


class Written(Draw):
    """Everyday text about a topic, of about so many tokens."""

    key = "prose"
    prose: str = Field(json_schema_extra={"enum": list(TOPICS)})
    tokens: int = Field(default=40, ge=1, le=2000)

    def draw(self, source: Source) -> Any:
        if self.prose not in TOPICS:
            raise Undrawable(f"no topic {self.prose!r}; possible: {', '.join(TOPICS)}")
        return Prose(source.rng).text(self.prose, self.tokens)


class Hooked(Draw):
    """Value from a Python function beside the file (needs ``--trust``)."""

    key = "python"
    python: str

    def draw(self, source: Source) -> Any:
        return source.hooked(self.python)


DRAWS: dict[str, type[Draw]] = {
    draw.key: draw for draw in (Choice, Number, Moment, Date, Faked, Pooled, Series, Ref, Written, Hooked)
}


def unquoted(given: Mapping[Any, Any]) -> str:
    """Return the complaint about unquoted braces, which YAML reads as a mapping."""
    return f'a text that begins with a brace stands in quotes: "{{{next(iter(given))}}}"'


def read_draw(given: Any) -> Any:
    """Parse a draw, an expression or a constant; ``ValueError`` explains an error."""
    if not isinstance(given, Mapping):
        return drawn(given)
    keys = [key for key in given if key in DRAWS]
    if len(keys) != 1 and list(given.values()) == [None]:
        raise ValueError(unquoted(given))
    if len(keys) != 1:
        found = ", ".join(map(str, given)) or "nothing"
        raise ValueError(f"found {found}; a value is drawn with one of {', '.join(DRAWS)}")
    try:
        return DRAWS[keys[0]].model_validate(given)
    except ValidationError as error:
        place, message = complaints_of(error, DRAWS[keys[0]], given)[0]
        raise ValueError(f"{'.'.join(map(str, place))}: {message}") from None


@cache
def _expression(text: str) -> Expression:
    return Expression(text)


def drawn(given: Any) -> Any:
    """A text with expressions as such, lists of them likewise; anything else is itself."""
    if isinstance(given, str):
        try:
            return _expression(given) if has_values(given) else given
        except ExpressionError as error:
            raise ValueError(str(error)) from None
    if isinstance(given, list):
        return [drawn(one) for one in given]
    return given
