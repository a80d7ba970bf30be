"""Whether a text says a number: in figures or in words, or as the percentage that it comes to."""

from __future__ import annotations

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
    7: ("week",),
    12: ("dozen",),
    14: ("fortnight",),
    24: ("day",),
    30: ("half an hour",),
    60: ("hour", "minute"),
    90: ("an hour and a half",),
    365: ("year",),
}


def says_number(text: str, number: float) -> bool:
    """Whether a text (in small letters) says a number."""
    return _written(text, number) or any(_as_percentage(text, one) for one in _percentages(number))


def _written(text: str, number: float) -> bool:
    plain = f"{number:.10f}".rstrip("0").rstrip(".")
    figures = {
        plain,
        f"{number:.2f}",
        f"{number:,.2f}",
        *([f"{number:,.0f}"] if number == int(number) else []),
    }
    if any(re.search(rf"(?<![\d.]){re.escape(one)}(?!\d|\.\d)", text) for one in figures):
        return True
    return any(re.search(rf"\b{re.escape(word)}s?\b", text) for word in _words(number))


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
    """What a factor may be called: 0.9 is 90 percent, or 10 percent less; 1.077 is 7.7 percent more."""
    if 0 < number < 1:
        return [round(number * 100, 8), round(100 - number * 100, 8)]
    if 1 < number < 2:
        return [round(number * 100 - 100, 8), round(number * 100, 8)]
    return [100 - number] if 2 <= number < 100 else [number - 100] if 100 < number < 200 else []


def _as_percentage(text: str, number: float) -> bool:
    figure = f"{number:.10f}".rstrip("0").rstrip(".")
    said = "|".join([re.escape(figure), *map(re.escape, _words(number))])
    return re.search(rf"(?<![\d.])(?:{said})\s?(?:%|per ?cent)", text) is not None
