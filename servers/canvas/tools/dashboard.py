"""What is on: the dashboard, the calendar, what is due and what is new."""

from __future__ import annotations

from typing import Annotated, Any

from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.servers.canvas.store.access import address
from mesocosm.servers.canvas.tools.assignments import assignment_json, number
from mesocosm.servers.canvas.tools.objects import courses_json, profile_json
from mesocosm.servers.canvas.tools.service import Row, server
from mesocosm.services.schema import Json, Number
from mesocosm.services.service import Page, Paging, paged, same


def event_json(event: Row) -> Json:
    """An event of a calendar."""
    course_id = event["course_id"]
    return {
        **same(event, "id", "title", "description", "start_at", "end_at", "all_day", "location_name"),
        "context_code": f"course_{course_id}" if course_id else f"user_{event['user_id']}",
        "workflow_state": "active",
        "html_url": f"{address()}/calendar?event_id={event['id']}",
    }


CARDS = 20
"""Courses on the dashboard; it also says how many there are."""
DUE = 5

ROLE_NAMES = {"StudentEnrollment": "Student", "TeacherEnrollment": "Teacher", "TaEnrollment": "TA"}


@server.reads
def canvas_list_calendar_events(
    store: CanvasStore,
    start_date: str | None = None,
    end_date: str | None = None,
    *,
    paging: Annotated[Paging, paged("Events")],
) -> Page:
    """List the events of your calendar and of your courses' calendars, by start.

    Args:
        start_date: Only events that end at this time or later (ISO 8601 date or time).
        end_date: Only events that start by this time; a date includes its whole day.
    """
    return store.calendar.events(start_date, end_date, paging).of(event_json)


@server.reads
def canvas_get_upcoming_assignments(store: CanvasStore, limit: Number | None = None) -> list[dict[str, Any]]:
    """List the assignments and graded quizzes of your courses that are due next, the first one first.

    Args:
        limit: At most so many, 1 to 100; 10 if left out.
    """
    return [_due(store, row) for row in store.assignments.upcoming(10 if limit is None else limit)]


def _due(store: CanvasStore, row: Row) -> Json:
    course = {"id": row["course_id"], "name": row["course_name"], "course_code": row["course_code"]}
    return {"assignment": assignment_json(row, staff=False, clock=lambda: store.stamp), "course": course}


@server.reads
def canvas_get_dashboard(store: CanvasStore) -> dict[str, Any]:
    """Your dashboard: yourself, your courses (up to 20) and the five assignments due next."""
    listing = store.courses.my_courses(Paging(1, CARDS))
    return {
        "user": profile_json(store.users.me()),
        "courses": courses_json(store, listing.items),
        "course_count": listing.total,
        "upcoming_assignments": [_due(store, row) for row in store.assignments.upcoming(DUE)],
    }


@server.reads
def canvas_get_dashboard_cards(store: CanvasStore, paging: Annotated[Paging, paged("Cards", 20)]) -> Page:
    """List the cards of your dashboard: one for each current course."""
    listing = store.courses.my_courses(paging)
    mine = store.courses.my_enrollments_in([course["id"] for course in listing.items])
    return listing.holding(_card(course, mine[course["id"]][0]) for course in listing.items)


def _card(course: Row, enrollment: Row) -> Json:
    role = enrollment["type"]
    return {
        "id": course["id"],
        "shortName": course["name"],
        "originalName": course["name"],
        "courseCode": course["course_code"],
        "assetString": f"course_{course['id']}",
        "href": f"/courses/{course['id']}",
        "term": None,
        "subtitle": f"enrolled as: {ROLE_NAMES.get(role, role.removesuffix('Enrollment'))}",
        "enrollmentType": role,
        "observee": None,
        "image": None,
        "color": None,
        "position": None,
    }


@server.reads
def canvas_list_notifications(store: CanvasStore, paging: Annotated[Paging, paged("Entries")]) -> Page:
    """List what is new for you, newest first: announcements, discussions, messages and grades."""
    listing, subjects = store.calendar.news(paging)
    return listing.holding(_news(row, subjects[row["kind"], row["key"]]) for row in listing.items)


# An entry's id follows from what it is about: the digit says which kind.
_KIND_DIGIT = {"topic": 1, "conversation": 2, "submission": 3}


def _news(entry: Row, subject: Row) -> Json:
    return {
        "id": entry["key"] * 10 + _KIND_DIGIT[entry["kind"]],
        "created_at": entry["at"],
        "updated_at": entry["at"],
        "course_id": entry["course_id"],
        **_SUBJECTS[entry["kind"]](subject),
    }


def _topic_news(topic: Row) -> Json:
    kind = "Announcement" if topic["is_announcement"] else "DiscussionTopic"
    key = "announcement_id" if topic["is_announcement"] else "discussion_topic_id"
    return {"type": kind, "title": topic["title"], "message": topic["message"], key: topic["id"]}


def _conversation_news(conversation: Row) -> Json:
    return {
        "type": "Conversation",
        "title": conversation["subject"],
        "message": None,
        "conversation_id": conversation["id"],
    }


def _submission_news(submission: Row) -> Json:
    return {
        "type": "Submission",
        "title": submission["name"],
        "message": None,
        "assignment_id": submission["assignment_id"],
        "grade": submission["grade"],
        "score": number(submission["score"]),
    }


_SUBJECTS = {"topic": _topic_news, "conversation": _conversation_news, "submission": _submission_news}
