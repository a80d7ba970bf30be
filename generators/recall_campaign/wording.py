"""The documents of the recall and the customers' answers."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mesocosm.generators.recall_campaign.planning import DAY, Customer, Order, Period, Plan
from mesocosm.kits.mailbox import Mail

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_REASONS = (
    "replaced in the store",
    "item was never shipped",
    "repaired by our workshop",
    "paid back in cash",
)
_RETURNED = (
    "I have already sent it back, you should have the parcel by now.",
    "it is back with you: I handed it in at your counter.",
    "I returned the item last week, so there is nothing left to pick up.",
)
_NOT_RETURNED = (
    "what I wrote about the parcel was too early: it came back to me, and I still have the item.",
    "I have to correct myself: the item is still here with me, the parcel was refused.",
)
_WISH = (
    "we are away, please do not come before {day}.",
    "could your van come on {day} or later? I am not at home earlier.",
    "from {day} on any time is fine, but no sooner.",
)
_CHANGED = "my plans have changed, sorry: "
_QUESTION = (
    "do I get my money back, or a new one? And does the box matter?",
    "thank you for the letter. Is it dangerous to keep it in the hall until then?",
    "may a neighbour hand it over, if I am at work?",
)


@dataclass(frozen=True)
class Document:
    """A text among the documents."""

    title: str
    content: str
    moment: dt.datetime
    evidence: bool = False


class Writer:
    """Writes what has to do with the recall."""

    def __init__(self, plan: Plan, rng: random.Random) -> None:
        self._plan = plan
        self._rng = rng

    # -- documents --------------------------------------------------------------------------------------

    def documents(self) -> Iterator[Document]:
        """The rules, every version of the notice, and the lists of settled orders."""
        plan, window = self._plan, self._plan.window
        inner = window.moved(3, -2)
        end = dt.datetime.combine(window.last, dt.time(15, 20), dt.UTC)
        yield Document("How we carry out a recall", self._policy(), end - 300 * DAY, evidence=True)
        # Superseded: other days for A, and B instead of C.
        first = [("A", window.moved(-10, -10)), ("B", window.moved(0, -10))]
        yield self._notice("revision 1", "approved", first, end + 4 * DAY)
        yield self._notice("revision 2", "approved", [("A", window), ("C", inner)], end + 9 * DAY)
        # Nobody has approved the longest period.
        draft = [("A", window.moved(0, 7)), ("C", inner)]
        yield self._notice("revision 3", "draft, not approved", draft, plan.now - DAY)
        settled = [customer for customer in plan.customers if customer.fate == "settled"]
        yield self._settled(plan.recall, [o for c in settled for o in c.orders], plan.now - 2 * DAY)
        # The list of another recall of the same shop has orders with an item that is still to be picked up.
        plain = [customer for customer in plan.customers if customer.fate == "plain"]
        other = f"R-{int(plan.recall[2:]) - 7}"
        yield self._settled(other, [o for c in plain[:2] for o in c.orders], plan.now - 3 * DAY)

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
            f"Pickups are made from {days}, beginning on {_date(hours.begin)}. The first pickup of a "
            f"day starts at {hours.opens:%H:%M} and the last one ends at {hours.closes:%H:%M}; each "
            f"takes {hours.minutes} minutes, and the next one follows at once. All these are times of "
            "the depot.",
            'A slot is taken if an event in the calendar "Pickups" overlaps it; an event of whole days '
            "takes all slots of these days. An event that is marked as free (transparency: "
            "transparent) takes none.",
            "Cases get their slots one after the other, in ascending order of their order number (the "
            "lowest, if several orders count). Each gets the earliest slot that is still free and not "
            "before the day that the customer named.",
        )
        return "\n\n".join(f"{number}. {rule}" for number, rule in enumerate(rules, 1))

    def _notice(
        self, revision: str, state: str, products: Sequence[tuple[str, Period]], moment: dt.datetime
    ) -> Document:
        plan = self._plan
        lines = [f"Recall {plan.recall}, {revision}", f"Status: {state}", ""]
        for key, period in products:
            name, sku = plan.products[key].name, plan.products[key].sku
            first, last = _date(period.first), _date(period.last)
            pattern = self._rng.choice(
                (
                    "- {name} (SKU {sku}): ordered from {first} to {last}",
                    "- SKU {sku}, {name}. Orders placed from {first} to {last}.",
                    "- We recall {name} (SKU {sku}), if it was bought from {first} to {last}.",
                )
            )
            lines.append(pattern.format(name=name, sku=sku, first=first, last=last))
        title = f"Recall {plan.recall}: notice, {revision}"
        return Document(title, "\n".join(lines), moment, evidence=True)

    def _settled(self, recall: str, orders: Sequence[Order], moment: dt.datetime) -> Document:
        lines = [f"#{order.id}: {self._rng.choice(_REASONS)}" for order in orders]
        self._rng.shuffle(lines)
        text = "\n".join([f"Settled orders of recall {recall}", "", *lines])
        return Document(
            f"Recall {recall}: settled orders", text, moment, evidence=recall == self._plan.recall
        )

    # -- mails ------------------------------------------------------------------------------------------

    def mails(self) -> Iterator[Mail]:
        """The customers' answers, in no order."""
        for customer in self._plan.customers:
            texts = list(self._answers(customer))
            # An answer is later than the letter and than the answer before it.
            minutes = sorted(self._rng.sample(range(30, 7 * 24 * 60), len(texts)))
            for minute, text in zip(minutes, texts, strict=True):
                yield self._mail(customer, self._plan.letter + dt.timedelta(minutes=minute), text)

    def _answers(self, customer: Customer) -> Iterator[str]:
        rng = self._rng
        if customer.fate in ("returned", "not_returned"):
            yield rng.choice(_RETURNED)
        if customer.fate == "not_returned":
            yield rng.choice(_NOT_RETURNED)
        for number, day in enumerate(customer.wishes):
            shown = f"{_WEEKDAYS[day.weekday()]}, {_date(day)}" if rng.random() < 0.5 else _date(day)
            yield _CHANGED * (number > 0) + rng.choice(_WISH).format(day=shown)
        if customer.fate == "returned_later":
            yield rng.choice(_RETURNED)
        if customer.fate in ("plain", "superseded") and rng.random() < 0.15:
            yield rng.choice(_QUESTION)

    def _mail(self, customer: Customer, moment: dt.datetime, text: str) -> Mail:
        plan, contact = self._plan, customer.contact
        product = plan.products[customer.orders[0].product].name
        subject = self._rng.choice(
            (
                f"Re: Recall {plan.recall}",
                "Re: Please keep your item ready",
                f"Your letter about the {product}",
            )
        )
        hello = self._rng.choice(("Hello", "Dear", "Hi"))
        body = f"{hello} {plan.account.person.first},\n\n{text}\n\n{contact.name}"
        return Mail(contact.header, moment, subject, body)


def _date(day: dt.date) -> str:
    return f"{day:%B} {day.day}, {day.year}"
