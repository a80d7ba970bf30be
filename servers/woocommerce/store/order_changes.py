"""Creating, changing and deleting orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from sqlalchemy import bindparam, delete, select, update

from mesocosm.servers.woocommerce.models import (
    Base,
    CouponLine,
    FeeLine,
    LineItem,
    Meta,
    Order,
    Product,
    ShippingLine,
    TaxLine,
)
from mesocosm.servers.woocommerce.models.customers import EMPTY_BILLING, EMPTY_SHIPPING
from mesocosm.servers.woocommerce.refusals import gone, invalid, invalid_parameter, not_found
from mesocosm.servers.woocommerce.store.drafts import (
    ORDER_CHECKS,
    ORDER_COLUMNS,
    READ_ONLY,
    Draft,
    TaxTable,
    add_up,
    line_subtotal,
)
from mesocosm.servers.woocommerce.store.orders import table_columns
from mesocosm.servers.woocommerce.store.shop import Record, Row, StorePart
from mesocosm.servers.woocommerce.store.taxes import without_tax
from mesocosm.servers.woocommerce.values import cents, checked, share
from mesocosm.services.resources import blank

LINE_KINDS: Mapping[str, type[Base]] = {
    "line_items": LineItem,
    "shipping_lines": ShippingLine,
    "fee_lines": FeeLine,
    "coupon_lines": CouponLine,
    "tax_lines": TaxLine,
}
_LINE_IDENTITY = {"line_items": "product_id", "shipping_lines": "method_id", "fee_lines": "name"}
"""The field whose ``null`` removes a line."""

_BY_SKU = select(Product.id).where(Product.sku == bindparam("sku"), Product.status != "trash")


class Ordering(StorePart):
    """Creating, changing and deleting orders."""

    # -- creating ---------------------------------------------------------------------------------------

    def create_order(self, data: Mapping[str, Any]) -> Row:
        """A new order; returns its record."""
        self.authorise("create")
        values = checked(data, ORDER_CHECKS, READ_ONLY)
        draft = self._new_draft(values)
        add_up(draft, self.store.pricing.tax_table(draft.order))
        order_id = self._insert(draft, values.get("meta_data", []))
        self.store.lifecycle.status_effects(order_id)
        self._move_on(order_id, values, created=True)
        return self.store.orders.order_record(order_id)

    def _new_draft(self, values: Row) -> Draft:
        customer = self._check_customer(values.get("customer_id", 0))
        order = blank(Order) | {
            "status": "pending",
            "currency": self.setting("woocommerce_currency"),
            "prices_include_tax": self.setting("woocommerce_prices_include_tax") == "yes",
            "date_created": self.today,
            "date_modified": self.today,
            "customer_id": customer,
        }
        order |= {key: values[key] for key in ORDER_COLUMNS if key in values and key != "status"}
        order["billing"] = EMPTY_BILLING | values.get("billing", {})
        order["shipping"] = EMPTY_SHIPPING | values.get("shipping", {})
        draft = Draft(order, [], [], [], [], {})
        self._change_lines(draft, values)
        codes = [coupon["code"].lower() for coupon in values.get("coupon_lines", [])]
        draft.coupons = self.store.pricing.usable_coupons(draft, codes)
        return draft

    def _check_customer(self, customer_id: int) -> int:
        if customer_id and not self.store.customers.customer_rows([customer_id]):
            raise invalid("woocommerce_rest_invalid_customer_id", "Customer ID is invalid.")
        return customer_id

    def _insert(self, draft: Draft, meta: Sequence[Row]) -> int:
        order_id = self.next_id(Order)
        self.add(Order, [draft.order | {"id": order_id}])
        self._write_lines(order_id, draft)
        self.add_meta("order", {order_id: meta})
        return order_id

    def _move_on(self, order_id: int, values: Row, *, created: bool) -> None:
        """The status that was asked for, and the payment."""
        status = values.get("status")
        if status and status != self.store.orders.order_row(order_id)["status"]:
            self.store.lifecycle.change_status(order_id, status)
            if status == "refunded":
                self.store.refunds.refund_what_is_left(order_id)
        if values.get("set_paid") and (
            created or self.store.orders.order_row(order_id)["status"] in ("pending", "failed")
        ):
            self.store.lifecycle.complete_payment(order_id)

    # -- changing ---------------------------------------------------------------------------------------

    def update_order(self, order_id: int, data: Mapping[str, Any]) -> Row:
        """Change an order; returns its record. Lines are changed by their id, added without one."""
        self.authorise("edit")
        values = checked(data, ORDER_CHECKS, READ_ONLY)
        record = self.store.orders.order_record(order_id)
        if not values:
            return record
        draft = self._draft_of(record)
        order = draft.order
        self._check_customer(values.get("customer_id", 0))
        order |= {key: values[key] for key in ORDER_COLUMNS if key in values and key != "status"}
        for address in ("billing", "shipping"):
            order[address] = record[address] | values.get(address, {})
        order["date_modified"] = self.today
        lines_before = self.store.stock.order_lines(order_id)
        if any(f"{kind}_lines" in values for kind in ("shipping", "fee", "coupon")) or "line_items" in values:
            self._recalculate(draft, values)
        self.run(update(Order).where(Order.id == order_id).values(order))
        if record["stock_reduced"] and "line_items" in values:
            self.store.stock.adjust_stock(order_id, lines_before)
        self.change_meta("order", order_id, values.get("meta_data", []))
        self._move_on(order_id, values, created=False)
        return self.store.orders.order_record(order_id)

    def _draft_of(self, record: Row) -> Draft:
        lines = {
            name: [table_columns(kind, row) for row in record[name]] for name, kind in LINE_KINDS.items()
        }
        draft = Draft(
            order=table_columns(Order, record),
            lines=lines["line_items"],
            shipping=lines["shipping_lines"],
            fees=lines["fee_lines"],
            coupons=[],
            sold={},
        )
        products = [row["variation_id"] or row["product_id"] for row in draft.lines]
        draft.sold = self.store.pricing.sold(self.store.products.product_rows(products))
        return draft

    def _recalculate(self, draft: Draft, values: Row) -> None:
        order_id = draft.order["id"]
        sales_before = self._pieces(order_id)
        self._change_lines(draft, values)
        if "coupon_lines" in values:
            codes = [coupon["code"].lower() for coupon in values["coupon_lines"]]
            draft.coupons = self.store.pricing.usable_coupons(draft, codes)
            for row in draft.lines:
                # Without its coupons a line costs its subtotal again.
                row["total"] = row["subtotal"] if not codes else row["total"]
        else:
            codes = [row["code"] for row in self.store.orders.order_record(order_id)["coupon_lines"]]
            draft.coupons = [c for c in map(self.store.coupons.coupon_by_code, codes) if c]
        add_up(draft, self.store.pricing.tax_table(draft.order))
        counted = draft.order["coupons_counted"]
        if "coupon_lines" in values and counted:
            self.store.lifecycle.uncount_coupons(order_id)
        self._write_lines(order_id, draft)
        if "coupon_lines" in values and counted:
            self.store.lifecycle.count_coupons(draft.order)
        if draft.order["sales_recorded"]:
            after = self._pieces(order_id)
            products = {*sales_before, *after}
            self.store.stock.count_sales(
                {p: after.get(p, 0) - sales_before.get(p, 0) for p in sorted(products)}
            )

    def _pieces(self, order_id: int) -> dict[int, int]:
        found: dict[int, int] = {}
        for line in self.store.stock.order_lines(order_id):
            found[line["product_id"]] = found.get(line["product_id"], 0) + line["quantity"]
        return found

    # -- lines ------------------------------------------------------------------------------------------

    def _change_lines(self, draft: Draft, values: Row) -> None:
        """Add, change and remove the lines of a draft as the caller says."""
        self._change_line_items(draft, values.get("line_items", []))
        for name, rows, kind in (
            ("shipping_lines", draft.shipping, ShippingLine),
            ("fee_lines", draft.fees, FeeLine),
        ):
            for index, entry in enumerate(values.get(name, [])):
                row = _named_line(rows, entry, f"{name}[{index}]", name)
                if row is None:
                    continue
                if not row:
                    rows.append(row := blank(kind))
                row |= {key: value for key, value in entry.items() if key != "id"}
        for fee in draft.fees:
            self.store.taxes.check_tax_class(fee["tax_class"])

    def _change_line_items(self, draft: Draft, entries: Sequence[Row]) -> None:
        products = self._products_of(entries)
        draft.sold |= self.store.pricing.sold(products)
        table = self.store.pricing.tax_table(draft.order)
        for index, entry in enumerate(entries):
            where = f"line_items[{index}]"
            row = _named_line(draft.lines, entry, where, "line_items")
            if row is None:
                continue
            if not row:
                if not entry.get("quantity", 1):
                    raise invalid_parameter(f"{where}.quantity", "quantity must be 1 or more.")
                row = self.line_of(named_product(products, entry, where), entry, draft.order, table)
                draft.lines.append(row)
            self._change_line(row, entry)

    def _products_of(self, entries: Sequence[Row]) -> dict[int, Record]:
        """The products that lines name, by id or SKU."""
        for entry in entries:
            if entry.get("sku") and not entry.get("product_id") and not entry.get("id"):
                found = self.fetch(_BY_SKU, sku=entry["sku"])
                entry["product_id"] = found[0]["id"] if found else -1
        wanted = [entry.get(key) for entry in entries for key in ("product_id", "variation_id")]
        return self.store.products.product_rows([product for product in wanted if product])

    def line_of(self, product: Record, entry: Row, order: Row, taxes: TaxTable) -> Row:
        """A new line item for a product, at its present price or the one that the entry names."""
        quantity = entry.get("quantity", 1)
        unit = entry["price"] if "price" in entry else cents(product["price"] or "0")
        subtotal = line_subtotal(unit, quantity)
        if order["prices_include_tax"] and product["tax_status"] == "taxable":
            subtotal = without_tax(subtotal, taxes.of(product["tax_class"]))
        attributes = product["attributes"] if product["parent_id"] else []
        return blank(LineItem) | {
            "product_id": product["parent_id"] or product["id"],
            "variation_id": product["id"] if product["parent_id"] else 0,
            "name": product["name"],
            "quantity": quantity,
            "tax_class": product["tax_class"],
            "subtotal": subtotal,
            "total": subtotal,
            "meta_data": [{"key": a["name"].lower(), "value": a.get("option", "")} for a in attributes],
        }

    def _change_line(self, row: Row, entry: Row) -> None:
        before = row["quantity"]
        quantity = entry.get("quantity", before)
        if quantity != before:
            # The price of a piece stays what it was.
            for amount in ("subtotal", "total"):
                row[amount] = share(row[amount] * quantity, 1 / Decimal(before))
        row["quantity"] = quantity
        row |= {key: entry[key] for key in ("name", "tax_class", "subtotal", "total") if key in entry}
        row["tax_class"] = "" if row["tax_class"] == "standard" else row["tax_class"]
        self.store.taxes.check_tax_class(row["tax_class"])
        if "meta_data" in entry:
            kept = {item["key"]: item for item in row["meta_data"]}
            said = {
                i["key"]: {"key": i["key"], "value": i.get("value")}
                for i in entry["meta_data"]
                if i.get("key")
            }
            row["meta_data"] = list((kept | said).values())
        row["subtotal"] = max(row["subtotal"], row["total"])

    def _write_lines(self, order_id: int, draft: Draft) -> None:
        old = {row["code"]: row["id"] for row in self._existing(CouponLine, order_id)}
        for row in draft.coupon_lines:
            if row["code"] in old:
                row["id"] = old[row["code"]]
        old = {row["rate_id"]: row["id"] for row in self._existing(TaxLine, order_id)}
        for row in draft.tax_lines:
            if row["rate_id"] in old:
                row["id"] = old[row["rate_id"]]
        lists = (draft.lines, draft.shipping, draft.fees, draft.coupon_lines, draft.tax_lines)
        for kind, rows in zip(LINE_KINDS.values(), lists, strict=True):
            self._save_lines(kind, order_id, rows)

    def _existing(self, kind: type[Base], order_id: int) -> Sequence[Record]:
        return self.fetch(select(kind.__table__).where(kind.__table__.c.order_id == order_id))

    def _save_lines(self, kind: type[Base], order_id: int, rows: Sequence[Row]) -> None:
        """Make these the lines of that kind: those with an id are changed, the others are new."""
        columns = kind.__table__.c
        kept = [row["id"] for row in rows if row.get("id")]
        self.run(delete(kind).where(columns.order_id == order_id, ~columns.id.in_(kept)))
        for row in rows:
            if row.get("id"):
                self.run(update(kind).where(columns.id == row["id"]).values(row))
            else:
                self.add(kind, [{**row, "order_id": order_id}])

    # -- deleting ---------------------------------------------------------------------------------------

    def delete_order(self, order_id: int, *, force: bool) -> Row:
        """Move an order to the trash, or with ``force`` delete it for good; returns what it was."""
        self.authorise("delete")
        order = self.store.orders.order_row(order_id)
        if not force and order["status"] == "trash":
            raise gone("shop_order")
        record = self.store.orders.order_record(order_id)
        if order["sales_recorded"]:
            self.store.lifecycle.record_sales(order_id, recorded=False)
        if not force:
            values = {"status": "trash", "date_modified": self.today}
            self.run(update(Order).where(Order.id == order_id).values(values))
            return self.store.orders.order_record(order_id)
        self.run(delete(Meta).where(Meta.owner == "order", Meta.owner_id == order_id))
        self.run(delete(Order).where(Order.id == order_id))
        return record


def named_product(products: Mapping[int, Record], entry: Row, where: str) -> Record:
    """The product of a new line, if it is there to be sold."""
    wanted = entry.get("variation_id") or entry.get("product_id")
    if not wanted:
        raise invalid("woocommerce_rest_required_product_reference", "Product ID or SKU is required.")
    if wanted not in products or products[wanted]["status"] == "trash":
        raise not_found("woocommerce_rest_product_invalid_id", f"Invalid ID. ({where})")
    return products[wanted]


def _named_line(rows: list[Row], entry: Row, where: str, kind: str) -> Row | None:
    """The line that an entry names by id, ``{}`` for a new one, ``None`` for none: without what makes it one.

    WooCommerce removes a line whose product, method or name is null, and passes over a new one.
    """
    identity = _LINE_IDENTITY[kind]
    is_null = identity in entry and entry[identity] is None
    if not entry.get("id"):
        return None if is_null else {}
    found = next((row for row in rows if row.get("id") == entry["id"]), None)
    if found is None:
        raise invalid(
            "woocommerce_rest_invalid_item_id",
            f"Order item ID provided is not associated with order. ({where})",
        )
    if is_null or entry.get("quantity") == 0:
        rows.remove(found)
        return None
    return found
