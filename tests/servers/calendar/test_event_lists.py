"""Windows, order, pages, search, synchronisation, free and busy."""

from __future__ import annotations

from typing import Any

import pytest

from mesocosm.servers.calendar.store import CalendarStore
from mesocosm.services.calling import ToolError

MARCH = {"timeMin": "2025-03-01T00:00:00Z", "timeMax": "2025-04-01T00:00:00Z"}


def at(text: str) -> dict[str, str]:
    return {"dateTime": text}


def make(calendar: Any, summary: str, start: str, end: str, **more: Any) -> str:
    made = calendar("create_event", summary=summary, start=at(start), end=at(end), **more)
    return str(made["id"])


def titles(page: dict[str, Any]) -> list[str]:
    return [item["summary"] for item in page["items"]]


def test_a_window_holds_what_overlaps_it(calendar: Any) -> None:
    make(calendar, "before", "2025-03-01T08:00:00Z", "2025-03-01T09:00:00Z")
    make(calendar, "around", "2025-03-01T07:00:00Z", "2025-03-01T12:00:00Z")
    make(calendar, "inside", "2025-03-01T09:30:00Z", "2025-03-01T09:45:00Z")
    make(calendar, "after", "2025-03-01T10:00:00Z", "2025-03-01T11:00:00Z")
    page = calendar("list_events", timeMin="2025-03-01T09:00:00Z", timeMax="2025-03-01T11:00:00+01:00")
    assert titles(page) == ["around", "inside"]
    assert page["count"] == 2


def test_events_are_sorted_by_instant_not_by_text(calendar: Any) -> None:
    make(calendar, "second", "2025-03-02T10:00:00Z", "2025-03-02T10:30:00Z")
    make(calendar, "first", "2025-03-02T12:00:00+09:00", "2025-03-02T12:30:00+09:00")
    assert titles(calendar("list_events", **MARCH)) == ["first", "second"]


def test_order_by_updated_is_oldest_change_first(calendar: Any, weekly: str) -> None:
    old = make(calendar, "old", "2025-03-02T10:00:00Z", "2025-03-02T10:30:00Z")
    make(calendar, "new", "2025-03-01T10:00:00Z", "2025-03-01T10:30:00Z")
    calendar("update_event", eventId=old, location="Here")
    page = calendar("list_events", **MARCH, orderBy="updated")
    assert titles(page) == ["Standup"] * 5 + ["new", "old"]


@pytest.mark.parametrize("order", ["startTime", "updated"])
def test_pages_put_together_are_the_whole(calendar: Any, weekly: str, order: str) -> None:
    for day in (3, 10, 11):
        make(calendar, f"day {day}", f"2025-03-{day:02}T14:00:00Z", f"2025-03-{day:02}T15:00:00Z")
    whole = calendar("list_events", **MARCH, orderBy=order)["items"]
    collected, token = [], {}
    while token is not None:
        page = calendar("list_events", **MARCH, orderBy=order, maxResults=2, **token)
        collected += page["items"]
        token = {"pageToken": page["nextPageToken"]} if "nextPageToken" in page else None
    assert collected == whole
    assert len(whole) == 8


def test_long_descriptions_make_shorter_pages(calendar: Any) -> None:
    with calendar.tools.world.editing() as world:
        world.store(CalendarStore).add_events(
            "ada@example.org",
            [
                {
                    "summary": str(n),
                    "description": "long " * 1600,
                    "start": at(f"2025-03-02T10:{n}:00Z"),
                    "end": at(f"2025-03-02T11:{n}:00Z"),
                }
                for n in range(10, 40)
            ],
        )
    page = calendar("list_events", **MARCH)
    assert page["count"] < 15
    assert "nextPageToken" in page


def test_words_are_found_in_all_fields(calendar: Any, event: dict[str, Any]) -> None:
    make(calendar, "Lunch", "2025-01-20T12:00:00Z", "2025-01-20T13:00:00Z", location="Garden of design")
    january = {"timeMin": "2025-01-01T00:00:00Z", "timeMax": "2025-02-01T00:00:00Z"}
    assert titles(calendar("list_events", **january, q="design")) == ["Lunch", "Design review"]
    assert titles(calendar("list_events", **january, q="DESIGN loom")) == ["Design review"]
    assert titles(calendar("search_events", query="bob")) == ["Design review"]
    assert titles(calendar("search_events", query='"garden of"')) == ["Lunch"]
    assert titles(calendar("search_events", query="zebra")) == []


def test_an_index_follows_changes(calendar: Any, event: dict[str, Any]) -> None:
    calendar("update_event", eventId=event["id"], summary="Weaving", description="")
    assert titles(calendar("search_events", query="weaving")) == ["Weaving"]
    assert titles(calendar("search_events", query="loom")) == []


def test_times_are_shown_in_another_zone_on_request(calendar: Any, event: dict[str, Any]) -> None:
    shown = calendar("get_event", eventId=event["id"], timeZone="Asia/Kolkata")
    assert shown["start"]["dateTime"] == "2025-01-20T20:30:00+05:30"


def test_a_sync_token_gives_what_changed_since(calendar: Any, event: dict[str, Any], weekly: str) -> None:
    token = calendar("list_events", **MARCH)["nextSyncToken"]
    assert calendar("list_changed_events", syncToken=token)["items"] == []
    calendar("delete_event", eventId=event["id"])
    made = make(calendar, "New", "2025-03-02T10:00:00Z", "2025-03-02T11:00:00Z")
    first = calendar("list_changed_events", syncToken=token, maxResults=1)
    assert [(e["id"], e["status"]) for e in first["items"]] == [(event["id"], "cancelled")]
    second = calendar("list_changed_events", syncToken=first["nextPageToken"])
    assert [e["id"] for e in second["items"]] == [made]
    assert "nextSyncToken" in second


def test_busy_times_are_merged_and_cut_to_the_window(calendar: Any, weekly: str) -> None:
    make(calendar, "a", "2025-03-03T14:10:00Z", "2025-03-03T15:00:00Z")
    make(calendar, "free", "2025-03-04T14:00:00Z", "2025-03-04T15:00:00Z", transparency="transparent")
    make(calendar, "late", "2025-03-05T23:00:00Z", "2025-03-06T02:00:00Z")
    window = {"timeMin": "2025-03-03T00:00:00Z", "timeMax": "2025-03-06T00:00:00Z"}
    answer = calendar("get_freebusy", **window, calendars=["primary", "nope@example.org"])
    assert answer["calendars"]["primary"]["busy"] == [
        {"start": "2025-03-03T14:00:00Z", "end": "2025-03-03T15:00:00Z"},
        {"start": "2025-03-05T23:00:00Z", "end": "2025-03-06T00:00:00Z"},
    ]
    assert answer["calendars"]["nope@example.org"]["errors"][0]["reason"] == "notFound"


def test_what_was_declined_does_not_block(calendar: Any, event: dict[str, Any]) -> None:
    calendar.sign_in("bob@example.org")
    window = {"timeMin": "2025-01-20T00:00:00Z", "timeMax": "2025-01-21T00:00:00Z"}
    assert calendar("get_freebusy", **window, calendars=["primary"])["calendars"]["primary"]["busy"]
    calendar("respond_to_event", eventId=event["id"], response="declined")
    assert not calendar("get_freebusy", **window, calendars=["primary"])["calendars"]["primary"]["busy"]


def test_the_clock_and_the_colours_can_be_read(calendar: Any) -> None:
    now = calendar("get_current_time", timeZone="Europe/Zurich")
    assert now == {"dateTime": "2025-01-15T10:00:00+01:00", "timeZone": "Europe/Zurich"}
    assert set(calendar("list_colors")["event"]) == {str(number) for number in range(1, 12)}


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("list_events", {"timeMin": "2025-03-01T00:00:00"}, "mandatory time zone offset"),
        ("list_events", {"timeMin": "yesterday"}, "not an RFC 3339 timestamp .* such as 2025-06-03T10"),
        ("list_events", {"timeMin": MARCH["timeMax"]}, "time range is empty"),
        ("list_events", {"maxResults": 0}, "maxResults"),
        ("list_events", {"maxResults": 1.5}, "whole number"),
        ("list_events", {"pageToken": "xyz"}, "Invalid page token"),
        ("list_events", {"timeZone": "Mars"}, "Invalid time zone"),
        ("list_events", {"q": "?!"}, "contains no word"),
        ("list_events", {"singleEvents": False, "orderBy": "startTime"}, "ordering is not available"),
        ("search_events", {"query": ""}, "contains no word"),
        ("list_changed_events", {"syncToken": "x"}, "Invalid sync token"),
        ("get_freebusy", {"calendars": []}, "calendars"),
        ("get_freebusy", {"calendars": ["primary"], "timeMax": "2026-03-01T00:00:00Z"}, "too long"),
        ("get_current_time", {"timeZone": "Mars"}, "Invalid time zone"),
    ],
)
def test_bad_arguments_of_listings_are_refused(
    calendar: Any, tool: str, arguments: dict[str, Any], message: str
) -> None:
    window = MARCH if tool in ("list_events", "get_freebusy") else {}
    with pytest.raises(ToolError, match=message):
        calendar(tool, **{**window, **arguments})
