"""Filling the world: shop, documents, mailbox and calendar, and the survey of them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlalchemy import bindparam

from mesocosm.families.family import Evidence
from mesocosm.families.family import Expected as AnyExpected
from mesocosm.generators.recall_campaign.buying import Buying, shop_time
from mesocosm.generators.recall_campaign.everyday import Everyday
from mesocosm.generators.recall_campaign.expected import HOLDING, Case, Expected, Pickup
from mesocosm.generators.recall_campaign.letters import FIRST_LETTER
from mesocosm.generators.recall_campaign.params import Params
from mesocosm.generators.recall_campaign.planning import DAY, Booking, Customer, Plan, plan_recall
from mesocosm.generators.recall_campaign.wording import Document, Writer, letter_size
from mesocosm.kits.mailbox import Mail, awake, fill_mailbox
from mesocosm.kits.moments import in_words, utc_stamp
from mesocosm.kits.paging import events, listed_documents, mails, read_whole
from mesocosm.kits.prose import Prose, RecentRuns
from mesocosm.servers.calendar.store import CalendarStore
from mesocosm.servers.calendar.store.event_input import NewEvent
from mesocosm.servers.documents.store import DocumentsStore
from mesocosm.servers.woocommerce.models import Customer as Administrator
from mesocosm.servers.woocommerce.models.defaults import ADMINISTRATOR_ID
from mesocosm.servers.woocommerce.store import WooCommerceStore
from mesocosm.services.calling import Tools
from mesocosm.services.world import World

# Assignment of slots to cases.


def assign(plan: Plan) -> list[Pickup]:
    """Every pickup, in the order in which slots are given out; orders have their ids already."""
    cases = [customer for customer in plan.customers if customer.fate in HOLDING]
    cases.sort(key=lambda customer: min(order.id for order in customer.orders))
    length = dt.timedelta(minutes=plan.hours.minutes)
    taken = [
        (booking.start.replace(tzinfo=plan.zone), booking.end.replace(tzinfo=plan.zone))
        for booking in plan.bookings
        if not booking.free
    ]
    slots = plan.hours.slots(plan.zone)
    free: list[dt.datetime] = []
    pickups = []
    for case in cases:
        day = case.wishes[-1] if case.wishes else plan.hours.begin
        found = next((slot for slot in free if slot.date() >= day), None)
        while found is None:
            slot = next(slots)
            if not any(start < slot + length and slot < end for start, end in taken):
                free.append(slot)
                found = slot if slot.date() >= day else None
        free.remove(found)
        pickups.append(
            Pickup(
                name=case.contact.name,
                email=case.contact.email,
                orders=sorted(order.id for order in case.orders),
                start=found.astimezone(dt.UTC),
                end=(found + length).astimezone(dt.UTC),
                local=f"{found:%Y-%m-%d %H:%M}",
                fate=case.fate,
            )
        )
    return pickups


_PAGE = 100
_CALENDAR = "Pickups"


def generate(world: World, params: Params) -> Expected:
    """Build the coordinator's world."""
    rng = world.rng
    prose = Prose(rng)
    plan = plan_recall(params, rng, prose)
    world.set_now(plan.now)
    memory = RecentRuns()
    # What the recall says is said first, so that it is the same whatever else there is.
    writer = Writer(plan, rng, prose, memory, letter_size(params))
    documents = list(writer.notices())
    answers = list(writer.mails())
    everyday = Everyday(plan, params, params.filler_tokens, world.stream("everyday"), memory)
    products = _fill_shop(world, plan, everyday)
    pickups = assign(plan)
    # What is too little for a text of its own makes another one longer.
    if everyday.documents:
        everyday.documents[-1] = _longer(everyday.documents[-1], everyday.rest)
    else:
        answers[-1] = answers[-1].with_paragraph(everyday.rest, -1)
    documents = [*documents, *writer.lists(everyday.settled)]
    _fill_documents(world, plan, [*documents, *everyday.documents, *everyday.documents_of_others()])
    # All customers have a mailbox, and only customers write: who has one says nothing about their orders.
    people = [customer.contact for customer in (*plan.customers, *everyday.customers)]
    fill_mailbox(world, plan.account, [*answers, *everyday.mails, _first_letter(plan)], people)
    calendar, ids = _fill_calendar(world, plan, [*plan.bookings, *everyday.events])
    return Expected(
        public=_public(plan),
        evidence=list(_evidence(plan, documents, answers, ids)),
        coordinator=plan.account.email,
        calendar=calendar,
        zone=str(plan.zone),
        pickups=pickups,
        others=[_case(customer) for customer in plan.customers if customer.fate not in HOLDING],
        products=products,
        horizon=(f"{everyday.since}T00:00:00Z", f"{everyday.until}T00:00:00Z"),
    )


def survey(tools: Tools, expected: AnyExpected) -> None:
    """Read all documents, the orders of every product in question, the mailbox and the calendar."""
    assert isinstance(expected, Expected)
    for document in listed_documents(tools):
        read_whole(tools, document["id"])
    _list_shop(tools, expected)
    for _ in mails(tools):
        pass
    tools.call("calendar", "list_calendars")
    since, until = expected.horizon
    for _ in events(tools, calendarId=expected.calendar, timeMin=since, timeMax=until):
        pass


def _list_shop(tools: Tools, expected: Expected) -> None:
    def read(tool: str, **arguments: object) -> None:
        for _ in tools.pages("woocommerce", tool, perPage=_PAGE, **arguments):
            pass

    read("woo_products_list", fields=["id", "sku", "name"])
    for product in expected.products:
        fields = ["id", "status", "date_created_gmt", "customer_id"]
        read("woo_orders_list", product=product, fields=fields)
    # Guests have no account: how to write to them stands on their orders.
    read("woo_orders_list", customer=0, fields=["id", "status", "date_created_gmt", "billing"])
    read("woo_customers_list", fields=["id", "email", "first_name", "last_name"])


def _fill_shop(world: World, plan: Plan, everyday: Everyday) -> list[int]:
    """Give the shop its past; returns the products whose orders have to be looked through."""
    store = world.store(WooCommerceStore)
    rng = world.stream("buying")
    buying = Buying(str(plan.zone), rng)
    customers = [*plan.customers, *everyday.customers]
    sold = plan.products | everyday.products
    keys = sorted(sold, key=lambda key: sold[key].sku)
    drawn = [sold[key] for key in keys]
    oldest = min(order.moment for customer in customers for order in customer.orders)
    added = store.catalogue.add_products(
        [
            {
                "name": p.name, "sku": p.sku, "regular_price": p.price, "short_description": p.blurb,
                "date_created": shop_time(oldest - dt.timedelta(minutes=rng.randint(43_000, 1_300_000))),
            }
            for p in drawn
        ]
    )  # fmt: skip
    store.change_many(
        Administrator, {"display_name": bindparam("b_name")},
        [{"b_id": ADMINISTRATOR_ID, "b_name": plan.account.person.name}],
    )  # fmt: skip
    products = dict(zip(keys, added, strict=True))
    accounts = [customer for customer in customers if not customer.guest]
    # Accounts are as old as their first order: their ids tell nothing about the recall.
    accounts.sort(key=lambda customer: (_since(customer), customer.contact.email))
    address_of = {customer.contact.email: buying.address(customer.contact) for customer in customers}
    numbers = store.customers.fill(
        [
            {
                "email": customer.contact.email,
                "first_name": customer.contact.person.first,
                "last_name": customer.contact.person.last,
                "date_created": shop_time(_since(customer) - DAY),
                "billing": address_of[customer.contact.email],
            }
            for customer in accounts
        ]
    )
    number_of = {customer.contact.email: number for customer, number in zip(accounts, numbers, strict=True)}
    bought = [(order, customer) for customer in customers for order in customer.orders]
    bought.sort(key=lambda pair: (pair[0].moment, pair[1].contact.email))
    ids = store.filling.add_orders(
        [
            buying.order(order.status, order.moment, address_of[customer.contact.email])
            | {
                "customer_id": number_of.get(customer.contact.email, 0),
                "line_items": [
                    {"product_id": products[key], "quantity": rng.choice((1, 1, 1, 2))}
                    for key in (order.product, order.further)
                    if key is not None
                ],
            }
            for order, customer in bought
        ],
        numbered=True,
    )
    for (order, _), number in zip(bought, ids, strict=True):
        order.id = number
    return sorted(products[key] for key in plan.products if key not in "DE")


def _since(customer: Customer) -> dt.datetime:
    return min(order.moment for order in customer.orders)


def _longer(document: Document, text: str) -> Document:
    return replace(document, content=f"{document.content}\n\n{text}" if text else document.content)


def _first_letter(plan: Plan) -> Mail:
    """Write the letter to all customers, which does not say whom it concerns."""
    text = (
        f"Dear customers,\n\n{plan.shop} is recalling several products. You find them on our pages. If you "
        "have one of them, please keep it ready: our van picks it up. Tell us if you have brought it back "
        "already or are away for a while; just answer this mail from the address of your account.\n\n"
        f"{plan.account.person.name}"
    )
    return Mail(
        plan.account.header, plan.letter, FIRST_LETTER, text, "Sent",
        to=f"All customers <customers@{plan.domain}>", message_id=plan.letter_id,
    )  # fmt: skip


def _fill_documents(world: World, plan: Plan, documents: Sequence[Document]) -> None:
    store = world.store(DocumentsStore)
    store.items.create_user(plan.account.email, plan.account.person.name)
    space = store.items.create_space("Operations", owner=plan.account.email)
    store.filling.add_documents(
        space,
        [
            {
                "title": document.title,
                "content": document.content,
                "created_at": utc_stamp(document.created or document.moment),
                "updated_at": utc_stamp(document.moment),
            }
            for document in sorted(documents, key=lambda document: (document.moment, document.title))
        ],
    )
    store.sign_in(plan.account.email)


def _fill_calendar(world: World, plan: Plan, bookings: Sequence[Booking]) -> tuple[str, list[str]]:
    """Returns the ids of the calendar and of the events that matter."""
    store = world.store(CalendarStore)
    store.create_account(plan.account.email, plan.account.person.name, str(plan.zone))
    # The van's calendar is kept in UTC: its times are to be read with care.
    calendar = store.create_calendar(_CALENDAR, "UTC", owner=plan.account.email)
    store.sign_in(plan.account.email)
    rng = world.stream("booking")
    # By when they were made, which says nothing of when they are.
    last = plan.local(plan.letter).date()
    made = [awake(last - rng.randint(1, 23) * DAY, rng, plan.zone) for _ in bookings]
    dated = sorted(zip(made, bookings, strict=True), key=lambda pair: (pair[0], pair[1].start, pair[1].title))
    ids = store.add_events(calendar, [_event(plan, booking, moment) for moment, booking in dated])
    known = {id(booking) for booking in plan.bookings}
    return calendar, [number for number, (_, event) in zip(ids, dated, strict=True) if id(event) in known]


def _event(plan: Plan, booking: Booking, made: dt.datetime) -> NewEvent:
    event: NewEvent = {
        "summary": booking.title,
        "created": utc_stamp(made),
        "transparency": "transparent" if booking.free else "opaque",
    }
    if booking.description:
        event["description"] = booking.description
    if booking.whole_days:
        return event | {"start": {"date": f"{booking.start:%F}"}, "end": {"date": f"{booking.end:%F}"}}
    start, end = (moment.replace(tzinfo=plan.zone) for moment in (booking.start, booking.end))
    return event | {"start": {"dateTime": utc_stamp(start)}, "end": {"dateTime": utc_stamp(end)}}


def _public(plan: Plan) -> dict[str, str]:
    return {
        "coordinator": plan.account.person.name,
        "email": plan.account.email,
        "shop": plan.shop,
        "recall": plan.recall,
        "zone": str(plan.zone),
        "now": in_words(plan.local(plan.now)),
    }


def _case(customer: Customer) -> Case:
    numbers = [order.id for order in customer.orders]
    return Case(
        name=customer.contact.person.name, email=customer.contact.email, orders=numbers, fate=customer.fate
    )


def _evidence(
    plan: Plan, documents: Sequence[Document], answers: Sequence[Mail], events: Sequence[str]
) -> Iterator[Evidence]:
    for document in documents:
        if document.evidence:
            # The first line is in no other document, and in no listing.
            yield Evidence(service="documents", contains=document.content.partition("\n")[0])
    for mail in answers:
        yield Evidence(service="email", contains=mail.gist)
    for event in events:
        yield Evidence(service="calendar", contains=event)
    for customer in plan.customers:
        for order in customer.orders:
            yield Evidence(service="woocommerce", contains=shop_time(order.moment))
