"""Everyday content of a coordinator's services, irrelevant to the task.

Most of it looks alike: other recalls of the same shop with notices, customers and their answers, and orders
that do not count, or are settled, from the same days.
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable

import orjson

from mesocosm.generators.recall_campaign import letters
from mesocosm.generators.recall_campaign.buying import shop_time
from mesocosm.generators.recall_campaign.expected import HOLDING
from mesocosm.generators.recall_campaign.params import Params
from mesocosm.generators.recall_campaign.planning import (
    DAY,
    TITLES,
    Booking,
    Casting,
    Customer,
    Order,
    Plan,
    contact_anywhere,
    plan_other_recall,
)
from mesocosm.generators.recall_campaign.remarks import Remarks
from mesocosm.generators.recall_campaign.wording import Document, Writer, letter_size
from mesocosm.kits.mailbox import Mail
from mesocosm.kits.people import Contact
from mesocosm.kits.prose import Product, Prose, RecentRuns, Topic
from mesocosm.worlds import tokens

_TITLES: dict[Topic, str] = {"shift_notes": "Shift notes", "purchasing": "Purchasing"}
"""Of what else people of a depot write down."""
# Tokens of the JSON around one item wherever the survey shows it, measured on whole worlds.
_MAIL, _DOCUMENT, _EVENT, _ORDER, _ACCOUNT = 216, 74, 316, 47, 30
_GUEST, _SETTLED = 110, 9
"""And how much more an order of a guest takes, and one that is on the list of settled orders."""
_SMALLEST = 60
_WEIGHTS = (64, 4, 3, 29)
"""Weights of mails, documents, events and orders."""
_ANSWERS = 0.85
"""Share of the mails that answer another recall, where there is room for one."""
_RECALL = 4000
"""Tokens for which another recall is begun."""
_FREE, _EARLIER = 0.35, 0.75
_DAYS_BEFORE = 14


class Everyday:
    """Mails, documents, events and orders worth a number of tokens."""

    def __init__(
        self, plan: Plan, params: Params, budget: int, rng: random.Random, memory: RecentRuns
    ) -> None:
        self._plan, self._params, self._rng = plan, params, rng
        self._prose = Prose(rng)
        self._size = letter_size(params)
        self._said = memory
        self._remarks = Remarks(plan.known, rng, memory)
        self._writer = Writer(plan, rng, self._prose, memory, self._size)
        self.mails: list[Mail] = []
        self.documents: list[Document] = []
        self.events: list[Booking] = []
        self.customers: list[Customer] = []
        self.products: dict[str, Product] = {}
        self.settled: list[Order] = []
        """Orders of the recall that are settled, by customers who are no cases."""
        self._taken = {shop_time(order.moment) for customer in plan.customers for order in customer.orders}
        self._others: list[tuple[Plan, Writer]] = []
        """Recalls whose lists of settled orders are to be written once orders have their numbers."""
        self._waiting: list[Mail] = []
        self._addresses = {customer.contact.email for customer in plan.customers}
        self._codes = {product.sku for product in plan.products.values()}
        self._recalls = {plan.recall, plan.other_recall}
        self._casting = Casting(rng, self._prose, plan.zone, plan.window, plan.hours)
        pickups = sum(customer.fate in HOLDING for customer in plan.customers)
        slots = zip(plan.hours.slots(plan.zone), range(2 * pickups + 60), strict=False)
        self._days = max(slot.date() for slot, _ in slots) - plan.hours.begin
        self.since = plan.hours.begin - _DAYS_BEFORE * DAY
        """No event lies before this day."""
        self.until = plan.hours.begin + self._days + 9 * DAY
        """No event lies on this day or later, and no slot is given out then."""
        kinds: tuple[Callable[[int], int], ...] = (self._mail, self._document, self._event, self._order)
        left = budget
        while left >= _EVENT + _SMALLEST:
            left -= rng.choices(kinds, _WEIGHTS)[0](left)
        # What is too little for any of them; fewer tokens than this are no sentence.
        if left >= _DOCUMENT + _SMALLEST:
            self._document(left, left - _DOCUMENT - 12)
            left = 0
        self.rest = self._rest(left) if left >= 12 else ""
        """For the last of the documents, or for a mail if there are none."""

    def _rest(self, size: int) -> str:
        if self.documents:
            return self._prose.text("shift_notes", size)
        product = self._plan.products["A"].name
        absent = [name for customer in self._plan.customers for name in customer.contact.name.split()]
        return letters.beside(self._prose, self._said, size, product, tuple(absent))

    def documents_of_others(self) -> list[Document]:
        """Notices and lists of the other recalls."""
        return [document for _, writer in self._others for document in (*writer.notices(), *writer.lists())]

    def _mail(self, left: int) -> int:
        begun = self._begin_recall() if not self._waiting and left > _RECALL else 0
        if not any(customer.fate == "ordinary" for customer in self.customers):
            begun += self._order(left)
        if self._waiting and self._rng.random() < _ANSWERS:
            mail = self._waiting.pop()
        else:
            mail = self._about_something_else()
        self.mails.append(mail)
        return begun + _MAIL + _in_json(mail.body) + 2 * tokens.count(mail.subject)

    def _about_something_else(self) -> Mail:
        """By a customer of the shop who has nothing to do with any recall."""
        rng = self._rng
        customer = rng.choice([who for who in self.customers if who.fate == "ordinary"])
        product = (self._plan.products | self.products)[customer.orders[0].product].name
        recent = rng.random() < 0.8
        moment = self._writer.ago(rng.randint(1, 7) if recent else rng.randint(9, 40))
        # Nobody speaks of the letter before it came.
        text = self._writer.question() if recent and rng.random() < 0.6 else ""
        subjects = letters.QUESTION_SUBJECTS if text else letters.OTHER_SUBJECTS
        return self._writer.write(customer.contact, moment, text, subjects, product)

    def _contact(self) -> Contact:
        """Somebody with an address of their own: people are drawn apart, and may be called alike."""
        contact = contact_anywhere(self._prose, self._rng)
        while contact.email in self._addresses:
            contact = contact_anywhere(self._prose, self._rng)
        self._addresses.add(contact.email)
        return contact

    def _begin_recall(self) -> int:
        other = plan_other_recall(self._plan, self._params, self._rng, self._prose)
        codes = {product.sku for product in other.products.values()}
        if other.recall in self._recalls or codes & self._codes:
            return 0
        self._recalls.add(other.recall)
        self._codes |= codes
        for customer in other.customers:
            customer.contact = self._contact()
        writer = Writer(other, self._rng, self._prose, self._said, self._size)
        self._others.append((other, writer))
        self.products |= other.products
        self.customers += other.customers
        self._waiting = list(writer.mails())
        self._rng.shuffle(self._waiting)
        contacts = [customer.contact for customer in other.customers]
        shown = sum(_ACCOUNT + tokens.count(who.email) + tokens.count(who.name) for who in contacts)
        return shown + 3 * (_DOCUMENT + 150) + _DOCUMENT + 110 + len(other.products) * 40

    def _document(self, left: int, size: int = 0) -> int:
        topic = self._rng.choice(sorted(_TITLES))
        size = size or max(_SMALLEST // 2, min(self._rng.randint(_SMALLEST, 260), left - _DOCUMENT))
        text = self._prose.text(topic, size)
        moment = self._writer.ago(self._rng.randint(1, 60))
        # A number keeps titles apart; it is not that of a recall.
        title = f"{_TITLES[topic]} {moment:%Y-%m-%d}/{len(self.documents) + 1}"
        self.documents.append(Document(title, text, moment))
        return _DOCUMENT + tokens.count(text) + tokens.count(title)

    def _event(self, left: int) -> int:
        """In the calendar of pickups, but free, on a day without pickups or before them: it takes no slot."""
        rng, hours = self._rng, self._plan.hours
        draw = rng.random()
        free = draw < _FREE
        if free:
            day = hours.begin + rng.randint(0, self._days.days // 2) * DAY
        elif draw < _EARLIER:
            day = hours.begin - rng.randint(1, _DAYS_BEFORE) * DAY
        else:
            day = hours.begin + rng.randint(0, self._days.days) * DAY
            while day.weekday() in hours.weekdays:
                day += DAY
        start = dt.datetime.combine(day, dt.time(rng.randint(hours.opens.hour, hours.closes.hour - 1)))
        start += dt.timedelta(minutes=rng.choice((0, 0, 0, 30, 15)))
        title = rng.choice(TITLES)
        text = self._remarks.event(title)
        end = start + dt.timedelta(minutes=hours.minutes)
        self.events.append(Booking(title, start, end, free=free, description=text))
        return _EVENT + _in_json(text)

    def _order(self, left: int) -> int:
        """By somebody with whom there is nothing to arrange: drawn like the orders of the recall, and settled
        if it would count."""
        plan = self._plan
        like = self._rng.choice(plan.customers)
        order = self._casting.order(like.fate)
        while shop_time(order.moment) in self._taken:
            order = self._casting.order(like.fate)
        contact = self._contact()
        self.customers.append(Customer(contact, "ordinary", [order], guest=like.guest))
        spent = _ORDER + tokens.count(contact.email) + tokens.count(contact.name) + _GUEST * like.guest
        if not plan.concerns(order):
            return spent
        self.settled.append(order)
        return spent + _SETTLED


def _in_json(text: str) -> int:
    return tokens.count(orjson.dumps(text).decode())
