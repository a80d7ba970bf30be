"""MCP resources: the memo of insights, as in the vendor's server."""

from __future__ import annotations

from mesocosm.servers.snowflake.store import SnowflakeStore
from mesocosm.services.service import Operations

operations = Operations()


@operations.reads("memo://insights")
def data_insights_memo(store: SnowflakeStore) -> str:
    """The insights about the data that append_insight added, the first one first."""
    found = [f"- {row['text']}" for row in store.insights()]
    if not found:
        return "No data insights have been discovered yet."
    return "\n".join(["Data insights, in the order in which they were added:", "", *found])
