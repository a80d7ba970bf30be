"""The documents of the recall and the customers' answers."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mesocosm.generators.recall_campaign import letters
from mesocosm.generators.recall_campaign.letters import letter, say
from mesocosm.generators.recall_campaign.params import Params
from mesocosm.generators.recall_campaign.planning import DAY, Customer, Order, Period, Plan
from mesocosm.generators.recall_campaign.remarks import Remarks
from mesocosm.kits.mailbox import Mail, awake
from mesocosm.kits.people import Contact
from mesocosm.kits.prose import Prose, RecentRuns

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_REASONS = (
    "replaced in the store",
    "item was never shipped",
    "repaired by our workshop",
    "paid back in cash",
    "exchanged at the counter",
    "voucher taken",
    "collected by the carrier",
    "swapped at a fair",
    "scrapped on the spot, with proof",
    "sold on, and dealt with by the buyer",
)
_ITEMS = (
    "- {name} (SKU {sku})[: ordered|, bought|: orders] from {first} [to|until] {last}",
    "- SKU {sku}, {name}. [Orders placed|Orders|All orders] from {first} to {last}.",
    "- We [recall|take back] {name} (SKU {sku}), if it was [bought|ordered|sold] from {first} to {last}.",
    "- [Bought|Ordered|Sold] between {first} and {last}: {name}, SKU {sku}",
    "- {first} to {last}: [all orders of|every order of|whoever bought] {name} (SKU {sku})",
    "- Every {name} (SKU {sku}) [that was ordered|ordered|bought] on {first}, on {last} or in between",
    "- {name}, SKU {sku}. The first [day|date] [is|was] {first}, the last [one|day] {last}.",
    "- [Affected|Concerned|It is about]: SKU {sku} ({name}), [ordered|orders|bought] from {first} to {last}",
)
_FEW = 24
_BACKGROUND = (20, 110)
"""Tokens of what a document says around its matter."""


@dataclass(frozen=True)
class Document:
    """A text among the documents."""

    title: str
    content: str
    moment: dt.datetime
    evidence: bool = False
    created: dt.datetime | None = None
    """If not at the same moment."""


class Writer:
    """Writes what has to do with the recall."""

    def __init__(
        self, plan: Plan, rng: random.Random, prose: Prose, memory: RecentRuns, size: tuple[int, int]
    ) -> None:
        self._plan, self._rng, self._prose, self._said = plan, rng, prose, memory
        self._size = size
        self._remarks = Remarks(plan.known, rng, memory)

    # -- documents --------------------------------------------------------------------------------------

    def notices(self) -> Iterator[Document]:
        """The rules, and every version of the notice."""
        plan, window = self._plan, self._plan.window
        inner = plan.periods["C"]
        end = dt.datetime.combine(window.last, dt.time(15, 20), plan.zone)
        if not plan.prefix:
            # The days of this recall were put in when it began.
            changed = self._worked(plan.letter - self._rng.randint(0, 1) * DAY)
            yield Document(
                "How we carry out a recall",
                self._policy(),
                changed,
                evidence=True,
                created=self._worked(end - 300 * DAY),
            )
            # Another recall touched some of the same orders.
            earlier = [("E", Period(window.first - 5 * DAY, window.last - 8 * DAY))]
            moment = self._worked(end + 2 * DAY)
            yield replace(
                self._notice("revision 1", "approved", earlier, moment, plan.other_recall), evidence=False
            )
        # Superseded: other days for A, and B instead of C.
        first = [("A", window.moved(-10, -10)), ("B", window.moved(0, -10))]
        yield self._notice("revision 1", "approved", first, self._worked(end + 4 * DAY))
        yield self._notice(
            "revision 2", "approved", [("A", window), ("C", inner)], self._worked(end + 9 * DAY)
        )
        # Nobody has approved the longest period.
        draft = [("A", window.moved(0, 7)), ("C", inner)]
        yield self._notice("revision 3", "draft, not approved", draft, self._worked(plan.now - DAY))

    def lists(self, settled: Sequence[Order] = ()) -> Iterator[Document]:
        """The lists of settled orders, which have their numbers: those of the customers, and ``settled``."""
        plan = self._plan
        cases = [customer for customer in plan.customers if customer.fate == "settled"]
        orders = [*settled, *(order for customer in cases for order in customer.orders)]
        yield self._settled(plan.recall, orders, self._worked(plan.now - 2 * DAY))
        if plan.prefix:
            return
        # The list of another recall of the same shop has orders with an item that is still to be picked up.
        both = [order for customer in plan.customers for order in customer.orders if order.further == "E"]
        yield self._settled(plan.other_recall, both, self._worked(plan.now - 3 * DAY))

    def _worked(self, moment: dt.datetime) -> dt.datetime:
        """A moment at which people are at work, hours from the given one, or days where that is no working
        day."""
        local = moment.astimezone(self._plan.zone)
        moment -= max(0, local.weekday() - 4) * DAY
        return moment.replace(microsecond=0) + dt.timedelta(seconds=self._rng.randint(-14_000, 3_000))

    def _policy(self) -> str:
        plan, hours = self._plan, self._plan.hours
        days = f"{_WEEKDAYS[hours.weekdays[0]]} to {_WEEKDAYS[hours.weekdays[-1]]}"
        rules = (
            "Of the notice of a recall the approved revision with the highest number counts, and it "
            "replaces all others. Drafts do not count.",
            "An order counts if it has a product that the notice names by its SKU and was placed on "
            "one of the days given for that product, first and last day included. Days are those of "
            f"the depot's clocks (time zone {plan.zone}); the shop shows times in UTC.",
            "Orders that are cancelled, failed or refunded do not count, nor do those on the list of "
            "settled orders of the same recall.",
            "All orders that count and belong to one customer account are one case. A guest's order is "
            "a case of its own.",
            "Customers answer our letter from the address of their account, guests from their billing "
            "address. Who has returned the item needs no pickup. Who names a day is visited on that "
            "day or later. Where two answers say different things, the later one counts; questions "
            "change nothing.",
            f"Pickups are made from {days}, beginning on {_date(hours.begin)}. The first slot of a "
            f"day starts at {hours.opens:%H:%M} and the last one ends at {hours.closes:%H:%M}; each "
            f"takes {hours.minutes} minutes. Slots start at {self._grid()} and so on, whatever is in the "
            "calendar, and at no other times. All these are times of the depot.",
            'A slot is taken if an event in the calendar "Pickups" overlaps it; an event of whole days '
            "takes all slots of these days. An event that is marked as free (transparency: "
            "transparent) takes none.",
            "Cases get their slots one after the other, in ascending order of their order number (the "
            "lowest, if several orders count). Each gets the earliest slot that is still free and not "
            "before the day that the customer named.",
        )
        return "\n\n".join(f"{number}. {rule}" for number, rule in enumerate(rules, 1))

    def _grid(self) -> str:
        hours = self._plan.hours
        first = dt.datetime.combine(hours.begin, hours.opens)
        return ", ".join(f"{first + n * dt.timedelta(minutes=hours.minutes):%H:%M}" for n in range(3))

    def _notice(
        self,
        revision: str,
        state: str,
        products: Sequence[tuple[str, Period]],
        moment: dt.datetime,
        recall: str = "",
    ) -> Document:
        plan = self._plan
        recall = recall or plan.recall
        lines = [f"Recall {recall}, {revision}", f"Status: {state}", ""]
        for key, period in products:
            name, sku = plan.products[plan.prefix + key].name, plan.products[plan.prefix + key].sku
            first, last = _date(period.first), _date(period.last)
            before = " ".join(lines)
            lines.append(self._say(_ITEMS, before, name=name, sku=sku, first=first, last=last))
        title = f"Recall {recall}: notice, {revision}"
        return Document(
            title,
            "\n".join([*lines, "", self._remarks.notice(self._rng.randint(*_BACKGROUND), lines[-1])]),
            moment,
            evidence=True,
        )

    def _settled(self, recall: str, orders: Sequence[Order], moment: dt.datetime) -> Document:
        lines = [f"#{order.id}: {self._rng.choice(_REASONS)}" for order in orders]
        self._rng.shuffle(lines)
        remarks = self._remarks.settled(self._rng.randint(*_BACKGROUND))
        text = "\n".join([f"Settled orders of recall {recall}", "", *lines, "", remarks])
        return Document(
            f"Recall {recall}: settled orders", text, moment, evidence=recall == self._plan.recall
        )

    # -- mails ------------------------------------------------------------------------------------------

    def mails(self) -> Iterator[Mail]:
        """The customers' answers, in no order."""
        for customer in self._plan.customers:
            texts = list(self._answers(customer))
            # An answer is later than the letter and than the answer before it.
            days = sorted(self._rng.sample(range(1, 8), len(texts)), reverse=True)
            for day, text in zip(days, texts, strict=True):
                yield self._mail(customer, self.ago(day), text)

    def _say(self, ways: tuple[str, ...], before: str = "", **values: str) -> str:
        return self._said.draw(lambda: say(self._rng, ways, **values), before)

    def question(self) -> str:
        """Write a question that changes nothing."""
        return self._say(letters.QUESTION)

    def ago(self, days: int) -> dt.datetime:
        """A moment so many days ago at which people are awake."""
        plan = self._plan
        return awake(plan.local(plan.now).date() - days * DAY, self._rng, plan.zone)

    def _answers(self, customer: Customer) -> Iterator[str]:
        rng = self._rng
        if customer.fate == "returned":
            yield self._say(letters.RETURNED)
        if customer.fate == "not_returned":
            for ways in rng.choice(letters.TAKEN_BACK):
                yield self._say(ways)
        for number, day in enumerate(customer.wishes):
            shown = f"{_WEEKDAYS[day.weekday()]}, {_date(day)}" if rng.random() < 0.5 else _date(day)
            changed = self._say(letters.CHANGED) if number else ""
            yield f"{changed} {self._say(letters.WISH, changed, day=shown)}".lstrip()
        if customer.fate == "returned_later":
            yield self._say(letters.LATER)
        if customer.fate in ("plain", "superseded") and rng.random() < 0.15:
            yield self.question()

    def _mail(self, customer: Customer, moment: dt.datetime, text: str) -> Mail:
        product = self._plan.products[customer.orders[0].product].name
        return self.write(customer.contact, moment, text, letters.SUBJECTS, product)

    def write(
        self, contact: Contact, moment: dt.datetime, text: str, subjects: tuple[str, ...], product: str
    ) -> Mail:
        """A mail of a customer to the coordinator, which states ``text``, or nothing."""
        plan, rng = self._plan, self._rng
        first = contact.person.first
        subject = say(rng, subjects, product=product, recall=plan.recall, first=first)
        hello = rng.choice(("Hello", "Dear", "Hi"))
        names = (first, plan.account.person.first)
        said = letter(rng, self._prose, self._said, text, rng.randint(*self._size), product, names)
        name = contact.name if rng.random() < 0.6 else first
        return Mail(
            contact.header, moment, subject, f"{hello} {plan.account.person.first},\n\n{said}\n\n{name}",
            answers=plan.letter_id if subject == letters.LETTER else None,
        )  # fmt: skip


def letter_size(params: Params) -> tuple[int, int]:
    """Return the range of letters' sizes in tokens: shorter if there are few customers and little room."""
    return (30, 70) if params.num_customers < _FEW else (90, 220)


def _date(day: dt.date) -> str:
    return f"{day:%B} {day.day}, {day.year}"
