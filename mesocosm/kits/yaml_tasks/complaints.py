"""Complaints about places in a task file: pydantic's errors in a user's words, what does not follow from
anything, and words that were others before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from mesocosm.families.task import RENAMED

_SHOWN = 60
_HINTS = {
    "hours": "whole hours of the day are meant, such as [9, 10, 14]; `minutes` says when in them",
    "minutes": "minutes of the hour are meant, such as [0, 30]",
}
"""Explanations where a value's kind is not enough."""
Complaint = tuple[tuple[Any, ...], str]
"""Keys that lead to it, and what is wrong."""


def complaints_of(error: ValidationError, model: type[BaseModel], given: Any) -> list[Complaint]:
    """Make complaints of a validation error, one for each place."""
    found: dict[tuple[Any, ...], str] = {}
    of_kinds = set[tuple[Any, ...]]()
    for item in error.errors():
        keys, message = _complaint_of(item, model, given)
        is_of_kind = str(item["type"]).endswith("_type")
        # Of what may be of several kinds, what is wrong with one says more than that it is no other.
        if keys not in found or (keys in of_kinds and not is_of_kind):
            found[keys] = message
            of_kinds = of_kinds | {keys} if is_of_kind else of_kinds - {keys}
    return list(found.items())


def _complaint_of(item: Any, model: type[BaseModel], given: Any) -> Complaint:
    keys, found = _keys_in(given, item["loc"]), item.get("input")
    message = str(item["msg"]).removeprefix("Value error, ")
    if item["type"] == "extra_forbidden":
        known = _known_keys(model, keys[:-1])
        message = f"unknown key{now_called(str(keys[-1]))}" + (
            f"; possible: {', '.join(known)}" if known else ""
        )
    elif item["type"] == "missing":
        message = "this key is required"
    elif item["type"] != "value_error" and isinstance(found, (str, int, float, bool, type(None))):
        message += f", found {_short(found)}"
    if (hint := _hint(keys, str(item["type"]), found)) and "greater" not in message and "less" not in message:
        message += f": {hint}"
    return keys, message


def _hint(keys: Sequence[Any], what: str, found: Any) -> str:
    """Suggest a correction for a missing list or mapping, or for something hard to guess."""
    if hint := _HINTS.get(str(next((key for key in reversed(keys) if isinstance(key, str)), ""))):
        return hint
    if what == "list_type" and isinstance(found, (str, int, float)):
        return f"write [{found}]"
    if what == "dict_type" and isinstance(found, list) and all(isinstance(one, str) for one in found):
        return f"write {{{', '.join(f'{one}: ...' for one in found)}}}"
    return ""


def _short(found: Any) -> str:
    shown = repr(found)
    return shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 3]}..."


def _keys_in(given: Any, place: Sequence[Any]) -> tuple[Any, ...]:
    """The parts of a place that are keys of what was given; the others are kinds of values to choose from."""
    keys: list[Any] = []
    for number, part in enumerate(place):
        is_number = isinstance(given, Sequence) and isinstance(part, int) and part < len(given)
        if is_number or (isinstance(given, Mapping) and part in given):
            given = given[part]
        elif not (isinstance(given, Mapping) and number == len(place) - 1):  # a key that is missing
            continue
        keys.append(part)
    return tuple(keys)


def _known_keys(model: Any, keys: Sequence[Any]) -> list[str]:
    """The keys that a mapping may have, some way down a model; none where that is open."""
    for key in keys:
        if _is_model(model):
            fields = {field.alias or name: field for name, field in model.model_fields.items()}
            model = _inner(fields[key].annotation) if key in fields else None
        else:
            arguments = get_args(model)
            model = _inner(arguments[-1]) if get_origin(model) in (dict, list, Mapping) else None
    if not _is_model(model) or model.model_config.get("extra") == "allow":
        return []
    return [field.alias or name for name, field in model.model_fields.items()]


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _inner(annotation: Any) -> Any:
    """Of several types that a value may have, the one with keys."""
    if get_origin(annotation) in (Union, UnionType):
        kinds = get_args(annotation)
        return next((kind for kind in kinds if _is_model(kind)), kinds[0])
    return annotation


@dataclass(frozen=True)
class Gap:
    """Gap: something that does not follow, and its place in the file."""

    keys: tuple[Any, ...]
    message: str
    untold: bool = False
    """True if it is a drawn value that nothing tells."""


ENTITY = {"kinds": "cases", "lookalikes": "distractors", "of": "parent"}
CASE = {"told": "quote", "background": "weight"}
DRAW = {"one": "ref", "kinds": "cases"}
DOING = {"kinds": "cases", "counts": "matters", "by": "sort"}
ROWS = {"kinds": "cases", "by": "sort", "last": "footer"}
NOISE = {"share": "weight"}
NAMES = {"kind": "case", "nth": "index", "lookalike": "distractor", "one_of": "choice"}
"""In expressions."""
FILTERS = {"where": "select", "without": "reject", "by": "sort"}
"""Operations on values."""
KEYS = {**RENAMED, **NOISE, **ENTITY, **CASE, **DRAW, **DOING, **ROWS}
IN_EXPRESSIONS = {**NAMES, **FILTERS}


def now_called(word: str, words: Mapping[str, str] = KEYS) -> str:
    """Return the hint for a renamed word; "" for any other."""
    return (
        f": it is called {words[word]} now, and `mesocosm convert FILE` rewrites the file"
        if word in words
        else ""
    )
