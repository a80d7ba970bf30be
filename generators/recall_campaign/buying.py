"""Where customers live, and how their orders were paid and sent."""

from __future__ import annotations

import datetime as dt
import random

from mesocosm.kits.people import Contact
from mesocosm.kits.prose import Prose
from mesocosm.servers.woocommerce.store.filling import NewOrder

_STREETS = (
    "Alder", "Bridge", "Canal", "Chapel", "Cedar", "Depot", "Elm", "Foundry", "Garden", "Harbour", "Hill",
    "Juniper", "Lake", "Linden", "Maple", "Market", "Mill", "North", "Orchard", "Park", "Pine", "Quarry",
    "River", "School", "Spring", "Station", "Tower", "Union", "Walnut", "Willow",
)  # fmt: skip
_KINDS = ("Street", "Avenue", "Road", "Lane", "Court")
_COUNTRIES = {
    "America/Chicago": ("US", "IL", "60###", "(312) 555-01##"),
    "America/New_York": ("US", "NY", "10###", "(518) 555-01##"),
    "America/Los_Angeles": ("US", "CA", "94###", "(415) 555-01##"),
    "Europe/Helsinki": ("FI", "", "00##0", "+358 40 55# 01##"),
    "Asia/Singapore": ("SG", "", "3#####", "+65 6555 01##"),
}
"""Country, state, postcode and telephone, by the zone of the depot."""
_PAYMENTS = (("stripe", "Credit card"), ("paypal", "PayPal"), ("bacs", "Direct bank transfer"))
_TOWNS = 14
_SENT = (("4.90", "Parcel"), ("0.00", "Free delivery"), ("9.50", "Express"))


class Buying:
    """Draws addresses near a depot, and the ways in which orders were paid and sent."""

    def __init__(self, zone: str, rng: random.Random) -> None:
        self._rng = rng
        prose = Prose(rng)
        self._country = _COUNTRIES[zone]
        self._towns = [prose.place() for _ in range(_TOWNS)]

    def address(self, contact: Contact) -> dict[str, str]:
        """What stands on the bills of somebody."""
        rng = self._rng
        country, state, postcode, phone = self._country
        return {
            "first_name": contact.person.first,
            "last_name": contact.person.last,
            "address_1": f"{rng.randint(1, 220)} {rng.choice(_STREETS)} {rng.choice(_KINDS)}",
            "city": rng.choice(self._towns),
            "state": state,
            "postcode": self._digits(postcode),
            "country": country,
            "email": contact.email,
            "phone": self._digits(phone),
        }

    def _digits(self, form: str) -> str:
        return "".join(str(self._rng.randrange(10)) if sign == "#" else sign for sign in form)

    def order(self, status: str, moment: dt.datetime, address: dict[str, str]) -> NewOrder:
        """An order of that moment: addresses, payment, delivery and their times, without its lines."""
        way, title = self._rng.choice(_PAYMENTS)
        cost, sent = self._rng.choice(_SENT)
        paid = moment + dt.timedelta(seconds=self._rng.randint(20, 900 if way != "bacs" else 3 * 86_400))
        done = paid + dt.timedelta(minutes=self._rng.randint(240, 4 * 24 * 60))
        order = NewOrder(
            status=status,
            billing=address,
            shipping={key: value for key, value in address.items() if key not in ("email", "phone")},
            payment_method=way,
            payment_method_title=title,
            shipping_lines=[{"method_id": "flat_rate", "method_title": sent, "total": cost}],
            date_created=shop_time(moment),
            date_paid=shop_time(paid) if status in ("completed", "processing", "refunded") else None,
            date_modified=shop_time(done if status in ("completed", "refunded") else paid),
        )
        if status == "completed":
            order["date_completed"] = shop_time(done)
        return order


def shop_time(moment: dt.datetime) -> str:
    """As the shop keeps moments: UTC, without a zone."""
    return f"{moment.astimezone(dt.UTC):%Y-%m-%dT%H:%M:%S}"
