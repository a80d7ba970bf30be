"""Limits of the mail server: sizes, characters, dates and names."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from mesocosm.errors import Invalid

MAX_PAGE_SIZE = 100
MAX_PAGE = 1_000_000_000
MAX_BATCH = 1000
MAX_RECIPIENTS = 100
MAX_MESSAGE_BYTES = 10_240_000
MAX_HEADER_CHARACTERS = 998
MAX_NAME_CHARACTERS = 255

_STORED = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_EMAIL_ID = re.compile(r"[1-9][0-9]{0,17}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\u0085\u2028\u2029]")
_NOT_IN_FILE_NAMES = re.compile(r"[/\\\x00-\x1f\x7f]")


def timestamp(moment: datetime) -> str:
    """A moment as the tables keep it."""
    return moment.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"


def moment(stored: str) -> datetime:
    """A time of the tables as a moment."""
    return datetime.strptime(stored, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)


def stored_date(value: object) -> str:
    """A date given as text (ISO 8601, or as mail headers have it) or as a moment, as the tables keep it."""
    if isinstance(value, datetime) and value.tzinfo:
        return timestamp(value)
    if not isinstance(value, str):
        raise Invalid(f"Invalid date: {value!r}")
    try:
        parsed = datetime.fromisoformat(value) if value[:4].isdigit() else parsedate_to_datetime(value)
        if _STORED.fullmatch(value):
            return value
        return timestamp(parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC))
    except (ValueError, OverflowError, TypeError):
        raise Invalid(f"Invalid date: {value[:60]!r}") from None


def email_key(email_id: str) -> int | None:
    """The key of a row, if the id can name one."""
    return int(email_id) if _EMAIL_ID.fullmatch(email_id) else None


def check_page(page: int, page_size: int) -> None:
    """Refuse a page that cannot be."""
    if not 1 <= page <= MAX_PAGE:
        raise Invalid(f"page must be 1 or more, got {page}.")
    if not 1 <= page_size <= MAX_PAGE_SIZE:
        raise Invalid(f"page_size must be between 1 and {MAX_PAGE_SIZE}, got {page_size}.")


def text(what: str, value: object) -> str:
    """Text that a message can carry."""
    if not isinstance(value, str):
        raise Invalid(f"{what} must be text.")
    if len(value) > MAX_MESSAGE_BYTES:
        raise Invalid(f"{what} is too long (max {MAX_MESSAGE_BYTES:,} characters).")
    if "\0" in value:
        raise Invalid(f"{what} must not contain null characters.")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise Invalid(f"{what} is not valid Unicode text.") from None
    return value


def line(what: str, value: object, limit: int = MAX_HEADER_CHARACTERS) -> str:
    """Text that fits in one line of a header."""
    value = text(what, value)
    if _CONTROL.search(value):
        raise Invalid(f"{what} must be a single line without control characters.")
    if len(value) > limit:
        raise Invalid(f"{what} is too long (max {limit} characters).")
    return value


def name(what: str, value: object) -> str:
    """A name that is neither empty nor padded."""
    value = line(what, value, MAX_NAME_CHARACTERS)
    if not value or value != value.strip():
        raise Invalid(f"{what} cannot be empty, or begin or end with a blank.")
    return value


def file_name(value: object) -> str:
    """A name under which an attachment can be saved."""
    value = line("Attachment name", value, MAX_NAME_CHARACTERS)
    if not value.strip(". ") or _NOT_IN_FILE_NAMES.search(value) or len(value.encode()) > MAX_NAME_CHARACTERS:
        raise Invalid(f"Not a usable attachment name: {value!r}")
    return value
