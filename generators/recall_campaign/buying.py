"""Customers' addresses, and payment and shipping of their orders."""

from __future__ import annotations

import datetime as dt
import random

from mesocosm.kits.people import Contact
from mesocosm.kits.prose import Prose
from mesocosm.servers.woocommerce.store.bulk import NewOrder

_LOCALES = {
    "America/Chicago": ("en_US", "IL"),
    "America/New_York": ("en_US", "NY"),
    "America/Los_Angeles": ("en_US", "CA"),
    "Europe/Helsinki": ("fi_FI", ""),
    "Asia/Kolkata": ("en_IN", ""),
}
"""Locale and state of addresses by the depot's zone."""
_PAYMENTS = (("stripe", "Credit card"), ("paypal", "PayPal"), ("bacs", "Direct bank transfer"))
_SENT = (("4.90", "Parcel"), ("0.00", "Free delivery"), ("9.50", "Express"))


class Buying:
    """Draws addresses near a depot, and the ways in which orders were paid and sent."""

    def __init__(self, zone: str, rng: random.Random) -> None:
        self._rng = rng
        self._prose = Prose(rng)
        self._locale, self._state = _LOCALES[zone]

    def address(self, contact: Contact) -> dict[str, str]:
        """Return a customer's billing address."""
        home = self._prose.address(self._locale, self._state)
        return {
            "first_name": contact.person.first,
            "last_name": contact.person.last,
            "address_1": home.street,
            "city": home.city,
            "state": home.state,
            "postcode": home.postcode,
            "country": home.country,
            "email": contact.email,
            "phone": home.phone,
        }

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
