"""Composes the documents and puts them in the store."""

from __future__ import annotations

from mesocosm.kits.paging import read_whole
from mesocosm.kits.weaving.chains import Chain, ChainExpected, ChainParams, Writer, compose_chain
from mesocosm.servers.documents.store import DocumentsStore, NewDocument
from mesocosm.services.calling import Tools
from mesocosm.services.world import World
from mesocosm.worlds.randomness import Streams

USER, LIBRARIAN, SPACE = "reader@example.org", "librarian@example.org", "library"


class Params(ChainParams):
    """The parameters of the family: those of every chain."""


class Expected(ChainExpected):
    """Knowledge of the checker: that of every chain."""


def compose(streams: Streams, params: Params) -> Chain:
    """The documents, the question and the answer."""
    return compose_chain(params.dice(streams), params, Writer())


def generate(world: World, params: Params) -> Expected:
    """Fill the document store."""
    chain = compose(world, params)
    store = open_library(world)
    rows: list[NewDocument] = [
        {"title": file.id, "content": file.text, "file_id": file.id} for file in chain.files
    ]
    store.filling.add_documents(SPACE, rows)
    return Expected.of(chain)


def open_library(world: World) -> DocumentsStore:
    """The document store with the space ``SPACE``, which the agent may read."""
    store = world.store(DocumentsStore)
    store.items.create_user(LIBRARIAN, "Library")
    store.items.create_user(USER, "Reader")
    store.sign_in(USER)
    store.items.create_space("Library", owner=LIBRARIAN, space_id=SPACE)
    store.sharing.give(SPACE, USER, "viewer")
    return store


def survey(tools: Tools, expected: ChainExpected) -> None:
    """Read every document that can be reached."""
    for file_id in expected.documents:
        read_whole(tools, file_id)
