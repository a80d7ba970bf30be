"""Judges the answer that was submitted, exactly, and that the modules are as they were."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from itertools import islice

from sqlalchemy import update

from mesocosm.families.verdict import Check, Inapplicable, Mutant
from mesocosm.generators.lore_code.expected import Expected, Step
from mesocosm.kits.answers import INEXACT, instead, judge_answer, submit
from mesocosm.kits.weaving.operators.asynchronous import Asynchronous, SharedScore
from mesocosm.servers.documents.models import Document
from mesocosm.servers.documents.store import DocumentsStore
from mesocosm.services.world import World

_REMAINDER = re.compile(r"^\((?P<of>.*)\) % (?P<modulus>\d+)$")
_TRIED = 40
"""Operations at which a mistake is made until one makes a difference."""


def check(world: World, expected: Expected) -> list[Check]:
    """Check that there is an answer, that it is right, and that nothing else changed."""
    return judge_answer(world, expected.answer)


# -- near misses -------------------------------------------------------------------------------------------
#
# One operation done wrongly, and everything after it done right.

Values = Mapping[str, int]
Mistake = Callable[[Step, Values], int | None]
"""Result of a mistaken step; ``None`` if the mistake cannot be made."""


def _wrong_step(mistake: Mistake) -> Callable[[World, Expected], None]:
    """Submits what the program would return if one step gave what the mistake yields."""

    def apply(world: World, expected: Expected) -> None:
        values = _computed(expected, {})
        wrongs = ((step, mistake(step, values)) for step in reversed(expected.steps))
        made = ((step, wrong) for step, wrong in wrongs if wrong not in (None, values[step.module]))
        for step, wrong in islice(made, _TRIED):
            assert wrong is not None
            answer = str(_computed(expected, {step.module: wrong})["main"])
            if answer != expected.answer:
                submit(world, answer)
                return
        raise Inapplicable("the mistake makes no difference in this program")

    return apply


def _wrong_leaf(mistake: Callable[[int], int]) -> Callable[[World, Expected], None]:
    """Submits what the program would return if one module were misread."""

    def apply(world: World, expected: Expected) -> None:
        for name, value in expected.leaves.items():
            answer = str(_computed(expected, {name: mistake(value)})["main"])
            if answer != expected.answer:
                submit(world, answer)
                return
        raise Inapplicable("the mistake makes no difference in this program")

    return apply


def _computed(expected: Expected, wrong: Values) -> dict[str, int]:
    """Return every module's result, if some return wrong ones."""
    values = {**expected.leaves, **wrong}
    for step in expected.steps:
        if step.module not in wrong:
            values[step.module] = step.value(values)
    return values


def _reworded(step: Step, values: Values, expression: str) -> int | None:
    if expression == step.expression:
        return None
    return step.model_copy(update={"expression": expression}).value(values)


def _minus_as_plus(step: Step, values: Values) -> int | None:
    return _reworded(step, values, step.expression.replace(" - ", " + "))


def _exchanged(step: Step, values: Values) -> int | None:
    """The first two operands are exchanged."""
    if len(step.variables) < 2:
        return None
    first, second, *_ = step.variables
    return step.value({**values, first: values[second], second: values[first]})


def _other_branch(step: Step, values: Values) -> int | None:
    spare = step.load().spare
    return values[step.variables[-spare]] if spare else None


def _from_left_to_right(step: Step, values: Values) -> int | None:
    """Multiplication does not come first."""
    inner = _REMAINDER.match(step.expression)
    flat = re.fullmatch(r"v\d+(?: [-+*] \w+)+", inner["of"] if inner else step.expression)
    if not flat:
        return None
    first, *parts = re.split(r" (?=[-+*] )", flat[0])
    nested = first
    for part in parts:
        nested = f"({nested}) {part}"
    return _reworded(step, values, f"({nested}) % {inner['modulus']}" if inner else nested)


def _no_remainder(step: Step, values: Values) -> int | None:
    inner = _REMAINDER.match(step.expression)
    return _reworded(step, values, inner["of"]) if inner else None


def _remainder_toward_zero(step: Step, values: Values) -> int | None:
    """The remainder has the sign of the dividend, as in C."""
    total, inner = _no_remainder(step, values), _REMAINDER.match(step.expression)
    return None if total is None or inner is None else int(math.fmod(total, int(inner["modulus"])))


def _score(step: Step) -> SharedScore | None:
    return SharedScore.parse(step.expression) if isinstance(step.load(), Asynchronous) else None


def _one_after_the_other(step: Step, values: Values) -> int | None:
    score = _score(step)
    return score.perform(values, in_turn=True) if score else None


def _nothing_lost(step: Step, values: Values) -> int | None:
    score = _score(step)
    return score.perform(values, nothing_lost=True) if score else None


def _as_at_first(step: Step, values: Values) -> int | None:
    """Compute a step as if earlier assignments to shared numbers were overlooked."""
    if step.found == step.shared:
        return None
    return _reworded(step, values, re.sub(rf"\b{step.found}\b", step.shared, step.expression))


def _document_changed(world: World, expected: Expected) -> None:
    store = world.store(DocumentsStore)
    store.session.execute(update(Document).where(Document.id == "main.py").values(title="read"))


def _sign_turned(expected: Expected) -> str:
    return str(-int(expected.answer))


MUTANTS = [
    *INEXACT,
    Mutant("minus taken for plus", "answer", _wrong_step(_minus_as_plus)),
    Mutant("two operands exchanged", "answer", _wrong_step(_exchanged)),
    Mutant("the other branch taken", "answer", _wrong_step(_other_branch)),
    Mutant("no precedence of multiplication", "answer", _wrong_step(_from_left_to_right)),
    Mutant("remainder left out", "answer", _wrong_step(_no_remainder)),
    Mutant("remainder with the sign of the dividend", "answer", _wrong_step(_remainder_toward_zero)),
    Mutant("tasks performed one after the other", "answer", _wrong_step(_one_after_the_other)),
    Mutant("no update lost", "answer", _wrong_step(_nothing_lost)),
    Mutant("a shared number as at first", "answer", _wrong_step(_as_at_first)),
    Mutant("an operation off by one", "answer", _wrong_step(lambda step, values: values[step.module] + 1)),
    Mutant("a number misread by one", "answer", _wrong_leaf(lambda value: value + 1)),
    Mutant("digits of a number exchanged", "answer", _wrong_leaf(lambda value: int(str(abs(value))[::-1]))),
    Mutant("sign turned", "answer", instead(_sign_turned)),
    Mutant("value of another module", "answer", instead(lambda e: e.other_answer)),
    Mutant("plus sign before", "answer", instead(lambda e: f"+{e.answer}")),
    Mutant("as a decimal fraction", "answer", instead(lambda e: f"{e.answer}.0")),
    Mutant("in words", "answer", instead(lambda e: f"main() returns {e.answer}")),
    Mutant("a module changed", "documents", _document_changed),
]
