"""Conversion and validation of what callers write.

A check takes the value and the name by which the caller knows it. ``checked`` applies a table of checks to an
object: fields that only the product writes are passed over, so that an object which was read can be changed
and sent back; unknown ones are refused (for clients of the REST API by the door, which sees the answer).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from typing import Any

from mesocosm.errors import Invalid
from mesocosm.servers.woocommerce.refusals import invalid_parameter
from mesocosm.services.fields import Fields
from mesocosm.services.schema import as_json
from mesocosm.services.values import Check, Checks, Kinds, OneOf

MAX_TEXT = 1_000_000
MAX_NAME = 1_000
MAX_COUNT = 2**31 - 1
MAX_ID = 2**63 - 1
MAX_CENTS = 10**12
"""Largest amount of money, in cents: sums of millions stay within 64 bits."""
_WHOLE = re.compile(r"(-?\d{1,18})(?:\.0+)?", re.ASCII)
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
NOT_KEPT = frozenset(["shipping_class", "post_password", "global_unique_id", "brands", "meta_data"])
"""Fields of the vendor's that some objects here do not keep."""
DEFAULT_PER_PAGE = 10
MAX_PER_PAGE = 100
MAX_LIST = 1_000
FIRST_YEAR, LAST_YEAR = 1900, 2999

_DECIMAL = re.compile(r"\d{1,12}(?:\.\d{1,8})?", re.ASCII)
_SIGNED = re.compile(r"-?\d{1,12}(?:\.\d{1,8})?", re.ASCII)
_DATE = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?(Z|[+-]\d\d(?::?\d\d)?)?)?", re.ASCII
)
_EMAIL = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+")
_FORMAT = "%Y-%m-%dT%H:%M:%S"


# -- times ----------------------------------------------------------------------------------------------


def timestamp(moment: datetime) -> str:
    """A moment as the tables keep it."""
    return moment.astimezone(UTC).strftime(_FORMAT)


def moment(text: str) -> datetime:
    """The moment that the tables keep as ``text``."""
    return datetime.strptime(text, _FORMAT).replace(tzinfo=UTC)


def date(value: Any, name: str) -> str:
    """An ISO 8601 date or time as the tables keep it; a date alone is its midnight."""
    found = _DATE.fullmatch(text(value, name).strip())
    try:
        if not found or not FIRST_YEAR <= int(found[1]) <= LAST_YEAR:
            raise ValueError
        year, month, day, hour, minute, second = (int(part or 0) for part in found.groups()[:6])
        parsed = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
        if found[7] and found[7] != "Z":
            digits = found[7][1:].replace(":", "").ljust(4, "0")
            offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
            parsed = parsed + offset if found[7][0] == "-" else parsed - offset
        return timestamp(parsed)
    except (ValueError, OverflowError):
        raise invalid_parameter(
            name, f"{name} must be a date such as 2025-01-15T09:00:00 or 2025-01-15, got {shown(value)}."
        ) from None


def is_whole_day(value: str) -> bool:
    """True if a date was written without a time."""
    return len(value.strip()) == len("2025-01-15")


def last_moment(value: Any, name: str) -> str | None:
    """A date on which something ends; a day alone ends with its last second."""
    found = optional_date(value, name)
    return found[:10] + "T23:59:59" if found and is_whole_day(value) else found


def optional_date(value: Any, name: str) -> str | None:
    """A date; ``None`` or nothing removes it."""
    return None if value in (None, "") else date(value, name)


# -- money ----------------------------------------------------------------------------------------------


def cents(amount: str | Decimal) -> int:
    """A decimal amount in cents, halves away from zero."""
    return int((Decimal(amount) * 100).quantize(Decimal(1), ROUND_HALF_UP))


def share(amount: int, rate: Decimal) -> int:
    """``rate`` of an amount of cents, halves away from zero."""
    return int((amount * rate).quantize(Decimal(1), ROUND_HALF_UP))


def money(amount: int) -> str:
    """Cents as the product writes an amount."""
    sign, amount = ("-", -amount) if amount < 0 else ("", amount)
    return f"{sign}{amount // 100}.{amount % 100:02d}"


def price(value: Any, name: str) -> str:
    """A price as a merchant enters it; empty for none."""
    entered = text(value, name).strip()
    if entered and not _DECIMAL.fullmatch(entered):
        raise invalid_parameter(name, f"{name} must be a decimal number such as 19.99, got {shown(value)}.")
    return format(Decimal(entered), "f") if entered else ""


def decimal(value: Any, name: str) -> str:
    """A decimal number that is not negative, as text with two decimals or more."""
    entered = price(value, name)
    return format(max(Decimal(entered or 0), Decimal("0.00")) + Decimal("0.00"), "f")


def amount(value: Any, name: str) -> int:
    """A decimal amount, in cents."""
    if isinstance(value, float) or (isinstance(value, int) and not isinstance(value, bool)):
        value = format(Decimal(str(value)), "f") if abs(value) < MAX_CENTS else str(value)
    entered = text(value, name).strip()
    if not _SIGNED.fullmatch(entered):
        raise invalid_parameter(name, f"{name} must be a decimal number such as 19.99, got {shown(value)}.")
    found = cents(entered)
    if abs(found) > MAX_CENTS:
        raise invalid_parameter(name, f"{name} is too large, got {shown(value)}.")
    return found


def positive_amount(value: Any, name: str) -> int:
    """A decimal amount that is not negative, in cents."""
    found = amount(value, name)
    if found < 0:
        raise invalid_parameter(name, f"{name} must not be negative, got {shown(value)}.")
    return found


# -- plain values ---------------------------------------------------------------------------------------


def _wrong(name: str, value: Any, expected: str) -> Invalid:
    return invalid_parameter(name, f"{name} is not {expected}.")


_KINDS = Kinds(
    _wrong,
    {
        "text": "of type string",
        "flag": "of type boolean",
        "whole": "of type integer",
        "object": "of type object",
        "items": "of type array",
    },
)


def object_(value: Any, name: str) -> dict[str, Any]:
    """An object of whatever fields."""
    return _KINDS.object(value, name)


def shown(value: Any) -> str:
    """A caller's value, short enough to repeat to it."""
    written = as_json(value)
    return written if len(written) <= 60 else written[:57] + "..."


def text(value: Any, name: str, limit: int = MAX_TEXT) -> str:
    """Text that can be stored."""
    found = _KINDS.text(value, name)
    if "\0" in found:
        raise invalid_parameter(name, f"{name} must not contain null characters.")
    if len(found) > limit:
        raise invalid_parameter(name, f"{name} must be at most {limit} characters long.")
    return found


def line(value: Any, name: str) -> str:
    """A short text such as a name."""
    return text(value, name, MAX_NAME).strip()


def title(value: Any, name: str) -> str:
    """A short text that must not be blank."""
    found = line(value, name)
    if not found:
        raise invalid_parameter(name, f"{name} must not be empty.")
    return found


@dataclass(frozen=True)
class Readable:
    """A check of what clients of the REST API may also write as text.

    WordPress takes numbers and truth values that are written as text, and passes over fields that it does not
    know, so that clients can send back what they read, with more in it. An agent that calls a tool is better
    served by being told of its mistake.
    """

    check: Check
    read: Callable[[Any], Any]
    """Makes the value of what a client wrote; leaves what it cannot read as it is."""

    def __call__(self, value: Any, name: str) -> Any:
        return self.check(value, name)


def _boolean_in(value: Any) -> Any:
    return _BOOLEANS.get(str(value).lower(), value) if isinstance(value, str | int) else value


def _number_in(value: Any) -> Any:
    found = _WHOLE.fullmatch(value) if isinstance(value, str) else None
    return int(found[1]) if found else value


def _read_by(check: Check, value: Any) -> Any:
    return check.read(value) if isinstance(check, Readable) else value


boolean = Readable(_KINDS.flag, _boolean_in)
"""True or false."""
boolean_or_parent = Readable(lambda value, name: value != "parent" and _KINDS.flag(value, name), _boolean_in)
"""True or false, or the word with which a variation leaves it to its product."""


def whole(lowest: int = -MAX_COUNT, highest: int = MAX_COUNT) -> Check:
    """A check for whole numbers between two bounds."""

    def check(value: Any, name: str) -> int:
        is_whole = isinstance(value, float) and value.is_integer()
        if isinstance(value, bool) or not (isinstance(value, int) or is_whole):
            raise _KINDS.wrong("whole", value, name)
        if not lowest <= value <= highest:
            raise invalid_parameter(
                name, f"{name} must be between {lowest} (inclusive) and {highest} (inclusive)"
            )
        return int(value)

    return Readable(check, _number_in)


def identifier(value: Any, name: str) -> int:
    """An id; models and clients write it as a number or as text."""
    written = isinstance(value, str) and re.fullmatch(r"\d{1,18}", value, re.ASCII)
    found: int = whole(0, MAX_ID)(int(value) if written else value, name)
    return found


def optional(check: Check) -> Check:
    """A check that also takes ``null`` (and nothing), which empties the field."""
    return Readable(
        lambda value, name: None if value in (None, "") else check(value, name), partial(_read_by, check)
    )


def choice(*choices: str) -> Check:
    """A check for one of some words."""

    def check(value: Any, name: str) -> str:
        if not isinstance(value, str) or value not in choices:
            raise _wrong(name, value, f"one of {', '.join(choices)}")
        return value

    return OneOf(choices, check)


def email(value: Any, name: str) -> str:
    """An email address."""
    found = line(value, name)
    if len(found) > 254 or not _EMAIL.fullmatch(found) or ".." in found:
        raise invalid_parameter(name, f"{name} must be a valid email address, got {shown(value)}.")
    return found


def email_or_nothing(value: Any, name: str) -> str:
    """An email address, or empty text."""
    return email(value, name) if value != "" else ""


def url(value: Any, name: str) -> str:
    """A web address."""
    found = line(value, name)
    if not re.fullmatch(r"https?://[^\s/?#<>\"]+\S*", found):
        raise invalid_parameter(name, f"{name} must be a web address (http or https), got {shown(value)}.")
    return found


# -- lists and objects ----------------------------------------------------------------------------------


def listed(check: Check, limit: int = MAX_LIST) -> Check:
    """A check for arrays whose items pass another check."""

    def check_all(value: Any, name: str) -> list[Any]:
        items = _KINDS.items(value, name)
        if len(items) > limit:
            raise invalid_parameter(name, f"{name} must contain at most {limit} items.")
        return [check(item, f"{name}[{index}]") for index, item in enumerate(items)]

    def read(value: Any) -> Any:
        return [_read_by(check, item) for item in value] if isinstance(value, list) else value

    return Readable(check_all, read)


def fields(checks: Checks, ignored: Collection[str] = ()) -> Check:
    """A check for objects with these fields; what is missing stays missing."""

    def check(value: Any, name: str) -> dict[str, Any]:
        return checked(_KINDS.object(value, name), checks, ignored, f"{name}.")

    return check


def checked(
    data: Mapping[str, Any], checks: Checks, ignored: Collection[str] = (), prefix: str = ""
) -> dict[str, Any]:
    """The fields of an object that may be written, each checked.

    Of an object of a request nothing is said about fields that are not known: what nobody looked at is told
    by the door.
    """
    found: dict[str, Any] = {}
    for key in _names(data):
        if key in checks:
            found[key] = field_of(data, key, checks[key], prefix)
        elif key in NOT_KEPT and data[key] not in (None, "", []):
            raise invalid_parameter(prefix + key, f"This shop does not keep {key}.")
        elif key not in ignored and not isinstance(data, Fields):
            raise invalid_parameter(
                prefix + key[:100], f"There is no such field; known: {', '.join(checks)}."
            )
    return found


def field_of(data: Mapping[str, Any], name: str, check: Check, prefix: str = "") -> Any:
    """The checked value of one field; an object of a request may have it as text."""
    value = data[name]
    return check(_read_by(check, value) if isinstance(data, Fields) else value, prefix + name)


def _names(data: Mapping[str, Any]) -> list[str]:
    """The names of the fields. An HTTP request's object must not think that all were taken notice of."""
    return list(dict.keys(data) if isinstance(data, dict) else data)


def anything(value: Any, name: str, depth: int = 0) -> Any:
    """Any JSON value that can be stored and given back."""
    if isinstance(value, str):
        return text(value, name)
    if depth > 20:
        raise invalid_parameter(name, f"{name} is nested too deeply.")
    if isinstance(value, list):
        return [anything(item, name, depth + 1) for item in value]
    if isinstance(value, dict):
        return {text(key, name): anything(item, name, depth + 1) for key, item in value.items()}
    if (isinstance(value, float) and value != value) or value in (float("inf"), float("-inf")):
        raise invalid_parameter(name, f"{name} must be a finite number.")
    return value


_META_FIELDS: Checks = {
    "id": identifier,
    "key": lambda value, name: text(value, name, 255),
    "value": anything,
}


def meta_data(value: Any, name: str) -> list[dict[str, Any]]:
    """Custom fields: each with a key, or the id of one that exists."""
    entries: list[dict[str, Any]] = listed(fields(_META_FIELDS, ("display_key", "display_value")))(
        value, name
    )
    for index, entry in enumerate(entries):
        if not entry.get("key") and not entry.get("id"):
            raise invalid_parameter(f"{name}[{index}].key", "A custom field needs a key.")
    return entries


# -- names ----------------------------------------------------------------------------------------------


def slug_of(name: str) -> str:
    """A name as it stands in a web address."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9_]+", "-", plain.replace("'", "")).strip("-")[:190]


def free_slug(wanted: str, taken: Collection[str]) -> str:
    """Return a unique slug, with ``-2``, ``-3`` and so on if it is taken."""
    slug, number = wanted, 2
    while slug in taken:
        slug, number = f"{wanted}-{number}", number + 1
    return slug


# -- pages ----------------------------------------------------------------------------------------------


def window(page: int | None, per_page: int | None, default: int = DEFAULT_PER_PAGE) -> tuple[int, int]:
    """``(page, per_page)`` within the product's bounds."""
    page, per_page = 1 if page is None else page, default if per_page is None else per_page
    if not 1 <= page <= MAX_COUNT:
        raise invalid_parameter("page", f"page must be between 1 (inclusive) and {MAX_COUNT} (inclusive)")
    if not 1 <= per_page <= MAX_PER_PAGE:
        raise invalid_parameter(
            "per_page", f"per_page must be between 1 (inclusive) and {MAX_PER_PAGE} (inclusive)"
        )
    return page, per_page


def id_list(value: str | None, name: str) -> list[int]:
    """Ids out of a comma-separated text."""
    ids = []
    for part in (value or "").split(","):
        found = part.strip()
        if not found.isascii() or not found.isdecimal() or len(found) > 18:
            raise invalid_parameter(name, f"{name} must be an ID or several with commas, got {shown(value)}.")
        ids.append(int(found))
    return ids


def known_fields(names: Sequence[str], known: Collection[str]) -> list[str]:
    """The names of fields that a caller wants of a result, if they exist."""
    for name in names:
        if name not in known:
            raise Invalid(f"There is no field {shown(name)} here. Fields: {', '.join(known)}.")
    return list(names)
