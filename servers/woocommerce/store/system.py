"""The state of the system and its maintenance tools."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import bindparam, delete, func, select
from sqlalchemy.orm import aliased

from mesocosm.servers.woocommerce.models import (
    Coupon,
    Customer,
    Meta,
    Order,
    Product,
)
from mesocosm.servers.woocommerce.refusals import not_found
from mesocosm.servers.woocommerce.store.shop import Row, StorePart

# Id, name, what it does, what it says when it is done.
SYSTEM_TOOLS: Mapping[str, tuple[str, str, str]] = {
    "clear_transients": (
        "WooCommerce transients",
        "This tool will clear the product/shop transients cache.",
        "Product transients cleared",
    ),
    "clear_expired_transients": (
        "Expired transients",
        "This tool will clear ALL expired transients from WordPress.",
        "0 transients rows cleared",
    ),
    "clear_orphaned_variations": (
        "Orphaned variations",
        "This tool will delete all variations which have no parent.",
        "{count} orphaned variations deleted",
    ),
    "add_order_indexes": (
        "Order address indexes",
        "This tool will add address indexes to orders that do not have them yet.",
        "Order address indexes are up to date",
    ),
    "recount_terms": (
        "Term counts",
        "This tool will recount product terms.",
        "Terms successfully recounted",
    ),
    "reset_roles": (
        "Capabilities",
        "This tool will reset the admin, customer and shop_manager roles to default.",
        "Roles successfully reset",
    ),
    "clear_sessions": (
        "Clear customer sessions",
        "This tool will delete all customer session data from the database, including current carts.",
        "Deleted all active sessions, and 0 saved carts.",
    ),
    "clear_template_cache": (
        "Clear template cache",
        "This tool will empty the template cache.",
        "Template cache cleared.",
    ),
    "clear_system_status_theme_info_cache": (
        "Clear system status theme info cache",
        "This tool will empty the system status theme info cache.",
        "System status theme info cache cleared.",
    ),
}

_Parent = aliased(Product)
_ORPHANS = select(Product.id).where(
    Product.type == "variation", ~select(_Parent.id).where(_Parent.id == Product.parent_id).exists()
)
_COUNTS = {
    "product": select(func.count().label("n")).where(Product.type != "variation", Product.status != "trash"),
    "product_variation": select(func.count().label("n")).where(Product.type == "variation"),
    "shop_order": select(func.count().label("n")).where(Order.status != "trash"),
    "shop_coupon": select(func.count().label("n")).where(Coupon.status != "trash"),
    "customer": select(func.count().label("n")).where(Customer.role == bindparam("role")),
}


class System(StorePart):
    """The state of the system and its maintenance tools."""

    def object_counts(self) -> Row:
        """Count products, variations, orders, coupons and customers."""
        self.authorise("view")
        return {
            name: self.fetch(statement, **({"role": "customer"} if name == "customer" else {}))[0]["n"]
            for name, statement in _COUNTS.items()
        }

    def run_system_tool(self, tool_id: str) -> str:
        """Run a maintenance tool and return its message. Counts and caches are always right here."""
        self.authorise("edit")
        if tool_id not in SYSTEM_TOOLS:
            raise not_found("woocommerce_rest_system_status_tool_invalid_id", "Invalid tool ID.")
        count = 0
        if tool_id == "clear_orphaned_variations":
            orphans = [row["id"] for row in self.fetch(_ORPHANS)]
            self.run(delete(Meta).where(Meta.owner == "product", Meta.owner_id.in_(orphans)))
            count = self.run(delete(Product).where(Product.id.in_(orphans))).rowcount
        return SYSTEM_TOOLS[tool_id][2].format(count=count)
