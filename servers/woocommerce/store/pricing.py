"""Dependencies of prices: local taxes and usable coupons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import bindparam, func, select

from mesocosm.servers.woocommerce.models import CouponUse, ProductCategory
from mesocosm.servers.woocommerce.store.discounts import check_together, check_usable, refuse
from mesocosm.servers.woocommerce.store.drafts import Draft, Sold, TaxTable
from mesocosm.servers.woocommerce.store.lifecycle import buyer
from mesocosm.servers.woocommerce.store.shop import Record, Row, StorePart

_USED_BY = select(func.count().label("n")).where(
    CouponUse.coupon_id == bindparam("coupon"),
    CouponUse.used_by == bindparam("used_by"),
    CouponUse.order_id != bindparam("order"),
)
_CATEGORIES = select(ProductCategory.product_id, ProductCategory.category_id).where(
    ProductCategory.product_id.in_(bindparam("ids", expanding=True))
)


class Pricing(StorePart):
    """Dependencies of prices."""

    def tax_table(self, order: Row) -> TaxTable:
        """The tax rates that apply to an order."""
        if self.setting("woocommerce_calc_taxes") != "yes":
            return TaxTable((), ("", ""))
        return TaxTable(
            self.store.taxes.all_tax_rates(),
            self.store.taxes.tax_location(order["billing"], order["shipping"]),
        )

    def sold(self, products: Mapping[int, Record]) -> dict[int, Sold]:
        """Return the data of products that lines need."""
        owners = {product["parent_id"] or product["id"] for product in products.values()}
        categories: dict[int, list[int]] = {}
        for row in self.fetch(_CATEGORIES, ids=sorted(owners)):
            categories.setdefault(row["product_id"], []).append(row["category_id"])
        parents = self.store.categories.parents()
        return {
            product["id"]: Sold(
                product["tax_status"] == "taxable",
                bool(product["on_sale"]),
                _with_ancestors(categories.get(product["parent_id"] or product["id"], ()), parents),
            )
            for product in products.values()
        }

    def usable_coupons(self, draft: Draft, codes: Sequence[str]) -> list[Record]:
        """The coupons of these codes, if this order may use them together."""
        found: list[Record] = []
        order = draft.order
        if codes and self.setting("woocommerce_enable_coupons") != "yes":
            raise refuse("Coupons are disabled.")
        for code in codes:
            coupon = self.store.coupons.coupon_by_code(code)
            if coupon is None or coupon["status"] != "publish":
                raise refuse(f'Coupon "{code}" does not exist!')
            found.append(coupon)
            self._check_usable(coupon, draft, order)
        check_together(found)
        return found

    def _check_usable(self, coupon: Record, draft: Draft, order: Row) -> None:
        order_id = order.get("id", 0)
        own = sum(
            row["uses"] for row in self.store.lifecycle.uses_by(order_id) if row["coupon_id"] == coupon["id"]
        )
        used_by = buyer(order)
        by_buyer = self.fetch(_USED_BY, coupon=coupon["id"], used_by=used_by, order=order_id)[0]["n"]
        check_usable(
            coupon,
            draft.items(),
            now=self.today,
            used=coupon["usage_count"] - own,
            used_by_buyer=by_buyer if used_by else 0,
            email=order["billing"].get("email", ""),
        )


def _with_ancestors(categories: Iterable[int], parents: Mapping[int, int]) -> list[int]:
    """Categories with all above them."""
    found: list[int] = []
    for category in categories:
        while category and category not in found:
            found.append(category)
            category = parents.get(category, 0)
    return found
