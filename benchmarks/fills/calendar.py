"""One busy calendar over four years, a small one, and those of the colleagues."""

from __future__ import annotations

from datetime import timedelta

from fills.texts import Call, Texts, moment, words
from mesocosm.servers.calendar.store import CalendarStore
from mesocosm.servers.calendar.store.event_input import NewEvent
from mesocosm.services.world import World

ME = "ada@example.org"
_PER_EVENT = 250
_YEAR = {"timeMin": "2024-01-01T00:00:00Z", "timeMax": "2025-01-01T00:00:00Z"}
_WEEK = {"timeMin": "2025-01-06T00:00:00Z", "timeMax": "2025-01-13T00:00:00Z"}
_EVER = {"timeMin": "2000-01-01T00:00:00Z", "timeMax": "2040-01-01T00:00:00Z"}
_RULES = (
    *("FREQ=WEEKLY;BYDAY=MO", "FREQ=DAILY;COUNT=20"),
    *("FREQ=MONTHLY;BYMONTHDAY=15", "FREQ=WEEKLY;INTERVAL=2"),
)


def fill(world: World, texts: Texts, size: int) -> list[Call]:
    """The calendars."""
    store, many = world.store(CalendarStore), size // _PER_EVENT
    people = [f"colleague{number}@example.org" for number in range(8 + many // 500)]
    store.create_account(ME, "Ada", "Europe/Zurich")
    for email in people:
        store.create_account(email, email.partition("@")[0], "UTC")
    store.sign_in(ME)
    ids = store.add_events(ME, [_event(texts, people, n, many) for n in range(many)])
    return _calls(ids, ids[:81:40], people, many)


def _event(texts: Texts, people: list[str], number: int, many: int) -> NewEvent:
    # Half of them before the world's clock, half after it; every fortieth recurs.
    start = moment(2 * number / many)
    texts.facts(90)
    event: NewEvent = {
        "summary": texts.title(),
        "description": texts.text(),
        "location": f"Room {number % 30}",
        "start": {"dateTime": start.isoformat()},
        "end": {"dateTime": (start + timedelta(minutes=30 + number % 4 * 30)).isoformat()},
        "attendees": [
            {"email": people[(number + step) % len(people)], "responseStatus": "accepted"}
            for step in range(number % 3)
        ],
    }
    if number % 15 == 7:
        event["start"] = {"date": f"{start:%Y-%m-%d}"}
        event["end"] = {"date": f"{start + timedelta(1):%Y-%m-%d}"}
    if number % 40 == 0:
        zone = {"timeZone": "Europe/Zurich"}
        event["start"], event["end"] = {**event["start"], **zone}, {**event["end"], **zone}
        event["recurrence"] = [f"RRULE:{_RULES[number // 40 % len(_RULES)]}"]
    return event


def _calls(ids: list[str], series: list[str], people: list[str], many: int) -> list[Call]:
    calls: list[Call] = [
        ("list_calendars", {}),
        ("get_calendar", {"calendarId": "primary"}),
        *[("get_event", {"eventId": id_}) for id_ in (ids[1], ids[len(ids) // 2], ids[-1])],
        *words("search_events"),
        *words("search_events", timeMin="2024-06-01T00:00:00Z", maxResults=250),
        *[("list_event_instances", {"eventId": id_}) for id_ in series],
        *[("list_event_instances", {"eventId": id_, **_YEAR}) for id_ in series],
        # A sync token is the number of a change.
        *[("list_changed_events", {"syncToken": f"s{number}"}) for number in (1, many // 2, many - 1)],
        ("get_current_time", {}),
        ("list_colors", {}),
        ("list_calendar_acl", {"calendarId": "primary"}),
    ]
    for window in (_WEEK, _YEAR, _EVER):
        for more in (
            {},
            {"singleEvents": True},
            {"orderBy": "startTime", "singleEvents": True},
            {"orderBy": "updated"},
            {"maxResults": 250, "singleEvents": True, "orderBy": "startTime"},
            {"q": "room"},
            {"q": "symposium", "singleEvents": True, "orderBy": "startTime"},
        ):
            calls.append(("list_events", {**window, **more}))
    everybody = [ME, *people[:5]]
    for window in (_WEEK, {"timeMin": "2025-01-01T00:00:00Z", "timeMax": "2025-03-01T00:00:00Z"}):
        calls.append(("get_freebusy", {**window, "calendars": everybody}))
    return calls
