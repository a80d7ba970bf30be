"""The one tool with which an agent ends its episode."""

from __future__ import annotations

from mesocosm.servers.claim_done.store import ClaimDoneStore
from mesocosm.services.service import Service

server = Service(
    "claim_done", ClaimDoneStore, instructions="Call claim_done once, when the task is finished."
)


@server.writes(idempotent=True, ends_episode=True)
def claim_done(store: ClaimDoneStore) -> str:
    """Declare that the task is complete and end the episode.

    Call this once, after everything the task asks for is in place: no change is accepted afterwards.
    """
    return "The task has been declared done."
