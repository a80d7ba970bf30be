"""What an agent sees of the oracle."""

from __future__ import annotations

from mesocosm.servers.oracle.store import OracleStore
from mesocosm.services.service import Service

server = Service(
    "oracle",
    OracleStore,
    instructions="Says at any time what is known so far of the task, and what would be best done next.",
)


@server.reads
def get_state(store: OracleStore) -> str:
    """Say what is known and done so far, as exactly as if nothing had been forgotten."""
    return store.state()


@server.reads
def get_plan(store: OracleStore) -> str:
    """Say what to do next: one step that needs no looking ahead."""
    return store.plan()
