"""Announcements and discussions."""

from __future__ import annotations

from typing import Any, TypedDict

from sqlalchemy import bindparam, exists, func, or_, select, update

from mesocosm.errors import Denied, Invalid
from mesocosm.servers.canvas.models import DiscussionEntry, DiscussionTopic, User
from mesocosm.servers.canvas.store import values
from mesocosm.servers.canvas.store.access import (
    STAFF,
    CourseAccess,
    Lister,
    Paging,
    StorePart,
    denied,
    table_of,
)
from mesocosm.services.service import Page, Row

_ENTRY_COUNT = (
    select(func.count())
    .where(DiscussionEntry.topic_id == DiscussionTopic.id)
    .scalar_subquery()
    .label("entries")
)
_TOPIC_COLUMNS = select(
    *DiscussionTopic.__table__.c, User.short_name.label("author_name"), _ENTRY_COUNT
).join(User, User.id == DiscussionTopic.user_id)
_SEEN = or_(
    bindparam("staff"),
    DiscussionTopic.published & (DiscussionTopic.posted_at <= bindparam("now")),
)
_ANNOUNCEMENTS = Lister(
    _TOPIC_COLUMNS.where(
        DiscussionTopic.course_id == bindparam("course"), DiscussionTopic.is_announcement, _SEEN
    ).order_by(DiscussionTopic.posted_at.desc(), DiscussionTopic.id.desc())
)
_DISCUSSIONS = Lister(
    _TOPIC_COLUMNS.where(
        DiscussionTopic.course_id == bindparam("course"), DiscussionTopic.is_announcement.is_(False), _SEEN
    ).order_by(DiscussionTopic.pinned.desc(), DiscussionTopic.last_reply_at.desc(), DiscussionTopic.id.desc())
)
_TOPIC = _TOPIC_COLUMNS.where(
    DiscussionTopic.id == bindparam("topic"), DiscussionTopic.course_id == bindparam("course"), _SEEN
)
_ENTRY_COLUMNS = select(*DiscussionEntry.__table__.c, User.short_name.label("user_name")).join(
    User, User.id == DiscussionEntry.user_id
)
_ENTRIES = Lister(
    _ENTRY_COLUMNS.where(DiscussionEntry.topic_id == bindparam("topic")).order_by(
        DiscussionEntry.created_at, DiscussionEntry.id
    )
)
_ENTRY = _ENTRY_COLUMNS.where(DiscussionEntry.id == bindparam("entry"))
_POSTED = select(
    exists()
    .where(DiscussionEntry.topic_id == bindparam("topic"), DiscussionEntry.user_id == bindparam("user"))
    .label("found")
)
_TOPICS_BY_ID = select(DiscussionTopic.id, DiscussionTopic.course_id, DiscussionTopic.last_reply_at).where(
    DiscussionTopic.id.in_(bindparam("topics", expanding=True))
)


class NewAnnouncement(TypedDict, total=False):
    """An announcement for ``add_announcements``; all but ``locked`` are required.

    ``user_id`` is the author, of the course's staff; ``message`` is HTML or text; what is posted after the
    world's clock is not yet seen by students.
    """

    course_id: int
    user_id: int
    title: str
    message: str
    posted_at: str
    locked: bool


class NewDiscussion(TypedDict, total=False):
    """A discussion for ``add_discussions``; course, author, title and message are required."""

    course_id: int
    user_id: int
    title: str
    message: str
    posted_at: str
    published: bool
    locked: bool
    pinned: bool
    require_initial_post: bool


class NewEntry(TypedDict, total=False):
    """A post for ``add_discussion_entries``; topic, author, message and time are required."""

    topic_id: int
    user_id: int
    parent_id: int | None
    message: str
    created_at: str


class Discussions(StorePart):
    """Announcements and discussions in courses."""

    def announcements(self, access: CourseAccess, paging: Paging) -> Page:
        """The announcements of a course, newest first."""
        return self.listing(_ANNOUNCEMENTS, paging, **self._seen(access))

    def listed(self, access: CourseAccess, paging: Paging) -> Page:
        """The discussions of a course: pinned ones, then by last reply."""
        return self.listing(_DISCUSSIONS, paging, **self._seen(access))

    def topic(self, access: CourseAccess, topic_id: int) -> Row:
        """A discussion or an announcement."""
        return self.one(_TOPIC, "discussion topic", topic_id, topic=topic_id, **self._seen(access))

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
        return self.one(_ENTRY, "discussion entry", entry.id, entry=entry.id)

    def _seen(self, access: CourseAccess) -> dict[str, Any]:
        return {
            "course": access.course["id"],
            "staff": access.staff,
            "now": "" if access.staff else access.now,
        }

    # -- filling ----------------------------------------------------------------------------------------

    def add_announcements(self, announcements: list[NewAnnouncement]) -> list[int]:
        """Add announcements by members of the courses' staff; returns their ids."""
        staff = self.store.courses.members({row["course_id"] for row in announcements}, STAFF)
        rows = []
        for announcement in announcements:
            if (announcement["course_id"], announcement["user_id"]) not in staff:
                raise Invalid(f"user {announcement['user_id']} may not announce in the course")
            rows.append(_filled(announcement, is_announcement=True))
        return self.fill(DiscussionTopic, rows)

    def add_discussions(self, discussions: list[NewDiscussion]) -> list[int]:
        """Add discussions by members of the courses; returns their ids."""
        members = self.store.courses.members({row["course_id"] for row in discussions})
        rows = []
        for discussion in discussions:
            if (discussion["course_id"], discussion["user_id"]) not in members:
                raise Invalid(f"user {discussion['user_id']} does not belong to the course")
            rows.append(_filled({"posted_at": self.stamp, **discussion}, is_announcement=False))
        return self.fill(DiscussionTopic, rows)

    def add_discussion_entries(self, entries: list[NewEntry]) -> list[int]:
        """Add posts by members of the courses; returns their ids."""
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
        "published": True,
        "locked": False,
        "pinned": False,
        "require_initial_post": False,
        **topic,
        "posted_at": posted_at,
        "last_reply_at": posted_at,
        "is_announcement": is_announcement,
    }
