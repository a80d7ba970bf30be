"""A mailbox of several folders: mails, everyday mail around them, and filling it."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import orjson

from mesocosm.kits.people import Contact
from mesocosm.kits.prose import CourseSubject, Prose, Topic
from mesocosm.servers.email.store import EmailStore, NewEmail
from mesocosm.worlds import tokens
from mesocosm.worlds.world import World

FOLDERS = ("INBOX", "Archive", "Spam")
"""Where mail lies that a survey reads; mail of any folder counts."""
_FOLDER_UNTIL = (("INBOX", 0.8), ("Archive", 0.95), ("Spam", 1.0))
_JSON_AROUND = 203
"""Tokens of the JSON around a mail, in its listing and in itself, measured on whole worlds."""
_SMALLEST, _LARGEST = 60, 330
"""Tokens of the text of an everyday mail."""
_LEAST_SENTENCE = 10


@dataclass(frozen=True)
class Mail:
    """A mail to the owner of the mailbox."""

    sender: str
    """As its From header shows it."""
    moment: dt.datetime
    subject: str
    body: str
    folder: str = "INBOX"
    file: str | None = None
    """Name of an attached file; what is in it does not matter to anybody."""

    @property
    def gist(self) -> str:
        """What is in the mail itself and in no listing: the body without its greeting."""
        return self.body.partition("\n\n")[2]

    def with_paragraph(self, text: str, place: int) -> Mail:
        """The mail with a further paragraph, ``place`` as for ``list.insert``; without one if it is empty."""
        if not text:
            return self
        blocks = self.body.split("\n\n")
        blocks.insert(place, text)
        return replace(self, body="\n\n".join(blocks))


def misfiled(index: int, *, spam: bool = True) -> str:
    """The folder for the ``index``-th of mails that matter: filters have put a few into others."""
    return "Spam" if spam and index % 11 == 5 else "Archive" if index % 7 == 3 else "INBOX"


def rest_text(prose: Prose, topic: Topic, size: int, *, subject: CourseSubject | None = None) -> str:
    """A text for the tokens that are too few for a mail of their own; empty for fewer than a sentence."""
    return prose.text(topic, size, subject=subject) if size >= _LEAST_SENTENCE else ""


@dataclass(frozen=True)
class EverydayMail:
    """Writes mails about anything that does not matter, to be told from evidence only by being read."""

    owner: Contact
    now: dt.datetime
    topics: Sequence[Topic]
    domain: Callable[[random.Random], str]
    """Draws the domain of a sender."""
    rng: random.Random
    subject: CourseSubject | None = None
    """What mails of the topic ``coursework`` are about."""

    def worth(self, budget: int, number: int = 0) -> tuple[list[Mail], int]:
        """``number`` mails and further ones for ``budget`` tokens, and the tokens that are left of these."""
        prose = Prose(self.rng)
        mails = [self._mail(prose, self.rng.randint(_SMALLEST, _LARGEST)) for _ in range(number)]
        left = budget
        while left >= _JSON_AROUND + _SMALLEST:
            mail = self._mail(prose, min(self.rng.randint(_SMALLEST, _LARGEST), left - _JSON_AROUND))
            mails.append(mail)
            left -= _cost(mail)
        return mails, left

    def _mail(self, prose: Prose, size: int) -> Mail:
        rng, person = self.rng, prose.person()
        domain = self.domain(rng)
        # The number keeps these addresses apart from all that matter: whatever they ask, it is nobody's wish.
        address = f"{person.handle}.{rng.randint(10, 99)}@{domain}"
        topic = rng.choice(self.topics)
        subject = self.subject if topic == "coursework" else None
        message = prose.message(topic, size, person, self.owner.person, subject=subject)
        moment = self.now - dt.timedelta(minutes=rng.randint(60, 40 * 24 * 60))
        draw = rng.random()
        folder = next(name for name, until in _FOLDER_UNTIL if draw <= until)
        return Mail(f"{person.name} <{address}>", moment, message.subject, message.body, folder)


def _cost(mail: Mail) -> int:
    body = tokens.count(orjson.dumps(mail.body).decode())
    return _JSON_AROUND + body + 2 * tokens.count(mail.subject)


def fill_mailbox(world: World, owner: Contact, mails: Sequence[Mail], others: Iterable[Contact] = ()) -> None:
    """Open the mailbox of the owner, who is signed in, and empty ones of ``others``.

    Everybody who could be written to should have one: then whether one exists says nothing.
    """
    store = world.store(EmailStore)
    accounts = [(contact.email, contact.person.name) for contact in (owner, *others)]
    store.create_accounts(
        [{"email": email, "name": name, "password": f"{email}!"} for email, name in accounts]
    )
    rng = world.stream("read")
    for folder in FOLDERS:
        ordered = sorted(
            (mail for mail in mails if mail.folder == folder), key=lambda mail: (mail.moment, mail.subject)
        )
        if ordered:
            new = [_new(mail, owner, is_read=rng.random() < 0.6) for mail in ordered]
            store.add_emails(owner.email, folder, new)
    store.sign_in(owner.email)


def _new(mail: Mail, owner: Contact, *, is_read: bool) -> NewEmail:
    new: NewEmail = {
        "sender": mail.sender,
        "to": owner.header,
        "subject": mail.subject,
        "body": mail.body,
        "date": mail.moment,
        "is_read": is_read,
    }
    if mail.file:
        new["attachments"] = [{"filename": mail.file, "data": f"{mail.file} {mail.moment:%Y-%m-%d}".encode()}]
    return new
