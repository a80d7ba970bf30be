"""Filling the world: shop, documents, mailbox and calendar, and the survey of them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import replace

from mesocosm.family import Evidence
from mesocosm.family import Expected as AnyExpected
from mesocosm.generators.recall_campaign.everyday import Everyday
from mesocosm.generators.recall_campaign.expected import Case, Expected
from mesocosm.generators.recall_campaign.params import HOLDING, Params
from mesocosm.generators.recall_campaign.planning import DAY, Booking, Customer, Plan, plan_recall
from mesocosm.generators.recall_campaign.slots import assign
from mesocosm.generators.recall_campaign.wording import Document, Mail, Writer
from mesocosm.prose import Prose
from mesocosm.servers.calendar.store import CalendarStore
from mesocosm.servers.calendar.store.composing import NewEvent
from mesocosm.servers.documents.store import DocumentsStore
from mesocosm.servers.email.store import EmailStore
from mesocosm.servers.woocommerce.store import WooCommerceStore
from mesocosm.tools import Tools
from mesocosm.world import World

_PAGE = 100
_CALENDAR = "Pickups"


def generate(world: World, params: Params) -> Expected:
    """Build the coordinator's world."""
    rng = world.rng
    plan = plan_recall(params, rng, Prose(rng))
    world.set_now(plan.now)
    everyday = Everyday(plan, params.filler_tokens, world.stream("everyday"))
    products = _fill_shop(world, plan, [*plan.customers, *everyday.customers])
    pickups = assign(plan)
    writer = Writer(plan, rng)
    rules, *documents = writer.documents()
    # What is too little for a text of its own makes the first document longer.
    documents = [replace(rules, content=rules.content + everyday.rest), *documents]
    mails = list(writer.mails())
    _fill_documents(world, plan, [*documents, *everyday.documents])
    _fill_mailbox(world, plan, [*mails, *everyday.mails], everyday.customers)
    calendar, ids = _fill_calendar(world, plan, [*plan.bookings, *everyday.events])
    return Expected(
        public=_public(plan),
        evidence=list(_evidence(plan, documents, mails, ids)),
        coordinator=plan.email,
        calendar=calendar,
        zone=str(plan.zone),
        pickups=pickups,
        others=[_case(customer) for customer in plan.customers if customer.fate not in HOLDING],
        products=products,
        horizon=(f"{plan.hours.begin}T00:00:00Z", f"{everyday.until}T00:00:00Z"),
    )


def survey(tools: Tools, expected: AnyExpected) -> None:
    """Read all documents, the orders of every product in question, the mailbox and the calendar."""
    assert isinstance(expected, Expected)
    page: int | None = 1
    while page:
        listed = tools.call("documents", "list_recent_documents", page=page, per_page=_PAGE)
        for document in listed["documents"]:
            tools.call("documents", "read_document", file_id=document["id"])
        page = listed["next_page"]
    _list_shop(tools, expected)
    page, pages = 1, 1
    while page <= pages:
        listed = tools.call("email", "get_emails", folder="INBOX", page=page, page_size=_PAGE)
        pages = listed["total_pages"]
        for mail in listed["emails"]:
            tools.call("email", "read_email", email_id=mail["id"])
        page += 1
    tools.call("calendar", "list_calendars")
    since, until = expected.horizon
    more: dict[str, str] | None = {}
    while more is not None:
        listed = tools.call(
            "calendar", "list_events", calendarId=expected.calendar, timeMin=since, timeMax=until, **more
        )
        more = {"pageToken": listed["nextPageToken"]} if "nextPageToken" in listed else None


def _list_shop(tools: Tools, expected: Expected) -> None:
    def read(tool: str, **arguments: object) -> None:
        for _ in tools.pages("woocommerce", tool, perPage=_PAGE, **arguments):
            pass

    read("woo_products_list", fields=["id", "sku", "name"])
    for product in expected.products:
        fields = ["id", "status", "date_created_gmt", "customer_id"]
        read("woo_orders_list", product=product, fields=fields)
    read("woo_orders_list", customer=0, fields=["id", "billing"])
    read("woo_customers_list", fields=["id", "email", "first_name", "last_name"])


def _fill_shop(world: World, plan: Plan, customers: Sequence[Customer]) -> list[int]:
    """Give the shop its past; returns the products whose orders have to be looked through."""
    store = world.store(WooCommerceStore)
    keys = sorted(plan.products, key=lambda key: plan.products[key].sku)
    drawn = [plan.products[key] for key in keys]
    added = store.add_products(
        [
            {"name": p.name, "sku": p.sku, "regular_price": p.price, "short_description": p.blurb}
            for p in drawn
        ]
    )
    products = dict(zip(keys, added, strict=True))
    accounts = [customer for customer in customers if not customer.guest]
    # Accounts are as old as their first order: their ids tell nothing about the recall.
    accounts.sort(key=lambda customer: (customer.orders[0].moment, customer.email))
    numbers = store.add_customers(
        [
            {
                "email": customer.email,
                "first_name": customer.person.first,
                "last_name": customer.person.last,
                "date_created": _shop_time(customer.orders[0].moment - DAY),
            }
            for customer in accounts
        ]
    )
    number_of = {customer.email: number for customer, number in zip(accounts, numbers, strict=True)}
    bought = [(order, customer) for customer in customers for order in customer.orders]
    bought.sort(key=lambda pair: (pair[0].moment, pair[1].email))
    ids = store.add_orders(
        [
            {
                "status": order.status,
                "customer_id": number_of.get(customer.email, 0),
                "billing": {
                    "first_name": customer.person.first,
                    "last_name": customer.person.last,
                    "email": customer.email,
                },
                "date_created": _shop_time(order.moment),
                "line_items": [
                    {"product_id": products[key], "quantity": 1}
                    for key in (order.product, order.further)
                    if key is not None
                ],
            }
            for order, customer in bought
        ]
    )
    for (order, _), number in zip(bought, ids, strict=True):
        order.id = number
    return sorted(number for key, number in products.items() if key != "D")


def _fill_documents(world: World, plan: Plan, documents: Sequence[Document]) -> None:
    store = world.store(DocumentsStore)
    store.create_user(plan.email, plan.coordinator.name)
    space = store.create_space("Operations", owner=plan.email)
    store.add_documents(
        space,
        [
            {
                "title": document.title,
                "content": document.content,
                "created_at": _instant(document.moment),
                "updated_at": _instant(document.moment),
            }
            for document in sorted(documents, key=lambda document: (document.moment, document.title))
        ],
    )
    store.sign_in(plan.email)


def _fill_mailbox(world: World, plan: Plan, mails: Sequence[Mail], others: Sequence[Customer]) -> None:
    store = world.store(EmailStore)
    # All customers have a mailbox: whether one exists says nothing about who is to be written to.
    people = [(plan.email, plan.coordinator.name)]
    people += [(customer.email, customer.person.name) for customer in (*plan.customers, *others)]
    store.create_accounts([{"email": email, "name": name, "password": f"{email}!"} for email, name in people])
    rng = world.stream("read")
    store.add_emails(
        plan.email,
        "INBOX",
        [
            {
                "sender": mail.sender,
                "to": f"{plan.coordinator.name} <{plan.email}>",
                "subject": mail.subject,
                "body": mail.body,
                "date": mail.moment,
                "is_read": rng.random() < 0.6,
            }
            for mail in sorted(mails, key=lambda mail: (mail.moment, mail.subject))
        ],
    )
    store.sign_in(plan.email)


def _fill_calendar(world: World, plan: Plan, bookings: Sequence[Booking]) -> tuple[str, list[str]]:
    """Returns the ids of the calendar and of the events that matter."""
    store = world.store(CalendarStore)
    store.create_account(plan.email, plan.coordinator.name, str(plan.zone))
    # The van's calendar is kept in UTC: its times are to be read with care.
    calendar = store.create_calendar(_CALENDAR, "UTC", owner=plan.email)
    store.sign_in(plan.email)
    ordered = sorted(bookings, key=lambda booking: (booking.start, booking.title))
    ids = store.add_events(calendar, [_event(plan, booking) for booking in ordered])
    known = {id(booking) for booking in plan.bookings}
    return calendar, [number for number, event in zip(ids, ordered, strict=True) if id(event) in known]


def _event(plan: Plan, booking: Booking) -> NewEvent:
    event: NewEvent = {
        "summary": booking.title,
        "created": _instant(plan.letter),
        "transparency": "transparent" if booking.free else "opaque",
    }
    if booking.description:
        event["description"] = booking.description
    if booking.whole_days:
        return event | {"start": {"date": f"{booking.start:%F}"}, "end": {"date": f"{booking.end:%F}"}}
    start, end = (moment.replace(tzinfo=plan.zone) for moment in (booking.start, booking.end))
    return event | {"start": {"dateTime": _instant(start)}, "end": {"dateTime": _instant(end)}}


def _public(plan: Plan) -> dict[str, str]:
    local = plan.local(plan.now)
    return {
        "coordinator": plan.coordinator.name,
        "email": plan.email,
        "shop": plan.shop,
        "recall": plan.recall,
        "zone": str(plan.zone),
        "now": f"{local:%A}, {local:%B} {local.day}, {local.year}, {local:%H:%M}",
    }


def _case(customer: Customer) -> Case:
    numbers = [order.id for order in customer.orders]
    return Case(name=customer.person.name, email=customer.email, orders=numbers, fate=customer.fate)


def _evidence(
    plan: Plan, documents: Sequence[Document], mails: Sequence[Mail], events: Sequence[str]
) -> Iterator[Evidence]:
    for document in documents:
        if document.evidence:
            # The first line is in no other document, and in no listing.
            yield Evidence(service="documents", contains=document.content.partition("\n")[0])
    for mail in mails:
        # The middle of the body is in the mail itself and in no listing.
        yield Evidence(service="email", contains=mail.body.partition("\n\n")[2])
    for event in events:
        yield Evidence(service="calendar", contains=event)
    for customer in plan.customers:
        for order in customer.orders:
            yield Evidence(service="woocommerce", contains=_shop_time(order.moment))


def _shop_time(moment: dt.datetime) -> str:
    return f"{moment.astimezone(dt.UTC):%Y-%m-%dT%H:%M:%S}"


def _instant(moment: dt.datetime) -> str:
    return f"{moment.astimezone(dt.UTC):%Y-%m-%dT%H:%M:%SZ}"
