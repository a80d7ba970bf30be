"""The rules of the calendar service."""

from mesocosm.servers.calendar.store.events import EventsStore


class CalendarStore(EventsStore):
    """Calendars and events of the accounts of one server, seen by the account that is signed in."""
