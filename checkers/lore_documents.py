"""Judges the answer that was submitted, exactly, and that the documents are as they were."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import update

from mesocosm.families.verdict import Check, Inapplicable, Mutant
from mesocosm.generators.lore_documents import Expected
from mesocosm.kits.answers import INEXACT, instead, judge_answer, submit
from mesocosm.kits.weaving.steps import MISTAKES, Mistake
from mesocosm.servers.documents.models import Document
from mesocosm.servers.documents.store import DocumentsStore
from mesocosm.services.world import World


def check(world: World, expected: Expected) -> list[Check]:
    """Check that there is an answer, that it is right, and that nothing else changed."""
    return judge_answer(world, expected.answer)


# -- near misses -------------------------------------------------------------------------------------------
#
# Whoever applies a rule wrongly meets no document, and what is left to hand in is what was computed last.


def _wrong_rule(mistake: Mistake) -> Callable[[World, Expected], None]:
    """Submits what the last operation yields at which the mistake makes a difference."""

    def apply(world: World, expected: Expected) -> None:
        for step in reversed(expected.steps):
            wrong = str(mistake(step))
            if wrong != step.result:
                submit(world, wrong)
                return
        raise Inapplicable("the mistake makes no difference in this tree")

    return apply


def _documents_changed(world: World, expected: Expected) -> None:
    store = world.store(DocumentsStore)
    last = expected.steps[-1].document
    store.session.execute(update(Document).where(Document.id == last).values(title="read"))


MUTANTS = [
    *INEXACT,
    *(Mutant(name, "answer", _wrong_rule(mistake)) for name, mistake in MISTAKES.items()),
    Mutant("small letters", "answer", instead(lambda e: e.answer.lower())),
    Mutant("capital letters", "answer", instead(lambda e: e.answer.upper())),
    Mutant("in quotes", "answer", instead(lambda e: f'"{e.answer}"')),
    Mutant("with its variable", "answer", instead(lambda e: f"v0 = {e.answer}")),
    Mutant("identifier instead of value", "answer", instead(lambda e: e.steps[-1].document)),
    Mutant("value of another root", "answer", instead(lambda e: e.other_answer)),
    Mutant("a document changed", "documents", _documents_changed),
]
