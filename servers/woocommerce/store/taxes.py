"""Taxes: classes, rates, and which rates apply where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlalchemy import bindparam, func, select

from mesocosm.servers.woocommerce.models import TaxClass, TaxRate
from mesocosm.servers.woocommerce.refusals import invalid_parameter, not_found
from mesocosm.servers.woocommerce.store.shop import Part, Record, Row
from mesocosm.servers.woocommerce.values import MAX_COUNT, boolean, line, price, share, whole, window

MAX_PERCENT = 1_000

_CLASSES = select(TaxClass.slug, TaxClass.name).order_by(TaxClass.position, TaxClass.slug)
_RATES = select(TaxRate.__table__)
_RATE = _RATES.where(TaxRate.id == bindparam("id"))
_BY_ORDER = (TaxRate.priority, TaxRate.order, TaxRate.id)
_ALL = _RATES.order_by(*_BY_ORDER)


@dataclass(frozen=True)
class AppliedRate:
    """A tax rate where it applies."""

    id: int
    code: str
    label: str
    percent: str
    rate: Decimal
    compound: bool
    shipping: bool


class Taxes(Part):
    """Tax classes and rates."""

    def tax_classes(self) -> Sequence[Record]:
        """All tax classes."""
        self.authorise("view")
        return self.fetch(_CLASSES)

    def check_tax_class(self, tax_class: str) -> None:
        """Refuse a tax class that does not exist; empty is the standard one."""
        known = [row["slug"] for row in self.fetch(_CLASSES)] if tax_class else []
        if tax_class and tax_class not in known:
            raise invalid_parameter("tax_class", f"tax_class is not one of {', '.join(known)}.")

    def tax_rates(
        self, *, tax_class: str | None, page: int | None, per_page: int | None
    ) -> tuple[Sequence[Record], int]:
        """One page of the tax rates, in the order of their priority, and how many there are."""
        self.authorise("view")
        page, per_page = window(page, per_page)
        conditions = []
        if tax_class:
            self.check_tax_class(tax_class)
            conditions.append(TaxRate.class_ == tax_class)
        ordered = _RATES.where(*conditions).order_by(*_BY_ORDER)
        rows = self.fetch(ordered.limit(per_page).offset((page - 1) * per_page))
        return rows, self.count(TaxRate, *conditions)

    def tax_rate(self, rate_id: int) -> Record:
        """One tax rate."""
        self.authorise("view")
        rows = self.fetch(_RATE, id=rate_id)
        if not rows:
            raise not_found("woocommerce_rest_invalid_id", "Invalid resource ID.")
        return rows[0]

    def create_tax_rate(
        self,
        *,
        country: str,
        rate: str,
        state: str = "",
        name: str = "Tax",
        priority: int = 1,
        compound: bool = False,
        shipping: bool = True,
        tax_class: str = "standard",
    ) -> Record:
        """A new tax rate, in percent; an empty country or state means any."""
        self.authorise("create")
        row = self.tax_rate_row(
            country=country,
            rate=rate,
            state=state,
            name=name,
            priority=priority,
            compound=compound,
            shipping=shipping,
            tax_class=tax_class,
        )
        highest = select(func.coalesce(func.max(TaxRate.order), -1).label("n"))
        row["order"] = self.fetch(highest)[0]["n"] + 1
        return self.fetch(_RATE, id=self.insert_one(TaxRate, row))[0]

    def tax_rate_row(
        self,
        *,
        country: str,
        rate: str,
        state: str,
        name: str,
        priority: int,
        compound: bool,
        shipping: bool,
        tax_class: str,
    ) -> Row:
        """What the tables keep of a tax rate, checked."""
        self.check_tax_class(tax_class)
        place = {"country": line(country, "country").upper(), "state": line(state, "state").upper()}
        if place["country"] and not (place["country"].isalpha() and len(place["country"]) == 2):
            raise invalid_parameter("country", "country must be a country code of two letters (ISO 3166).")
        percent = price(rate, "rate")
        if not percent or Decimal(percent) > MAX_PERCENT:
            raise invalid_parameter("rate", f"rate must be a percentage from 0 to {MAX_PERCENT}.")
        return place | {
            "rate": f"{Decimal(percent):.4f}",
            "name": line(name, "name") or "Tax",
            "priority": whole(1, MAX_COUNT)(priority, "priority"),
            "compound": boolean(compound, "compound"),
            "shipping": boolean(shipping, "shipping"),
            "class": tax_class or "standard",
        }

    # -- applying ---------------------------------------------------------------------------------------

    def all_tax_rates(self) -> list[Record]:
        """All rates, those that apply first in front."""
        return list(self.fetch(_ALL))

    def tax_location(self, billing: Mapping[str, Any], shipping: Mapping[str, Any]) -> tuple[str, str]:
        """Country and state that decide the tax of an order."""
        based_on = self.setting("woocommerce_tax_based_on")
        address = {"shipping": shipping, "billing": billing}.get(based_on)
        if based_on == "shipping" and not shipping.get("country"):
            address = billing
        if address and address.get("country"):
            return str(address["country"]).upper(), str(address.get("state", "")).upper()
        return self.base_location

    @property
    def base_location(self) -> tuple[str, str]:
        """Country and state of the shop."""
        country, _, state = self.setting("woocommerce_default_country").partition(":")
        return country, state


def applied_rates(rates: Sequence[Record], tax_class: str, location: tuple[str, str]) -> list[AppliedRate]:
    """The rates that apply to a tax class at a place: of each priority the most specific one."""
    country, state = location
    best: dict[int, Record] = {}
    for rate in rates:
        fits = rate["country"] in ("", country) and rate["state"] in ("", state)
        if fits and rate["class"] == (tax_class or "standard"):
            rival = best.get(rate["priority"])
            if rival is None or _specific(rate) > _specific(rival):
                best[rate["priority"]] = rate
    return [_applied(rate) for rate in best.values()]


def _specific(rate: Record) -> tuple[bool, bool]:
    return bool(rate["country"]), bool(rate["state"])


def _applied(rate: Record) -> AppliedRate:
    parts = (rate["country"], rate["state"], rate["name"], str(rate["priority"]))
    return AppliedRate(
        id=rate["id"],
        code="-".join(part for part in parts if part).upper(),
        label=rate["name"],
        percent=rate["rate"],
        rate=Decimal(rate["rate"]) / 100,
        compound=rate["compound"],
        shipping=rate["shipping"],
    )


def tax_on(amount: int, rates: Sequence[AppliedRate]) -> dict[int, int]:
    """The tax of each rate on an amount without tax, in cents; compound rates also tax the taxes before."""
    taxes = {rate.id: share(amount, rate.rate) for rate in rates if not rate.compound}
    for rate in rates:
        if rate.compound:
            taxes[rate.id] = share(amount + sum(taxes.values()), rate.rate)
    return taxes


def without_tax(amount: int, rates: Sequence[AppliedRate]) -> int:
    """What an amount that includes tax is without it, in cents."""
    plain = sum((rate.rate for rate in rates if not rate.compound), Decimal(0))
    factor = 1 + plain
    for rate in rates:
        if rate.compound:
            factor *= 1 + rate.rate
    return share(amount, 1 / factor)
