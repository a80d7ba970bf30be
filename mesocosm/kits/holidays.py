"""Days on which offices are closed: somewhere, and so best avoided by who makes appointments anywhere."""

from __future__ import annotations

import datetime as dt

_FIXED = frozenset(
    {(1, 1), (1, 6), (5, 1), (6, 19), (7, 4), (8, 1), (8, 9), (12, 6), (12, 24), (12, 25), (12, 26)}
)
"""Month and day."""
_AFTER_EASTER = frozenset({-2, 1, 39, 50})
"""Good Friday, Easter Monday, Ascension, Whit Monday."""
_LUNAR = frozenset(
    dt.date.fromisoformat(day)
    for day in (
        *("2025-01-29", "2025-01-30", "2025-03-31", "2025-05-12", "2025-10-20"),
        *("2026-02-17", "2026-02-18", "2026-05-27", "2026-06-01", "2026-11-09"),
    )
)
"""Singapore's of the years in which worlds are set: they follow the moon."""
_MONDAYS = {(1, 3), (2, 3), (9, 1)}
"""Month, and the how-manieth Monday of it."""


def is_holiday(day: dt.date) -> bool:
    """Whether a day is a public holiday in Switzerland, Finland, Singapore or the United States."""
    which = (day.day - 1) // 7 + 1
    return (
        (day.month, day.day) in _FIXED
        or day in _LUNAR
        or (day - easter(day.year)).days in _AFTER_EASTER
        or (day.weekday() == 0 and ((day.month, which) in _MONDAYS or (day.month == 5 and day.day > 24)))
        or (day.weekday() == 4 and day.month == 6 and 19 <= day.day <= 25)  # Midsummer Eve
        or (day.weekday() == 3 and (day.month, which) == (11, 4))  # Thanksgiving
    )


def easter(year: int) -> dt.date:
    """Easter Sunday, by the Gregorian calendar."""
    century, golden = year // 100, year % 19
    moon = (19 * golden + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    sunday = (32 + 2 * (century % 4) + 2 * (year % 100 // 4) - moon - year % 4) % 7
    late = (golden + 11 * moon + 22 * sunday) // 451
    month, day = divmod(moon + sunday - 7 * late + 114, 31)
    return dt.date(year, month, day + 1)
