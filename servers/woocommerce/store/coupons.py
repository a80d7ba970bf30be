"""Coupons: reading and changing them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict

from sqlalchemy import bindparam, delete, select, update

from mesocosm.servers.woocommerce.models import Coupon, CouponUse, Meta
from mesocosm.servers.woocommerce.refusals import gone, invalid, invalid_parameter, missing, not_found
from mesocosm.servers.woocommerce.store.product_data import blank
from mesocosm.servers.woocommerce.store.selection import EVERYTHING, Selection, chosen, ordering
from mesocosm.servers.woocommerce.store.shop import Part, Record, Row
from mesocosm.servers.woocommerce.values import (
    MAX_COUNT,
    boolean,
    checked,
    choice,
    date,
    decimal,
    identifier,
    line,
    listed,
    meta_data,
    optional,
    optional_date,
    text,
    whole,
    window,
)
from mesocosm.services.values import Checks

TYPES = ("percent", "fixed_cart", "fixed_product")

_ids = listed(identifier)
_limit = optional(whole(0, MAX_COUNT))


def _code(value: Any, name: str) -> str:
    found = line(value, name).lower()
    if not found:
        raise invalid("woocommerce_rest_empty_coupon_code", "The coupon code cannot be empty.")
    return found


_CHECKS: Checks = {
    "code": _code,
    "amount": decimal,
    "status": choice("draft", "pending", "private", "publish"),
    "discount_type": choice(*TYPES),
    "description": text,
    "date_expires": optional_date,
    "date_expires_gmt": optional_date,
    "individual_use": boolean,
    "product_ids": _ids,
    "excluded_product_ids": _ids,
    "usage_limit": _limit,
    "usage_limit_per_user": _limit,
    "limit_usage_to_x_items": _limit,
    "free_shipping": boolean,
    "product_categories": _ids,
    "excluded_product_categories": _ids,
    "exclude_sale_items": boolean,
    "minimum_amount": decimal,
    "maximum_amount": decimal,
    "email_restrictions": listed(line),
    "meta_data": meta_data,
}
_HISTORY_CHECKS: Checks = {"date_created": date, "usage_count": whole(0, MAX_COUNT)}
READ_ONLY = frozenset(
    [
        "id",
        "date_created",
        "date_created_gmt",
        "date_modified",
        "date_modified_gmt",
        "usage_count",
        "used_by",
        "_links",
    ]
)

_COLUMNS = select(Coupon.__table__)
_BY_ID = _COLUMNS.where(Coupon.id == bindparam("id"))
_BY_CODE = _COLUMNS.where(Coupon.code == bindparam("code"), Coupon.status != "trash")
_CODES = select(Coupon.code).where(Coupon.status != "trash")
_USES = (
    select(CouponUse.coupon_id, CouponUse.used_by)
    .where(CouponUse.coupon_id.in_(bindparam("ids", expanding=True)))
    .order_by(CouponUse.coupon_id, CouponUse.id)
)
_ORDERINGS = {
    "date": Coupon.date_created,
    "modified": Coupon.date_modified,
    "id": Coupon.id,
    "title": Coupon.code,
    "slug": Coupon.code,
}
MAX_USES_SHOWN = 1_000


class NewCoupon(TypedDict, total=False):
    """A coupon for ``add_coupons``: what ``woo_coupons_create`` takes, and its history."""

    code: str
    amount: str
    discount_type: str
    description: str
    date_expires: str
    individual_use: bool
    product_ids: list[int]
    excluded_product_ids: list[int]
    usage_limit: int
    usage_limit_per_user: int
    limit_usage_to_x_items: int
    free_shipping: bool
    product_categories: list[int]
    excluded_product_categories: list[int]
    exclude_sale_items: bool
    minimum_amount: str
    maximum_amount: str
    email_restrictions: list[str]
    date_created: str
    usage_count: int


class Coupons(Part):
    """Coupons. A record of one is its row with ``used_by`` and ``meta_data``."""

    def coupon(self, coupon_id: int) -> Row:
        """One coupon."""
        self.authorise("view")
        return self._coupon_records([self._coupon_row(coupon_id)])[0]

    def listed(
        self,
        *,
        search: str | None = None,
        code: str | None = None,
        page: int | None = None,
        per_page: int | None = None,
        selection: Selection = EVERYTHING,
    ) -> tuple[list[Row], int]:
        """One page of the coupons, newest first, and how many there are."""
        self.authorise("view")
        page, per_page = window(page, per_page)
        conditions = [Coupon.status != "trash", *chosen(Coupon, selection)]
        if search:
            wanted = text(search, "search")
            found = Coupon.code.icontains(wanted, autoescape=True)
            conditions.append(found | Coupon.description.icontains(wanted, autoescape=True))
        if code:
            conditions.append(Coupon.code == _code(code, "code"))
        order = ordering(Coupon, selection, _ORDERINGS, "date", "desc")
        statement = _COLUMNS.where(*conditions).order_by(*order)
        rows = self.fetch(statement.limit(per_page).offset((page - 1) * per_page))
        return self._coupon_records(rows), self.count(Coupon, *conditions)

    def coupon_by_code(self, code: str) -> Record | None:
        """The coupon of that code that is not in the trash, if there is one."""
        rows = self.fetch(_BY_CODE, code=code)
        return rows[0] if rows else None

    def _coupon_row(self, coupon_id: int) -> Record:
        rows = self.fetch(_BY_ID, id=coupon_id)
        if not rows:
            raise not_found("woocommerce_rest_shop_coupon_invalid_id")
        return rows[0]

    def _coupon_records(self, rows: Sequence[Record]) -> list[Row]:
        ids = [row["id"] for row in rows]
        uses: dict[int, list[str]] = {}
        for use in self.fetch(_USES, ids=ids):
            uses.setdefault(use["coupon_id"], []).append(use["used_by"])
        meta = self.meta_of("coupon", ids)
        return [
            dict(row)
            | {"used_by": uses.get(row["id"], [])[-MAX_USES_SHOWN:], "meta_data": meta.get(row["id"], [])}
            for row in rows
        ]

    # -- writing ----------------------------------------------------------------------------------------

    def create_coupon(self, data: Mapping[str, Any]) -> Row:
        """A new coupon."""
        self.authorise("create")
        values = checked(data, _CHECKS, READ_ONLY)
        if self.coupon_by_code(values.get("code", "")):
            raise code_exists()
        coupon_id = self.next_id(Coupon)
        self.add(Coupon, [self._new_row(values, coupon_id)])
        self.add_meta("coupon", {coupon_id: values.get("meta_data", [])})
        return self.coupon(coupon_id)

    def add_coupons(self, coupons: Iterable[NewCoupon]) -> list[int]:
        """Many coupons at once; returns their ids. ``usage_count`` is what was used before any order here."""
        codes = {row["code"] for row in self.fetch(_CODES)}
        first = self.next_id(Coupon)
        rows: list[Row] = []
        meta: dict[int, list[Row]] = {}
        for entry in coupons:
            values = checked(entry, {**_CHECKS, **_HISTORY_CHECKS})
            if values.get("code") in codes:
                raise code_exists()
            row = self._new_row(values, first + len(rows))
            codes.add(row["code"])
            meta[row["id"]] = values.get("meta_data", [])
            rows.append(row)
        self.add(Coupon, rows)
        self.add_meta("coupon", meta)
        return [row["id"] for row in rows]

    def _new_row(self, values: Row, coupon_id: int) -> Row:
        if "code" not in values:
            raise missing("code")
        created = values.get("date_created", self.today)
        row = blank(Coupon) | {"id": coupon_id, "date_created": created, "date_modified": created}
        return _settled(row | _columns(values))

    def update_coupon(self, coupon_id: int, data: Mapping[str, Any]) -> Row:
        """Change fields of a coupon."""
        self.authorise("edit")
        before = self._coupon_row(coupon_id)
        values = checked(data, _CHECKS, READ_ONLY)
        if not values:
            return self.coupon(coupon_id)
        other = self.coupon_by_code(values["code"] if "code" in values else before["code"])
        live = before["status"] != "trash" or "status" in values
        if live and other and other["id"] != coupon_id:
            raise code_exists()
        row = _settled(dict(before) | _columns(values) | {"date_modified": self.today})
        self.run(update(Coupon).where(Coupon.id == coupon_id).values(row))
        self.change_meta("coupon", coupon_id, values.get("meta_data", []))
        return self.coupon(coupon_id)

    def delete_coupon(self, coupon_id: int, *, force: bool) -> Row:
        """Move a coupon to the trash, or with ``force`` delete it for good; returns what it was."""
        self.authorise("delete")
        row = self._coupon_row(coupon_id)
        if not force:
            if row["status"] == "trash":
                raise gone("shop_coupon")
            values = {"status": "trash", "date_modified": self.today}
            self.run(update(Coupon).where(Coupon.id == coupon_id).values(values))
            return self._coupon_records([self._coupon_row(coupon_id)])[0]
        record = self._coupon_records([row])[0]
        self.run(delete(Meta).where(Meta.owner == "coupon", Meta.owner_id == coupon_id))
        self.run(delete(Coupon).where(Coupon.id == coupon_id))
        return record


def _columns(values: Row) -> Row:
    found = {key: value for key, value in values.items() if key != "meta_data"}
    if "date_expires_gmt" in found:
        found["date_expires"] = found.pop("date_expires_gmt")
    return found


def _settled(row: Row) -> Row:
    if row["discount_type"] == "percent" and float(row["amount"]) > 100:
        raise invalid("coupon_invalid_amount", "Invalid discount amount.")
    for limit in ("usage_limit", "usage_limit_per_user", "limit_usage_to_x_items"):
        row[limit] = row[limit] or None  # the product keeps 0 as no limit
    if row["code"] != row["code"].strip():
        raise invalid_parameter("code", "code must not begin or end with blanks.")
    return row


def code_exists() -> Exception:
    """What the product says to a code that another coupon has."""
    return invalid("woocommerce_rest_coupon_code_already_exists", "The coupon code already exists")
