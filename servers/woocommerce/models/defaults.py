"""Defaults of a new shop: staff, settings, gateways, tax classes, a default category."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, MetaData, event, insert

from mesocosm.servers.woocommerce.models.catalog import Category
from mesocosm.servers.woocommerce.models.customers import EMPTY_BILLING, EMPTY_SHIPPING, Customer, SignIn
from mesocosm.servers.woocommerce.models.declarative import Base
from mesocosm.servers.woocommerce.models.shop import (
    PaymentGateway,
    Setting,
    SettingGroup,
    ShippingZone,
    TaxClass,
)

ADMINISTRATOR_ID = 1
DEFAULT_CATEGORY_ID = 15
"""``Uncategorized``: where a product goes that names no category."""
_INSTALLED = "2020-01-01T00:00:00"

GROUPS = [
    ("general", "General", "Store address, currency, taxes and coupons."),
    ("products", "Products", "Shop pages, measurements, reviews and inventory."),
    ("tax", "Tax", "How taxes are calculated and shown."),
    ("shipping", "Shipping", "How shipping is calculated and shown."),
    ("checkout", "Payments", "Checkout pages and payment."),
    ("account", "Accounts & Privacy", "Guest checkout and account creation."),
    ("email", "Emails", "Sender and appearance of the shop's emails."),
    ("integration", "Integration", "Connections to other services."),
    ("advanced", "Advanced", "Page setup, endpoints and features."),
    ("rest-api", "REST API", "Programmatic access to the shop."),
]

_YES_NO = "checkbox"
# Group, id, label, description, type, default, options.
SETTINGS: list[tuple[str, str, str, str, str, str, dict[str, str] | None]] = [
    ("general", "woocommerce_store_address", "Address line 1", "Street of the store.", "text", "", None),
    ("general", "woocommerce_store_city", "City", "City of the store.", "text", "", None),
    (
        "general",
        "woocommerce_default_country",
        "Country / State",
        "Country and state of the store, such as US:CA.",
        "select",
        "US:CA",
        None,
    ),
    ("general", "woocommerce_store_postcode", "Postcode / ZIP", "Postal code.", "text", "", None),
    (
        "general",
        "woocommerce_calc_taxes",
        "Enable taxes",
        "Calculate taxes on orders.",
        _YES_NO,
        "no",
        None,
    ),
    ("general", "woocommerce_enable_coupons", "Enable coupons", "Coupons can be used.", _YES_NO, "yes", None),
    ("general", "woocommerce_currency", "Currency", "Currency of all prices.", "select", "USD", None),
    ("general", "woocommerce_price_num_decimals", "Number of decimals", "In prices.", "number", "2", None),
    (
        "products",
        "woocommerce_weight_unit",
        "Weight unit",
        "Unit of weights.",
        "select",
        "kg",
        {"kg": "kg", "g": "g", "lbs": "lbs", "oz": "oz"},
    ),
    (
        "products",
        "woocommerce_dimension_unit",
        "Dimensions unit",
        "Unit of lengths.",
        "select",
        "cm",
        {"m": "m", "cm": "cm", "mm": "mm", "in": "in", "yd": "yd"},
    ),
    ("products", "woocommerce_enable_reviews", "Enable reviews", "Product reviews.", _YES_NO, "yes", None),
    ("products", "woocommerce_manage_stock", "Manage stock", "Stock management.", _YES_NO, "yes", None),
    (
        "products",
        "woocommerce_notify_low_stock_amount",
        "Low stock threshold",
        "Stock at or below this is low where the product sets no threshold of its own.",
        "number",
        "2",
        None,
    ),
    (
        "products",
        "woocommerce_notify_no_stock_amount",
        "Out of stock threshold",
        "Stock at or below this is out of stock.",
        "number",
        "0",
        None,
    ),
    (
        "products",
        "woocommerce_stock_email_recipient",
        "Notification recipient(s)",
        "Who is told of low stock.",
        "text",
        "admin@woocommerce.local",
        None,
    ),
    (
        "tax",
        "woocommerce_prices_include_tax",
        "Prices entered with tax",
        "Whether catalogue prices include tax.",
        "radio",
        "no",
        {
            "yes": "Yes, I will enter prices inclusive of tax",
            "no": "No, I will enter prices exclusive of tax",
        },
    ),
    (
        "tax",
        "woocommerce_tax_based_on",
        "Calculate tax based on",
        "Which address decides the tax.",
        "select",
        "shipping",
        {
            "shipping": "Customer shipping address",
            "billing": "Customer billing address",
            "base": "Shop base address",
        },
    ),
    ("tax", "woocommerce_tax_round_at_subtotal", "Rounding", "Round at subtotal level.", _YES_NO, "no", None),
    (
        "tax",
        "woocommerce_tax_display_shop",
        "Display prices in the shop",
        "With or without tax.",
        "select",
        "excl",
        {"incl": "Including tax", "excl": "Excluding tax"},
    ),
    (
        "shipping",
        "woocommerce_enable_shipping_calc",
        "Calculations",
        "Enable the shipping calculator on the cart page.",
        _YES_NO,
        "yes",
        None,
    ),
    (
        "shipping",
        "woocommerce_ship_to_destination",
        "Shipping destination",
        "Default destination.",
        "radio",
        "billing",
        {
            "shipping": "Default to customer shipping address",
            "billing": "Default to customer billing address",
            "billing_only": "Force shipping to the customer billing address",
        },
    ),
    (
        "checkout",
        "woocommerce_force_ssl_checkout",
        "Force secure checkout",
        "Use HTTPS on checkout pages.",
        _YES_NO,
        "no",
        None,
    ),
    (
        "account",
        "woocommerce_enable_guest_checkout",
        "Guest checkout",
        "Orders without an account.",
        _YES_NO,
        "yes",
        None,
    ),
    (
        "account",
        "woocommerce_enable_signup_and_login_from_checkout",
        "Account creation",
        "Accounts can be created during checkout.",
        _YES_NO,
        "no",
        None,
    ),
    (
        "email",
        "woocommerce_email_from_name",
        '"From" name',
        "Sender's name.",
        "text",
        "WooCommerce Store",
        None,
    ),
    (
        "email",
        "woocommerce_email_from_address",
        '"From" address',
        "Sender's address.",
        "email",
        "admin@woocommerce.local",
        None,
    ),
    ("email", "woocommerce_email_base_color", "Base color", "Colour of headings.", "color", "#7f54b3", None),
    (
        "integration",
        "woocommerce_maxmind_geolocation_license_key",
        "MaxMind License Key",
        "For geolocation of visitors.",
        "password",
        "",
        None,
    ),
    ("advanced", "woocommerce_cart_page_id", "Cart page", "Page of the cart.", "select", "7", None),
    ("advanced", "woocommerce_checkout_page_id", "Checkout page", "Page of checkout.", "select", "8", None),
    (
        "advanced",
        "woocommerce_checkout_pay_endpoint",
        "Pay",
        "Endpoint of the pay page.",
        "text",
        "order-pay",
        None,
    ),
    ("advanced", "woocommerce_allow_tracking", "Enable tracking", "Usage tracking.", _YES_NO, "no", None),
    ("rest-api", "woocommerce_api_enabled", "Legacy API", "Enable the legacy REST API.", _YES_NO, "no", None),
]

_TITLE = {"id": "title", "label": "Title", "description": "What the customer sees.", "type": "text"}
_INSTRUCTIONS = {
    "id": "instructions",
    "label": "Instructions",
    "description": "Added to the thank you page and emails.",
    "type": "textarea",
    "value": "",
    "default": "",
}
_TEST_MODE = {
    "id": "testmode",
    "label": "Test mode",
    "description": "Take no real payments.",
    "type": "checkbox",
    "value": "no",
    "default": "no",
}
# Id, title, description, enabled, method description, supports, options beside the title.
GATEWAYS: list[tuple[str, str, str, bool, str, list[str], list[dict[str, str]]]] = [
    (
        "bacs",
        "Direct bank transfer",
        "Make your payment directly into our bank account.",
        True,
        "Take payments in person via BACS.",
        ["products"],
        [_INSTRUCTIONS],
    ),
    (
        "cheque",
        "Check payments",
        "Please send a check to our store.",
        False,
        "Take payments in person via checks.",
        ["products"],
        [_INSTRUCTIONS],
    ),
    (
        "cod",
        "Cash on delivery",
        "Pay with cash upon delivery.",
        False,
        "Let your shoppers pay upon delivery.",
        ["products"],
        [_INSTRUCTIONS],
    ),
    (
        "paypal",
        "PayPal",
        "Pay via PayPal.",
        True,
        "PayPal redirects customers to PayPal to enter their payment information.",
        ["products", "refunds"],
        [_TEST_MODE],
    ),
    (
        "stripe",
        "Credit Card (Stripe)",
        "Pay with your credit card via Stripe.",
        True,
        "Accept debit and credit cards.",
        ["products", "refunds"],
        [_TEST_MODE],
    ),
]


def _gateway_rows() -> list[dict[str, Any]]:
    return [
        {
            "id": gateway,
            "title": title,
            "description": description,
            "order": order,
            "enabled": enabled,
            "method_title": title,
            "method_description": method,
            "supports": supports,
            "settings": [{**_TITLE, "value": title, "default": title}, *options],
        }
        for order, (gateway, title, description, enabled, method, supports, options) in enumerate(GATEWAYS)
    ]


def _setting_rows() -> list[dict[str, Any]]:
    return [
        {
            "group_id": group,
            "id": option,
            "label": label,
            "description": description,
            "type": kind,
            "default": default,
            "value": default,
            "options": options,
            "position": position,
        }
        for position, (group, option, label, description, kind, default, options) in enumerate(SETTINGS)
    ]


_ADMINISTRATOR = {
    "id": ADMINISTRATOR_ID,
    "email": "admin@woocommerce.local",
    "username": "admin",
    "password": "",
    "display_name": "admin",
    "role": "administrator",
    "billing": EMPTY_BILLING,
    "shipping": EMPTY_SHIPPING,
    "date_created": _INSTALLED,
    "date_modified": None,
}


def _fill(target: MetaData, connection: Connection, **_: Any) -> None:
    """Write the rows of a fresh shop into tables that were just created."""
    groups = [
        {"id": group, "label": label, "description": description, "position": position}
        for position, (group, label, description) in enumerate(GROUPS)
    ]
    classes = [("standard", "Standard rate"), ("reduced-rate", "Reduced rate"), ("zero-rate", "Zero rate")]
    for table, rows in (
        (SettingGroup, groups),
        (Setting, _setting_rows()),
        (PaymentGateway, _gateway_rows()),
        (TaxClass, [{"slug": s, "name": n, "position": p} for p, (s, n) in enumerate(classes)]),
        (ShippingZone, [{"id": 0, "name": "Locations not covered by your other zones", "order": 0}]),
        (Category, [{"id": DEFAULT_CATEGORY_ID, "name": "Uncategorized", "slug": "uncategorized"}]),
        (Customer, [_ADMINISTRATOR]),
        (SignIn, [{"id": 1, "customer_id": ADMINISTRATOR_ID, "permissions": "read_write"}]),
    ):
        connection.execute(insert(table), rows)


event.listen(Base.metadata, "after_create", _fill)
