"""A small mailbox for the tests of the email service."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mesocosm.servers.email.store import EmailStore, NewEmail
from mesocosm.services.calling import Tools
from mesocosm.services.world import World

INBOX: list[NewEmail] = [
    {
        "sender": "Bob Stone <bob@mcp.com>",
        "to": "Ann Lee <ann@mcp.com>, Eve <eve@mcp.com>",
        "cc": "carol@partner.org",
        "subject": "Budget review",
        "body": "The café budget is 40% over.\nPlease look at it.",
        "date": "2025-01-10T09:00:00Z",
        "message_id": "<budget-1@mcp.com>",
        "attachments": [{"filename": "budget.csv", "data": b"item,cost\ncoffee,40\n"}],
    },
    {
        "sender": "news@shop.example",
        "to": "ann@mcp.com",
        "subject": "Winter sale",
        "body": "Everything must go.",
        "date": "2025-01-11T09:00:00Z",
        "is_read": True,
    },
    {
        "sender": "Eve <eve@mcp.com>",
        "to": "ann@mcp.com",
        "subject": "Lunch",
        "body": "Shall we have lunch in the REVIEWING room?",
        "date": "2025-01-12T09:00:00Z",
        "is_important": True,
    },
]
"""Ids 1, 2 and 3: the newest is 3."""


def fill(world: World) -> None:
    store = world.store(EmailStore)
    for address, name in (("ann@mcp.com", "Ann Lee"), ("bob@mcp.com", "Bob Stone"), ("eve@mcp.com", "Eve")):
        store.create_account(address, name, "secret-" + address[:3])
    store.add_emails("ann@mcp.com", "INBOX", INBOX)
    store.sign_in("ann@mcp.com")


class Mail:
    """The email tools, called by name; ``world`` is behind them."""

    def __init__(self, tools: Tools, world: World) -> None:
        self.tools = tools
        self.world = world

    def __getattr__(self, tool: str) -> Callable[..., Any]:
        return lambda **arguments: self.tools.call("email", tool, **arguments)

    def as_user(self, address: str) -> Mail:
        """The same tools after signing in to another account."""
        self.login(email=address, password="secret-" + address[:3])
        return self

    def tables(self) -> list[str]:
        """Everything in the tables, to see whether a call left a trace."""
        self.world.store(EmailStore).session.rollback()
        connection = self.world.store(EmailStore).session.bind.connection.driver_connection
        return list(connection.iterdump())


@pytest.fixture
def mail(open_tools: Callable[..., Any]) -> Mail:
    tools = open_tools(fill, "email")
    return Mail(tools, tools.world)
