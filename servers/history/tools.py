"""What an agent sees of the history service."""

from __future__ import annotations

from typing import Annotated, Any

import orjson

from mesocosm.errors import Invalid
from mesocosm.servers.history.store import MAX_PER_PAGE, HistoryStore, Piece
from mesocosm.services.schema import Extra
from mesocosm.services.service import Service

server = Service(
    "history",
    HistoryStore,
    instructions="The history of an agent's work: its messages in order, to be read in pages or found by "
    "their first lines.",
)


@server.reads
def describe_history(store: HistoryStore) -> dict[str, Any]:
    """Say how many messages the history has, of which roles, and how its rounds are laid out.

    Messages are numbered from 0, which is what the agent was told at the beginning.
    """
    return {
        "messages": store.size(),
        "roles": store.roles(),
        "layout": "0 is the system message. Then four messages a round: feedback (user), call (assistant), "
        "result (tool), guess (assistant). The feedback of round N is message 4 * N - 3.",
    }


@server.reads
def read_messages(store: HistoryStore, first: int = 0, offset: int = 0) -> tuple[str, ...]:
    """Read messages in order, as many as fit into one result, each under a line with its number and role.

    A long message comes in parts. A second block says where to read on (next_first, next_offset), unless the
    history ends here.

    Args:
        first: Number of the first message, from 0.
        offset: Characters of the first message to skip, where a part of it was read before.
    """
    if offset < 0:
        raise Invalid("offset: it must not be negative.")
    reading = store.read(first, offset)
    blocks = ["\n\n".join(_shown(piece) for piece in reading.pieces)]
    if reading.next_message is not None:
        where = {"next_first": reading.next_message, "next_offset": reading.next_offset}
        blocks.append(orjson.dumps(where).decode())
    return tuple(blocks)


@server.reads
def search(
    store: HistoryStore,
    query: str,
    page: Annotated[int, Extra(minimum=1)] = 1,
    per_page: Annotated[int, Extra(minimum=1, maximum=MAX_PER_PAGE)] = 20,
) -> dict[str, Any]:
    """Find messages by their first line: those that hold a text there as whole words, in any case, in order.

    The index holds first lines only, and none of tool results: read the messages for what else they say.

    Args:
        query: The text, taken word for word: "Round 12", or a name that was guessed.
        page: Page, from 1.
        per_page: Messages per page, 1 to 50.
    """
    found = store.search(query)
    first = (page - 1) * per_page
    shown = [
        {"message": one.id, "role": one.role, "first_line": one.line}
        for one in found[first : first + per_page]
    ]
    more = {"next_page": page + 1} if first + per_page < len(found) else {}
    return {"total": len(found), "matches": shown, **more}


def _shown(piece: Piece) -> str:
    onward = f", from character {piece.offset} on" if piece.offset else ""
    return f"{piece.heading}{onward}\n{piece.text}"
