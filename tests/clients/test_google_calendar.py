"""``google-api-python-client`` on Calendar: what programs send besides what they mean."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import pytest
from google.oauth2.credentials import Credentials
from googleapiclient.discovery import build
from googleapiclient.errors import HttpError
from rest.hosted import HostedWorld

from mesocosm.servers.calendar.rest.quick_add import event_of
from mesocosm.servers.calendar.store import CalendarStore
from mesocosm.services.world import World

ADA, BOB = "ada@example.org", "bob@example.org"
EVENT = {
    "summary": "Review",
    "start": {"dateTime": "2025-01-20T10:00:00-05:00"},
    "end": {"dateTime": "2025-01-20T11:00:00-05:00"},
    "attendees": [{"email": BOB}, {"email": "cy@example.net"}],
}
STATUS = {
    "eventType": "focusTime",
    "summary": "Write",
    "start": {"dateTime": "2025-01-20T13:00:00-05:00"},
    "end": {"dateTime": "2025-01-20T15:00:00-05:00"},
    "focusTimeProperties": {"chatStatus": "doNotDisturb", "autoDeclineMode": "declineNone"},
}


def fill(world: World) -> None:
    store = world.store(CalendarStore)
    store.create_account(ADA, "Ada Byron", "America/New_York")
    store.create_account(BOB, "Bob", "Europe/Zurich")
    store.sign_in(ADA)


@pytest.fixture
def google(episode_of: Callable[..., HostedWorld]) -> Iterator[Any]:
    hosted = episode_of(["calendar"], fill)
    with build(
        "calendar",
        "v3",
        credentials=Credentials(token=hosted.id),  # type: ignore[no-untyped-call]
        client_options={"api_endpoint": hosted.api("calendar") + "/calendar/v3/"},
        static_discovery=True,
    ) as service:
        yield service


def test_parameters_that_change_nothing_are_taken(google: Any) -> None:
    told = {"sendUpdates": "all", "sendNotifications": True, "supportsAttachments": True}
    made = (
        google.events()
        .insert(calendarId="primary", body=EVENT, conferenceDataVersion=1, maxAttendees=10, **told)
        .execute()
    )
    google.events().patch(
        calendarId="primary", eventId=made["id"], body={"summary": "R"}, conferenceDataVersion=0, **told
    ).execute()
    listed = google.events().list(
        calendarId="primary", eventTypes=["default"], showHiddenInvitations=True, alwaysIncludeEmail=True
    )
    assert [event["summary"] for event in listed.execute()["items"]] == ["R"]
    google.events().delete(calendarId="primary", eventId=made["id"], sendUpdates="none").execute()
    assert google.calendarList().list(showHidden=True, showDeleted=True).execute()["items"]


def test_parameters_that_change_the_answer_are_served(google: Any) -> None:
    events = google.events()
    made = events.insert(calendarId="primary", body=EVENT).execute()
    few = events.get(calendarId="primary", eventId=made["id"], maxAttendees=1).execute()
    assert (few["attendeesOmitted"], few["attendees"]) == (True, [])
    assert not events.list(calendarId="primary", eventTypes=["focusTime"]).execute()["items"]
    part = events.list(calendarId="primary", fields="items(id,start/timeZone),nextPageToken").execute()
    assert part == {"items": [{"id": made["id"], "start": {"timeZone": "America/New_York"}}]}
    with pytest.raises(HttpError, match="Invalid field selection items/sumary"):
        events.list(calendarId="primary", fields="items(id,sumary)").execute()
    with pytest.raises(HttpError, match="Invalid field selection name"):
        events.insert(calendarId="primary", body=EVENT, fields="id,name").execute()
    assert len(events.list(calendarId="primary").execute()["items"]) == 1


def test_what_is_not_kept_is_refused_by_name(google: Any) -> None:
    body = EVENT | {"attachments": [{"fileUrl": "https://example.org/a.pdf"}]}
    with pytest.raises(HttpError, match="attachments"):
        google.events().insert(calendarId="primary", body=body, supportsAttachments=True).execute()
    declining = STATUS | {"focusTimeProperties": {"autoDeclineMode": "declineAllConflictingInvitations"}}
    with pytest.raises(HttpError, match="declineAllConflictingInvitations is not supported"):
        google.events().insert(calendarId="primary", body=declining).execute()


def test_conferences_are_made_kept_and_taken_off(google: Any) -> None:
    events, where = google.events(), {"calendarId": "primary", "conferenceDataVersion": 1}
    asked = {"createRequest": {"requestId": "r1", "conferenceSolutionKey": {"type": "hangoutsMeet"}}}
    plain = events.insert(calendarId="primary", body=EVENT | {"conferenceData": asked}).execute()
    assert "conferenceData" not in plain  # version 0 takes no notice of it
    made = events.insert(**where, body=EVENT | {"conferenceData": asked}).execute()
    name = made["conferenceData"]["conferenceId"]
    assert (
        made["hangoutLink"]
        == made["conferenceData"]["entryPoints"][0]["uri"]
        == f"https://meet.google.com/{name}"
    )
    assert made["conferenceData"]["createRequest"]["status"] == {"statusCode": "success"}
    again = events.patch(**where, eventId=made["id"], body={"conferenceData": asked}).execute()
    assert again["conferenceData"]["conferenceId"] == name  # the same request makes no other
    kept = events.update(calendarId="primary", eventId=made["id"], body=EVENT).execute()
    assert kept["conferenceData"] == made["conferenceData"]
    copy = events.insert(**where, body=EVENT | {"conferenceData": made["conferenceData"]}).execute()
    assert copy["hangoutLink"] == made["hangoutLink"]
    gone = events.patch(**where, eventId=made["id"], body={"conferenceData": None}).execute()
    assert not {"conferenceData", "hangoutLink"} & gone.keys()
    asked["createRequest"]["conferenceSolutionKey"] = {"type": "eventHangout"}
    with pytest.raises(HttpError, match="Invalid conference type value"):
        events.insert(**where, body=EVENT | {"conferenceData": asked}).execute()


def test_events_that_are_no_meetings(google: Any) -> None:
    events = google.events()
    focus = events.insert(calendarId="primary", body=STATUS).execute()
    assert (focus["eventType"], focus["focusTimeProperties"]) == ("focusTime", STATUS["focusTimeProperties"])
    changed = events.patch(
        calendarId="primary", eventId=focus["id"], body={"focusTimeProperties": {"chatStatus": "available"}}
    ).execute()
    assert changed["focusTimeProperties"] == {"chatStatus": "available", "autoDeclineMode": "declineNone"}
    place = {
        "eventType": "workingLocation",
        "start": {"date": "2025-01-21"},
        "end": {"date": "2025-01-22"},
        "visibility": "public",
        "transparency": "transparent",
        "workingLocationProperties": {"type": "customLocation", "customLocation": {"label": "Library"}},
    }
    assert (
        events.insert(calendarId="primary", body=place).execute()["workingLocationProperties"]
        == (place["workingLocationProperties"])
    )
    listed = events.list(calendarId="primary", eventTypes=["workingLocation", "outOfOffice"]).execute()
    assert [event["eventType"] for event in listed["items"]] == ["workingLocation"]
    for body, message in (
        (place | {"transparency": "opaque"}, "transparent"),
        (STATUS | {"start": {"date": "2025-01-20"}, "end": {"date": "2025-01-21"}}, "dateTime"),
        (STATUS | {"attendees": [{"email": BOB}]}, "no attendees"),
        (EVENT | {"focusTimeProperties": {}}, "the event's type is default"),
        (EVENT | {"eventType": "party"}, "eventType"),
    ):
        with pytest.raises(HttpError, match=message):
            events.insert(calendarId="primary", body=body).execute()
    with pytest.raises(HttpError, match="cannot be changed"):
        events.patch(calendarId="primary", eventId=focus["id"], body={"eventType": "outOfOffice"}).execute()


def test_an_event_of_another_product_is_imported(google: Any) -> None:
    events = google.events()
    theirs = EVENT | {"iCalUID": "040000008200E@outlook.example", "organizer": {"email": "dee@example.com"}}
    made = events.import_(calendarId="primary", body=theirs).execute()
    assert (made["iCalUID"], made["organizer"]) == (theirs["iCalUID"], theirs["organizer"])
    again = events.import_(calendarId="primary", body=theirs | {"summary": "Moved"}).execute()
    assert (again["id"], again["summary"]) == (made["id"], "Moved")
    found = events.list(calendarId="primary", iCalUID=theirs["iCalUID"]).execute()["items"]
    assert [event["id"] for event in found] == [made["id"]]
    with pytest.raises(HttpError, match="already exists"):
        events.insert(calendarId="primary", body=theirs).execute()


def test_events_are_imported_added_by_a_sentence_and_cleared(google: Any) -> None:
    events = google.events()
    copy = events.import_(calendarId="primary", body=EVENT | {"iCalUID": "abcde12345@google.com"}).execute()
    assert copy["iCalUID"] == "abcde12345@google.com"
    quick = events.quickAdd(calendarId="primary", text="Lunch with Bob on 2031-05-06 12-1pm").execute()
    assert (quick["summary"], quick["start"]["dateTime"]) == ("Lunch with Bob", "2031-05-06T12:00:00-04:00")
    google.calendars().clear(calendarId="primary").execute()
    assert not events.list(calendarId="primary").execute()["items"]


def test_settings_and_colours_of_calendars(google: Any) -> None:
    settings = {one["id"]: one["value"] for one in google.settings().list().execute()["items"]}
    assert settings["timezone"] == "America/New_York"
    assert google.settings().get(setting="locale").execute()["value"] == settings["locale"] == "en"
    entry = google.calendarList().patch(calendarId="primary", body={"colorId": "7"}, colorRgbFormat=False)
    assert entry.execute()["colorId"] == "7"


@pytest.mark.parametrize(
    ("text", "summary", "start", "end"),
    [
        ("Lunch tomorrow 12-1pm", "Lunch", "2025-01-16T12:00:00", "2025-01-16T13:00:00"),
        ("Call Ann Friday at 3pm", "Call Ann", "2025-01-17T15:00:00", "2025-01-17T16:00:00"),
        ("Dentist on March 3rd 9:30", "Dentist", "2025-03-03T09:30:00", "2025-03-03T10:30:00"),
        ("Trip 2/14", "Trip", "2025-02-14", "2025-02-15"),
        ("Standup at 9am", "Standup", "2025-01-16T09:00:00", "2025-01-16T10:00:00"),
        ("Think", "Think", "2025-01-15T10:00:00", "2025-01-15T11:00:00"),
        ("Party tonight 9pm-1am", "Party", "2025-01-15T21:00:00", "2025-01-16T01:00:00"),
    ],
)
def test_a_sentence_is_an_event(text: str, summary: str, start: str, end: str) -> None:
    found = event_of(text, datetime(2025, 1, 15, 10, 0, 30))  # noqa: DTZ001 - by the calendar's clock
    assert found["summary"] == summary
    assert [next(iter(found[key].values())) for key in ("start", "end")] == [start, end]
