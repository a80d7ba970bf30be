"""Functions that DuckDB does not have, computed by Python in the process in which it computes.

Numbers come as texts, as DuckDB writes them, so that nothing of a decimal is lost. Each is given a row's
values, none of which is NULL, and says no with ``ValueError`` in the words of the products; ``SAID`` before
them tells them from words of DuckDB's.
"""

from __future__ import annotations

import base64
import decimal
import json
import re
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, localcontext
from functools import wraps
from typing import Any, Literal

from mesocosm.services.patterns import BadPattern, Pattern
from mesocosm.services.queries import byte_functions, google_types, json_changes
from mesocosm.services.queries import numeric_models as models

SAID = "\u2063"
"""Before what the statement, or what is made of it, says itself: by ERROR, or by one of these functions."""
_LONGEST = 19
"""Digits of a number of 64 bits."""
_DIGITS = 120
"""Of what is computed on the way: twice what the widest decimal has, and some."""


def _divide(a: str, b: str, scale: int) -> str:
    """A quotient of two decimals, rounded half away from zero."""
    with localcontext(prec=_DIGITS):
        return _scaled(Decimal(a) / Decimal(b), scale)


def _multiply(a: str, b: str, scale: int) -> str:
    with localcontext(prec=_DIGITS):
        return _scaled(Decimal(a) * Decimal(b), scale)


def _scaled(value: Decimal, scale: int, rounding: str = ROUND_HALF_UP) -> str:
    return f"{value.quantize(Decimal(1).scaleb(-scale), rounding):f}"


def _rounded(value: str, scale: int, how: str) -> str:
    """Format a decimal with ``scale`` digits after the point, or zeros before it if negative."""
    rounding = {"even": ROUND_HALF_EVEN, "down": ROUND_DOWN}.get(how, ROUND_HALF_UP)
    with localcontext(prec=_DIGITS):
        return _scaled(Decimal(value), scale, rounding)


def _whole(text: str) -> int:
    """CAST of a text AS INT64: digits, of ten or of sixteen sorts."""
    plain = text.strip()
    sign = -1 if plain.startswith("-") else 1
    digits = plain[1:] if plain.startswith(("-", "+")) else plain
    hexadecimal = digits[:2] in ("0x", "0X")
    allowed = "0123456789abcdefABCDEF" if hexadecimal else "0123456789"
    digits = digits[2:] if hexadecimal else digits
    if not digits or digits.strip(allowed) or len(digits.lstrip("0")) > _LONGEST:
        raise ValueError(f"Bad int64 value: {text[:100]}")
    value = sign * int(digits, 16 if hexadecimal else 10)
    if not -(2**63) <= value < 2**63:
        raise ValueError(f"Bad int64 value: {text[:100]}")
    return value


def _bool(text: str) -> bool:
    """CAST of a text AS BOOL."""
    if text.lower() not in ("true", "false"):
        raise ValueError(f"Bad bool value: {text[:100]}")
    return text.lower() == "true"


def _refused(said: str, value: str) -> float:
    """An error about a value, where one is met."""
    raise ValueError(f"{said}: {value[:100]}")


def _normalized(text: str, form: Literal["NFC", "NFD", "NFKC", "NFKD"], fold: bool) -> str:
    made = unicodedata.normalize(form, text)
    return unicodedata.normalize(form, made.casefold()) if fold else made


def _parsed(text: str) -> str:
    """PARSE_NUMERIC: signs before or behind, blanks and commas anywhere between the digits."""
    plain = "".join(text.split())
    whole, mark, exponent = plain.partition("e" if "e" in plain else "E")
    sign = ""
    for last in ("-", "+"):
        if (exponent if mark else whole).endswith(last):
            exponent, whole = (exponent[:-1], whole) if mark else (exponent, whole[:-1])
            sign = last
            break
    if whole.startswith(("-", "+")):
        if sign:
            raise ValueError(f"Invalid input to PARSE_NUMERIC: {text[:100]}")
        sign, whole = whole[0], whole[1:]
    digits = whole.replace(",", "")
    if not digits.replace(".", "", 1).isdecimal() or not digits.isascii():
        raise ValueError(f"Invalid input to PARSE_NUMERIC: {text[:100]}")
    if mark and not exponent.lstrip("+-").isdecimal():
        raise ValueError(f"Invalid input to PARSE_NUMERIC: {text[:100]}")
    return f"{sign}{digits}{mark}{exponent}"


def _groups(pattern: str) -> int:
    """The capturing group that a function of BigQuery extracts: 1, or 0 for the whole match."""
    try:
        groups = Pattern(pattern, bounded=False, longest=len(pattern)).groups
    except BadPattern as error:
        raise ValueError(f"Cannot parse regular expression: {str(error)[:200]}") from None
    if groups > 1:
        raise ValueError(
            "Regular expressions passed into extraction functions must not have more than 1 capturing group"
        )
    return groups


def _from_base32(text: str) -> bytes:
    return base64.b32decode(text)


def _to_base32(value: bytes) -> str:
    return base64.b32encode(value).decode()


_DAYS = ("%d-%b-%Y", "%d-%B-%Y", "%m/%d/%Y")
"""Snowflake's automatic date formats besides ISO 8601."""


def _moment(text: str) -> datetime:
    """CAST of a text AS TIMESTAMP in Snowflake: a day in one of several forms, perhaps with a time; or a
    number of seconds, thousandths or millionths since 1970, which its size tells apart."""
    plain = text.strip()
    if re.fullmatch(r"-?\d+", plain):
        number = int(plain)
        unit = next((one for one in (1, 10**3, 10**6, 10**9) if abs(number) < 31536000000 * one), None)
        if unit is not None:
            return datetime(1970, 1, 1) + timedelta(microseconds=number * 10**6 // unit)  # noqa: DTZ001
    day, _, clock = plain.partition(" ")
    for form in _DAYS:
        with suppress(ValueError):
            made = datetime.strptime(day, form)  # noqa: DTZ007
            return datetime.combine(made, time.fromisoformat(clock)) if clock else made
    raise ValueError(f"Timestamp '{text[:100]}' is not recognized")


def _day(text: str) -> date:
    try:
        return _moment(text).date()
    except (ValueError, OverflowError):
        raise ValueError(f"Date '{text[:100]}' is not recognized") from None


# -- arrays and objects of Snowflake, as JSON ---------------------------------------------------------------


def _array(text: str) -> list[Any]:
    found = json.loads(text)
    return found if isinstance(found, list) else [found]


def _is_same(one: object, other: object) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _array_compact(array: str) -> str:
    return json.dumps([one for one in _array(array) if one is not None])


def _array_distinct(array: str) -> str:
    made: list[Any] = []
    for one in _array(array):
        if not any(_is_same(one, other) for other in made):
            made.append(one)
    return json.dumps(made)


def _array_except(array: str, others: str) -> str:
    left = _array(others)
    made = []
    for one in _array(array):
        place = next((place for place, other in enumerate(left) if _is_same(one, other)), None)
        if place is None:
            made.append(one)
        else:
            del left[place]
    return json.dumps(made)


def _array_insert(array: str, place: int, value: str) -> str:
    made = _array(array)
    place = place + len(made) if place < 0 else place
    if not 0 <= place <= 1_000_000:
        raise ValueError(f"Invalid array index {place}")
    made += [None] * (place - len(made))
    made.insert(place, json.loads(value))
    return json.dumps(made)


def _array_remove(array: str, value: str) -> str:
    gone = json.loads(value)
    return json.dumps([one for one in _array(array) if not _is_same(one, gone)])


def _array_remove_at(array: str, place: int) -> str:
    made = _array(array)
    if -len(made) <= place < len(made):
        del made[place]
    return json.dumps(made)


def _array_most(array: str, which: str) -> str:
    values = [one for one in _array(array) if one is not None]
    try:
        return json.dumps((max if which == "max" else min)(values) if values else None)
    except TypeError:
        raise ValueError("Array elements of several types cannot be compared") from None


def _strtok(text: str, marks: str) -> str:
    pieces = re.split(f"[{re.escape(marks)}]+", text) if marks else [text]
    return json.dumps([one for one in pieces if one])


def _object_without(value: str, keys: str) -> str:
    gone = set(json.loads(keys))
    return json.dumps({name: one for name, one in json.loads(value).items() if name not in gone})


def _object_pick(value: str, keys: str) -> str:
    whole = json.loads(value)
    return json.dumps({name: whole[name] for name in json.loads(keys) if name in whole})


def _member(value: str, name: str) -> str | None:
    whole = json.loads(value)
    if not isinstance(whole, dict):
        return None
    found = next((key for key in whole if key == name), None)
    found = found or next((key for key in whole if key.lower() == name.lower()), None)
    return None if found is None else json.dumps(whole[found])


FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[str, ...], str]] = {
    "computed_divide": (_divide, ("VARCHAR", "VARCHAR", "INTEGER"), "VARCHAR"),
    "computed_multiply": (_multiply, ("VARCHAR", "VARCHAR", "INTEGER"), "VARCHAR"),
    "computed_round": (_rounded, ("VARCHAR", "INTEGER", "VARCHAR"), "VARCHAR"),
    "computed_number": (_parsed, ("VARCHAR",), "VARCHAR"),
    "computed_cast_format": (models.cast_format, ("VARCHAR", "VARCHAR"), "VARCHAR"),
    "computed_whole": (_whole, ("VARCHAR",), "BIGINT"),
    "computed_bool": (_bool, ("VARCHAR",), "BOOLEAN"),
    "computed_normalize": (_normalized, ("VARCHAR", "VARCHAR", "BOOLEAN"), "VARCHAR"),
    "computed_refused": (_refused, ("VARCHAR", "VARCHAR"), "DOUBLE"),
    "computed_printf": (models.printf, ("VARCHAR", "VARCHAR", "VARCHAR"), "VARCHAR"),
    "computed_to_char": (models.to_char, ("VARCHAR", "VARCHAR"), "VARCHAR"),
    "computed_from_char": (models.from_char, ("VARCHAR", "VARCHAR"), "VARCHAR"),
    "computed_day": (_day, ("VARCHAR",), "DATE"),
    "computed_moment": (_moment, ("VARCHAR",), "TIMESTAMP"),
    "computed_array_compact": (_array_compact, ("VARCHAR",), "VARCHAR"),
    "computed_array_distinct": (_array_distinct, ("VARCHAR",), "VARCHAR"),
    "computed_array_except": (_array_except, ("VARCHAR", "VARCHAR"), "VARCHAR"),
    "computed_array_insert": (_array_insert, ("VARCHAR", "BIGINT", "VARCHAR"), "VARCHAR"),
    "computed_array_remove": (_array_remove, ("VARCHAR", "VARCHAR"), "VARCHAR"),
    "computed_array_remove_at": (_array_remove_at, ("VARCHAR", "BIGINT"), "VARCHAR"),
    "computed_array_most": (_array_most, ("VARCHAR", "VARCHAR"), "VARCHAR"),
    "computed_strtok": (_strtok, ("VARCHAR", "VARCHAR"), "VARCHAR"),
    "computed_object_without": (_object_without, ("VARCHAR", "VARCHAR"), "VARCHAR"),
    "computed_object_pick": (_object_pick, ("VARCHAR", "VARCHAR"), "VARCHAR"),
    "computed_member": (_member, ("VARCHAR", "VARCHAR"), "VARCHAR"),
    "computed_json": (json_changes.change, ("VARCHAR", "VARCHAR", "VARCHAR", "BOOLEAN"), "VARCHAR"),
    "computed_values": (json_changes.values, ("VARCHAR", "VARCHAR", "BOOLEAN"), "VARCHAR[]"),
    "computed_scalars": (json_changes.scalars, ("VARCHAR", "VARCHAR"), "VARCHAR[]"),
    "computed_type_of": (google_types.named, ("VARCHAR",), "VARCHAR"),
    "computed_groups": (_groups, ("VARCHAR",), "INTEGER"),
    "computed_from_base32": (_from_base32, ("VARCHAR",), "BLOB"),
    "computed_to_base32": (_to_base32, ("BLOB",), "VARCHAR"),
    **byte_functions.FUNCTIONS,
}
"""Name, function, types of its arguments, type of its result."""
PREFIX = "COMPUTED_"
"""As sqlglot writes their names."""


def guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, of NULL as NULL, and whose refusals are marked as the statement's own."""

    @wraps(function)
    def call(*values: object) -> Any:
        if None in values:
            return None
        try:
            return function(*values)
        except decimal.DecimalException:
            raise ValueError(f"{SAID}Numeric value out of range") from None
        except ValueError as error:
            raise ValueError(f"{SAID}{error}") from None

    return call
