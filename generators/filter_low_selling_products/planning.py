"""The shop, its products with their sales, and its subscribers, before anything is written."""

from __future__ import annotations

import datetime as dt
import random
from dataclasses import dataclass, field, replace
from itertools import pairwise

from mesocosm.generators.filter_low_selling_products.expected import Reader
from mesocosm.generators.filter_low_selling_products.params import MOVED, Params
from mesocosm.kits.people import Contact
from mesocosm.kits.prose import Person, Product, Prose

CLEARANCE = "Clearance"
ARCHIVE = "Clearance Archive"
"""A category that only sounds like the right one."""
WINDOW = 30
TIERS = ((180, 15), (365, 30), (100_000, 45))
"""(longest time on the shelf in days, discount in percent)"""
COUNTED = ("processing", "completed")
VOID = ("pending", "on-hold", "cancelled", "refunded", "failed")
_EDGES = (180, 181, 365, 366)
DOMAINS = (
    "postbox.example",
    "brightmail.example",
    "inkwell.example",
    "mailhaven.example",
    "quickpost.example",
)
"""Of addresses of people who read newsletters."""
_SHOPS = (
    "General Store", "Department Store", "Trading Company", "Emporium", "Warehouse", "Stores", "Market Hall",
)  # fmt: skip
"""They sell everything."""
_CATEGORIES = (
    "Kitchen", "Garden", "Lighting", "Office", "Sports", "Tools", "Toys", "Outdoor", "Home", "Pets", "Music",
    "Bicycle", "Baby", "Footwear",
)  # fmt: skip

_NEAR = {
    "Kitchen": ("Home",), "Garden": ("Outdoor", "Tools"), "Lighting": ("Office", "Home"), "Office": ("Home",),
    "Sports": ("Outdoor", "Bicycle"), "Tools": ("Garden", "Home"), "Toys": ("Baby",), "Outdoor": ("Sports",),
    "Home": ("Kitchen", "Lighting"), "Pets": ("Home",), "Music": ("Home",), "Bicycle": ("Sports", "Outdoor"),
    "Baby": ("Toys", "Home"), "Footwear": ("Outdoor", "Sports"),
}  # fmt: skip
"""Where else a product of a category may stand."""


@dataclass(frozen=True)
class Sale:
    """Pieces of one product in one order; ``days`` is how many days before today, ``late`` in the evening."""

    product: int
    pieces: int
    status: str = ""
    """Empty: any status that counts."""
    days: int | None = None
    """``None``: any day of the window."""
    late: bool | None = None


@dataclass(frozen=True)
class Ware:
    """A product to be, with what it sold."""

    name: str
    sku: str
    blurb: str
    fate: str
    price: int
    discount: int
    created: dt.datetime
    status: str
    in_stock: bool
    categories: tuple[str, ...]
    sale: int = 0
    """Sale in percent off, 0 for none."""
    sale_from: dt.date | None = None
    sale_to: dt.date | None = None


@dataclass
class Plan:
    """Everything that the world is written from."""

    shop: str
    domain: str
    manager: Person
    shelf_days: int
    min_sales: int
    now: dt.datetime
    categories: list[str]
    wares: list[Ware] = field(default_factory=list)
    sales: list[Sale] = field(default_factory=list)
    readers: list[Reader] = field(default_factory=list)
    people: list[Person] = field(default_factory=list)
    """The readers as people, in the same order."""

    @property
    def account(self) -> Contact:
        """The shop's manager at the shop's address."""
        return Contact(self.manager, f"news@{self.domain}")

    @property
    def today(self) -> dt.datetime:
        """Midnight at which today began."""
        return self.now.replace(hour=0, minute=0, second=0)


def plan_shop(params: Params, rng: random.Random, prose: Prose) -> Plan:
    """Draw the shop with its catalogue and its subscribers."""
    shop = f"{prose.place()} {rng.choice(_SHOPS)}"
    domain = "".join(letter for letter in shop.lower() if letter.isalnum()) + ".example"
    day = dt.date(2025, rng.randint(3, 11), rng.randint(2, 25))
    if day.weekday() > 4:  # the shop is looked after on working days
        day += dt.timedelta(days=7 - day.weekday())
    size = sum(params.numbers())
    now = dt.datetime.combine(day, dt.time(rng.randint(9, 16), rng.randint(0, 59)), dt.UTC)
    plan = Plan(
        shop=shop,
        domain=domain,
        manager=prose.person(),
        shelf_days=rng.choice((60, 75, 90, 120)),
        min_sales=rng.choice((6, 8, 10, 12)),
        now=now,
        categories=list(_CATEGORIES[: min(len(_CATEGORIES), 4 + size // 40)]),
    )
    _plan_products(plan, params, rng, prose)
    _plan_readers(plan, params, rng, prose)
    return plan


def _plan_products(plan: Plan, params: Params, rng: random.Random, prose: Prose) -> None:
    fates = params.fates()
    rng.shuffle(fates)
    for index, fate in enumerate(fates):
        category = rng.choice(plan.categories)
        plan.wares.append(_ware(plan, fate, prose.product(category), category, rng))
        plan.sales += _sales(plan, index, fate, rng)
    if "popular" in fates and "slow" in fates:
        # Two products share a name: the SKU tells apart the one that sells from the one that does not.
        slow, place = plan.wares[fates.index("slow")], fates.index("popular")
        plan.wares[place] = _twin(plan.wares[place], slow, {ware.sku for ware in plan.wares})


def _twin(ware: Ware, other: Ware, taken: set[str]) -> Ware:
    """The product under another's name, of its kind and price, with a SKU that is like the other's."""
    stem, _, digits = other.sku.partition("-")
    number = int(digits) + 1
    while f"{stem}-{number:04}" in taken:
        number += 1
    return replace(
        ware, name=other.name, sku=f"{stem}-{number:04}", blurb=other.blurb, price=other.price + 20,
        categories=other.categories,
    )  # fmt: skip


def _ware(plan: Plan, fate: str, drawn: Product, category: str, rng: random.Random) -> Ware:
    days = _days(plan, fate, rng)
    # A count of hours instead of days goes wrong at both boundaries: it is between nine and five now.
    first, last = {"day_over": (17, 20), "boundary_day": (6, 8)}.get(fate, (6, 20))
    clock = dt.timedelta(hours=rng.randint(first, last), seconds=rng.randint(0, 3599))
    tier = next(percent for longest, percent in TIERS if days <= longest)
    sale, start, end = 0, None, None
    today = plan.now.date()
    if fate == "sale_deeper":
        sale = rng.choice([percent for percent in (20, 25, 40, 50, 55, 60) if percent > tier])
        if rng.random() < 0.5:
            end = today + dt.timedelta(days=rng.randint(5, 40))
    elif fate == "sale_shallow":
        sale = rng.choice((5, 10))
    elif fate == "sale_ended":
        sale = rng.choice((50, 60, 65))
        # Over, or yet to begin: either way not in force.
        if rng.random() < 0.6:
            end = today - dt.timedelta(days=rng.randint(4, 50))
        else:
            start = today + dt.timedelta(days=rng.randint(4, 30))
    elif fate in ("popular", "young", "already_there") and rng.random() < 0.25:
        sale = rng.choice((10, 20, 40))
    discount = max(tier, sale if fate == "sale_deeper" else 0) if fate in MOVED else 0
    return Ware(
        name=drawn.name,
        sku=drawn.sku,
        blurb=drawn.blurb,
        fate=fate,
        price=_price(drawn),
        discount=discount,
        created=plan.today - dt.timedelta(days=days) + clock,
        status=rng.choice(("draft", "private", "pending")) if fate == "draft" else "publish",
        in_stock=fate != "out_of_stock",
        categories=_categories(plan, fate, category, rng),
        sale=sale,
        sale_from=start,
        sale_to=end,
    )


def _price(drawn: Product) -> int:
    """Multiples of 20 cents: every discount of five percent more is whole cents."""
    return 20 * round(5 * float(drawn.price))


def _days(plan: Plan, fate: str, rng: random.Random) -> int:
    """Days on the shelf."""
    longest = plan.shelf_days
    match fate:
        case "day_over":
            return longest + 1
        case "boundary_day":
            return longest
        case "young":
            return rng.randint(WINDOW + 2, longest - 1)
        case "tier_edge":
            return rng.choice(_EDGES)
    return rng.choice((rng.randint(longest + 2, 179), rng.randint(182, 364), rng.randint(367, 620)))


def _categories(plan: Plan, fate: str, category: str, rng: random.Random) -> tuple[str, ...]:
    found = [category]
    near = [name for name in _NEAR.get(category, ()) if name in plan.categories]
    if near and rng.random() < 0.25:
        found.append(rng.choice(near))
    if rng.random() < 0.08:
        found.append(ARCHIVE)
    if fate == "already_there":
        found = [CLEARANCE] if rng.random() < 0.6 else [CLEARANCE, category]
    return tuple(found)


def _sales(plan: Plan, product: int, fate: str, rng: random.Random) -> list[Sale]:
    needed = plan.min_sales
    few = rng.randint(0, needed - 2)
    match fate:
        case "one_short":
            return _split(product, needed - 1, rng)
        case "boundary_sales":
            return _split(product, needed, rng)
        case "popular":
            return _spread(product, rng.randint(needed + 1, 4 * needed), rng)
        case "old_sales":
            # The evening of the day before the window begins; and longer ago.
            sales = [Sale(product, needed, days=WINDOW + 1, late=True)]
            if rng.random() < 0.3:
                sales.append(Sale(product, rng.randint(1, needed), days=rng.randint(WINDOW + 3, 58)))
            return sales
        case "today_sales":
            return [Sale(product, needed + rng.randint(0, 3), days=0, late=False)]
        case "void_orders":
            return [Sale(product, needed + rng.randint(0, 4), status=rng.choice(VOID)), *_some(product, few)]
        case "first_day":
            # In the window, though longer ago than thirty times 24 hours.
            return [Sale(product, needed, days=WINDOW, late=False)]
        case "young":
            return _some(product, rng.choice((0, few, needed)))
        case "draft" | "out_of_stock" | "boundary_day" | "already_there":
            return _some(product, few) if rng.random() < 0.4 else []
    return _some(product, few) if rng.random() < 0.6 else []


def _some(product: int, pieces: int) -> list[Sale]:
    return [Sale(product, pieces)] if pieces else []


def _split(product: int, pieces: int, rng: random.Random) -> list[Sale]:
    """Sales of so many pieces together, in one or two orders."""
    if rng.random() < 0.4:
        return [Sale(product, pieces)]
    first = rng.randint(1, pieces - 1)
    # The last day that counts is yesterday.
    return [Sale(product, first, days=1, late=True), Sale(product, pieces - first)]


def _spread(product: int, pieces: int, rng: random.Random) -> list[Sale]:
    """Sales of so many pieces together, in up to three orders of any days that count."""
    cuts = sorted(rng.sample(range(1, pieces), rng.choice((0, 1, 1, 2))))
    return [Sale(product, end - start) for start, end in pairwise((0, *cuts, pieces))]


def _plan_readers(plan: Plan, params: Params, rng: random.Random, prose: Prose) -> None:
    fates = params.reader_fates()
    rng.shuffle(fates)
    for fate in fates:
        person = prose.person()
        email = f"{person.handle}@{rng.choice(DOMAINS)}"
        plan.readers.append(Reader(name=person.name, email=email, fate=fate))
        plan.people.append(person)
