"""Pages of lists, the way every list of Canvas is paged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, bindparam, func, select

from mesocosm.errors import Invalid
from mesocosm.services.service import Row

PER_PAGE = 10
MAX_PER_PAGE = 100
MAX_PAGE = 10**6


@dataclass(frozen=True)
class Listing:
    """One page of a list."""

    rows: Sequence[Row]
    page: int
    per_page: int
    total: int


class Lister:
    """A statement that is read in pages, with its count."""

    def __init__(self, statement: Select[Any]) -> None:
        self.statement = statement
        self.rows = statement.limit(bindparam("limit")).offset(bindparam("offset"))
        self.total = select(func.count().label("total")).select_from(statement.order_by(None).subquery())


def check_page(page: int, per_page: int) -> None:
    """Refuse a page that cannot be."""
    if not 1 <= page <= MAX_PAGE:
        raise Invalid(f"page must be between 1 and {MAX_PAGE}, got {page}.")
    if not 1 <= per_page <= MAX_PER_PAGE:
        raise Invalid(f"per_page must be between 1 and {MAX_PER_PAGE}, got {per_page}.")
