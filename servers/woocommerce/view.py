"""Pages of the shop: orders, products with variations and reviews, customers, coupons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import sqlalchemy as sql

from mesocosm.servers.woocommerce.models import (
    Category,
    Coupon,
    Customer,
    LineItem,
    Order,
    OrderNote,
    Product,
    ProductCategory,
    Refund,
    Review,
)
from mesocosm.servers.woocommerce.store import WooCommerceStore
from mesocosm.services.views import (
    Asked,
    Block,
    Cell,
    Columns,
    Fields,
    Item,
    Link,
    Message,
    Page,
    Row,
    Table,
    View,
    count_of,
    found_in,
    minute_of,
    table_of,
)

view = View()
_CENTS = 100


def _places(store: WooCommerceStore) -> list[Link]:
    found = [
        Link("Orders", "", count_of(store, Order)),
        Link("Products", "products", count_of(store, Product, Product.parent_id == 0)),
        Link("Categories", "categories", count_of(store, Category)),
        Link("Customers", "customers", count_of(store, Customer)),
        Link("Coupons", "coupons", count_of(store, Coupon)),
        Link("Reviews", "reviews", count_of(store, Review)),
    ]
    return [one for one in found if one.count or not one.path]


def _money(cents: int) -> str:
    return f"{cents / _CENTS:.2f}"


def _name(address: dict[str, Any]) -> str:
    return f"{address.get('first_name', '')} {address.get('last_name', '')}".strip() or address.get(
        "email", ""
    )


def _told(address: dict[str, Any]) -> str:
    names = ("company", "address_1", "address_2", "postcode", "city", "state", "country", "email", "phone")
    return ", ".join(filter(None, [_name(address), *(str(address.get(name) or "") for name in names)]))


@view.page("")
def orders(store: WooCommerceStore, asked: Asked) -> Page:
    """The orders, the latest first."""
    newest = (Order.date_created.desc(), Order.id.desc())
    columns: Columns = {
        "Order": _order,
        "Customer": lambda one: _name(one.billing),
        "Date": lambda one: minute_of(one.date_created),
        "Status": lambda one: one.status,
        "Total": lambda one: f"{_money(one.total)} {one.currency}",
    }
    return Page("Orders", [table_of(store, asked, Order, columns, order=newest)], _places(store))


def _order(order: Order) -> Link:
    return Link(f"#{order.id}", f"order/{order.id}")


def _called(customer: Any) -> str:
    return f"{customer.first_name} {customer.last_name}".strip() or str(customer.username)


@view.page("order/{id}")
def order(store: WooCommerceStore, asked: Asked, id: str) -> Page:
    """An order with its lines, notes and refunds."""
    found = found_in(store, Order, id, "order")
    facts: dict[str, Cell] = {
        "Status": found.status,
        "Placed": minute_of(found.date_created),
        "Paid": minute_of(found.date_paid),
        "Completed": minute_of(found.date_completed),
        "Billed to": _told(found.billing),
        "Shipped to": _told(found.shipping),
        "Customer": Link(str(found.customer_id), f"customer/{found.customer_id}")
        if found.customer_id
        else "a guest",
        "Payment": found.payment_method_title,
        "Discount": _money(found.discount_total),
        "Shipping": _money(found.shipping_total),
        "Tax": _money(found.total_tax),
        "Total": f"{_money(found.total)} {found.currency}",
        "Customer's note": found.customer_note,
    }
    lines = store.session.scalars(
        sql.select(LineItem).where(LineItem.order_id == found.id).order_by(LineItem.id)
    )
    rows = [
        Row(
            [
                Link(one.name, f"product/{one.product_id}"),
                one.quantity,
                _money(one.subtotal),
                _money(one.total),
            ],
            ref=f"line_items:{one.id}",
        )
        for one in lines
    ]
    notes = store.session.scalars(
        sql.select(OrderNote).where(OrderNote.order_id == found.id).order_by(OrderNote.id)
    )
    refunds = store.session.scalars(sql.select(Refund).where(Refund.order_id == found.id).order_by(Refund.id))
    given = [
        Row([minute_of(one.date_created), _money(one.amount), one.reason], ref=f"refunds:{one.id}")
        for one in refunds
    ]
    blocks: list[Block] = [
        Fields(facts, ref=f"orders:{found.id}"),
        Table(["Product", "Quantity", "Subtotal", "Total"], rows),
    ]
    if given:
        blocks.append(Table(["At", "Amount", "Reason"], given, title="Refunds"))
    blocks += [
        Message(
            one.author,
            one.note,
            minute_of(one.date_created),
            ref=f"order_notes:{one.id}",
            notes=["to the customer"] if one.customer_note else (),
        )
        for one in notes
    ]
    return Page(f"Order #{found.id}", blocks, _places(store), Link("Orders", ""))


def _products(store: WooCommerceStore, asked: Asked, *conditions: Any) -> Table:
    columns: Columns = {
        "Product": lambda one: Link(one.name, f"product/{one.id}"),
        "SKU": lambda one: one.sku,
        "Price": lambda one: one.sale_price or one.regular_price,
        "Stock": lambda one: one.stock_quantity,
        "": lambda one: one.stock_status,
        "Sold": lambda one: one.total_sales,
        "Status": lambda one: one.status,
    }
    return table_of(store, asked, Product, columns, *conditions, order=[Product.name])


@view.page("products")
def products(store: WooCommerceStore, asked: Asked) -> Page:
    return Page("Products", [_products(store, asked, Product.parent_id == 0)], _places(store))


@view.page("category/{id}")
def category(store: WooCommerceStore, asked: Asked, id: str) -> Page:
    """The products of a category."""
    found = found_in(store, Category, id, "category")
    within = Product.id.in_(
        sql.select(ProductCategory.product_id).where(ProductCategory.category_id == found.id)
    )
    return Page(
        found.name, [_products(store, asked, within)], _places(store), Link("Categories", "categories")
    )


@view.page("categories")
def categories(store: WooCommerceStore, asked: Asked) -> Page:
    counts = dict(
        store.session.execute(
            sql.select(ProductCategory.category_id, sql.func.count()).group_by(ProductCategory.category_id)
        ).all()
    )
    columns: Columns = {
        "Category": lambda one: Link(one.name, f"category/{one.id}"),
        "Products": lambda one: counts.get(one.id, 0),
        "Description": lambda one: one.description,
    }
    table = table_of(store, asked, Category, columns, order=[Category.name])
    return Page("Categories", [table], _places(store))


@view.page("product/{id}")
def product(store: WooCommerceStore, asked: Asked, id: str) -> Page:
    """A product with its variations and reviews."""
    found = found_in(store, Product, id, "product")
    names = store.session.scalars(
        sql.select(Category.name)
        .join(ProductCategory, ProductCategory.category_id == Category.id)
        .where(ProductCategory.product_id == found.id)
        .order_by(Category.name)
    )
    facts: dict[str, Cell] = {
        "SKU": found.sku,
        "Type": found.type,
        "Status": found.status,
        "Regular price": found.regular_price,
        "Sale price": found.sale_price,
        "On sale": " to ".join(
            filter(None, [minute_of(found.date_on_sale_from), minute_of(found.date_on_sale_to)])
        ),
        "Stock": found.stock_quantity,
        "Stock status": found.stock_status,
        "Low stock from": found.low_stock_amount,
        "Sold": found.total_sales,
        "Categories": ", ".join(names),
        "Attributes": "; ".join(
            f"{one.get('name')}: {', '.join(map(str, one.get('options', [one.get('option', '')])))}"
            for one in found.attributes
        ),
        "Created": minute_of(found.date_created),
        "Changed": minute_of(found.date_modified),
    }
    blocks: list[Block] = [Fields(facts, ref=f"products:{found.id}")]
    if found.short_description or found.description:
        text = "\n\n".join(filter(None, [found.short_description, found.description]))
        blocks.append(Message("Description", text, source=text))
    if count_of(store, Product, Product.parent_id == found.id):
        blocks.append(_products(store, asked, Product.parent_id == found.id))
    reviews = store.session.scalars(
        sql.select(Review).where(Review.product_id == found.id).order_by(Review.id)
    )
    blocks += [
        Message(
            one.reviewer,
            one.review,
            minute_of(one.date_created),
            title=f"{'★' * one.rating} {one.rating} of 5",
            ref=f"reviews:{one.id}",
            source=one.review,
        )
        for one in reviews
    ]
    up = (
        Link("The product", f"product/{found.parent_id}") if found.parent_id else Link("Products", "products")
    )
    return Page(found.name, blocks, _places(store), up)


@view.page("customers")
def customers(store: WooCommerceStore, asked: Asked) -> Page:
    columns: Columns = {
        "Customer": lambda one: Link(_called(one), f"customer/{one.id}"),
        "Address": lambda one: one.email,
        "Role": lambda one: one.role,
        "Since": lambda one: minute_of(one.date_created),
    }
    return Page("Customers", [table_of(store, asked, Customer, columns)], _places(store))


@view.page("customer/{id}")
def customer(store: WooCommerceStore, asked: Asked, id: str) -> Page:
    """A customer with the orders."""
    found = found_in(store, Customer, id, "customer")
    facts: dict[str, Cell] = {
        "Address": found.email,
        "User name": found.username,
        "Role": found.role,
        "Billing": _told(found.billing),
        "Shipping": _told(found.shipping),
        "Since": minute_of(found.date_created),
    }
    columns: Columns = {
        "Order": _order,
        "Date": lambda one: minute_of(one.date_created),
        "Status": lambda one: one.status,
        "Total": lambda one: _money(one.total),
    }
    placed = table_of(store, asked, Order, columns, Order.customer_id == found.id, order=[Order.id.desc()])
    blocks: list[Block] = [Fields(facts, ref=f"customers:{found.id}"), replace(placed, title="Orders")]
    return Page(_called(found), blocks, _places(store), Link("Customers", "customers"))


@view.page("coupons")
def coupons(store: WooCommerceStore, asked: Asked) -> Page:
    columns: Columns = {
        "Code": lambda one: one.code,
        "Amount": lambda one: one.amount,
        "Kind": lambda one: one.discount_type,
        "Used": lambda one: one.usage_count,
        "At most": lambda one: one.usage_limit,
        "Until": lambda one: minute_of(one.date_expires),
        "For": lambda one: ", ".join(map(str, one.email_restrictions)),
        "Description": lambda one: one.description,
    }
    return Page("Coupons", [table_of(store, asked, Coupon, columns, order=[Coupon.code])], _places(store))


@view.page("reviews")
def reviews(store: WooCommerceStore, asked: Asked) -> Page:
    """All reviews, the latest first."""
    names = dict(store.session.execute(sql.select(Product.id, Product.name)).all())
    newest = (Review.date_created.desc(), Review.id.desc())
    columns: Columns = {
        "By": lambda one: one.reviewer,
        "Product": lambda one: Link(names.get(one.product_id, ""), f"product/{one.product_id}"),
        "Stars": lambda one: one.rating,
        "Review": lambda one: one.review,
        "At": lambda one: minute_of(one.date_created),
    }
    return Page("Reviews", [table_of(store, asked, Review, columns, order=newest)], _places(store))


def _columns(store: WooCommerceStore, key: Any, *columns: Any) -> sql.Result[Any]:
    """Some columns of all rows of a table: of tens of thousands, whole objects take three times as long."""
    return store.session.execute(sql.select(key, *columns).order_by(key))


@view.items
def items(store: WooCommerceStore) -> Iterator[Item]:
    """Products, orders, customers, reviews and notes."""
    for one in _columns(
        store,
        Product.id,
        Product.name,
        Product.sku,
        Product.short_description,
        Product.description,
        Product.regular_price,
        Product.date_created,
    ):
        texts = [one.sku, one.short_description, one.description, one.regular_price]
        yield Item(
            "product",
            one.name,
            "\n".join(filter(None, texts)),
            f"product/{one.id}",
            f"products:{one.id}",
            one.date_created,
        )
    lines: dict[int, list[str]] = {}
    for number, name, quantity in store.session.execute(
        sql.select(LineItem.order_id, LineItem.name, LineItem.quantity).order_by(LineItem.id)
    ):
        lines.setdefault(number, []).append(f"{quantity} {name}")
    for order in _columns(
        store,
        Order.id,
        Order.billing,
        Order.customer_note,
        Order.date_created,
        Order.date_paid,
        Order.date_completed,
        Order.date_modified,
    ):
        moments = [order.date_created, order.date_paid, order.date_completed, order.date_modified]
        text = "\n".join(
            filter(None, [_told(order.billing), *lines.get(order.id, ()), order.customer_note, *moments])
        )
        who = [str(order.billing.get("email") or "")]
        yield Item(
            "order", f"#{order.id}", text, f"order/{order.id}", f"orders:{order.id}", order.date_created, who
        )
    for customer in _columns(
        store,
        Customer.id,
        Customer.first_name,
        Customer.last_name,
        Customer.username,
        Customer.billing,
        Customer.email,
    ):
        yield Item(
            "customer",
            _called(customer),
            _told(customer.billing) + "\n" + customer.email,
            f"customer/{customer.id}",
            f"customers:{customer.id}",
        )
    for review in store.session.scalars(sql.select(Review).order_by(Review.id)):
        yield Item(
            "review",
            "",
            review.review,
            f"product/{review.product_id}",
            f"reviews:{review.id}",
            review.date_created,
            [review.reviewer_email],
        )
    for note in store.session.scalars(sql.select(OrderNote).order_by(OrderNote.id)):
        yield Item(
            "note",
            f"#{note.order_id}",
            note.note,
            f"order/{note.order_id}",
            f"order_notes:{note.id}",
            note.date_created,
        )
    for coupon in store.session.scalars(sql.select(Coupon).order_by(Coupon.id)):
        yield Item(
            "coupon", coupon.code, coupon.description, "coupons", f"coupons:{coupon.id}", coupon.date_created
        )
