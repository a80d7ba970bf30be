"""Tools for tax rates and classes."""
# ruff: noqa: N803 - the parameters are named as the vendor names them

from __future__ import annotations

from typing import Any

from mesocosm.servers.woocommerce.store import WooCommerceStore, window
from mesocosm.servers.woocommerce.tools.service import server
from mesocosm.servers.woocommerce.tools.shapes import Record
from mesocosm.services.service import Page
from mesocosm.services.shapes import same


@server.reads
def woo_tax_rates_list(
    store: WooCommerceStore,
    taxClass: str | None = None,
    perPage: int | None = None,
    page: int | None = None,
) -> Page:
    """List tax rates by priority.

    Args:
        taxClass: Only rates of this tax class, by its slug.
        perPage: Rates per page, 1 to 100; 10 by default.
        page: Page number, from 1.
    """
    rows, total = store.taxes.tax_rates(tax_class=taxClass, page=page, per_page=perPage)
    return Page([rate_shape(row) for row in rows], *window(page, perPage), total)


@server.reads
def woo_tax_rates_get(store: WooCommerceStore, rateId: int) -> dict[str, Any]:
    """Get one tax rate.

    Args:
        rateId: ID of the rate.
    """
    return rate_shape(store.taxes.tax_rate(rateId))


@server.writes
def woo_tax_rates_create(
    store: WooCommerceStore,
    country: str,
    rate: str,
    state: str | None = None,
    name: str | None = None,
    priority: int = 1,
    compound: bool = False,
    shipping: bool = True,
    class_: str = "standard",
) -> dict[str, Any]:
    """Create a tax rate and return it. Orders are taxed only if the setting woocommerce_calc_taxes is yes.

    Args:
        country: Country code of two letters; empty for every country.
        rate: Rate in percent, such as "7.5".
        state: State code; empty for the whole country.
        name: Name of the tax.
        priority: Of each priority only one rate applies to an order, the most specific.
        compound: Whether the rate is also charged on the other taxes.
        shipping: Whether shipping is taxed too.
        class: Tax class, by its slug.
    """
    row = store.taxes.create_tax_rate(
        country=country,
        rate=rate,
        state=state or "",
        name=name or "Tax",
        priority=priority,
        compound=compound,
        shipping=shipping,
        tax_class=class_,
    )
    return rate_shape(row)


@server.reads
def woo_tax_classes_list(store: WooCommerceStore) -> list[dict[str, Any]]:
    """List the tax classes."""
    return [{"slug": row["slug"], "name": row["name"]} for row in store.taxes.tax_classes()]


def rate_shape(row: Record) -> dict[str, Any]:
    """A tax rate as the product shows it."""
    return {
        **same(row, "id", "country", "state"),
        "postcode": "",
        "city": "",
        **same(row, "rate", "name", "priority", "compound", "shipping", "order", "class"),
        "postcodes": [],
        "cities": [],
    }
