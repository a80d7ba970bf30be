"""Customers' mails about the newsletter and the shop's other lists."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from mesocosm.generators.filter_low_selling_products import wording
from mesocosm.generators.filter_low_selling_products.expected import Reader
from mesocosm.generators.filter_low_selling_products.planning import DOMAINS, Plan
from mesocosm.kits.mailbox import Mail, MailWriter, awake, misfiled
from mesocosm.kits.people import Contact
from mesocosm.kits.prose import Prose, Topic
from mesocosm.kits.wording import Phrases

CUSTOMERS: tuple[Topic, ...] = ("customer_letters",)
"""Other subjects of mails to the shop."""
_FATES = (
    "by_mail", "by_mail", "by_mail", "back_again", "back_again", "rejoined", "rejoined", "complaint",
)  # fmt: skip
"""Fates of strangers, about as frequent as subscribers'."""
_ASIDE = 0.35
"""Mails per stranger about another list or address."""


@dataclass
class Writer:
    """Writes mails to the shop."""

    plan: Plan
    writer: MailWriter
    phrases: Phrases
    rng: random.Random
    written_by: list[Contact] = field(default_factory=list)
    """The strangers."""

    def subscribers(self) -> tuple[list[Mail], list[Mail]]:
        """Requests that change who is written to, and what else subscribers wrote."""
        requests: list[Mail] = []
        others: list[Mail] = []
        for index, (reader, person) in enumerate(zip(self.plan.readers, self.plan.people, strict=True)):
            mails = [
                mail.filed(misfiled(index))
                for mail in self._story(Contact(person, reader.email), reader.fate)
            ]
            bears = reader.fate in ("by_mail", "back_again", "rejoined")
            (requests if bears else others).extend(mails)
        return requests, others

    def strangers(self, people: Prose) -> Iterator[list[Mail]]:
        """The same from people who are not on the list, and about other lists, without end."""
        rng = self.rng
        index = 0
        while True:
            index += 1
            person = people.person()
            contact = Contact(person, f"{person.handle}@{rng.choice(DOMAINS)}")
            self.written_by.append(contact)
            yield [mail.filed(misfiled(index)) for mail in self._story(contact, rng.choice(_FATES))]
            if rng.random() < _ASIDE:
                yield [self._aside(contact).filed(misfiled(rng.randrange(77)))]

    def _story(self, contact: Contact, fate: str) -> Iterator[Mail]:
        # The list was exported more than 40 days ago; all of this is newer.
        first, later = self._ago(10, 24), self._ago(1, 9)
        match fate:
            case "by_mail":
                if self.rng.random() < 0.2:
                    # Who asks to be put on again has asked to be taken off.
                    yield self._asked(contact, self._ago(25, 38), wording.LEAVE)
                    yield self._asked(contact, first, wording.RETURN)
                yield self._asked(contact, later, wording.LEAVE)
            case "back_again":
                yield self._asked(contact, self._ago(10, 38), wording.LEAVE)
                yield self._asked(contact, later, wording.RETURN)
            case "rejoined":
                yield self._asked(contact, later, wording.RETURN)
            case "other_address":
                # Maybe the same person: but it is not the address that the list has.
                elsewhere = Contact(
                    contact.person, f"{contact.person.handle.replace('.', '')}@postbox.example"
                )
                yield self._asked(elsewhere, later, wording.LEAVE)
            case "complaint":
                yield self._asked(contact, later, wording.STAY)

    def _ago(self, least: int, most: int) -> dt.datetime:
        day = self.plan.now.date() - dt.timedelta(days=self.rng.randint(least, most))
        return awake(day, self.rng)

    def _asked(
        self,
        sender: Contact,
        moment: dt.datetime,
        ways: Sequence[str],
        lists: Sequence[str] = wording.NEWSLETTER,
    ) -> Mail:
        fact = self.phrases.say(ways, what=self.rng.choice(lists))
        if ways is wording.STAY and any(
            fact.lower().startswith(word) for word in ("what", "a friend", "a colleague")
        ):
            fact = f"{fact[:-1]}?"
        return self._mail(sender, moment, fact)

    def _mail(self, sender: Contact, moment: dt.datetime, fact: str) -> Mail:
        subject = self.phrases.part(wording.SUBJECTS) if self.rng.random() < 0.15 else ""
        return self.writer.write(sender, moment, self.rng.choice(CUSTOMERS), fact=fact, subject=subject)

    def _aside(self, stranger: Contact) -> Mail:
        """Something else from a subscriber, or something for one from somebody else."""
        rng = self.rng
        number = rng.randrange(len(self.plan.readers))
        reader, person = self.plan.readers[number], self.plan.people[number]
        moment = self._ago(1, 35)
        if rng.random() < 0.5:
            ways = rng.choice((wording.LEAVE, wording.RETURN, wording.STAY))
            return self._asked(Contact(person, reader.email), moment, ways, wording.OTHER_LISTS)
        # Nobody is said to want what they have, or to leave what they are not on.
        gone = reader.fate in ("unsubscribed", "by_mail")
        fact = self.phrases.say(
            wording.PROXY_RETURN if gone else wording.PROXY_LEAVE,
            what=rng.choice(wording.NEWSLETTER),
            kin=rng.choice(wording.KIN),
            address=reader.email,
        )
        return self._mail(stranger, moment, fact)


def evidence_of(readers: Sequence[Reader]) -> Iterator[str]:
    """Texts by which the lines of the list of subscribers are known."""
    yield "email,name,status"
    for reader in readers:
        yield reader.email
        if reader.fate == "duplicate":
            yield reader.email.title()
