"""Judges an answer about a history by the rules of the kit, and that nothing was changed."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import delete, update

from mesocosm.families.verdict import Check, Inapplicable, Mutant, finding
from mesocosm.generators.puzzle_history import Expected
from mesocosm.kits.answers import submit
from mesocosm.kits.damage import touched_files, touched_services
from mesocosm.kits.rollouts.predictions import told
from mesocosm.kits.rollouts.scores import answer_in, score
from mesocosm.servers.history.models import Message
from mesocosm.servers.history.store import HistoryStore
from mesocosm.servers.submit_answer.models import Answer
from mesocosm.servers.submit_answer.store import SubmitAnswerStore
from mesocosm.services.world import World


def check(world: World, expected: Expected) -> list[Check]:
    """Check that there is an answer, that it is entirely right, and that nothing else changed."""
    answers = world.store(SubmitAnswerStore).answers()
    said = answers[0] if len(answers) == 1 else ""
    worth = score(answer_in(said) or said, expected.answer, expected.kind)
    shown = f"submitted {said!r:.200}; the answer is {', '.join(expected.answer)!r:.200}"
    changes = world.changes()
    others = [*touched_files(changes), *touched_services(world, changes, ["submit_answer"])]
    return [
        Check(name="submitted", passed=len(answers) == 1, detail=f"{len(answers)} answers"),
        Check(name="answer", passed=worth == 1.0, detail=told(worth, shown)),
        finding("history", others),
    ]


# -- near misses -------------------------------------------------------------------------------------------


def _says(other: Callable[[Expected], str]) -> Callable[[World, Expected], None]:
    def apply(world: World, expected: Expected) -> None:
        submit(world, other(expected))

    return apply


def _for(*kinds: str) -> Callable[[Callable[[Expected], str]], Callable[[Expected], str]]:
    """Only for answers of these kinds."""

    def limit(other: Callable[[Expected], str]) -> Callable[[Expected], str]:
        def say(expected: Expected) -> str:
            if expected.kind not in kinds:
                raise Inapplicable(f"the answer is a {expected.kind}")
            return other(expected)

        return say

    return limit


def _without_one(expected: Expected) -> str:
    if len(expected.answer) < 2:
        raise Inapplicable("there is one name")
    return ", ".join(expected.answer[:-1])


def _nothing_submitted(world: World, expected: Expected) -> None:
    world.store(SubmitAnswerStore).session.execute(delete(Answer))


def _message_changed(world: World, expected: Expected) -> None:
    last = world.store(HistoryStore).size() - 1
    world.store(HistoryStore).session.execute(update(Message).where(Message.id == last).values(body="-"))


def _message_removed(world: World, expected: Expected) -> None:
    last = world.store(HistoryStore).size() - 1
    world.store(HistoryStore).session.execute(delete(Message).where(Message.id == last))


MUTANTS = [
    Mutant("nothing submitted", "submitted", _nothing_submitted),
    Mutant("does not know", "answer", _says(lambda e: "I do not know")),
    Mutant("hedged", "answer", _says(lambda e: f"{', '.join(e.answer)} or {e.decoy}, 7, yes, no")),
    Mutant("another name", "answer", _says(lambda e: e.decoy)),
    Mutant("in other tags", "answer", _says(lambda e: f"<answer></answer>{e.decoy}")),
    Mutant("one more", "answer", _says(_for("number")(lambda e: str(int(e.answer[0]) + 1)))),
    Mutant("one less", "answer", _says(_for("number")(lambda e: str(int(e.answer[0]) - 1)))),
    Mutant(
        "the other word",
        "answer",
        _says(_for("boolean")(lambda e: "no" if e.answer[0] == "yes" else "yes")),
    ),
    Mutant(
        "denied",
        "answer",
        _says(_for("boolean")(lambda e: "It is not true." if e.answer[0] == "yes" else "not false")),
    ),
    Mutant("wrong order", "answer", _says(_for("pair")(lambda e: ", ".join(e.answer[::-1])))),
    Mutant("one missing", "answer", _says(_for("pair", "set")(_without_one))),
    Mutant(
        "one too many",
        "answer",
        _says(_for("pair", "set", "name")(lambda e: ", ".join([*e.answer, e.decoy]))),
    ),
    Mutant("a message changed", "history", _message_changed),
    Mutant("a message removed", "history", _message_removed),
]
