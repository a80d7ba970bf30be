"""Mails that a mailbox's owner sent since the world was built, for checkers.

An agent may sign in as anybody, write to anybody's folders by IMAP, and give its mails any Message-ID. A mail
counts as sent by the owner when the server's log says that the owner handed it in and the owner's copy lies
in Sent; what the server put into inboxes for it are the copies with the numbers that follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sql

from mesocosm.servers.email import models
from mesocosm.servers.email.headers import addresses
from mesocosm.servers.email.store import EmailStore

if TYPE_CHECKING:
    from mesocosm.services.world import World
    from mesocosm.worlds.changes import Changes, Row


_SIGNED_IN = sql.select(models.SignIn.email)
_FOLDERS = sql.select(models.Folder.id, models.Folder.account, models.Folder.name)


@dataclass(frozen=True)
class Sent:
    """A mail that the owner sent."""

    copy: Row
    """The owner's, in Sent."""
    delivery: Row
    """Its entry in the server's log."""
    files: tuple[Row, ...]
    """Its attachments."""
    rows: frozenset[tuple[str, int]]
    """(table, primary key) of all that it came with: the log, both copies, what is attached to them."""

    @property
    def recipients(self) -> tuple[str, ...]:
        """Of the fields to, cc and bcc, and of the envelope."""
        named = [address for field in ("to", "cc", "bcc") for address in addresses(self.copy[field])]
        return tuple(dict.fromkeys([*named, *addresses(self.delivery["recipients"])]))


def owner_of(world: World, changes: Changes) -> str:
    """The account that was signed in when the world was built."""
    difference = changes.table("email", "sign_in")
    before = [*difference.removed, *(old for old, _ in difference.changed)]
    if before:
        return str(before[0]["email"])
    signed_in = world.store(EmailStore).fetch(_SIGNED_IN)
    return "" if difference.added or not signed_in else str(signed_in[0]["email"])


def sent_mails(world: World, changes: Changes, owner: str) -> Iterator[Sent]:
    """Those of an account whose copies lie where the server put them, in their order."""
    if not changes.table("email", "deliveries").added:
        return
    folders = world.store(EmailStore).fetch(_FOLDERS)
    places = {row["id"]: (row["account"], row["name"]) for row in folders}
    mails = {row["id"]: row for row in changes.table("email", "emails").added}
    files: dict[int, list[Row]] = {}
    for row in changes.table("email", "attachments").added:
        files.setdefault(row["email_id"], []).append(row)
    for delivery in changes.table("email", "deliveries").added:
        copy = mails.get(delivery["email_id"])
        if copy is None or delivery["sender"] != owner or places.get(copy["folder_id"]) != (owner, "Sent"):
            continue
        if addresses(copy["sender"]) != [owner]:
            continue
        own = [copy, *_delivered(copy, delivery, mails, places)]
        rows = {("deliveries", delivery["id"]), *(("emails", row["id"]) for row in own)}
        rows |= {("attachments", file["id"]) for row in own for file in files.get(row["id"], ())}
        yield Sent(copy, delivery, tuple(files.get(copy["id"], ())), frozenset(rows))


def _delivered(
    copy: Row, delivery: Row, mails: Mapping[int, Row], places: Mapping[int, tuple[str, str]]
) -> Iterator[Row]:
    """The copies in the inboxes of those who have one here."""
    inboxes = {(address, "INBOX") for address in addresses(delivery["recipients"])}
    number = copy["id"] + 1
    while (row := mails.get(number)) and (place := places.get(row["folder_id"], ("", ""))) in inboxes:
        inboxes.remove(place)
        yield row
        number += 1
