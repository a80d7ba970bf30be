"""Evidence check: everything a goal needs is told. Complements the solution, which knows the truth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import orjson

from mesocosm.kits.yaml_tasks.definition import Definition
from mesocosm.kits.yaml_tasks.draws import Draw
from mesocosm.kits.yaml_tasks.entities import Entity, Read, evaluated
from mesocosm.kits.yaml_tasks.grading import wanted_of
from mesocosm.kits.yaml_tasks.placement import Told
from mesocosm.kits.yaml_tasks.population import Filled
from mesocosm.kits.yaml_tasks.truth import Truth
from mesocosm.services.calling import Tools
from mesocosm.services.words import find_thing

if TYPE_CHECKING:
    from mesocosm.services.service import Image

Stated = tuple[str, str, str]
"""Service, text, and what it tells."""


def needed(definition: Definition, truth: Truth, filled: Filled, prompt: Iterable[Read]) -> list[Stated]:
    """Return the texts that the survey must deliver; an empty text stands for an untold value."""
    truth.forget()  # what was worked out before would hide what it follows from
    # The truth notes each field that is read while the goal is worked out: these are what has to be told.
    with truth.watched() as reads:
        wanted_of(definition, truth)
    known: dict[Read, set[Read]] = {}
    where: dict[Read, Stated | None] = {one: None for read in prompt for one in behind(truth, read, known)}
    for told in filled.told:
        for name, direct in told.reads.items():
            for read in {further for one in direct for further in behind(truth, one, known)}:
                if read not in where:
                    where[read] = told.what.partition(".")[0], text_of(told, name), _called(read)
    # What an agent gets by a query that adds up needs no text of its own.
    for told in filled.summed:
        direct = {read for ones in told.reads.values() for read in ones}
        where |= dict.fromkeys(read for one in direct for read in behind(truth, one, known))
    found: dict[Read, Stated | None] = {}
    for read in sorted(reads, key=_called):
        _seek(truth, read, where, found)
    return list(dict.fromkeys(one for one in found.values() if one is not None))


def behind(truth: Truth, read: Read, known: dict[Read, set[Read]]) -> set[Read]:
    """A field with all that it follows from."""
    if read not in known:
        entity, name = read
        found = known[read] = {read}
        # A drawn value follows from the dice and from nothing that an agent could read.
        if name not in entity.drawn:
            for deeper in reads_of(truth, entity, entity.source_of(name)):
                found |= behind(truth, deeper, known)
    return known[read]


def _called(read: Read) -> str:
    entity, name = read
    return f"{entity.label}: {name}"


def text_of(told: Told, name: str) -> str:
    """Return the longest line of a field's text."""
    thing = find_thing(told.what)
    assert thing is not None
    if name == thing.text:
        # One line is enough, and the longest one is the least likely to stand somewhere else, too.
        return thing.shown(name, max(told.content.split("\n"), key=len).strip())
    return thing.shown(name, told.fields[name])


def _seek(
    truth: Truth, read: Read, where: Mapping[Read, Stated | None], found: dict[Read, Stated | None]
) -> None:
    """Find where a field is told: directly, or through everything it follows from."""
    if read in found:
        return
    if read in where:
        found[read] = where[read]
        return
    entity, name = read
    source = entity.source_of(name)
    if isinstance(source, Draw):
        found[read] = "", "", _called(read)
        return
    # Before its sources are followed, so that fields that follow from each other end.
    found[read] = None
    for deeper in sorted(reads_of(truth, entity, source), key=_called):
        if deeper != read:
            _seek(truth, deeper, where, found)


def reads_of(truth: Truth, entity: Entity, source: Any) -> set[Read]:
    with truth.watched() as reads:
        evaluated(source, entity.lookup)
    return reads


class Collecting(Tools):
    """Keeps the texts of a survey."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._texts: dict[str, list[str]] = {}

    def look(self, service: str, tool: str, arguments: dict[str, Any]) -> list[str | Image]:
        blocks = self._tools.look(service, tool, arguments)
        self._texts.setdefault(service, []).extend(block for block in blocks if isinstance(block, str))
        return blocks

    @cached_property
    def texts(self) -> dict[str, str]:
        """By service; lines may be broken elsewhere than they were written, as in PDF files."""
        return {service: " ".join("\n".join(parts).split()) for service, parts in self._texts.items()}

    @property
    def everything(self) -> list[str]:
        """The texts of all services."""
        return list(self.texts.values())


def _escaped(text: str) -> str:
    return orjson.dumps(text).decode()[1:-1]


def missing(survey: Collecting, stated: Iterable[Stated]) -> list[str]:
    """List what the survey does not deliver; untold values are reported by the derivation."""
    return [
        f"{what} is told by {service} as a flag that is false, which it does not show: tell it in a text"
        if text == "false"
        else f"{what} is told by {service} in a text that the survey does not deliver: {text[:80]!r}"
        for service, text, what in stated
        if service
        and not any(
            " ".join(form.split()) in survey.texts.get(service, "") for form in (text, _escaped(text))
        )
    ]
