"""Taxes: classes, rates, and which rates apply where."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlalchemy import delete, func, select

from mesocosm.servers.woocommerce.models import TaxClass, TaxRate
from mesocosm.servers.woocommerce.refusals import invalid, invalid_parameter, no_trash, not_found
from mesocosm.servers.woocommerce.store.resources import Collection, Filter, ShopResource
from mesocosm.servers.woocommerce.store.shop import Record, Row
from mesocosm.servers.woocommerce.values import share, title

_CLASSES = select(TaxClass.slug, TaxClass.name).order_by(TaxClass.position, TaxClass.slug)
_ALL = select(TaxRate.__table__).order_by(TaxRate.priority, TaxRate.order, TaxRate.id)
_STANDARD = "standard"


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


TAX_RATES = ShopResource(
    TaxRate,
    things="Taxes",
    required=["country", "rate"],
    by=(TaxRate.priority, TaxRate.order, TaxRate.id),
    filters={
        "class": Filter(
            str,
            lambda tax_class: TaxRate.class_ == tax_class,
            "Only rates of this tax class, by its slug.",
            tool="taxClass",
            first=True,
        )
    },
    selects=(),
)


class Taxes(Collection):
    """Tax rates, the classes of goods that they are for, and which of them apply where."""

    resource = TAX_RATES

    def listed(self, **asked: Any) -> tuple[list[Row], int]:
        """One page of the tax rates, in the order of their priority, and how many there are."""
        self.check_tax_class(asked.get("class") or "")
        return super().listed(**asked)

    def _new_row(self, values: Row, id_: int) -> Row:
        highest = select(func.coalesce(func.max(TaxRate.order), -1).label("n"))
        return super()._new_row({"order": self.fetch(highest)[0]["n"] + 1, **values}, id_)

    def _settled(self, row: Row, before: Record | None) -> Row:
        self.check_tax_class(row["class"] or "")
        return row | {"class": row["class"] or _STANDARD}

    # -- classes ----------------------------------------------------------------------------------------

    def tax_classes(self) -> Sequence[Record]:
        self.authorise("view")
        return self.fetch(_CLASSES)

    def check_tax_class(self, tax_class: str) -> None:
        """Refuse a tax class that does not exist; empty is the standard one."""
        known = [row["slug"] for row in self.fetch(_CLASSES)] if tax_class else []
        if tax_class and tax_class not in known:
            raise invalid_parameter("tax_class", f"tax_class is not one of {', '.join(known)}.")

    def create_tax_class(self, name: str) -> Record:
        """A new tax class, called by its slug."""
        self.authorise("create")
        shown = title(name, "name")
        slug = re.sub(r"[^a-z0-9]+", "-", shown.lower()).strip("-")
        if not slug or any(slug == row["slug"] for row in self.tax_classes()):
            raise invalid("woocommerce_rest_tax_class_exists", f"Cannot create the tax class {slug!r}.")
        place = self.fetch(select(func.coalesce(func.max(TaxClass.position), 0).label("n")))[0]["n"] + 1
        self.add(TaxClass, [{"slug": slug, "name": shown, "position": place}])
        return {"slug": slug, "name": shown}

    def delete_tax_class(self, slug: str, *, force: bool) -> Record:
        """Delete a tax class with its rates."""
        self.authorise("delete")
        no_trash("Taxes", force=force)
        found = next((row for row in self.tax_classes() if row["slug"] == slug), None)
        if found is None or slug == _STANDARD:
            raise not_found("woocommerce_rest_tax_class_invalid_slug", "Invalid slug.")
        self.run(delete(TaxRate).where(TaxRate.class_ == slug))
        self.run(delete(TaxClass).where(TaxClass.slug == slug))
        return found

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
    """Subtract the included tax from an amount, in cents."""
    plain = sum((rate.rate for rate in rates if not rate.compound), Decimal(0))
    factor = 1 + plain
    for rate in rates:
        if rate.compound:
            factor *= 1 + rate.rate
    return share(amount, 1 / factor)
