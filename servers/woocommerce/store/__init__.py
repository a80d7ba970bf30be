"""The rules of the woocommerce service: one part for each topic."""

from __future__ import annotations

from mesocosm.servers.woocommerce.models import Base
from mesocosm.servers.woocommerce.refusals import invalid_parameter, text_of
from mesocosm.servers.woocommerce.store.batches import Batches, Result
from mesocosm.servers.woocommerce.store.bulk import Filling, NewLineItem, NewOrder
from mesocosm.servers.woocommerce.store.catalogue import Catalogue, NewProduct, NewVariation
from mesocosm.servers.woocommerce.store.configuration import Configuration
from mesocosm.servers.woocommerce.store.coupons import Coupons
from mesocosm.servers.woocommerce.store.customers import Customers
from mesocosm.servers.woocommerce.store.details import Details
from mesocosm.servers.woocommerce.store.lifecycle import Lifecycle
from mesocosm.servers.woocommerce.store.order_changes import Ordering
from mesocosm.servers.woocommerce.store.orders import NewNote, OrderFilter, Orders
from mesocosm.servers.woocommerce.store.pricing import Pricing
from mesocosm.servers.woocommerce.store.products import ProductFilter, Products
from mesocosm.servers.woocommerce.store.refunds import NewRefund, Refunds
from mesocosm.servers.woocommerce.store.reports import Reports
from mesocosm.servers.woocommerce.store.reviews import Reviews
from mesocosm.servers.woocommerce.store.selection import Selection
from mesocosm.servers.woocommerce.store.shipping import ZoneMethods, Zones
from mesocosm.servers.woocommerce.store.shop import Shop
from mesocosm.servers.woocommerce.store.stock import Stock
from mesocosm.servers.woocommerce.store.system import SYSTEM_TOOLS, System
from mesocosm.servers.woocommerce.store.taxes import Taxes
from mesocosm.servers.woocommerce.store.terms import Categories, Tags
from mesocosm.servers.woocommerce.store.variations import Variations
from mesocosm.servers.woocommerce.store.webhooks import Webhooks
from mesocosm.servers.woocommerce.values import known_fields, money, window
from mesocosm.services.service import Store, Topic

__all__ = [
    "SYSTEM_TOOLS",
    "NewLineItem",
    "NewNote",
    "NewOrder",
    "NewProduct",
    "NewRefund",
    "NewVariation",
    "OrderFilter",
    "ProductFilter",
    "Result",
    "Selection",
    "WooCommerceStore",
    "invalid_parameter",
    "known_fields",
    "money",
    "text_of",
    "window",
]


class WooCommerceStore(Shop, Store):
    """One shop, used with the API key of the user that is signed in."""

    metadata = Base.metadata

    catalogue = Topic(Catalogue)
    categories = Topic(Categories)
    configuration = Topic(Configuration)
    coupons = Topic(Coupons)
    customers = Topic(Customers)
    details = Topic(Details)
    filling = Topic(Filling)
    lifecycle = Topic(Lifecycle)
    ordering = Topic(Ordering)
    orders = Topic(Orders)
    pricing = Topic(Pricing)
    products = Topic(Products)
    refunds = Topic(Refunds)
    reports = Topic(Reports)
    reviews = Topic(Reviews)
    stock = Topic(Stock)
    system = Topic(System)
    taxes = Topic(Taxes)
    tags = Topic(Tags)
    webhooks = Topic(Webhooks)
    zones = Topic(Zones)

    def variations(self, product_id: int) -> Variations:
        return Variations(self, product_id)

    def zone_methods(self, zone_id: int) -> ZoneMethods:
        """The ways of shipping of a zone."""
        return ZoneMethods(self, zone_id)

    batches = Topic(Batches)
