"""Several calendars, sharing, roles, filling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mesocosm.errors import Invalid
from mesocosm.servers.calendar.store import CalendarStore
from mesocosm.services.calling import ToolError
from mesocosm.services.world import World

ADA, BOB = "ada@example.org", "bob@example.org"
JANUARY = {"timeMin": "2025-01-01T00:00:00Z", "timeMax": "2025-02-01T00:00:00Z"}
WHEN = {"start": {"dateTime": "2025-01-20T10:00:00Z"}, "end": {"dateTime": "2025-01-20T11:00:00Z"}}


@pytest.fixture
def team(calendar: Any) -> str:
    """A secondary calendar of Ada's with one event."""
    made: str = calendar("create_calendar", summary="Team", timeZone="UTC", description="Us")["id"]
    calendar("create_event", summary="Offsite", calendarId=made, visibility="private", **WHEN)
    return made


def test_secondary_calendars_are_listed_after_the_primary(calendar: Any, team: str) -> None:
    mine = calendar("list_calendars")["items"]
    assert [c["id"] for c in mine] == [ADA, team]
    assert mine[0]["primary"] is True
    assert team.endswith("@group.calendar.google.com")
    assert calendar("get_calendar", calendarId=team)["description"] == "Us"
    first = calendar("list_calendars", maxResults=1)
    rest = calendar("list_calendars", maxResults=1, pageToken=first["nextPageToken"])
    assert first["items"] + rest["items"] == mine


def test_a_calendar_can_be_changed(calendar: Any, team: str) -> None:
    changed = calendar(
        "update_calendar", calendarId=team, summary="Crew", description="", timeZone="Asia/Tokyo"
    )
    assert (changed["summary"], changed["timeZone"]) == (
        "Crew",
        "Asia/Tokyo",
    )
    assert "description" not in changed


def test_a_deleted_calendar_takes_its_events_with_it(calendar: Any, team: str) -> None:
    calendar("create_event", summary="With Bob", calendarId=team, attendees=[{"email": BOB}], **WHEN)
    assert calendar("delete_calendar", calendarId=team) == f"Calendar {team} deleted successfully"
    with pytest.raises(ToolError, match="Not Found"):
        calendar("list_events", calendarId=team, **JANUARY)
    calendar.sign_in(BOB)
    assert calendar("list_events", **JANUARY)["items"] == []


@pytest.mark.parametrize(
    ("role", "shown"),
    [("freeBusyReader", None), ("reader", None), ("writer", "Offsite"), ("owner", "Offsite")],
)
def test_private_details_are_for_writers(calendar: Any, team: str, role: str, shown: str | None) -> None:
    calendar("share_calendar", calendarId=team, role=role, email=BOB)
    calendar.sign_in(BOB)
    page = calendar("list_events", calendarId=team, **JANUARY)
    assert page["accessRole"] == role
    assert page["items"][0].get("summary") == shown
    assert len(calendar("search_events", calendarId=team, query="offsite")["items"]) == (1 if shown else 0)


def test_readers_read_and_do_not_write(calendar: Any, team: str) -> None:
    public = calendar("create_event", summary="Open", calendarId=team, **WHEN)
    calendar("share_calendar", calendarId=team, role="reader", email=BOB)
    calendar.sign_in(BOB)
    before = calendar.state()
    assert calendar("get_event", eventId=public["id"], calendarId=team)["summary"] == "Open"
    for tool, more in (
        ("create_event", {"summary": "x", **WHEN}),
        ("update_event", {"eventId": public["id"], "summary": "x"}),
        ("delete_event", {"eventId": public["id"]}),
    ):
        with pytest.raises(ToolError, match="You need to have writer access to this calendar"):
            calendar(tool, calendarId=team, **more)
    assert calendar.state() == before


def test_a_writer_writes_but_does_not_share(calendar: Any, team: str) -> None:
    calendar("share_calendar", calendarId=team, role="writer", email=BOB)
    calendar.sign_in(BOB)
    made = calendar("create_event", summary="Bob's", calendarId=team, **WHEN)
    assert made["creator"]["email"] == BOB
    assert made["organizer"]["email"] == team
    with pytest.raises(ToolError, match="owner access"):
        calendar("share_calendar", calendarId=team, role="reader", email="cy@example.org")


def test_what_is_not_shared_is_not_found(calendar: Any, team: str) -> None:
    calendar.sign_in(BOB)
    for tool in ("get_calendar", "delete_calendar", "list_calendar_acl", "subscribe_calendar"):
        with pytest.raises(ToolError, match="Not Found"):
            calendar(tool, calendarId=team)


def test_sharing_can_be_taken_back(calendar: Any, team: str) -> None:
    rule = calendar("share_calendar", calendarId=team, role="reader", email=BOB)
    assert [r["id"] for r in calendar("list_calendar_acl", calendarId=team)["items"]] == [
        f"user:{ADA}",
        rule["id"],
    ]
    calendar("unshare_calendar", calendarId=team, ruleId=rule["id"])
    calendar.sign_in(BOB)
    assert [c["id"] for c in calendar("list_calendars")["items"]] == [BOB]


def test_a_domain_or_everybody_can_be_given_a_role(calendar: Any, team: str) -> None:
    calendar("share_calendar", calendarId=team, role="reader", domain="example.org")
    calendar("share_calendar", calendarId=team, role="freeBusyReader", everybody=True)
    calendar.sign_in("cy@example.org")
    assert calendar("get_calendar", calendarId=team)["accessRole"] == "reader"


def test_a_public_calendar_can_be_put_on_the_list(calendar: Any, team: str) -> None:
    calendar("share_calendar", calendarId=team, role="reader", everybody=True)
    calendar.sign_in(BOB)
    listed = calendar("subscribe_calendar", calendarId=team, summaryOverride="Their team")
    assert listed["summaryOverride"] == "Their team"
    assert len(calendar("list_calendars")["items"]) == 2
    calendar("unsubscribe_calendar", calendarId=team)
    assert len(calendar("list_calendars")["items"]) == 1


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("get_calendar", {"calendarId": "nope"}, "Not Found"),
        ("create_calendar", {"summary": " "}, "Missing title"),
        ("create_calendar", {"summary": "x", "timeZone": "Mars"}, "Invalid time zone"),
        ("update_calendar", {"calendarId": "primary", "summary": ""}, "Missing title"),
        ("delete_calendar", {"calendarId": "primary"}, "cannot delete a primary calendar"),
        ("share_calendar", {"calendarId": "primary", "role": "reader"}, "Give one of"),
        ("share_calendar", {"calendarId": "primary", "role": "boss", "email": BOB}, "must be one of"),
        (
            "share_calendar",
            {"calendarId": "primary", "role": "reader", "email": "bob"},
            "Invalid scope value",
        ),
        ("share_calendar", {"calendarId": "primary", "role": "reader", "email": ADA}, "own access level"),
        ("unshare_calendar", {"calendarId": "primary", "ruleId": f"user:{ADA}"}, "own access level"),
        ("unshare_calendar", {"calendarId": "primary", "ruleId": "user:x"}, "Not Found"),
        ("unsubscribe_calendar", {"calendarId": "primary"}, "cannot remove"),
        ("list_calendars", {"pageToken": "x"}, "Invalid page token"),
        ("list_calendars", {"maxResults": 0}, "maxResults"),
        ("list_calendar_acl", {"maxResults": -1}, "maxResults"),
    ],
)
def test_bad_calls_on_calendars_are_refused_without_a_trace(
    calendar: Any, tool: str, arguments: dict[str, Any], message: str
) -> None:
    before = calendar.state()
    with pytest.raises(ToolError, match=message):
        calendar(tool, **arguments)
    assert calendar.state() == before


def test_nobody_signed_in_reads_nothing(open_tools: Callable[..., Any]) -> None:
    tools = open_tools(lambda world: world.store(CalendarStore).create_account(ADA, "Ada"), "calendar")
    with pytest.raises(ToolError, match="Login Required"):
        tools.call("calendar", "list_calendars")


def test_a_generator_fills_a_calendar_at_once(open_tools: Callable[..., Any]) -> None:
    def fill(world: World) -> None:
        store = world.store(CalendarStore)
        store.create_account(ADA, "Ada")
        store.create_account(BOB, "Bob")
        store.sign_in(ADA)
        team = store.create_calendar("Team")
        event = {"summary": "Talk", "attendees": [{"email": BOB, "responseStatus": "accepted"}], **WHEN}
        ids = store.add_events(team, [event | {"created": "2024-12-01T08:00:00Z"}] * 3)
        assert len(set(ids)) == 3

    tools = open_tools(fill, "calendar")
    with tools.world.editing() as world:
        world.store(CalendarStore).sign_in(BOB)
    items = tools.call("calendar", "list_events", **JANUARY)["items"]
    assert [i["created"] for i in items] == ["2024-12-01T08:00:00.000Z"] * 3


def test_a_generator_is_refused_what_a_tool_is_refused(make_world: Callable[..., World]) -> None:
    world = make_world(lambda w: w.store(CalendarStore).create_account(ADA, "Ada"), "calendar")
    event = {"summary": "x", "start": WHEN["end"], "end": WHEN["start"]}
    store = world.store(CalendarStore)
    with pytest.raises(Invalid, match="range is empty"):
        store.add_events(ADA, [event])
