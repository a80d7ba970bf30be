"""Knowledge of the family's checker."""

from __future__ import annotations

import datetime as dt

from pydantic import BaseModel, ConfigDict

from mesocosm.families import family

HOLDING = (
    "plain", "boundary_in", "two_orders", "guest", "later_day", "day_changed", "not_returned", "revised_in",
)  # fmt: skip
"""Cases with a pickup."""
SETTLED = (
    "returned", "returned_later", "refunded", "boundary_out", "superseded", "draft", "settled", "lookalike",
)  # fmt: skip
"""Cases that look the same and have none."""


class Pickup(BaseModel):
    """An item that is to be picked up: one event, one mail, a note on each order."""

    model_config = ConfigDict(frozen=True)

    name: str
    email: str
    orders: list[int]
    """The orders that count, in ascending order."""
    start: dt.datetime
    end: dt.datetime
    local: str
    """The start on the depot's clocks, as mails and notes state it: ``2025-04-17 09:30``."""
    fate: str
    """One of ``HOLDING``."""

    @property
    def title(self) -> str:
        """Of the event and of the mail."""
        return f"Recall pickup #{self.orders[0]}"

    @property
    def note(self) -> str:
        """Note on each order."""
        return f"Recall pickup {self.local}"


class Case(BaseModel):
    """Somebody with an order that looks affected, and nothing to pick up."""

    model_config = ConfigDict(frozen=True)

    name: str
    email: str
    orders: list[int]
    fate: str
    """One of ``SETTLED``."""


class Expected(family.Expected):
    """Every pickup, in the order in which slots are given out."""

    coordinator: str
    """Address of the account that sends."""
    calendar: str
    """Id of the calendar of pickups."""
    zone: str
    pickups: list[Pickup]
    others: list[Case]
    products: list[int]
    """Those of which the survey lists the orders."""
    horizon: tuple[str, str]
    """Between these instants the survey lists events."""
