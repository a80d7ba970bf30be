"""What pydantic finds wrong with a file, in a user's words: where, what was found, and what is possible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel

_SHOWN = 60


def complaint_of(item: Any, model: type[BaseModel]) -> tuple[tuple[Any, ...], str]:
    """Where an item of a ``ValidationError`` of a model lies, and what is wrong."""
    keys, found = tuple(item["loc"]), item.get("input")
    message = str(item["msg"]).removeprefix("Value error, ")
    if item["type"] == "extra_forbidden":
        known = _known_keys(model, keys[:-1])
        message = "unknown key" + (f"; possible: {', '.join(known)}" if known else "")
    elif item["type"] == "missing":
        message = "this key is required"
    elif item["type"] != "value_error" and isinstance(found, (str, int, float, bool, type(None))):
        shown = repr(found)
        message += f", found {shown if len(shown) <= _SHOWN else shown[: _SHOWN - 3] + '...'}"
    return keys, message


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
