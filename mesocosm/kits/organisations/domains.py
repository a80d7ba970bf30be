"""Domains: what the machinery of organisations asks of a campus, and of any other."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from mesocosm.errors import UsageError
from mesocosm.kits.organisations.derivations import Directory
from mesocosm.kits.organisations.events import Event, Story
from mesocosm.kits.organisations.letters import Letter, Speaker
from mesocosm.kits.organisations.people import Person
from mesocosm.kits.organisations.scenes import Scene, Vocabulary


@dataclass(frozen=True)
class Stage:
    """A small world of a domain, and its stories: where scenes are rehearsed."""

    lists: BaseModel
    me: Person
    speaker: Speaker
    stories: Sequence[Story]
    listed: Sequence[Person] = ()
    """People whose names a reader finds in lists."""


@dataclass(frozen=True)
class Domain:
    """A kind of organisation."""

    name: str
    scenes: Path
    """The folder of the scenes that ship."""
    vocabulary: Vocabulary
    lists: type[BaseModel]
    """The services' lists of people and things, as data."""
    directory: Callable[[Any], Directory]
    """Looks expressions up in such lists."""
    neutral: frozenset[str]
    """Kinds of events that decide nothing."""
    misread: Sequence[str]
    """Kinds of events of which near misses misread one."""
    mistaken: Mapping[str, str]
    """Kinds of events that near misses take for another, and for which."""
    moments: Sequence[str]
    """Fields of events that may be read a day late."""
    stages: Callable[[Scene], Iterable[Callable[[int], Stage]]]
    """The stages on which a scene can be rehearsed, each by a seed."""
    explained: str
    """The questions to blind readers, and the codes they answer with."""
    code: Callable[[Event], str]
    """How a reader writes down an event; empty for what nobody writes down."""
    beside: Callable[[Sequence[Letter], Stage], Sequence[str]]
    """The material that a reader of a thread has beside it: what held before, lists."""


def load_domain(name: str) -> Domain:
    """Return a domain by its name; ``UsageError`` says which there are."""
    found = domain_names()
    if name not in found:
        raise UsageError(f"there is no domain {name!r}; there are: {', '.join(found)}")
    domain: Domain = importlib.import_module(f"mesocosm.kits.organisations.{name}.domain").DOMAIN
    return domain


def domain_names() -> list[str]:
    """Every domain there is."""
    return sorted(path.parent.name for path in Path(__file__).parent.glob("*/domain.py"))
