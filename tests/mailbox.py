"""A small mailbox that tests of the machinery fill worlds with."""

from __future__ import annotations

from mesocosm.servers.email.store import EmailStore
from mesocosm.services.world import World

ADDRESS = "ada@example.org"


def fill_mailbox(world: World, messages: int = 30) -> None:
    """An account that is signed in, with messages in its inbox."""
    store = world.store(EmailStore)
    store.create_account(ADDRESS, "Ada Byron", "engine-1843")
    store.sign_in(ADDRESS)
    store.add_emails(
        ADDRESS,
        "INBOX",
        [
            {
                "sender": "Charles <charles@example.org>",
                "to": ADDRESS,
                "subject": f"Card {number}",
                "body": f"The card with number {number} is punched.",
                "date": f"2025-01-{number % 14 + 1:02}T08:00:00Z",
            }
            for number in range(messages)
        ],
    )
