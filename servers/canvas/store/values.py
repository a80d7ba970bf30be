"""Validation of request values, and their conversion to stored form.

The code of a refusal names the attribute and what is wrong with it, as Canvas's API does: ``title.blank``.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import UTC, datetime
from functools import partial
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from mesocosm.errors import Invalid
from mesocosm.services.values import Check

MAX_TITLE = 255
MAX_TEXT = 500_000
MAX_NUMBER = 10**9

_STORED_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_WEB_ADDRESS = re.compile(r"https?://[^\s/]+\S*", re.IGNORECASE)
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_ZONE = re.compile(r"[A-Za-z0-9_+\-]+(/[A-Za-z0-9_+\-]+)*")


def timestamp(moment: datetime) -> str:
    """A moment as the tables keep it."""
    return moment.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"


def stored_time(value: str | datetime | None) -> str | None:
    """A generator's time (ISO text or ``datetime``) as the tables keep it."""
    if value is None or (isinstance(value, str) and _STORED_TIME.fullmatch(value)):
        return value
    return timestamp(value) if isinstance(value, datetime) else moment(value, "time")


def moment(value: str | None, name: str, *, end_of_day: bool = False) -> str | None:
    """A time given as ISO 8601 text; without a zone it is UTC, and an empty text means none.

    ``end_of_day``: a date without a time means its last minute, as for deadlines.
    """
    if value is None or not value.strip():
        return None
    try:
        parsed = datetime.fromisoformat(value.strip())
        if end_of_day and len(value.strip()) == 10:
            parsed = parsed.replace(hour=23, minute=59, second=59)
        return timestamp(parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        example = "2025-01-20T23:59:00Z"
        message = f"Invalid datetime for {name}: {value[:40]!r}. Use ISO 8601, e.g. {example}."
        raise Invalid(message, code=f"{name}.invalid_date") from None


deadline: Check = partial(moment, end_of_day=True)
"""A time by which something is due: a date without one means its last minute."""


def text(value: str, name: str, *, limit: int = MAX_TEXT) -> str:
    """Text that the tables can hold."""
    if "\0" in value:
        raise Invalid(f"{name} must not contain null characters", code=f"{name}.invalid")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Invalid(f"{name} is not valid Unicode text", code=f"{name}.invalid") from None
    if len(value) > limit:
        raise Invalid(f"{name} is too long (maximum is {limit} characters)", code=f"{name}.too_long")
    return value


def filled(value: str, name: str, *, limit: int = MAX_TEXT) -> str:
    """Text that says something."""
    if not value.strip():
        raise Invalid(f"{name} can't be blank", code=f"{name}.blank")
    return text(value, name, limit=limit)


def title(value: str, name: str) -> str:
    """A name or title: one line's worth of text."""
    return filled(value.strip(), name, limit=MAX_TITLE)


def choice(value: str, name: str, allowed: Collection[str]) -> str:
    """One of a few words."""
    if value not in allowed:
        message = f"Invalid {name}: {value[:40]!r}. It must be one of {', '.join(allowed)}."
        raise Invalid(message, code=f"{name}.inclusion")
    return value


def one_of(allowed: Collection[str]) -> Check:
    """A check for one of a few words."""
    return lambda value, name: choice(value, name, allowed)


def some(check: Check) -> Check:
    """Make a check that accepts ``None`` and turns empty values into it."""
    return lambda value, name: None if value is None else check(value, name) or None


def number(value: float, name: str, *, minimum: float = 0) -> float:
    """A real number within bounds."""
    if not minimum <= value <= MAX_NUMBER:
        message = f"{name} must be between {minimum:g} and {MAX_NUMBER}, got {value}."
        raise Invalid(message, code=f"{name}.invalid")
    return float(value)


def whole(value: int, name: str, minimum: int, maximum: int = MAX_NUMBER) -> int:
    """A whole number within bounds."""
    if not minimum <= value <= maximum:
        message = f"{name} must be between {minimum} and {maximum}, got {value}."
        raise Invalid(message, code=f"{name}.invalid")
    return value


def attempts(value: int, name: str) -> int:
    """A number of allowed attempts; -1 stands for any number."""
    if value == 0:
        raise Invalid(f"{name} must be -1 (unlimited) or at least 1.")
    return whole(value, name, -1, 1000)


def web_address(value: str, name: str) -> str:
    """An http(s) address."""
    if not _WEB_ADDRESS.fullmatch(text(value.strip(), name, limit=2000)):
        raise Invalid(f"{name} must be a valid http or https address, got {value[:60]!r}.")
    return value.strip()


def is_email(value: str) -> bool:
    """True if the text has the form of an e-mail address."""
    return bool(_EMAIL.fullmatch(value))


def time_zone(value: str, name: str = "time_zone") -> str:
    try:
        if not _ZONE.fullmatch(value):
            raise ValueError(value)
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise Invalid(f"Invalid {name}: {value[:40]!r}. Use an IANA name, e.g. America/Denver.") from None
    return value
