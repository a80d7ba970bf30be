"""The calendar, and the stream of what is new."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import BindParameter, Executable, bindparam, exists, literal, null, or_, select, union_all

from mesocosm.errors import Invalid
from mesocosm.servers.canvas.models import (
    Assignment,
    CalendarEvent,
    Conversation,
    Course,
    DiscussionTopic,
    Enrollment,
    Participant,
    Quiz,
    Submission,
    usual,
)
from mesocosm.servers.canvas.store import values
from mesocosm.servers.canvas.store.access import CourseAccess, Lister, StorePart, denied
from mesocosm.servers.canvas.store.courses import CURRENT
from mesocosm.services.service import Page, Paging, Row
from mesocosm.services.values import Checks, checked

_MY_COURSES = (
    select(Enrollment.course_id)
    .join(Course, Course.id == Enrollment.course_id)
    .where(Enrollment.user_id == bindparam("user"), Course.workflow_state == "available", *CURRENT)
)
_EVENTS = Lister(
    select(*CalendarEvent.__table__.c)
    .where(
        or_(CalendarEvent.course_id.in_(_MY_COURSES), CalendarEvent.user_id == bindparam("user")),
        CalendarEvent.start_at <= bindparam("until"),
        CalendarEvent.end_at >= bindparam("since"),
    )
    .order_by(CalendarEvent.start_at, CalendarEvent.id)
)
_EVENT = select(*CalendarEvent.__table__.c).where(CalendarEvent.id == bindparam("event"))
_TOPICS_STREAM = select(
    DiscussionTopic.posted_at.label("at"),
    literal("topic").label("kind"),
    DiscussionTopic.id.label("key"),
    DiscussionTopic.course_id,
).where(
    DiscussionTopic.course_id.in_(_MY_COURSES),
    DiscussionTopic.published,
    DiscussionTopic.posted_at <= bindparam("now"),
)
_CONVERSATIONS_STREAM = (
    select(Conversation.last_message_at, literal("conversation"), Conversation.id, null().label("course_id"))
    .join(Participant, Participant.conversation_id == Conversation.id)
    .where(Participant.user_id == bindparam("user"))
)
_GRADES_STREAM = (
    select(Submission.graded_at, literal("submission"), Submission.id, Assignment.course_id)
    .join(Assignment, Assignment.id == Submission.assignment_id)
    .where(
        Submission.user_id == bindparam("user"),
        Submission.graded_at.is_not(None),
        Assignment.course_id.in_(_MY_COURSES),
        Assignment.published,
    )
)
_STREAM = union_all(_TOPICS_STREAM, _CONVERSATIONS_STREAM, _GRADES_STREAM).subquery()
_NEWS = Lister(select(_STREAM).order_by(_STREAM.c.at.desc(), _STREAM.c.kind, _STREAM.c.key.desc()))
_TOPICS = select(
    DiscussionTopic.id,
    DiscussionTopic.title,
    DiscussionTopic.message,
    DiscussionTopic.is_announcement,
).where(DiscussionTopic.id.in_(bindparam("keys", expanding=True)))
_SUBJECTS = select(Conversation.id, Conversation.subject).where(
    Conversation.id.in_(bindparam("keys", expanding=True))
)
_GRADED = (
    select(
        Submission.id,
        Assignment.name,
        Assignment.id.label("assignment_id"),
        Submission.grade,
        Submission.score,
    )
    .join(Assignment, Assignment.id == Submission.assignment_id)
    .where(Submission.id.in_(bindparam("keys", expanding=True)))
)
_DETAILS = {"topic": _TOPICS, "conversation": _SUBJECTS, "submission": _GRADED}

_COURSES: BindParameter[Any] = bindparam("courses", expanding=True)
_STAFFED: BindParameter[Any] = bindparam("staffed", expanding=True)
_SINCE: BindParameter[str] = bindparam("since")
_UNTIL: BindParameter[str] = bindparam("until")
_PLANNED = union_all(
    select(
        Assignment.due_at.label("at"),
        literal("assignment").label("kind"),
        Assignment.id.label("key"),
        Assignment.course_id,
    ).where(
        Assignment.course_id.in_(_COURSES),
        or_(Assignment.published, Assignment.course_id.in_(_STAFFED)),
        Assignment.due_at.between(_SINCE, _UNTIL),
    ),
    select(Quiz.due_at, literal("quiz"), Quiz.id, Quiz.course_id).where(
        Quiz.course_id.in_(_COURSES),
        or_(Quiz.published, Quiz.course_id.in_(_STAFFED)),
        Quiz.due_at.between(_SINCE, _UNTIL),
        ~exists().where(Assignment.quiz_id == Quiz.id),  # such a one is planned as its assignment
    ),
    select(
        DiscussionTopic.posted_at, literal("announcement"), DiscussionTopic.id, DiscussionTopic.course_id
    ).where(
        DiscussionTopic.course_id.in_(_COURSES),
        DiscussionTopic.is_announcement,
        or_(
            DiscussionTopic.published & (DiscussionTopic.posted_at <= bindparam("now")),
            DiscussionTopic.course_id.in_(_STAFFED),
        ),
        DiscussionTopic.posted_at.between(_SINCE, _UNTIL),
    ),
    select(
        CalendarEvent.start_at, literal("calendar_event"), CalendarEvent.id, CalendarEvent.course_id
    ).where(
        or_(CalendarEvent.course_id.in_(_COURSES), CalendarEvent.user_id == bindparam("planner")),
        CalendarEvent.start_at.between(_SINCE, _UNTIL),
    ),
).subquery()
_PLANNER = Lister(select(_PLANNED).order_by(_PLANNED.c.at, _PLANNED.c.kind, _PLANNED.c.key))
_PLANNABLE = {
    kind: select(*model.__table__.c).where(model.__table__.c.id.in_(bindparam("keys", expanding=True)))
    for kind, model in {
        "assignment": Assignment,
        "quiz": Quiz,
        "announcement": DiscussionTopic,
        "calendar_event": CalendarEvent,
    }.items()
}


class Calendar(StorePart):
    """Calendar, and recent activity, of the signed-in user."""

    def events(self, start_date: str | None, end_date: str | None, paging: Paging) -> Page:
        """The events of the user and the user's courses that touch a span of time, by their start."""
        since = values.moment(start_date, "start_date") or ""
        until = values.moment(end_date, "end_date", end_of_day=True) or "9"
        if until < since:
            raise Invalid("end_date must not be before start_date")
        return self.listing(_EVENTS, paging, user=self.user_id, now=self.stamp, since=since, until=until)

    def find_events(
        self, course_ids: Sequence[int], user_id: int | None, since: str, until: str, paging: Paging
    ) -> Page:
        """The events of these courses, and of the user if named, that touch a span of time."""
        for key in course_ids:
            self.reading(key)
        if user_id not in (None, self.user_id):
            raise denied()
        of_user = CalendarEvent.user_id == user_id if user_id else CalendarEvent.id.is_(None)
        statement = select(*CalendarEvent.__table__.c).where(
            CalendarEvent.course_id.in_(list(course_ids)) | of_user,
            CalendarEvent.start_at <= until,
            CalendarEvent.end_at >= since,
        )
        ordered = statement.order_by(CalendarEvent.start_at, CalendarEvent.id)
        return self.listing(Lister(ordered), paging)

    def event(self, event_id: int) -> Row:
        """An event of the signed-in user or of a course that the user may see."""
        event = self.one(_EVENT, "calendar event", event_id, event=event_id)
        if event["course_id"] is not None:
            self.reading(event["course_id"])
        elif event["user_id"] != self.user_id:
            raise denied()
        return event

    def create_event(self, course_id: int | None, fields: Mapping[str, Any]) -> Row:
        """Put an event into a course's calendar, as its staff, or into the signed-in user's."""
        if course_id is not None:
            self.editing(course_id)
        new = checked({"title": "No Title", **fields}, _EVENT_CHECKS)
        if not new.get("start_at"):
            raise Invalid("start_at can't be blank", code="start_at.blank")
        owner = {"course_id": course_id, "user_id": None if course_id else self.user_id}
        [event_id] = self.add_calendar_events([{**new, **owner}])
        return self.event(event_id)

    def update_event(self, event_id: int, fields: Mapping[str, Any]) -> Row:
        """Change an event."""
        event = self._own_event(event_id)
        changes = checked(fields, _EVENT_CHECKS)
        start = changes.get("start_at") or event["start_at"]
        end = changes.get("end_at") or (event["end_at"] if "start_at" not in changes else start)
        if end < start:
            raise Invalid("an event cannot end before it starts", code="end_at.invalid")
        moved = {"start_at": start, "end_at": end, "updated_at": self.stamp}
        self.change(CalendarEvent, event_id, changes | moved)
        return self.event(event_id)

    def delete_event(self, event_id: int) -> Row:
        event = self._own_event(event_id)
        self.remove(CalendarEvent, event_id)
        return event

    def _own_event(self, event_id: int) -> Row:
        event = self.event(event_id)
        if event["course_id"] is not None:
            self.editing(event["course_id"])
        return event

    def news(self, paging: Paging) -> tuple[Page, dict[tuple[str, int], Any]]:
        """The activity stream, newest first, with what each entry is about by kind and id."""
        stream = self.listing(_NEWS, paging, user=self.user_id, now=self.stamp)
        return stream, self._subjects(stream, _DETAILS)

    def planned(
        self,
        accesses: Sequence[CourseAccess],
        since: str,
        until: str,
        paging: Paging,
        *,
        own: bool,
    ) -> tuple[Page, dict[tuple[str, int], Any]]:
        """List dated entries of several courses in a period, earliest first, with their objects by kind and
        id: due assignments and quizzes, announcements, events.

        ``own``: the user's own events, too.
        """
        stream = self.listing(
            _PLANNER,
            paging,
            courses=[access.course["id"] for access in accesses],
            staffed=[access.course["id"] for access in accesses if access.staff],
            planner=self.user_id if own else None,
            now=self.stamp,
            since=since,
            until=until,
        )
        return stream, self._subjects(stream, _PLANNABLE)

    def _subjects(self, stream: Page, details: Mapping[str, Executable]) -> dict[tuple[str, int], Any]:
        """Load the objects of a stream's entries, by kind and id."""
        subjects = {}
        for kind, statement in details.items():
            keys = [row["key"] for row in stream.items if row["kind"] == kind]
            for row in self.fetch(statement, keys=keys) if keys else ():
                subjects[kind, row["id"]] = row
        return subjects

    # -- filling ----------------------------------------------------------------------------------------

    def add_calendar_events(self, events: Sequence[Row]) -> list[int]:
        """Add events of a course or a user; title and start are required. Returns their ids.

        Without an end an event ends when it starts.
        """
        rows = []
        for event in events:
            row: dict[str, Any] = {**usual(CalendarEvent), "created_at": self.stamp, **event}
            if (row["course_id"] is None) == (row["user_id"] is None):
                raise Invalid("an event belongs to a course or to a user")
            row["start_at"] = values.stored_time(row["start_at"])
            row["end_at"] = values.stored_time(row.get("end_at") or row["start_at"])
            if row["end_at"] < row["start_at"]:
                raise Invalid("an event cannot end before it starts")
            row["created_at"] = row["updated_at"] = values.stored_time(row["created_at"])
            rows.append(row)
        return self.fill(CalendarEvent, rows)


_EVENT_CHECKS: Checks = {
    "title": values.title,
    "description": values.some(values.text),
    "location_name": values.some(values.text),
    "start_at": values.moment,
    "end_at": values.moment,
}
