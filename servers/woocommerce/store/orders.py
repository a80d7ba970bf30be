"""Reading orders, and their notes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from sqlalchemy import String, bindparam, case, cast, or_, select
from sqlalchemy.orm import aliased

from mesocosm.servers.woocommerce.models import (
    Base,
    CouponLine,
    FeeLine,
    LineItem,
    Order,
    OrderNote,
    Product,
    ProductImage,
    Refund,
    RefundItem,
    ShippingLine,
    TaxLine,
)
from mesocosm.servers.woocommerce.refusals import invalid, invalid_parameter, not_found
from mesocosm.servers.woocommerce.store.selection import chosen, included_order
from mesocosm.servers.woocommerce.store.shop import Record, Row, StorePart
from mesocosm.servers.woocommerce.values import boolean, checked, date, identifier, line, text, window
from mesocosm.services.values import Checks

STATUSES = ("pending", "processing", "on-hold", "completed", "cancelled", "refunded", "failed")
STATUS_NAMES = {
    "pending": "Pending payment",
    "processing": "Processing",
    "on-hold": "On hold",
    "completed": "Completed",
    "cancelled": "Cancelled",
    "refunded": "Refunded",
    "failed": "Failed",
}
SYSTEM = "system"
"""Author of the notes that the shop writes by itself."""

_Parent = aliased(Product)
_owner = case((LineItem.variation_id != 0, LineItem.variation_id), else_=LineItem.product_id)


def _main_image(column: Any) -> Any:
    return (
        select(column)
        .where(ProductImage.product_id == Product.id)
        .order_by(ProductImage.position)
        .limit(1)
        .correlate(Product)
        .scalar_subquery()
    )


_BY_ID = select(Order.__table__).where(Order.id == bindparam("id"))
_LINES = (
    select(
        *LineItem.__table__.c,
        Product.sku,
        Product.virtual,
        Product.downloadable,
        _Parent.name.label("parent_name"),
        _main_image(ProductImage.id).label("image_id"),
        _main_image(ProductImage.src).label("image_src"),
    )
    .outerjoin(Product, Product.id == _owner)
    .outerjoin(_Parent, (_Parent.id == Product.parent_id) & (LineItem.variation_id != 0))
    .where(LineItem.order_id.in_(bindparam("ids", expanding=True)))
    .order_by(LineItem.order_id, LineItem.id)
)


def _lines_of(kind: Any) -> Any:
    return (
        select(kind.__table__)
        .where(kind.order_id.in_(bindparam("ids", expanding=True)))
        .order_by(kind.order_id, kind.id)
    )


_OTHERS = {
    "shipping_lines": _lines_of(ShippingLine),
    "fee_lines": _lines_of(FeeLine),
    "coupon_lines": _lines_of(CouponLine),
    "tax_lines": _lines_of(TaxLine),
    "refunds": _lines_of(Refund),
}
_REFUND_ITEMS = (
    select(RefundItem.__table__)
    .where(RefundItem.refund_id.in_(bindparam("ids", expanding=True)))
    .order_by(RefundItem.refund_id, RefundItem.id)
)
_NOTE = select(OrderNote.__table__).where(OrderNote.id == bindparam("id"))

_ORDER_IDS = select(Order.id)
_NOTE_CHECKS: Checks = {
    "order_id": identifier,
    "note": text,
    "author": line,
    "customer_note": boolean,
    "date_created": date,
}

# The number of an order is its id, and so are its title and slug as far as order goes.
_ORDERINGS = {"date": Order.date_created, "id": Order.id, "title": Order.id, "slug": Order.id}
_ORDERINGS["modified"] = Order.date_modified


class NewNote(TypedDict, total=False):
    """A note for ``add_notes``."""

    order_id: int
    note: str
    author: str
    customer_note: bool
    date_created: str


@dataclass(frozen=True)
class OrderFilter:
    """Filter of a list of orders; ``None`` does not filter."""

    status: Sequence[str] | None = None
    customer: int | None = None
    product: int | None = None
    after: str | None = None
    before: str | None = None
    include: Sequence[int] | None = None
    exclude: Sequence[int] | None = None
    modified_after: str | None = None
    modified_before: str | None = None
    search: str | None = None
    parent: Sequence[int] | None = None
    created_via: Sequence[str] | None = None


class Orders(StorePart):
    """Reading orders.

    A record of an order is its row with ``line_items``, ``shipping_lines``, ``fee_lines``, ``coupon_lines``,
    ``tax_lines``, ``refunds`` and ``meta_data``. All amounts are cents.
    """

    def order(self, order_id: int) -> Row:
        """One order, whatever its status."""
        self.authorise("view")
        return self.order_record(order_id)

    def order_record(self, order_id: int) -> Row:
        """The record of an order that exists."""
        return self._order_records([self.order_row(order_id)])[0]

    def order_row(self, order_id: int) -> Record:
        """The row of an order that exists."""
        rows = self.fetch(_BY_ID, id=order_id)
        if not rows:
            raise not_found("woocommerce_rest_shop_order_invalid_id")
        return rows[0]

    def listed(
        self,
        wanted: OrderFilter,
        *,
        page: int | None = None,
        per_page: int | None = None,
        orderby: str | None = None,
        order: str | None = None,
    ) -> tuple[list[Row], int]:
        """One page of the orders that a filter describes, and how many there are."""
        self.authorise("view")
        page, per_page = window(page, per_page)
        conditions = _conditions(wanted)
        if orderby == "include":
            ordering = [included_order(Order, wanted.include)]
        else:
            column = _ORDERINGS[orderby or "date"]
            ordering = [column.asc(), Order.id] if order == "asc" else [column.desc(), Order.id.desc()]
        statement = select(Order.__table__).where(*conditions).order_by(*ordering)
        rows = self.fetch(statement.limit(per_page).offset((page - 1) * per_page))
        return self._order_records(rows), self.count(Order, *conditions)

    def _order_records(self, rows: Sequence[Record]) -> list[Row]:
        ids = [row["id"] for row in rows]
        lists = {"line_items": _by_order(self.fetch(_LINES, ids=ids))}
        lists |= {name: _by_order(self.fetch(statement, ids=ids)) for name, statement in _OTHERS.items()}
        meta = self.meta_of("order", ids)
        return [
            dict(row)
            | {name: by_order.get(row["id"], []) for name, by_order in lists.items()}
            | {"meta_data": meta.get(row["id"], [])}
            for row in rows
        ]

    def refund_items(self, refund_ids: Sequence[int]) -> Sequence[Record]:
        """The lines of some refunds."""
        return self.fetch(_REFUND_ITEMS, ids=list(refund_ids))

    # -- notes ------------------------------------------------------------------------------------------

    def create_note(self, order_id: int, note: str, *, for_customer: bool) -> Record:
        """A new note by the owner of the API key."""
        actor = self.authorise("create")
        self.order_row(order_id)
        if not text(note, "note").strip():
            raise invalid_parameter("note", "note must not be empty.")
        note_id = self.write_note(
            order_id, note, author=actor["display_name"], for_customer=boolean(for_customer, "customer_note")
        )
        return self.fetch(_NOTE, id=note_id)[0]

    def write_note(
        self, order_id: int, note: str, *, author: str = SYSTEM, for_customer: bool = False
    ) -> int:
        """Put a note on an order."""
        row = {
            "order_id": order_id,
            "author": author,
            "date_created": self.today,
            "note": note,
            "customer_note": for_customer,
        }
        return self.insert_one(OrderNote, row)

    def add_notes(self, notes: Iterable[NewNote]) -> None:
        """Many order notes at once; without an author they are the system's."""
        defaults = {"author": "system", "customer_note": False, "date_created": self.today}
        rows = [defaults | checked(note, _NOTE_CHECKS) for note in notes]
        known = {row["id"] for row in self.fetch(_ORDER_IDS)}
        for row in rows:
            if row.get("order_id") not in known:
                raise invalid("woocommerce_rest_order_invalid_id", "Invalid order ID.")
        self.add(OrderNote, rows)


def _by_order(rows: Sequence[Record]) -> dict[int, list[Record]]:
    found: dict[int, list[Record]] = {}
    for row in rows:
        found.setdefault(row["order_id"], []).append(row)
    return found


def _conditions(wanted: OrderFilter) -> list[Any]:
    statuses = list(wanted.status or ())
    found = [Order.status.in_(statuses) if statuses else Order.status != "trash"]
    if wanted.customer is not None:
        found.append(Order.customer_id == wanted.customer)
    if wanted.product is not None:
        bought = or_(LineItem.product_id == wanted.product, LineItem.variation_id == wanted.product)
        found.append(Order.id.in_(select(LineItem.order_id).where(bought)))
    if wanted.created_via:
        found.append(Order.created_via.in_(list(wanted.created_via)))
    if wanted.parent is not None:
        found.append(Order.parent_id.in_(list(wanted.parent)))
    if wanted.search:
        words = text(wanted.search, "search")
        columns = (cast(Order.id, String), cast(Order.billing, String), cast(Order.shipping, String))
        found.append(or_(*(column.icontains(words, autoescape=True) for column in columns)))
    return found + chosen(Order, wanted)


def table_columns(kind: type[Base], row: Record) -> Row:
    """Return the part of a record that belongs in a table's row."""
    return {key: row[key] for key in kind.__table__.columns.keys() if key in row}  # noqa: SIM118
