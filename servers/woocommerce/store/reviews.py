"""Reviews of products."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypedDict

from sqlalchemy import bindparam, func, select

from mesocosm.servers.woocommerce.models import Product, Review
from mesocosm.servers.woocommerce.store.refusals import invalid
from mesocosm.servers.woocommerce.store.shop import Record, Row, Shop
from mesocosm.servers.woocommerce.store.values import (
    Check,
    boolean,
    checked,
    choice,
    date,
    email,
    identifier,
    text,
    title,
    whole,
    window,
)

STATUSES = ("approved", "hold", "spam", "trash")

_REVIEW_CHECKS: Mapping[str, Check] = {
    "product_id": identifier,
    "reviewer": title,
    "reviewer_email": email,
    "review": text,
    "rating": whole(0, 5),
    "status": choice(*STATUSES),
    "verified": boolean,
    "date_created": date,
}
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


class NewReview(TypedDict, total=False):
    """A review for ``add_reviews``."""

    product_id: int
    reviewer: str
    reviewer_email: str
    review: str
    rating: int
    status: str
    verified: bool
    date_created: str


class Reviews(Shop):
    """Reviews of products."""

    def reviews(
        self, *, product_id: int | None, status: str | None, page: int | None, per_page: int | None
    ) -> tuple[Sequence[Record], int]:
        """One page of the reviews, newest first (the approved unless told else), and their number."""
        self.authorise("view")
        page, per_page = window(page, per_page)
        conditions = [] if status == "all" else [Review.status == (status or "approved")]
        if product_id is not None:
            conditions.append(Review.product_id == product_id)
        statement = (
            select(
                *Review.__table__.c, Product.name.label("product_name"), Product.slug.label("product_slug")
            )
            .join(Product, Product.id == Review.product_id)
            .where(*conditions)
            .order_by(Review.date_created.desc(), Review.id.desc())
        )
        rows = self.fetch(statement.limit(per_page).offset((page - 1) * per_page))
        return rows, self.count(Review, *conditions)

    def add_reviews(self, reviews: Iterable[NewReview]) -> None:
        """Many reviews at once; the products' ratings follow."""
        defaults = {"status": "approved", "verified": False, "rating": 0, "date_created": self.today}
        rows = [defaults | checked(review, _REVIEW_CHECKS) for review in reviews]
        known = {row["id"] for row in self.fetch(_PRODUCT_IDS)}
        for row in rows:
            if row.get("product_id") not in known:
                raise invalid("woocommerce_rest_product_invalid_id", "Invalid product ID.")
        self.add(Review, rows)
        ratings = [
            {"b_id": row["product_id"], "b_n": row["n"], "b_average": f"{row['average']:.2f}"}
            for row in self.fetch(_RATINGS)
        ]
        changed: Row = {"rating_count": bindparam("b_n"), "average_rating": bindparam("b_average")}
        self.change_many(Product, changed, ratings)
