"""The rules of the woocommerce service: catalogue, orders, customers, coupons, reports, settings."""

from mesocosm.servers.woocommerce.store.batches import Batches, Result
from mesocosm.servers.woocommerce.store.catalogue import NewProduct, NewVariation
from mesocosm.servers.woocommerce.store.configuration import SHIPPING_METHODS
from mesocosm.servers.woocommerce.store.coupons import NewCoupon
from mesocosm.servers.woocommerce.store.customers import CustomerFilter, NewCustomer
from mesocosm.servers.woocommerce.store.details import Details
from mesocosm.servers.woocommerce.store.filling import NewLineItem, NewOrder
from mesocosm.servers.woocommerce.store.orders import NewNote, OrderFilter
from mesocosm.servers.woocommerce.store.products import ProductFilter
from mesocosm.servers.woocommerce.store.refunds import NewRefund
from mesocosm.servers.woocommerce.store.refusals import invalid_parameter, text_of
from mesocosm.servers.woocommerce.store.reports import Reports
from mesocosm.servers.woocommerce.store.reviews import NewReview, Reviews
from mesocosm.servers.woocommerce.store.selection import Selection
from mesocosm.servers.woocommerce.store.setup_changes import SetupChanges
from mesocosm.servers.woocommerce.store.system import SYSTEM_TOOLS, System
from mesocosm.servers.woocommerce.store.term_changes import TermChanges
from mesocosm.servers.woocommerce.store.terms import NewCategory, NewTag
from mesocosm.servers.woocommerce.store.tolerance import tolerant
from mesocosm.servers.woocommerce.store.values import known_fields, money, window
from mesocosm.servers.woocommerce.store.variations import Variations

__all__ = [
    "SHIPPING_METHODS",
    "SYSTEM_TOOLS",
    "CustomerFilter",
    "NewCategory",
    "NewCoupon",
    "NewCustomer",
    "NewLineItem",
    "NewNote",
    "NewOrder",
    "NewProduct",
    "NewRefund",
    "NewReview",
    "NewTag",
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
    "tolerant",
    "window",
]


class WooCommerceStore(Batches, Variations, Details, TermChanges, Reports, Reviews, SetupChanges, System):
    """One shop, used with the API key of the user that is signed in."""
