"""Detection of numbers and durations in text: as figures, words or percentages."""

from __future__ import annotations

import datetime as dt
import re

_SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_OTHERS: dict[float, tuple[str, ...]] = {
    0.25: ("quarter",),
    0.5: ("half", "halved"),
    2: ("twice", "double", "both", "second"),
    3: ("thrice", "triple", "third"),
    4: ("fourth",),
    5: ("fifth",),
    12: ("dozen",),
}


_UNITS = {
    7 * 86400: "week", 86400: "day", 3600: "hour|hr|h", 60: "minute|min", 1: "second|sec",
}  # fmt: skip
_SPANS = {
    1800: ("half an hour", "half-hour"), 5400: ("an hour and a half",), 900: ("quarter of an hour",),
    14 * 86400: ("fortnight",), 7 * 86400: ("week's",), 86400: ("day's",), 3600: ("hour's", "hour long"),
}  # fmt: skip


def says_number(text: str, number: float) -> bool:
    """Return whether a text (in small letters) says a number."""
    return _written(text, number) or any(_as_percentage(text, one) for one in _percentages(number))


def says_span(text: str, span: dt.timedelta) -> bool:
    """Return whether a text (in small letters) says a span of time in any unit: 14 days, two weeks."""
    seconds = abs(span.total_seconds())
    if seconds == 0 or any(re.search(rf"\b{words}", text) for words in _SPANS.get(int(seconds), ())):
        return True
    for size, unit in _UNITS.items():
        number = seconds / size
        forms = [re.escape(one) for one in (*_figures(number), *_words(number))]
        forms += ["an?", "the", "each", "per", "every"] if number == 1 else []
        if re.search(rf"(?<![\d.])\b(?:{'|'.join(forms)})[\s-]?(?:[a-z]+ )?(?:{unit})s?\b", text):
            return True
    return False


def _written(text: str, number: float) -> bool:
    figures = "|".join(map(re.escape, _figures(number)))
    if re.search(rf"(?<![\d.])(?:{figures})(?!\d|\.\d)", text):
        return True
    return any(re.search(rf"\b{re.escape(word)}s?\b", text) for word in _words(number))


def _figures(number: float) -> list[str]:
    plain = f"{number:.10f}".rstrip("0").rstrip(".")
    whole = [f"{number:,.0f}"] if number == int(number) else []
    return list(dict.fromkeys([plain, f"{number:.2f}", f"{number:,.2f}", *whole]))


def _words(number: float) -> list[str]:
    found = list(_OTHERS.get(number, ()))
    if number == int(number) and 0 <= number < 100:
        tens, ones = divmod(int(number), 10)
        if number < 20:
            found.append(_SMALL[int(number)])
        else:
            found.append(_TENS[tens - 2] + (f"-{_SMALL[ones]}" if ones else ""))
    return found


def _percentages(number: float) -> list[float]:
    """List percentages for a factor: 0.9 is 90 percent, or 10 percent less; 1.077 is 7.7 percent more."""
    if 0 < number < 1:
        return [round(number * 100, 8), round(100 - number * 100, 8)]
    if 1 < number < 2:
        return [round(number * 100 - 100, 8), round(number * 100, 8)]
    return [100 - number] if 2 <= number < 100 else [number - 100] if 100 < number < 200 else []


def _as_percentage(text: str, number: float) -> bool:
    figure = f"{number:.10f}".rstrip("0").rstrip(".")
    said = "|".join([re.escape(figure), *map(re.escape, _words(number))])
    return re.search(rf"(?<![\d.])(?:{said})\s?(?:%|per ?cent)", text) is not None
