"""Judges the events, mails and notes of the pickups, and that nothing else was touched."""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from zoneinfo import ZoneInfo

from sqlalchemy import select

from mesocosm.checkers.recall_campaign.mutants import MUTANTS
from mesocosm.families.verdict import Check, finding, told
from mesocosm.generators.recall_campaign.expected import Expected, Pickup
from mesocosm.kits.damage import touched_files, touched_tables
from mesocosm.kits.moments import stated_moments
from mesocosm.kits.outbox import Outbox, OutboxLetter
from mesocosm.servers.calendar.models import Calendar
from mesocosm.servers.calendar.store import CalendarStore
from mesocosm.servers.woocommerce.models import Order
from mesocosm.servers.woocommerce.store import WooCommerceStore
from mesocosm.services.world import World
from mesocosm.worlds.changes import Changes, Row

__all__ = ["MUTANTS", "check"]

_ORDER = re.compile(r"#(\d{1,12})")
_NUMBER = re.compile(r"(?<![\d.,:/-])\d{4,12}(?![\d:/-]|[.,]\d)")
"""Numbers that may be orders named without the sign."""


def check(world: World, expected: Expected) -> list[Check]:
    """One finding per rule of the prompt."""
    changes = world.changes()
    return [
        *_events(world, changes, expected),
        *_mails(world, changes, expected),
        *_notes(changes, expected),
        finding("shop", touched_tables(world, changes, "woocommerce", ("order_notes",))),
        finding("documents", touched_tables(world, changes, "documents")),
        finding("files", touched_files(changes, additions=True)),
    ]


_CALENDARS, _ORDERS = select(Calendar.number, Calendar.id), select(Order.id)


# -- events ---------------------------------------------------------------------------------------------


def _events(world: World, changes: Changes, expected: Expected) -> Iterable[Check]:
    rows = world.store(CalendarStore).fetch(_CALENDARS) if changes.table("calendar", "events").added else ()
    calendars = {row["number"]: row["id"] for row in rows}
    # An event that was made and deleted again is no event, by itself or with its calendar.
    deleted = {row["number"] for row in changes.table("calendar", "calendars").added if row["deleted"]}
    all_made = changes.table("calendar", "events").added
    made = [row for row in all_made if row["status"] != "cancelled" and row["calendar"] not in deleted]
    ours = [row for row in made if calendars.get(row["calendar"]) == expected.calendar]
    elsewhere = [row["summary"] for row in made if calendars.get(row["calendar"]) != expected.calendar]
    by_title: dict[str, list[Row]] = {}
    for row in ours:
        by_title.setdefault((row["summary"] or "").strip(), []).append(row)
    wanted = {pickup.title: pickup for pickup in expected.pickups}
    yield finding("events_missing", [title for title in wanted if title not in by_title])
    yield finding(
        "events_extra",
        [repr(title) for title in by_title if title not in wanted]
        + [f"{title}: {len(rows)} events" for title, rows in by_title.items() if len(rows) > 1]
        + [f"{title!r} in another calendar" for title in elsewhere],
    )
    wrong = [
        f"{title}: {told(' to '.join([row['start_at'], row['end_at']]), _span(pickup))}"
        for title, pickup in wanted.items()
        for row in by_title.get(title, [])
        if (row["start_at"], row["end_at"]) != (_instant(pickup.start), _instant(pickup.end))
        or row["recurrence"]
    ]
    yield finding("slots", wrong or _none(ours, "event"))
    free = [
        f"{title}: {row['status']}, {row['transparency']}"
        for title in wanted
        for row in by_title.get(title, [])
        if (row["status"], row["transparency"]) != ("confirmed", "opaque")
    ]
    yield finding("slots_taken", free)
    numbers = {row["number"] for row in made}
    ours_too = [row for row in changes.table("calendar", "entries").added if row["event"] in numbers]
    explained = {("events", number) for number in numbers} | {("entries", row["id"]) for row in ours_too}
    yield finding("calendar", touched_tables(world, changes, "calendar", explained=explained))


def _span(pickup: Pickup) -> str:
    return f"{_instant(pickup.start)} to {_instant(pickup.end)}"


def _instant(moment: dt.datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


# -- mails ----------------------------------------------------------------------------------------------


def _mails(world: World, changes: Changes, expected: Expected) -> Iterable[Check]:
    outbox = Outbox(world, changes, expected.coordinator)
    wanted = {pickup.email: pickup for pickup in expected.pickups}
    pairs = [
        (letter, wanted[address])
        for letter in outbox.letters
        for address in letter.recipients
        if address in wanted
    ]
    yield finding("mails_missing", [p.name for p in expected.pickups if p.email not in outbox.reached])
    extra = [address for address in outbox.reached if address not in wanted]
    yield finding("mails_extra", extra + outbox.repeated(wanted))
    yield outbox.single_recipient()
    wrong = [f"{m.subject!r} to {p.email}" for m, p in pairs if m.subject.strip() != p.title]
    yield finding("mail_subject", wrong or outbox.nothing())
    yield finding("mail_slot", [*_wrong_slots(pairs, expected.zone)] or outbox.nothing())
    known = {row["id"] for row in world.store(WooCommerceStore).fetch(_ORDERS)} if pairs else set()
    yield finding("mail_orders", [*_wrong_orders(pairs, known)] or outbox.nothing())
    yield finding("mailbox", outbox.damage())


def _wrong_slots(pairs: Sequence[tuple[OutboxLetter, Pickup]], zone: str) -> Iterable[str]:
    for mail, pickup in pairs:
        for form in mail.forms:
            stated = stated_moments(form, ZoneInfo(zone))
            if stated != [pickup.local]:
                yield f"mail to {pickup.email}: {told(', '.join(stated) or 'no moment', pickup.local)}"


def _wrong_orders(pairs: Sequence[tuple[OutboxLetter, Pickup]], known: Collection[int]) -> Iterable[str]:
    for mail, pickup in pairs:
        for form in mail.forms:
            stated = {int(number) for number in _ORDER.findall(form)}
            others = {int(number) for number in _NUMBER.findall(form)} & (set(known) - set(pickup.orders))
            if stated != set(pickup.orders) or others:
                yield f"orders in the mail to {pickup.email}: {told(sorted(stated | others), pickup.orders)}"


# -- notes ------------------------------------------------------------------------------------------


def _notes(changes: Changes, expected: Expected) -> Iterable[Check]:
    difference = changes.table("woocommerce", "order_notes")
    wanted = {number: pickup.note for pickup in expected.pickups for number in pickup.orders}
    noted = Counter(row["order_id"] for row in difference.added)
    yield finding("notes_missing", [f"#{number}" for number in wanted if number not in noted])
    yield finding(
        "notes_extra",
        [f"#{number}" for number in noted if number not in wanted]
        + [f"#{number}: {n} notes" for number, n in noted.items() if number in wanted and n > 1]
        + [f"note {row['id']} was removed" for row in difference.removed]
        + [f"note {row['id']} was changed" for row, _ in difference.changed],
    )
    wrong = [
        f"#{row['order_id']}: {row['note']!r}" + " for the customer" * bool(row["customer_note"])
        for row in difference.added
        if row["order_id"] in wanted
        and (row["note"].strip() != wanted[row["order_id"]] or row["customer_note"])
    ]
    yield finding("notes_text", wrong or _none(difference.added, "note"))


def _none(found: Sequence[object], what: str) -> list[str]:
    return [] if found else [f"no {what} was made"]
