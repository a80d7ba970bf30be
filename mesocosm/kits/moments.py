"""How prompts write moments down, and how the services' stores keep them."""

from __future__ import annotations

import datetime as dt


def in_words(moment: dt.datetime) -> str:
    """``Monday, March 3, 2025, 09:05``, by the clock that the moment is given in."""
    return f"{moment:%A}, {moment:%B} {moment.day}, {moment.year}, {moment:%H:%M}"


def shown_offset(moment: dt.datetime) -> str:
    """How far the clock of a moment is from UTC: ``UTC+01:00``."""
    offset = moment.strftime("%z")
    return f"UTC{offset[:3]}:{offset[3:]}"


def utc_stamp(moment: dt.datetime) -> str:
    """ISO 8601 in UTC to the second, ending in ``Z``."""
    return f"{moment.astimezone(dt.UTC):%Y-%m-%dT%H:%M:%SZ}"
