"""What makes instances of a file easy, or its solution wrong: each is a warning of `mesocosm lint`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from mesocosm.families.task import Task
from mesocosm.kits.yaml_tasks.definition import Definition, Selection, Statement, Step
from mesocosm.kits.yaml_tasks.deriving import selections
from mesocosm.kits.yaml_tasks.entities import Wrong, selects
from mesocosm.kits.yaml_tasks.facts import Truth
from mesocosm.kits.yaml_tasks.gaps import Gap
from mesocosm.kits.yaml_tasks.telling import Told
from mesocosm.services.words import find_thing

_EXPRESSION = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
_OPTION = re.compile(r"\{[^{}]*\|[^{}]*\}")
_SHOUTED = re.compile(r"!{2,}|\*{2,}|\b(?:ASAP|ATTN|NOTE|READ|N\.B\.)|\b[A-Z]{6,}\b")
_WORD = re.compile(r"[^\W\d_]{2,}")
_CLAIM = "claim_done"


def advice(definition: Definition, task: Task, truth: Truth, told: Sequence[Told]) -> Iterator[Gap]:
    """Everything there is to warn of."""
    yield from _unclaimed(definition, task)
    if not task.python and not any(one.entity is not None and not one.evidence for one in told):
        yield from _without_distractors(definition, truth)
    counting = [one.statement for one in told if one.evidence and one.entity is not None]
    for index, statement in enumerate(definition.statements):
        if any(one is statement for one in counting):
            yield from _of_one_wording(statement, index)
            yield from _shouting(statement, index)
    yield from _other_cases(definition)


def _unclaimed(definition: Definition, task: Task) -> Iterator[Gap]:
    """Tasks that do not end as others do."""
    if _CLAIM not in task.servers:
        yield Gap(("servers",), "there is no claim_done: all; an agent cannot say that it is finished")
        return
    if not any(step.what == f"{_CLAIM}.{_CLAIM}" for step in definition.walk):
        yield Gap(("walk",), "the last step is missing: - claim_done.claim_done: {}")
    if _CLAIM not in task.prompt:
        yield Gap(("prompt",), "it does not say that claim_done is to be called in the end")


def _without_distractors(definition: Definition, truth: Truth) -> Iterator[Gap]:
    """Facts of which all that is told counts, in tasks that tell of nothing else."""
    for fact in dict.fromkeys(one.for_ for one in selections(definition) if one.for_):
        it = definition.facts.get(fact)
        if it is None or it.of is not None or it.fills or not truth.sets.get(fact):
            continue
        own = [one for one in selections(definition) if one.for_ == fact]
        if all(_chooses(one, entity) for one in own for entity in truth.sets[fact]):
            message = f"each {fact} that is told counts, so that none has to be told from others"
            yield Gap(("facts", fact), f"{message}: give it lookalikes, or a case that the goal leaves out")


def _chooses(one: Selection, entity: Any) -> bool:
    try:
        return selects(one, entity)
    except Wrong:
        return True


def _of_one_wording(statement: Statement, index: int) -> Iterator[Gap]:
    """Statements that say the same words each time: who has seen one finds all."""
    thing = find_thing(statement.what)
    if thing is None or thing.text is None or thing.text not in statement.fields:
        return
    wordings = statement.fields[thing.text]
    wordings = wordings if isinstance(wordings, list) else [wordings]
    if len(wordings) > 1 or not isinstance(wordings[0], str):
        return
    plain = _EXPRESSION.sub("", wordings[0])
    if "|" not in plain and "one_of(" not in wordings[0] and len(_WORD.findall(plain)) > 2:
        message = "it is worded in one way only: write a list of some, or {Could|May} we {come|visit}"
        yield Gap(("statements", index, statement.what, thing.text), message)


def _shouting(statement: Statement, index: int) -> Iterator[Gap]:
    """Words that nobody has to read to see that something matters."""
    thing = find_thing(statement.what)
    for name in (thing.title, thing.text) if thing else ():
        wordings = statement.fields.get(name or "")
        for wording in wordings if isinstance(wordings, list) else [wordings]:
            if isinstance(wording, str) and (found := _SHOUTED.search(_EXPRESSION.sub("", wording))):
                shown = " ".join(
                    _EXPRESSION.sub("", wording)[max(0, found.start() - 20) : found.end() + 5].split()
                )
                message = f"{shown!r} sticks out: everyday text around it has nothing of the kind"
                yield Gap(("statements", index, statement.what, str(name)), message)
                break


def _other_cases(definition: Definition) -> Iterator[Gap]:
    """Steps of the walk for cases that the goal is not for, and goals for cases without a step."""
    for fact in dict.fromkeys(step.for_ for step in definition.walk if step.for_):
        wanted = _cases(definition, [one for one in selections(definition) if one.for_ == fact], fact)
        made = _cases(definition, [one for one in definition.walk if one.for_ == fact], fact)
        if not wanted or not made:
            continue
        steps = [(index, step) for index, step in enumerate(definition.walk) if step.for_ == fact]
        for index, step in steps:
            if further := [kind for kind in _cases(definition, [step], fact) if kind not in wanted]:
                message = f"it is made for each {fact} that is {' or '.join(further)}, which no goal is for"
                yield Gap(("walk", index), message)
        if lacking := [kind for kind in wanted if kind not in made]:
            message = f"a goal is for each {fact} that is {' or '.join(lacking)}, and no step is"
            yield Gap(("walk", steps[0][0]), message)


def _cases(
    definition: Definition, chosen: Sequence[Selection] | Sequence[Step], fact: str
) -> dict[str, None]:
    """The cases with a share that some selections are for."""
    counting = definition.facts[fact].kinds_with(background=False) if fact in definition.facts else []
    return {kind: None for kind in counting if any(one.kinds is None or kind in one.kinds for one in chosen)}
