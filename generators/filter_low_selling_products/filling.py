"""Filling the world: the shop, the workspace, the mailbox, and everyday mail around the evidence."""

from __future__ import annotations

import csv
import datetime as dt
import io
import random
from collections.abc import Iterator, Sequence

from mesocosm.families.family import Evidence
from mesocosm.families.family import Expected as AnyExpected
from mesocosm.generators.filter_low_selling_products.expected import (
    SUBSCRIBERS,
    TEMPLATE,
    Expected,
    Item,
)
from mesocosm.generators.filter_low_selling_products.mails import CUSTOMERS, Writer, evidence_of
from mesocosm.generators.filter_low_selling_products.params import MOVED, TOLD, Params
from mesocosm.generators.filter_low_selling_products.planning import (
    ARCHIVE,
    CLEARANCE,
    COUNTED,
    DOMAINS,
    WINDOW,
    Plan,
    Sale,
    plan_shop,
)
from mesocosm.generators.filter_low_selling_products.wording import ANSWERS
from mesocosm.kits.mailbox import (
    EverydayMail,
    Mail,
    MailWriter,
    fill_mailbox,
    last_received,
    rest_text,
    within,
)
from mesocosm.kits.moments import in_words
from mesocosm.kits.paging import SURVEYED, mails
from mesocosm.kits.people import Contact
from mesocosm.kits.prose import Person, Prose, RecentRuns
from mesocosm.kits.wording import Phrases
from mesocosm.servers.woocommerce.store import NewLineItem, NewOrder, NewProduct, WooCommerceStore
from mesocosm.services.calling import Tools
from mesocosm.services.world import World

PRODUCT_FIELDS = [
    "id", "name", "sku", "status", "date_created", "regular_price", "sale_price", "on_sale", "stock_status",
    "categories",
]  # fmt: skip
ORDER_FIELDS = ["id", "status", "date_created", "line_items"]
_SIZES = (50, 330)
"""Tokens of what a mail says besides; in a shop that only just has every case, few."""
_SMALL = 20
_EVERYDAY = 0.25
"""The share of the filler that has nothing to do with anybody's newsletter."""
_PAGE = 100
_LINES = 400
"""Lines of the list of subscribers that one call reads."""
_BUYERS = 60
_PLACE = ("address_1", "city", "state", "postcode", "country")
_STATES = ("IL", "MA", "NY", "OH", "PA", "VT")
_PAYMENT = {
    "bacs": "Direct bank transfer",
    "cod": "Cash on delivery",
    "paypal": "PayPal",
    "stripe": "Credit card",
}


def generate(world: World, params: Params) -> Expected:
    """Build the shop's world."""
    rng, said = world.rng, RecentRuns()
    prose = Prose(rng, said)
    plan = plan_shop(params, rng, prose)
    world.set_now(plan.now)

    sizes = _SIZES if sum(params.numbers()) > _SMALL else (0, 40)
    requests, others = Writer(
        plan, MailWriter(plan.account, rng, prose, sizes), Phrases(rng), rng
    ).subscribers()
    category, ids = _fill_shop(world, plan, rng, prose)
    around, left = _around(world, params, plan, prose, sizes, said)
    # What is too little for a mail of its own makes one longer.
    rest = rest_text(Prose(world.stream("longer"), said), "customer_letters", left)
    longer = around or others or requests
    if longer:
        last = last_received(longer)
        longer[last] = longer[last].with_paragraph(rest, 1)
    fill_mailbox(world, plan.account, [*requests, *others, *around])
    subject, body = _write_workspace(world, plan, rng)
    return _expected(plan, requests, category, ids, subject, body)


def _around(
    world: World, params: Params, plan: Plan, people: Prose, sizes: tuple[int, int], said: RecentRuns
) -> tuple[list[Mail], int]:
    """Mails of people who are not on the list, everyday ones, and the tokens that are left."""
    rng = world.stream("strangers")
    writer = Writer(plan, MailWriter(plan.account, rng, Prose(rng, said), sizes), Phrases(rng), rng)
    share = round(params.filler_tokens * (1 - _EVERYDAY))
    alike, left = within(share, writer.strangers(people), plan.account)
    rest = world.stream("everyday")

    def domain(rng: random.Random) -> str:
        return rng.choice(DOMAINS)

    mails = MailWriter(plan.account, rest, Prose(rest, said), sizes)
    known = [Contact(person, reader.email) for reader, person in zip(plan.readers, plan.people, strict=True)]
    known += writer.written_by
    everyday = EverydayMail(
        mails, plan.now, CUSTOMERS, domain, people, fact=15, days=(1, 32),
        known=known, known_topics=CUSTOMERS, answers=ANSWERS,
    )  # fmt: skip
    rest_of, left = everyday.worth(left + params.filler_tokens - share, params.distraction_emails)
    return [*alike, *rest_of], left


def survey(tools: Tools, expected: AnyExpected) -> None:
    """Read the files, categories, products and orders, and every mail of every folder."""
    tools.call("filesystem", "list_directory", path=".")
    tools.call("filesystem", "read_text_file", path=TEMPLATE)
    assert isinstance(expected, Expected)
    people = [*expected.readers, *expected.spared]
    lines = 1 + len(people) + sum(reader.fate == "duplicate" for reader in people)
    for offset in range(0, lines, _LINES):
        tools.call("filesystem", "read_text_file", path=SUBSCRIBERS, offset=offset, head=_LINES)
    for listing, more in (
        ("woo_products_categories_list", {}),
        ("woo_products_list", {"fields": PRODUCT_FIELDS}),
        ("woo_orders_list", {"fields": ORDER_FIELDS}),
    ):
        for _ in tools.pages("woocommerce", listing, perPage=_PAGE, **more):
            pass
    tools.call("email", "get_folders")
    for _ in mails(tools, *SURVEYED):
        pass


# -- shop -----------------------------------------------------------------------------------------------


def _fill_shop(world: World, plan: Plan, rng: random.Random, prose: Prose) -> tuple[int, list[int]]:
    """Returns the id of the clearance category, and those of the products in the plan's order."""
    store = world.store(WooCommerceStore)
    names = [*plan.categories, CLEARANCE, ARCHIVE]
    rng.shuffle(names)
    categories = dict(zip(names, store.categories.fill([{"name": name} for name in names]), strict=True))
    products: list[NewProduct] = []
    for ware in plan.wares:
        product = NewProduct(
            name=ware.name,
            sku=ware.sku,
            status=ware.status,
            regular_price=_money(ware.price),
            stock_status="instock" if ware.in_stock else "outofstock",
            categories=[{"id": categories[name]} for name in ware.categories],
            date_created=_stamp(ware.created),
            description=ware.blurb,
        )
        if ware.sale:
            product["sale_price"] = _money(ware.price * (100 - ware.sale) // 100)
        if ware.sale_from:
            product["date_on_sale_from"] = f"{ware.sale_from}T00:00:00"
        if ware.sale_to:
            product["date_on_sale_to"] = f"{ware.sale_to}T23:59:59"
        products.append(product)
    ids = store.catalogue.add_products(products)
    orders = sorted(_orders(plan, ids, rng, prose), key=lambda order: order["date_created"])
    store.filling.add_orders(orders, numbered=True)
    return categories[CLEARANCE], ids


def _orders(plan: Plan, ids: Sequence[int], rng: random.Random, prose: Prose) -> Iterator[NewOrder]:
    buyers = [_billing(prose.person(), prose, rng) for _ in range(min(_BUYERS, len(ids)))]
    plain = [sale for sale in plan.sales if sale.days is None and not sale.status]
    special = [[sale] for sale in plan.sales if sale.days is not None or sale.status]
    rng.shuffle(plain)
    baskets = list(special)
    while plain:
        number = rng.choice((1, 1, 2, 3))
        basket, plain = plain[:number], plain[number:]
        baskets.append(basket)
    for basket in baskets:
        status = basket[0].status or rng.choice(COUNTED)
        moment = _moment(plan, basket[0], rng)
        buyer, way = rng.choice(buyers), rng.choice(sorted(_PAYMENT))
        lines = [NewLineItem(product_id=ids[sale.product], quantity=sale.pieces) for sale in basket]
        order = NewOrder(
            status=status,
            date_created=_stamp(moment),
            billing=buyer,
            shipping={key: buyer[key] for key in ("first_name", "last_name", *_PLACE)},
            payment_method=way,
            payment_method_title=_PAYMENT[way],
            line_items=lines,
        )
        yield _dated(order, plan, moment, rng)


def _dated(order: NewOrder, plan: Plan, moment: dt.datetime, rng: random.Random) -> NewOrder:
    """The order, paid and completed a while after it was made and before now, if it was at all."""
    status = order["status"]
    if status in (*COUNTED, "refunded"):
        paid = min(moment + dt.timedelta(seconds=rng.randint(20, 2400)), plan.now)
        order["date_paid"] = _stamp(paid)
        if status != "processing":
            done = paid + dt.timedelta(seconds=rng.randint(9_000, 260_000))
            order["date_completed"] = _stamp(min(done, plan.now))
    return order


def _billing(buyer: Person, prose: Prose, rng: random.Random) -> dict[str, str]:
    home = prose.address("en_US", rng.choice(_STATES))
    return {
        "first_name": buyer.first,
        "last_name": buyer.last,
        "address_1": home.street,
        "city": home.city,
        "state": home.state,
        "postcode": home.postcode,
        "country": home.country,
        "email": f"{buyer.handle}@{rng.choice(DOMAINS)}",
        "phone": home.phone,
    }


def _moment(plan: Plan, sale: Sale, rng: random.Random) -> dt.datetime:
    days = rng.randint(1, WINDOW) if sale.days is None else sale.days
    # Orders come from early in the morning until midnight; it is after nine now.
    first, last = {None: (360, 1438), True: (1080, 1438), False: (360, 530)}[sale.late]
    minutes = rng.randint(first, last)
    return plan.today - dt.timedelta(days=days) + dt.timedelta(minutes=minutes, seconds=rng.randint(0, 59))


def _stamp(moment: dt.datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%S}"


def _money(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02}"


# -- workspace ------------------------------------------------------------------------------------------


def _write_workspace(world: World, plan: Plan, rng: random.Random) -> tuple[str, str]:
    """Write list and template; returns the subject and the body of the template."""
    rows: list[tuple[str, str, str]] = []
    for reader in plan.readers:
        status = "unsubscribed" if reader.fate in ("unsubscribed", "rejoined") else "subscribed"
        rows.append((reader.email, reader.name, status))
        if reader.fate == "duplicate":
            # The same mailbox, written differently.
            rows.insert(rng.randint(0, len(rows) - 1), (reader.email.title(), reader.name, status))
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows([("email", "name", "status"), *rows])
    exported = plan.now - dt.timedelta(days=42)
    world.workspace.write(SUBSCRIBERS, file.getvalue().encode(), exported)
    subject, body = f"Clearance at {plan.shop}", _template(plan, rng)
    world.workspace.write(TEMPLATE, f"Subject: {subject}\n\n{body}\n".encode(), exported)
    return subject, body


def _template(plan: Plan, rng: random.Random) -> str:
    opening = rng.choice(("We are making room on our shelves.", "It is time to clear our shelves."))
    ending = rng.choice(("While stocks last.", "First come, first served."))
    return (
        "Dear {{name}},\n\n"
        f"{opening} {{{{count}}}} products are now in our clearance sale, at up to {{{{highest}}}}% off. "
        f"The attached list has them all. {ending}\n\n{plan.manager.name}\n{plan.shop}"
    )


# -- truth ----------------------------------------------------------------------------------------------


def _expected(
    plan: Plan, mails: list[Mail], category: int, ids: list[int], subject: str, body: str
) -> Expected:
    items = [
        Item(
            id=number,
            sku=ware.sku,
            name=ware.name,
            fate=ware.fate,
            price=ware.price,
            discount=ware.discount,
        )
        for number, ware in zip(ids, plan.wares, strict=True)
    ]
    moved = sorted((i for i in items if i.fate in MOVED), key=lambda item: (item.discount, item.sku))
    body = body.replace("{{count}}", str(len(moved))).replace("{{highest}}", str(moved[-1].discount))
    return Expected(
        public={
            "shop": plan.shop,
            "shop_email": plan.account.email,
            "now": in_words(plan.now),
            "shelf_days": str(plan.shelf_days),
            "min_sales": str(plan.min_sales),
        },
        evidence=list(_evidence(plan, mails)),
        shop_email=plan.account.email,
        category=category,
        moved=moved,
        others=[item for item in items if item.fate not in MOVED],
        readers=[reader for reader in plan.readers if reader.fate in TOLD],
        spared=[reader for reader in plan.readers if reader.fate not in TOLD],
        subject=subject,
        body=body,
    )


def _evidence(plan: Plan, mails: list[Mail]) -> Iterator[Evidence]:
    for ware in plan.wares:
        # In the listing of products and in those of orders: both are needed. Between quotes both its parts
        # are whole words, so that few texts have to be searched for it.
        yield Evidence(service="woocommerce", contains=f'"{ware.sku}"')
    for line in evidence_of(plan.readers):
        yield Evidence(service="filesystem", contains=line)
    for mail in mails:
        yield Evidence(service="email", contains=mail.gist)
