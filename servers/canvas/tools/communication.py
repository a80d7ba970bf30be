"""Announcements, discussions and conversations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.servers.canvas.store.access import address
from mesocosm.servers.canvas.tools.service import Reading, Row, TopicId, server, standing
from mesocosm.services.schema import Json, Number
from mesocosm.services.service import Page, Paging, paged, same


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


@server.reads
def canvas_list_announcements(
    store: CanvasStore, access: Reading, paging: Annotated[Paging, paged("Announcements")]
) -> Page:
    """List the announcements of a course with their text, newest first."""
    return store.discussions.announcements(access, paging).of(announcement_json)


@server.reads
def canvas_list_discussion_topics(
    store: CanvasStore, access: Reading, paging: Annotated[Paging, paged("Discussions")]
) -> Page:
    """List the discussions of a course: pinned ones, then those with the newest replies first."""
    return store.discussions.listed(access, paging).of(topic_json)


@server.reads
def canvas_get_discussion_topic(
    store: CanvasStore, access: Reading, topic_id: TopicId, paging: Annotated[Paging, paged("Posts")]
) -> dict[str, Any]:
    """Read one discussion (or announcement) with its posts, oldest first.

    Where you must post before you see the others' posts, entries is null until you have.

    Args:
        page: Page number of the posts, from 1.
    """
    topic = store.discussions.topic(access, topic_id)
    listing = store.discussions.entries(access, topic, paging)
    if listing is None:
        return topic_json(topic) | {"entries": None}
    entries = [entry_json(entry) for entry in listing.items]
    return topic_json(topic) | {"entries": entries, "entries_paging": standing(listing)}


@server.writes
def canvas_post_to_discussion(
    store: CanvasStore, access: Reading, topic_id: TopicId, message: str
) -> dict[str, Any]:
    """Post to a discussion under your name.

    Args:
        message: The text, as HTML.
    """
    return entry_json(store.discussions.post_entry(access, topic_id, message))


# -- conversations ----------------------------------------------------------------------------------------


@server.reads
def canvas_list_conversations(store: CanvasStore, paging: Annotated[Paging, paged("Conversations")]) -> Page:
    """List the conversations of your inbox, the one with the newest message first.

    last_message holds the beginning of the newest message; read the rest with canvas_get_conversation.
    """
    listing = store.conversations.listed(paging)
    return listing.holding(conversations_json(store, listing.items))


@server.reads
def canvas_get_conversation(
    store: CanvasStore, conversation_id: Number, paging: Annotated[Paging, paged("Messages")]
) -> dict[str, Any]:
    """Read one conversation with its messages, newest first. It does not become read by that.

    Args:
        conversation_id: The conversation.
        page: Page number of the messages, from 1.
    """
    [shown] = conversations_json(store, [store.conversations.conversation(conversation_id)])
    listing = store.conversations.messages(conversation_id, paging)
    messages = [message_json(message) for message in listing.items]
    return shown | {"messages": messages, "messages_paging": standing(listing)}


@server.writes
def canvas_create_conversation(
    store: CanvasStore, recipients: list[str], body: str, subject: str | None = None
) -> list[dict[str, Any]]:
    """Send a message to each of the recipients, in a private conversation with each; returns those.

    A conversation with the same subject, or without a subject given the newest one, is continued.

    Args:
        recipients: User ids as text ("7"), or a course's people: course_5_teachers, course_5_students,
            course_5_tas, course_5. At most 100 people.
        body: The message.
        subject: What it is about.
    """
    started = store.conversations.start_conversations(recipients, body, subject)
    newest = [store.conversations.messages(conversation["id"], Paging(1, 1)) for conversation in started]
    return [
        shown | {"messages": [message_json(row) for row in listing.items]}
        for shown, listing in zip(conversations_json(store, started), newest, strict=True)
    ]
