"""Conversion and validation of what callers write."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from mesocosm.errors import Conflict, Invalid, NotFound
from mesocosm.services.service import Row
from mesocosm.services.values import Checks

# Refusals that the product answers with HTTP statuses of its own.


class Unprocessable(Invalid):
    """The arguments are well-formed but cannot be acted on (GitHub's "Validation Failed")."""

    status = 422


class NotMergeable(Conflict):
    """The pull request cannot be merged as it is."""

    status = 405


PER_PAGE = 30
MAX_PER_PAGE = 100
MAX_NUMBER = 2**63 - 1
MAX_TITLE = 256
MAX_BODY = 65_536

_DATE = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?", re.ASCII
)


def timestamp(moment: datetime) -> str:
    """A moment as the tables keep it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def moment(text: str) -> datetime:
    """The moment that the tables keep as ``text``."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)


def parse_time(text: str, what: str, *, end: bool = False) -> str:
    """An ISO-8601 date or time as the tables keep it; a date alone means its first second, or its last."""
    found = _DATE.fullmatch(text.strip())
    try:
        if not found:
            raise ValueError
        year, month, day, hour, minute, second = (int(part or 0) for part in found.groups()[:6])
        parsed = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
        if found[4] is None:
            parsed += timedelta(days=1, seconds=-1) if end else timedelta()
        elif found[7] and found[7] != "Z":
            sign = -1 if found[7][0] == "-" else 1
            digits = found[7][1:].replace(":", "")
            parsed -= sign * timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
        return timestamp(parsed)
    except (ValueError, OverflowError):
        raise Unprocessable(
            f"{what} must be an ISO 8601 timestamp such as 2025-01-15T09:00:00Z or 2025-01-15, got {text!r}."
        ) from None


def clean(text: str, what: str, *, limit: int | None = None, blank: bool = True) -> str:
    """Text that may be stored; null characters, and blank text unless allowed, are refused."""
    if "\0" in text:
        raise Unprocessable(f"Validation Failed: {what} must not contain null characters.")
    if not blank and not text.strip():
        raise Unprocessable(f"Validation Failed: {what} can't be blank.")
    if limit is not None and len(text) > limit:
        raise Unprocessable(f"Validation Failed: {what} is too long (maximum is {limit} characters).")
    return text


def issue_title(text: str, what: str = "title") -> str:
    """The title of an issue, a pull request or a milestone."""
    return clean(text, what, limit=MAX_TITLE, blank=False).strip()


def issue_body(text: str, what: str = "body") -> str:
    """Validate the body of an issue or pull request."""
    return clean(text, what, limit=MAX_BODY)


def comment_body(text: str, what: str = "body") -> str:
    """Validate the body of a comment."""
    return clean(text, what, limit=MAX_BODY, blank=False)


ISSUE: Checks = {"title": issue_title, "body": issue_body}
"""Checks of an issue's or pull request's fields."""


def known(number: int) -> int:
    """A number that may be looked up: one that could belong to something."""
    if not 1 <= number <= MAX_NUMBER:
        raise NotFound("Not Found")
    return number


def window(page: int | None, per_page: int | None) -> tuple[int, int]:
    """``(limit, offset)`` of a page of a list."""
    page, per_page = page if page is not None else 1, per_page if per_page is not None else PER_PAGE
    if not 1 <= page <= 1_000_000_000:
        raise Invalid(f"page must be between 1 and 1000000000, got {page}.")
    if not 1 <= per_page <= MAX_PER_PAGE:
        raise Invalid(f"perPage must be between 1 and {MAX_PER_PAGE}, got {per_page}.")
    return per_page, (page - 1) * per_page


def pages(read: Callable[[int], tuple[Sequence[Row], int]]) -> Iterator[Sequence[Row]]:
    """All pages of a list of which ``read`` gives one of 100 rows."""
    page, total = 1, 1
    while (page - 1) * 100 < total:
        rows, total = read(page)
        yield rows
        page += 1


def ordered(direction: str | None, *columns: Any) -> list[Any]:
    """Columns to order by, all in one direction (``asc`` unless it says ``desc``)."""
    return [column.desc() if direction == "desc" else column for column in columns]


def cursor(values: Sequence[Any]) -> str:
    """An opaque position in a list."""
    return base64.urlsafe_b64encode(b"cursor:v2:" + orjson.dumps(list(values))).decode()


def parse_cursor(text: str, kinds: Sequence[type]) -> list[Any]:
    """The position that ``cursor`` made, holding values of these types."""
    try:
        data = base64.urlsafe_b64decode(text.encode("ascii"))
        values = orjson.loads(data.removeprefix(b"cursor:v2:")) if data.startswith(b"cursor:v2:") else None
    except (ValueError, binascii.Error):
        values = None
    if not isinstance(values, list) or len(values) != len(kinds):
        raise Invalid(f"`{text}` does not appear to be a valid cursor.")
    for value, kind in zip(values, kinds, strict=True):
        if type(value) is not kind or (isinstance(value, int) and abs(value) > MAX_NUMBER):
            raise Invalid(f"`{text}` does not appear to be a valid cursor.")
    return values
