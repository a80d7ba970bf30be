"""Display of a value under a number format: the vendor's patterns for numbers, dates and times."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from functools import lru_cache

from mesocosm.servers.google_sheet.store.cell_input import moment_of

DEFAULT_PATTERNS = {
    "NUMBER": "#,##0.00",
    "PERCENT": "0.00%",
    "CURRENCY": "$#,##0.00",
    "DATE": "yyyy-mm-dd",
    "TIME": "h:mm:ss AM/PM",
    "DATE_TIME": "yyyy-mm-dd h:mm:ss",
    "SCIENTIFIC": "0.00E+00",
    "TEXT": "@",
}
"""The pattern of a format that names its type only."""
DATES = ("DATE", "TIME", "DATE_TIME")
_TOKEN = re.compile(
    r'"(?P<text>[^"]*)"|\\(?P<mark>.)|\[(?P<bracket>[^\]]*)\]|_(?P<space>.)|\*(?P<fill>.)'
    r"|(?P<half>AM/PM|am/pm|A/P|a/p)|(?P<power>[Ee][+-]0+)"
    r"|(?P<date>[Yy]+|[Mm]+|[Dd]+|[Hh]+|[Ss]+(?:\.0+)?)|(?P<digits>[0#?,.]+(?:/[0#?\d]+)?)|(?P<other>.)",
    re.DOTALL,
)
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def general(value: float) -> str:
    """A number without a format: ten digits that count, as the vendor shows in a cell."""
    if value == 0:
        return "0"
    if value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    text = f"{value:.10g}"
    if "e" in text:
        mantissa, _, power = text.partition("e")
        if -10 < int(power) < 0:
            return f"{value:.{10 - int(power)}f}".rstrip("0").rstrip(".")
        sign = "-" if power.startswith("-") else "+"
        return f"{mantissa}E{sign}{power.lstrip('+-').lstrip('0').zfill(2)}"
    return text


def rendered(value: float | str | bool | None, pattern: str = "") -> str:
    """A value as its cell shows it; an empty pattern is the automatic format."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if not pattern or pattern.lower() in ("general", "@"):
        return value if isinstance(value, str) else general(value)
    sections = _sections(pattern)
    if isinstance(value, str):
        return _with_text(sections[3], value) if len(sections) > 3 else value
    section, shown = sections[0], value
    if len(sections) > 1 and value < 0:
        section, shown = sections[1], -value
    elif len(sections) > 2 and value == 0:
        section = sections[2]
    return _shown(section, shown)


@lru_cache(maxsize=1024)
def _sections(pattern: str) -> tuple[tuple[tuple[str, str], ...], ...]:
    sections: list[list[tuple[str, str]]] = [[]]
    for found in _TOKEN.finditer(pattern):
        kind = str(found.lastgroup)
        if kind == "other" and found[0] == ";":
            sections.append([])
        else:
            sections[-1].append((kind, found[kind]))
    return tuple(_resolved(section) for section in sections)


def _resolved(section: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The tokens of a section, with minutes told from months."""
    resolved: list[tuple[str, str]] = []
    before = ""
    for at, (kind, value) in enumerate(section):
        if kind == "bracket" and re.fullmatch(r"[hH]+|[mM]+|[sS]+", value):
            kind, value = "elapsed", value.lower()
            before = value[0]
        elif kind == "date":
            value = value.lower()
            following = next((v.lower() for k, v in section[at + 1 :] if k == "date"), "")
            if value[0] == "m" and len(value) < 3 and (before == "h" or following.startswith("s")):
                kind, value = "minute", value
            before = value[0]
        resolved.append((kind, value))
    return tuple(resolved)


def _shown(section: tuple[tuple[str, str], ...], value: float) -> str:
    kinds = {kind for kind, _ in section}
    if kinds & {"date", "minute", "elapsed"}:
        return _moment(section, value)
    if "digits" in kinds:
        return _number(section, value)
    text = _literals(section, {})
    return general(value) if any(kind == "bracket" for kind in kinds) and not text else text


def _literals(section: tuple[tuple[str, str], ...], numbers: dict[int, str]) -> str:
    parts = []
    for at, (kind, value) in enumerate(section):
        if kind in ("text", "mark", "other"):
            parts.append(value)
        elif kind == "space":
            parts.append(" ")
        elif kind == "bracket" and value.startswith("$"):
            parts.append(value[1:].partition("-")[0])
        elif at in numbers:
            parts.append(numbers[at])
    return "".join(parts)


def _with_text(section: tuple[tuple[str, str], ...], text: str) -> str:
    return "".join(
        text if (kind, value) == ("other", "@") else value for kind, value in section if kind != "bracket"
    )


def _number(section: tuple[tuple[str, str], ...], value: float) -> str:
    places = [at for at, (kind, _) in enumerate(section) if kind == "digits"]
    first = places[0]
    digits = section[first][1]
    percent = sum(value_.count("%") for kind, value_ in section if kind == "other")
    power = next((at for at, (kind, _) in enumerate(section) if kind == "power"), None)
    value *= 100**percent
    numbers = dict.fromkeys(places, "")
    sign = "-" if value < 0 else ""
    if "/" in digits:
        numbers[first] = _fraction(digits, abs(value))
    elif len(places) > 1 and "/" in section[places[1]][1]:
        whole = int(abs(value))
        numbers[first] = str(whole) if whole else ""
        numbers[places[1]] = _fraction(section[places[1]][1], abs(value) - whole)
    elif power is not None:
        mantissa, exponent = _scientific(digits, abs(value))
        sample = section[power][1]
        mark = "-" if exponent < 0 else "+" if "+" in sample else ""
        numbers[first] = mantissa
        numbers[power] = f"E{mark}{str(abs(exponent)).zfill(len(sample) - 2)}"
    else:
        numbers[first] = _decimal(digits, abs(value))
        if not any(d in "123456789" for d in numbers[first]):
            sign = ""
    return sign + _literals(section, numbers)


def _decimal(digits: str, value: float) -> str:
    body = digits.rstrip(",")
    thousands = len(digits) - len(body)
    whole_mask, _, part_mask = body.partition(".")
    grouped = "," in whole_mask
    whole_mask, part_mask = whole_mask.replace(",", ""), part_mask.replace(",", "")
    number = Decimal(repr(value)) / (1000**thousands)
    number = (
        number.quantize(Decimal(1).scaleb(-len(part_mask)), ROUND_HALF_UP)
        if number < Decimal(10) ** 20
        else number
    )
    whole, _, part = f"{number:f}".partition(".")
    whole = "" if whole == "0" else whole
    whole = whole.zfill(whole_mask.count("0"))
    if grouped and whole:
        whole = re.sub(r"(?<=\d)(?=(?:\d{3})+$)", ",", whole)
    least = len(part_mask.rstrip("#?"))
    while len(part) > least and part.endswith("0"):
        part = part[:-1]
    return whole + ("." + part if part or "." in body else "")


def _scientific(digits: str, value: float) -> tuple[str, int]:
    decimals = len(digits.partition(".")[2])
    mantissa, _, exponent = f"{value:.{decimals}e}".partition("e")
    return mantissa, int(exponent)


def _fraction(mask: str, value: float) -> str:
    below = mask.partition("/")[2]
    most = int(below) if below.isdecimal() and int(below) else 10 ** len(below) - 1
    if below.isdecimal() and int(below):
        return f"{round(value * most)}/{most}"
    fraction = Fraction(value).limit_denominator(most)
    return f"{fraction.numerator}/{fraction.denominator}"


def _moment(section: tuple[tuple[str, str], ...], value: float) -> str:
    moment = moment_of(value)
    if moment is None or value < 0:
        return general(value)
    has_half = any(kind == "half" for kind, _ in section)
    parts = []
    for kind, text in section:
        if kind == "date":
            letter, length = text[0], len(text)
            if letter == "y":
                parts.append(f"{moment.year:04d}" if length > 2 else f"{moment.year % 100:02d}")
            elif letter == "m":
                name = _MONTHS[moment.month - 1]
                parts.append(
                    (str(moment.month), f"{moment.month:02d}", name[:3], name, name[0])[min(length, 5) - 1]
                )
            elif letter == "d":
                name = _DAYS[moment.weekday()]
                parts.append((str(moment.day), f"{moment.day:02d}", name[:3], name)[min(length, 4) - 1])
            elif letter == "h":
                hour = (moment.hour % 12 or 12) if has_half else moment.hour
                parts.append(f"{hour:02d}" if length > 1 else str(hour))
            else:
                whole, dot, part = text.partition(".")
                seconds = f"{moment.second:02d}" if len(whole) > 1 else str(moment.second)
                parts.append(
                    seconds + (dot + f"{moment.microsecond // 1000:03d}"[: len(part)] if dot else "")
                )
        elif kind == "minute":
            parts.append(f"{moment.minute:02d}" if len(text) > 1 else str(moment.minute))
        elif kind == "elapsed":
            seconds_in = {"h": 3600, "m": 60, "s": 1}[text[0]]
            parts.append(str(round(value * 86_400) // seconds_in).zfill(len(text)))
        elif kind == "half":
            mark = "PM" if moment.hour >= 12 else "AM"
            mark = mark if len(text) > 1 and "/" in text and len(text) > 3 else mark[0]
            parts.append(mark.lower() if text.islower() else mark)
        elif (kind == "digits" and text in (".", ",")) or kind in ("text", "mark", "other"):
            parts.append(text)
        elif kind == "space":
            parts.append(" ")
    return "".join(parts)
