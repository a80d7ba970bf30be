"""Looking at a small instance that is drawn without a world: what would make instances unfair or easy."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from mesocosm.families.quantities import show_length
from mesocosm.families.task import Task
from mesocosm.kits.yaml_tasks import evidence_proof, sizes
from mesocosm.kits.yaml_tasks.ambiguity import Ambiguity, rows_in
from mesocosm.kits.yaml_tasks.braces import words_of
from mesocosm.kits.yaml_tasks.complaints import Gap
from mesocosm.kits.yaml_tasks.definition import (
    Between,
    Definition,
    EntityType,
    Goal,
    Selection,
    SolutionStep,
    Statement,
)
from mesocosm.kits.yaml_tasks.derivation import missing_quotations, selections, spelt
from mesocosm.kits.yaml_tasks.entities import Read, Wrong, selects
from mesocosm.kits.yaml_tasks.grading import Wanted, wanted_of
from mesocosm.kits.yaml_tasks.letters import Sketches
from mesocosm.kits.yaml_tasks.placement import FactPlacement, Told
from mesocosm.kits.yaml_tasks.population import Filled
from mesocosm.kits.yaml_tasks.rendering import misfit
from mesocosm.kits.yaml_tasks.solution import Solution
from mesocosm.kits.yaml_tasks.truth import Truth
from mesocosm.kits.yaml_tasks.written import Start, YamlFamily
from mesocosm.services.calling import Tools
from mesocosm.services.patterns import BadPattern, Pattern
from mesocosm.services.words import Thing, Word, find_thing
from mesocosm.worlds.randomness import Dice

if TYPE_CHECKING:
    from mesocosm.services.service import Image

_BOUND = 0.15
"""Margin above chance by which a single non-content feature may reveal evidence: the area under the curve
less .5, plus two standard errors."""
_LEAST = 12
"""So many of each are needed to say so."""
_SAMPLE_TOKENS = 14_000


def _about(text: str) -> int:
    """Estimate the tokens of a text, without loading a tokenizer."""
    return len(text) // 4


class _Anything(dict[str, Any]):
    """A result that has whatever is read from it."""

    def __missing__(self, key: str) -> str:
        return key


class _Refusing(Tools):
    """Tools that take every call and do nothing."""

    def look(self, service: str, tool: str, arguments: dict[str, Any]) -> list[str | Image]:
        return ["{}"]

    def call(self, service: str, tool: str, **arguments: Any) -> Any:
        return _Anything()


Finding = tuple[tuple[Any, ...], Literal["error", "warning"], str]


class SmallInstance:
    """Draws a small instance, without a world, and looks at it."""

    def __init__(self, written: YamlFamily) -> None:
        self._written = written
        self._definition = written.definition
        streams = Start(Dice(written.path.stem, 0))
        growth = written.task.growth
        smallest = next(iter(growth.points.values()))
        params = written.Params(**{growth.parameter: max(smallest, min(12, growth.size_for(20_000)))})
        self._truth = written.draw(streams, params, streams.stream)
        self._teller = FactPlacement(self._definition, self._truth, streams.stream, _about, Sketches)

    def read(self) -> Iterator[Finding]:
        """Yield all findings."""
        sorts = list(dict.fromkeys(statement.what for statement in self._definition.evidence))
        self._teller.add_background(_SAMPLE_TOKENS // 2)
        self._teller.pretend()
        self._truth.forget()  # so that each statement is seen to read all that it follows from
        told = {what: list(self._told(what)) for what in sorts}
        wanted = wanted_of(self._definition, self._truth)
        yield from self._goals(wanted)
        Solution(self._definition, self._truth, _Refusing()).make()
        yield from self._underived(told, wanted)
        yield from self._needless(told)
        yield from self._to_come(told)
        yield from self._unscaled()
        yield from self._short()
        everything = [one for ones in told.values() for one in ones]
        advised = advice_on(self._definition, self._written.task, self._truth, everything)
        yield from ((gap.keys, "warning", gap.message) for gap in advised)
        apart = Ambiguity(self._definition, self._truth, everything)
        yield from ((gap.keys, "error", gap.message) for gap in apart.untold())
        yield from ((gap.keys, "warning", gap.message) for gap in apart.doubtful())
        for what, things in told.items():
            yield from self._sticks_out(what, things)

    def _told(self, what: str) -> Iterator[Told]:
        yield from self._teller.told(what, background=False)
        yield from self._teller.told(what, background=True)

    def _is_alternative(self, goal: Goal) -> bool:
        """True if it is wanted in some instances only: a condition on a type's only entity."""
        fact = self._definition.entities.get(goal.for_ or "")
        return fact is not None and goal.where is not None and fact.count in (None, 1)

    def _goals(self, wanted: Sequence[Any]) -> Iterator[Finding]:
        for index, goal in enumerate(self._definition.goal):
            rows = [one for one in wanted if one.goal is goal]
            if not rows and not self._is_alternative(goal):
                yield ("goal", index), "warning", "in a sample nothing is wanted"
            yield from _no_patterns(goal, index, rows)
            yield from _unmeetable(goal, index, rows)
            keys = [str([one.fields[name] for name in one.key]) for one in rows]
            if len(set(keys)) < len(keys):
                yield ("goal", index), "warning", f"two rows have the same {', '.join(rows[0].key)}"

    def _underived(self, told: Mapping[str, Sequence[Told]], wanted: Sequence[Wanted]) -> Iterator[Finding]:
        """Yield values that do not follow from the texts, and contradictions to the prompt."""
        things = [one for ones in told.values() for one in ones]
        filled = Filled(
            told=[one for one in things if one.evidence],
            once=[one for one in things if one.entity is None],
            beside=[one for one in things if one.entity is not None and not one.evidence],
        )
        with self._truth.watched() as reads:
            prompt = self._written.prompt_of(self._truth)
        derived = self._written.derived(self._truth, filled, prompt, reads)
        if (
            self._written.reads
        ):  # what it makes of what it reads is not known: that there is something to read is
            yield from self._unstated(filled, reads)
        else:
            texts = ["\n".join(spelt(one.fields)) for one in things]
            for gap in [*derived.gaps, *missing_quotations(derived, texts)]:
                yield gap.keys, "error" if gap.untold else "warning", gap.message
        yield from ((gap.keys, "warning", gap.message) for gap in derived.asked)

    def _unstated(self, filled: Filled, prompt: set[Read]) -> Iterator[Finding]:
        seen = set()
        for service, _, what in evidence_proof.needed(self._definition, self._truth, filled, prompt):
            label, _, field = what.partition(": ")
            keys = "entities", label.split()[0], "fields", field
            if not service and keys not in seen:
                seen.add(keys)
                yield keys, "error", f"the goal needs it and no evidence tells it ({label})"

    def _needless(self, told: Mapping[str, Sequence[Told]]) -> Iterator[Finding]:
        """Statements about facts that no goal needs, which would count as evidence."""
        if self._written.task.python:
            return  # what that needs is not known
        self._truth.forget()
        with self._truth.watched() as reads:
            wanted_of(self._definition, self._truth)
            self._written.prompt_of(self._truth)
        needed = {entity.fact for entity, _ in reads}
        for goal in self._definition.goal:
            needed |= {one.for_ for one in (goal, *rows_in(goal.fields)) if one.for_}
        facts = self._definition.entities
        for _ in facts:
            needed |= {str(it.parent) for name, it in facts.items() if name in needed and it.parent}
            needed |= {name for name, it in facts.items() if it.parent in needed}
        counting = {id(one.statement) for things in told.values() for one in things if one.evidence}
        for index, statement in enumerate(self._definition.evidence):
            if statement.for_ and statement.for_ not in needed and id(statement) in counting:
                message = f"the goal needs no {statement.for_}: say `matters: false` of what is read past"
                yield ("evidence", index), "warning", message

    def _to_come(self, told: Mapping[str, Sequence[Told]]) -> Iterator[Finding]:
        """Yield texts dated in the future."""
        now, seen = self._truth.now, set[int]()
        for what, things in told.items():
            thing = find_thing(what)
            if thing is None or thing.when is None:
                continue
            word = thing.says.get(thing.when)
            if word is None or not word.required or word.shape != "moment":
                continue  # such as an event, or what is due
            for one in things:
                moment, told_by = one.fields.get(thing.when), id(one.statement)
                if isinstance(moment, dt.datetime) and moment > now and told_by not in seen and one.statement:
                    seen.add(told_by)
                    index = next(n for n, it in enumerate(self._definition.evidence) if it is one.statement)
                    label = f"{one.entity.label}: " if one.entity else ""
                    message = f"{label}{moment:%Y-%m-%d %H:%M} is still to come (now is {now:%Y-%m-%d %H:%M})"
                    yield ("evidence", index, what, thing.when), "warning", message

    def _unscaled(self) -> Iterator[Finding]:
        task = self._written.task
        grows, facts = task.growth.parameter, self._definition.entities.values()
        counts = [str(one) for fact in facts for one in _amounts(fact)]
        if not task.python and not any(re.search(rf"\b{re.escape(grows)}\b", count) for count in counts):
            message = f"no count, share or weight names {grows!r}, so that what counts does not grow"
            yield ("growth", "parameter"), "warning", message

    def _short(self) -> Iterator[Finding]:
        """Yield what does not fit the shortest length, and cases that may not occur in it."""
        task = self._written.task
        if (found := sizes.too_long(self._written)) is not None:
            length, size, tokens, possible = found
            label = show_length(length)
            mend = f"lower that: growth: {{points: {{{label}: {possible}}}}}"
            if not possible:
                longer = f"lengths: [{show_length(2 * length)}]"
                mend = f"write {longer}, or leave cases out of it: share: 1 if size > {size} else 0"
            message = f"{size} of what counts take about {tokens / 1000:.1f}k tokens at a length of {label}"
            yield (
                ("growth", "points"),
                "warning",
                f"{message}, so that it is below the minimum of some seeds; {mend}",
            )
        for fact, case, times in sizes.rare(self._written):
            message = f"at a length of {show_length(min(task.lengths))} no {fact} is {case} in {times} of"
            mend = "raise its share or `count`, or make it a case of what these belong to"
            yield ("entities", fact, "cases", case), "warning", f"{message} {sizes.TRIED} instances: {mend}"

    def _sticks_out(self, what: str, told: Sequence[Told]) -> Iterator[Finding]:
        thing = find_thing(what)
        assert thing is not None
        things = list(told)
        if what in self._definition.noise:
            things += self._teller.everyday(what, told, _SAMPLE_TOKENS // 3, exactly=False)
        marks = [one.evidence for one in things]
        if min(sum(marks), len(marks) - sum(marks)) < _LEAST:
            return
        for feature, values in _features(things, thing).items():
            area = _area(values, marks)
            ones, others = sum(marks), len(marks) - sum(marks)
            chance = 2 * math.sqrt((ones + others + 1) / (12 * ones * others))
            if abs(area - 0.5) > _BOUND + chance:
                index = next(n for n, one in enumerate(self._definition.evidence) if one.what == what)
                message = (
                    f"{feature} alone tells what counts from what does not (area {max(area, 1 - area):.2f})"
                )
                yield ("evidence", index, what), "warning", message


def _amounts(fact: EntityType) -> Iterator[Any]:
    """Yield the expressions for the number of entities, cases and distractors."""
    yield from (fact.count.least, fact.count.most) if isinstance(fact.count, Between) else (fact.count,)
    yield from (kind.share for kind in fact.cases.values())
    yield from (like.weight for like in fact.distractors.values())


def _no_patterns(goal: Any, index: int, rows: Sequence[Any]) -> Iterator[Finding]:
    for name in goal.fields:
        for one in rows:
            value = one.fields.get(name)
            for way in ("matches", "only"):
                if isinstance(value, Mapping) and way in value:
                    try:
                        Pattern(str(value[way]))
                    except BadPattern as error:
                        message = f"{str(value[way])[:200]!r} is no pattern: {error}"
                        yield ("goal", index, goal.what, name, way), "error", message
                        return


def _unmeetable(goal: Goal, index: int, rows: Sequence[Any]) -> Iterator[Finding]:
    """Fields that are to have a value which they cannot have."""
    thing = find_thing(goal.what)
    assert thing is not None
    for name in goal.fields:
        problems = (
            problem
            for one in rows
            for value in _possible_values(one.fields.get(name))
            if (problem := _impossible(thing.judges[name], value))
        )
        if problem := next(problems, None):
            yield ("goal", index, goal.what, name), "error", problem


def _possible_values(value: Any) -> Sequence[Any]:
    values = value.get("one_of", ()) if isinstance(value, Mapping) else [value]
    return values if isinstance(values, (list, tuple)) else [values]


def _impossible(word: Word, value: Any) -> str | None:
    """Explain why a field cannot have a value. Numbers and moments may be texts."""
    if value is None or isinstance(value, (Mapping, list, tuple)):
        return None
    if isinstance(value, str):
        try:
            match word.shape:
                case "moment" | "date":
                    dt.datetime.fromisoformat(value)
                    return None
                case "number":
                    float(value)
                    return None
        except ValueError:
            pass
    if word.choices or word.shape in ("moment", "date", "number", "flag"):
        return misfit(word, value)
    return None


def _features(things: Sequence[Told], thing: Thing) -> dict[str, list[float]]:
    """Return the features of things that are visible without reading them, except ids, which the service
    assigns.
    """
    found: dict[str, list[float]] = {}
    text, when = thing.text, thing.when
    if text:
        found["the length of its text"] = [float(_about(str(one.fields.get(text, "")))) for one in things]
    if when:
        moments = [one.fields.get(when) for one in things]
        if all(isinstance(moment, dt.datetime) for moment in moments):
            found["the hour"] = [m.hour + m.minute / 60 for m in moments if isinstance(m, dt.datetime)]
            found["the day"] = [m.timestamp() for m in moments if isinstance(m, dt.datetime)]
            found["the day of the week"] = [m.weekday() for m in moments if isinstance(m, dt.datetime)]
    ids = {name for name, word in thing.says.items() if word.shape == "data"}
    names = {name for one in things for name in one.fields} - ids
    for name in sorted(names):
        values = [one.fields.get(name) for one in things]
        found[f"whether {name} is set"] = [float(bool(value)) for value in values]
        if all(isinstance(value, (bool, int, float)) for value in values):
            found[f"the size of {name}"] = [float(value) for value in values if value is not None]
        elif name not in (text,) and all(isinstance(value, str) for value in values):
            found[f"the length of {name}"] = [float(len(str(value))) for value in values]
            found[f"the digits of {name}"] = [sum(map(str.isdigit, str(value))) for value in values]
    return found


def _area(values: Sequence[float], marks: Sequence[bool]) -> float:
    """The area under the curve of a single value: how often a marked one is above one that is not."""
    ordered = sorted(range(len(values)), key=lambda n: values[n])
    ranks = [0.0] * len(values)
    start = 0
    while start < len(ordered):
        end = start
        while end + 1 < len(ordered) and values[ordered[end + 1]] == values[ordered[start]]:
            end += 1
        for place in range(start, end + 1):
            ranks[ordered[place]] = (start + end) / 2 + 1
        start = end + 1
    ones = sum(marks)
    above = sum(rank for rank, mark in zip(ranks, marks, strict=True) if mark) - ones * (ones + 1) / 2
    return above / (ones * (len(marks) - ones))


# -- what makes instances easy or a solution wrong ----------------------------------------------------------

_SHOUTED = re.compile(r"!{2,}|\*{2,}|\b(?:ASAP|ATTN|NOTE|READ|N\.B\.)|\b[A-Z]{6,}\b")
_WORD = re.compile(r"[^\W\d_]{2,}")
_CLAIM = "claim_done"
_SUBMIT = "submit_answer"
_ANSWER = "submit_answer.answer"


def advice_on(definition: Definition, task: Task, truth: Truth, told: Sequence[Told]) -> Iterator[Gap]:
    """Everything there is to warn of."""
    yield from _unclaimed(definition, task)
    if not task.python and not any(one.entity is not None and not one.evidence for one in told):
        yield from _without_distractors(definition, truth)
    counting = [one.statement for one in told if one.evidence and one.entity is not None]
    for index, statement in enumerate(definition.evidence):
        if any(one is statement for one in counting):
            yield from _of_one_wording(statement, index)
            yield from _shouting(statement, index)
    yield from _other_cases(definition)


def _unclaimed(definition: Definition, task: Task) -> Iterator[Gap]:
    """Tasks that do not end as others do."""
    if any(goal.what == _ANSWER for goal in definition.goal):
        if _SUBMIT not in task.prompt:
            yield Gap(("prompt",), f"it does not say that {_SUBMIT} is to be called in the end")
        return
    if _CLAIM not in task.servers:
        yield Gap(("servers",), "there is no claim_done: all; an agent cannot say that it is finished")
        return
    if not any(step.what == f"{_CLAIM}.{_CLAIM}" for step in definition.solution):
        yield Gap(("solution",), "the last step is missing: - claim_done.claim_done: {}")
    if _CLAIM not in task.prompt:
        yield Gap(("prompt",), "it does not say that claim_done is to be called in the end")


def _without_distractors(definition: Definition, truth: Truth) -> Iterator[Gap]:
    """Yield entity types without anything irrelevant, in tasks where they are all there is."""
    for fact in dict.fromkeys(one.for_ for one in selections(definition) if one.for_):
        it = definition.entities.get(fact)
        if it is None or it.parent is not None or it.fills or not truth.sets.get(fact):
            continue
        own = [one for one in selections(definition) if one.for_ == fact]
        if all(_chooses(one, entity) for one in own for entity in truth.sets[fact]):
            message = f"each {fact} that is told counts, so that none has to be told from others"
            yield Gap(
                ("entities", fact), f"{message}: give it distractors, or a case that the goal leaves out"
            )


def _chooses(one: Selection, entity: Any) -> bool:
    try:
        return selects(one, entity)
    except Wrong:
        return True


def _of_one_wording(statement: Statement, index: int) -> Iterator[Gap]:
    """Yield evidence with a single wording: having seen one, a filter finds all."""
    thing = find_thing(statement.what)
    if thing is None or thing.text is None or thing.text not in statement.fields:
        return
    wordings = statement.fields[thing.text]
    wordings = wordings if isinstance(wordings, list) else [wordings]
    if len(wordings) > 1 or not isinstance(wordings[0], str):
        return
    plain = words_of(wordings[0])
    if "|" not in plain and "choice(" not in wordings[0] and len(_WORD.findall(plain)) > 2:
        message = "it is worded in one way only: write a list of some, or {Could|May} we {come|visit}"
        yield Gap(("evidence", index, statement.what, thing.text), message)


def _shouting(statement: Statement, index: int) -> Iterator[Gap]:
    """Words that nobody has to read to see that something matters."""
    thing = find_thing(statement.what)
    for name in (thing.title, thing.text) if thing else ():
        wordings = statement.fields.get(name or "")
        for wording in wordings if isinstance(wordings, list) else [wordings]:
            if isinstance(wording, str) and (found := _SHOUTED.search(words_of(wording))):
                shown = " ".join(words_of(wording)[max(0, found.start() - 20) : found.end() + 5].split())
                message = f"{shown!r} sticks out: everyday text around it has nothing of the kind"
                yield Gap(("evidence", index, statement.what, str(name)), message)
                break


def _other_cases(definition: Definition) -> Iterator[Gap]:
    """Steps of the solution for cases that the goal is not for, and goals for cases without a step."""
    for fact in dict.fromkeys(step.for_ for step in definition.solution if step.for_):
        wanted = _cases(definition, [one for one in selections(definition) if one.for_ == fact], fact)
        made = _cases(definition, [one for one in definition.solution if one.for_ == fact], fact)
        if not wanted or not made:
            continue
        steps = [(index, step) for index, step in enumerate(definition.solution) if step.for_ == fact]
        for index, step in steps:
            if further := [kind for kind in _cases(definition, [step], fact) if kind not in wanted]:
                message = f"it is made for each {fact} that is {' or '.join(further)}, which no goal is for"
                yield Gap(("solution", index), message)
        # Rows of a file are written for all by a step that is for none.
        singly = _cases(definition, [one for one in definition.goal if one.for_ == fact], fact)
        if lacking := [kind for kind in singly if kind not in made]:
            message = f"a goal is for each {fact} that is {' or '.join(lacking)}, and no step is"
            yield Gap(("solution", steps[0][0]), message)


def _cases(
    definition: Definition, chosen: Sequence[Selection] | Sequence[SolutionStep], fact: str
) -> dict[str, None]:
    counting = definition.entities[fact].cases_with(background=False) if fact in definition.entities else []
    return {kind: None for kind in counting if any(one.cases is None or kind in one.cases for one in chosen)}
