"""Tools for finding a time."""

# ruff: noqa: N803 - the names of parameters are Google's
from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from mesocosm.errors import Refusal
from mesocosm.servers.calendar.store import CalendarStore
from mesocosm.servers.calendar.store.times import in_zone, known_zone, show, window_bound
from mesocosm.servers.calendar.tools.service import server
from mesocosm.services.schema import Extra, Json

# fmt: off
_EVENT_COLORS = (
    "#a4bdfc", "#7ae7bf", "#dbadff", "#ff887c", "#fbd75b", "#ffb878", "#46d6db", "#e1e1e1",
    "#5484ed", "#51b749", "#dc2127",
)
_CALENDAR_COLORS = (
    "#ac725e", "#d06b64", "#f83a22", "#fa573c", "#ff7537", "#ffad46", "#42d692", "#16a765",
    "#7bd148", "#b3dc6c", "#fbe983", "#fad165", "#92e1c0", "#9fe1e7", "#9fc6e7", "#4986e7",
    "#9a9cff", "#b99aff", "#c2c2c2", "#cabdbf", "#cca6ac", "#f691b2", "#cd74e6", "#a47ae2",
)
# fmt: on


@server.reads
def get_freebusy(
    store: CalendarStore,
    timeMin: str,
    timeMax: str,
    calendars: Annotated[list[str], Extra(minItems=1)],
    timeZone: str | None = None,
) -> Json:
    """Find out when calendars are busy, without their events. Overlapping events are merged.

    Args:
        timeMin: Start of the time range: an RFC 3339 timestamp with an offset.
        timeMax: End of the time range, at most 93 days later.
        calendars: Up to 50 calendars; for a person, the address.
        timeZone: Show times in this IANA time zone instead of UTC.
    """
    zone = known_zone(timeZone or "UTC")
    since, until = window_bound(timeMin, "timeMin"), window_bound(timeMax, "timeMax")
    busy = store.free_times.free_busy(calendars, since, until)
    return {
        "timeMin": in_zone(show(since), zone),
        "timeMax": in_zone(show(until), zone),
        "calendars": {calendar: _busy(found, zone) for calendar, found in busy.items()},
    }


def _busy(found: list[tuple[str, str]] | Refusal, zone: str) -> Json:
    if isinstance(found, Refusal):
        return {"errors": [{"domain": "global", "reason": found.code}], "busy": []}
    return {"busy": [{"start": in_zone(start, zone), "end": in_zone(end, zone)} for start, end in found]}


@server.reads
def get_current_time(store: CalendarStore, timeZone: str | None = None) -> Json:
    """Tell the current date and time.

    Args:
        timeZone: An IANA time zone; your primary calendar's if left out.
    """
    zone = known_zone(timeZone) if timeZone is not None else store.calendar("primary").time_zone
    return {"dateTime": in_zone(show(store.now.replace(tzinfo=None)), zone), "timeZone": zone}


@server.reads
def list_colors(store: CalendarStore) -> Json:
    """List the colours that events and calendars can have, by colorId."""
    store.calendar("primary")
    return {"event": _palette(_EVENT_COLORS), "calendar": _palette(_CALENDAR_COLORS)}


def _palette(backgrounds: Sequence[str]) -> Json:
    return {
        str(number): {"background": color, "foreground": "#1d1d1d"}
        for number, color in enumerate(backgrounds, 1)
    }
