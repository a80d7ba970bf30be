"""Tables of the woocommerce service.

Times are UTC text in the product's format (``2025-01-15T09:00:00``): fixed width, so text order is time
order.

Money: a price that a merchant enters (products, coupons, tax rates) is decimal text as entered, because the
product gives it back so (``21.9`` stays ``21.9``). Everything that an order adds up is whole cents, so that
sums are exact, in SQL too.
"""

from mesocosm.servers.woocommerce.models import defaults as defaults  # attaches what a fresh shop has
from mesocosm.servers.woocommerce.models.catalog import (
    Category,
    Product,
    ProductCategory,
    ProductImage,
    ProductTag,
    Review,
    Tag,
)
from mesocosm.servers.woocommerce.models.coupons import Coupon, CouponUse
from mesocosm.servers.woocommerce.models.customers import Customer, SignIn
from mesocosm.servers.woocommerce.models.declarative import Base
from mesocosm.servers.woocommerce.models.metadata import Meta
from mesocosm.servers.woocommerce.models.orders import (
    CouponLine,
    FeeLine,
    LineItem,
    Order,
    OrderNote,
    Refund,
    RefundItem,
    ShippingLine,
    TaxLine,
)
from mesocosm.servers.woocommerce.models.search import product_search
from mesocosm.servers.woocommerce.models.shop import (
    PaymentGateway,
    Setting,
    SettingGroup,
    ShippingMethod,
    ShippingZone,
    TaxClass,
    TaxRate,
    Webhook,
)

__all__ = [
    "Base",
    "Category",
    "Coupon",
    "CouponLine",
    "CouponUse",
    "Customer",
    "FeeLine",
    "LineItem",
    "Meta",
    "Order",
    "OrderNote",
    "PaymentGateway",
    "Product",
    "ProductCategory",
    "ProductImage",
    "ProductTag",
    "Refund",
    "RefundItem",
    "Review",
    "Setting",
    "SettingGroup",
    "ShippingLine",
    "ShippingMethod",
    "ShippingZone",
    "SignIn",
    "Tag",
    "TaxClass",
    "TaxLine",
    "TaxRate",
    "Webhook",
    "product_search",
]
