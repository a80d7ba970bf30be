"""Google's API client, unmodified, against an episode."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from google.auth.exceptions import RefreshError
from google.oauth2.credentials import Credentials
from googleapiclient.discovery import build
from googleapiclient.errors import HttpError
from rest.hosted import HostedWorld

from mesocosm.servers.calendar.store import CalendarStore
from mesocosm.services.service import load_service
from mesocosm.services.world import World

ADA, BOB, CY = "ada@example.org", "bob@example.org", "cy@example.org"
MEETING = {
    "summary": "Design review ✎",
    "start": {"dateTime": "2025-01-20T10:00:00-05:00"},
    "end": {"dateTime": "2025-01-20T11:00:00-05:00"},
    "attendees": [{"email": BOB}],
}
STANDUP = {
    "summary": "Standup",
    "start": {"dateTime": "2025-03-03T09:00:00", "timeZone": "America/New_York"},
    "end": {"dateTime": "2025-03-03T09:15:00", "timeZone": "America/New_York"},
    "recurrence": ["RRULE:FREQ=WEEKLY;BYDAY=MO;COUNT=4"],
}


def fill(world: World, signed_in: str = ADA) -> None:
    store = world.store(CalendarStore)
    store.create_account(ADA, "Ada Byron", "America/New_York")
    store.create_account(BOB, "Bob", "Europe/Zurich")
    store.create_account(CY, "Cy", "Asia/Kolkata")
    store.sign_in(signed_in)
    store.add_events(
        ADA,
        [
            {
                "summary": f"Slot {number}",
                "start": {"dateTime": f"2025-02-{number + 1:02d}T09:00:00Z"},
                "end": {"dateTime": f"2025-02-{number + 1:02d}T10:00:00Z"},
            }
            for number in range(25)
        ],
    )


@pytest.fixture
def hosted(episode_of: Callable[..., HostedWorld]) -> HostedWorld:
    return episode_of(["calendar"], fill)


@pytest.fixture
def google(hosted: HostedWorld) -> Iterator[Any]:
    with client(hosted) as service:
        yield service


def client(hosted: HostedWorld, token: str | None = None) -> Any:
    return build(
        "calendar",
        "v3",
        credentials=Credentials(token=token or hosted.id),  # type: ignore[no-untyped-call]
        client_options={"api_endpoint": hosted.api("calendar") + "/calendar/v3/"},
        static_discovery=True,
    )


def refusal(request: Any) -> tuple[int, str]:
    with pytest.raises(HttpError) as refused:
        request.execute()
    error = json.loads(refused.value.content)["error"]
    assert error["code"] == refused.value.resp.status
    assert error["message"] == error["errors"][0]["message"]
    return error["code"], error["errors"][0]["reason"]


# -- calendars ----------------------------------------------------------------------------------------------


def test_calendars_are_listed_made_changed_shared_and_deleted(google: Any) -> None:
    assert [c["id"] for c in google.calendarList().list().execute()["items"]] == [ADA]
    made = google.calendars().insert(body={"summary": "Team", "timeZone": "Europe/Paris"}).execute()
    assert made["kind"] == "calendar#calendar"
    id_ = made["id"]
    changed = google.calendars().patch(calendarId=id_, body={"description": "Who is where"}).execute()
    assert (changed["summary"], changed["description"]) == ("Team", "Who is where")
    assert "description" not in google.calendars().update(calendarId=id_, body={"summary": "T"}).execute()
    google.calendarList().patch(calendarId=id_, body={"summaryOverride": "Mine"}).execute()
    assert google.calendarList().get(calendarId=id_).execute()["summaryOverride"] == "Mine"
    rule = {"scope": {"type": "user", "value": BOB}, "role": "reader"}
    assert google.acl().insert(calendarId=id_, body=rule).execute()["id"] == f"user:{BOB}"
    google.acl().patch(calendarId=id_, ruleId=f"user:{BOB}", body={"role": "writer"}).execute()
    roles = {r["id"]: r["role"] for r in google.acl().list(calendarId=id_).execute()["items"]}
    assert roles == {f"user:{ADA}": "owner", f"user:{BOB}": "writer"}
    google.acl().delete(calendarId=id_, ruleId=f"user:{BOB}").execute()
    google.calendars().delete(calendarId=id_).execute()
    assert refusal(google.calendars().get(calendarId=id_)) == (404, "notFound")


def test_colours_and_settings_are_read(google: Any) -> None:
    assert len(google.colors().get().execute()["event"]) == 11
    assert google.settings().get(setting="timezone").execute()["value"] == "America/New_York"


# -- events -------------------------------------------------------------------------------------------------


def test_events_are_walked_over_several_pages(google: Any) -> None:
    seen = []
    request = google.events().list(
        calendarId="primary", maxResults=10, singleEvents=True, orderBy="startTime"
    )
    pages = 0
    while request is not None:
        page = request.execute()
        seen += [event["summary"] for event in page["items"]]
        request = google.events().list_next(request, page)
        pages += 1
    assert (pages, seen) == (3, [f"Slot {number}" for number in range(25)])
    assert page["nextSyncToken"]


def test_an_event_is_made_changed_replaced_and_deleted(google: Any) -> None:
    events = google.events()
    made = events.insert(calendarId="primary", body=MEETING).execute()
    assert (made["kind"], made["summary"]) == ("calendar#event", MEETING["summary"])
    assert made["start"] == {"dateTime": "2025-01-20T10:00:00-05:00", "timeZone": "America/New_York"}
    id_ = made["id"]
    assert events.get(calendarId="primary", eventId=id_).execute() == made
    patched = events.patch(calendarId=ADA, eventId=id_, body={"location": "Room 1"}).execute()
    assert (patched["location"], patched["attendees"]) == ("Room 1", made["attendees"])
    assert patched["etag"] != made["etag"]
    replaced = events.update(
        calendarId=ADA, eventId=id_, body={"start": made["start"], "end": made["end"], "summary": "Review"}
    ).execute()
    assert not {"location", "attendees"} & replaced.keys()
    assert "summary" not in events.patch(calendarId=ADA, eventId=id_, body={"summary": None}).execute()
    events.delete(calendarId=ADA, eventId=id_).execute()
    assert events.get(calendarId=ADA, eventId=id_).execute()["status"] == "cancelled"
    assert refusal(events.delete(calendarId=ADA, eventId=id_)) == (410, "deleted")


def test_a_change_to_another_version_than_the_one_seen_is_refused(google: Any) -> None:
    made = google.events().insert(calendarId="primary", body=MEETING).execute()
    google.events().patch(calendarId="primary", eventId=made["id"], body={"location": "A"}).execute()
    stale = google.events().patch(calendarId="primary", eventId=made["id"], body={"location": "B"})
    stale.headers["If-Match"] = made["etag"]
    assert refusal(stale) == (412, "conditionNotMet")


def test_events_are_filtered(google: Any) -> None:
    events = google.events()
    window = {"timeMin": "2025-02-03T00:00:00Z", "timeMax": "2025-02-05T00:00:00Z"}
    found = events.list(calendarId="primary", **window).execute()["items"]
    assert [event["summary"] for event in found] == ["Slot 2", "Slot 3"]
    assert len(events.list(calendarId="primary", q='"Slot 7"').execute()["items"]) == 1
    uid = found[0]["iCalUID"]
    assert [e["id"] for e in events.list(calendarId="primary", iCalUID=uid).execute()["items"]] == [
        found[0]["id"]
    ]


def test_events_are_found_by_their_extended_properties(hosted: HostedWorld, google: Any) -> None:
    def found(**filters: Any) -> list[str]:
        return [e["summary"] for e in events.list(calendarId="primary", **filters).execute()["items"]]

    events = google.events()
    properties = {"private": {"a": "b", "c": "d=e"}, "shared": {"team": "x"}}
    made = events.insert(calendarId="primary", body=MEETING | {"extendedProperties": properties}).execute()
    assert made["extendedProperties"] == properties
    series = events.insert(
        calendarId="primary", body=STANDUP | {"extendedProperties": {"private": {"a": "b"}}}
    ).execute()
    assert found(privateExtendedProperty="a=b") == [MEETING["summary"], "Standup"]
    assert found(privateExtendedProperty=["a=b", "c=d=e"]) == [MEETING["summary"]]
    assert found(privateExtendedProperty="a=b", singleEvents=True) == [MEETING["summary"], *["Standup"] * 4]
    assert found(privateExtendedProperty="a=b", sharedExtendedProperty="team=x") == [MEETING["summary"]]
    assert found(privateExtendedProperty="a=b", q="standup") == ["Standup"]
    assert found(privateExtendedProperty="a=b", iCalUID=series["iCalUID"]) == ["Standup"]
    for name, wanted in (("private", "a=c"), ("private", "team=x"), ("shared", "a=b"), ("shared", "team=")):
        assert found(**{f"{name}ExtendedProperty": wanted}) == []
    assert found(sharedExtendedProperty="team=x", iCalUID=series["iCalUID"]) == []
    assert refusal(events.list(calendarId="primary", privateExtendedProperty="a"))[0] == 400

    change = {"extendedProperties": {"private": {"a": None, "f": "g"}}}
    patched = events.patch(calendarId="primary", eventId=made["id"], body=change).execute()
    assert patched["extendedProperties"] == {"private": {"c": "d=e", "f": "g"}, "shared": {"team": "x"}}
    with hosted.tools() as tools:
        assert "extendedProperties" not in tools.call("calendar", "get_event", eventId=made["id"])
        tools.call("calendar", "update_event", eventId=made["id"], summary="Renamed")
    assert found(sharedExtendedProperty="team=x") == ["Renamed"]
    one = events.instances(calendarId="primary", eventId=series["id"]).execute()["items"][1]
    moved = events.patch(calendarId="primary", eventId=one["id"], body={"summary": "Moved"}).execute()
    assert moved["extendedProperties"] == {"private": {"a": "b"}}
    body = MEETING | {"extendedProperties": {"shared": {"n": "1"}}}
    replaced = events.update(calendarId="primary", eventId=made["id"], body=body).execute()
    assert replaced["extendedProperties"] == {"shared": {"n": "1"}}
    gone = events.update(calendarId="primary", eventId=made["id"], body=MEETING).execute()
    assert "extendedProperties" not in gone
    wrong = {"extendedProperties": {"private": {"a": 1}}}
    assert refusal(events.insert(calendarId="primary", body=MEETING | wrong)) == (400, "badRequest")
    assert hosted.replay().identical


def test_private_properties_belong_to_one_calendar(episode_of: Callable[..., HostedWorld]) -> None:
    def as_bob(world: World) -> None:
        fill(world, BOB)
        hers = {"private_properties": {"a": "ada"}, "shared_properties": {"team": "x"}}
        world.store(CalendarStore).add_events(ADA, [MEETING | hers])  # type: ignore[list-item]

    with client(episode_of(["calendar"], as_bob)) as google:
        events = google.events()
        (event,) = events.list(calendarId="primary", sharedExtendedProperty="team=x").execute()["items"]
        assert event["extendedProperties"] == {"shared": {"team": "x"}}
        assert events.list(calendarId="primary", privateExtendedProperty="a=ada").execute()["items"] == []
        mine = {"extendedProperties": {"private": {"a": "bob"}}}
        changed = events.patch(calendarId="primary", eventId=event["id"], body=mine).execute()
        assert changed["extendedProperties"] == {"private": {"a": "bob"}, "shared": {"team": "x"}}
        theirs = {"extendedProperties": {"shared": {"team": "y"}}}
        request = events.patch(calendarId="primary", eventId=event["id"], body=theirs)
        assert refusal(request) == (403, "forbiddenForNonOrganizer")


def test_one_instance_is_found_by_its_original_start(google: Any) -> None:
    def starts(id_: str, original: str, **filters: Any) -> list[str]:
        request = events.instances(calendarId="primary", eventId=id_, originalStart=original, **filters)
        return [e["start"].get("dateTime") or e["start"]["date"] for e in request.execute()["items"]]

    events = google.events()
    series = events.insert(calendarId="primary", body=STANDUP).execute()["id"]
    second = "2025-03-10T09:00:00-04:00"
    assert starts(series, second) == starts(series, "2025-03-10T13:00:00Z") == [second]
    assert starts(series, "2025-03-10T09:00:00-05:00") == []
    assert starts(series, second, timeMin="2025-03-11T00:00:00Z") == []
    moved = {
        "start": {"dateTime": "2025-03-11T11:00:00-04:00"},
        "end": {"dateTime": "2025-03-11T11:30:00-04:00"},
    }
    events.patch(calendarId="primary", eventId=f"{series}_20250310T130000Z", body=moved).execute()
    assert starts(series, second) == ["2025-03-11T11:00:00-04:00"]
    assert starts(series, second, timeMin="2025-03-11T00:00:00Z") == ["2025-03-11T11:00:00-04:00"]
    events.delete(calendarId="primary", eventId=f"{series}_20250310T130000Z").execute()
    assert starts(series, second) == []
    assert starts(series, second, showDeleted=True) == ["2025-03-11T11:00:00-04:00"]
    days = {
        "start": {"date": "2025-03-03"},
        "end": {"date": "2025-03-04"},
        "recurrence": ["RRULE:FREQ=DAILY"],
    }
    daily = events.insert(calendarId="primary", body={"summary": "Day", **days}).execute()["id"]
    assert starts(daily, "2025-03-09", timeMin="2025-03-09T12:00:00Z") == ["2025-03-09"]
    assert refusal(events.instances(calendarId="primary", eventId=daily, originalStart="soon"))[0] == 400


def test_a_series_keeps_its_local_time_over_a_change_to_daylight_saving(google: Any) -> None:
    events = google.events()
    series = events.insert(calendarId="primary", body=STANDUP).execute()
    assert series["recurrence"] == STANDUP["recurrence"]
    items = events.instances(calendarId="primary", eventId=series["id"]).execute()["items"]
    assert [item["start"]["dateTime"] for item in items] == [
        "2025-03-03T09:00:00-05:00",
        "2025-03-10T09:00:00-04:00",
        "2025-03-17T09:00:00-04:00",
        "2025-03-24T09:00:00-04:00",
    ]
    assert {item["recurringEventId"] for item in items} == {series["id"]}
    moved = {
        "start": {"dateTime": "2025-03-10T11:00:00-04:00"},
        "end": {"dateTime": "2025-03-10T11:30:00-04:00"},
    }
    events.patch(calendarId="primary", eventId=items[1]["id"], body=moved).execute()
    events.delete(calendarId="primary", eventId=items[2]["id"]).execute()
    window = {"timeMin": "2025-03-01T00:00:00Z", "timeMax": "2025-04-01T00:00:00Z", "singleEvents": True}
    left = events.list(calendarId="primary", orderBy="startTime", **window).execute()["items"]
    assert [item["start"]["dateTime"][5:16] for item in left] == ["03-03T09:00", "03-10T11:00", "03-24T09:00"]
    assert left[1]["originalStartTime"]["dateTime"] == "2025-03-10T09:00:00-04:00"


def test_a_sync_token_leads_from_one_state_to_the_next(google: Any) -> None:
    events = google.events()
    token = events.list(calendarId="primary").execute()["nextSyncToken"]
    made = [events.insert(calendarId="primary", body=MEETING).execute()["id"] for _ in range(3)]
    events.delete(calendarId="primary", eventId=made[0]).execute()
    changed, request = {}, events.list(calendarId="primary", syncToken=token, maxResults=2)
    while request is not None:
        page = request.execute()
        changed |= {event["id"]: event["status"] for event in page["items"]}
        request = events.list_next(request, page)
    assert changed == {made[0]: "cancelled", made[1]: "confirmed", made[2]: "confirmed"}
    again = events.list(calendarId="primary", syncToken=page["nextSyncToken"]).execute()
    assert again["items"] == []
    assert refusal(events.list(calendarId="primary", syncToken=token, q="x")) == (400, "badRequest")
    assert refusal(events.list(calendarId="primary", syncToken="nonsense"))[0] == 400


def test_a_guest_answers_by_changing_the_attendees(episode_of: Callable[..., HostedWorld]) -> None:
    def as_bob(world: World) -> None:
        fill(world, BOB)
        world.store(CalendarStore).add_events(ADA, [MEETING])  # type: ignore[list-item]

    answer = {"attendees": [{"email": BOB, "responseStatus": "accepted"}]}
    with client(episode_of(["calendar"], as_bob)) as google:
        (event,) = google.events().list(calendarId="primary").execute()["items"]
        changed = google.events().patch(calendarId="primary", eventId=event["id"], body=answer).execute()
        assert changed["attendees"][0]["responseStatus"] == "accepted"
        request = google.events().patch(calendarId="primary", eventId=event["id"], body={"summary": "Mine"})
        assert refusal(request) == (403, "forbiddenForNonOrganizer")


def test_free_and_busy_times(google: Any) -> None:
    body = {
        "timeMin": "2025-02-01T00:00:00Z",
        "timeMax": "2025-02-02T00:00:00Z",
        "items": [{"id": ADA}, {"id": "nobody@example.org"}],
    }
    found = google.freebusy().query(body=body).execute()["calendars"]
    assert found[ADA]["busy"] == [{"start": "2025-02-01T09:00:00Z", "end": "2025-02-01T10:00:00Z"}]
    assert found["nobody@example.org"]["errors"][0]["reason"] == "notFound"
    assert google.freebusy().query(body=body | {"items": []}).execute()["calendars"] == {}


# -- the two doors, and refusals ----------------------------------------------------------------------------


def test_what_one_door_changes_the_other_sees(hosted: HostedWorld, google: Any) -> None:
    made = google.events().insert(calendarId="primary", body=MEETING).execute()
    with hosted.tools() as tools:
        assert tools.call("calendar", "get_event", eventId=made["id"])["summary"] == MEETING["summary"]
        tools.call("calendar", "update_event", eventId=made["id"], summary="Renamed")
    assert google.events().get(calendarId="primary", eventId=made["id"]).execute()["summary"] == "Renamed"
    assert "POST /calendar/v3/calendars/{calendarId}/events" in [entry.tool for entry in hosted.journal()]
    assert hosted.replay().identical


def test_a_wrong_token_opens_nothing(hosted: HostedWorld) -> None:
    # The client asks for a fresh token when one is refused, which it has no means for.
    with client(hosted, "x" * 32) as google, pytest.raises(RefreshError):
        google.events().list(calendarId="primary").execute()
    assert hosted.journal() == []


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        ({}, 400, "required"),
        (MEETING | {"end": {"dateTime": "2025-01-20T09:00:00-05:00"}}, 400, "timeRangeEmpty"),
        (MEETING | {"start": "tomorrow"}, 400, "badRequest"),
        (MEETING | {"attendees": [{"email": 5}]}, 400, "badRequest"),
        (MEETING | {"attendees": "Bob"}, 400, "badRequest"),
        (MEETING | {"recurrence": [1]}, 400, "badRequest"),
        (MEETING | {"reminders": {"overrides": [3]}}, 400, "badRequest"),
        (STANDUP | {"recurrence": ["RRULE:FREQ=NEVER"]}, 400, "invalid"),
        (MEETING | {"colorId": "99"}, 400, "invalid"),
        (MEETING | {"id": "NOT OK"}, 400, "invalid"),
    ],
)
def test_a_bad_body_is_refused_and_leaves_no_trace(
    hosted: HostedWorld, google: Any, body: Any, status: int, reason: str
) -> None:
    before = hosted.tables("calendar")
    assert refusal(google.events().insert(calendarId="primary", body=body)) == (status, reason)
    assert hosted.tables("calendar") == before
    assert [entry.status for entry in hosted.journal()] == ["refused"]


def test_what_is_not_there_or_not_permitted_is_refused(hosted: HostedWorld, google: Any) -> None:
    assert refusal(google.events().get(calendarId="primary", eventId="nothing")) == (404, "notFound")
    assert refusal(google.calendars().get(calendarId="nobody@example.org")) == (404, "notFound")
    assert refusal(google.events().insert(calendarId=BOB, body=MEETING))[0] in (403, 404)
    assert refusal(google.calendars().delete(calendarId=ADA)) == (403, "cannotDeletePrimaryCalendar")


@pytest.mark.parametrize("method", ["insert", "update", "patch"])
@pytest.mark.parametrize(
    "inside",
    [
        {"reminders": {"useDefault": False, "x": 1}},
        {"start": {**MEETING["start"], "x": 1}},
        {"attendees": [{"email": BOB, "x": 1}]},
        {"extendedProperties": {"x": {"a": "b"}}},
    ],
)
def test_an_unknown_field_inside_of_a_field_is_refused(google: Any, method: str, inside: Any) -> None:
    event = {} if method == "insert" else google.events().insert(calendarId="primary", body=MEETING).execute()
    where = {"eventId": event["id"]} if event else {}
    call = getattr(google.events(), method)
    assert refusal(call(calendarId="primary", body={**MEETING, **inside}, **where))[0] == 400


def test_every_tool_has_a_counterpart() -> None:
    """What each tool does is walked above; a new tool has to be added here with its route."""
    # ``get_current_time`` is no part of the vendor's API.
    assert set(load_service("calendar").tools) - {"get_current_time"} == {
        "list_calendars", "get_calendar", "create_calendar", "update_calendar", "delete_calendar",
        "subscribe_calendar", "unsubscribe_calendar", "create_event", "create_all_day_event", "get_event",
        "update_event", "delete_event", "list_events", "search_events", "list_event_instances",
        "list_changed_events", "respond_to_event", "move_event", "get_freebusy", "list_colors",
        "list_calendar_acl", "share_calendar", "unshare_calendar",
    }  # fmt: skip
