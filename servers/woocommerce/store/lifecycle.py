"""Consequences of changes of an order's status."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, delete, func, select, update

from mesocosm.servers.woocommerce.models import Coupon, CouponUse, Order
from mesocosm.servers.woocommerce.models import CouponLine as CouponLineTable
from mesocosm.servers.woocommerce.store.customers import PAID
from mesocosm.servers.woocommerce.store.orders import STATUS_NAMES
from mesocosm.servers.woocommerce.store.shop import Record, StorePart

TAKES_STOCK = ("processing", "completed", "on-hold")
RETURNS_STOCK = ("pending", "cancelled")
PAYABLE = ("pending", "on-hold", "failed", "cancelled")
"""Statuses in which a payment completes an order."""

_USES = select(CouponUse.coupon_id, func.count().label("uses")).where(
    CouponUse.order_id == bindparam("order")
)
_LINE_CODES = select(CouponLineTable.code).where(CouponLineTable.order_id == bindparam("order"))


class Lifecycle(StorePart):
    """Consequences of changes of an order's status."""

    def change_status(self, order_id: int, status: str) -> None:
        """Give an order another status, with all that follows but the refund of its money."""
        order = self.store.orders.order_row(order_id)
        if order["status"] == status:
            return
        now = self.today
        values: dict[str, Any] = {"status": status, "date_modified": now}
        if status in PAID and not order["date_paid"]:
            values["date_paid"] = now
        if status == "completed":
            values["date_completed"] = now
        self.run(update(Order).where(Order.id == order_id).values(values))
        before, after = (STATUS_NAMES.get(name, name) for name in (order["status"], status))
        self.store.orders.write_note(order_id, f"Order status changed from {before} to {after}.")
        self.status_effects(order_id)

    def complete_payment(self, order_id: int) -> None:
        """Complete the payment: the order becomes processing, or completed if nothing ships."""
        record = self.store.orders.order_record(order_id)
        if record["status"] not in PAYABLE:
            return
        lines = record["line_items"]
        nothing_to_do = lines and all(line["virtual"] and line["downloadable"] for line in lines)
        if not record["date_paid"]:
            self.run(update(Order).where(Order.id == order_id).values(date_paid=self.today))
        self.change_status(order_id, "completed" if nothing_to_do else "processing")

    def status_effects(self, order_id: int) -> None:
        """Bring stock, sales counts and coupon uses in line with the status of an order."""
        order = self.store.orders.order_row(order_id)
        status = order["status"]
        if status in TAKES_STOCK and not order["stock_reduced"]:
            self.store.stock.reduce_stock(order_id)
        elif status in RETURNS_STOCK and order["stock_reduced"]:
            self.store.stock.return_stock(order_id)
        if status in TAKES_STOCK and not order["sales_recorded"]:
            self.record_sales(order_id, recorded=True)
        elif status in ("cancelled", "trash") and order["sales_recorded"]:
            self.record_sales(order_id, recorded=False)
        if status == "cancelled" and order["coupons_counted"]:
            self.uncount_coupons(order_id)
        elif status not in ("cancelled", "trash") and not order["coupons_counted"]:
            self.count_coupons(order)

    def record_sales(self, order_id: int, *, recorded: bool) -> None:
        """Count the pieces of an order among the sales of their products, or no longer."""
        sign = 1 if recorded else -1
        quantities: dict[int, int] = {}
        for line in self.store.stock.order_lines(order_id):
            product = line["product_id"]
            quantities[product] = quantities.get(product, 0) + sign * line["quantity"]
        self.store.stock.count_sales(quantities)
        self.run(update(Order).where(Order.id == order_id).values(sales_recorded=recorded))

    # -- coupons ----------------------------------------------------------------------------------------

    def count_coupons(self, order: Record) -> None:
        """Count the use of the coupons of an order."""
        used_by = buyer(order)
        for row in self.fetch(_LINE_CODES, order=order["id"]):
            coupon = self.store.coupons.coupon_by_code(row["code"])
            if coupon:
                use = {"coupon_id": coupon["id"], "order_id": order["id"], "used_by": used_by}
                self.add(CouponUse, [use])
                self._change_usage(coupon["id"], 1)
        self.run(update(Order).where(Order.id == order["id"]).values(coupons_counted=True))

    def uncount_coupons(self, order_id: int) -> None:
        """Take back the uses of coupons that an order counted."""
        for row in self.uses_by(order_id):
            self._change_usage(row["coupon_id"], -row["uses"])
        self.run(delete(CouponUse).where(CouponUse.order_id == order_id))
        self.run(update(Order).where(Order.id == order_id).values(coupons_counted=False))

    def uses_by(self, order_id: int) -> Sequence[Record]:
        """Return how often an order counts as a use of each coupon."""
        return self.fetch(_USES.group_by(CouponUse.coupon_id).order_by(CouponUse.coupon_id), order=order_id)

    def _change_usage(self, coupon_id: int, by: int) -> None:
        values = {"usage_count": func.max(0, Coupon.usage_count + by)}
        self.run(update(Coupon).where(Coupon.id == coupon_id).values(values))


def buyer(order: Record) -> str:
    """Return who uses a coupon: the customer's id, or a guest's address."""
    return str(order["customer_id"]) if order["customer_id"] else str(order["billing"].get("email", ""))
