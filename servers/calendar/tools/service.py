"""The calendar service, to which the modules beside this one add their tools."""

from __future__ import annotations

from typing import Annotated

from mesocosm.servers.calendar.store import CalendarStore
from mesocosm.services.schema import About, Number
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

PageToken = Annotated[str, About("The nextPageToken of the page before.")]
CalendarId = Annotated[str, About("The calendar; 'primary' is your own.")]
ShownZone = Annotated[str, About("Show times in this IANA time zone instead of the calendar's.")]
MaxResults = Annotated[Number, About("Most events on a page; 250 is the default and the most a page holds.")]
