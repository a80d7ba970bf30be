"""Numbers as texts by a format: CAST with FORMAT and FORMAT of GoogleSQL, TO_CHAR and TO_NUMBER of
Snowflake."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal, localcontext

_PRECISION = 700
"""More digits than the largest FLOAT64 has, with those behind its point."""
WIDEST = 10_000
"""Digits and blanks that a format may ask for."""


def number_of(text: str) -> Decimal:
    """A number of DuckDB's, which may be no finite one."""
    return Decimal({"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}.get(text, text))


# -- CAST(x AS STRING FORMAT '999,999.99') of GoogleSQL -----------------------------------------------------

_ELEMENT = re.compile(r"FM|MI|PR|EEEE|RN|V|S|B|[09xX]|[$LlCc]|[.D]|[,G]", re.IGNORECASE)
_ROMAN = (
    *((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL")),
    *((10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")),
)


def is_number_format(pattern: str) -> bool:
    """True if a format is one of numbers rather than dates and times."""
    at = 0
    digits = False
    while at < len(pattern):
        found = _ELEMENT.match(pattern, at)
        if found is None:
            return False
        digits = digits or found[0].upper() in ("0", "9", "X", "RN")
        at = found.end()
    return digits


def cast_format(pattern: str, text: str) -> str:
    elements = [found[0] for found in _ELEMENT.finditer(pattern)]
    upper = [one.upper() for one in elements]
    tight = "FM" in upper
    value = number_of(text)
    with localcontext(prec=_PRECISION):
        if "RN" in upper:
            return _roman(value).strip() if tight else _roman(value).rjust(15)
        if "X" in upper:
            return _hexadecimal(elements, value, tight=tight)
        return _decimal(elements, upper, value, tight=tight)


def _roman(value: Decimal) -> str:
    left = int(value.to_integral_value(ROUND_HALF_UP))
    if not 1 <= left <= 3999:
        return "#" * 15
    made = ""
    for size, letters in _ROMAN:
        made += letters * (left // size)
        left %= size
    return made


def _in_places(elements: Sequence[str], digits: str) -> str:
    """Digits in the places of a format, the last in the last: zeros from its first 0 on, and commas."""
    slots = [one for one in elements if one in ("0", "9", "X")]
    zeros = slots.index("0") if "0" in slots else len(slots)
    padded = digits.rjust(len(slots))
    placed, made = iter(padded[:zeros] + padded[zeros:].replace(" ", "0")), ""
    for one in elements:
        if one in (",", "G"):
            made += "," if made.strip() else " "
        elif one in slots:
            made += next(placed)
    return made


def _hexadecimal(elements: list[str], value: Decimal, *, tight: bool) -> str:
    digits = [one for one in elements if one in "0xX"]
    number = int(value.to_integral_value(ROUND_HALF_UP))
    plain = f"{abs(number):x}"
    if len(plain) > len(digits):
        return "#" * (len(digits) + 1)
    made = ""
    for place, one in enumerate(_in_places([digit.upper() for digit in digits], plain)):
        case = next((other for other in digits[place:] if other in "xX"), "X")
        made += one.upper() if case == "X" else one
    if "S" in [one.upper() for one in elements]:
        made = ("-" if number < 0 else "+") + made
    else:
        made = ("-" if number < 0 else " ") + made
    return made.strip() if tight else made


def _decimal(elements: list[str], upper: list[str], value: Decimal, *, tight: bool) -> str:
    point = next((place for place, one in enumerate(upper) if one in (".", "D")), len(upper))
    shifted = "V" in upper
    if shifted:
        point = len(upper)
        behind = upper[upper.index("V") :].count("9") + upper[upper.index("V") :].count("0")
        value = value.scaleb(behind)
    places = sum(one in ("0", "9") for one in upper[point:])
    scientific = "EEEE" in upper
    sign = "-" if value < 0 else "+"
    exponent = ""
    size = abs(value)
    if scientific and value.is_finite():
        power = size.adjusted() if size else 0
        size = _round(size.scaleb(-power), places)
        if size >= 10:
            size, power = _round(size / 10, places), power + 1
        exponent = f"E{power:+03d}"
    elif value.is_finite():
        size = _round(size, places)
    if not size:
        sign = "+" if value == 0 or not value.is_finite() else sign
    whole, _, fraction = f"{size:f}".partition(".") if value.is_finite() else ("", "", "")
    slots = [one for one in upper[:point] if one in ("0", "9")]
    whole = whole.lstrip("0")
    too_large = len(whole) > len(slots) or not value.is_finite()
    if not whole and not places and slots and "0" not in slots:
        whole = "0"
    made = _in_places(upper[:point], "#" * len(slots) if too_large else whole)
    if point < len(upper):
        made += "." + ("#" * places if too_large else fraction.ljust(places, "0"))
    if "B" in upper and not whole.strip("0") and not too_large:
        made, exponent, sign = " " * len(made), "", " "
    made += exponent
    return _signed(elements, upper, made, sign, tight=tight)


def _round(value: Decimal, places: int) -> Decimal:
    return value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)


def _signed(elements: list[str], upper: list[str], made: str, sign: str, *, tight: bool) -> str:
    money = ""
    for one in elements:
        if one.upper() in ("$", "L"):
            money = "$"
        elif one.upper() == "C":
            money = "USD" if one == "C" else "usd"
    body = made.lstrip(" ")
    width = len(made) + len(money)
    behind = ""
    if "PR" in upper:
        lead, behind = ("<", ">") if sign == "-" else (" ", " ")
        width += 1
    elif "MI" in upper:
        lead, behind = "", "-" if sign == "-" else " "
    elif "S" in upper and upper.index("S") > 0:
        lead, behind = "", sign
    elif "S" in upper:
        lead = sign
        width += 1
    else:
        lead = "-" if sign == "-" else " "
        width += 1
    if tight:
        if "." in body and "E" not in body:
            body = body.rstrip("0").rstrip(".")
        return (lead + money + body).strip() + behind.strip()
    return (lead + money + body).rjust(width) + behind


# -- FORMAT('%05.2f', x) of GoogleSQL -----------------------------------------------------------------------

_SPECIFIER = re.compile(r"%(?P<flags>[-+ #0']*)(?P<width>\d*)(?:\.(?P<precision>\d*))?(?P<kind>[a-zA-Z])")
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UBIGINT")


def printf(specifier: str, text: str, kind: str) -> str:
    """One value by one specifier; ``kind``: its type as DuckDB calls it."""
    found = _SPECIFIER.fullmatch(specifier)
    if found is None:
        raise ValueError(f'Invalid FORMAT string: "{specifier}"')
    flags, letter = found["flags"], found["kind"]
    width = int(found["width"] or 0)
    precision = None if found["precision"] is None else int(found["precision"] or 0)
    if max(width, precision or 0) > WIDEST:
        raise ValueError(f"FORMAT takes widths of up to {WIDEST} here")
    if letter == "s" and kind not in ("VARCHAR", "BLOB"):
        raise ValueError(f"Invalid type for argument to FORMAT; Expected STRING; Got {_named(kind)}")
    if letter in "stT":
        if kind.endswith("]") or kind.startswith("STRUCT"):
            made = _nested(json.loads(text), quoted=letter == "T")
        else:
            made = text if letter != "T" else _literal(text, kind)
        if letter in "tT" and kind == "DOUBLE":
            made = _plain_float(text) if letter == "t" or math.isfinite(float(text)) else made
        elif letter == "t" and kind.startswith("DECIMAL"):
            made = _plain_decimal(text)
        made = made if precision is None else made[:precision]
        return made.ljust(width) if "-" in flags else made.rjust(width)
    if letter in "dioxXu":
        if kind not in _WHOLE and not (letter in "di" and kind.startswith("DECIMAL")):
            raise ValueError(f"Invalid type for argument to FORMAT; Expected INT64; Got {_named(kind)}")
        return _padded(*_integer(int(Decimal(text)), letter, flags, precision), flags, width)
    if letter in "fFeEgGaA":
        if kind != "DOUBLE" and not kind.startswith("DECIMAL") and kind not in _WHOLE:
            raise ValueError(f"Invalid type for argument to FORMAT; Expected FLOAT64; Got {_named(kind)}")
        number = number_of(text) if kind.startswith("DECIMAL") else float(text)
        return _padded(*_fraction(number, letter, flags, precision), flags, width)
    raise ValueError(f'Invalid format specifier character "{letter}" in FORMAT string')


def _nested(value: object, *, quoted: bool) -> str:
    """A value of JSON as %t and %T show arrays and structs."""
    if isinstance(value, list):
        return f"[{', '.join(_nested(one, quoted=quoted) for one in value)}]"
    if isinstance(value, dict):
        return f"({', '.join(_nested(one, quoted=quoted) for one in value.values())})"
    if isinstance(value, str):
        return _literal(value, "VARCHAR") if quoted else value
    return "NULL" if value is None else json.dumps(value)


def _named(kind: str) -> str:
    known = {
        "VARCHAR": "STRING",
        "DOUBLE": "FLOAT64",
        "BOOLEAN": "BOOL",
        "BLOB": "BYTES",
        "TIMESTAMP": "DATETIME",
        "TIMESTAMP WITH TIME ZONE": "TIMESTAMP",
        **dict.fromkeys(_WHOLE, "INT64"),
    }
    return known.get(kind, "NUMERIC" if kind.startswith("DECIMAL") else kind)


def _plain_float(text: str) -> str:
    value = float(text)
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return repr(value)


def _plain_decimal(text: str) -> str:
    plain = text.rstrip("0").rstrip(".") if "." in text else text
    return plain if "." in plain else f"{plain}.0"


def _literal(text: str, kind: str) -> str:
    if kind == "VARCHAR":
        inner = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{inner}"'
    if kind == "BLOB":  # whose text has all that is not plain as \\xNN
        return f'b"{text}"'
    if kind == "DOUBLE":
        value = float(text)
        name = "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
        return repr(value) if math.isfinite(value) else f'CAST("{name}" AS FLOAT64)'
    if kind.startswith("DECIMAL"):
        return f'NUMERIC "{_plain_decimal(text).removesuffix(".0")}"'
    named = {"DATE": "DATE", "TIME": "TIME", "TIMESTAMP": "DATETIME", "TIMESTAMP WITH TIME ZONE": "TIMESTAMP"}
    return f'{named[kind]} "{text}"' if kind in named else text


def _integer(value: int, letter: str, flags: str, precision: int | None) -> tuple[str, str]:
    if letter in "oxXu" and value < 0:
        raise ValueError(f"FORMAT of %{letter} takes no negative number")
    digits = format(abs(value), {"i": "d", "u": "d"}.get(letter, letter))
    lead = "-" if value < 0 else "+" if "+" in flags else " " if " " in flags else ""
    if precision is not None:
        digits = "" if precision == 0 and value == 0 else digits.rjust(precision, "0")
    if "'" in flags:
        step, mark = (4, ":" if letter in "xX" else ",") if letter in "xXo" else (3, ",")
        first = len(digits) % step
        parts = [digits[:first]] if first else []
        digits = mark.join(parts + [digits[at : at + step] for at in range(first, len(digits), step)])
    if "#" in flags and value:
        lead += {"o": "0", "x": "0x", "X": "0X"}.get(letter, "")
    return lead, digits


def _fraction(value: Decimal | float, letter: str, flags: str, precision: int | None) -> tuple[str, str]:
    negative = math.copysign(1, value) < 0 if isinstance(value, float) else value < 0
    lead = "-" if negative else "+" if "+" in flags else " " if " " in flags else ""
    if not math.isfinite(value):
        digits = "nan" if math.isnan(value) else "inf"
        return lead, digits.upper() if letter.isupper() else digits
    shape = ("#" if "#" in flags else "") + ("," if "'" in flags and letter in "fF" else "")
    most = precision if precision is not None else 6
    if letter in "gG":
        most = max(1, most)
    if isinstance(value, Decimal):
        with localcontext(prec=_PRECISION, rounding=ROUND_HALF_UP):
            value = abs(value)
            if letter in "gG":
                value, most = float(value), most
            elif letter in "fF":
                value = _round(value, most)
    digits = format(abs(value), f"{shape}.{most}{letter}")
    mantissa, mark, power = digits.partition("e" if "e" in digits else "E")
    if mark and len(power) == 2:
        digits = f"{mantissa}{mark}{power[0]}0{power[1]}"
    return lead, digits


def _padded(lead: str, digits: str, flags: str, width: int) -> str:
    if "-" in flags:
        return (lead + digits).ljust(width)
    if "0" in flags and "n" not in digits:
        return lead + digits.rjust(width - len(lead), "0")
    return (lead + digits).rjust(width)


# -- TO_CHAR and TO_NUMBER of Snowflake ---------------------------------------------------------------------

_MODEL = re.compile(
    r'FM|FX|MI|E{2,7}|TM9|TME|TM|[09xX]|[SB$%]|[.D]|[,G]|"(?P<text>(?:[^"]|"")*)"|(?P<other>[ :;/=()_-])',
    re.IGNORECASE,
)
_DATES = re.compile(r"YY|MM|MON|DD|DY|HH|SS|FF|AM|PM|TZ", re.IGNORECASE)
_QUOTED = re.compile(r'"[^"]*"')


def is_number_model(pattern: str) -> bool:
    """True if a TO_CHAR format is one of numbers rather than dates and times."""
    plain = _QUOTED.sub("", pattern)
    return re.search("[09X]|TM", plain, re.IGNORECASE) is not None and _DATES.search(plain) is None


def _elements(pattern: str) -> list[str]:
    made, at = [], 0
    while at < len(pattern):
        found = _MODEL.match(pattern, at)
        if found is None:
            raise ValueError(f"Bad output format {pattern[:100]!r}.")
        made.append(found[0])
        at = found.end()
    return made


def to_char(pattern: str, text: str) -> str:
    """A number by a format model of Snowflake."""
    value = number_of(text)
    elements = _elements(pattern)
    with localcontext(prec=_PRECISION):
        if "%" in elements:
            value *= 100
        minimal = next((one for one in elements if one[:2].upper() == "TM"), None)
        made = _minimal(minimal, value) if minimal else _Model(elements, value).shown()
    first = next((place for place, one in enumerate(elements) if not _is_literal(one)), len(elements))
    before = "".join(map(_said, elements[:first]))
    return before + made + "".join(_said(one) for one in elements[first:] if _is_literal(one))


def _is_literal(element: str) -> bool:
    return element[0] in '" :;/=()_-%'


def _said(element: str) -> str:
    if element.startswith('"'):
        return element[1:-1].replace('""', '"')
    return "" if element == "_" else element


def _minimal(element: str, value: Decimal) -> str:
    plain = f"{value:f}" if value.is_finite() else str(value)
    if element.upper() == "TM9" or not value.is_finite():
        return plain
    power = value.adjusted() if value else 0
    mark = "E" if element[0] == "T" else "e"
    scientific = f"{value.scaleb(-power).normalize():f}{mark}{power}" if value else f"0{mark}0"
    return scientific if element.upper() == "TME" or len(scientific) < len(plain) else plain


class _Model:
    """A format model with a place for each digit."""

    def __init__(self, elements: list[str], value: Decimal) -> None:
        self._upper = upper = [one.upper() for one in elements]
        self._value = value
        self._power = next((one for one in elements if re.fullmatch("[Ee]{2,7}", one)), "")
        ends = [place for place, one in enumerate(upper) if one in (".", "D") or one == self._power.upper()]
        self._point = ends[0] if ends and (self._power or upper[ends[0]] in (".", "D")) else len(upper)
        self._has_point = any(one in (".", "D") for one in upper)
        self._slots = [one for one in upper[: self._point] if one in ("0", "9", "X")]
        self._places = [one for one in upper[self._point :] if one in ("0", "9")]
        self._hexadecimal = "X" in upper
        self._small = "x" in elements
        self._signed = any(one in ("S", "MI") for one in upper)

    def shown(self) -> str:
        value, exponent = self._value, ""
        if not value.is_finite():
            digits, fraction, over = "", "", True
        elif self._hexadecimal:
            digits, fraction, over = *self._hexadecimals(), False
        else:
            size = abs(value)
            if self._power:
                power = size.adjusted() - max(0, len(self._slots) - 1) if size else 0
                size = _round(size.scaleb(-power), len(self._places))
                width = len(self._power)
                exponent = self._power[0] + (str(power) if width == 2 else f"{power:+0{width - 1}d}")
            size = _round(size, len(self._places))
            digits, _, fraction = f"{size:f}".partition(".")
            digits, over = digits.lstrip("0"), False
            if not digits and "B" not in self._upper:
                digits = "0" if self._slots else ""
        over = over or len(digits) > len(self._slots)
        whole = _in_places(self._upper[: self._point], "#" * len(self._slots) if over else digits)
        return self._together(whole, self._fraction("#" * len(self._places) if over else fraction) + exponent)

    def _hexadecimals(self) -> tuple[str, str]:
        number = int(self._value.to_integral_value(ROUND_HALF_UP))
        if number < 0:
            number = -number if self._signed else number % 16 ** len(self._slots)
        return format(number, "x" if self._small else "X"), ""

    def _fraction(self, digits: str) -> str:
        if not self._has_point:
            return ""
        kept = max((place + 1 for place, one in enumerate(self._places) if one == "0"), default=0)
        shown = digits.ljust(len(self._places), "0")
        last = max(kept, len(shown.rstrip("0")))
        return "." + shown[:last].ljust(len(self._places))

    def _together(self, whole: str, behind: str) -> str:
        upper, negative = self._upper, self._value < 0
        digits_at = next((place for place, one in enumerate(upper) if one in ("0", "9", "X", ".", "D")), 0)
        floating, fixed, after = "", "", ""
        if not self._signed and not self._hexadecimal:
            floating = "-" if negative else " "
        for place, one in enumerate(upper):
            if one == "S":
                sign = "-" if negative else "+"
                floating, after = (floating + sign, after) if place < digits_at else (floating, sign)
            elif one == "MI":
                sign = "-" if negative else " "
                fixed, after = (sign, after) if place < digits_at else (fixed, sign)
            elif one == "$":
                floating += "$"
        plain = whole.lstrip(" ")
        text = fixed + " " * (len(whole) - len(plain)) + floating + plain + behind + after
        return text.replace(" ", "") if "FM" in upper else text


def from_char(pattern: str, text: str) -> str:
    """TO_NUMBER with a format: the number that a text by it, or by one of several, has."""
    for one in pattern.split("|"):
        found = _read(_elements(one), text.strip())
        if found is not None:
            return found
    raise ValueError(f"Can't parse '{text[:100]}' as number with format '{pattern[:100]}'")


def _read(elements: list[str], plain: str) -> str | None:
    upper = [one.upper() for one in elements]
    if "X" in upper:
        return str(int(plain, 16)) if re.fullmatch("[0-9a-fA-F]+", plain) else None
    sign = ""
    if plain[:1] in ("-", "+"):
        sign, plain = plain[0], plain[1:].lstrip()
    elif plain[-1:] in ("-", "+"):
        if upper[-1] not in ("MI", "S"):
            return None
        sign, plain = plain[-1], plain[:-1].rstrip()
    if "$" in upper and plain.startswith("$"):
        plain = plain[1:]
    if any(one in (",", "G") for one in upper):
        plain = plain.replace(",", "")
    if not re.fullmatch(r"\d*\.?\d*(?:[eE][-+]?\d{1,3})?", plain) or not re.search(r"\d", plain):
        return None
    if not any(one.startswith("TM") for one in upper):
        point = next((place for place, one in enumerate(upper) if one in (".", "D")), len(upper))
        slots = [one for one in upper[:point] if one in ("0", "9")]
        digits = re.split(r"[.eE]", plain)[0]
        needed = len(slots) - slots.index("0") if "0" in slots else 0
        if len(digits.lstrip("0")) > len(slots) or len(digits) < needed:
            return None
    return f"{sign}{Decimal(plain):f}"
