"""A shop with a long past."""

from __future__ import annotations

from typing import Any

from fills.texts import Call, Texts, pages, stamp, words
from mesocosm.servers.woocommerce.store import NewOrder, NewProduct, WooCommerceStore
from mesocosm.services.world import World

_PER_UNIT = 3000
"""Tokens of a product with its reviews, two customers and five orders."""
_STATUSES = (
    *("completed", "completed", "processing", "completed"),
    *("refunded", "cancelled", "on-hold", "pending"),
)


def fill(world: World, texts: Texts, size: int) -> list[Call]:
    """Products, customers, coupons, orders, notes, reviews."""
    store, units = world.store(WooCommerceStore), max(8, size // _PER_UNIT)
    categories = store.categories.fill([{"name": f"Category {n}"} for n in range(6 + units // 60)])
    tags = store.tags.fill([{"name": f"Tag {n}"} for n in range(6 + units // 30)])
    products = store.catalogue.add_products(
        [_product(texts, n, units, categories, tags) for n in range(units)]
    )
    customers = store.customers.fill([_customer(texts, n, 2 * units) for n in range(2 * units)])
    store.coupons.fill(
        [{"code": f"code{n}", "amount": "5", "description": texts.title()} for n in range(3 + units // 10)]
    )
    store.taxes.create({"country": "US", "rate": "8.25"})
    many = 5 * units
    orders = store.filling.add_orders([_order(texts, n, many, products, customers) for n in range(many)])
    store.orders.add_notes([{"order_id": order, "note": texts.title()} for order in orders[::2]])
    store.reviews.fill(
        [
            {
                "product_id": products[n % len(products)],
                "reviewer": f"Person {n}",
                "reviewer_email": f"person{n}@example.org",
                "review": texts.text(),
                "rating": 1 + n % 5,
                "date_created": stamp(n / many)[:-1],
            }
            for n in range(2 * units)
        ]
    )
    return _calls(units, products, customers, orders)


def _product(texts: Texts, number: int, many: int, categories: list[int], tags: list[int]) -> NewProduct:
    texts.facts(400)
    product: NewProduct = {
        "name": texts.title(),
        "description": texts.text(),
        "short_description": texts.title(),
        "sku": f"SKU-{number}",
        "regular_price": f"{5 + number % 90}.50",
        "manage_stock": number % 2 == 0,
        "stock_quantity": number % 37,
        "categories": [{"id": categories[number % len(categories)]}],
        "tags": [{"id": tags[number % len(tags)]}],
        "date_created": stamp(number / many)[:-1],
        "featured": number % 10 == 0,
    }
    if not product["manage_stock"]:
        del product["stock_quantity"]
    if number % 7 == 0:
        product["sale_price"] = "4.00"
    if number % 9 == 0:
        del product["regular_price"]
        product.pop("sale_price", None)
        product["type"] = "variable"
        colours = ["Red", "Blue", "Green"]
        product["attributes"] = [{"name": "Color", "options": colours, "variation": True, "visible": True}]
        product["variations"] = [
            {
                "attributes": [{"name": "Color", "option": colour}],
                "regular_price": "12.00",
                "sku": f"V-{number}-{colour}",
            }
            for colour in colours
        ]
    return product


def _customer(texts: Texts, number: int, many: int) -> Any:
    texts.facts(200)
    email = f"customer{number}@example.org"
    return {
        "email": email,
        "first_name": f"First{number}",
        "last_name": f"Last{number % 97}",
        "billing": {"email": email, "city": f"Town {number % 50}", "country": "US", "state": "CA"},
        "date_created": stamp(number / many)[:-1],
    }


def _order(texts: Texts, number: int, many: int, products: list[int], customers: list[int]) -> NewOrder:
    texts.facts(300)
    # Those whose place is a multiple of nine are sold as variations only.
    bought = [at if at % 9 else at - 1 for at in (number * 5 % len(products), number * 3 % len(products))]
    bought = [max(1, at) for at in bought]
    return {
        "status": _STATUSES[number % len(_STATUSES)],
        "customer_id": customers[number * 7 % len(customers)],
        "line_items": [{"product_id": products[at], "quantity": 1 + at % 3} for at in dict.fromkeys(bought)],
        "date_created": stamp(number / many)[:-1],
    }


def _calls(units: int, products: list[int], customers: list[int], orders: list[int]) -> list[Call]:
    return [
        *_settings(),
        *pages("woo_coupons_list", (3 + units // 10) // 10),
        ("woo_coupons_list", {"search": "code2"}),
        ("woo_coupons_list", {"code": "code2"}),
        ("woo_coupons_get", {"couponId": 1}),
        *pages("woo_customers_list", 2 * units // 10),
        *[
            ("woo_customers_list", {"orderby": order, "perPage": 100})
            for order in ("id", "name", "registered_date")
        ],
        ("woo_customers_list", {"search": "Last42"}),
        ("woo_customers_list", {"search": "example"}),
        ("woo_customers_list", {"email": "customer3@example.org"}),
        ("woo_customers_get", {"customerId": customers[-1]}),
        *_orders(products, customers, orders),
        *_products(units, products),
        *_reports(),
    ]


def _settings() -> list[Call]:
    return [
        ("woo_settings_list", {}),
        ("woo_settings_get", {"groupId": "general"}),
        ("woo_payment_gateways_list", {}),
        ("woo_payment_gateways_get", {"gatewayId": "bacs"}),
        ("woo_shipping_zones_list", {}),
        ("woo_shipping_zones_get", {"zoneId": 0}),
        ("woo_shipping_zone_methods_list", {"zoneId": 0}),
        ("woo_system_status", {}),
        ("woo_system_tools_list", {}),
        ("woo_tax_rates_list", {}),
        ("woo_tax_rates_get", {"rateId": 1}),
        ("woo_tax_classes_list", {}),
        ("woo_webhooks_list", {}),
    ]


def _orders(products: list[int], customers: list[int], orders: list[int]) -> list[Call]:
    filters: list[dict[str, Any]] = [
        {"perPage": 100},
        {"status": ["completed"]},
        {"status": ["pending", "on-hold"]},
        {"customer": customers[5]},
        {"product": products[3]},
        {"dateAfter": "2024-12-01T00:00:00", "dateBefore": "2025-01-01T00:00:00"},
        {"orderby": "id", "order": "asc"},
        {"orderby": "title"},
        {"include": orders[:20]},
        {"exclude": orders[:20]},
    ]
    return [
        *pages("woo_orders_list", len(orders) // 10),
        *[("woo_orders_list", more) for more in filters],
        *[("woo_orders_get", {"orderId": order}) for order in (orders[0], orders[-1])],
    ]


def _products(units: int, products: list[int]) -> list[Call]:
    filters: list[dict[str, Any]] = [
        *[{"orderby": order} for order in ("id", "title", "slug", "price", "popularity", "rating")],
        {"perPage": 100},
        {"category": "16"},
        {"tag": "1"},
        {"sku": "SKU-5"},
        {"featured": True},
        {"onSale": True},
        {"minPrice": "20", "maxPrice": "30"},
        {"stockStatus": "outofstock"},
    ]
    return [
        *pages("woo_products_list", units // 10),
        *[("woo_products_list", more) for more in filters],
        *words("woo_products_list", "search"),
        ("woo_products_get", {"productId": products[0]}),
        ("woo_products_variations_list", {"productId": products[0]}),
        *pages("woo_products_reviews_list", 2 * units // 10),
        ("woo_products_reviews_list", {"productId": products[2]}),
        ("woo_products_categories_list", {}),
        ("woo_products_categories_list", {"search": "Category 2", "hideEmpty": True}),
        ("woo_products_tags_list", {}),
        ("woo_products_tags_list", {"search": "Tag 2"}),
    ]


def _reports() -> list[Call]:
    calls: list[Call] = []
    for kind in ("sales", "top_sellers", "customers", "orders", "products"):
        calls += [(f"woo_reports_{kind}", {"period": period}) for period in ("week", "year")]
        calls += [(f"woo_reports_{kind}", {"dateMin": "2023-01-01", "dateMax": "2025-01-14"})]
    return [*calls, ("woo_reports_stock", {}), ("woo_reports_low_stock", {})]
