"""Judges the answer that was submitted, exactly, and that the documents are as they were."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import delete, update

from mesocosm.checking import Check, Inapplicable, Mutant
from mesocosm.generators.lore_documents import Expected
from mesocosm.servers.documents.models import Document
from mesocosm.servers.documents.store import DocumentsStore
from mesocosm.servers.submit_answer.models import Answer
from mesocosm.servers.submit_answer.store import SubmitAnswerStore
from mesocosm.weaving.judging import judge_answer
from mesocosm.weaving.steps import MISTAKES, Mistake
from mesocosm.world import World


def check(world: World, expected: Expected) -> list[Check]:
    """Whether there is an answer, whether it is right, and whether nothing else was changed."""
    answers = world.store(SubmitAnswerStore).answers()
    return judge_answer(world, answers, expected.answer)


# -- near misses -------------------------------------------------------------------------------------------
#
# Whoever applies a rule wrongly meets no document, and what is left to hand in is what was computed last.


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


def _documents_changed(world: World, expected: Expected) -> None:
    store = world.store(DocumentsStore)
    last = expected.steps[-1].document
    store.session.execute(update(Document).where(Document.id == last).values(title="read"))


def _nothing_submitted(world: World, expected: Expected) -> None:
    world.store(SubmitAnswerStore).session.execute(delete(Answer))


MUTANTS = [
    *(Mutant(name, "answer", _wrong_rule(mistake)) for name, mistake in MISTAKES.items()),
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
