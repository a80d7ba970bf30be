"""Days on which offices are closed: somewhere, and so best avoided by who makes appointments anywhere."""

from __future__ import annotations

import datetime as dt
from collections.abc import Container
from functools import cache

_WHERE = (("CH", "ZH"), ("FI", None), ("SG", None), ("US", None))
"""Countries in which worlds have offices, and a part of one with days of its own, by ISO 3166."""


def is_holiday(day: dt.date) -> bool:
    """True if a day is a public holiday in a country where worlds have offices."""
    return any(day in calendar for calendar in _calendars())


@cache
def _calendars() -> list[Container[dt.date]]:
    from holidays import country_holidays  # takes a while, and few tasks need it

    return [country_holidays(country, subdiv=part) for country, part in _WHERE]
