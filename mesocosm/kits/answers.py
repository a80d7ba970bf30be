"""Judging an answer that is a value: exactly, and that nothing else was changed; and its near misses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from sqlalchemy import delete, update

from mesocosm.families.verdict import Check, Inapplicable, Mutant, finding
from mesocosm.kits.damage import touched_files, touched_services
from mesocosm.servers.submit_answer.models import Answer
from mesocosm.servers.submit_answer.store import SubmitAnswerStore
from mesocosm.services.world import World
from mesocosm.worlds.changes import TableChanges

_SHOWN = 200
"""Characters of a submitted answer that a finding repeats."""


class HasAnswer(Protocol):
    """Expected data with an answer, which is a value."""

    answer: str


E = TypeVar("E", bound=HasAnswer)


def judge_answer(
    world: World,
    right: str,
    *,
    is_harmless: Callable[[str, str, TableChanges], bool] = lambda service, table, changes: False,
) -> list[Check]:
    """Check that there is one answer, that it is right, and that no document changed.

    Args:
        world: The final state.
        right: The answer.
        is_harmless: ``is_harmless(service, table, changes)`` says which changes the tools may have made.
    """
    answers = world.store(SubmitAnswerStore).answers()
    shown = ", ".join(repr(answer[:_SHOWN]) for answer in answers) or "nothing"
    changes = world.changes()
    others = [*touched_files(changes), *touched_services(world, changes, ["submit_answer"], is_harmless)]
    return [
        Check(name="submitted", passed=len(answers) == 1, detail=f"submitted: {shown}"),
        Check(
            name="answer",
            passed=answers == [right],
            detail=f"submitted: {shown}; the value is {right!r}",
        ),
        finding("documents", others),
    ]


def submit(world: World, answer: str) -> None:
    """Put another answer in the place of the one that was submitted."""
    world.store(SubmitAnswerStore).session.execute(update(Answer).values(answer=answer))


def instead(other: Callable[[E], str]) -> Callable[[World, E], None]:
    """A mutant's change: something else is submitted than the answer."""

    def apply(world: World, expected: E) -> None:
        answer = other(expected)
        if answer == expected.answer:
            raise Inapplicable("it is the same")
        submit(world, answer)

    return apply


def _nothing_submitted(world: World, expected: HasAnswer) -> None:
    world.store(SubmitAnswerStore).session.execute(delete(Answer))


INEXACT = [
    Mutant("blank before", "answer", instead(lambda expected: f" {expected.answer}")),
    Mutant("line break after", "answer", instead(lambda expected: f"{expected.answer}\n")),
    Mutant("last letter missing", "answer", instead(lambda expected: expected.answer[:-1])),
    Mutant("nothing submitted", "submitted", _nothing_submitted),
]
"""Mutants that every such task has."""
