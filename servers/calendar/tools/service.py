"""The calendar service, to which the modules beside this one add their tools."""

from __future__ import annotations

from mesocosm.servers.calendar.store import CalendarStore
from mesocosm.services.service import Service

server = Service(
    "calendar",
    CalendarStore,
    instructions=(
        "The calendars of the signed-in account. Times are RFC 3339 with an offset, or local with an IANA"
        " timeZone; 'primary' is the account's own calendar. An id with an underscore is one instance of a"
        " recurring event: changing it changes only that instance."
    ),
)
