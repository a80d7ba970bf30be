"""Interpretation of typed cell input: numbers, amounts, percentages, dates and times, in the US locale."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

EPOCH = datetime(1899, 12, 30)  # noqa: DTZ001 - a day count has no zone
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_LONG = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_NUMBER = re.compile(
    r"(?P<sign>[-+]?)(?P<open>\()?\s*(?P<sign2>[-+]?)(?P<money>[$€£¥])?\s*(?P<sign3>[-+]?)"
    r"(?P<whole>\d{1,3}(?:,\d{3})+|\d*)(?P<part>\.\d*)?(?P<power>[eE][-+]?\d{1,4})?"
    r"\s*(?P<percent>%)?(?P<close>\))?",
    re.ASCII,
)
_ISO = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})", re.ASCII)
_US = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})", re.ASCII)
_MONTH_DAY = re.compile(r"([A-Za-z]{3,9})\.? (\d{1,2}),? (\d{4})", re.ASCII)
_DAY_MONTH = re.compile(r"(\d{1,2})[- ]([A-Za-z]{3,9})[- ](\d{4}|\d{2})", re.ASCII)
_TIME = re.compile(r"(\d{1,3}):(\d{2})(?::(\d{2})(\.\d{1,3})?)?(?:\s*([AaPp])[Mm])?", re.ASCII)
_HOUR = re.compile(r"(\d{1,2})\s*([AaPp])[Mm]", re.ASCII)


@dataclass(frozen=True)
class Entered:
    """A number that was typed, and the number format that it brings."""

    value: float
    kind: str = ""
    """``NUMBER``, ``PERCENT``, ``CURRENCY``, ``DATE``, ``TIME``, ``DATE_TIME``, ``SCIENTIFIC``, or none."""
    pattern: str = ""


def number_in(text: str) -> Entered | None:
    """Parse a number with its format; ``None`` if the input is text."""
    text = text.strip()
    if not text or len(text) > 60 or not any(character.isdigit() for character in text):
        return None
    return _plain(text) or _moment(text)


def _plain(text: str) -> Entered | None:
    found = _NUMBER.fullmatch(text)
    if not found or not (found["whole"] or (found["part"] or "") not in ("", ".")):
        return None
    signs = found["sign"] + found["sign2"] + found["sign3"]
    if len(signs) > 1 or bool(found["open"]) != bool(found["close"]) or (found["open"] and signs):
        return None
    digits = found["whole"].replace(",", "") or "0"
    value = float(digits + (found["part"] or "") + (found["power"] or ""))
    if value in (float("inf"), float("-inf")):
        return None
    if signs == "-" or found["open"]:
        value = -value
    decimals = len(found["part"] or ".") - 1
    grouped = "," in found["whole"]
    if found["percent"]:
        return Entered(value / 100, "PERCENT", "0.00%" if decimals else "0%")
    if found["money"]:
        sign = found["money"] if found["money"] == "$" else f'"{found["money"]}"'
        return Entered(value, "CURRENCY", f"{sign}#,##0.00" if decimals else f"{sign}#,##0")
    if found["power"]:
        return Entered(value, "SCIENTIFIC", "0.00E+00")
    if grouped:
        return Entered(value, "NUMBER", "#,##0.00" if decimals else "#,##0")
    return Entered(value)


def _moment(text: str) -> Entered | None:
    whole = text.replace("T", " ", 1) if re.match(r"\d{4}-\d\d-\d\dT\d", text) else text
    clock = _clock(whole)
    if clock:
        return Entered(clock[0], "TIME", clock[1])
    day = _day(whole)
    if day:
        return Entered(day[0], "DATE", day[1])
    for match in re.finditer(r" ", whole):
        first, rest = whole[: match.start()], whole[match.end() :].removesuffix("Z")
        day, clock = _day(first), _clock(rest.strip())
        if day and clock and clock[0] < 1:
            return Entered(day[0] + clock[0], "DATE_TIME", f"{day[1]} {clock[1]}")
    return None


def _day(text: str) -> tuple[float, str] | None:
    if found := _ISO.fullmatch(text):
        mark = found[2]
        return _serial(int(found[1]), int(found[3]), int(found[4]), f"yyyy{mark}mm{mark}dd")
    if found := _US.fullmatch(text):
        mark = found[2]
        long = len(found[4]) == 4
        pattern = f"m{mark}d{mark}{'yyyy' if long else 'yy'}"
        return _serial(_year(found[4]), int(found[1]), int(found[3]), pattern)
    if (found := _MONTH_DAY.fullmatch(text)) and (month := _month(found[1])):
        name = "mmm" if len(found[1]) == 3 else "mmmm"
        comma = "," if "," in text else ""
        return _serial(int(found[3]), month, int(found[2]), f"{name} d{comma} yyyy")
    if (found := _DAY_MONTH.fullmatch(text)) and (month := _month(found[2])):
        name = "mmm" if len(found[2]) == 3 else "mmmm"
        mark = "-" if "-" in text else " "
        return _serial(_year(found[3]), month, int(found[1]), f"d{mark}{name}{mark}yyyy")
    return None


def _year(text: str) -> int:
    return int(text) if len(text) == 4 else int(text) + (2000 if int(text) < 30 else 1900)


def _month(name: str) -> int | None:
    name = name.lower()
    for names in (_MONTHS, _LONG):
        if name in names:
            return names.index(name) + 1
    return None


def _serial(year: int, month: int, day: int, pattern: str) -> tuple[float, str] | None:
    try:
        return float((date(year, month, day) - EPOCH.date()).days), pattern
    except ValueError:
        return None


def _clock(text: str) -> tuple[float, str] | None:
    if found := _HOUR.fullmatch(text):
        hour = _hour(int(found[1]), found[2])
        return None if hour is None else (hour / 24, "h AM/PM")
    found = _TIME.fullmatch(text)
    if not found or int(found[2]) > 59 or int(found[3] or 0) > 59:
        return None
    hour = int(found[1])
    if found[5]:
        afternoon = _hour(hour, found[5])
        if afternoon is None:
            return None
        hour = afternoon
    seconds = hour * 3600 + int(found[2]) * 60 + int(found[3] or 0) + float(found[4] or 0)
    pattern = ("h:mm:ss" if found[3] else "h:mm") + (" AM/PM" if found[5] else "")
    if hour > 23:
        pattern = "[h]:mm:ss" if found[3] else "[h]:mm"
    return seconds / 86_400, pattern


def _hour(hour: int, half: str) -> int | None:
    if not 1 <= hour <= 12:
        return None
    return hour % 12 + (12 if half in "Pp" else 0)


def serial_of(moment: date | datetime | time) -> float:
    """The number of a day, of a moment or of a time of day."""
    if isinstance(moment, datetime):
        return (moment.replace(tzinfo=None) - EPOCH) / timedelta(days=1)
    if isinstance(moment, time):
        return (moment.hour * 3600 + moment.minute * 60 + moment.second + moment.microsecond / 1e6) / 86_400
    return float((moment - EPOCH.date()).days)


def moment_of(serial: float) -> datetime | None:
    """The moment that a number stands for, to the millisecond; ``None`` outside of the calendar."""
    try:
        return EPOCH + timedelta(milliseconds=round(serial * 86_400_000))
    except OverflowError:
        return None
