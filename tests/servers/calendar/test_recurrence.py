"""Recurring events: expansion, instances that are moved or cancelled, the rules of RFC 5545."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from dateutil.rrule import rrulestr

from mesocosm.servers.calendar.store.recurrence import Series, check
from mesocosm.services.calling import ToolError

EVERYTHING = (datetime(2016, 5, 1), datetime(2019, 9, 1))  # noqa: DTZ001


def starts(events: list[dict[str, Any]]) -> list[str]:
    return [event["start"].get("dateTime") or event["start"]["date"] for event in events]


def test_nine_o_clock_stays_nine_o_clock_when_clocks_change(calendar: Any, weekly: str) -> None:
    events = calendar.events("2025-03-01", "2025-03-20")
    assert starts(events) == [
        "2025-03-03T09:00:00-05:00",
        "2025-03-10T09:00:00-04:00",
        "2025-03-17T09:00:00-04:00",
    ]
    assert events[1]["id"] == f"{weekly}_20250310T130000Z"
    assert events[1]["recurringEventId"] == weekly
    assert "recurrence" not in events[1]
    assert calendar("get_event", eventId=events[1]["id"]) == events[1]


def test_a_series_is_shown_as_such_on_request(calendar: Any, weekly: str) -> None:
    [series] = calendar.events("2025-06-01", "2025-06-20", singleEvents=False)
    assert (series["id"], series["recurrence"]) == (weekly, ["RRULE:FREQ=WEEKLY;BYDAY=MO"])


def test_a_moved_instance_keeps_its_original_start(calendar: Any, weekly: str) -> None:
    start, end = {"dateTime": "2025-03-12T14:00:00-04:00"}, {"dateTime": "2025-03-12T15:00:00-04:00"}
    moved = calendar("update_event", eventId=f"{weekly}_20250310T130000Z", start=start, end=end)
    assert moved["originalStartTime"]["dateTime"] == "2025-03-10T09:00:00-04:00"
    events = calendar.events("2025-03-01", "2025-03-20")
    assert starts(events)[1] == "2025-03-12T14:00:00-04:00"
    assert len(events) == 3
    calendar.sign_in("bob@example.org")
    assert starts(calendar.events("2025-03-01", "2025-03-20"))[1] == "2025-03-12T19:00:00+01:00"


def test_a_deleted_instance_leaves_the_others(calendar: Any, weekly: str) -> None:
    calendar("delete_event", eventId=f"{weekly}_20250310T130000Z")
    assert starts(calendar.events("2025-03-01", "2025-03-20")) == [
        "2025-03-03T09:00:00-05:00",
        "2025-03-17T09:00:00-04:00",
    ]
    [_, gone, _] = calendar.events("2025-03-01", "2025-03-20", showDeleted=True)
    assert (gone["status"], gone["originalStartTime"]["dateTime"]) == (
        "cancelled",
        "2025-03-10T09:00:00-04:00",
    )
    with pytest.raises(ToolError, match="Resource has been deleted"):
        calendar("delete_event", eventId=f"{weekly}_20250310T130000Z")


def test_a_change_of_the_series_reaches_changed_instances(calendar: Any, weekly: str) -> None:
    calendar("update_event", eventId=f"{weekly}_20250310T130000Z", location="Garden")
    calendar("update_event", eventId=weekly, summary="Daily", location="Room 2")
    events = calendar.events("2025-03-01", "2025-03-20")
    assert [e["summary"] for e in events] == ["Daily"] * 3
    assert [e["location"] for e in events] == ["Room 2", "Garden", "Room 2"]


def test_new_times_of_a_series_reset_its_changed_instances(calendar: Any, weekly: str) -> None:
    calendar("delete_event", eventId=f"{weekly}_20250310T130000Z")
    start = {"dateTime": "2025-03-03T10:00:00", "timeZone": "America/New_York"}
    calendar("update_event", eventId=weekly, start=start, end=start | {"dateTime": "2025-03-03T11:00:00"})
    assert [s[11:16] for s in starts(calendar.events("2025-03-01", "2025-03-20"))] == ["10:00"] * 3


def test_deleting_the_series_deletes_all_of_it(calendar: Any, weekly: str) -> None:
    calendar("update_event", eventId=f"{weekly}_20250310T130000Z", location="Garden")
    calendar("delete_event", eventId=weekly)
    assert calendar.events("2025-03-01", "2025-06-20") == []
    calendar.sign_in("bob@example.org")
    assert calendar.events("2025-03-01", "2025-06-20") == []


def test_one_instance_can_be_declined(calendar: Any, weekly: str) -> None:
    calendar.sign_in("bob@example.org")
    calendar("respond_to_event", eventId=f"{weekly}_20250310T130000Z", response="declined")
    calendar.sign_in("ada@example.org")
    answers = [e["attendees"][0]["responseStatus"] for e in calendar.events("2025-03-01", "2025-03-20")]
    assert answers == ["needsAction", "declined", "needsAction"]


def test_instances_come_in_pages(calendar: Any, weekly: str) -> None:
    calendar("update_event", eventId=f"{weekly}_20250317T130000Z", summary="Special")
    first = calendar("list_event_instances", eventId=weekly, maxResults=2)
    second = calendar("list_event_instances", eventId=weekly, maxResults=2, pageToken=first["nextPageToken"])
    assert [e["id"][-16:] for e in first["items"] + second["items"]] == [
        "20250303T140000Z",
        "20250310T130000Z",
        "20250317T130000Z",
        "20250324T130000Z",
    ]
    assert second["items"][0]["summary"] == "Special"


def test_dates_are_added_and_removed(calendar: Any) -> None:
    lines = ["RRULE:FREQ=DAILY;COUNT=3", "EXDATE;VALUE=DATE:20250121", "RDATE;VALUE=DATE:20250201"]
    calendar("create_all_day_event", summary="Fair", startDate="2025-01-20", recurrence=lines)
    events = calendar.events("2025-01-01", "2025-03-01")
    assert starts(events) == ["2025-01-20", "2025-01-22", "2025-02-01"]
    assert events[0]["id"].endswith("_20250120")


def test_until_is_inclusive_and_in_utc(calendar: Any) -> None:
    zone = "America/New_York"
    calendar(
        "create_event",
        summary="Course",
        start={"dateTime": "2025-01-20T09:00:00", "timeZone": zone},
        end={"dateTime": "2025-01-20T10:00:00", "timeZone": zone},
        recurrence=["RRULE:FREQ=DAILY;UNTIL=20250122T140000Z"],
    )
    assert len(calendar.events("2025-01-01", "2025-03-01")) == 3


@pytest.mark.parametrize(
    "line",
    [
        "FREQ=WEEKLY",
        "RRULE:FREQ=SECONDLY",
        "RRULE:FREQ=DAILY;COUNT=0",
        "RRULE:FREQ=DAILY;COUNT=2;UNTIL=20250301",
        "RRULE:FREQ=WEEKLY;BYDAY=XX",
        "RRULE:FREQ=WEEKLY;BYDAY=2MO",
        "RRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
        # dateutil would look for their first date up to the year 9999, or fails on the way.
        "RRULE:FREQ=DAILY;INTERVAL=7;BYDAY=TU;BYMONTHDAY=30;BYMONTH=2,4;BYSETPOS=1",
        "RRULE:FREQ=YEARLY;BYYEARDAY=366;BYMONTH=2",
        "RRULE:FREQ=WEEKLY;BYDAY=MO;BYSETPOS=2",
        "RRULE:FREQ=MONTHLY;BYDAY=5MO;BYMONTHDAY=1",
        "RRULE:FREQ=YEARLY;BYDAY=53MO;BYMONTH=2",
        "RRULE:FREQ=MONTHLY;BYDAY=1MO,53MO",
        "RRULE:FREQ=DAILY;UNTIL=20200101",
        "EXDATE:tomorrow",
        "RDATE;VALUE=DATE:20250401",
        "RRULE:FREQ=DAILY\nRRULE:FREQ=DAILY",
    ],
)
def test_a_bad_recurrence_is_refused_without_a_trace(calendar: Any, weekly: str, line: str) -> None:
    before = calendar.state()
    with pytest.raises(ToolError, match="Invalid recurrence rule"):
        calendar("update_event", eventId=weekly, recurrence=[line])
    assert calendar.state() == before


def test_an_unknown_instance_is_not_found(calendar: Any, weekly: str) -> None:
    for suffix in ("20250311T130000Z", "20250310", "99999999T999999Z", "20250310T140000Z"):
        with pytest.raises(ToolError, match="Not Found"):
            calendar("get_event", eventId=f"{weekly}_{suffix}")


@pytest.mark.parametrize(
    "rule",
    [
        "FREQ=DAILY;INTERVAL=3",
        "FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR;COUNT=400",
        "FREQ=WEEKLY;INTERVAL=3;BYDAY=TU,SU;WKST=SU",
        "FREQ=WEEKLY;COUNT=150",
        "FREQ=MONTHLY;BYMONTHDAY=-1",
        "FREQ=MONTHLY;INTERVAL=2;BYDAY=2TU",
        "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
        "FREQ=MONTHLY",
        "FREQ=YEARLY;BYMONTH=3,11;BYDAY=1SU",
    ],
)
def test_a_window_holds_what_counting_from_the_start_gives(rule: str) -> None:
    start = datetime(2015, 1, 31, 9, 30)  # noqa: DTZ001
    series = Series(start, timedelta(hours=1), False, "UTC", f"RRULE:{rule}")
    series = Series(start, timedelta(hours=1), False, "UTC", f"RRULE:{rule}", check(series))
    found = [instance.local for instance in series.between(*EVERYTHING)]
    assert found == rrulestr(rule, dtstart=start).between(*EVERYTHING, inc=True)
