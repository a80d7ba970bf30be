"""Single events: making, reading, changing, deleting; guests and their copies."""

from __future__ import annotations

from typing import Any

import pytest

from mesocosm.services.calling import ToolError

BOB = "bob@example.org"


def test_a_new_event_looks_like_googles(calendar: Any) -> None:
    start, end = ({"dateTime": f"2025-01-20T{h}:00:00", "timeZone": "Asia/Shanghai"} for h in (10, 11))
    made = calendar("create_event", summary="Call", start=start, end=end, location="Desk")
    assert made["start"] == {"dateTime": "2025-01-19T21:00:00-05:00", "timeZone": "Asia/Shanghai"}
    assert made["organizer"] == {"email": "ada@example.org", "displayName": "Ada Byron", "self": True}
    assert made["status"] == "confirmed"
    assert made["iCalUID"] == made["id"] + "@google.com"
    assert len(made["id"]) == 26
    assert set(made["id"]) <= set("0123456789abcdefghijklmnopqrstuv")
    assert made["created"] == made["updated"] == "2025-01-15T09:00:01.000Z"
    assert calendar("get_event", eventId=made["id"]) == made


def test_ids_are_not_used_again_after_a_deletion(calendar: Any, event: dict[str, Any]) -> None:
    calendar("delete_event", eventId=event["id"])
    start, end = {"dateTime": "2025-01-21T10:00:00Z"}, {"dateTime": "2025-01-21T11:00:00Z"}
    assert calendar("create_event", summary="Next", start=start, end=end)["id"] != event["id"]


def test_a_client_may_choose_the_id_once(calendar: Any) -> None:
    start, end = {"dateTime": "2025-01-21T10:00:00Z"}, {"dateTime": "2025-01-21T11:00:00Z"}
    made = calendar("create_event", summary="Mine", start=start, end=end, eventId="mine01")
    assert made["id"] == "mine01"
    with pytest.raises(ToolError, match="The requested identifier already exists"):
        calendar("create_event", summary="Mine", start=start, end=end, eventId="mine01")


def test_an_update_changes_only_what_is_given(calendar: Any, event: dict[str, Any]) -> None:
    changed = calendar("update_event", eventId=event["id"], summary="Design talk", location="")
    assert changed["summary"] == "Design talk"
    assert "location" not in changed
    same = ("description", "start", "end", "attendees", "id", "created")
    assert [changed[key] for key in same] == [event[key] for key in same]
    assert changed["etag"] != event["etag"]
    assert changed["updated"] > event["updated"]


def test_moving_an_event_raises_its_sequence(calendar: Any, event: dict[str, Any]) -> None:
    start, end = {"dateTime": "2025-01-22T15:00:00Z"}, {"dateTime": "2025-01-22T16:00:00Z"}
    changed = calendar("update_event", eventId=event["id"], start=start, end=end)
    assert (changed["start"]["dateTime"], changed["sequence"]) == ("2025-01-22T10:00:00-05:00", 1)
    assert calendar.events("2025-01-20", "2025-01-21") == []
    assert [e["id"] for e in calendar.events("2025-01-22", "2025-01-23")] == [event["id"]]


def test_an_event_can_become_one_of_whole_days(calendar: Any, event: dict[str, Any]) -> None:
    changed = calendar("update_event", eventId=event["id"], startDate="2025-01-27", endDate="2025-01-29")
    assert (changed["start"], changed["end"]) == ({"date": "2025-01-27"}, {"date": "2025-01-29"})


def test_a_deleted_event_is_kept_as_cancelled(calendar: Any, event: dict[str, Any]) -> None:
    assert calendar("delete_event", eventId=event["id"]) == f"Event {event['id']} deleted successfully"
    assert calendar.events("2025-01-01", "2025-02-01") == []
    assert calendar("get_event", eventId=event["id"])["status"] == "cancelled"
    [shown] = calendar.events("2025-01-01", "2025-02-01", showDeleted=True)
    assert shown["status"] == "cancelled"
    with pytest.raises(ToolError, match="Resource has been deleted"):
        calendar("delete_event", eventId=event["id"])


def test_a_deleted_event_can_be_restored(calendar: Any, event: dict[str, Any]) -> None:
    calendar("update_event", eventId=event["id"], status="cancelled")
    with pytest.raises(ToolError, match="Resource has been deleted"):
        calendar("update_event", eventId=event["id"], summary="Back?")
    calendar("update_event", eventId=event["id"], status="confirmed")
    assert [e["status"] for e in calendar.events("2025-01-01", "2025-02-01")] == ["confirmed"]


def test_an_all_day_event_begins_at_midnight_of_its_calendar(calendar: Any) -> None:
    made = calendar("create_all_day_event", summary="Holiday", startDate="2025-01-20")
    assert (made["start"], made["end"]) == ({"date": "2025-01-20"}, {"date": "2025-01-21"})
    early = {"timeMin": "2025-01-20T00:00:00Z", "timeMax": "2025-01-20T05:00:00Z"}
    assert calendar("list_events", **early)["items"] == []
    late = {"timeMin": "2025-01-21T04:00:00Z", "timeMax": "2025-01-21T06:00:00Z"}
    assert calendar("list_events", **late)["count"] == 1


def test_days_move_with_the_time_zone_of_the_calendar(calendar: Any) -> None:
    calendar("create_all_day_event", summary="Holiday", startDate="2025-01-20")
    calendar("update_calendar", calendarId="primary", timeZone="Asia/Tokyo")
    window = {"timeMin": "2025-01-19T15:00:00Z", "timeMax": "2025-01-19T16:00:00Z"}
    assert calendar("list_events", **window)["count"] == 1


def test_reminders_are_the_calendars_or_ones_own(calendar: Any, event: dict[str, Any]) -> None:
    assert event["reminders"] == {"useDefault": True}
    own = {"useDefault": False, "overrides": [{"method": "popup", "minutes": 180}]}
    assert calendar("update_event", eventId=event["id"], reminders=own)["reminders"] == own
    calendar.sign_in(BOB)
    assert calendar("get_event", eventId=event["id"])["reminders"] == {"useDefault": True}


def test_guests_find_the_event_on_their_calendar_and_answer(calendar: Any, event: dict[str, Any]) -> None:
    calendar.sign_in(BOB)
    [copy] = calendar.events("2025-01-20", "2025-01-21")
    assert copy["id"] == event["id"]
    assert "self" not in copy["organizer"]
    calendar("respond_to_event", eventId=event["id"], response="accepted", comment="Gladly")
    calendar.sign_in("ada@example.org")
    [guest] = calendar("get_event", eventId=event["id"])["attendees"]
    assert (guest["email"], guest["responseStatus"], guest["comment"]) == (BOB, "accepted", "Gladly")


def test_guests_may_not_change_what_is_shared(calendar: Any, event: dict[str, Any]) -> None:
    calendar.sign_in(BOB)
    before = calendar.state()
    with pytest.raises(ToolError, match="only be changed by the organizer"):
        calendar("update_event", eventId=event["id"], summary="Mine now")
    assert calendar.state() == before
    assert calendar("update_event", eventId=event["id"], colorId="5")["colorId"] == "5"


def test_a_guest_who_deletes_declines(calendar: Any, event: dict[str, Any]) -> None:
    calendar.sign_in(BOB)
    calendar("delete_event", eventId=event["id"])
    assert calendar.events("2025-01-20", "2025-01-21") == []
    calendar.sign_in("ada@example.org")
    [kept] = calendar.events("2025-01-20", "2025-01-21")
    assert kept["attendees"][0]["responseStatus"] == "declined"


def test_changing_the_guests_moves_the_copies(calendar: Any, event: dict[str, Any]) -> None:
    calendar("update_event", eventId=event["id"], attendees=[{"email": "Cy@Example.org"}])
    calendar.sign_in(BOB)
    assert calendar.events("2025-01-20", "2025-01-21") == []
    calendar.sign_in("cy@example.org")
    assert [e["attendees"][0]["email"] for e in calendar.events("2025-01-20", "2025-01-21")] == [
        "cy@example.org"
    ]


def test_a_cancelled_meeting_leaves_the_guests_calendars(calendar: Any, event: dict[str, Any]) -> None:
    calendar("delete_event", eventId=event["id"])
    calendar.sign_in(BOB)
    assert calendar.events("2025-01-20", "2025-01-21") == []


def test_moving_to_another_calendar_changes_the_organizer(calendar: Any, event: dict[str, Any]) -> None:
    team = calendar("create_calendar", summary="Team")["id"]
    moved = calendar("move_event", eventId=event["id"], destination=team)
    assert moved["organizer"] == {"email": team, "displayName": "Team", "self": True}
    assert calendar.events("2025-01-20", "2025-01-21") == []
    assert len(calendar.events("2025-01-20", "2025-01-21", calendarId=team)) == 1


GOOD = {"dateTime": "2025-01-20T10:00:00Z"}
LATER = {"dateTime": "2025-01-20T11:00:00Z"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"start": {"dateTime": "not a date"}}, "not an RFC 3339"),
        ({"start": {"dateTime": "2025-01-20"}}, "give a date instead"),
        ({"start": {"dateTime": "2025-02-30T10:00:00Z"}}, "does not exist"),
        ({"start": {"dateTime": "2025-01-20T10:00:00"}}, "Missing time zone definition for start time"),
        ({"start": GOOD | {"timeZone": "Mars"}}, "Invalid time zone definition for start time"),
        ({"end": {"dateTime": "2025-01-20T09:00:00Z"}}, "The specified time range is empty"),
        ({"attendees": [{"email": "nobody"}]}, "Invalid attendee email"),
        ({"recurrence": ["RRULE:FREQ=WEEKLY"]}, "Missing time zone definition"),
        ({"colorId": "12"}, "colorId"),
        ({"calendarId": "nope"}, "Not Found"),
        ({"calendarId": BOB}, "Not Found"),
        ({"eventId": "HAS CAPITALS"}, "Invalid resource id value"),
        ({"summary": "a\x00b"}, "summary"),
        ({"summary": "x" * 1025}, "at most 1024"),
        (
            {"reminders": {"useDefault": True, "overrides": [{"method": "popup", "minutes": 1}]}},
            "Cannot specify both",
        ),
        ({"reminders": {"overrides": [{"method": "popup", "minutes": -1}]}}, "Reminder minutes"),
    ],
)
def test_a_bad_event_is_refused_without_a_trace(
    calendar: Any, arguments: dict[str, Any], message: str
) -> None:
    before = calendar.state()
    with pytest.raises(ToolError, match=message):
        calendar("create_event", **{"summary": "x", "start": GOOD, "end": LATER, **arguments})
    assert calendar.state() == before


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("get_event", {"eventId": "nope"}, "Not Found"),
        ("update_event", {"eventId": "nope", "summary": "x"}, "Not Found"),
        ("update_event", {"eventId": "{id}", "end": {"dateTime": "2025-01-01T00:00:00Z"}}, "range is empty"),
        ("update_event", {"eventId": "{id}", "startDate": "2025-01-01"}, "must either both be date"),
        ("update_event", {"eventId": "{id}", "start": GOOD, "startDate": "2025-01-01"}, "either start or"),
        ("delete_event", {"eventId": ""}, "Not Found"),
        ("create_all_day_event", {"summary": "x", "startDate": "soon"}, "not a date"),
        (
            "create_all_day_event",
            {"summary": "x", "startDate": "2025-01-02", "endDate": "2025-01-02"},
            "empty",
        ),
        ("respond_to_event", {"eventId": "{id}", "response": "accepted"}, "not an attendee"),
        ("respond_to_event", {"eventId": "{id}", "response": "maybe"}, "must be one of"),
        ("move_event", {"eventId": "{id}", "destination": BOB}, "Not Found"),
        ("list_event_instances", {"eventId": "{id}"}, "not a recurring event"),
    ],
)
def test_a_bad_call_on_an_event_is_refused_without_a_trace(
    calendar: Any, event: dict[str, Any], tool: str, arguments: dict[str, Any], message: str
) -> None:
    before = calendar.state()
    filled = {k: event["id"] if v == "{id}" else v for k, v in arguments.items()}
    with pytest.raises(ToolError, match=message):
        calendar(tool, **filled)
    assert calendar.state() == before
