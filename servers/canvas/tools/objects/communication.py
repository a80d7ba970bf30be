"""Announcements, discussions, conversations and events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.servers.canvas.tools.objects.values import Row, address
from mesocosm.services.schema import Json
from mesocosm.services.shapes import same


def announcement_json(topic: Row) -> Json:
    """An announcement."""
    page = f"{address()}/courses/{topic['course_id']}/discussion_topics/{topic['id']}"
    return {
        **same(topic, "id", "course_id", "title", "message", "posted_at"),
        "author": {"id": topic["user_id"], "display_name": topic["author_name"]},
        "url": page,
        "html_url": page,
    }


def topic_json(topic: Row) -> Json:
    """A discussion."""
    return announcement_json(topic) | {
        "last_reply_at": topic["last_reply_at"],
        "discussion_subentry_count": topic["entries"],
        "require_initial_post": topic["require_initial_post"],
        "discussion_type": "threaded",
        **same(topic, "is_announcement", "published", "pinned", "locked"),
    }


def entry_json(entry: Row) -> Json:
    """A post in a discussion."""
    return {
        **same(entry, "id", "topic_id", "user_id", "user_name", "parent_id", "message", "created_at"),
        "updated_at": entry["updated_at"],
    }


def conversations_json(store: CanvasStore, conversations: Sequence[Row]) -> list[Json]:
    """Conversations with their participants, without their messages."""
    people = store.conversations.participants([conversation["id"] for conversation in conversations])
    return [_conversation(conversation, people[conversation["id"]]) for conversation in conversations]


def _conversation(conversation: Row, people: Iterable[Row]) -> Json:
    return {
        **same(conversation, "id", "subject", "workflow_state"),
        "last_message": conversation["last_message"][:100],
        **same(conversation, "last_message_at", "message_count", "private", "starred"),
        "context_code": f"course_{conversation['course_id']}" if conversation["course_id"] else None,
        "participants": [{"id": p["id"], "name": p["short_name"], "full_name": p["name"]} for p in people],
    }


def message_json(message: Row) -> Json:
    """A message of a conversation."""
    return same(message, "id", "created_at", "body", "author_id")


def event_json(event: Row) -> Json:
    """An event of a calendar."""
    course_id = event["course_id"]
    return {
        **same(event, "id", "title", "description", "start_at", "end_at", "all_day", "location_name"),
        "context_code": f"course_{course_id}" if course_id else f"user_{event['user_id']}",
        "workflow_state": "active",
        "html_url": f"{address()}/calendar?event_id={event['id']}",
    }
