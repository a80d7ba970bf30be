"""What a coordinator's services hold besides the recall: nothing of it changes what is to be done."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable

import orjson

from mesocosm.generators.recall_campaign.expected import HOLDING
from mesocosm.generators.recall_campaign.planning import (
    DAY,
    DOMAINS,
    TITLES,
    Booking,
    Customer,
    Order,
    Plan,
    contact_anywhere,
)
from mesocosm.generators.recall_campaign.wording import Document
from mesocosm.kits.mailbox import Mail
from mesocosm.kits.people import Contact
from mesocosm.kits.prose import Prose, Topic
from mesocosm.worlds import tokens

_MAIL_TOPICS: tuple[Topic, ...] = (
    "shop_orders", "shop_marketing", "supplier", "household", "hr", "newsletter", "personal", "finance",
    "travel", "it_support", "events",
)  # fmt: skip
_DOCUMENT_TOPICS: tuple[Topic, ...] = (
    "policy_document", "meeting_minutes", "technical_doc", "market_report", "product_description",
)  # fmt: skip
_TITLES = {
    "policy_document": "House rules", "meeting_minutes": "Minutes", "technical_doc": "Manual",
    "market_report": "Market", "product_description": "Product sheet",
}  # fmt: skip
# Tokens of the JSON around one item wherever the survey shows it, measured on whole worlds.
_MAIL, _DOCUMENT, _EVENT, _ORDER = 216, 74, 316, 47
_SMALLEST = 60


class Everyday:
    """Mails, documents, events and orders worth a number of tokens."""

    def __init__(self, plan: Plan, budget: int, rng: random.Random) -> None:
        self._plan, self._rng = plan, rng
        self._prose = Prose(rng)
        self.mails: list[Mail] = []
        self.documents: list[Document] = []
        self.events: list[Booking] = []
        self.customers: list[Customer] = []
        self._addresses = {customer.contact.email for customer in plan.customers}
        pickups = sum(customer.fate in HOLDING for customer in plan.customers)
        slots = zip(plan.hours.slots(plan.zone), range(2 * pickups + 60), strict=False)
        self._days = max(slot.date() for slot, _ in slots) - plan.hours.begin
        self.until = plan.hours.begin + self._days + 2 * DAY
        """No event lies on this day or later, and no slot is given out then."""
        kinds: tuple[Callable[[int], int], ...] = (self._mail, self._document, self._event, self._order)
        left = budget
        while left >= _EVENT + _SMALLEST:
            left -= rng.choices(kinds, (40, 15, 15, 30))[0](left)
        # What is too little for any of them; fewer tokens than this are no sentence.
        self.rest = "\n\nBackground\n\n" + self._prose.text("policy_document", left) if left >= 12 else ""

    def _size(self, left: int, most: int) -> int:
        return max(_SMALLEST // 2, min(self._rng.randint(_SMALLEST, most), left))

    def _mail(self, left: int) -> int:
        plan, rng, prose = self._plan, self._rng, self._prose
        person = prose.person()
        # A middle mark keeps these addresses apart from those of customers.
        address = f"{person.handle}.{rng.randint(10, 99)}@{rng.choice((plan.domain, 'postbox.net'))}"
        message = prose.message(
            rng.choice(_MAIL_TOPICS), self._size(left - _MAIL, 330), person, plan.account.person
        )
        moment = plan.now - dt.timedelta(minutes=rng.randint(60, 40 * 24 * 60))
        self.mails.append(Mail(f"{person.name} <{address}>", moment, message.subject, message.body))
        return _MAIL + _in_json(message.body) + 2 * tokens.count(message.subject)

    def _document(self, left: int) -> int:
        topic = self._rng.choice(_DOCUMENT_TOPICS)
        text = self._prose.text(topic, self._size(left - _DOCUMENT, 700))
        moment = self._plan.now - dt.timedelta(minutes=self._rng.randint(60, 380 * 24 * 60))
        # A number keeps titles apart; it is not that of a recall.
        title = f"{_TITLES[topic]} {moment:%Y-%m-%d}/{len(self.documents) + 1}"
        self.documents.append(Document(title, text, moment))
        return _DOCUMENT + tokens.count(text) + tokens.count(title)

    def _event(self, left: int) -> int:
        """In the calendar of pickups, but in the evening or marked as free: it takes no slot."""
        rng, hours = self._rng, self._plan.hours
        day = dt.datetime.combine(hours.begin + rng.randint(0, self._days.days) * DAY, dt.time())
        free = rng.random() < 0.4
        start = day + dt.timedelta(hours=rng.randint(8, 16) if free else rng.randint(18, 21))
        text = self._prose.text("shop_orders", self._size(left - _EVENT, 120))
        title = rng.choice(TITLES)
        end = start + dt.timedelta(minutes=rng.choice((30, 45, 60)))
        self.events.append(Booking(title, start, end, free=free, description=text))
        return _EVENT + _in_json(text)

    def _order(self, left: int) -> int:
        """A recalled product long before its days, or another one: it does not count."""
        rng, window = self._rng, self._plan.window
        person = self._prose.person()
        product = rng.choice(("A", "A", "B", "C", "lookalike"))
        last = window.last + 15 * DAY if product == "lookalike" else window.first - 20 * DAY
        time = dt.time(rng.randint(0, 23), rng.randint(0, 59), rng.randint(0, 59))
        moment = dt.datetime.combine(last - rng.randint(0, 400) * DAY, time, dt.UTC)
        contact = Contact(person, f"{person.handle}@{rng.choice(DOMAINS)}")
        while contact.email in self._addresses:
            # These people are drawn apart from those of the recall, and may be called alike.
            contact = contact_anywhere(self._prose, rng)
        self._addresses.add(contact.email)
        self.customers.append(Customer(contact, "ordinary", [Order(product, moment)]))
        return _ORDER + tokens.count(contact.email) + tokens.count(contact.name)


def _in_json(text: str) -> int:
    return tokens.count(orjson.dumps(text).decode())
