"""Delivering letters: mails into the owner's mailbox, announcements and conversations into Canvas."""

from __future__ import annotations

import datetime as dt
import hashlib
import html
import random
from collections.abc import Iterable, Mapping, Sequence
from zoneinfo import ZoneInfo

import orjson

from mesocosm.families.family import Evidence
from mesocosm.kits.attachments import attachment
from mesocosm.kits.moments import utc_stamp
from mesocosm.kits.organisations.letters import Letter
from mesocosm.kits.organisations.people import Person
from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.servers.email.store import EmailStore, NewEmail
from mesocosm.services.world import World
from mesocosm.worlds import tokens

FOLDERS = ("INBOX", "Sent")
"""Where mail lies: what the owner wrote is in Sent."""
_ANNOUNCEMENT, _TALK, _MESSAGE = 85, 260, 60
"""Tokens that a survey spends on an announcement, a conversation and each of its messages besides their
texts."""


def message_id(letter: Letter) -> str:
    """The message-id of a mail, settled before it is stored."""
    digest = hashlib.sha256(f"{letter.sender.email}:{letter.at}:{letter.key}".encode()).hexdigest()[:24]
    return f"<{digest}@{letter.sender.email.rpartition('@')[2]}>"


def deliver_mail(
    world: World, owner: Person, letters: Iterable[Letter], others: Iterable[Person], zone: ZoneInfo
) -> None:
    """Open the mailbox of the owner, who is signed in, and empty ones of all others; put the mails in."""
    store = world.store(EmailStore)
    accounts = {who.email: who.full for who in (owner, *others)}
    store.create_accounts(
        [{"email": email, "name": name, "password": f"{email}!"} for email, name in accounts.items()]
    )
    rng = world.stream("read")
    by_folder: dict[str, list[NewEmail]] = {folder: [] for folder in FOLDERS}
    for letter in sorted(
        (one for one in letters if one.channel == "mail"), key=lambda one: (one.at, one.key)
    ):
        folder = "Sent" if letter.sender is owner else "INBOX"
        by_folder[folder].append(_mail(letter, zone, is_read=folder == "Sent" or rng.random() < 0.7))
    for folder, mails in by_folder.items():
        if mails:
            store.add_emails(owner.email, folder, mails)
    store.sign_in(owner.email)


def _mail(letter: Letter, zone: ZoneInfo, *, is_read: bool) -> NewEmail:
    new: NewEmail = {
        "sender": letter.sender.header,
        "to": letter.to.header,
        "subject": letter.subject,
        "body": letter.body,
        "date": letter.at.replace(tzinfo=zone),
        "is_read": is_read,
        "message_id": message_id(letter),
    }
    if letter.cc is not None:
        new["cc"] = letter.cc.header
    if letter.answers is not None:
        new["in_reply_to"] = message_id(letter.answers)
        new["references"] = " ".join(message_id(one) for one in reversed(letter.thread))
    if letter.file is not None:
        pages = [f"{letter.sender.full}\n{letter.at:%B %Y}"]
        new["attachments"] = [
            {"filename": letter.file, "data": attachment(letter.file, pages, letter.at.replace(tzinfo=zone))}
        ]
    return new


def deliver_posts(
    store: CanvasStore,
    letters: Iterable[Letter],
    owner: Person,
    users: Mapping[str, int],
    courses: Mapping[str, int],
    zone: ZoneInfo,
    rng: random.Random,
) -> None:
    """Put announcements and conversations into the courses that they belong to."""

    def stamp(moment: dt.datetime) -> str:
        return utc_stamp(moment.replace(tzinfo=zone))

    ordered = sorted(letters, key=lambda one: (one.at, one.key))
    store.discussions.add_announcements(
        [
            {
                "course_id": courses[letter.about.code],
                "user_id": users[letter.sender.email],
                "title": _title(letter.subject),
                "message": _paragraphs(letter.body),
                "posted_at": stamp(letter.at),
            }
            for letter in ordered
            if letter.channel == "announcement"
        ]
    )
    threads: dict[str, list[Letter]] = {}
    for letter in ordered:
        if letter.channel == "conversation":
            threads.setdefault(letter.opening.key, []).append(letter)
    talks = []
    for thread in threads.values():
        people = {
            users[one.email] for letter in thread for one in (letter.sender, letter.to, letter.cc) if one
        }
        talks.append(
            {
                "subject": thread[0].subject,
                "participants": sorted({users[owner.email], *people}),
                "messages": [
                    {"author_id": users[one.sender.email], "body": one.body, "created_at": stamp(one.at)}
                    for one in thread
                ],
                "course_id": courses[thread[0].about.code],
                "read_by": [users[owner.email]] if rng.random() < 0.7 else [],
            }
        )
    talks.sort(key=lambda talk: str(talk["messages"][-1]["created_at"]))  # type: ignore[index]
    store.conversations.add_conversations(talks)


def _title(subject: str) -> str:
    return subject[:1].upper() + subject[1:]


def _paragraphs(text: str) -> str:
    return "".join(f"<p>{html.escape(part, quote=False)}</p>" for part in text.split("\n\n"))


def evidence_of(letter: Letter) -> Evidence:
    """Return the place where the survey finds a letter."""
    return Evidence(
        service="email" if letter.channel == "mail" else "canvas", contains=delivered_text(letter)
    )


def delivered_text(letter: Letter) -> str:
    """The text of a letter as results of tools show it (before they are written as JSON)."""
    return _paragraphs(letter.body) if letter.channel == "announcement" else letter.body


def cost_of(letter: Letter, owner: Person) -> int:
    """Return the tokens that a survey spends on a letter."""
    if letter.channel == "announcement":
        return _ANNOUNCEMENT + tokens.count(letter.subject) + tokens.count(_paragraphs(letter.body))
    if letter.channel == "conversation":
        around = _MESSAGE if letter.answers else _TALK + _MESSAGE
        return around + tokens.count(letter.subject) + 2 * tokens.count(letter.body)
    shown = {
        "id": "1000",
        "subject": letter.subject,
        "from": letter.sender.header,
        "to": letter.to.header,
        "cc": letter.cc.header if letter.cc else None,
        "date": f"{letter.at:%Y-%m-%dT%H:%M:%SZ}",
        "is_read": False,
        "is_important": False,
        "folder": "INBOX",
    }
    files = (
        [{"filename": letter.file, "size": 1000, "content_type": "application/pdf"}] if letter.file else []
    )
    whole = {
        "bcc": None,
        "message_id": message_id(letter),
        "in_reply_to": message_id(letter.answers) if letter.answers else None,
        "references": " ".join(message_id(one) for one in reversed(letter.thread)) or None,
        "body": letter.body,
        "html_body": None,
        "attachments": files,
    }
    listed = {**shown, "has_attachments": bool(files)}
    return sum(tokens.count(orjson.dumps(form).decode()) + 1 for form in (listed, shown | whole))


def worth(letters: Sequence[Letter], owner: Person) -> int:
    """Return the tokens of several letters."""
    return sum(cost_of(letter, owner) for letter in letters)
