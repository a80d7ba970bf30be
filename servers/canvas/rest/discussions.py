"""Announcements and discussions: topics, entries and replies."""

from __future__ import annotations

from typing import Any, TypedDict, Unpack

from mesocosm.doors.request import Request
from mesocosm.errors import Invalid
from mesocosm.servers.canvas.rest.api import Paged, Reading, api, context_courses
from mesocosm.servers.canvas.store import CanvasStore, CourseAccess, values
from mesocosm.servers.canvas.store.access import denied
from mesocosm.servers.canvas.tools.communication import entry_json, topic_json
from mesocosm.servers.canvas.tools.service import Row
from mesocosm.services.schema import Json
from mesocosm.services.service import Page, Paging

_RECENT_REPLIES = 10


def topic_view(store: CanvasStore, topic: Row) -> Json:
    """A topic as the REST API gives it."""
    shown = topic_json(topic)
    delayed = topic["posted_at"] > store.stamp
    return shown | {
        "context_code": f"course_{topic['course_id']}",
        "user_name": topic["author_name"],
        "delayed_post_at": topic["posted_at"] if delayed else None,
        "read_state": "read",
        "unread_count": 0,
        "subscribed": False,
        "assignment_id": None,
        "allow_rating": False,
        "attachments": [],
        "locked_for_user": False,
        "user_can_see_posts": True,
        "podcast_url": None,
        "group_category_id": None,
    }


def _entry(entry: Row) -> Json:
    return entry_json(entry) | {
        "read_state": "read",
        "forced_read_state": False,
        "user": {"id": entry["user_id"], "display_name": entry["user_name"]},
    }


class TopicChanges(TypedDict, total=False):
    """Fields that can be changed in a topic."""

    title: str
    message: str
    published: bool
    delayed_post_at: str
    pinned: bool
    locked: bool
    require_initial_post: bool


class NewTopic(TopicChanges, total=False):
    """Fields of a new topic."""

    is_announcement: bool


@api.get("/announcements")
def list_announcements(
    store: CanvasStore,
    paging: Paged,
    context_codes: list[str] | None = None,
    start_date: str | None = None,
    end_date: str | None = None,
    active_only: bool = False,
) -> Page:
    """The announcements of courses; without dates those of the last 14 days and the next 28."""
    if not context_codes:
        raise Invalid("Missing context_codes", code="context_codes.blank")
    start = values.moment(start_date, "start_date") or store.days_away(-14)
    end = values.moment(end_date, "end_date", end_of_day=True) or store.days_away(28)
    listing = store.discussions.announcements_between(
        context_courses(context_codes), start, end, paging, active_only=active_only
    )
    return listing.of(lambda topic: topic_view(store, topic))


@api.get("/courses/{course_id}/discussion_topics")
def list_topics(
    store: CanvasStore,
    access: Reading,
    paging: Paged,
    only_announcements: bool = False,
    search_term: str | None = None,
    scope: str | None = None,
    order_by: str | None = None,
) -> Page:
    listing = store.discussions.find_topics(
        access,
        paging,
        announcements=only_announcements,
        search_term=search_term,
        scope=scope.split(",") if scope else (),
        order_by=order_by,
    )
    return listing.of(lambda topic: topic_view(store, topic))


@api.get("/courses/{course_id}/discussion_topics/{topic_id:int}")
def get_topic(store: CanvasStore, access: Reading, topic_id: int) -> dict[str, Any]:
    return topic_view(store, store.discussions.topic(access, topic_id))


@api.post("/courses/{course_id}/discussion_topics")
def create_topic(store: CanvasStore, access: Reading, **topic: Unpack[NewTopic]) -> dict[str, Any]:
    """Start a discussion, or announce something."""
    return topic_view(store, store.discussions.create_topic(access, topic))


@api.put("/courses/{course_id}/discussion_topics/{topic_id:int}")
def update_topic(
    store: CanvasStore, access: Reading, topic_id: int, **changes: Unpack[TopicChanges]
) -> dict[str, Any]:
    """Change a topic."""
    return topic_view(store, store.discussions.update_topic(access, topic_id, changes))


@api.delete("/courses/{course_id}/discussion_topics/{topic_id:int}")
def delete_topic(store: CanvasStore, access: Reading, topic_id: int) -> dict[str, Any]:
    topic = store.discussions.delete_topic(access, topic_id)
    return topic_view(store, topic) | {"deleted_at": store.stamp, "workflow_state": "deleted"}


# -- entries ----------------------------------------------------------------------------------------------


def _posts(store: CanvasStore, access: CourseAccess, topic: Row, paging: Paging) -> Any:
    listing = store.discussions.entries(access, topic, paging)
    if listing is None:
        raise denied()  # Canvas: require_initial_post
    return listing


@api.get("/courses/{course_id}/discussion_topics/{topic_id:int}/entries")
def list_entries(store: CanvasStore, access: Reading, paging: Paged, topic_id: int) -> Page:
    """The posts of a topic that answer no other, newest first."""
    topic = store.discussions.topic(access, topic_id)
    _posts(store, access, topic, Paging(1, 1))
    return store.discussions.top_entries(topic, paging).of(lambda entry: _with_replies(store, entry))


def _with_replies(store: CanvasStore, entry: Row) -> Json:
    replies = store.discussions.replies(entry, Paging(1, _RECENT_REPLIES))
    shown = [_entry(reply) for reply in replies.items]
    more = replies.total > len(shown)
    return _entry(entry) | ({"recent_replies": shown, "has_more_replies": more} if shown else {})


@api.get("/courses/{course_id}/discussion_topics/{topic_id:int}/entry_list")
def list_entries_by_id(
    store: CanvasStore, request: Request, access: Reading, topic_id: int, ids: list[int]
) -> Page:
    """Certain posts of a topic."""
    topic = store.discussions.topic(access, topic_id)
    _posts(store, access, topic, Paging(1, 1))
    found = [store.discussions.entry(topic, key) for key in ids[:100]]
    return Page([_entry(entry) for entry in found], 1, 100, len(found))


@api.get("/courses/{course_id}/discussion_topics/{topic_id:int}/entries/{entry_id:int}/replies")
def list_replies(store: CanvasStore, access: Reading, paging: Paged, topic_id: int, entry_id: int) -> Page:
    """The answers to a post."""
    topic = store.discussions.topic(access, topic_id)
    _posts(store, access, topic, Paging(1, 1))
    return store.discussions.replies(store.discussions.entry(topic, entry_id), paging).of(_entry)


@api.post("/courses/{course_id}/discussion_topics/{topic_id:int}/entries", status=201)
def post_entry(store: CanvasStore, access: Reading, topic_id: int, message: str = "") -> dict[str, Any]:
    return _entry(store.discussions.post_entry(access, topic_id, message))


@api.post("/courses/{course_id}/discussion_topics/{topic_id:int}/entries/{entry_id:int}/replies", status=201)
def post_reply(
    store: CanvasStore, access: Reading, topic_id: int, entry_id: int, message: str = ""
) -> dict[str, Any]:
    """Answer a post."""
    return _entry(store.discussions.reply(access, topic_id, entry_id, message))


@api.put("/courses/{course_id}/discussion_topics/{topic_id:int}/entries/{entry_id:int}")
def update_entry(
    store: CanvasStore, access: Reading, topic_id: int, entry_id: int, message: str = ""
) -> dict[str, Any]:
    """Change a post."""
    return _entry(store.discussions.update_entry(access, topic_id, entry_id, message))


@api.delete("/courses/{course_id}/discussion_topics/{topic_id:int}/entries/{entry_id:int}")
def delete_entry(store: CanvasStore, access: Reading, topic_id: int, entry_id: int) -> dict[str, Any]:
    """Delete a post."""
    entry = store.discussions.delete_entry(access, topic_id, entry_id)
    return _entry(entry) | {"deleted": True, "deleted_at": store.stamp, "message": None}


# -- what has been read: all of it always, so nothing changes ---------------------------------------------


@api.put("/courses/{course_id}/discussion_topics/{topic_id:int}/read", writes=False)
def mark_topic_read(store: CanvasStore, access: Reading, topic_id: int) -> None:
    store.discussions.topic(access, topic_id)


api.put("/courses/{course_id}/discussion_topics/{topic_id:int}/read_all", writes=False)(mark_topic_read)


@api.put("/courses/{course_id}/discussion_topics/{topic_id:int}/entries/{entry_id:int}/read", writes=False)
def mark_entry_read(store: CanvasStore, access: Reading, topic_id: int, entry_id: int) -> None:
    """Mark a post as read."""
    store.discussions.entry(store.discussions.topic(access, topic_id), entry_id)


@api.get("/courses/{course_id}/discussion_topics/{topic_id:int}/view")
def get_full_topic(store: CanvasStore, access: Reading, topic_id: int) -> dict[str, Any]:
    """A topic with its posts as a tree (the first 1,000) and the people in it."""
    topic = store.discussions.topic(access, topic_id)
    rows: list[Row] = []
    for page in range(1, 11):
        listing = _posts(store, access, topic, Paging(page, 100))
        rows += listing.items
        if len(rows) >= listing.total:
            break
    nodes = {row["id"]: entry_json(row) | {"replies": []} for row in rows}
    roots: list[Json] = []
    for node in nodes.values():
        above = nodes.get(node["parent_id"])
        (above["replies"] if above else roots).append(node)
    people = {row["user_id"]: {"id": row["user_id"], "display_name": row["user_name"]} for row in rows}
    return {
        "participants": list(people.values()),
        "unread_entries": [],
        "forced_entries": [],
        "entry_ratings": {},
        "view": roots,
        "new_entries": [],
    }
