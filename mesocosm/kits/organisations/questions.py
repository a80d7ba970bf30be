"""Tasks that ask a question of an organisation: simulated, told by scenes, proven by derivations.

The YAML file names the domain, the goal and the walk; two functions beside it simulate what happens
(``simulate``)
and answer the question from a list of events (``answer``). The same ``answer`` serves building, where it is
given what
happened, and the proof, where it is given what a reader makes out.
"""

from __future__ import annotations

import datetime as dt
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import BaseModel, Field, create_model, model_validator

from mesocosm.errors import UsageError
from mesocosm.families import family
from mesocosm.families.exposure.sentences import MessageItems
from mesocosm.families.family import Evidence
from mesocosm.families.instances import build_instance
from mesocosm.families.task import Task
from mesocosm.families.verdict import Inapplicable, Misreading, Mutant
from mesocosm.kits.organisations.casting import MIXES, Cast, Director
from mesocosm.kits.organisations.delivery import cost_of, evidence_of
from mesocosm.kits.organisations.derivations import (
    Derivation,
    Directory,
    Rereading,
    derivation,
    texts_of,
    undelivered,
)
from mesocosm.kits.organisations.domains import Domain, load_domain
from mesocosm.kits.organisations.events import Event, Story, number_events
from mesocosm.kits.organisations.letters import Letter, LetterTeller, Speaker
from mesocosm.kits.organisations.people import Person
from mesocosm.kits.organisations.scenes import SPLITS, Scene, read_scenes, require_sound
from mesocosm.kits.organisations.sentences import messages_of
from mesocosm.kits.yaml_tasks import serialization
from mesocosm.kits.yaml_tasks.damage import all_findings, damage, tables
from mesocosm.kits.yaml_tasks.entities import Entity
from mesocosm.kits.yaml_tasks.grading import wanted_of
from mesocosm.kits.yaml_tasks.solution import Solution
from mesocosm.kits.yaml_tasks.truth import Truth
from mesocosm.kits.yaml_tasks.written import WrittenExpected, YamlFamily
from mesocosm.services.calling import ToolError, Tools
from mesocosm.worlds.manifest import Manifest
from mesocosm.worlds.randomness import Dice

if TYPE_CHECKING:
    from mesocosm.services.service import Image
    from mesocosm.services.world import World

_IN_MAIL = 0.97
"""Of the filler, the part that scenes take as long as there are fresh ones; records take the rest."""
_TRIES = 60
"""So many stories may find no fresh scene before the rest is left to records."""
_FRESH = 3
"""Filler is cast so often before a scene counts as used up: were it once, the kinds that have few scenes
would be told less often of what decides nothing than of what does."""
_MOST = 6
"""Nothing is cast more often: no beat has more alternates."""
_A_LINE = 250
"""About the tokens of a message besides what it says."""
_CHANCES = 12
"""So many events of a kind are tried for one whose misreading makes a difference."""


@dataclass
class Answer:
    """Answer of an instance: single facts and sets of facts, by their names in the task file."""

    singles: Mapping[str, Mapping[str, Any]]
    sets: Mapping[str, Sequence[Mapping[str, Any]]]


@dataclass
class Organisation:
    """Simulated organisation, before anything is told.

    Args:
        now: The clock, local.
        me: The owner of the mailbox.
        stories: What must be told.
        further: Stories that decide nothing, without end: they fill the length.
        place: Puts letters and records worth so many tokens into the services; returns evidence of records.
        records: What lists and logs say besides, as data.
        brief: True if replies that neither tell nor state anything are few.
        shared: True if what matters leaves most of the best scenes to the rest, as in large worlds.
    """

    now: dt.datetime
    zone: ZoneInfo
    me: Person
    stories: Sequence[Story]
    further: Iterator[Story]
    speaker: Speaker
    lists: Callable[[], BaseModel]
    place: Callable[[World, Sequence[Letter], int], Sequence[Evidence]]
    neutral: frozenset[str]
    channels: frozenset[str] = frozenset({"mail"})
    records: Mapping[str, Any] = field(default_factory=dict)
    brief: bool = False
    shared: bool = False


@dataclass(frozen=True)
class Mistake:
    """One event misread, so that the answer is another one."""

    derivation: Derivation
    """How the event is told."""
    how: str
    concerned: frozenset[str]
    """Values of the facts that differ: names, addresses, codes."""
    expected: Callable[[], AskedExpected]
    """Expected data if this were no mistake."""


class AskedExpected(WrittenExpected):
    """The truth, and how it follows from what is delivered."""

    lists: Any
    """The services' lists, as the domain has them."""
    records: dict[str, Any]
    derivations: list[Derivation]
    mistakable: list[Derivation] = Field(default_factory=list)
    """The same of what decides nothing and could be taken for what does."""
    texts: dict[str, str]
    """The messages that derivations lean on, by their keys."""
    options: dict[str, Any] = Field(default_factory=dict)

    def derived(self) -> list[str]:
        """Say how each event follows from the messages, in the order in which they were written."""
        return [one.shown for one in sorted(self.derivations, key=lambda one: one.written)]


class QuestionTask(YamlFamily):
    """A task file that asks a question of a domain."""

    def __init__(self, task: Task, path: Path, hooks: Mapping[str, Callable[..., Any]] | None = None) -> None:
        hooks = dict(hooks or {})
        try:
            self._simulate, self._answer = hooks.pop("simulate"), hooks.pop("answer")
        except KeyError as error:
            raise UsageError(
                f"{path}: python: a task with a domain needs the function {error.args[0]!r}"
            ) from None
        self._survey, self._valid = hooks.pop("survey", None), hooks.pop("valid", None)
        super().__init__(task, path, hooks)

    @cached_property
    def domain(self) -> Domain:
        """The domain that the file names."""
        try:
            return load_domain(str(self.task.domain))
        except UsageError as error:
            raise UsageError(f"{self.path}: domain: {error}") from None

    @cached_property
    def Expected(self) -> type[AskedExpected]:  # type: ignore[override]  # noqa: N802 - for a family's class
        """The truth with the lists of the domain."""
        made: type[AskedExpected] = create_model(
            "Expected", __base__=AskedExpected, lists=(self.domain.lists, ...)
        )
        return made

    @cached_property
    def Params(self) -> type[family.Params]:  # noqa: N802 - it stands for a family's class
        """Parameters, of which the difficulty is one of those that there are."""
        about = self.task.about.get("difficulty", "How openly facts are told.")
        default = self.task.parameters.get("difficulty", "hard")
        levels: Any = Literal[tuple(MIXES)]
        fields: dict[str, Any] = {"difficulty": (levels, Field(default=default, description=about))}
        base: type[family.Params] = super().Params
        checks: dict[str, Any] = {}
        if valid := self._valid:

            def checked(params: Any) -> Any:
                valid(params)
                return params

            checks["checked"] = model_validator(mode="after")(checked)
        return create_model("Params", __base__=base, __validators__=checks, **fields)

    # -- building ---------------------------------------------------------------------------------------

    def generate(self, world: World, params: family.Params) -> AskedExpected:
        """Simulate, tell and deliver."""
        with self._placed():
            made: Organisation = self._simulate(world.stream, params)
            world.set_now(made.now.replace(tzinfo=made.zone))
            number_events(made.stories)
            letters, matter = self._told(made, params, world.stream)
            records = made.place(
                world,
                letters,
                params.filler_tokens - sum(cost_of(one, made.me) for one in letters if one.key not in matter),
            )
            events = sorted(
                (event for story in made.stories for event in story.events), key=lambda event: event.at
            )
            lists = made.lists()
            told = [
                derivation(letter, telling)
                for letter in letters
                for telling in letter.tellings
                if telling.matters and letter.key in matter
            ]
            derived = [one for one in told if one.kind not in made.neutral]
            mistakable = [
                one for one in told if one.kind in made.neutral and one.kind in self.domain.mistaken
            ]
            directory = self.domain.directory(lists)
            answer = self._answer(directory, _heard(events, derived, directory), dict(made.records), params)
            truth = self._truth(answer, made, params)
            leaned, beside = _leaned(derived), _leaned(mistakable)
            held = {letter.key: letter for letter in letters if letter.key in leaned | beside}
            return self.Expected(
                evidence=[*(evidence_of(letter) for key, letter in held.items() if key in leaned), *records],
                truth=serialization.kept(truth, 0),
                prompt=self.prompt_of(truth),
                lists=lists,
                records=dict(made.records),
                derivations=derived,
                mistakable=mistakable,
                texts={
                    key: f"{letter.subject}\n{text}"
                    for (key, letter), text in zip(
                        held.items(), texts_of(held.values()).values(), strict=True
                    )
                },
                options=params.model_dump(exclude={"filler_tokens"}),
            )

    def told(self, stream: Any, params: family.Params) -> tuple[Organisation, list[Letter], set[str]]:
        """Simulate and tell without a world: the letters, and the keys of those that matter."""
        made: Organisation = self._simulate(stream, params)
        number_events(made.stories)
        return made, *self._told(made, params, stream)

    def messages(
        self, family: family.Family, seed: int, target: int | None, parameters: Mapping[str, Any]
    ) -> MessageItems:
        """The messages of an instance, sentence by sentence, for measuring what could be skipped."""
        with tempfile.TemporaryDirectory(prefix="mesocosm-sentences-") as folder:
            built = build_instance(family, seed, Path(folder) / "x", target=target, parameters=parameters)
            filled = Manifest.read(built.path / "world").parameters
        made, letters, _ = self.told(Dice(family.name, seed).stream, family.params_type(**filled))
        return messages_of(letters, made.me, made.speaker)

    def _told(self, made: Organisation, params: family.Params, stream: Any) -> tuple[list[Letter], set[str]]:
        """The letters, and the keys of those that tell what must be told."""
        director = Director(
            self.scenes(params),
            self._mix(params),
            stream,
            made.neutral,
            made.channels,
            brief=made.brief,
            shared=made.shared,
            besides=made.speaker.other,
        )
        casts: list[Cast] = []
        for story in sorted(made.stories, key=lambda story: story.begins):
            cast = director.cast(story)
            if cast is None and story.among:
                # A split without notices tells each by a scene of its own.
                casts += [
                    made_one for told in story.among if told.matters and (made_one := director.cast(told))
                ]
                continue
            if cast is None:
                ending = ", ".join(name for name, one in story.roles.items() if isinstance(one, Event))
                raise UsageError(
                    f"{self.path}: split {getattr(params, 'split', '')!r} has no scene of the story "
                    f"{story.kind!r} with the events {ending}"
                )
            casts.append(cast)
        least = len(casts)
        # As seldom as there are scenes, but not at the price of another mix than that of what must be told.
        left, tries, most = round(params.filler_tokens * _IN_MAIL), 0, _FRESH
        waiting: list[Story] = []
        for story in made.further:
            if left < _A_LINE or (tries > _TRIES and most >= _MOST):
                break
            again = [story]
            if tries > _TRIES:
                # All that fits was cast so often: once more around, beginning with what found no place.
                most, tries = most + 1, 0
                again, waiting = [*waiting, story], []
            for one in again:
                cast = director.cast(one, most=most) if left >= _A_LINE else None
                if cast is None:
                    tries += 1
                    waiting.append(one)
                else:
                    left -= _about(cast)
                    casts.append(cast)
        number_events([*made.stories, *(cast.story for cast in casts)])
        teller = LetterTeller(made.speaker, stream)
        while True:
            letters = teller.write(casts, made.now)
            needed = {cast.number for cast in casts[:least]}
            cost = sum(cost_of(one, made.me) for one in letters if one.cast.number not in needed)
            if cost <= params.filler_tokens or len(casts) == least:
                return letters, {one.key for one in letters if one.cast.number in needed}
            casts.pop()

    def scenes(self, params: family.Params) -> list[Scene]:
        """The scenes of the split that the parameters name: one that ships, or a folder of the user's own."""
        split = str(getattr(params, "split", "test"))
        if split in SPLITS:
            return read_scenes(self.domain.scenes, only=split)
        folder = Path(split)
        if not folder.is_dir():
            raise UsageError(
                f"{self.path}: parameters: split: {split!r} is none of {', '.join(SPLITS)}, and no folder"
            )
        scenes = read_scenes(folder, split)
        require_sound(scenes, self.domain.vocabulary)
        return scenes

    def _mix(self, params: family.Params) -> Mapping[str, float]:
        return MIXES[getattr(params, "difficulty", "hard")]

    def estimated(self, dice: Dice, params: family.Params) -> int:
        """About how many tokens an instance has without filler."""
        made: Organisation = self._simulate(dice.stream, params)
        return len(made.stories) * 2 * _A_LINE

    def _truth(self, answer: Answer, made: Organisation, params: family.Params) -> Truth:
        truth = Truth(
            self.definition,
            None,
            made.now.replace(tzinfo=made.zone),
            made.zone,
            self.hooks,
            params.model_dump(exclude={"filler_tokens"}),
        )
        return _filled(truth, answer)

    # -- reading ----------------------------------------------------------------------------------------

    def survey(self, tools: Tools, expected: family.Expected) -> None:
        """Read all that an agent would need to read."""
        if self._survey is not None:
            self._survey(tools)
        else:
            super().survey(tools, expected)

    def unstated(self, tools: Tools, expected: family.Expected) -> list[str]:
        """Follow every derivation; returns those that fail, and those with another result."""
        assert isinstance(expected, AskedExpected)
        reader = _Reader(tools)
        self.survey(reader, expected)
        results = "\n".join(reader.results)
        bodies = {key: text.partition("\n")[2] for key, text in expected.texts.items()}
        found = [f"message {key} is not delivered" for key in undelivered(bodies, results)]
        directory = self.domain.directory(expected.lists)
        reading = Rereading(expected.derivations, directory, expected.texts)
        events = reading.events()
        found += reading.faults
        again = self._reread(expected, directory, events)
        right, made = (wanted_of(self.definition, truth) for truth in (self.truth_of(expected), again))
        if [one.fields for one in right] != [one.fields for one in made]:
            pairs = zip(right, made, strict=False)
            differ = next((pair for pair in pairs if pair[0].fields != pair[1].fields), (right[-1], None))
            found.append(
                "what a reader makes out answers the question otherwise: "
                f"{differ[1] and differ[1].fields} in place of {differ[0].fields}"
            )
        return found

    def _reread(self, expected: AskedExpected, directory: Directory, events: Sequence[Event]) -> Truth:
        """The truth as it follows from some events."""
        params = self.Params(**expected.options)
        return self._answered(expected, self._answer(directory, events, expected.records, params))

    def _answered(self, expected: AskedExpected, answer: Answer) -> Truth:
        """The truth where the answer is another one."""
        kept = self.truth_of(expected)
        truth = Truth(self.definition, None, kept.now, kept.zone, self.hooks, kept.parameters)
        return _filled(truth, answer)

    def misreadings(self, expected: AskedExpected) -> Iterator[Mistake]:
        """Yield each event that can be misread so that the answer is another one."""
        directory = self.domain.directory(expected.lists)
        derivations = [*expected.derivations, *expected.mistakable]
        events = Rereading(derivations, directory, expected.texts).events()
        told = {one.event: one for one in sorted(derivations, key=lambda one: one.written, reverse=True)}
        params = self.Params(**expected.options)
        right = self._answer(directory, events, expected.records, params)
        for number, event in enumerate(events):
            for how, change in self._changes(event.kind).items():
                try:
                    other = change(event, events)
                except Inapplicable:
                    continue
                misread = [*events[:number], *([other] if other else []), *events[number + 1 :]]
                answer = self._answer(directory, misread, expected.records, params)
                if answer != right:
                    yield Mistake(
                        told[event.id],
                        how,
                        frozenset(_differing(right, answer)),
                        partial(self._expecting, expected, answer),
                    )

    def _expecting(self, expected: AskedExpected, answer: Answer) -> AskedExpected:
        """Return the expected data for another answer."""
        truth = self._answered(expected, answer)
        otherwise = expected.model_copy(update={"truth": serialization.kept(truth, 0)})
        otherwise._settled = {}  # what follows from the facts as they are
        return otherwise

    # -- near misses ------------------------------------------------------------------------------------

    @cached_property
    def MUTANTS(self) -> list[Mutant | Misreading]:  # noqa: N802 - it stands for a family's constant
        """Near misses: one step of a derivation misread, one thing left out or too much, and damage."""
        breaks = frozenset(name for goal in self.definition.goal for name in all_findings(goal))
        made: list[Mutant | Misreading] = []
        for kind in dict.fromkeys([*self.domain.misread, *self.domain.mistaken]):
            for name, change in self._changes(kind).items():
                made.append(
                    Misreading(f"{kind} {name}", breaks, _nothing, partial(self._misread, kind, change))
                )
        for name in dict.fromkeys(goal.for_ for goal in self.definition.goal if goal.for_):
            made.append(Misreading(f"a {name} left out", breaks, _nothing, partial(self._left_out, name)))
            made.append(Misreading(f"a {name} too much", breaks, _nothing, partial(self._too_much, name)))
        return [*made, *tables(self), *damage(self)]

    def _changes(self, kind: str) -> Mapping[str, _Change]:
        """The ways to misread an event of a kind, each by its name."""
        ways = dict(_CHANGES) if kind in self.domain.misread else {}
        if other := self.domain.mistaken.get(kind):
            ways[f"taken for {other.replace('_', ' ')}"] = lambda event, events: replace(event, kind=other)
        return ways

    def _left_out(self, name: str, tools: Tools, expected: Any) -> None:
        """Walk for all but one."""
        truth = self.truth_of(expected)
        wanted = [one.entity for one in wanted_of(self.definition, truth) if one.entity]
        if not wanted:
            raise Inapplicable
        Solution(self.definition, truth, tools).make(only=lambda entity: entity != wanted[0])

    def _too_much(self, name: str, tools: Tools, expected: Any) -> None:
        """Walk for one of whom nothing is asked, as well."""
        truth = self.truth_of(expected)
        wanted = {one.entity for one in wanted_of(self.definition, truth)}
        other = next((one for one in truth.sets[name] if one not in wanted), None)
        if other is None or not Solution(self.definition, truth, tools).make(also=[other]):
            raise Inapplicable

    def _misread(self, kind: str, change: _Change, tools: Tools, expected: Any) -> None:
        """Walk as somebody would who misread one event of a kind, where that makes a difference."""
        directory = self.domain.directory(expected.lists)
        derivations = [*expected.derivations, *expected.mistakable]
        events = Rereading(derivations, directory, expected.texts).events()
        right = [one.fields for one in wanted_of(self.definition, self.truth_of(expected))]
        chosen = [number for number, event in enumerate(events) if event.kind == kind][:_CHANCES]
        for number in chosen:
            other = change(events[number], events)
            misread = [*events[:number], *([other] if other else []), *events[number + 1 :]]
            truth = self._reread(expected, directory, misread)
            if [one.fields for one in wanted_of(self.definition, truth)] == right:
                continue
            try:
                Solution(self.definition, truth, tools).make()
            except ToolError:
                continue
            return
        raise Inapplicable


def _leaned(derivations: Sequence[Derivation]) -> set[str]:
    """The keys of the messages that derivations lean on."""
    return {
        step
        for one in derivations
        for step in (one.text, *(it.text for it in (one.about, *one.people, *one.values) if it))
    }


def _differing(one: Answer, other: Answer) -> Iterator[str]:
    """The values of facts that are in one of two answers and not in the other."""
    for name in {*one.singles, *one.sets}:
        here = [one.singles[name]] if name in one.singles else list(one.sets[name])
        there = [other.singles[name]] if name in other.singles else list(other.sets.get(name, ()))
        for fact in [
            *(each for each in here if each not in there),
            *(each for each in there if each not in here),
        ]:
            yield from (str(value) for value in fact.values())


def _nothing(tools: Tools, expected: Any) -> None:
    """Misreadings have no beginning in common."""


def _overlooked(event: Event, events: Sequence[Event]) -> None:
    return None


def _late(event: Event, events: Sequence[Event]) -> Event:
    name = next((name for name in ("due", "start") if event.values.get(name)), None)
    if name is None:
        raise Inapplicable
    return replace(event, values={**event.values, name: event.values[name] + dt.timedelta(days=1)})


def _elsewhere(event: Event, events: Sequence[Event]) -> Event:
    other = next((one.about for one in events if one.about is not event.about), None)
    if other is None:
        raise Inapplicable
    return replace(event, about=other)


_Change = Callable[[Event, Sequence[Event]], Event | None]
_CHANGES: Mapping[str, _Change] = {
    "overlooked": _overlooked,
    "read a day late": _late,
    "taken to be of another": _elsewhere,
}


class _Reader(Tools):
    """Tools that keep what they returned."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self.results: list[str] = []

    def look(self, service: str, tool: str, arguments: dict[str, Any]) -> list[str | Image]:
        blocks = self._tools.look(service, tool, arguments)
        self.results += [block for block in blocks if isinstance(block, str)]
        return blocks


def _about(cast: Cast) -> int:
    """About the tokens of what was cast."""
    return sum(_A_LINE + sum(len(said.text) for said in line.beats) // 4 for line in cast.lines)


def _filled(truth: Truth, answer: Answer) -> Truth:
    for name, fact in truth.definition.entities.items():
        given = [answer.singles[name]] if fact.single else answer.sets[name]
        made = []
        for number, values in enumerate(given):
            entity = Entity(truth, name, str(number), number)
            entity.drawn = dict(values)
            entity.known = dict(values)
            made.append(entity)
        if fact.single:
            truth.singles[name] = made[0]
        else:
            truth.sets[name] = made
    return truth


def _heard(events: Sequence[Event], derived: Sequence[Derivation], directory: Directory) -> list[Event]:
    """Events by the lists' own people and things, dated as they were told, in the channel in which they
    were."""
    told = {one.event: one for one in reversed(derived)}  # the first telling of each
    found = []
    for event in events:
        one = told.get(event.id)
        at = one.written if one else event.at
        values = dict(event.values)
        if one is not None:
            values["via"] = one.channel
        found.append(
            replace(
                event,
                at=at,
                about=directory.thing_of(getattr(event.about, "code", "")) or event.about,
                people=tuple(directory.people[who.email] for who in event.people),
                values={
                    name: directory.people[value.email] if isinstance(value, Person) else value
                    for name, value in values.items()
                },
            )
        )
    return sorted(found, key=lambda event: (event.at, event.id))
