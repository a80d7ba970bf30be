"""Near misses of a world in which all pickups were arranged."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

from sqlalchemy import delete, select, update

from mesocosm.families.verdict import Inapplicable, Mutant
from mesocosm.generators.recall_campaign.expected import HOLDING, SETTLED, Expected, Pickup
from mesocosm.kits.near_misses import of_fate
from mesocosm.kits.outbox import INBOX_MUTANTS, send, unsend
from mesocosm.servers.calendar.models import Entry, Event
from mesocosm.servers.calendar.store import CalendarStore
from mesocosm.servers.documents.models import Document
from mesocosm.servers.documents.store import DocumentsStore
from mesocosm.servers.email.models import Email, Folder
from mesocosm.servers.email.store import EmailStore, NewEmail
from mesocosm.servers.woocommerce.models import Order, OrderNote
from mesocosm.servers.woocommerce.store import WooCommerceStore
from mesocosm.services.world import World

Change = Callable[[World, Expected], None]


def _event(world: World, pickup: Pickup) -> Event:
    found = world.store(CalendarStore).session.scalars(
        select(Event).where(Event.summary == pickup.title, Event.status != "cancelled")
    )
    return found.one()


def _letter(world: World, pickup: Pickup) -> Email:
    letters = select(Email).join(Folder).where(Folder.name == "Sent", Email.subject == pickup.title)
    return world.store(EmailStore).session.scalars(letters).one()


def _note(world: World, pickup: Pickup) -> OrderNote:
    notes = select(OrderNote).where(OrderNote.order_id == pickup.orders[-1], OrderNote.note == pickup.note)
    return world.store(WooCommerceStore).session.scalars(notes).one()


# -- whom ------------------------------------------------------------------------------------------------


def _overlooked(fate: str) -> Change:
    """Somebody got no pickup at all."""

    def apply(world: World, expected: Expected) -> None:
        pickup = of_fate(expected.pickups, fate)
        event = _event(world, pickup).number
        session = world.store(CalendarStore).session
        session.execute(delete(Entry).where(Entry.event == event))
        session.execute(delete(Event).where(Event.number == event))
        unsend(world.store(EmailStore), _letter(world, pickup))
        notes = delete(OrderNote).where(OrderNote.order_id.in_(pickup.orders), OrderNote.note == pickup.note)
        world.store(WooCommerceStore).session.execute(notes)

    return apply


def _needless(fate: str) -> Change:
    """Somebody got a pickup who needs none, with event, mail and note."""

    def apply(world: World, expected: Expected) -> None:
        case = of_fate(expected.others, fate)
        last = expected.pickups[-1]
        title = f"Recall pickup #{case.orders[0]}"
        start, end = last.end, last.end + (last.end - last.start)
        ends = [{"dateTime": moment.isoformat()} for moment in (start, end)]
        world.store(CalendarStore).add_events(
            expected.calendar, [{"summary": title, "start": ends[0], "end": ends[1]}]
        )
        body = f"{last.local}, #{case.orders[0]}"
        mail: NewEmail = {
            "sender": expected.coordinator,
            "to": case.email,
            "subject": title,
            "body": body,
            "date": world.now,
        }
        send(world.store(EmailStore), expected.coordinator, mail)
        world.store(WooCommerceStore).orders.add_notes([{"order_id": case.orders[0], "note": last.note}])

    return apply


# -- when ------------------------------------------------------------------------------------------------


def _moved(fate: str, hours: float = 0, minutes: float = 0) -> Change:
    """An event at another time."""

    def apply(world: World, expected: Expected) -> None:
        event = _event(world, of_fate(expected.pickups, fate))
        for name in ("start_at", "end_at"):
            moment = dt.datetime.fromisoformat(getattr(event, name)) + dt.timedelta(
                hours=hours, minutes=minutes
            )
            setattr(event, name, f"{moment:%Y-%m-%dT%H:%M:%SZ}")

    return apply


def _marked(column: str, value: str) -> Change:
    """An event that does not hold its slot."""

    def apply(world: World, expected: Expected) -> None:
        setattr(_event(world, expected.pickups[0]), column, value)

    return apply


def _exchanged(world: World, expected: Expected) -> None:
    """Two cases in the wrong order."""
    if len(expected.pickups) < 2:
        raise Inapplicable
    one, other = (_event(world, pickup) for pickup in expected.pickups[:2])
    one.start_at, other.start_at = other.start_at, one.start_at
    one.end_at, other.end_at = other.end_at, one.end_at


def _wall_clock_as_utc(world: World, expected: Expected) -> None:
    """The depot's time, taken for UTC."""
    event = _event(world, expected.pickups[0])
    event.start_at = expected.pickups[0].local.replace(" ", "T") + ":00Z"


def _longer(world: World, expected: Expected) -> None:
    event = _event(world, expected.pickups[0])
    event.end_at = f"{expected.pickups[0].end + dt.timedelta(minutes=15):%Y-%m-%dT%H:%M:%SZ}"


# -- how -------------------------------------------------------------------------------------------------


def _retitled(world: World, expected: Expected) -> None:
    _event(world, expected.pickups[0]).summary = f"Recall pickup {expected.pickups[0].orders[0]}"


def _own_calendar(world: World, expected: Expected) -> None:
    pickup = expected.pickups[0]
    ends = [{"dateTime": moment.isoformat()} for moment in (pickup.start, pickup.end)]
    event = {"summary": pickup.title, "start": ends[0], "end": ends[1]}
    world.store(CalendarStore).add_events(expected.coordinator, [event])  # type: ignore[list-item]


def _invited(world: World, expected: Expected) -> None:
    pickup = expected.pickups[0]
    store = world.store(CalendarStore)
    event = _event(world, pickup).id
    store.update_event(expected.calendar, event, {"attendees": [{"email": pickup.email}]})


def _mail(change: Callable[[Email, Pickup, Expected], None], fate: str | None = None) -> Change:
    def apply(world: World, expected: Expected) -> None:
        pickup = of_fate(expected.pickups, fate) if fate else expected.pickups[0]
        change(_letter(world, pickup), pickup, expected)

    return apply


def _copy(mail: Email, pickup: Pickup, expected: Expected) -> None:
    mail.cc = expected.coordinator


def _subject(mail: Email, pickup: Pickup, expected: Expected) -> None:
    mail.subject = f"Your pickup (order {pickup.orders[0]})"


def _in_utc(mail: Email, pickup: Pickup, expected: Expected) -> None:
    mail.body = mail.body.replace(pickup.local, f"{pickup.start:%Y-%m-%d %H:%M}")


def _two_slots(mail: Email, pickup: Pickup, expected: Expected) -> None:
    mail.body += f"\nOr at {expected.pickups[-1].local}?"


def _one_order(mail: Email, pickup: Pickup, expected: Expected) -> None:
    mail.body = mail.body.replace(f"#{pickup.orders[-1]}", "")


def _foreign_order(mail: Email, pickup: Pickup, expected: Expected) -> None:
    mail.body += f"\nAlso #{expected.pickups[-1].orders[0]}."


def _one_note(world: World, expected: Expected) -> None:
    note = _note(world, of_fate(expected.pickups, "two_orders")).id
    world.store(WooCommerceStore).session.execute(delete(OrderNote).where(OrderNote.id == note))


def _public_note(world: World, expected: Expected) -> None:
    _note(world, expected.pickups[0]).customer_note = True


def _note_text(world: World, expected: Expected) -> None:
    _note(world, expected.pickups[0]).note = expected.pickups[0].note.replace(" ", " on ", 2)


def _second_note(world: World, expected: Expected) -> None:
    pickup = expected.pickups[0]
    world.store(WooCommerceStore).orders.add_notes([{"order_id": pickup.orders[0], "note": pickup.note}])


# -- collateral damage -----------------------------------------------------------------------------------


def _status(world: World, expected: Expected) -> None:
    order = update(Order).where(Order.id == expected.pickups[0].orders[0])
    world.store(WooCommerceStore).session.execute(order.values(status="on-hold"))


def _booking(world: World, expected: Expected) -> None:
    session = world.store(CalendarStore).session
    event = session.scalars(select(Event).where(Event.summary.startswith("Depot closed"))).first()
    assert event is not None
    event.status = "cancelled"


def _document(world: World, expected: Expected) -> None:
    session = world.store(DocumentsStore).session
    found = session.scalars(select(Document).where(Document.title.contains("settled orders"))).first()
    assert found is not None
    found.content += "\nDone."


MUTANTS = [
    *(Mutant(f"overlooked {fate}", "events_missing", _overlooked(fate)) for fate in HOLDING),
    *(Mutant(f"a pickup for {fate}", "events_extra", _needless(fate)) for fate in SETTLED),
    Mutant("a mail to nobody's benefit", "mails_extra", _needless("returned")),
    Mutant("a note on a settled order", "notes_extra", _needless("settled")),
    Mutant("an hour late", "slots", _moved("plain", hours=1)),
    Mutant("a day before the day asked for", "slots", _moved("later_day", hours=-24)),
    Mutant("two days late", "slots", _moved("day_changed", hours=48)),
    Mutant("two cases in the wrong order", "slots", _exchanged),
    Mutant("the depot's time taken for UTC", "slots", _wall_clock_as_utc),
    Mutant("a longer slot", "slots", _longer),
    Mutant("an event marked as free", "slots_taken", _marked("transparency", "transparent")),
    Mutant("a tentative event", "slots_taken", _marked("status", "tentative")),
    Mutant("a title without its sign", "events_missing", _retitled),
    Mutant("the same event in another calendar", "events_extra", _own_calendar),
    Mutant("the customer invited", "calendar", _invited),
    Mutant("no mail", "mails_missing", _overlooked("guest")),
    Mutant("a copy to somebody else", "single_recipient", _mail(_copy)),
    Mutant("a subject of its own", "mail_subject", _mail(_subject)),
    Mutant("the slot in UTC", "mail_slot", _mail(_in_utc)),
    Mutant("two slots in one mail", "mail_slot", _mail(_two_slots)),
    Mutant("one order of two in the mail", "mail_orders", _mail(_one_order, "two_orders")),
    Mutant("somebody else's order in the mail", "mail_orders", _mail(_foreign_order)),
    Mutant("a note on one order of two", "notes_missing", _one_note),
    Mutant("a note for the customer", "notes_text", _public_note),
    Mutant("a note in other words", "notes_text", _note_text),
    Mutant("two notes on one order", "notes_extra", _second_note),
    Mutant("an order put on hold", "shop", _status),
    Mutant("a holiday cancelled", "calendar", _booking),
    Mutant("a list of settled orders continued", "documents", _document),
    *INBOX_MUTANTS,
]
