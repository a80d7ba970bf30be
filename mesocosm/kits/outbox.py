"""Mails that an agent sent, what else it did to mailboxes, and near misses of the latter.

Stands on the tables of the email service: for checkers alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sqlalchemy import delete, select, update

from mesocosm.families.verdict import Check, Inapplicable, Mutant, finding
from mesocosm.kits.damage import touched_tables
from mesocosm.kits.html_text import visible_text
from mesocosm.kits.near_misses import first, of_fate, spoilings
from mesocosm.servers.email.headers import addresses
from mesocosm.servers.email.models import Attachment, Delivery, Email, Folder
from mesocosm.servers.email.store import EmailStore, NewEmail
from mesocosm.servers.email.store.sent import Sent, sent_mails
from mesocosm.services.world import World
from mesocosm.worlds.changes import Changes

E = TypeVar("E")


@dataclass(frozen=True)
class OutboxLetter:
    """A mail that the agent sent."""

    recipients: tuple[str, ...]
    """Of the fields to, cc and bcc, and of the envelope."""
    subject: str
    body: str
    html: str
    files: tuple[tuple[str, bytes], ...]
    """Names and contents of what is attached."""

    @property
    def text(self) -> str:
        """The visible text. Agents often send the same in both forms: each is read, together they say no
        more. What HTML hides says nothing, such as a colour in a style sheet that looks like an order number.
        """
        return " ".join(f"{self.body}\n{visible_text(self.html)}".split())

    @property
    def forms(self) -> tuple[str, ...]:
        """The visible text of each form: readers of the HTML do not see the plain text."""
        # A line may break anywhere.
        forms = (" ".join(form.split()) for form in (self.body, visible_text(self.html)))
        sent = (self.body, self.html)
        return tuple(form for form, given in zip(forms, sent, strict=True) if given.strip()) or ("",)


class Outbox:
    """Mails that an account sent since the world was built, and other changes to mailboxes."""

    def __init__(self, world: World, changes: Changes, account: str) -> None:
        self._world, self._changes = world, changes
        self._sent = list(sent_mails(world, changes, account))
        self.letters = [_letter(mail) for mail in self._sent]
        known = {mail.delivery["id"] for mail in self._sent}
        others = [row for row in changes.table("email", "deliveries").added if row["id"] not in known]
        self.reached = Counter(address for letter in self.letters for address in letter.recipients)
        """Number of mails went to each address."""
        self.reached.update(a for row in others for a in addresses(row["recipients"]))

    def recipients(self, wanted: Mapping[str, str]) -> list[Check]:
        """Check that everyone in ``wanted`` (names by address) got exactly one mail, alone, and nobody else
        any.
        """
        return [
            finding("recipients_missing", [name for to, name in wanted.items() if to not in self.reached]),
            finding("recipients_extra", [address for address in self.reached if address not in wanted]),
            finding("one_mail_each", self.repeated(wanted)),
            self.single_recipient(),
        ]

    def repeated(self, wanted: Collection[str]) -> list[str]:
        """Those of ``wanted`` who got several mails."""
        return [f"{a}: {number} mails" for a, number in self.reached.items() if a in wanted and number > 1]

    def single_recipient(self) -> Check:
        """Check that every mail went to a single address."""
        several = [letter for letter in self.letters if len(letter.recipients) != 1]
        return finding("single_recipient", [", ".join(letter.recipients) for letter in several])

    def subjects(self, subject: str) -> Check:
        """Check that all mails have exactly this subject. No mail at all fails."""
        wrong = [repr(letter.subject) for letter in self.letters if letter.subject != subject]
        return finding("subject", wrong or self.nothing())

    def nothing(self) -> list[str]:
        """List the findings where mails were expected and there are none."""
        return [] if self.letters else ["no mail was sent"]

    def damage(self, *, with_files: bool = False) -> Iterator[str]:
        """Changes to mailboxes that do not follow from the letters; ``with_files``: these may have some."""
        explained = {row for mail in self._sent for row in mail.rows if with_files or row[0] != "attachments"}
        yield from touched_tables(self._world, self._changes, "email", explained=explained)


def _letter(mail: Sent) -> OutboxLetter:
    copy = mail.copy
    return OutboxLetter(
        mail.recipients,
        copy["subject"] or "",
        copy["body"] or "",
        copy["html_body"] or "",
        tuple((row["filename"], bytes(row["data"])) for row in mail.files),
    )


# -- near misses ----------------------------------------------------------------------------------------


def sent_to(store: EmailStore, address: str) -> Email:
    """The last mail in a folder Sent that went to an address; raises ``Inapplicable`` if there is none."""
    chosen = select(Email).join(Folder).where(Folder.name == "Sent", Email.to.icontains(address))
    mail = store.session.scalars(chosen.order_by(Email.id.desc())).first()
    if mail is None:
        raise Inapplicable
    return mail


def send(store: EmailStore, account: str, mail: NewEmail) -> None:
    """Send a mail as ``account``, as the tools would."""
    [email_id] = store.add_emails(account, "Sent", [mail])
    recipients = [a for field in (mail["to"], mail.get("cc"), mail.get("bcc")) for a in addresses(field)]
    store.log_delivery(email_id, account, recipients)


def redirect(store: EmailStore, mail: Email, address: str) -> None:
    """Redirect a sent mail to another recipient."""
    mail.to = address
    logged = update(Delivery).where(Delivery.email_id == mail.id)
    store.session.execute(logged.values(recipients=address))


def unsend(store: EmailStore, mail: Email) -> None:
    """Leave no trace of a mail that was sent."""
    for table, column in (
        (Delivery, Delivery.email_id),
        (Attachment, Attachment.email_id),
        (Email, Email.id),
    ):
        store.session.execute(delete(table).where(column == mail.id))


INBOX_MUTANTS = [
    *spoilings(
        "email", "mailbox", "a mail deleted", "a mail filed away", "a mail marked", "a mail sent and wiped"
    )
]
"""The first mail in the inbox of the account that is signed in was deleted, filed away or marked; or a mail
was sent whose copy in Sent is gone."""
SENT_MUTANTS = [
    *spoilings("email", "mailbox", "a mail sent from another account", "a mail put into the inbox")
]
"""Where mails were sent: the first went out from another account, or one with its Message-ID was put into the
owner's inbox."""


@dataclass(frozen=True)
class Mailing(Generic[E]):
    """Near misses of mails of which some cases were to get one each, and others none.

    ``letter(world, expected, case)`` is a right mail to a case; what each method gives is something to do to
    a world from which all were sent.
    """

    wanted: Callable[[E], Sequence[Any]]
    """Cases with a ``fate`` that get a mail."""
    others: Callable[[E], Sequence[Any]]
    """Cases with a ``fate`` that get none."""
    letter: Callable[[World, E, Any], NewEmail]

    def overlooked(self, fate: str) -> Callable[[World, E], None]:
        """Make somebody who should get a mail get none."""

        def apply(world: World, expected: E) -> None:
            unsend(world.store(EmailStore), self._sent(world, expected, of_fate(self.wanted(expected), fate)))

        return apply

    def needless(self, fate: str) -> Callable[[World, E], None]:
        """Make somebody who should get no mail get one."""
        return lambda world, expected: self._send(world, expected, of_fate(self.others(expected), fate))

    def edited(self, change: Callable[[Email, E], object], fate: str = "") -> Callable[[World, E], None]:
        """Something in the first of the mails, or the first of a fate, is changed."""

        def apply(world: World, expected: E) -> None:
            cases = self.wanted(expected)
            change(self._sent(world, expected, of_fate(cases, fate) if fate else first(cases)), expected)

        return apply

    def set(self, field: str, value: Callable[[Email, E], str]) -> Callable[[World, E], None]:
        """A field of the first of the mails is another."""
        return self.edited(lambda mail, expected: setattr(mail, field, value(mail, expected)))

    def everyday(self) -> Iterator[Mutant]:
        """Yield the common mistakes with such mails; the findings are those of ``Outbox``."""
        yield Mutant("two mails to one address", "one_mail_each", self._twice)
        yield Mutant("one mail to two addresses", "single_recipient", self._together)
        yield Mutant("a copy to oneself", "single_recipient", self.set("cc", lambda mail, _: mail.sender))
        yield Mutant("a copy to another", "single_recipient", self._copied)
        yield Mutant(
            "a full stop in the subject", "subject", self.set("subject", lambda m, _: f"{m.subject}.")
        )
        yield Mutant("a draft left behind", "mailbox", self._draft)
        yield from (*INBOX_MUTANTS, *SENT_MUTANTS)

    def _sent(self, world: World, expected: E, case: Any) -> Email:
        return sent_to(world.store(EmailStore), self.letter(world, expected, case)["to"])

    def _send(self, world: World, expected: E, case: Any) -> None:
        mail = self.letter(world, expected, case)
        send(world.store(EmailStore), mail["sender"], mail)

    def _twice(self, world: World, expected: E) -> None:
        self._send(world, expected, first(self.wanted(expected)))

    def _pair(self, world: World, expected: E) -> tuple[Email, Email]:
        one, *rest = (self._sent(world, expected, case) for case in self.wanted(expected)[:2])
        return one, first(rest)

    def _together(self, world: World, expected: E) -> None:
        one, other = self._pair(world, expected)
        one.to, one.body = f"{one.to}, {other.to}", f"{one.body}\n{other.body}"
        unsend(world.store(EmailStore), other)

    def _copied(self, world: World, expected: E) -> None:
        one, other = self._pair(world, expected)
        one.cc = other.to

    def _draft(self, world: World, expected: E) -> None:
        mail = self.letter(world, expected, first(self.wanted(expected)))
        world.store(EmailStore).add_emails(mail["sender"], "Drafts", [mail])
