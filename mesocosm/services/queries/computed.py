"""Functions that DuckDB does not have, computed by Python in the process in which it computes.

Numbers come as texts, as DuckDB writes them, so that nothing of a decimal is lost. Each is given a row's
values, none of which is NULL, and says no with ``ValueError`` in the words of the products; ``SAID`` before
them tells them from words of DuckDB's.
"""

from __future__ import annotations

import base64
import decimal
import unicodedata
from collections.abc import Callable
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, localcontext
from functools import wraps
from typing import Literal

from mesocosm.services.queries import numeric_models as models

SAID = "\u2063"
"""Before what the statement, or what is made of it, says itself: by ERROR, or by one of these functions."""
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
    """A decimal with so many digits behind its point, or so many zeros before it."""
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
    if not digits or digits.strip(allowed):
        raise ValueError(f"Bad int64 value: {text}")
    value = sign * int(digits, 16 if hexadecimal else 10)
    if not -(2**63) <= value < 2**63:
        raise ValueError(f"Bad int64 value: {text}")
    return value


def _bool(text: str) -> bool:
    """CAST of a text AS BOOL."""
    if text.lower() not in ("true", "false"):
        raise ValueError(f"Bad bool value: {text}")
    return text.lower() == "true"


def _refused(said: str, value: str) -> float:
    """An error about a value, where one is met."""
    raise ValueError(f"{said}: {value}")


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
            raise ValueError(f"Invalid input to PARSE_NUMERIC: {text}")
        sign, whole = whole[0], whole[1:]
    digits = whole.replace(",", "")
    if not digits.replace(".", "", 1).isdecimal() or not digits.isascii():
        raise ValueError(f"Invalid input to PARSE_NUMERIC: {text}")
    if mark and not exponent.lstrip("+-").isdecimal():
        raise ValueError(f"Invalid input to PARSE_NUMERIC: {text}")
    return f"{sign}{digits}{mark}{exponent}"


def _from_base32(text: str) -> bytes:
    return base64.b32decode(text)


def _to_base32(value: bytes) -> str:
    return base64.b32encode(value).decode()


FUNCTIONS: dict[str, tuple[Callable[..., object], tuple[str, ...], str]] = {
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
    "computed_from_base32": (_from_base32, ("VARCHAR",), "BLOB"),
    "computed_to_base32": (_to_base32, ("BLOB",), "VARCHAR"),
}
"""Name, function, types of its arguments, type of its result."""
PREFIX = "COMPUTED_"
"""As sqlglot writes their names."""


def guarded(function: Callable[..., object]) -> Callable[..., object]:
    """The function, whose refusals are marked as the statement's own."""

    @wraps(function)
    def call(*values: object) -> object:
        try:
            return function(*values)
        except decimal.DecimalException:
            raise ValueError(f"{SAID}Numeric value out of range") from None
        except ValueError as error:
            raise ValueError(f"{SAID}{error}") from None

    return call
