"""A small shop, for the tests of the tools and of the REST API."""

from __future__ import annotations

from typing import Any

from mesocosm.servers.woocommerce.store import WooCommerceStore
from mesocosm.services.world import World

# The shop that `fill_shop` makes; the world's clock stands at 2025-01-15 09:00 UTC.
CHAIR, STOOL, SHIRT, RED, BLUE, TABLE = 1, 2, 3, 4, 5, 6
FURNITURE, SEATS, CLOTHES = 16, 17, 18
OAK = 1
ADMIN, ANN, BOB = 1, 2, 3
OLD_ORDER, PENDING_ORDER, GUEST_ORDER = 1, 2, 3
TEN_PERCENT = 1

NOW = "2025-01-15T09:00:00"


def fill_shop(world: World) -> None:
    store = world.store(WooCommerceStore)
    store.categories.fill(
        [{"name": "Furniture"}, {"name": "Seats", "parent": FURNITURE}, {"name": "Clothes"}]
    )
    store.tags.fill([{"name": "Oak"}])
    store.catalogue.add_products(PRODUCTS)
    store.customers.fill(
        [
            {
                "email": "ann@example.org",
                "first_name": "Ann",
                "last_name": "Lee",
                "billing": {"first_name": "Ann", "email": "ann@example.org", "country": "US", "state": "CA"},
                "date_created": "2024-12-01T00:00:00",
            },
            {"email": "bob@example.org", "first_name": "Bob", "last_name": "Ray"},
        ]
    )
    store.coupons.fill([{"code": "TEN", "amount": "10", "discount_type": "percent"}])
    store.filling.add_orders(
        [
            {
                "customer_id": ANN,
                "status": "completed",
                "date_created": "2025-01-10T12:00:00",
                "payment_method": "stripe",
                "line_items": [{"product_id": CHAIR, "quantity": 2, "price": "40.00"}],
                "shipping_lines": [{"method_id": "flat_rate", "method_title": "Flat rate", "total": "5.00"}],
            },
            {
                "customer_id": ANN,
                "status": "pending",
                "date_created": "2025-01-14T12:00:00",
                "payment_method": "bacs",
                "line_items": [{"product_id": STOOL, "quantity": 1}],
            },
            {
                "status": "processing",
                "date_created": "2024-12-20T12:00:00",
                "billing": {"email": "guest@example.org"},
                "line_items": [{"product_id": SHIRT, "variation_id": RED, "quantity": 1}],
            },
        ]
    )
    store.reviews.fill(
        [
            {
                "product_id": CHAIR,
                "reviewer": "Bob Ray",
                "reviewer_email": "bob@example.org",
                "review": "Sturdy.",
                "rating": 4,
            }
        ]
    )


PRODUCTS: list[Any] = [
    {
        "name": "Oak chair",
        "sku": "CH-1",
        "regular_price": "49.90",
        "manage_stock": True,
        "stock_quantity": 10,
        "low_stock_amount": 3,
        "categories": [{"id": SEATS}],
        "tags": [{"id": OAK}],
        "description": "A chair of solid oak",
        "date_created": "2024-06-01T10:00:00",
        "meta_data": [{"key": "supplier", "value": "Acme"}],
        "images": [{"src": "https://shop.example.com/chair.png"}],
    },
    {
        "name": "Bar stool",
        "sku": "ST-1",
        "regular_price": "30",
        "sale_price": "24",
        "date_on_sale_from": "2025-01-20",
        "date_on_sale_to": "2025-01-25",
        "manage_stock": True,
        "stock_quantity": 2,
        "categories": [{"id": SEATS}],
        "date_created": "2024-12-01T10:00:00",
    },
    {
        "name": "T-shirt",
        "type": "variable",
        "categories": [{"id": CLOTHES}],
        "date_created": "2024-11-01T10:00:00",
        "variations": [
            {
                "sku": "TS-R",
                "regular_price": "15",
                "manage_stock": True,
                "stock_quantity": 1,
                "attributes": [{"name": "Color", "option": "Red"}],
            },
            {
                "sku": "TS-B",
                "regular_price": "16",
                "sale_price": "12",
                "attributes": [{"name": "Color", "option": "Blue"}],
                "stock_status": "outofstock",
            },
        ],
    },
    {
        "name": "Dining table",
        "sku": "TA-1",
        "regular_price": "300",
        "sale_price": "250.50",
        "featured": True,
        "categories": [{"id": FURNITURE}],
        "date_created": "2024-09-01T10:00:00",
    },
]
