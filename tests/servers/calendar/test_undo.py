"""Taking back changes of events, as an oracle does whose agent went wrong: with the tools alone."""

from __future__ import annotations

from typing import Any

import pytest

from mesocosm.servers.calendar.tools.events import Changes
from mesocosm.services.undo import Done, ToolCall, load_undo

CHANGED: dict[str, Any] = {
    "summary": "Off-site", "description": "", "location": "Garden", "visibility": "private",
    "transparency": "transparent", "colorId": "5", "guestsCanModify": True, "status": "tentative",
    "recurrence": ["RRULE:FREQ=DAILY;COUNT=4"], "attendees": [{"email": "cy@example.org", "optional": True}],
    "reminders": {"useDefault": False, "overrides": [{"method": "popup", "minutes": 7}]},
}  # fmt: skip
MOVED = {
    name: {"dateTime": f"2025-03-04T{hour}:00:00", "timeZone": "Asia/Kolkata"}
    for name, hour in (("start", "13"), ("end", "14"))
}
DAYS = {"startDate": "2025-03-05", "endDate": "2025-03-07"}
LATER = {"timeMin": "2025-01-01T00:00:00Z", "timeMax": "2025-05-01T00:00:00Z"}


def seen(calendar: Any, *, series: bool = True) -> list[dict[str, Any]]:
    """All that is on the calendar, but for how often it was changed; ``series`` and single rows, too."""
    kinds = (True, False) if series else (True,)
    found = [
        one for single in kinds for one in calendar("list_events", **LATER, singleEvents=single)["items"]
    ]
    return [{name: one[name] for name in one if name not in ("etag", "updated", "sequence")} for one in found]


def taking_back(calendar: Any, **arguments: Any) -> list[ToolCall]:
    """The calls that would take back a change that is not made yet."""

    def before(tool: str, given: dict[str, Any]) -> str:
        text: str = calendar.tools.world.calls.peek("calendar", tool, given).text
        return text

    return load_undo("calendar")["update_event"](Done("update_event", arguments, "", before))


def change_and_take_back(calendar: Any, *, series: bool = True, **arguments: Any) -> None:
    """Change an event, which shows, and take it back, which leaves nothing of it."""
    first, calls = seen(calendar, series=series), taking_back(calendar, **arguments)
    calendar("update_event", **arguments)
    assert seen(calendar, series=series) != first
    for tool, given in calls:
        calendar(tool, **given)
    assert seen(calendar, series=series) == first


def test_every_field_that_can_be_changed_is_tried() -> None:
    assert CHANGED.keys() == Changes.__annotations__.keys()


@pytest.mark.parametrize("name", CHANGED)
def test_a_change_of_one_field_is_taken_back(calendar: Any, event: dict[str, Any], name: str) -> None:
    times = {name: event[name] | {"timeZone": "America/New_York"} for name in ("start", "end")}
    calendar("update_event", eventId=event["id"], **times)
    change_and_take_back(calendar, eventId=event["id"], **{name: CHANGED[name]})
    # Back from what it was changed to, which says of each field something.
    calendar("update_event", eventId=event["id"], **CHANGED)
    was = {name: CHANGED[name]} if name == "status" else {name: event.get(name, _EMPTY.get(name, ""))}
    change_and_take_back(calendar, eventId=event["id"], **was | {"summary": "Else"})


_EMPTY: dict[str, Any] = {
    "recurrence": [], "visibility": "default", "transparency": "opaque", "guestsCanModify": False,
    "reminders": {"useDefault": True},
}  # fmt: skip


@pytest.mark.parametrize("times", [MOVED, DAYS, CHANGED | MOVED, {"status": "cancelled"}])
def test_times_and_all_fields_at_once_are_taken_back(
    calendar: Any, event: dict[str, Any], weekly: str, times: dict[str, Any]
) -> None:
    change_and_take_back(calendar, eventId=event["id"], **times)
    instance = {name: times[name] for name in times if name != "recurrence"}
    # It has a row of its own from now on, and is what it was.
    change_and_take_back(calendar, series=False, eventId=f"{weekly}_20250310T130000Z", **instance)


@pytest.mark.parametrize("times", [DAYS, {"status": "cancelled"}, MOVED | {"summary": "Daily"}, CHANGED])
def test_instances_that_had_been_changed_come_back_with_their_series(
    calendar: Any, weekly: str, times: dict[str, Any]
) -> None:
    calendar("update_event", eventId=f"{weekly}_20250310T130000Z", location="Garden", **MOVED)
    calendar("update_event", eventId=f"{weekly}_20250317T130000Z", summary="Special")
    change_and_take_back(calendar, eventId=weekly, **times)


def test_what_a_guest_deleted_is_not_said_to_come_back(calendar: Any, event: dict[str, Any]) -> None:
    calendar.sign_in("bob@example.org")
    assert taking_back(calendar, eventId=event["id"], status="cancelled") == []
