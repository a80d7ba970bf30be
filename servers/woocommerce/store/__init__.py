"""The rules of the woocommerce service: one part for each topic."""

from __future__ import annotations

from functools import cached_property

from mesocosm.servers.woocommerce.models import Base
from mesocosm.servers.woocommerce.refusals import invalid_parameter, text_of
from mesocosm.servers.woocommerce.store.batches import Batches, Result
from mesocosm.servers.woocommerce.store.catalogue import Catalogue, NewProduct, NewVariation
from mesocosm.servers.woocommerce.store.configuration import Configuration
from mesocosm.servers.woocommerce.store.coupons import Coupons
from mesocosm.servers.woocommerce.store.customers import Customers
from mesocosm.servers.woocommerce.store.details import Details
from mesocosm.servers.woocommerce.store.filling import Filling, NewLineItem, NewOrder
from mesocosm.servers.woocommerce.store.lifecycle import Lifecycle
from mesocosm.servers.woocommerce.store.ordering import Ordering
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
from mesocosm.services.service import Store

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

    @cached_property
    def catalogue(self) -> Catalogue:
        """Changing the catalogue."""
        return Catalogue(self)

    @cached_property
    def categories(self) -> Categories:
        """Categories of products."""
        return Categories(self)

    @cached_property
    def configuration(self) -> Configuration:
        """Settings and payment gateways."""
        return Configuration(self)

    @cached_property
    def coupons(self) -> Coupons:
        """Coupons."""
        return Coupons(self)

    @cached_property
    def customers(self) -> Customers:
        """Customers and what they have bought."""
        return Customers(self)

    @cached_property
    def details(self) -> Details:
        """Objects that belong to others, one by one."""
        return Details(self)

    @cached_property
    def filling(self) -> Filling:
        """Bulk methods for generators."""
        return Filling(self)

    @cached_property
    def lifecycle(self) -> Lifecycle:
        """What a change of an order's status brings about."""
        return Lifecycle(self)

    @cached_property
    def ordering(self) -> Ordering:
        """Creating, changing and deleting orders."""
        return Ordering(self)

    @cached_property
    def orders(self) -> Orders:
        """Reading orders."""
        return Orders(self)

    @cached_property
    def pricing(self) -> Pricing:
        """What prices depend on."""
        return Pricing(self)

    @cached_property
    def products(self) -> Products:
        """Reading the catalogue."""
        return Products(self)

    @cached_property
    def refunds(self) -> Refunds:
        """Refunds."""
        return Refunds(self)

    @cached_property
    def reports(self) -> Reports:
        """Reports on sales, customers, orders, products and stock."""
        return Reports(self)

    @cached_property
    def reviews(self) -> Reviews:
        """Reviews of products."""
        return Reviews(self)

    @cached_property
    def stock(self) -> Stock:
        """Stock and sales counts, as orders change them."""
        return Stock(self)

    @cached_property
    def system(self) -> System:
        """The state of the system and its maintenance tools."""
        return System(self)

    @cached_property
    def taxes(self) -> Taxes:
        """Tax classes and rates."""
        return Taxes(self)

    @cached_property
    def tags(self) -> Tags:
        """Tags of products."""
        return Tags(self)

    @cached_property
    def variations(self) -> Variations:
        """Single variations."""
        return Variations(self)

    @cached_property
    def webhooks(self) -> Webhooks:
        """Webhooks."""
        return Webhooks(self)

    @cached_property
    def zones(self) -> Zones:
        """Shipping zones."""
        return Zones(self)

    def zone_methods(self, zone_id: int) -> ZoneMethods:
        """The ways of shipping of a zone."""
        return ZoneMethods(self, zone_id)

    @cached_property
    def batches(self) -> Batches:
        """Batches of products and orders, and of what else has the same three verbs."""
        return Batches(self)
