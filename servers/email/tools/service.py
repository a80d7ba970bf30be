"""The email service, to which the modules beside this one add their tools."""

from __future__ import annotations

from mesocosm.servers.email.store import EmailStore
from mesocosm.services.service import Service

server = Service(
    "email",
    EmailStore,
    instructions=(
        "The mailbox of the signed-in account: folders, messages, drafts and sending. Lists and searches"
        " return headers in pages; read_email returns a message in full. Times are UTC."
    ),
)
