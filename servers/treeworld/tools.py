"""What an agent sees of the tree world."""

from __future__ import annotations

from typing import Any

from mesocosm.errors import Invalid
from mesocosm.servers.treeworld.store import PER_PAGE, TreeworldStore
from mesocosm.services.service import Service

server = Service(
    "treeworld",
    TreeworldStore,
    instructions="A tree whose nodes have an id and a value; the children of a node are told when asked for.",
)


@server.reads
def get_children(store: TreeworldStore, id: str) -> list[dict[str, Any]]:
    """Return the children of a node as a list of objects with id and val; a leaf has none.

    Args:
        id: The id of the node whose children are wanted.
    """
    return store.children(id)


@server.writes(ends_episode=True)
def found(store: TreeworldStore, id: str) -> str:
    """Report the node that has the value which is looked for. This ends the task.

    Args:
        id: The id of that node.
    """
    store.end(id)
    return "The task has ended."


@server.writes(ends_episode=True)
def unreachable(store: TreeworldStore) -> str:
    """Report that no node that can be reached has the value which is looked for. This ends the task."""
    store.end(None)
    return "The task has ended."


@server.reads
def read_tree(store: TreeworldStore, offset: int = 0) -> dict[str, Any]:
    """Read all nodes of the tree with their parents, page by page. Tasks do not offer it to agents.

    Args:
        offset: How many nodes to pass over: next_offset of the page before.
    """
    if not 0 <= offset < 2**62:
        raise Invalid("offset: it must be 0 or the next_offset of a page.")
    nodes = store.nodes(offset)
    return {"nodes": nodes, "next_offset": offset + PER_PAGE if len(nodes) == PER_PAGE else None}
