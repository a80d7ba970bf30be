"""Tools for tax rates and classes."""

from __future__ import annotations

from typing import Any

from mesocosm.servers.woocommerce.store import WooCommerceStore
from mesocosm.servers.woocommerce.store.taxes import TAX_RATES
from mesocosm.servers.woocommerce.tools.resources import ResourceTools
from mesocosm.servers.woocommerce.tools.service import server

_tools = ResourceTools("woo_tax_rates", "rate", TAX_RATES, lambda store: store.taxes)
_tools.list("List tax rates by priority.", "Rates")
_tools.get("Get one tax rate.")
_tools.create_of(
    "Create a tax rate and return it. Orders are taxed only if the setting woocommerce_calc_taxes is yes.",
    country="Country code of two letters; empty for every country.",
    rate='Rate in percent, such as "7.5".',
    state="State code; empty for the whole country.",
    name="Name of the tax.",
    priority=("Of each priority only one rate applies to an order, the most specific.", 1),
    compound=("Whether the rate is also charged on the other taxes.", False),
    shipping=("Whether shipping is taxed too.", True),
    class_=("Tax class, by its slug.", "standard"),
)


@server.reads
def woo_tax_classes_list(store: WooCommerceStore) -> list[dict[str, Any]]:
    """List the tax classes."""
    return [{"slug": row["slug"], "name": row["name"]} for row in store.taxes.tax_classes()]
