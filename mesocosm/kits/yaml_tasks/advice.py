"""Checks for what makes instances easy or a solution wrong: each is a warning of `mesocosm lint`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from mesocosm.families.task import Task
from mesocosm.kits.yaml_tasks.braces import words_of
from mesocosm.kits.yaml_tasks.definition import Definition, Selection, Statement, Step
from mesocosm.kits.yaml_tasks.derivation import selections
from mesocosm.kits.yaml_tasks.entities import Wrong, selects
from mesocosm.kits.yaml_tasks.gaps import Gap
from mesocosm.kits.yaml_tasks.placement import Told
from mesocosm.kits.yaml_tasks.truth import Truth
from mesocosm.services.words import find_thing

_SHOUTED = re.compile(r"!{2,}|\*{2,}|\b(?:ASAP|ATTN|NOTE|READ|N\.B\.)|\b[A-Z]{6,}\b")
_WORD = re.compile(r"[^\W\d_]{2,}")
_CLAIM = "claim_done"
_SUBMIT = "submit_answer"
_ANSWER = "submit_answer.answer"


def advice(definition: Definition, task: Task, truth: Truth, told: Sequence[Told]) -> Iterator[Gap]:
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
    definition: Definition, chosen: Sequence[Selection] | Sequence[Step], fact: str
) -> dict[str, None]:
    """The cases with a share that some selections are for."""
    counting = definition.entities[fact].cases_with(background=False) if fact in definition.entities else []
    return {kind: None for kind in counting if any(one.cases is None or kind in one.cases for one in chosen)}
