"""Announcements, discussions and conversations."""

from __future__ import annotations

from typing import Any

from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.servers.canvas.tools.objects import (
    announcement_json,
    conversations_json,
    entry_json,
    message_json,
    topic_json,
)
from mesocosm.servers.canvas.tools.service import CourseId, PageNumber, page_of, page_with, paging, server
from mesocosm.services.schema import Number
from mesocosm.services.service import Page


@server.reads
def canvas_list_announcements(
    store: CanvasStore, course_id: CourseId, page: PageNumber = 1, per_page: int = 10
) -> Page:
    """List the announcements of a course with their text, newest first.

    Args:
        per_page: Announcements per page, 1 to 100.
    """
    return page_of(
        store.discussions.announcements(store.reading(course_id), page, per_page), announcement_json
    )


@server.reads
def canvas_list_discussion_topics(
    store: CanvasStore, course_id: CourseId, page: PageNumber = 1, per_page: int = 10
) -> Page:
    """List the discussions of a course: pinned ones, then those with the newest replies first.

    Args:
        per_page: Discussions per page, 1 to 100.
    """
    return page_of(store.discussions.listed(store.reading(course_id), page, per_page), topic_json)


@server.reads
def canvas_get_discussion_topic(
    store: CanvasStore, course_id: CourseId, topic_id: Number, page: int = 1, per_page: int = 10
) -> dict[str, Any]:
    """Read one discussion (or announcement) with its posts, oldest first.

    Where you must post before you see the others' posts, entries is null until you have.

    Args:
        topic_id: The discussion.
        page: Page number of the posts, from 1.
        per_page: Posts per page, 1 to 100.
    """
    access = store.reading(course_id)
    topic = store.discussions.topic(access, topic_id)
    listing = store.discussions.entries(access, topic, page, per_page)
    if listing is None:
        return topic_json(topic) | {"entries": None}
    entries = [entry_json(entry) for entry in listing.rows]
    return topic_json(topic) | {"entries": entries, "entries_paging": paging(listing)}


@server.writes
def canvas_post_to_discussion(
    store: CanvasStore, course_id: CourseId, topic_id: Number, message: str
) -> dict[str, Any]:
    """Post to a discussion under your name.

    Args:
        topic_id: The discussion.
        message: The text, as HTML.
    """
    return entry_json(store.discussions.post_entry(store.reading(course_id), topic_id, message))


# -- conversations ----------------------------------------------------------------------------------------


@server.reads
def canvas_list_conversations(store: CanvasStore, page: PageNumber = 1, per_page: int = 10) -> Page:
    """List the conversations of your inbox, the one with the newest message first.

    last_message holds the beginning of the newest message; read the rest with canvas_get_conversation.

    Args:
        per_page: Conversations per page, 1 to 100.
    """
    listing = store.conversations.listed(page, per_page)
    return page_with(listing, conversations_json(store, listing.rows))


@server.reads
def canvas_get_conversation(
    store: CanvasStore, conversation_id: Number, page: int = 1, per_page: int = 10
) -> dict[str, Any]:
    """Read one conversation with its messages, newest first. It does not become read by that.

    Args:
        conversation_id: The conversation.
        page: Page number of the messages, from 1.
        per_page: Messages per page, 1 to 100.
    """
    [shown] = conversations_json(store, [store.conversations.conversation(conversation_id)])
    listing = store.conversations.messages(conversation_id, page, per_page)
    messages = [message_json(message) for message in listing.rows]
    return shown | {"messages": messages, "messages_paging": paging(listing)}


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
    return [
        shown
        | {"messages": [message_json(row) for row in store.conversations.messages(shown["id"], 1, 1).rows]}
        for shown in conversations_json(store, started)
    ]
