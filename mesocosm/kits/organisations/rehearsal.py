"""Rehearsals: a scene cast alone, over a small world, as an editor or a reader wants to see it."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator
from dataclasses import dataclass

from mesocosm.kits.organisations.casting import Director
from mesocosm.kits.organisations.derivations import Derivation, Rereading, derivation, texts_of
from mesocosm.kits.organisations.domains import Domain, Stage
from mesocosm.kits.organisations.letters import Letter, LetterTeller
from mesocosm.kits.organisations.people import Person
from mesocosm.kits.organisations.scenes import CHANNELS, Scene


@dataclass
class Rehearsal:
    """A scene cast for a story of some small world."""

    domain: Domain
    stage: Stage
    letters: list[Letter]
    level: str

    @property
    def derivations(self) -> list[Derivation]:
        """Return how its events are told."""
        return [derivation(letter, telling) for letter in self.letters for telling in letter.tellings]

    def faults(self) -> list[str]:
        """List what a reader cannot follow: unnamed people, ambiguous things, unread values."""
        held = {
            letter.key: f"{letter.subject}\n{text}"
            for letter, text in zip(self.letters, texts_of(self.letters).values(), strict=True)
        }
        reading = Rereading(self.derivations, self.domain.directory(self.stage.lists), held)
        made = {event.id: event for event in reading.events()}
        found = list(reading.faults)
        # What a shift is counted from was told by other scenes.
        found = [fault for fault in found if "from when on" not in fault and "on which day" not in fault]
        relative = {"day", "time", "shift", "span"}
        for letter in self.letters:
            for telling in letter.tellings:
                scene = letter.cast.scene
                event, again = telling.event, made.get(telling.event.id)
                if again is None or relative & {one.form for one in telling.values}:
                    continue
                for name in (*self.domain.moments, "room", "length", "who"):
                    value, read = event.values.get(name), again.values.get(name)
                    if value is None or event.kind in self.domain.neutral:
                        continue
                    if isinstance(value, Person) and isinstance(read, Person):
                        value, read = value.email, read.email
                    if read is None and event.open != {"start": "time"}.get(name, name):
                        found.append(f"{scene.name}: {event.kind}: nothing says its {name}")
                    elif read is not None and read != value:
                        found.append(f"{scene.name}: {event.kind}: {name} reads {read}, is {value}")
        return found


def rehearse(
    domain: Domain,
    scene: Scene,
    levels: tuple[str, ...] = ("explicit", "described", "referring"),
    seeds: int = 12,
) -> Iterator[Rehearsal]:
    """Cast a scene over and over: for one fitting story of each of some worlds, the levels by turns."""
    count = 0
    for seed in range(seeds):
        for made in domain.stages(scene):
            stage = made(seed)
            level = scene.level or levels[count % len(levels)]

            def stream(name: str, seed: int = seed) -> random.Random:
                return random.Random(f"{scene.name}:{seed}:{name}")

            director = Director(
                [scene],
                {level: 1.0},
                stream,
                domain.neutral,
                frozenset(CHANNELS),
                whole=True,
                besides=stage.speaker.other,
            )
            fitting = [story for story in stage.stories if story.kind == scene.story]
            stream("order").shuffle(fitting)
            cast = next((cast for story in fitting if (cast := director.cast(story))), None)
            if cast is None:
                continue
            count += 1
            letters = LetterTeller(stage.speaker, stream).write([cast], dt.datetime.max)
            yield Rehearsal(domain, stage, letters, level)
