"""The rules of the calendar service."""

from mesocosm.servers.calendar.store.events import CalendarStore

__all__ = ["CalendarStore"]
