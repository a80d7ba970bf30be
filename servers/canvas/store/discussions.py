"""Announcements and discussions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, exists, func, select, update

from mesocosm.errors import Denied, Invalid
from mesocosm.servers.canvas.models import DiscussionEntry, DiscussionTopic, User, usual
from mesocosm.servers.canvas.store import values
from mesocosm.servers.canvas.store.access import (
    STAFF,
    CourseAccess,
    CourseRows,
    Lister,
    StorePart,
    denied,
    matching,
    table_of,
)
from mesocosm.services.service import Page, Paging, Row
from mesocosm.services.values import Checks, checked

_ENTRY_COUNT = (
    select(func.count())
    .where(DiscussionEntry.topic_id == DiscussionTopic.id)
    .scalar_subquery()
    .label("entries")
)
_TOPIC_COLUMNS = select(
    *DiscussionTopic.__table__.c, User.short_name.label("author_name"), _ENTRY_COUNT
).join(User, User.id == DiscussionTopic.user_id)
_TOPICS = CourseRows(
    "discussion topic",
    DiscussionTopic,
    shown=DiscussionTopic.published & (DiscussionTopic.posted_at <= bindparam("now")),
    search=(DiscussionTopic.title,),
    columns=_TOPIC_COLUMNS,
)
_NEWEST = (DiscussionTopic.posted_at.desc(), DiscussionTopic.id.desc())
_LATEST_REPLY = (DiscussionTopic.last_reply_at.desc(), DiscussionTopic.id.desc())
_ANNOUNCEMENTS = _TOPICS.listed(DiscussionTopic.is_announcement, order=_NEWEST)
_DISCUSSIONS = _TOPICS.listed(
    DiscussionTopic.is_announcement.is_(False), order=(DiscussionTopic.pinned.desc(), *_LATEST_REPLY)
)
_ENTRY_COLUMNS = select(*DiscussionEntry.__table__.c, User.short_name.label("user_name")).join(
    User, User.id == DiscussionEntry.user_id
)
_ENTRIES = Lister(
    _ENTRY_COLUMNS.where(DiscussionEntry.topic_id == bindparam("topic")).order_by(
        DiscussionEntry.created_at, DiscussionEntry.id
    )
)
_ENTRY = _ENTRY_COLUMNS.where(
    DiscussionEntry.id == bindparam("entry"), DiscussionEntry.topic_id == bindparam("topic")
)
_REPLIES = Lister(
    _ENTRY_COLUMNS.where(DiscussionEntry.parent_id == bindparam("entry")).order_by(
        DiscussionEntry.created_at, DiscussionEntry.id
    )
)
_TOP_ENTRIES = Lister(
    _ENTRY_COLUMNS.where(
        DiscussionEntry.topic_id == bindparam("topic"), DiscussionEntry.parent_id.is_(None)
    ).order_by(DiscussionEntry.created_at.desc(), DiscussionEntry.id.desc())
)
_LAST_ENTRY = select(func.max(DiscussionEntry.created_at).label("last")).where(
    DiscussionEntry.topic_id == bindparam("topic")
)
_POSTED = select(
    exists()
    .where(DiscussionEntry.topic_id == bindparam("topic"), DiscussionEntry.user_id == bindparam("user"))
    .label("found")
)
_TOPICS_BY_ID = select(DiscussionTopic.id, DiscussionTopic.course_id, DiscussionTopic.last_reply_at).where(
    DiscussionTopic.id.in_(bindparam("topics", expanding=True))
)


class Discussions(StorePart):
    """Announcements and discussions in courses."""

    def announcements(self, access: CourseAccess, paging: Paging) -> Page:
        """The announcements of a course, newest first."""
        return self.listing(_ANNOUNCEMENTS, paging, **self._topics(access))

    def listed(self, access: CourseAccess, paging: Paging) -> Page:
        """The discussions of a course: pinned ones, then by last reply."""
        return self.listing(_DISCUSSIONS, paging, **self._topics(access))

    def topic(self, access: CourseAccess, topic_id: int) -> Row:
        """A discussion or an announcement."""
        return self.one(_TOPICS.single, _TOPICS.kind, topic_id, row=topic_id, **self._topics(access))

    def entries(self, access: CourseAccess, topic: Row, paging: Paging) -> Page | None:
        """The posts of a discussion, oldest first; ``None`` for a student who has to post first."""
        must_post = topic["require_initial_post"] and not access.staff
        if must_post and not self.fetch(_POSTED, topic=topic["id"], user=access.user_id)[0]["found"]:
            return None
        return self.listing(_ENTRIES, paging, topic=topic["id"])

    def post_entry(self, access: CourseAccess, topic_id: int, message: str) -> Row:
        """Post to a discussion as the signed-in user."""
        topic = self.topic(access, topic_id)
        if not (access.edits or (access.active and not access.ended)):
            raise denied()
        if topic["locked"] and not access.edits:
            raise Denied("This discussion is closed for comments.")
        entry = self.insert(
            DiscussionEntry(
                topic_id=topic_id,
                user_id=access.user_id,
                parent_id=None,
                message=values.filled(message, "message"),
                created_at=self.stamp,
                updated_at=self.stamp,
            )
        )
        self.change(DiscussionTopic, topic_id, {"last_reply_at": self.stamp})
        return self.entry(topic, entry.id)

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
            listed = self.announcements if announcements else self.listed
            return listed(access, paging)
        conditions = [DiscussionTopic.is_announcement.is_(announcements)]
        if search_term is not None:
            conditions.append(matching(search_term, DiscussionTopic.title))
        conditions += [_SCOPES[values.choice(word, "scope", _SCOPES)] for word in scope]
        key = _ORDERS[values.choice(order_by or "position", "order_by", _ORDERS)]
        lister = _TOPICS.listed(*conditions, order=(key, DiscussionTopic.id.desc()))
        return self.listing(lister, paging, **self._topics(access))

    def announcements_between(
        self, course_ids: Sequence[int], start: str, end: str, paging: Paging, *, active_only: bool
    ) -> Page:
        """The announcements of courses that were posted in a span of time, newest first."""
        staffed = [key for key in course_ids if self.reading(key).staff]
        statement = _TOPIC_COLUMNS.where(
            DiscussionTopic.is_announcement,
            DiscussionTopic.course_id.in_(list(course_ids)),
            DiscussionTopic.posted_at >= start,
            DiscussionTopic.posted_at <= end,
        )
        seen = DiscussionTopic.published & (DiscussionTopic.posted_at <= self.stamp)
        if not active_only:
            seen = seen | DiscussionTopic.course_id.in_(staffed)
        ordered = statement.where(seen).order_by(*_NEWEST)
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
        return self.topic(access, topic.id)

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
        return self.topic(access, topic_id)

    def delete_topic(self, access: CourseAccess, topic_id: int) -> Row:
        """Delete a topic with its posts and the module items that point to it."""
        topic = self._own_topic(access, topic_id)
        self.store.modules.remove_items("Discussion", topic_id)
        self.remove(DiscussionTopic, topic_id)
        return topic

    def _own_topic(self, access: CourseAccess, topic_id: int) -> Row:
        topic = self.topic(access, topic_id)
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
        topic = self.topic(access, topic_id)
        above = self.entry(topic, entry_id)
        posted = self.post_entry(access, topic_id, message)
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
        self.remove(DiscussionEntry, entry_id)
        last = self.fetch(_LAST_ENTRY, topic=topic_id)[0]["last"]
        self.change(DiscussionTopic, topic_id, {"last_reply_at": last or topic["posted_at"]})
        return entry

    def _own_entry(self, access: CourseAccess, topic_id: int, entry_id: int) -> tuple[Row, Row]:
        topic = self.topic(access, topic_id)
        entry = self.entry(topic, entry_id)
        if not (access.edits or (entry["user_id"] == access.user_id and access.active)):
            raise denied()
        if topic["locked"] and not access.edits:
            raise Denied("This discussion is closed for comments.")
        return topic, entry

    def _topics(self, access: CourseAccess) -> dict[str, Any]:
        return {**self._seen(access, None), "now": "" if access.staff else access.now}

    # -- filling ----------------------------------------------------------------------------------------

    def add_announcements(self, announcements: Sequence[Row]) -> list[int]:
        """Add announcements by members of the courses' staff; returns their ids.

        All but ``locked`` is required: course, author (``user_id``), title, message (HTML or text) and time.
        What is posted after the world's clock is not yet seen by students.
        """
        staff = self.store.courses.members({row["course_id"] for row in announcements}, STAFF)
        rows = []
        for announcement in announcements:
            if (announcement["course_id"], announcement["user_id"]) not in staff:
                raise Invalid(f"user {announcement['user_id']} may not announce in the course")
            rows.append(_filled(announcement, is_announcement=True))
        return self.fill(DiscussionTopic, rows)

    def add_discussions(self, discussions: Sequence[Row]) -> list[int]:
        """Add discussions by members of the courses; returns their ids.

        Course, author, title and message are required.
        """
        members = self.store.courses.members({row["course_id"] for row in discussions})
        rows = []
        for discussion in discussions:
            if (discussion["course_id"], discussion["user_id"]) not in members:
                raise Invalid(f"user {discussion['user_id']} does not belong to the course")
            rows.append(_filled({"posted_at": self.stamp, **discussion}, is_announcement=False))
        return self.fill(DiscussionTopic, rows)

    def add_discussion_entries(self, entries: Sequence[Row]) -> list[int]:
        """Add posts by members of the courses; returns their ids.

        Topic, author, message and time are required.
        """
        keys = sorted({entry["topic_id"] for entry in entries})
        topics = {row["id"]: row for row in self.fetch(_TOPICS_BY_ID, topics=keys)}
        members = self.store.courses.members({row["course_id"] for row in topics.values()})
        last = {key: topic["last_reply_at"] for key, topic in topics.items()}
        rows = []
        for entry in entries:
            topic = topics[entry["topic_id"]]
            if (topic["course_id"], entry["user_id"]) not in members:
                raise Invalid(f"user {entry['user_id']} does not belong to the course")
            posted_at = values.stored_time(entry["created_at"])
            rows.append({"parent_id": None, **entry, "created_at": posted_at, "updated_at": posted_at})
            last[topic["id"]] = max(last[topic["id"]], posted_at)
        ids = self.fill(DiscussionEntry, rows)
        topic_table = table_of(DiscussionTopic)
        statement = update(topic_table).where(topic_table.c.id == bindparam("topic"))
        if last:
            changes = [{"topic": key, "replied": moment} for key, moment in last.items()]
            self.session.execute(statement.values(last_reply_at=bindparam("replied")), changes)
        return ids


def _filled(topic: Any, *, is_announcement: bool) -> dict[str, Any]:
    posted_at = values.stored_time(topic["posted_at"])
    return {
        **usual(DiscussionTopic),
        **topic,
        "posted_at": posted_at,
        "last_reply_at": posted_at,
        "is_announcement": is_announcement,
    }


_SCOPES: dict[str, Any] = {
    "locked": DiscussionTopic.locked,
    "unlocked": DiscussionTopic.locked.is_(False),
    "pinned": DiscussionTopic.pinned,
    "unpinned": DiscussionTopic.pinned.is_(False),
}
_ORDERS: dict[str, Any] = {
    "recent_activity": DiscussionTopic.last_reply_at.desc(),
    "position": DiscussionTopic.last_reply_at.desc(),
    "title": DiscussionTopic.title,
}
_TOPIC_CHECKS: Checks = {"title": values.title, "message": values.text}
