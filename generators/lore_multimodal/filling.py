"""Composes the documents with their pictures and puts them in the store."""

from __future__ import annotations

import random
from dataclasses import replace

from pydantic import BaseModel, ConfigDict, Field

from mesocosm.generators.lore_documents.filling import SPACE, open_library
from mesocosm.generators.lore_multimodal.distortions import Distortion
from mesocosm.generators.lore_multimodal.formulas import HEIGHT
from mesocosm.generators.lore_multimodal.objects import Scene
from mesocosm.generators.lore_multimodal.painting import Count, Formula, Painter, PicturedValues
from mesocosm.kits.weaving import Values
from mesocosm.kits.weaving.chains import Chain, ChainExpected, ChainParams, compose_chain
from mesocosm.kits.weaving.composition import File
from mesocosm.servers.documents.store import NewDocument, NewImage
from mesocosm.services.world import World
from mesocosm.worlds.randomness import Streams


class Params(ChainParams):
    """Those of every chain, and what is said with pictures."""

    image_share: float = Field(default=0.4, ge=0, le=1)
    """Share of the integers that are pictures of so many objects."""
    formula_share: float = Field(default=0.5, ge=0, le=1)
    """Share of the rules over integers that are pictures of a formula."""
    max_objects: int = Field(default=15, ge=1, le=100)
    """Objects to be counted in one picture, at most."""
    distractor_objects: int = Field(default=0, ge=0, le=100)
    """Other objects beside them, at most; those of one shape and one colour count then, else all."""
    distortions: list[Distortion] = Field(default=[])
    """In which ways pictures of formulas may be distorted."""
    distorted_share: float = Field(default=0.8, ge=0, le=1)
    """Share of them that are distorted, if possible."""

    def values(self, rng: random.Random) -> Values:
        """A supply of values, some of them counts."""
        return PicturedValues(rng, self)


class Sight(BaseModel):
    """Content of a picture of objects."""

    model_config = ConfigDict(frozen=True)

    counted: int
    all: int
    of_color: int
    """Objects of the colour that counts, whatever their shape; all where every colour counts."""
    of_shape: int


class Expected(ChainExpected):
    """Knowledge of the checker: that of every chain, and the content of the tree's pictures."""

    sights: dict[str, Sight]
    """By variable."""


def compose(streams: Streams, params: Params) -> Chain:
    """The documents with their pictures, the question and the answer."""
    dice = params.dice(streams)
    chain = compose_chain(dice, params, Painter(params, dice.stream("pictures").getrandbits(64)))
    return replace(chain, public={**chain.public, "formula_height": str(HEIGHT)})


def generate(world: World, params: Params) -> Expected:
    """Fill the document store."""
    chain = compose(world, params)
    store = open_library(world)
    texts: list[NewDocument] = [
        {"title": file.id, "content": file.text, "file_id": file.id} for file in chain.files if not file.draw
    ]
    store.filling.add_documents(SPACE, texts)
    store.filling.add_images(SPACE, [_image(file) for file in chain.files if file.draw])
    return Expected.of(chain, sights=_sights(chain))


def _image(file: File) -> NewImage:
    """A picture as the store keeps it: undistorted, with what distorts it, so that the tools can undo it."""
    formula = file.draw if isinstance(file.draw, Formula) else None
    data = formula.upright() if formula else file.image
    assert data
    return {
        "title": file.id,
        "content": file.text,
        "file_id": file.id,
        "data": data,
        "steps": formula.steps if formula else (),
    }


def _sights(chain: Chain) -> dict[str, Sight]:
    scenes = {file.id: file.draw for file in chain.files if isinstance(file.draw, Scene)}
    return {
        node.variable: _sight(scenes[node.id]) for node in chain.tree.nodes() if isinstance(node.value, Count)
    }


def _sight(scene: Scene) -> Sight:
    objects, kind = scene.objects(), scene.kind
    return Sight(
        counted=scene.counted,
        all=len(objects),
        of_color=sum(kind is None or one.color == kind.color for one in objects),
        of_shape=sum(kind is None or one.shape == kind.shape for one in objects),
    )
