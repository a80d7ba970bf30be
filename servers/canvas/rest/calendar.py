"""Events, to-dos, and recent activity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, TypedDict

from mesocosm.doors.request import Request
from mesocosm.errors import Invalid
from mesocosm.servers.canvas.rest.api import Paged, Reading, UserId, api, context_courses, context_users
from mesocosm.servers.canvas.rest.assignments import assignment_view
from mesocosm.servers.canvas.store import CanvasStore, values
from mesocosm.servers.canvas.store.access import GRADERS, denied
from mesocosm.servers.canvas.tools import dashboard
from mesocosm.servers.canvas.tools.dashboard import event_json
from mesocosm.servers.canvas.tools.service import Row
from mesocosm.services.schema import Json
from mesocosm.services.service import Page, Paging

_UPCOMING_DAYS = 7


class EventFields(TypedDict, total=False):
    """Fields of an event from a client."""

    context_code: str
    title: str
    description: str
    location_name: str
    start_at: str
    end_at: str
    all_day: bool


def _event(request: Request, event: Row) -> Json:
    shown = event_json(event)
    return shown | {
        "type": "event",
        "effective_context_code": None,
        "all_context_codes": shown["context_code"],
        "all_day_date": event["start_at"][:10] if event["all_day"] else None,
        "location_address": None,
        "parent_event_id": None,
        "child_events_count": 0,
        "child_events": [],
        "hidden": False,
        "url": f"{request.base}{api.prefix}/calendar_events/{event['id']}",
        "created_at": event["created_at"],
        "updated_at": event["updated_at"],
    }


def _due(assignment: Json) -> Json:
    """An assignment as an event: when it is due."""
    return {
        "id": f"assignment_{assignment['id']}",
        "type": "assignment",
        "title": assignment["name"],
        "description": assignment["description"],
        "start_at": assignment["due_at"],
        "end_at": assignment["due_at"],
        "all_day": False,
        "context_code": f"course_{assignment['course_id']}",
        "workflow_state": assignment["workflow_state"],
        "html_url": assignment["html_url"],
        "assignment": assignment,
    }


@api.get("/calendar_events")
def list_events(
    store: CanvasStore,
    request: Request,
    paging: Paged,
    type: str = "event",
    start_date: str | None = None,
    end_date: str | None = None,
    all_events: bool = False,
    context_codes: list[str] | None = None,
) -> Page:
    """The events of calendars, one's own unless others are named; without dates those of today."""
    since = values.moment(start_date, "start_date") or store.stamp[:10]
    until = values.moment(end_date, "end_date", end_of_day=True) or f"{store.stamp[:10]}T23:59:59Z"
    if all_events:
        since, until = "", "9"
    if until < since:
        raise Invalid("end_date must not be before start_date", code="end_date.invalid")
    courses, users = context_courses(context_codes), context_users(context_codes)
    if type == "assignment":
        return _due_between(store, courses, since, until, paging)
    owner = users[0] if users else None if courses else store.user_id
    return store.calendar.find_events(courses, owner, since, until, paging).of(partial(_event, request))


def _due_between(store: CanvasStore, courses: list[int], since: str, until: str, paging: Paging) -> Page:
    accesses = {key: store.reading(key) for key in courses}
    listing = store.assignments.assignments_due(list(accesses.values()), since, until, paging)
    return listing.of(lambda row: _due(assignment_view(row, accesses[row["course_id"]])))


@api.get("/users/{user_id}/calendar_events")
def list_user_events(
    store: CanvasStore,
    request: Request,
    paging: Paged,
    user_id: UserId,
    start_date: str | None = None,
    end_date: str | None = None,
    all_events: bool = False,
) -> Page:
    """The events of one's own calendar and of one's courses."""
    if user_id != store.user_id:
        raise denied()
    today = None if all_events else store.stamp[:10]
    return store.calendar.events(start_date or today, end_date or today, paging).of(partial(_event, request))


@api.get("/calendar_events/{event_id:int}")
def get_event(store: CanvasStore, request: Request, event_id: int) -> dict[str, Any]:
    return _event(request, store.calendar.event(event_id))


@api.post("/calendar_events", status=201)
def create_event(store: CanvasStore, request: Request, calendar_event: EventFields) -> dict[str, Any]:
    """Put an event into a course's calendar, or one's own."""
    fields: dict[str, Any] = dict(calendar_event)
    code = fields.pop("context_code", "")
    courses, users = context_courses([code]), context_users([code])
    if not courses and users != [store.user_id]:
        raise denied()
    return _event(request, store.calendar.create_event(courses[0] if courses else None, fields))


@api.put("/calendar_events/{event_id:int}")
def update_event(
    store: CanvasStore, request: Request, event_id: int, calendar_event: EventFields
) -> dict[str, Any]:
    """Change an event; it stays in its calendar."""
    fields = {name: value for name, value in calendar_event.items() if name != "context_code"}
    return _event(request, store.calendar.update_event(event_id, fields))


@api.delete("/calendar_events/{event_id:int}")
def delete_event(store: CanvasStore, request: Request, event_id: int) -> dict[str, Any]:
    return _event(request, store.calendar.delete_event(event_id)) | {"workflow_state": "deleted"}


# -- what is to be done -----------------------------------------------------------------------------------


@api.get("/users/self/upcoming_events")
def list_upcoming(store: CanvasStore, request: Request) -> list[dict[str, Any]]:
    """The events and deadlines of the next days."""
    events = store.calendar.events(store.stamp, store.days_away(_UPCOMING_DAYS), Paging(1, 100)).items
    until = store.days_away(_UPCOMING_DAYS)
    due = [row for row in store.assignments.upcoming(100) if row["due_at"] <= until]
    shown = [_event(request, event) for event in events]
    shown += [_due(assignment_view(row, store.access(row["course_id"]))) for row in due]
    return sorted(shown, key=lambda entry: (entry["start_at"], str(entry["id"])))


@api.get("/users/self/todo")
def list_todo(store: CanvasStore, request: Request, paging: Paged) -> Page:
    """The assignments that wait to be handed in or graded."""
    return _todo(store, request, store.submissions.to_do(paging))


@api.get("/users/self/todo_item_count")
def count_todo(store: CanvasStore) -> dict[str, int]:
    """Count the assignments to submit or to grade."""
    roles = [row["role"] in GRADERS for row in _all_todo(store)]
    return {"needs_grading_count": sum(roles), "assignments_needing_submitting": roles.count(False)}


def _all_todo(store: CanvasStore) -> Iterator[Row]:
    page, total = 1, 1
    while (page - 1) * 100 < total:
        listing = store.submissions.to_do(Paging(page, 100))
        yield from listing.items
        page, total = page + 1, listing.total


@api.get("/courses/{course_id}/todo")
def list_course_todo(store: CanvasStore, request: Request, access: Reading, paging: Paged) -> Page:
    """The assignments of a course that wait to be handed in or graded."""
    return _todo(store, request, store.submissions.to_do(paging, course_id=access.course["id"]))


def _todo(store: CanvasStore, request: Request, listing: Page) -> Page:
    return listing.holding(_task(store, request, row) for row in listing.items)


def _task(store: CanvasStore, request: Request, row: Row) -> Json:
    grading = row["role"] in GRADERS
    access = store.access(row["course_id"])
    kind = "grading" if grading else "submitting"
    todo = f"{request.base}{api.prefix}/users/self/todo/assignment_{row['id']}/{kind}"
    assignment = assignment_view(row, access)
    shown: Json = {
        "type": kind,
        "assignment": assignment,
        "context_type": "Course",
        "course_id": row["course_id"],
        "context_name": access.course["name"],
        "ignore": f"{todo}?permanent=0",
        "ignore_permanently": f"{todo}?permanent=1",
        "html_url": assignment["html_url"],
    }
    return shown | ({"needs_grading_count": row["waiting"]} if grading else {})


# -- what is new, and the dashboard -----------------------------------------------------------------------


@api.get("/users/self/activity_stream")
@api.get("/users/activity_stream")
def list_activity(store: CanvasStore, paging: Paged) -> Page:
    """List recent activity, newest first."""
    return dashboard.canvas_list_notifications(store, paging)


def _news(store: CanvasStore, course_id: int | None = None) -> Iterator[Json]:
    page, total = 1, 1
    while (page - 1) * 100 < total:
        shown = dashboard.canvas_list_notifications(store, Paging(page, 100))
        yield from (entry for entry in shown.items if course_id in (None, entry["course_id"]))
        page, total = page + 1, shown.total


def _summary(news: Iterable[Json]) -> list[Json]:
    counts = Counter(entry["type"] for entry in news)
    return [{"type": kind, "unread_count": 0, "count": counts[kind]} for kind in sorted(counts)]


@api.get("/users/self/activity_stream/summary")
def summarise_activity(store: CanvasStore) -> list[Json]:
    """Count recent activity by kind."""
    return _summary(_news(store))


@api.get("/courses/{course_id}/activity_stream")
def list_course_activity(store: CanvasStore, access: Reading, paging: Paged) -> Page:
    """List recent activity in a course, newest first."""
    found = list(_news(store, access.course["id"]))
    page, per_page = paging
    return Page(found[(page - 1) * per_page : page * per_page], page, per_page, len(found))


@api.get("/courses/{course_id}/activity_stream/summary")
def summarise_course_activity(store: CanvasStore, access: Reading) -> list[Json]:
    """Count recent activity in a course by kind."""
    return _summary(_news(store, access.course["id"]))


@api.get("/dashboard/dashboard_cards")
def list_dashboard_cards(store: CanvasStore, paging: Paged) -> Page:
    return dashboard.canvas_get_dashboard_cards(store, paging)
