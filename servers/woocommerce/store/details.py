"""Notes, refunds and customers one by one, and counts of things: what only the REST API asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, delete, func, select

from mesocosm.servers.woocommerce.models import (
    Base,
    Coupon,
    OrderNote,
    Product,
    Refund,
    RefundItem,
    Review,
)
from mesocosm.servers.woocommerce.refusals import no_trash, not_found
from mesocosm.servers.woocommerce.store.selection import Selection, chosen, ordering
from mesocosm.servers.woocommerce.store.shop import Record, Row, StorePart
from mesocosm.servers.woocommerce.values import text, window

_NOTES = select(OrderNote.__table__).where(OrderNote.order_id == bindparam("order"))
_NOTES_NEWEST_FIRST = _NOTES.order_by(OrderNote.date_created.desc(), OrderNote.id.desc())
_REFUNDS = select(Refund.__table__).where(Refund.order_id == bindparam("order"))
_REFUNDS_NEWEST_FIRST = _REFUNDS.order_by(Refund.date_created.desc(), Refund.id.desc())

Total = tuple[str, str, int]
"""Slug, name and number."""


class Details(StorePart):
    """Objects that belong to others, one by one."""

    def notes(self, order_id: int, kind: str) -> Sequence[Record]:
        """The notes of an order, newest first; ``kind`` is any, customer or internal."""
        self.authorise("view")
        self.store.orders.order_row(order_id)
        rows = self.fetch(_NOTES_NEWEST_FIRST, order=order_id)
        return [row for row in rows if kind == "any" or row["customer_note"] == (kind == "customer")]

    def note(self, order_id: int, note_id: int) -> Record:
        self.authorise("view")
        return self._part(_NOTES.where(OrderNote.id == note_id), order_id)

    def delete_note(self, order_id: int, note_id: int, *, force: bool) -> Record:
        """Delete a note; returns what it was."""
        self.authorise("delete")
        no_trash("Order notes", force=force)
        note = self._part(_NOTES.where(OrderNote.id == note_id), order_id)
        self.run(delete(OrderNote).where(OrderNote.id == note_id))
        return note

    def refunds(self, order_id: int, *, page: int | None, per_page: int | None) -> tuple[Sequence[Row], int]:
        """One page of the refunds of an order, newest first, and how many it has."""
        self.authorise("view")
        self.store.orders.order_row(order_id)
        page, per_page = window(page, per_page)
        statement = _REFUNDS_NEWEST_FIRST.limit(per_page).offset((page - 1) * per_page)
        ids = [row["id"] for row in self.fetch(statement, order=order_id)]
        return [self.store.refunds.refund_record(one) for one in ids], self.count(
            Refund, Refund.order_id == order_id
        )

    def all_refunds(
        self,
        wanted: Selection,
        *,
        page: int | None,
        per_page: int | None,
        search: str | None = None,
        orders: Sequence[int] | None = None,
        not_orders: Sequence[int] | None = None,
    ) -> tuple[Sequence[Row], int]:
        """One page of the refunds of all orders, or of some, and how many there are."""
        self.authorise("view")
        page, per_page = window(page, per_page)
        conditions = chosen(Refund, wanted)
        if search:
            conditions.append(Refund.reason.icontains(text(search, "search"), autoescape=True))
        if orders is not None:
            conditions.append(Refund.order_id.in_(list(orders)))
        if not_orders is not None:
            conditions.append(~Refund.order_id.in_(list(not_orders)))
        columns = {"date": Refund.date_created, "id": Refund.id}
        statement = select(Refund.id).where(*conditions)
        statement = statement.order_by(*ordering(Refund, wanted, columns, "date", "desc"))
        ids = [row["id"] for row in self.fetch(statement.limit(per_page).offset((page - 1) * per_page))]
        return [self.store.refunds.refund_record(one) for one in ids], self.count(Refund, *conditions)

    def refund(self, order_id: int, refund_id: int) -> Row:
        self.authorise("view")
        self._part(_REFUNDS.where(Refund.id == refund_id), order_id)
        return self.store.refunds.refund_record(refund_id)

    def delete_refund(self, order_id: int, refund_id: int, *, force: bool) -> Row:
        """Delete a refund and return it. The order's status and the stock stay."""
        self.authorise("delete")
        no_trash("Refunds", force=force)
        record = self.refund(order_id, refund_id)
        self.run(delete(RefundItem).where(RefundItem.refund_id == refund_id))
        self.run(delete(Refund).where(Refund.id == refund_id))
        return record

    def _part(self, statement: Any, order_id: int) -> Record:
        self.store.orders.order_row(order_id)
        rows = self.fetch(statement, order=order_id)
        if not rows:
            raise not_found("woocommerce_rest_invalid_id", "Invalid resource ID.")
        return rows[0]

    # -- how many there are of each kind ----------------------------------------------------------------

    def product_totals(self) -> list[Total]:
        """Products by type."""
        names = {"external": "External/Affiliate product", "grouped": "Grouped product"}
        names |= {"simple": "Simple product", "variable": "Variable product"}
        return self._totals(Product, Product.type, names, Product.status == "publish")

    def coupon_totals(self) -> list[Total]:
        """Coupons by type of discount."""
        names = {"percent": "Percentage discount", "fixed_cart": "Fixed cart discount"}
        names |= {"fixed_product": "Fixed product discount"}
        return self._totals(Coupon, Coupon.discount_type, names, Coupon.status == "publish")

    def review_totals(self) -> list[Total]:
        """Approved reviews by rating."""
        names = {str(rating): f"Rated {rating} out of 5" for rating in range(1, 6)}
        totals = self._totals(Review, Review.rating, names, Review.status == "approved")
        return [(f"rated_{slug}_out_of_5", name, number) for slug, name, number in totals]

    def _totals(self, kind: type[Base], column: Any, names: dict[str, str], condition: Any) -> list[Total]:
        self.authorise("view")
        counted = select(column.label("value"), func.count().label("n")).select_from(kind)
        rows = self.fetch(counted.where(condition).group_by(column))
        found = {str(row["value"]): int(row["n"]) for row in rows}
        return [(slug, name, found.get(slug, 0)) for slug, name in names.items()]
