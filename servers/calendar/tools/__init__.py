"""What an agent sees of the calendar service."""

from mesocosm.servers.calendar.tools import calendars, events, scheduling, sharing
from mesocosm.servers.calendar.tools.service import server

__all__ = ["calendars", "events", "scheduling", "server", "sharing"]
