"""A program spread over many modules (LORE): what does ``main()`` of ``main.py`` return?

The tree is woven top-down by ``mesocosm.kits.weaving``; each node is a module. Distractor modules are woven
by the same engine; functions that nobody calls lead to them, and branches that are not taken.
"""

from mesocosm.generators.lore_code.composing import compose
from mesocosm.generators.lore_code.expected import Expected, pieces_of
from mesocosm.generators.lore_code.params import Params
from mesocosm.kits.paging import read_whole
from mesocosm.servers.documents.store import DocumentsStore, NewDocument
from mesocosm.services.calling import Tools
from mesocosm.services.world import World

USER, OWNER, SPACE = "analyst@example.org", "developer@example.org", "codebase"


def generate(world: World, params: Params) -> Expected:
    """Fill the document store."""
    codebase = compose(world, params)
    store = world.store(DocumentsStore)
    store.items.create_user(OWNER, "Developer")
    store.items.create_user(USER, "Analyst")
    store.sign_in(USER)
    store.items.create_space("Codebase", owner=OWNER, space_id=SPACE)
    store.sharing.give(SPACE, USER, "viewer")
    rows: list[NewDocument] = [
        {"title": file.id, "content": file.text, "file_id": file.id} for file in codebase.files
    ]
    store.filling.add_documents(SPACE, rows)
    return Expected(
        public=codebase.public,
        evidence=codebase.evidence,
        answer=codebase.answer,
        operations=codebase.operations,
        height=codebase.height,
        collections=codebase.tree.collections,
        steps=codebase.steps,
        leaves=codebase.leaves,
        modules=codebase.reading_order,
        other_answer=codebase.other_answer,
        pieces=pieces_of(codebase.tree),
    )


def survey(tools: Tools, expected: Expected) -> None:
    """Read every module that imports lead to."""
    for file_id in expected.modules:
        read_whole(tools, file_id)


__all__ = ["Expected", "Params", "compose", "generate", "survey"]
