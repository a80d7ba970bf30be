"""What an agent sees of the list world."""

from __future__ import annotations

from typing import Any

from mesocosm.errors import Invalid
from mesocosm.servers.listworld.store import ListworldStore
from mesocosm.services.service import Service

server = Service(
    "listworld",
    ListworldStore,
    instructions="A list that can be cut down by removing elements, from left to right.",
)


@server.writes(destructive=True)
def pop(store: ListworldStore, id: int) -> str:
    """Remove the element at an index of the list. The indexes of the elements after it fall by 1.

    Pops go from left to right: elements before the last one removed can no longer be removed.

    Args:
        id: The index of the element, counted from 0 in the list as it is now.
    """
    store.pop(id)
    return f"Removed the element at index {id}."


@server.writes(ends_episode=True)
def done(store: ListworldStore) -> str:
    """End the task. Call this when the list is the target list."""
    store.finish()
    return "The task has ended."


@server.reads
def read_start(store: ListworldStore, offset: int = 0) -> dict[str, Any]:
    """Read the list as it was at first and the target list, page by page. Tasks state them in their prompt.

    Args:
        offset: Where to read on in both lists: next_offset of the page before.
    """
    if not 0 <= offset < 2**62:
        raise Invalid("offset: it must be 0 or the next_offset of a page.")
    return store.start(offset)
