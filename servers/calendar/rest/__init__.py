"""Google's Calendar API, version 3, over the calendars that the tools use."""

from mesocosm.servers.calendar.rest import calendars, events
from mesocosm.servers.calendar.rest.service import api

__all__ = ["api", "calendars", "events", "operations"]

operations = api.operations
