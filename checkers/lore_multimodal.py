"""Judges the answer that was submitted, exactly, and that the documents are as they were.

The image tools make new documents that show an image transformed: those are not held against anybody.
"""

from __future__ import annotations

from collections.abc import Callable

from mesocosm.checkers.lore_documents import MUTANTS as CHAIN_MUTANTS
from mesocosm.families.verdict import Check, Inapplicable, Mutant
from mesocosm.generators.lore_multimodal import Expected
from mesocosm.generators.lore_multimodal.filling import Sight
from mesocosm.kits.answers import judge_answer, submit
from mesocosm.kits.weaving import evaluate
from mesocosm.servers.documents.models import Document, Picture
from mesocosm.servers.documents.store import DocumentsStore
from mesocosm.services.world import World
from mesocosm.worlds.changes import TableChanges


def check(world: World, expected: Expected) -> list[Check]:
    """Check that there is an answer, that it is right, and that only views of images were added."""
    return judge_answer(world, expected.answer, is_harmless=_adds_views_only)


def _adds_views_only(service: str, table: str, changes: TableChanges) -> bool:
    if (service, table) != ("documents", "documents") or changes.removed or changes.changed:
        return False
    return all(row["derived_from"] is not None for row in changes.added)


# -- near misses -------------------------------------------------------------------------------------------


def _miscount(number: Callable[[Sight], int]) -> Callable[[World, Expected], None]:
    """Submits what the last operation over a counted variable yields at which the mistake matters."""

    def apply(world: World, expected: Expected) -> None:
        for step in reversed(expected.steps):
            wrong = {name: number(expected.sights[name]) for name in step.values if name in expected.sights}
            result = str(evaluate(step.expression, {**step.values, **wrong}))
            if result != step.result:
                submit(world, result)
                return
        raise Inapplicable("the mistake makes no difference in this tree")

    return apply


def _images_transformed(world: World, expected: Expected) -> None:
    """The stored images instead of views of them."""
    images = world.store(DocumentsStore).session.query(Document).where(Document.picture.is_not(None))
    if not images.update({Document.transform: "[-1,0,0,1]"}):
        raise Inapplicable("there is no image")


def _pictures_changed(world: World, expected: Expected) -> None:
    if not world.store(DocumentsStore).session.query(Picture).update({Picture.width: Picture.width + 1}):
        raise Inapplicable("there is no image")


MUTANTS = [
    *CHAIN_MUTANTS,
    Mutant("an object overlooked", "answer", _miscount(lambda sight: sight.counted - 1)),
    Mutant("an object counted twice", "answer", _miscount(lambda sight: sight.counted + 1)),
    Mutant("all objects counted", "answer", _miscount(lambda sight: sight.all)),
    Mutant("every shape of the colour counted", "answer", _miscount(lambda sight: sight.of_color)),
    Mutant("every colour of the shape counted", "answer", _miscount(lambda sight: sight.of_shape)),
    Mutant("stored images transformed", "documents", _images_transformed),
    Mutant("stored pictures changed", "documents", _pictures_changed),
]
