"""Finding strategies by name, and reading how they are written on a command line."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import re
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import metadata
from inspect import isclass
from pathlib import Path
from types import ModuleType
from typing import Any

import orjson
from pydantic import ValidationError

import mesocosm.agents.strategies as package
from mesocosm.agents.strategies import Strategy
from mesocosm.errors import UsageError, first_complaint

GROUP = "mesocosm.strategies"
_SIZE = re.compile(r"(\d+(?:\.\d+)?)([km])")


@cache
def strategies() -> dict[str, type[Strategy]]:
    """All that are installed, by name: ours, and those of the entry points."""
    found = {kind.name: kind for kind in _ours()}
    for entry in metadata.entry_points(group=GROUP):
        found[entry.name] = _checked(entry.load(), entry.value)
    return dict(sorted(found.items()))


def _ours() -> Iterator[type[Strategy]]:
    for info in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        for value in vars(module).values():
            named = isclass(value) and issubclass(value, Strategy) and "name" in vars(value)
            if named and value.__module__ == module.__name__:
                yield value


def find(name: str) -> type[Strategy]:
    """A strategy by its name, or as ``module::Class`` or ``file.py::Class``."""
    if "::" in name:
        return _checked(load_object(name), name)
    known = strategies()
    if name not in known:
        raise UsageError(
            f"unknown strategy {name!r}; there are: {', '.join(known)} (or module::Class, or file.py::Class)"
        )
    return known[name]


def load_object(name: str) -> Any:
    """Load the object named by ``module::name`` or ``file.py::name``."""
    where, _, attribute = name.rpartition("::")
    module = _module(where)
    if not hasattr(module, attribute):
        raise UsageError(f"{where} has no {attribute!r}")
    return getattr(module, attribute)


def _module(where: str) -> ModuleType:
    if not where.endswith(".py"):
        try:
            return importlib.import_module(where)
        except ImportError as error:
            raise UsageError(f"the module {where} cannot be imported: {error}") from None
    path = Path(where).resolve()
    if not path.is_file():
        raise UsageError(f"there is no file {where}")
    return _file_module(path, path.stat().st_mtime_ns)


@cache
def _file_module(path: Path, changed: int) -> ModuleType:
    """The module in a file; the same each time, so that its classes are, until the file is changed."""
    name = f"mesocosm_strategy_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # pydantic looks up annotations there
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise UsageError(f"{path.name} cannot be loaded: {type(error).__name__}: {error}") from error
    return module


def _checked(found: Any, where: str) -> type[Strategy]:
    if not (isclass(found) and issubclass(found, Strategy)):
        raise UsageError(f"{where} is no subclass of mesocosm.agents.strategies.Strategy")
    return found


def parse_strategies(text: str) -> list[Strategy]:
    """Strategies as ``name:key=value:key=value+name``; ``none`` and nothing are none.

    Values are JSON or text; sizes may be written 100k. A class is named ``module::Class`` or
    ``file.py::Class``.
    """
    if text.strip() in ("", "none"):
        return []
    made = [_parse_one(part.strip()) for part in text.split("+")]
    check_together(made)
    return made


def _parse_one(text: str) -> Strategy:
    name, *pairs = re.split(r"(?<!:):(?!:)", text)
    kind = find(name)
    values: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"strategy {text!r}: write {name}:key=value")
        values[key] = _value(value)
    try:
        made = kind(**values)
    except ValidationError as error:
        told = f"{first_complaint(error)}; its parameters: {parameters(kind)[1:] or 'none'}"
        raise UsageError(f"strategy {name}: {told}") from None
    if "::" in name:
        made._found_as = name
    return made


def parameters(kind: type[Strategy]) -> str:
    """The parameters of a strategy with their defaults, as they are written behind its name."""
    return "".join(f":{key}={field.default}" for key, field in kind.model_fields.items())


def _value(text: str) -> Any:
    if size := _SIZE.fullmatch(text):
        return round(float(size[1]) * (1_000 if size[2] == "k" else 1_000_000))
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


def check_together(made: Sequence[Strategy]) -> None:
    """``UsageError`` for strategies that cannot act on one conversation."""
    names = [type(one).name for one in made]
    if twice := {name for name in names if names.count(name) > 1}:
        raise UsageError(f"strategy {min(twice)} is given twice")
    resetting = [type(one).name for one in made if type(one).resets]
    for one in made:
        if type(one).alone and len(resetting) > 1:
            others = ", ".join(name for name in resetting if name != type(one).name)
            raise UsageError(
                f"strategy {type(one).name} manages the context itself and cannot be combined with {others}"
            )


def label(made: Sequence[Strategy]) -> str:
    """The strategies as they would be written, with the parameters that differ from the defaults, and those
    that make a configuration of its own."""
    return "+".join(map(_label, made)) or "none"


def _label(one: Strategy) -> str:
    told = {**one.model_dump(include=set(type(one).named)), **one.model_dump(exclude_defaults=True)}
    return ":".join([one.called, *(f"{key}={value}" for key, value in told.items())])
