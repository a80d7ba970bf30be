"""Vocabulary of task files for the shop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from mesocosm.services.calling import Tools
from mesocosm.services.declared_things import DeclaredThing
from mesocosm.services.later import later
from mesocosm.services.numbers import number_of, written
from mesocosm.services.words import (
    Fields,
    Found,
    Spoiling,
    Thing,
    Word,
    Words,
    key_of,
    keys_of,
    saved_rows,
    stamp,
)

if TYPE_CHECKING:
    import sqlalchemy as sql

    from mesocosm.servers.woocommerce import models, values
    from mesocosm.servers.woocommerce import store as rules
    from mesocosm.servers.woocommerce.store import coupons, product_data, reviews
    from mesocosm.services.resources import Resource
    from mesocosm.services.world import World
    from mesocosm.worlds.changes import Changes, Row, TableChanges
else:
    sql, models, rules, values, product_data, coupons, reviews = later(
        "sqlalchemy",
        "mesocosm.servers.woocommerce.models",
        "mesocosm.servers.woocommerce.store",
        "mesocosm.servers.woocommerce.values",
        "mesocosm.servers.woocommerce.store.product_data",
        "mesocosm.servers.woocommerce.store.coupons",
        "mesocosm.servers.woocommerce.store.reviews",
    )

_STATUSES = ("pending", "processing", "on-hold", "completed", "cancelled", "refunded", "failed")
_SHOWN = ("draft", "pending", "private", "publish")
_GATEWAYS = ("bacs", "cheque", "cod", "paypal", "stripe")
_CHANGED = frozenset({"date_modified"})
_PRICES = frozenset({"regular_price", "sale_price"})


def _other(before: Row, after: Row) -> frozenset[str]:
    return frozenset(name for name in before if before[name] != after[name])


class ProductThing(Thing):
    name = "product"
    about = "A product of the shop."
    overhead = 26
    text = None
    identified_by = "id"
    says: ClassVar[Mapping[str, Word]] = {
        "name": Word("Its name.", required=True),
        "sku": Word("Its stock-keeping unit."),
        "regular_price": Word("Its price in the shop's currency.", "number"),
        "sale_price": Word("Its reduced price.", "number"),
        "stock_quantity": Word("Pieces in stock; left out, the shop does not manage its stock.", "number"),
        "short_description": Word("What it is."),
        "category": Word("Name of its category, made where there is none; default: Uncategorized."),
        "status": Word("Whether it is shown; default: publish.", choices=_SHOWN),
        "meta_data": Word("Further fields by their keys: `{stock_threshold: 20}`.", "data"),
        "date_created": Word("Since when it is sold.", "moment"),
    }
    judges: ClassVar[Mapping[str, Word]] = {
        "id": Word("Which product, where it was there before: `{item.product.id}`.", "data"),
        "name": Word("Its name."),
        "sku": Word("Its stock-keeping unit."),
        "regular_price": Word("Its price.", "number"),
        "sale_price": Word("Its reduced price.", "number"),
        "stock_quantity": Word("Pieces in stock.", "number"),
        "status": Word("Whether it is shown.", choices=_SHOWN),
    }
    gives: ClassVar[Mapping[str, str]] = {"id": "The product's id."}

    def size(self, fields: Fields, count: Callable[[str], int]) -> int:
        return _size_of_meta(fields, count)

    def add(self, world: World, things: Sequence[Fields]) -> list[Fields]:
        store = world.store(rules.WooCommerceStore)
        names = list(dict.fromkeys(str(fields["category"]) for fields in things if fields.get("category")))
        made = store.categories.fill([{"name": name} for name in names])
        categories = dict(zip(names, made, strict=True))
        ids = store.catalogue.add_products([_product(fields, categories) for fields in things])
        return [{"id": number} for number in ids]

    def trace(self, fields: Fields, given: Fields) -> str:
        # With the field after it, which the lines of orders do not have.
        return (
            f'"sku":"{fields.get("sku") or ""}","regular_price":'
            if fields.get("sku")
            else str(fields["name"])
        )

    def elsewhere(self, fields: Fields, given: Fields) -> tuple[str, ...]:
        # The price of a product is a text, that of an order's line a number.
        return (f'"sku":"{fields["sku"]}","price":"',) if fields.get("sku") else ()

    def made(self, world: World, changes: Changes) -> Iterator[Found]:
        for row in changes.table("woocommerce", "products").added:
            yield Found(_product_seen(row), frozenset({("products", row["id"])}))

    def altered(self, world: World, changes: Changes) -> Iterator[Found]:
        for before, after in changes.table("woocommerce", "products").changed:
            columns = _other(before, after) & self.judges.keys()
            if "stock_quantity" in columns:
                store = world.store(rules.WooCommerceStore)
                columns |= _following(after, store.catalogue.stock_rules.out_of_stock_at)
            rows = frozenset({("products", after["id"])})
            yield Found(_product_seen(after), rows, columns | _CHANGED, _product_seen(before))


def _following(product: Row, out_of_stock_at: int) -> set[str]:
    """Return the columns that follow from the stock quantity: stock management and status."""
    number = product["stock_quantity"]
    if number is None or not product["manage_stock"]:
        return {"manage_stock"} if number is None and not product["manage_stock"] else set()
    follows = product["stock_status"] == product_data.stock_status(
        number, product["backorders"], out_of_stock_at
    )
    return {"manage_stock", "stock_status"} if follows else {"manage_stock"}


def _only_saved(before: Row, after: Row) -> bool:
    """True if a product is what it was, even if it was changed and set back."""
    other = _other(before, after) - _CHANGED
    return other <= _PRICES and all(_price(before[name]) == _price(after[name]) for name in other)


def _price(text: str | None) -> float | None:
    return number_of(text) if text else None


def _size_of_meta(fields: Fields, count: Callable[[str], int]) -> int:
    meta: Mapping[str, Any] = fields.get("meta_data") or {}
    return sum(15 + count(f"{key} {value}") for key, value in meta.items())


def _meta(fields: Fields) -> list[Fields]:
    meta: Mapping[str, Any] = fields.get("meta_data") or {}
    return [
        {"key": key, "value": written(value) if isinstance(value, float) else str(value)}
        for key, value in meta.items()
    ]


def _product(fields: Fields, categories: Mapping[str, int]) -> Any:
    new: Fields = {"name": fields["name"], "type": "simple", "status": fields.get("status") or "publish"}
    for name in ("sku", "short_description"):
        if fields.get(name):
            new[name] = str(fields[name])
    for name in ("regular_price", "sale_price"):
        if fields.get(name) is not None:
            new[name] = values.money(values.cents(str(fields[name])))
    if fields.get("stock_quantity") is not None:
        new |= {"manage_stock": True, "stock_quantity": int(fields["stock_quantity"])}
    if meta := _meta(fields):
        new["meta_data"] = meta
    if fields.get("category"):
        new["categories"] = [{"id": categories[str(fields["category"])]}]
    if fields.get("date_created"):
        new["date_created"] = stamp(fields["date_created"])[:-1]
    return new


def _product_seen(row: Row) -> Fields:
    shown = {name: row[name] for name in ("id", "name", "sku", "status", "stock_quantity")}
    return shown | {name: _price(row[name]) for name in ("regular_price", "sale_price")}


class CustomerThing(Thing):
    """A customer with an account."""

    name = "customer"
    about = "A customer of the shop, with an account."
    overhead = 40
    says: ClassVar[Mapping[str, Word]] = {
        "name": Word("First and last name.", required=True),
        "email": Word("The address of the account.", required=True),
        "date_created": Word("Since when.", "moment"),
    }
    judges: ClassVar[Mapping[str, Word]] = {
        "name": Word("First and last name."),
        "email": Word("The address of the account."),
    }
    gives: ClassVar[Mapping[str, str]] = {"id": "The customer's id."}
    when = "date_created"

    def add(self, world: World, things: Sequence[Fields]) -> list[Fields]:
        people = [
            {
                "email": fields["email"],
                **_names(fields["name"]),
                **(
                    {"date_created": stamp(fields["date_created"])[:-1]} if fields.get("date_created") else {}
                ),
            }
            for fields in things
        ]
        customers = world.store(rules.WooCommerceStore).customers
        return [{"id": number} for number in customers.fill(people)]

    def trace(self, fields: Fields, given: Fields) -> str:
        return str(fields["email"])

    def shown(self, name: str, value: Any) -> str:
        return str(value).partition(" ")[0] if name == "name" else super().shown(name, value)

    def made(self, world: World, changes: Changes) -> Iterator[Found]:
        for row in changes.table("woocommerce", "customers").added:
            fields = {"name": f"{row['first_name']} {row['last_name']}", "email": row["email"]}
            yield Found(fields, frozenset({("customers", row["id"])}))


def _names(name: str) -> dict[str, str]:
    first, _, last = str(name).partition(" ")
    return {"first_name": first, "last_name": last}


class OrderThing(Thing):
    name = "order"
    about = "An order in the shop."
    overhead = 247
    when = "date_created"
    identified_by = "id"
    says: ClassVar[Mapping[str, Word]] = {
        "customer_id": Word("Id of the customer's account; left out, it is a guest's.", "number"),
        "name": Word("Name of who ordered; default: whom it is about.", required=True, default="{name}"),
        "email": Word(
            "Billing address of who ordered; default: whom it is about.", required=True, default="{email}"
        ),
        "date_created": Word("When it was placed.", "moment", required=True),
        "date_paid": Word(
            "When it was paid; empty: never. Default: when it was placed, where the status says so.", "moment"
        ),
        "status": Word("What has become of it; default: completed.", choices=_STATUSES),
        "date_completed": Word(
            "When it was completed, if its status says so; default: when it was placed.", "moment"
        ),
        "line_items": Word("What was ordered: `[{product_id: ..., quantity: 2}]`.", "list", required=True),
        "customer_note": Word("What the customer wrote when ordering."),
        "billing": Word("Further fields of the billing address: `{phone: ..., city: ...}`.", "data"),
        "payment_method": Word("How it is paid: the id of a gateway of the shop.", choices=_GATEWAYS),
        "payment_method_title": Word("How it was paid, such as `Credit card`."),
        "meta_data": Word("Further fields by their keys: `{store: Harbour}`.", "data"),
    }
    judges: ClassVar[Mapping[str, Word]] = {
        "id": Word("Which order, where it was there before: `{sale.order.id}`.", "data"),
        "status": Word("What has become of it.", choices=_STATUSES),
        "customer_note": Word("What the customer wrote."),
        "customer_id": Word("Id of the customer's account.", "number"),
        "email": Word("Billing address."),
    }
    gives: ClassVar[Mapping[str, str]] = {"id": "The order's number."}

    def add(self, world: World, things: Sequence[Fields]) -> list[Fields]:
        orders = [_order(fields) for fields in things]
        ids = world.store(rules.WooCommerceStore).filling.add_orders(orders, numbered=True)
        return [{"id": number} for number in ids]

    def size(self, fields: Fields, count: Callable[[str], int]) -> int:
        billing: Mapping[str, Any] = fields.get("billing") or {}
        return _size_of_meta(fields, count) + sum(count(str(value)) for value in billing.values())

    def trace(self, fields: Fields, given: Fields) -> str:
        return f'"id":{given["id"]},"status"'

    def elsewhere(self, fields: Fields, given: Fields) -> tuple[str, ...]:
        return (f'"id":{given["id"]},"parent_id":0,"number":',)

    def shown(self, name: str, value: Any) -> str:
        if name == "date_created":
            return stamp(value)[:-1]
        if name == "name":
            return str(value).partition(" ")[0]
        return super().shown(name, value)

    def made(self, world: World, changes: Changes) -> Iterator[Found]:
        for row in changes.table("woocommerce", "orders").added:
            yield Found(_order_seen(row), _of_order(changes, row["id"]) | {("orders", row["id"])})

    def altered(self, world: World, changes: Changes) -> Iterator[Found]:
        for before, after in changes.table("woocommerce", "orders").changed:
            columns = _other(before, after) & {"status", "customer_note", "customer_id"}
            follow = {"date_modified", "date_paid", "date_completed", "stock_reduced", "sales_recorded",
                      "coupons_counted"}  # fmt: skip
            rows = {("orders", after["id"])}
            rows |= {
                ("order_notes", note["id"])
                for note in changes.table("woocommerce", "order_notes").added
                if note["order_id"] == after["id"] and note["author"] == "system"
            }
            yield Found(_order_seen(after), frozenset(rows), columns | follow, _order_seen(before))


def _of_order(changes: Changes, order: int) -> frozenset[tuple[str, Any]]:
    rows: set[tuple[str, Any]] = set()
    for table in ("line_items", "shipping_lines", "fee_lines", "tax_lines", "coupon_lines", "order_notes"):
        added = changes.table("woocommerce", table).added
        rows |= {(table, row["id"]) for row in added if row["order_id"] == order}
    return frozenset(rows)


def _order(fields: Fields) -> Any:
    billing = {"email": fields["email"], **_names(fields["name"])}
    billing |= {name: str(value) for name, value in (fields.get("billing") or {}).items()}
    new: Fields = {
        "status": fields.get("status") or "completed",
        "billing": billing,
        "date_created": stamp(fields["date_created"])[:-1],
        "line_items": [
            {name: int(value) if name != "total" else value for name, value in line.items()}
            for line in fields["line_items"]
        ],
    }
    if "date_paid" in fields:
        new["date_paid"] = stamp(fields["date_paid"])[:-1] if fields["date_paid"] else None
    if fields.get("date_completed") and new["status"] == "completed":
        new["date_completed"] = stamp(fields["date_completed"])[:-1]
    if fields.get("customer_id"):
        new["customer_id"] = int(fields["customer_id"])
    for name in ("customer_note", "payment_method", "payment_method_title"):
        if fields.get(name):
            new[name] = fields[name]
    if meta := _meta(fields):
        new["meta_data"] = meta
    return new


def _order_seen(row: Row) -> Fields:
    billing = row["billing"]
    if isinstance(billing, str):
        import orjson

        billing = orjson.loads(billing)
    shown = {name: row[name] for name in ("id", "status", "customer_note", "customer_id")}
    return shown | {"email": billing.get("email")}


class NoteThing(Thing):
    """A note on an order."""

    name = "note"
    about = "A note on an order, which the agent put there."
    judges: ClassVar[Mapping[str, Word]] = {
        "order": Word("The order's number.", "data"),
        "note": Word("Its text."),
        "customer_note": Word("Whether the customer sees it; default: no.", "flag"),
    }
    usual: ClassVar[Mapping[str, Any]] = {"customer_note": False}

    def made(self, world: World, changes: Changes) -> Iterator[Found]:
        difference: TableChanges = changes.table("woocommerce", "order_notes")
        for row in difference.added:
            if row["author"] != "system":
                fields = {
                    "order": row["order_id"],
                    "note": row["note"].strip(),
                    "customer_note": bool(row["customer_note"]),
                }
                yield Found(fields, frozenset({("order_notes", row["id"])}))


_RESTOCKED = frozenset({"stock_quantity", "stock_status", "date_modified"})


class RefundThing(Thing):
    name = "refund"
    about = "A refund of an order, in full or in part, which the agent booked."
    judges: ClassVar[Mapping[str, Word]] = {
        "order": Word("The order's number.", "data"),
        "amount": Word("What is paid back.", "number"),
        "reason": Word("Why."),
        "line_items": Word(
            "For what of the order it is, where that is asked for: `[{product_id: ..., quantity: 2}]`.",
            "list",
        ),
    }

    def made(self, world: World, changes: Changes) -> Iterator[Found]:
        items = changes.table("woocommerce", "refund_items").added
        notes = changes.table("woocommerce", "order_notes").added
        lines = models.LineItem
        session = world.store(rules.WooCommerceStore).session
        for row in changes.table("woocommerce", "refunds").added:
            own = [item for item in items if item["refund_id"] == row["id"]]
            known = sql.select(lines.id, lines.product_id).where(lines.order_id == row["order_id"])
            products = {one.id: one.product_id for one in session.execute(known)}
            back = [item for item in own if item["quantity"]]
            fields = {
                "order": row["order_id"],
                "amount": row["amount"] / 100,
                "reason": row["reason"],
                "line_items": [
                    {"product_id": products.get(item["line_item_id"]), "quantity": item["quantity"]}
                    for item in back
                ],
            }
            rows = {("refunds", row["id"]), *(("refund_items", item["id"]) for item in own)}
            rows |= {("products", products.get(item["line_item_id"])) for item in back}
            rows |= {
                ("order_notes", note["id"])
                for note in notes
                if note["order_id"] == row["order_id"] and note["author"] == "system"
            }
            yield Found(fields, frozenset(rows), _RESTOCKED)


def _refunded_in_full(changes: Changes) -> set[tuple[str, Any]]:
    """Orders that became refunded by a refund, which is judged by itself."""
    refunded = {row["order_id"] for row in changes.table("woocommerce", "refunds").added}
    return {
        ("orders", after["id"])
        for before, after in changes.table("woocommerce", "orders").changed
        if after["id"] in refunded
        and after["status"] == "refunded"
        and _other(before, after) <= {"status", "date_modified"}
    }


class CouponThing(DeclaredThing):
    name = "coupon"
    about = "A coupon of the shop."
    overhead = 240

    def resource(self) -> Resource:
        return coupons.COUPONS

    def fill(self, world: World, rows: Sequence[Fields]) -> Sequence[int]:
        return world.store(rules.WooCommerceStore).coupons.fill(rows)

    def trace(self, fields: Fields, given: Fields) -> str:
        return f'"id":{given["id"]},"code":'


class ReviewThing(DeclaredThing):
    """A review of a product."""

    name = "review"
    about = "A review of a product."
    overhead = 110
    text = "review"
    writer = "reviewer"

    def resource(self) -> Resource:
        return reviews.REVIEWS

    def fill(self, world: World, rows: Sequence[Fields]) -> Sequence[int]:
        return world.store(rules.WooCommerceStore).reviews.fill(rows)

    def trace(self, fields: Fields, given: Fields) -> str:
        return f'"id":{given["id"]},"date_created":'


def _survey(tools: Tools, options: Mapping[str, Any]) -> None:
    def read(tool: str, **arguments: Any) -> None:
        for _ in tools.pages("woocommerce", tool, perPage=100, **arguments):
            pass

    for things, usual in _READ.items():
        read(f"woo_{things}_list", fields=options.get(things, usual))
    for things, tool in _DECLARED.items():
        if options.get(things):
            read(tool)


_READ = {
    "products": ["id", "name", "sku", "regular_price", "sale_price", "stock_quantity", "short_description"],
    "orders": ["id", "status", "date_created_gmt", "customer_id", "billing", "line_items", "customer_note"],
    "customers": ["id", "email", "first_name", "last_name"],
}


_DECLARED = {"coupons": "woo_coupons_list", "reviews": "woo_products_reviews_list"}
"""Fields read if a file asks for them."""


def _saved_unchanged(world: World, changes: Changes) -> set[tuple[str, Any]]:
    """Return what was saved but is unchanged: a price that was changed and set back; and products and coupons
    that were made and put into the trash."""
    found = set(saved_rows(world, changes, "woocommerce", _CHANGED)) | set(_thrown_away(world, changes))
    products = changes.table("woocommerce", "products").changed
    found |= _refunded_in_full(changes)
    return found | {("products", after["id"]) for before, after in products if _only_saved(before, after)}


def _thrown_away(world: World, changes: Changes) -> Iterator[tuple[str, Any]]:
    """New products (with their variations) and coupons in the trash, and what belongs to them alone."""
    for table, owner in (("products", "product"), ("coupons", "coupon")):
        gone = {row["id"] for row in changes.table("woocommerce", table).added if row["status"] == "trash"}
        yield from ((table, number) for number in gone)
        for row in changes.table("woocommerce", "meta").added:
            if row["owner"] == owner and row["owner_id"] in gone:
                yield "meta", row["id"]
        for (service, name), difference in changes.tables.items():
            if service == "woocommerce" and name.startswith(f"{owner}_"):
                keys = keys_of(world, service, name)
                yield from (
                    (name, key_of(row, keys)) for row in difference.added if row[f"{owner}_id"] in gone
                )


def _spoil(table: str, **values: Any) -> Any:
    def apply(world: World) -> bool:
        model = getattr(models, table)
        store = world.store(rules.WooCommerceStore)
        first = store.session.scalar(sql.select(model.id).order_by(model.id).limit(1))
        if first is not None:
            store.session.execute(sql.update(model).where(model.id == first).values(**values))
        return first is not None

    return apply


def _restocked(world: World) -> bool:
    """Change a product's stock status, preferably one whose price or stock was changed."""
    store = world.store(rules.WooCommerceStore)
    changed = [after["id"] for _, after in world.changes().table("woocommerce", "products").changed]
    chosen = sql.select(models.Product).order_by(models.Product.id)
    first = store.session.scalars(
        chosen.where(models.Product.id == changed[0]) if changed else chosen
    ).first()
    if first is not None:
        first.stock_status = "outofstock" if first.stock_status == "instock" else "instock"
    return first is not None


def _paid_back(world: World) -> bool:
    """Refund a cent of the first order with enough left."""
    store = world.store(rules.WooCommerceStore)
    for order in store.session.scalars(sql.select(models.Order.id).order_by(models.Order.id)):
        if store.refunds.refundable(store.orders.order_row(order)) > 1:
            store.refunds.add_refunds([{"order_id": order, "amount": "0.01", "reason": "Something."}])
            return True
    return False


def _noted(world: World) -> bool:
    store = world.store(rules.WooCommerceStore)
    first = store.session.scalar(sql.select(models.Order.id).order_by(models.Order.id).limit(1))
    if first is not None:
        store.orders.add_notes([{"order_id": first, "note": "Something.", "author": "admin"}])
    return first is not None


words = Words(
    service="woocommerce",
    things={
        "product": ProductThing(),
        "customer": CustomerThing(),
        "order": OrderThing(),
        "note": NoteThing(),
        "refund": RefundThing(),
        "coupon": CouponThing(),
        "review": ReviewThing(),
    },
    survey=_survey,
    excuses=_saved_unchanged,
    survey_options={
        things: f"The fields of {things} to read; default: {', '.join(fields)}."
        for things, fields in _READ.items()
    }
    | {things: f"Whether to read {things}, where a task has some: true." for things in _DECLARED},
    spoilings=(
        Spoiling("an order put on hold", _spoil("Order", status="on-hold")),
        Spoiling("a product renamed", _spoil("Product", name="Something else")),
        Spoiling("a stock status changed", _restocked),
        Spoiling("a price changed", _spoil("Product", regular_price="0.01")),
        Spoiling("a refund on another order", _paid_back, frozenset({"woocommerce_refund_extra"})),
        Spoiling("a note on another order", _noted, frozenset({"woocommerce_note_extra"})),
    ),
)
