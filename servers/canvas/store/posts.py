"""Announcing and discussing, and what is put into calendars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, func, select

from mesocosm.errors import Denied, Invalid
from mesocosm.servers.canvas.models import (
    CalendarEvent,
    DiscussionEntry,
    DiscussionTopic,
    ModuleItem,
    User,
)
from mesocosm.servers.canvas.store import values
from mesocosm.servers.canvas.store.access import CourseAccess, Lister, Paging, StorePart, denied
from mesocosm.servers.canvas.store.accounts import matching
from mesocosm.services.service import Page, Row
from mesocosm.services.values import Checks, checked

_ENTRIES = select(*DiscussionEntry.__table__.c, User.short_name.label("user_name")).join(
    User, User.id == DiscussionEntry.user_id
)
_ENTRY = _ENTRIES.where(
    DiscussionEntry.id == bindparam("entry"), DiscussionEntry.topic_id == bindparam("topic")
)
_REPLIES = Lister(
    _ENTRIES.where(DiscussionEntry.parent_id == bindparam("entry")).order_by(
        DiscussionEntry.created_at, DiscussionEntry.id
    )
)
_TOP_ENTRIES = Lister(
    _ENTRIES.where(
        DiscussionEntry.topic_id == bindparam("topic"), DiscussionEntry.parent_id.is_(None)
    ).order_by(DiscussionEntry.created_at.desc(), DiscussionEntry.id.desc())
)
_LAST_ENTRY = select(func.max(DiscussionEntry.created_at).label("last")).where(
    DiscussionEntry.topic_id == bindparam("topic")
)
_ITEMS = select(ModuleItem.id).where(
    ModuleItem.type == "Discussion", ModuleItem.content_id == bindparam("topic")
)
_EVENT = select(*CalendarEvent.__table__.c).where(CalendarEvent.id == bindparam("event"))
_NEWS_COLUMNS = select(
    *DiscussionTopic.__table__.c,
    User.short_name.label("author_name"),
    select(func.count())
    .where(DiscussionEntry.topic_id == DiscussionTopic.id)
    .scalar_subquery()
    .label("entries"),
).join(User, User.id == DiscussionTopic.user_id)


class Posting(StorePart):
    """Announcements, discussions with their threads, and events."""

    # -- topics -----------------------------------------------------------------------------------------

    def find_topics(
        self,
        access: CourseAccess,
        paging: Paging,
        *,
        announcements: bool,
        search_term: str | None = None,
        scope: Sequence[str] = (),
        order_by: str | None = None,
    ) -> Page:
        """The discussions or announcements of a course that match."""
        if search_term is None and not scope and order_by is None:
            listed = self.store.discussions.announcements if announcements else self.store.discussions.listed
            return listed(access, paging)
        statement = _NEWS_COLUMNS.where(
            DiscussionTopic.course_id == access.course["id"],
            DiscussionTopic.is_announcement.is_(announcements),
        )
        if not access.staff:
            statement = statement.where(DiscussionTopic.published, DiscussionTopic.posted_at <= access.now)
        if search_term is not None:
            statement = statement.where(matching(search_term, DiscussionTopic.title))
        for word in scope:
            statement = statement.where(_SCOPES[values.choice(word, "scope", _SCOPES)])
        orders: dict[str, Any] = {
            "recent_activity": DiscussionTopic.last_reply_at.desc(),
            "position": DiscussionTopic.last_reply_at.desc(),
            "title": DiscussionTopic.title,
        }
        key = orders[values.choice(order_by or "position", "order_by", orders)]
        return self.listing(Lister(statement.order_by(key, DiscussionTopic.id.desc())), paging)

    def announcements_between(
        self, course_ids: Sequence[int], start: str, end: str, paging: Paging, *, active_only: bool
    ) -> Page:
        """The announcements of courses that were posted in a span of time, newest first."""
        staffed = [key for key in course_ids if self.reading(key).staff]
        statement = _NEWS_COLUMNS.where(
            DiscussionTopic.is_announcement,
            DiscussionTopic.course_id.in_(list(course_ids)),
            DiscussionTopic.posted_at >= start,
            DiscussionTopic.posted_at <= end,
        )
        seen = DiscussionTopic.published & (DiscussionTopic.posted_at <= self.stamp)
        if not active_only:
            seen = seen | DiscussionTopic.course_id.in_(staffed)
        ordered = statement.where(seen).order_by(DiscussionTopic.posted_at.desc(), DiscussionTopic.id.desc())
        return self.listing(Lister(ordered), paging)

    def create_topic(self, access: CourseAccess, fields: Mapping[str, Any]) -> Row:
        """Start a discussion, or as staff announce something; students' discussions are published at once."""
        announces = fields.get("is_announcement", False)
        if not (access.edits or (access.studies and not announces)):
            raise denied()
        if not access.edits and fields.keys() & {"pinned", "locked", "delayed_post_at"}:
            raise denied()
        posted_at = values.moment(fields.get("delayed_post_at"), "delayed_post_at") or self.stamp
        topic = self.insert(
            DiscussionTopic(
                course_id=access.course["id"],
                user_id=access.user_id,
                is_announcement=announces,
                title=values.title(fields.get("title", "No Title"), "title"),
                message=values.text(fields.get("message", ""), "message"),
                posted_at=posted_at,
                last_reply_at=posted_at,
                published=fields.get("published", True) or not access.edits or announces,
                locked=fields.get("locked", False),
                pinned=fields.get("pinned", False),
                require_initial_post=fields.get("require_initial_post", False),
            )
        )
        return self.store.discussions.topic(access, topic.id)

    def update_topic(self, access: CourseAccess, topic_id: int, fields: Mapping[str, Any]) -> Row:
        """Change a topic, as its author or the course's staff."""
        topic = self._own_topic(access, topic_id)
        if not access.edits and fields.keys() - {"title", "message"}:
            raise denied()
        changes = checked(fields, _TOPIC_CHECKS)
        if "delayed_post_at" in fields:
            delayed = values.moment(changes.pop("delayed_post_at"), "delayed_post_at")
            changes["posted_at"] = delayed or min(topic["posted_at"], self.stamp)
        if fields.get("published") is False and topic["entries"]:
            raise Invalid("This topic can't be unpublished: it has replies", code="published.invalid")
        self.change(DiscussionTopic, topic_id, changes)
        return self.store.discussions.topic(access, topic_id)

    def delete_topic(self, access: CourseAccess, topic_id: int) -> Row:
        """Delete a topic with its posts and the module items that point to it."""
        topic = self._own_topic(access, topic_id)
        for row in self.fetch(_ITEMS, topic=topic_id):
            self.session.delete(self.session.get_one(ModuleItem, row["id"]))
        self.session.delete(self.session.get_one(DiscussionTopic, topic_id))
        self.session.flush()
        return topic

    def _own_topic(self, access: CourseAccess, topic_id: int) -> Row:
        topic = self.store.discussions.topic(access, topic_id)
        if not (access.edits or (topic["user_id"] == access.user_id and access.studies)):
            raise denied()
        return topic

    # -- entries ----------------------------------------------------------------------------------------

    def entry(self, topic: Row, entry_id: int) -> Row:
        return self.one(_ENTRY, "discussion entry", entry_id, entry=entry_id, topic=topic["id"])

    def top_entries(self, topic: Row, paging: Paging) -> Page:
        """The posts of a topic that answer no other, newest first."""
        return self.listing(_TOP_ENTRIES, paging, topic=topic["id"])

    def replies(self, entry: Row, paging: Paging) -> Page:
        """The answers to a post, oldest first."""
        return self.listing(_REPLIES, paging, entry=entry["id"])

    def reply(self, access: CourseAccess, topic_id: int, entry_id: int, message: str) -> Row:
        """Answer a post as the signed-in user."""
        topic = self.store.discussions.topic(access, topic_id)
        above = self.entry(topic, entry_id)
        posted = self.store.discussions.post_entry(access, topic_id, message)
        self.change(DiscussionEntry, posted["id"], {"parent_id": above["id"]})
        return self.entry(topic, posted["id"])

    def update_entry(self, access: CourseAccess, topic_id: int, entry_id: int, message: str) -> Row:
        """Change a post, as its author or the course's staff."""
        topic, _ = self._own_entry(access, topic_id, entry_id)
        changes = {"message": values.filled(message, "message"), "updated_at": self.stamp}
        self.change(DiscussionEntry, entry_id, changes)
        return self.entry(topic, entry_id)

    def delete_entry(self, access: CourseAccess, topic_id: int, entry_id: int) -> Row:
        """Delete a post with the answers to it."""
        topic, entry = self._own_entry(access, topic_id, entry_id)
        self.session.delete(self.session.get_one(DiscussionEntry, entry_id))
        self.session.flush()
        last = self.fetch(_LAST_ENTRY, topic=topic_id)[0]["last"]
        self.change(DiscussionTopic, topic_id, {"last_reply_at": last or topic["posted_at"]})
        return entry

    def _own_entry(self, access: CourseAccess, topic_id: int, entry_id: int) -> tuple[Row, Row]:
        topic = self.store.discussions.topic(access, topic_id)
        entry = self.entry(topic, entry_id)
        if not (access.edits or (entry["user_id"] == access.user_id and access.active)):
            raise denied()
        if topic["locked"] and not access.edits:
            raise Denied("This discussion is closed for comments.")
        return topic, entry

    # -- events -----------------------------------------------------------------------------------------

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
        [event_id] = self.store.calendar.add_calendar_events([{**new, **owner}])  # type: ignore[typeddict-item]
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
        self.session.delete(self.session.get_one(CalendarEvent, event_id))
        self.session.flush()
        return event

    def _own_event(self, event_id: int) -> Row:
        event = self.event(event_id)
        if event["course_id"] is not None:
            self.editing(event["course_id"])
        return event


_SCOPES: dict[str, Any] = {
    "locked": DiscussionTopic.locked,
    "unlocked": DiscussionTopic.locked.is_(False),
    "pinned": DiscussionTopic.pinned,
    "unpinned": DiscussionTopic.pinned.is_(False),
}


_EVENT_CHECKS: Checks = {
    "title": values.title,
    "description": values.some(values.text),
    "location_name": values.some(values.text),
    "start_at": values.moment,
    "end_at": values.moment,
}
_TOPIC_CHECKS: Checks = {"title": values.title, "message": values.text}
