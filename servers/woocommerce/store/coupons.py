"""Coupons: their uses and the validity of their values."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import bindparam, select

from mesocosm.servers.woocommerce.models import Coupon, CouponUse
from mesocosm.servers.woocommerce.models.coupons import coupon_code
from mesocosm.servers.woocommerce.refusals import invalid
from mesocosm.servers.woocommerce.store.resources import Collection, Filter, ShopResource, searched
from mesocosm.servers.woocommerce.store.shop import Record, Row

_BY_CODE = select(Coupon.__table__).where(Coupon.code == bindparam("code"), Coupon.status != "trash")
_USES = (
    select(CouponUse.coupon_id, CouponUse.used_by)
    .where(CouponUse.coupon_id.in_(bindparam("ids", expanding=True)))
    .order_by(CouponUse.coupon_id, CouponUse.id)
)
MAX_USES_SHOWN = 1_000

COUPONS = ShopResource(
    Coupon,
    gone=("woocommerce_rest_shop_coupon_invalid_id", "Invalid ID."),
    trash="shop_coupon",
    required=["code"],
    unique={
        "code": lambda: invalid(
            "woocommerce_rest_coupon_code_already_exists", "The coupon code already exists"
        )
    },
    orders={
        "date": Coupon.date_created,
        "modified": Coupon.date_modified,
        "id": Coupon.id,
        "include": None,
        "title": Coupon.code,
        "slug": Coupon.code,
    },
    filters={
        "search": searched(
            "Text that must occur in the code or description.", Coupon.code, Coupon.description
        ),
        "code": Filter(str, lambda code: Coupon.code == coupon_code(code, "code"), "Exact code."),
    },
    where=[Coupon.status != "trash"],
    meta="coupon",
)


class Coupons(Collection):
    """Coupons. A record of one is its row with ``used_by`` and ``meta_data``."""

    resource = COUPONS

    def coupon_by_code(self, code: str) -> Record | None:
        """The coupon of that code that is not in the trash, if there is one."""
        rows = self.fetch(_BY_CODE, code=code)
        return rows[0] if rows else None

    def _records(self, rows: Sequence[Record]) -> list[Row]:
        uses: dict[int, list[str]] = {}
        for use in self.fetch(_USES, ids=[row["id"] for row in rows]):
            uses.setdefault(use["coupon_id"], []).append(use["used_by"])
        return [
            record | {"used_by": uses.get(record["id"], [])[-MAX_USES_SHOWN:]}
            for record in super()._records(rows)
        ]

    def _settled(self, row: Row, before: Record | None) -> Row:
        if row["discount_type"] == "percent" and float(row["amount"]) > 100:
            raise invalid("coupon_invalid_amount", "Invalid discount amount.")
        for limit in ("usage_limit", "usage_limit_per_user", "limit_usage_to_x_items"):
            row[limit] = row[limit] or None  # the product keeps 0 as no limit
        return row
