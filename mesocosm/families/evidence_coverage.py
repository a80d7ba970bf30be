"""Statistics of reading: how much of the needed evidence an agent read, from journal and evidence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic import BaseModel

from mesocosm.families.length import EvidenceFinder, evidence_finders
from mesocosm.families.oracle import Lapse
from mesocosm.services.service import ending_tools

if TYPE_CHECKING:
    from mesocosm.families.episode import Episode
    from mesocosm.families.family import Evidence
    from mesocosm.services.world import World
    from mesocosm.worlds.journal import Entry


class EvidenceCoverage(BaseModel):
    """Statistics of an episode's reads and writes. Calls by the agent's code count like its own."""

    evidence: int = 0
    """Pieces of evidence of the instance."""
    delivered: int = 0
    """Those of them that some result held."""
    adequate: int = 0
    """Tokens of the survey's results that hold evidence."""
    density: float | None = None
    """The share of the description in items that hold evidence."""
    edl: int = 0
    unread: list[str] = []
    """Services with evidence of which none was delivered."""
    begun: list[str] = []
    """Services with evidence of which some was delivered and some was not."""
    re_reads: int = 0
    """Reading calls that were made before with the same arguments."""
    refused: int = 0
    """Calls that were refused."""
    writes: int = 0
    """Calls that may have changed something and were not refused."""
    coerced: int = 0
    """Calls of which an argument was taken as another value than was sent: JSON as text, a number as text,
    null for what may be left out."""
    broke_off: bool = False
    """True if the last call was refused, and none had declared that the episode was over."""
    undeclared: bool = False
    """True if the task has a tool that declares that the episode is over, and none such was called."""
    lapse: Lapse | None = None
    """Way in which it failed; ``None`` in families that cannot tell."""

    @property
    def coverage(self) -> float | None:
        """The share of the evidence that was delivered; ``None`` where an instance names none."""
        return self.delivered / self.evidence if self.evidence else None


CHOOSING = "fields"
"""Argument of tools by which a caller chooses the fields of what it is shown."""
_NAMED = re.compile(r'"\w+":(?:"(?:[^"\\]|\\.)*"|-?[\d.]+)')
"""The first field of a needle that is a part of a JSON object."""


def _told_by_prompt(episode: Episode) -> set[int]:
    """Return the evidence that no tool can deliver: if a task offers only acting tools of a service, the
    prompt states its content.
    """
    offered = episode.family.task.servers
    acting = {
        service
        for service, names in offered.items()
        if names and all(episode.world.services[service].tools[name].writes for name in names)
    }
    return {index for index, one in enumerate(episode.expected().evidence) if one.service in acting}


def _held_by_fields(
    world: World, entry: Entry, finder: EvidenceFinder, evidence: Sequence[Evidence]
) -> Iterator[int]:
    """Yield the evidence in records of a call with chosen fields, which all fields would have shown, as far
    as it identifies the records.
    """
    arguments = {name: value for name, value in entry.arguments.items() if name != CHOOSING}
    whole = world.calls.peek(entry.service, entry.tool, arguments)
    for index in finder.held_by(whole.text) if not whole.is_error else ():
        named = _NAMED.match(evidence[index].contains)
        if named and named[0] in (entry.result or ""):
            yield index


def read_journal(episode: Episode) -> EvidenceCoverage:
    """Go through the calls of an episode."""
    world = episode.world
    evidence = episode.expected().evidence
    finders: Mapping[str, EvidenceFinder] = evidence_finders(evidence) if world.journal.last else {}
    held = _told_by_prompt(episode)
    ending = ending_tools(world.services)
    seen: set[tuple[str, str, str]] = set()
    over = False
    reading = EvidenceCoverage(evidence=len(evidence))
    if length := world.manifest.length:
        reading.adequate, reading.edl = length.adequate, length.measured
        held_tokens = length.adequate if length.evidence is None else length.evidence
        reading.density = held_tokens / max(length.measured, 1)
    for entry in world.journal.entries():
        tool = (
            world.services[entry.service].tools.get(entry.tool) if entry.service in world.services else None
        )
        if entry.parent is None:
            over = over or bool(tool and tool.ends_episode and entry.status == "ok")
            reading.broke_off = entry.status == "refused" and not over
            reading.undeclared = bool(ending) and not over
        reading.coerced += bool(tool and tool.signature.coercions(entry.arguments))
        if entry.status == "refused":
            reading.refused += 1
        if entry.status != "ok" or entry.result is None:
            continue
        if finder := finders.get(entry.service):
            held.update(finder.held_by(entry.result))
            if CHOOSING in entry.arguments:
                held.update(_held_by_fields(world, entry, finder, evidence))
        if tool is None or tool.writes:
            # To say that one is done is nothing done.
            reading.writes += bool(entry.arguments) or f"{entry.service}_{entry.tool}" not in ending
            continue
        call = (entry.service, entry.tool, repr(entry.arguments))
        reading.re_reads += call in seen
        seen.add(call)
    reading.delivered = len(held)
    if oracle := episode.expected().oracle():
        reading.lapse = oracle.lapse(episode.history())
    there = Counter(piece.service for piece in evidence)
    had = Counter(evidence[index].service for index in held)
    for service in sorted(there):
        if not had[service]:
            reading.unread.append(service)
        elif had[service] < there[service]:
            reading.begun.append(service)
    return reading
