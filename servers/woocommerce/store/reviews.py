"""Reviews of products."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict

from sqlalchemy import bindparam, delete, func, select, update

from mesocosm.servers.woocommerce.models import Product, Review
from mesocosm.servers.woocommerce.refusals import gone, invalid, missing, not_found
from mesocosm.servers.woocommerce.store.selection import EVERYTHING, Selection, chosen, ordering
from mesocosm.servers.woocommerce.store.shop import Part, Record, Row
from mesocosm.servers.woocommerce.values import (
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
from mesocosm.services.values import Checks

STATUSES = ("approved", "hold", "spam", "trash")

_REVIEW_CHECKS: Checks = {
    "product_id": identifier,
    "reviewer": title,
    "reviewer_email": email,
    "review": text,
    "rating": whole(0, 5),
    "status": choice(*STATUSES),
    "verified": boolean,
    "date_created": date,
}
_WRITABLE = {name: check for name, check in _REVIEW_CHECKS.items() if name != "verified"}
"""What clients may set: whether the reviewer bought the product is for the shop to say."""
_REQUIRED = ("product_id", "review", "reviewer", "reviewer_email")
_ORDERINGS = {
    "date": Review.date_created,
    "date_gmt": Review.date_created,
    "id": Review.id,
    "product": Review.product_id,
}
_PRODUCT_IDS = select(Product.id).where(Product.parent_id == 0)
_REVIEW = (
    select(*Review.__table__.c, Product.name.label("product_name"), Product.slug.label("product_slug"))
    .join(Product, Product.id == Review.product_id)
    .where(Review.id == bindparam("id"))
)
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


class Reviews(Part):
    """Reviews of products."""

    def listed(
        self,
        *,
        product_id: int | None,
        status: str | None,
        page: int | None,
        per_page: int | None,
        selection: Selection = EVERYTHING,
    ) -> tuple[Sequence[Record], int]:
        """One page of the reviews, newest first (the approved unless told else), and their number."""
        self.authorise("view")
        page, per_page = window(page, per_page)
        conditions = [] if status == "all" else [Review.status == (status or "approved")]
        conditions += chosen(Review, selection)
        if product_id is not None:
            conditions.append(Review.product_id == product_id)
        statement = (
            select(
                *Review.__table__.c, Product.name.label("product_name"), Product.slug.label("product_slug")
            )
            .join(Product, Product.id == Review.product_id)
            .where(*conditions)
            .order_by(*ordering(Review, selection, _ORDERINGS, "date_gmt", "desc"))
        )
        rows = self.fetch(statement.limit(per_page).offset((page - 1) * per_page))
        return rows, self.count(Review, *conditions)

    def review(self, review_id: int) -> Record:
        """One review, whatever its status."""
        self.authorise("view")
        return self._review(review_id)

    def _review(self, review_id: int) -> Record:
        rows = self.fetch(_REVIEW, id=review_id)
        if not rows:
            raise not_found("woocommerce_rest_review_invalid_id", "Invalid review ID.")
        return rows[0]

    def create_review(self, data: Mapping[str, Any]) -> Record:
        """A new review; the product's rating follows."""
        self.authorise("create")
        values = checked(data, _WRITABLE)
        if absent := [name for name in _REQUIRED if name not in values]:
            raise missing(*absent)
        self._check_product(values)
        defaults = {"status": "approved", "verified": False, "rating": 0, "date_created": self.today}
        review_id = self.insert_one(Review, defaults | values)
        self._rate([values["product_id"]])
        return self._review(review_id)

    def update_review(self, review_id: int, data: Mapping[str, Any]) -> Record:
        """Change fields of a review; the product's rating follows."""
        self.authorise("edit")
        before = dict(self._review(review_id))
        values = checked(data, _WRITABLE)
        self._check_product(values)
        if values:
            self.run(update(Review).where(Review.id == review_id).values(values))
            after = before | values
            self._rate([before["product_id"], after["product_id"]])
        return self._review(review_id)

    def delete_review(self, review_id: int, *, force: bool) -> Record:
        """Move a review to the trash, or with ``force`` delete it for good; returns it."""
        self.authorise("delete")
        before = self._review(review_id)
        one = Review.id == review_id
        if not force:
            if before["status"] == "trash":
                raise gone("review")
            self.run(update(Review).where(one).values(status="trash"))
        else:
            self.run(delete(Review).where(one))
        self._rate([before["product_id"]])
        return before if force else self._review(review_id)

    def _check_product(self, values: Row) -> None:
        if "product_id" in values and not self.count(
            Product, Product.id == values["product_id"], Product.parent_id == 0
        ):
            raise not_found("woocommerce_rest_product_invalid_id", "Invalid product ID.")

    def _rate(self, product_ids: Sequence[int]) -> None:
        """Let the ratings of some products follow their reviews."""
        rated = self.fetch(_RATINGS.where(Review.product_id.in_(product_ids)))
        found = {row["product_id"]: (row["n"], row["average"]) for row in rated}
        for product_id in dict.fromkeys(product_ids):
            number, average = found.get(product_id, (0, 0))
            values = {"rating_count": number, "average_rating": f"{average:.2f}"}
            self.run(update(Product).where(Product.id == product_id).values(values))

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
