"""The client of a server: episodes created, acted on, forked, judged and deleted from a program.

It needs ``httpx2`` and nothing else that is not Python's own, so that a trainer whose packages want another
release of something can have it too.
"""

from mesocosm.hosting.client.asynchronous import Episode, Server, connect
from mesocosm.hosting.client.blocking import BlockingEpisode, BlockingServer, connect_sync
from mesocosm.hosting.client.exchange import (
    Busy,
    CallFailed,
    Refused,
    ServerError,
    ServerFault,
    Unauthorised,
    UnknownEpisode,
    Unreachable,
)
from mesocosm.hosting.client.shapes import Finding, Grade, Order, Result, Reward, ToolInfo, View

__all__ = [
    "BlockingEpisode",
    "BlockingServer",
    "Busy",
    "CallFailed",
    "Episode",
    "Finding",
    "Grade",
    "Order",
    "Refused",
    "Result",
    "Reward",
    "Server",
    "ServerError",
    "ServerFault",
    "ToolInfo",
    "Unauthorised",
    "UnknownEpisode",
    "Unreachable",
    "View",
    "connect",
    "connect_sync",
]
