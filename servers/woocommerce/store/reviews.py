"""Reviews of products, whose ratings follow them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from sqlalchemy import bindparam, func, select

from mesocosm.servers.woocommerce.models import Product, Review
from mesocosm.servers.woocommerce.refusals import not_found
from mesocosm.servers.woocommerce.store.resources import Collection, Filter, ShopResource
from mesocosm.servers.woocommerce.store.shop import Record, Row

_MANY = 100
_PRODUCT_IDS = select(Product.id).where(Product.parent_id == 0)
_RATINGS = (
    select(
        Review.product_id,
        func.count().filter(Review.rating > 0).label("n"),
        func.coalesce(func.avg(Review.rating).filter(Review.rating > 0), 0).label("average"),
    )
    .where(Review.status == "approved")
    .group_by(Review.product_id)
)

REVIEWS = ShopResource(
    Review,
    gone=("woocommerce_rest_review_invalid_id", "Invalid review ID."),
    trash="review",
    required=["product_id", "review", "reviewer", "reviewer_email"],
    orders={
        "date": Review.date_created,
        "date_gmt": Review.date_created,
        "id": Review.id,
        "include": None,
        "product": Review.product_id,
    },
    filters={
        "product": Filter(
            int,
            lambda product: Review.product_id == product,
            "Only reviews of this product.",
            tool="productId",
            first=True,
        ),
        "status": Filter(
            Literal["all", "hold", "approved", "spam", "trash"],
            lambda status: None if status == "all" else Review.status == status,
            "Only reviews of this status; the approved ones by default.",
            usual="approved",
        ),
    },
    statement=select(
        *Review.__table__.c, Product.name.label("product_name"), Product.slug.label("product_slug")
    ).join(Product, Product.id == Review.product_id),
)


class Reviews(Collection):
    """Reviews of products. A record of one is its row with the product's name and slug."""

    resource = REVIEWS

    def _check(self, rows: Sequence[Row], before: Record | None = None) -> None:
        one = _PRODUCT_IDS.where(Product.id == rows[0]["product_id"]) if len(rows) == 1 else _PRODUCT_IDS
        known = {product["id"] for product in self.fetch(one)}
        if any(row["product_id"] not in known for row in rows):
            raise not_found("woocommerce_rest_product_invalid_id", "Invalid product ID.")

    def _follow(self, rows: Sequence[Record]) -> None:
        products = list(dict.fromkeys(row["product_id"] for row in rows))
        few = _RATINGS.where(Review.product_id.in_(products)) if len(products) < _MANY else _RATINGS
        found = {row["product_id"]: (row["n"], row["average"]) for row in self.fetch(few)}
        rated = [(product, *found.get(product, (0, 0))) for product in products]
        ratings = [
            {"b_id": product, "b_n": n, "b_average": f"{average:.2f}"} for product, n, average in rated
        ]
        changed: Row = {"rating_count": bindparam("b_n"), "average_rating": bindparam("b_average")}
        self.change_many(Product, changed, ratings)
