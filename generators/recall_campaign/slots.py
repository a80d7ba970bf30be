"""Assignment of slots to cases."""

from __future__ import annotations

import datetime as dt

from mesocosm.generators.recall_campaign.expected import HOLDING, Pickup
from mesocosm.generators.recall_campaign.planning import Plan


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
