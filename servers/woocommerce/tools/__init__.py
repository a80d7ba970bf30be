"""What an agent sees of the shop."""

from mesocosm.servers.woocommerce.tools import (
    configuration,
    coupons,
    customers,
    orders,
    products,
    reports,
    shipping,
    system,
    taxes,
    terms,
    webhooks,
)
from mesocosm.servers.woocommerce.tools.service import server

__all__ = [
    "configuration",
    "coupons",
    "customers",
    "orders",
    "products",
    "reports",
    "server",
    "shipping",
    "system",
    "taxes",
    "terms",
    "webhooks",
]
