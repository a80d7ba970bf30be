"""The recall, its dates and its cases, before anything is written."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from zoneinfo import ZoneInfo

from mesocosm.generators.recall_campaign.expected import HOLDING
from mesocosm.generators.recall_campaign.params import Params
from mesocosm.generators.recall_campaign.remarks import Known, Remarks
from mesocosm.kits.moments import is_holiday
from mesocosm.kits.people import Contact
from mesocosm.kits.prose import Product, Prose, RecentRuns

_ZONES = ("America/Chicago", "America/New_York", "America/Los_Angeles", "Europe/Helsinki", "Asia/Kolkata")
DOMAINS = ("postbox.example", "brightmail.example", "inkwell.example", "lettermill.example")
TITLES = (
    "Van booked", "Furniture delivery", "Inspection papers", "Driver on call", "Tour notes",
    "Depot tidied up",
)  # fmt: skip
"""Of events in the calendar of pickups: whether one takes a slot is not in its title."""
_TRADES = ("Stores", "Trading", "Supplies", "Department Store", "Home and Leisure", "Emporium", "Warehouse")
"""Names of shops that sell all kinds of things."""
DAY = dt.timedelta(days=1)
DEAD = ("refunded", "cancelled", "failed")
"""States of orders that do not count."""
_OTHER_CUSTOMERS = 18
"""Of each other recall."""


@dataclass(frozen=True)
class Period:
    """Days of orders, the first and the last one included."""

    first: dt.date
    last: dt.date

    def moved(self, first: int, last: int) -> Period:
        """Begins and ends so many days later."""
        return Period(self.first + first * DAY, self.last + last * DAY)


@dataclass(frozen=True)
class Hours:
    """Opening hours for pickups."""

    begin: dt.date
    """The first day on which there could be any."""
    weekdays: tuple[int, ...]
    opens: dt.time
    closes: dt.time
    minutes: int

    def slots(self, zone: ZoneInfo) -> Iterator[dt.datetime]:
        """The starts of all slots, free or not, on the depot's clocks."""
        day = self.begin
        while True:
            start = dt.datetime.combine(day, self.opens)
            while start + dt.timedelta(minutes=self.minutes) <= dt.datetime.combine(day, self.closes):
                if day.weekday() in self.weekdays:
                    yield start.replace(tzinfo=zone)
                start += dt.timedelta(minutes=self.minutes)
            day += DAY


@dataclass
class Order:
    """An order for one of the products."""

    product: str
    """A key of ``Plan.products``."""
    moment: dt.datetime
    status: str = "completed"
    further: str | None = None
    """A product that the recall does not touch, in the same order."""
    id: int = 0
    """Given by the shop."""


@dataclass
class Customer:
    """Somebody who bought something."""

    contact: Contact
    fate: str
    orders: list[Order]
    guest: bool = False
    wishes: list[dt.date] = field(default_factory=list)
    """Days asked for, the last one of which counts."""


@dataclass(frozen=True)
class Booking:
    """An event on the calendar of pickups: times of the depot, or whole days."""

    title: str
    start: dt.datetime
    end: dt.datetime
    whole_days: bool = False
    free: bool = False
    description: str = ""


@dataclass(frozen=True)
class Plan:
    """Everything that the world is written from."""

    shop: str
    domain: str
    zone: ZoneInfo
    account: Contact
    """The coordinator."""
    recall: str
    products: dict[str, Product]
    """``A`` and ``C`` are recalled, ``B`` was by mistake, ``lookalike`` is called like ``A``; ``E`` is what
    another recall is about."""
    window: Period
    hours: Hours
    letter: dt.datetime
    now: dt.datetime
    customers: list[Customer]
    bookings: list[Booking]
    known: Known
    letter_id: str
    """The message-id of the letter that all customers got."""
    prefix: str = ""
    """Tells the products of another recall from those of the one that is asked for."""

    @property
    def other_recall(self) -> str:
        """An earlier one, of something in two of the orders that count."""
        return f"R-{int(self.recall[2:]) - 7}"

    @property
    def periods(self) -> dict[str, Period]:
        """By recalled product: the days of the approved notice."""
        return {"A": self.window, "C": self.window.moved(3, -2)}

    def local(self, moment: dt.datetime) -> dt.datetime:
        """A moment on the depot's clocks."""
        return moment.astimezone(self.zone)

    def concerns(self, order: Order) -> bool:
        """True if the notice names the product and the day, and the order is valid."""
        period = self.periods.get(order.product)
        stands = order.status not in DEAD
        return bool(period and stands and period.first <= self.local(order.moment).date() <= period.last)


def plan_recall(params: Params, rng: random.Random, prose: Prose) -> Plan:
    """Draw the recall and its cases."""
    zone = ZoneInfo(rng.choice(_ZONES))
    company = f"{prose.company().split()[0].strip(',')} {rng.choice(_TRADES)}"
    known = Known.draw(prose, metric=not str(zone).startswith("America"))
    domain = "".join(c for c in company.lower() if c.isascii() and c.isalnum()) + ".example"
    account = Contact.at(domain, prose)
    first = dt.date(2025, rng.choice((2, 3, 4, 8, 9)), rng.randint(1, 20))
    window = Period(first, first + 34 * DAY)
    # Late in a week: what was done on the days before was done on working days.
    near = [window.last + days * DAY for days in range(19, 25)]
    late = [day for day in near if day.weekday() in (3, 4)]
    today = rng.choice([day for day in late if not is_holiday(day)] or late)
    now = dt.datetime.combine(today, dt.time(17, rng.randint(0, 59)), zone)
    hours = _hours(today, rng)
    fates = params.fates()
    rng.shuffle(fates)
    casting = Casting(rng, prose, zone, window, hours)
    customers = [casting.customer(fate) for fate in fates]
    for customer in [customer for customer in customers if customer.fate == "plain"][:2]:
        customer.orders[0].further = "E"
    pickups = sum(fate in HOLDING for fate in fates)
    return Plan(
        shop=company,
        domain=domain,
        zone=zone,
        account=account,
        recall=f"R-{rng.randint(110, 980)}",
        products=_products(prose, rng, "ABCDE"),
        window=window,
        hours=hours,
        letter=(now - 8 * DAY).astimezone(dt.UTC),
        now=now.astimezone(dt.UTC),
        customers=customers,
        bookings=_bookings(params, pickups, hours, zone, Remarks(known, rng, RecentRuns()), rng),
        known=known,
        letter_id=f"<{rng.getrandbits(40):010x}@{domain}>",
    )


def plan_other_recall(plan: Plan, params: Params, rng: random.Random, prose: Prose) -> Plan:
    """Another recall of the same shop at the same time, with customers of its own, planned alike."""
    recall = plan.recall
    while recall == plan.recall:
        recall = f"R-{rng.randint(110, 980)}"
    window = plan.window.moved(shift := rng.randint(-20, 0), shift)
    fates = params.model_copy(update={"num_customers": _OTHER_CUSTOMERS}).fates()
    # All guests bought what this recall is about: the list of guests is as that of a product, whose orders
    # that do not count are drawn from those that do.
    fates = ["plain" if fate == "guest" else fate for fate in fates]
    rng.shuffle(fates)
    casting = Casting(rng, prose, plan.zone, window, plan.hours)
    customers = [casting.customer(fate) for fate in fates]
    prefix = f"{recall} {len(prose.person().handle)}{rng.randrange(10**6)} "
    for customer in customers:
        for order in customer.orders:
            order.product = prefix + order.product
            order.further = order.further and prefix + order.further
    products = {prefix + key: product for key, product in _products(prose, rng, "ABCD").items()}
    return replace(
        plan, recall=recall, window=window, customers=customers, products=products, bookings=[], prefix=prefix
    )


def contact_anywhere(prose: Prose, rng: random.Random) -> Contact:
    """Somebody with an address at one of the customers' domains."""
    person = prose.person()
    return Contact(person, f"{person.handle}@{rng.choice(DOMAINS)}")


def _hours(today: dt.date, rng: random.Random) -> Hours:
    weekdays = rng.choice(((0, 1, 2, 3, 4), (1, 2, 3, 4, 5)))
    begin = today + rng.randint(2, 4) * DAY
    while begin.weekday() not in weekdays:
        begin += DAY
    opens, closes = rng.choice((8, 9, 10)), rng.choice((15, 16, 17))
    return Hours(begin, weekdays, dt.time(opens), dt.time(closes), rng.choice((30, 60)))


_RECALLED = (
    "Baby",
    "Bicycle",
    "Garden",
    "Home",
    "Kitchen",
    "Lighting",
    "Office",
    "Outdoor",
    "Sports",
    "Tools",
    "Toys",
)
"""Categories of goods that have coatings, joints and edges."""


def _products(prose: Prose, rng: random.Random, keys: str) -> dict[str, Product]:
    # One kind each, so that no two are mixed up.
    kinds = rng.sample(_RECALLED, len(keys))
    drawn = {key: prose.product(kind) for key, kind in zip(keys, kinds, strict=True)}
    recalled = drawn["A"]
    # Bought like the recalled one and called almost like it, with a SKU of its own.
    drawn["lookalike"] = Product(
        f"{recalled.name} Plus", f"{recalled.sku}P", recalled.category,
        f"{recalled.blurb} The Plus comes in a bag of its own.", f"{float(recalled.price) * 1.25:.2f}",
    )  # fmt: skip
    return drawn


class Casting:
    """Makes customers of fates."""

    def __init__(
        self, rng: random.Random, prose: Prose, zone: ZoneInfo, window: Period, hours: Hours
    ) -> None:
        self._rng, self._prose, self._zone = rng, prose, zone
        self._window, self._hours = window, hours

    def customer(self, fate: str) -> Customer:
        """A customer, and the orders and wishes that make the fate."""
        contact = contact_anywhere(self._prose, self._rng)
        orders = [self.order(fate)]
        if fate == "two_orders":
            orders.append(self._ordinary())
        wishes = {"later_day": 1, "day_changed": 2, "returned_later": 1}.get(fate, 0)
        days = [self._hours.begin + day * DAY for day in self._rng.sample(range(2, 9), wishes)]
        return Customer(contact, fate, orders, guest=fate == "guest", wishes=days)

    def order(self, fate: str) -> Order:
        """The first order of a customer of that fate."""
        rng, window = self._rng, self._window
        match fate:
            case "boundary_in":
                return Order("A", self._edge(inside=True))
            case "boundary_out":
                return Order("A", self._edge(inside=False))
            case "revised_in":
                if rng.random() < 0.5:
                    return Order("C", self._during(window.moved(4, -3)))
                return Order("A", self._during(Period(window.last - 9 * DAY, window.last - DAY)))
            case "superseded":
                if rng.random() < 0.5:
                    return Order("B", self._during(window.moved(1, -11)))
                return Order("A", self._during(Period(window.first - 9 * DAY, window.first - 2 * DAY)))
            case "draft":
                return Order("A", self._during(Period(window.last + 2 * DAY, window.last + 6 * DAY)))
            case "lookalike":
                return Order("lookalike", self._during(window.moved(1, -1)))
            case "refunded":
                order = self._ordinary()
                order.status = rng.choice(DEAD)
                return order
        return self._ordinary()

    def _ordinary(self) -> Order:
        """Draw an order that every version of the notice covers."""
        status = "processing" if self._rng.random() < 0.15 else "completed"
        further = "D" if self._rng.random() < 0.2 else None
        return Order("A", self._during(self._window.moved(1, -11)), status, further)

    def _during(self, period: Period) -> dt.datetime:
        day = period.first + self._rng.randint(0, (period.last - period.first).days) * DAY
        time = dt.time(self._rng.randint(6, 21), self._rng.randint(0, 59), self._rng.randint(0, 59))
        return dt.datetime.combine(day, time, self._zone).astimezone(dt.UTC)

    def _edge(self, *, inside: bool) -> dt.datetime:
        """A moment whose date in UTC, which the shop shows, says the opposite of the depot's date."""
        window, minute, second = self._window, self._rng.randint(3, 50), self._rng.randint(0, 59)
        west = dt.datetime.combine(window.first, dt.time(12), self._zone).utcoffset() or dt.timedelta()
        if west < dt.timedelta():
            day, time = (window.last if inside else window.first - DAY), dt.time(23, minute, second)
        else:
            day, time = (window.first if inside else window.last + DAY), dt.time(0, minute, second)
        return dt.datetime.combine(day, time, self._zone).astimezone(dt.UTC)


def _bookings(
    params: Params, pickups: int, hours: Hours, zone: ZoneInfo, remarks: Remarks, rng: random.Random
) -> list[Booking]:
    """Draw the calendar: closed days, taken slots, and notes that take none."""
    closed = [_whole_day("Depot closed: the van is at the garage", hours.begin)]
    slots = hours.slots(zone)
    number = max(2, round(params.booking_rate * pickups))
    near = [
        slot for slot, _ in zip(slots, range(3 * pickups + 60), strict=False) if slot.date() != hours.begin
    ]
    days = sorted({slot.date() for slot in near[: pickups + number]})
    # Every eighth day or so the depot is closed, however long the campaign is.
    closed += [_whole_day("Depot closed: stocktaking", day) for day in days[3::8] if not is_holiday(day)]
    closed += [_whole_day("Depot closed: a day off for everybody", day) for day in days if is_holiday(day)]
    shut = {booking.start.date() for booking in closed}
    open_ = [slot for slot in near if slot.date() not in shut][: pickups + number]
    drawn = rng.sample(range(pickups), min(pickups, number + max(1, pickups // 10)))
    taken = []
    for place, index in enumerate(drawn):
        start, length = open_[index].replace(tzinfo=None), dt.timedelta(minutes=hours.minutes)
        free = place >= number
        if place % 3 == 1 and not free:
            # Not along the slots: it takes both of those that it touches.
            start += dt.timedelta(minutes=15)
        title = rng.choice(TITLES)
        taken.append(Booking(title, start, start + length, free=free, description=remarks.event(title)))
    return [*closed, *taken]


def _whole_day(title: str, day: dt.date) -> Booking:
    start = dt.datetime.combine(day, dt.time())
    return Booking(title, start, start + DAY, whole_days=True)
