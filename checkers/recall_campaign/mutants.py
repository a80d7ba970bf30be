"""Near misses of a world in which all pickups were arranged."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

from sqlalchemy import delete, select

from mesocosm.families.verdict import Inapplicable, Mutant
from mesocosm.generators.recall_campaign.expected import HOLDING, SETTLED, Expected, Pickup
from mesocosm.kits.near_misses import of_fate, spoilings
from mesocosm.kits.outbox import INBOX_MUTANTS, SENT_MUTANTS, send, unsend
from mesocosm.servers.calendar.models import Entry, Event
from mesocosm.servers.calendar.store import CalendarStore
from mesocosm.servers.email.models import Email, Folder
from mesocosm.servers.email.store import EmailStore, NewEmail
from mesocosm.servers.woocommerce.models import OrderNote
from mesocosm.servers.woocommerce.store import WooCommerceStore
from mesocosm.services.world import World

Change = Callable[[World, Expected], None]


def _event(world: World, pickup: Pickup) -> Event:
    chosen = select(Event).where(Event.summary == pickup.title, Event.status != "cancelled")
    return world.store(CalendarStore).session.scalars(chosen).one()


def _letter(world: World, pickup: Pickup) -> Email:
    chosen = select(Email).join(Folder).where(Folder.name == "Sent", Email.subject == pickup.title)
    return world.store(EmailStore).session.scalars(chosen).one()


def _note(world: World, pickup: Pickup) -> OrderNote:
    chosen = select(OrderNote).where(OrderNote.order_id == pickup.orders[-1], OrderNote.note == pickup.note)
    return world.store(WooCommerceStore).session.scalars(chosen).one()


def _pickup(expected: Expected, fate: str) -> Pickup:
    """The first, or the first of a fate."""
    return of_fate(expected.pickups, fate) if fate else expected.pickups[0]


def _ends(start: dt.datetime, end: dt.datetime) -> Any:
    return {"start": {"dateTime": start.isoformat()}, "end": {"dateTime": end.isoformat()}}


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
        event = {"summary": title, **_ends(last.end, last.end + (last.end - last.start))}
        world.store(CalendarStore).add_events(expected.calendar, [event])  # type: ignore[list-item]
        mail: NewEmail = {
            "sender": expected.coordinator,
            "to": case.email,
            "subject": title,
            "body": f"{last.local}, #{case.orders[0]}",
            "date": world.now,
        }
        send(world.store(EmailStore), expected.coordinator, mail)
        world.store(WooCommerceStore).orders.add_notes([{"order_id": case.orders[0], "note": last.note}])

    return apply


# -- how and when ----------------------------------------------------------------------------------------


def _event_set(fate: str = "", **values: Callable[[Event, Pickup], str]) -> Change:
    """An event of which something is different."""

    def apply(world: World, expected: Expected) -> None:
        pickup = _pickup(expected, fate)
        event = _event(world, pickup)
        for name, value in values.items():
            setattr(event, name, value(event, pickup))

    return apply


def _moved(fate: str, **by: float) -> Change:
    """An event at another time."""

    def later(name: str) -> Callable[[Event, Pickup], str]:
        return lambda event, _: _utc(dt.datetime.fromisoformat(getattr(event, name)) + dt.timedelta(**by))

    return _event_set(fate, start_at=later("start_at"), end_at=later("end_at"))


def _utc(moment: dt.datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def _exchanged(world: World, expected: Expected) -> None:
    """Two cases in the wrong order."""
    if len(expected.pickups) < 2:
        raise Inapplicable
    one, other = (_event(world, pickup) for pickup in expected.pickups[:2])
    one.start_at, other.start_at = other.start_at, one.start_at
    one.end_at, other.end_at = other.end_at, one.end_at


def _own_calendar(world: World, expected: Expected) -> None:
    pickup = expected.pickups[0]
    event = {"summary": pickup.title, **_ends(pickup.start, pickup.end)}
    world.store(CalendarStore).add_events(expected.coordinator, [event])  # type: ignore[list-item]


def _invited(world: World, expected: Expected) -> None:
    pickup = expected.pickups[0]
    guest: Any = {"attendees": [{"email": pickup.email}]}
    world.store(CalendarStore).update_event(expected.calendar, _event(world, pickup).id, guest)


def _mail(field: str, value: Callable[[str, Pickup, Expected], str], fate: str = "") -> Change:
    """A mail in which a field says something else."""

    def apply(world: World, expected: Expected) -> None:
        pickup = _pickup(expected, fate)
        mail = _letter(world, pickup)
        setattr(mail, field, value(getattr(mail, field), pickup, expected))

    return apply


def _in_utc(body: str, pickup: Pickup, expected: Expected) -> str:
    return body.replace(pickup.local, f"{pickup.start:%Y-%m-%d %H:%M}")


def _behind(text: str) -> Callable[[str, Pickup, Expected], str]:
    return lambda body, pickup, _: body.replace(pickup.local, f"{pickup.local}{text}")


def _named(text: str) -> Callable[[str, Pickup, Expected], str]:
    return lambda body, _, expected: f"{body}\n{text.format(expected.pickups[-1].orders[0])}"


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


MUTANTS = [
    *(Mutant(f"overlooked {fate}", "events_missing", _overlooked(fate)) for fate in HOLDING),
    *(Mutant(f"a pickup for {fate}", "events_extra", _needless(fate)) for fate in SETTLED),
    Mutant("a mail to nobody's benefit", "mails_extra", _needless("returned")),
    Mutant("a note on a settled order", "notes_extra", _needless("settled")),
    Mutant("an hour late", "slots", _moved("plain", hours=1)),
    Mutant("a day before the day asked for", "slots", _moved("later_day", hours=-24)),
    Mutant("two days late", "slots", _moved("day_changed", hours=48)),
    Mutant("two cases in the wrong order", "slots", _exchanged),
    Mutant(
        "the depot's time taken for UTC",
        "slots",
        _event_set(start_at=lambda _, pickup: pickup.local.replace(" ", "T") + ":00Z"),
    ),
    Mutant(
        "a longer slot",
        "slots",
        _event_set(end_at=lambda _, pickup: _utc(pickup.end + dt.timedelta(minutes=15))),
    ),
    Mutant("a slot marked as free", "slots_taken", _event_set(transparency=lambda *_: "transparent")),
    Mutant("a tentative event", "slots_taken", _event_set(status=lambda *_: "tentative")),
    Mutant(
        "a title without its sign",
        "events_missing",
        _event_set(summary=lambda _, pickup: f"Recall pickup {pickup.orders[0]}"),
    ),
    Mutant("the same event in another calendar", "events_extra", _own_calendar),
    Mutant("the customer invited", "calendar", _invited),
    Mutant("no mail", "mails_missing", _overlooked("guest")),
    Mutant("a copy to somebody else", "single_recipient", _mail("cc", lambda _, pickup, e: e.coordinator)),
    Mutant(
        "a subject of its own",
        "mail_subject",
        _mail("subject", lambda _, pickup, e: f"Your pickup (order {pickup.orders[0]})"),
    ),
    Mutant("the slot in UTC", "mail_slot", _mail("body", _in_utc)),
    Mutant(
        "two slots in one mail",
        "mail_slot",
        _mail("body", lambda text, _, e: f"{text}\nOr at {e.pickups[-1].local}?"),
    ),
    Mutant(
        "one order of two in the mail",
        "mail_orders",
        _mail("body", lambda text, p, _: text.replace(f"#{p.orders[-1]}", ""), "two_orders"),
    ),
    Mutant(
        "somebody else's order in the mail",
        "mail_orders",
        _mail("body", lambda text, _, e: f"{text}\nAlso #{e.pickups[-1].orders[0]}."),
    ),
    *(
        Mutant(f"the slot with {behind} behind it", "mail_slot", _mail("body", _behind(behind)))
        for behind in (" UTC+14", " +14:00", " PM", " XST", ":30")
    ),
    *(
        Mutant(f"somebody else's order as {named}", "mail_orders", _mail("body", _named(named)))
        for named in ("Order no.: {}", "orders {} and more", "your order ({})")
    ),
    Mutant("a note on one order of two", "notes_missing", _one_note),
    Mutant("a note for the customer", "notes_text", _public_note),
    Mutant("a note in other words", "notes_text", _note_text),
    Mutant("two notes on one order", "notes_extra", _second_note),
    *spoilings("woocommerce", "shop", "an order put on hold", "a product renamed", "a price changed"),
    *spoilings("calendar", "calendar", "an event cancelled", "an event renamed", "an event marked as free"),
    *spoilings("documents", "documents"),
    *INBOX_MUTANTS,
    *SENT_MUTANTS,
]
