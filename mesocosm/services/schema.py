"""From a typed function to a JSON schema, and from raw arguments to that function's arguments.

The mapping follows what MCP servers of real products publish:

==========================  ======================================================================
annotation                  schema
==========================  ======================================================================
``str bool int float``      ``string boolean integer number``
``Number``                  ``number``; the function gets an ``int`` (ids of JavaScript products)
``Literal["a", "b"]``       ``string`` with ``enum``
``list[T]``                 ``array`` with ``items``
``dict[str, T]``, ``Any``   ``object``; anything
``TypedDict``               ``object`` with ``properties`` and ``required``
``A | B``                   ``anyOf``
``T | None = None``         T, not required, no default shown: the argument may be left out
``Nullable[T] = x``         ``anyOf`` T and ``null``, with its default
``Annotated[T, Extra()]``   T with further schema keywords
``Annotated[T, About()]``   T with a description, where the docstring has none
``Annotated[T, Depends()]``  the parameters of the function that works T out, in its place
``**x: Unpack[TypedDict]``  a parameter for each of its fields; those not required may be left out
==========================  ======================================================================
"""

from __future__ import annotations

import functools
import inspect
import json
import keyword
import math
import operator
import re
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import fastjsonschema
import orjson

from mesocosm.errors import Invalid, MissingArgument, WrongArgument

Json = dict[str, Any]
"""An object as JSON has it."""
JSONSchema = dict[str, Any]

T = TypeVar("T")

MAX_VALUES = 200_000
"""Values in one call, at any depth: to look at each of them takes some microseconds."""


class _Marker:
    """Metadata of an ``Annotated`` type that changes how its schema is written."""

    def __init__(self, name: str) -> None:
        self.name = name


_NUMBER = _Marker("number")
_NULLABLE = _Marker("nullable")
_WORDS = _Marker("words")


class Extra:
    """Further JSON-schema keywords of a parameter: ``Annotated[list[str], Extra(minItems=1)]``."""

    def __init__(self, **keywords: Any) -> None:
        self.keywords = keywords


class About:
    """Description of a parameter that several tools share: ``Annotated[str, About("The calendar.")]``.

    The ``Args:`` of a docstring may say something else.
    """

    def __init__(self, text: str) -> None:
        self.text = text


class Depends:
    """A parameter that another function works out: ``Annotated[CourseAccess, Depends(reading)]``.

    The other function gets the store, too; this one need not, if such a parameter is its first. Its other
    parameters stand in the schema in the place of this one, with the descriptions that their types have
    (decision 105).
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function


Number = Annotated[int, _NUMBER]
Words = Annotated[str, _WORDS]
"""Text for a search without operators: ``a OR b``, ``NOT b`` and ``-b`` are refused with a hint."""
Nullable = Annotated[T | None, _NULLABLE]
Cell = str | float | bool | None
"""The value of a table's cell, or of a custom field."""


@dataclass(frozen=True)
class Signature:
    """Parameters of a function, and the conversion of a call's arguments."""

    schema: JSONSchema
    integers: frozenset[str]
    """Top-level parameters that reach the function as ``int`` even if the caller wrote ``1.0``."""
    integer_lists: frozenset[str]
    words: frozenset[str] = frozenset()
    """Parameters of searches that know no operators."""
    rules: JSONSchema | None = None
    """Schema for validation; differs where some clients cannot read a rule."""

    @cached_property
    def _validate(self) -> Callable[[Any], Any]:
        # Compiled when it is first needed: a process has hundreds of signatures, and meets a few.
        validate: Callable[[Any], Any] = fastjsonschema.compile(self.rules or self.schema, use_default=False)
        return validate

    def coercions(self, arguments: Mapping[str, Any]) -> list[str]:
        """The places of arguments that are taken as another value than was sent."""
        places: list[str] = []
        coerce(dict(arguments), self.schema, drop_nulls=True, places=places)
        return places

    def bind(
        self, arguments: Mapping[str, Any], *, lenient: bool = False, drop_nulls: bool = False
    ) -> dict[str, Any]:
        """The keyword arguments for the function; ``Invalid`` names the argument and what was expected.

        Args:
            arguments: What the caller sent.
            lenient: Take values as what they can only mean; see ``coerce``.
            drop_nulls: Take null as absent where it means nothing of its own.
        """
        if lenient:
            arguments = coerce(dict(arguments), self.schema, drop_nulls=drop_nulls)
        properties = self.schema["properties"]
        unknown = [name for name in arguments if name not in properties]
        if unknown:
            known = ", ".join(properties) or "none"
            raise Invalid(f"Unknown argument {unknown[0]!r}. This tool takes: {known}.")
        for name in self.schema["required"]:
            if name not in arguments:
                expected = _expected(properties[name])
                raise MissingArgument(f"Missing required argument {name!r} ({expected}).", parameter=name)
        if has_more_values(arguments):
            raise Invalid(f"A call may have {MAX_VALUES:,} values; this one has more.")
        for name, value in arguments.items():
            _refuse_unstorable(name, value)
        for name, value in arguments.items():
            if name in self.words:
                _refuse_operators(name, value)
        try:
            self._validate(dict(arguments))
        except fastjsonschema.JsonSchemaValueException as error:
            raise _explained(error) from None
        bound = dict(arguments)
        for name, value in arguments.items():
            if name in self.integers:
                bound[name] = _whole(name, value)
            elif name in self.integer_lists and value is not None:
                bound[name] = [_whole(name, item) for item in value]
        return {f"{name}_" if keyword.iskeyword(name) else name: value for name, value in bound.items()}


_NONE: Any = inspect.Parameter.empty


def signature_of(function: Callable[..., Any], *, skip: int = 1) -> Signature:
    """The ``Signature`` of a typed function, leaving out its first ``skip`` parameters and ``request``."""
    descriptions = _argument_descriptions(function)
    properties: dict[str, JSONSchema] = {}
    required: list[str] = []
    integers: set[str] = set()
    integer_lists: set[str] = set()
    words: set[str] = set()
    for name, hint, default in _parameters(function, skip, list(descriptions)):
        hint, about = _told(hint)
        optional = default is not _NONE
        nullable = _is_nullable(hint)
        bare = _without_none(hint) if optional and not nullable else hint
        schema = _schema(bare)
        if not optional:
            required.append(name)
        elif default is not None or nullable:
            schema = schema | {"default": default}
        if description := descriptions.get(name, about):
            schema = {"description": description} | schema
        properties[name] = schema
        if get_origin(bare) is Annotated and _WORDS in bare.__metadata__:
            words.add(name)
        if _is_integer(bare):
            integers.add(name)
        elif get_origin(bare) is list and _is_integer(get_args(bare)[0]):
            integer_lists.add(name)
    rules = {"type": "object", "properties": properties, "required": required}
    schema = _portable(rules)
    return Signature(schema, frozenset(integers), frozenset(integer_lists), frozenset(words), rules)


def _told(hint: Any) -> tuple[Any, str]:
    """Split a type hint into the type and its description."""
    if get_origin(hint) in (Union, types.UnionType):
        told = [_told(arg) for arg in get_args(hint)]
        return functools.reduce(operator.or_, (arg for arg, _ in told)), next(
            (text for _, text in told if text), ""
        )
    if get_origin(hint) is not Annotated:
        return hint, ""
    about = [one.text for one in hint.__metadata__ if isinstance(one, About)]
    rest = tuple(one for one in hint.__metadata__ if not isinstance(one, About))
    return (Annotated[(hint.__origin__, *rest)] if rest else hint.__origin__), "".join(about)


def _portable(schema: Any) -> Any:
    """A schema without a boolean ``additionalProperties``, which Google's MCP client takes for a schema."""
    if isinstance(schema, list):
        return [_portable(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _portable(value)
        for key, value in schema.items()
        if not (key == "additionalProperties" and isinstance(value, bool))
    }


def _parameters(
    function: Callable[..., Any], skip: int, described: Sequence[str]
) -> list[tuple[str, Any, Any]]:
    """Name, annotation and default of each parameter behind the first ones.

    Fields of a ``TypedDict`` come in the order in which the docstring describes all parameters, behind those
    that it does not describe.
    """
    hints = typing.get_type_hints(function, include_extras=True)
    found, fields = [], []
    skip = skip if _takes_store(function) else skip - 1
    for parameter in list(inspect.signature(function).parameters.values())[skip:]:
        hint = hints[parameter.name]
        if get_origin(hint) is typing.Unpack:
            fields = [
                (name, one, _NONE if must else None) for name, one, must in _fields_of(get_args(hint)[0])
            ]
        elif needed := _needed(hint):
            found += [one for one in _parameters(needed, 1, ()) if one not in found]
        elif parameter.name != REQUEST:
            found.append((_public_name(parameter.name), hint, parameter.default))
    if fields and described:
        return sorted(found + fields, key=lambda one: described.index(one[0]) if one[0] in described else -1)
    return found + fields


# -- parameters that other functions work out --------------------------------------------------------------

REQUEST = "request"
"""The parameter that gets the whole HTTP request."""


def _needed(hint: Any) -> Callable[..., Any] | None:
    metadata = hint.__metadata__ if get_origin(hint) is Annotated else ()
    return next((one.function for one in metadata if isinstance(one, Depends)), None)


@functools.cache
def _takes_store(function: Callable[..., Any]) -> bool:
    """True unless the first parameter of a function is one that another works out, with the store."""
    first = next(iter(inspect.signature(function).parameters), None)
    hints = typing.get_type_hints(function, include_extras=True)
    return first is None or _needed(hints.get(first)) is None


@functools.cache
def _needs(function: Callable[..., Any]) -> tuple[Mapping[str, Callable[..., Any]], frozenset[str]]:
    """Functions that work out parameters of a function, by the parameter; and its other parameters."""
    hints = typing.get_type_hints(function, include_extras=True)
    needs: dict[str, Callable[..., Any]] = {}
    others: set[str] = set()
    for name in list(inspect.signature(function).parameters)[_takes_store(function) :]:
        if needed := _needed(hints[name]):
            needs[name] = needed
        elif get_origin(hints[name]) is typing.Unpack:
            others |= {field for field, _, _ in _fields_of(get_args(hints[name])[0])}
        else:
            others.add(name)
    return needs, frozenset(others)


def wants_request(function: Callable[..., Any]) -> bool:
    """True if a function, or one that works out a parameter of it, gets the HTTP request."""
    if not inspect.signature(function).parameters:
        return False
    needs, others = _needs(function)
    return REQUEST in others or any(map(wants_request, needs.values()))


def resolved(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as it is called with the parameters of its schema: what it needs is worked out before.

    Each of the functions that it needs is called once, in the order of its parameters.
    """
    if not _needs(function)[0]:
        return function

    @functools.wraps(function)
    def call(store: Any, **values: Any) -> Any:
        return _worked_out(function, store, values, {})

    return call


def _worked_out(
    function: Callable[..., Any], store: Any, values: Mapping[str, Any], made: dict[Any, Any]
) -> Any:
    needs, others = _needs(function)
    for needed in needs.values():
        if needed not in made:
            made[needed] = _worked_out(needed, store, values, made)
    own = {name: values[name] for name in others if name in values}
    own |= {name: made[needed] for name, needed in needs.items()}
    return function(store, **own) if _takes_store(function) else function(**own)


def _public_name(name: str) -> str:
    """``from_`` is how Python spells the parameter that callers know as ``from``."""
    bare = name.removesuffix("_")
    return bare if keyword.iskeyword(bare) else name


def _is_nullable(hint: Any) -> bool:
    return get_origin(hint) is Annotated and _NULLABLE in hint.__metadata__


def _without_none(hint: Any) -> Any:
    if get_origin(hint) in (Union, types.UnionType):
        rest = tuple(arg for arg in get_args(hint) if arg is not type(None))
        return Union[rest] if len(rest) > 1 else rest[0]  # noqa: UP007 - built at run time
    return hint


def _is_integer(hint: Any) -> bool:
    if get_origin(hint) is Annotated:
        return _is_integer(_without_none(get_args(hint)[0]))
    return hint is int


_PLAIN: dict[Any, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    type(None): "null",
}


def _schema(hint: Any) -> JSONSchema:
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    if hint is Any:
        return {}
    if hint in (dict, list):
        return {"type": "object" if hint is dict else "array"}
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _annotated_schema(hint)
    if origin is Literal:
        return {"type": "string", "enum": list(args)}
    if origin is list:
        return {"type": "array", "items": _schema(args[0])}
    if origin is dict:
        return (
            {"type": "object"}
            if args[1] is Any
            else {"type": "object", "additionalProperties": _schema(args[1])}
        )
    if origin in (Union, types.UnionType):
        return {"anyOf": [_schema(arg) for arg in args]}
    if typing.is_typeddict(hint):
        return _typed_dict_schema(hint)
    raise TypeError(f"no JSON schema for the annotation {hint!r}")


def _annotated_schema(hint: Any) -> JSONSchema:
    inner, metadata = hint.__origin__, hint.__metadata__
    if _NUMBER in metadata:
        return {"type": "number"}
    if _NULLABLE in metadata:
        return {"anyOf": [_schema(_without_none(inner)), {"type": "null"}]}
    schema = _schema(inner)
    for extra in metadata:
        if isinstance(extra, Extra):
            schema = schema | extra.keywords
    return schema


def _fields_of(hint: Any) -> Iterator[tuple[str, Any, bool]]:
    """Name, annotation and whether it is required, of each field of a ``TypedDict``."""
    # The annotations are read here because those of a module with postponed evaluation are still text when
    # the class records its required keys.
    for name, annotation in typing.get_type_hints(hint, include_extras=True).items():
        origin = get_origin(annotation)
        wrapped = origin in (typing.NotRequired, typing.Required)
        required = origin is typing.Required or (hint.__total__ and origin is not typing.NotRequired)
        yield name, get_args(annotation)[0] if wrapped else annotation, required


def _typed_dict_schema(hint: Any) -> JSONSchema:
    fields = list(_fields_of(hint))
    required = [name for name, _, needed in fields if needed]
    schema: JSONSchema = {"type": "object", "properties": {name: _schema(one) for name, one, _ in fields}}
    return schema | {"required": required} if required else schema


_ARGUMENT = re.compile(r"^ {4}(\w+): (.+)$")


def _argument_descriptions(function: Callable[..., Any]) -> dict[str, str]:
    """The ``Args:`` section of a docstring, one line per argument with indented continuation lines."""
    _, _, section = inspect.getdoc(function).partition("\nArgs:\n") if function.__doc__ else ("", "", "")  # type: ignore[union-attr]
    descriptions: dict[str, str] = {}
    current = ""
    for line in section.splitlines():
        if found := _ARGUMENT.match(line):
            current = found[1]
            descriptions[current] = found[2].strip()
        elif line.startswith("     ") and current:
            descriptions[current] += " " + line.strip()
        else:
            break
    return descriptions


def description_of(function: Callable[..., Any]) -> str:
    """The docstring up to its ``Args:`` section: what an agent reads about a tool."""
    text = inspect.getdoc(function) or ""
    return text.partition("\nArgs:\n")[0].strip()


def has_more_values(read: Any) -> bool:
    """True if a structure has more values than a call may have. Stops counting at the limit."""
    waiting, values = [read], 0
    # The list grows while it is walked through: a structure may be nested deeper than functions may call.
    for each in waiting:
        if isinstance(each, list | dict):
            values += len(each)
            if values > MAX_VALUES:
                return True
            # Not by its own method: an object of an HTTP request remembers who asked it for what.
            inside = dict.values(each) if isinstance(each, dict) else each
            waiting.extend(item for item in inside if isinstance(item, list | dict))
    return False


def _refuse_unstorable(name: str, value: Any) -> None:
    """Refuse what neither the databases nor a JSON answer can hold, before any tool meets it."""
    if isinstance(value, str):
        # Only text with characters beyond ASCII can hold half of a surrogate pair.
        if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
            raise WrongArgument(name, "contains an unpaired surrogate, which is no character.")
    elif isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise WrongArgument(name, f"is out of range: {str(value)[:40]} does not fit into 64 bits.")
    elif isinstance(value, list):
        for item in value:
            _refuse_unstorable(name, item)
    elif isinstance(value, dict):
        # Not by its own methods: an object of an HTTP request remembers who asked it for what.
        for key, item in dict.items(value):
            _refuse_unstorable(name, key)
            _refuse_unstorable(name, item)


_QUOTED = re.compile(r'"[^"]*"')
_OPERATOR = re.compile(r"\S\s+(OR|\|\|?)\s+\S|\S\s+(AND|&&)\s+\S|(?:^|\s)(NOT)\s+\S|(?:^|[\s(])(-\w\S*)")


def _refuse_operators(name: str, value: Any) -> None:
    """Refuse search operators, which a search without operators would treat as words."""
    found = _OPERATOR.search(_QUOTED.sub(" ", value)) if isinstance(value, str) else None
    if found:
        operator = next(part for part in found.groups() if part)
        instead = "leave it out, and pass over what is not wanted"
        if found[1]:
            instead = "search for each alternative by itself"
        elif found[2]:
            instead = "leave it out: words that stand beside each other are all looked for"
        raise Invalid(
            f"Argument {name!r}: this search knows no operators such as {operator[:40]!r}; {instead}. A word"
            " that only looks like one is found in lower case or without its hyphen."
        )


def _whole(name: str, value: Any) -> Any:
    if isinstance(value, float):
        if not math.isfinite(value) or value != int(value) or abs(value) >= 2**63:
            raise WrongArgument(name, f"must be a whole number of at most 64 bits, got {value}.")
        return int(value)
    return value


def _expected(schema: JSONSchema) -> str:
    if "enum" in schema:
        return "one of " + ", ".join(map(as_json, schema["enum"]))
    if "anyOf" in schema:
        return " or ".join(map(_expected, schema["anyOf"]))
    if schema.get("type") == "array" and "items" in schema:
        return f"array of {_expected(schema['items'])}"
    return str(schema.get("type", "any value"))


_JSON_TYPES: list[tuple[type | tuple[type, ...], str]] = [
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    (list, "array"),
    (dict, "object"),
    (type(None), "null"),
]


def _wrong_inside(
    error: fastjsonschema.JsonSchemaValueException,
) -> fastjsonschema.JsonSchemaValueException | None:
    """Find the error inside a list or object that matches one of several options by kind."""
    kind = "array" if isinstance(error.value, list) else "object" if isinstance(error.value, dict) else None
    for option in error.rule_definition:
        if kind and option.get("type") == kind:
            try:
                fastjsonschema.compile(option, use_default=False)(error.value, name_prefix=error.name)
            except fastjsonschema.JsonSchemaValueException as inside:
                return inside
    return None


def as_json(value: Any) -> str:
    """A value as callers write it."""
    return json.dumps(value, ensure_ascii=False, default=str)


def _explained(error: fastjsonschema.JsonSchemaValueException) -> Invalid:
    if error.rule == "anyOf" and (inside := _wrong_inside(error)):
        error = inside
    path = re.sub(r"^data\.?", "", error.name or "data") or "arguments"
    got = next((name for kind, name in _JSON_TYPES if isinstance(error.value, kind)), "value")
    shown = as_json(error.value)
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    if error.rule in ("type", "enum", "anyOf"):
        return WrongArgument(path, f"must be {_expected(error.definition)}, got {shown} ({got}).")
    if error.rule == "required":
        missing = [key for key in error.rule_definition if key not in error.value]
        return WrongArgument(path, f"lacks the required field {missing[0]!r}.")
    if error.rule == "additionalProperties":
        unknown = next(name for name in error.value if name not in error.definition["properties"])
        known = ", ".join(error.definition["properties"])
        return WrongArgument(path, f"has the unknown field {as_json(unknown)}; it takes: {known}.")
    return WrongArgument(path, f"must {error.message.partition(' must ')[2] or 'be acceptable'}.")


# Arguments as clients really send them: JSON as text, numbers as text, null for what is left out.
#
# One rule for all tools. A value that its schema admits stays as it is. One that it does not admit is taken
# as what it can only mean: the JSON that a text spells where a list, an object, a number or a truth value is
# expected, the text of a number where a text is expected, and ``null`` for an optional argument as if it had
# not been given, unless null is one of the values that the argument takes. The schema refuses all else.

_DECIMAL = re.compile(r"-?\d{1,18}(\.\d{1,18})?([eE][+-]?\d{1,3})?", re.ASCII)
_TRUTH = {"true": True, "false": False}


def coerce(
    value: Any, schema: Mapping[str, Any], *, drop_nulls: bool, places: list[str] | None = None, at: str = ""
) -> Any:
    """Return the value that a caller meant.

    Args:
        value: What was sent.
        schema: What is expected.
        drop_nulls: Leave out optional fields of objects that are null and must not be.
        places: Where a value was taken as another one than was sent; added to.
        at: The place of this value.
    """
    places = [] if places is None else places
    options = schema.get("anyOf") or [schema]
    kinds = {option.get("type"): option for option in options}
    meant = _meant(value, kinds)
    if meant is not value:
        places.append(at)
    if isinstance(meant, dict) and "object" in kinds:
        return _coerced_object(meant, kinds["object"], drop_nulls, places, at)
    if isinstance(meant, list) and "items" in kinds.get("array", {}):
        items = kinds["array"]["items"]
        return [coerce(item, items, drop_nulls=drop_nulls, places=places, at=f"{at}[]") for item in meant]
    return meant


def _coerced_object(
    value: dict[str, Any], schema: Mapping[str, Any], drop_nulls: bool, places: list[str], at: str
) -> dict[str, Any]:
    known, required = schema.get("properties", {}), schema.get("required", ())
    others = schema.get("additionalProperties") or {}
    if not known and not others:
        return value
    found = {}
    for name, item in value.items():
        inner, place = known.get(name, others), f"{at}.{name}" if at else name
        if drop_nulls and item is None and name in known and name not in required and not _takes_null(inner):
            places.append(place)
        else:
            found[name] = coerce(item, inner, drop_nulls=drop_nulls, places=places, at=place)
    return found


def _takes_null(schema: Mapping[str, Any]) -> bool:
    options = schema.get("anyOf") or [schema]
    return any("type" not in option or option["type"] == "null" for option in options)


def _meant(value: Any, kinds: Mapping[str | None, Any]) -> Any:
    if None in kinds:
        return value
    takes_numbers = "number" in kinds or "integer" in kinds
    if isinstance(value, str):
        return value if "string" in kinds else _spelled(value, kinds, takes_numbers)
    if isinstance(value, int | float) and not isinstance(value, bool) and not takes_numbers:
        return json.dumps(value) if "string" in kinds and math.isfinite(value) else value
    return value


def _spelled(text: str, kinds: Mapping[str | None, Any], takes_numbers: bool) -> Any:
    """Parse a text as one of the expected kinds; return the text if it is none of them."""
    if takes_numbers and _DECIMAL.fullmatch(text):
        number = float(text) if set(text) & set(".eE") else int(text)
        return int(number) if "number" not in kinds and number == int(number) else number
    if "boolean" in kinds and text.lower() in _TRUTH:
        return _TRUTH[text.lower()]
    begins = text.lstrip()[:1]
    if (begins == "[" and "array" in kinds) or (begins == "{" and "object" in kinds):
        try:
            return orjson.loads(text)
        except ValueError:
            return text
    return text
