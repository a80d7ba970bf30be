"""Events, the ground truth. A story is a few events that follow from one another."""

# Events are simulated first and told afterwards, so texts cannot contradict each other (decision 091).

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(eq=False, slots=True)
class Event:
    """Something that happened, dated by the clock of the place.

    Values (``due``, ``start``, ``room`` ...) are read as attributes; what an event does not know is None.
    """

    kind: str
    at: dt.datetime
    """Local, without a zone."""
    about: Any = None
    """The thing it happened to: a course, an order; things have a ``code``."""
    people: tuple[Any, ...] = ()
    """Those it is about."""
    values: Mapping[str, Any] = field(default_factory=dict)
    follows: Event | None = None
    id: str = ""
    """Given by the log, in order of time."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self.values.get(name)


@dataclass(eq=False, slots=True)
class Story:
    """A few linked events, and the people and things that scenes telling them speak of."""

    kind: str
    roles: Mapping[str, Any]
    """Events, people and things by the names that scenes use; None for an event that did not happen."""
    matters: bool = True
    """True if the question of the task is about it."""
    after: dt.datetime | None = None
    """Nothing of it is told before this moment."""
    channels: frozenset[str] = frozenset()
    """Where it may be told; empty: in every channel that the task has."""
    among: Sequence[Story] = ()
    """Stories that are told in the same message, each by a notice."""

    @property
    def events(self) -> Iterator[Event]:
        """Yield the events in the order of their roles, with those told along with them."""
        yield from (one for one in self.roles.values() if isinstance(one, Event))
        for story in self.among:
            yield from story.events

    @property
    def begins(self) -> dt.datetime:
        """The moment of the first event."""
        return min(event.at for event in self.events)


def number_events(stories: Iterable[Story]) -> Sequence[Event]:
    """Give all events their ids, in order of time; returns them so."""
    found = {id(event): event for story in stories for event in story.events}
    ordered = sorted(found.values(), key=lambda event: event.at)
    for index, event in enumerate(ordered):
        event.id = f"e{index:05}"
    return ordered
