"""Judges the answer that was submitted, exactly, and that the documents are as they were."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import delete, update

from mesocosm.checking import Check, Inapplicable, Mutant
from mesocosm.generators.lore_documents.expected import Expected, Step
from mesocosm.servers.documents.models import Document
from mesocosm.servers.documents.store import DocumentsStore
from mesocosm.servers.submit_answer.models import Answer
from mesocosm.servers.submit_answer.store import SubmitAnswerStore
from mesocosm.weaving import Value, evaluate
from mesocosm.world import World

_SHOWN = 200
"""Characters of a submitted answer that a finding repeats."""


def check(world: World, expected: Expected) -> list[Check]:
    """Whether there is an answer, whether it is right, and whether nothing else was changed."""
    answers = world.store(SubmitAnswerStore).answers()
    shown = ", ".join(repr(answer[:_SHOWN]) for answer in answers) or "nothing"
    changes = world.changes()
    others = [*changes.files_added, *changes.files_removed, *changes.files_changed]
    others += [f"{service}.{table}" for service, table in changes.tables if service != "submit_answer"]
    return [
        Check(name="submitted", passed=len(answers) == 1, detail=f"submitted: {shown}"),
        Check(
            name="answer",
            passed=answers == [expected.answer],
            detail=f"submitted: {shown}; the value is {expected.answer!r}",
        ),
        Check(name="documents", passed=not others, detail=f"changed: {', '.join(others)}" if others else ""),
    ]


# -- near misses -------------------------------------------------------------------------------------------
#
# Whoever applies a rule wrongly meets no document, and what is left to hand in is what was computed last.

Mistake = Callable[[Step], Value]


def _wrong_rule(mistake: Mistake) -> Callable[[World, Expected], None]:
    """Submits what the last operation yields at which the mistake makes a difference."""

    def apply(world: World, expected: Expected) -> None:
        for step in reversed(expected.steps):
            wrong = str(mistake(step))
            if wrong != step.result:
                _submit(world, wrong)
                return
        raise Inapplicable("the mistake makes no difference in this tree")

    return apply


def _instead(other: Callable[[Expected], str]) -> Callable[[World, Expected], None]:
    """Submits something else than the answer."""

    def apply(world: World, expected: Expected) -> None:
        answer = other(expected)
        if answer == expected.answer:
            raise Inapplicable("it is the same")
        _submit(world, answer)

    return apply


def _submit(world: World, answer: str) -> None:
    store = world.store(SubmitAnswerStore)
    store.session.execute(update(Answer).values(answer=answer))


def _minus_as_plus(step: Step) -> Value:
    return evaluate(step.expression.replace(" - ", " + "), step.values)


def _without_sign(step: Step) -> Value:
    result = evaluate(step.expression, step.values)
    return abs(result) if isinstance(result, int) else result


def _with_plus_sign(step: Step) -> Value:
    result = evaluate(step.expression, step.values)
    return f"{result:+d}" if isinstance(result, int) else result


def _other_order(step: Step) -> Value:
    return evaluate(step.expression, _renamed(step, step.variables[::-1]))


def _first_two_exchanged(step: Step) -> Value:
    first, second, *others = step.variables
    return evaluate(step.expression, _renamed(step, [second, first, *others]))


def _renamed(step: Step, names: list[str]) -> dict[str, Value]:
    """The values with the variables in another order."""
    return {old: step.values[new] for old, new in zip(step.variables, names, strict=True)}


def _off_by_one(step: Step) -> Value:
    result = evaluate(step.expression, step.values)
    return result + 1 if isinstance(result, int) else result


def _numbers_as_strings(step: Step) -> Value:
    if not all(isinstance(value, int) for value in step.values.values()):
        return step.result
    return "".join(str(step.values[name]) for name in step.variables)


def _one_left_out(step: Step) -> Value:
    """The last variable is overlooked."""
    nothing: Value = "" if isinstance(step.values[step.variables[-1]], str) else 0
    return evaluate(step.expression, {**step.values, step.variables[-1]: nothing})


def _documents_changed(world: World, expected: Expected) -> None:
    store = world.store(DocumentsStore)
    last = expected.steps[-1].document
    store.session.execute(update(Document).where(Document.id == last).values(title="read"))


def _nothing_submitted(world: World, expected: Expected) -> None:
    world.store(SubmitAnswerStore).session.execute(delete(Answer))


MUTANTS = [
    Mutant("minus taken for plus", "answer", _wrong_rule(_minus_as_plus)),
    Mutant("minus sign dropped", "answer", _wrong_rule(_without_sign)),
    Mutant("plus sign written", "answer", _wrong_rule(_with_plus_sign)),
    Mutant("operands in the opposite order", "answer", _wrong_rule(_other_order)),
    Mutant("two operands exchanged", "answer", _wrong_rule(_first_two_exchanged)),
    Mutant("off by one", "answer", _wrong_rule(_off_by_one)),
    Mutant("integers concatenated", "answer", _wrong_rule(_numbers_as_strings)),
    Mutant("an operand left out", "answer", _wrong_rule(_one_left_out)),
    Mutant("blank before", "answer", _instead(lambda e: f" {e.answer}")),
    Mutant("line break after", "answer", _instead(lambda e: f"{e.answer}\n")),
    Mutant("small letters", "answer", _instead(lambda e: e.answer.lower())),
    Mutant("capital letters", "answer", _instead(lambda e: e.answer.upper())),
    Mutant("in quotes", "answer", _instead(lambda e: f'"{e.answer}"')),
    Mutant("with its variable", "answer", _instead(lambda e: f"v0 = {e.answer}")),
    Mutant("identifier instead of value", "answer", _instead(lambda e: e.steps[-1].document)),
    Mutant("value of another root", "answer", _instead(lambda e: e.other_answer)),
    Mutant("last letter missing", "answer", _instead(lambda e: e.answer[:-1])),
    Mutant("nothing submitted", "submitted", _nothing_submitted),
    Mutant("a document changed", "documents", _documents_changed),
]
