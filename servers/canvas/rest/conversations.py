"""The inbox: conversations, their messages and the people to write to."""

from __future__ import annotations

from typing import Any, TypedDict

from mesocosm.errors import Invalid
from mesocosm.servers.canvas.rest.api import Paged, api, context_courses
from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.servers.canvas.store.access import ADDRESS
from mesocosm.servers.canvas.store.conversations import STATES
from mesocosm.servers.canvas.tools.communication import conversations_json, message_json
from mesocosm.servers.canvas.tools.service import Row
from mesocosm.services.schema import Json
from mesocosm.services.service import Page, Paging

MAX_MESSAGES = 100
"""Messages of a conversation that are given with it, the newest."""


class ConversationFields(TypedDict, total=False):
    """Fields of a conversation from a client."""

    workflow_state: str
    starred: bool


def _conversations(store: CanvasStore, conversations: list[Row]) -> list[Json]:
    shown = conversations_json(store, conversations)
    for conversation in shown:
        people = [person["id"] for person in conversation["participants"]]
        conversation |= {
            "audience": [key for key in people if key != store.user_id],
            "audience_contexts": {"courses": {}, "groups": {}},
            "subscribed": True,
            "visible": True,
            "properties": [],
            "context_name": None,
            "avatar_url": f"{ADDRESS}/images/messages/avatar-50.png",
        }
    return shown


def _with_messages(store: CanvasStore, conversation: Row, messages: int = MAX_MESSAGES) -> Json:
    [shown] = _conversations(store, [conversation])
    people = [person["id"] for person in shown["participants"]]
    rows = store.conversations.messages(conversation["id"], Paging(1, messages)).items
    return shown | {"messages": [_message(row, people) for row in rows]}


def _message(message: Row, people: list[int]) -> Json:
    return message_json(message) | {
        "generated": False,
        "media_comment": None,
        "forwarded_messages": [],
        "attachments": [],
        "participating_user_ids": people,
    }


@api.get("/conversations")
def list_conversations(
    store: CanvasStore,
    paging: Paged,
    scope: str | None = None,
    filter: list[str] | None = None,
) -> Page:
    """The conversations of the inbox, or of one of its scopes."""
    listing = store.conversations.find_conversations(paging, scope=scope, course_ids=context_courses(filter))
    return listing.holding(_conversations(store, list(listing.items)))


@api.get("/conversations/unread_count")
def count_unread(store: CanvasStore) -> dict[str, Any]:
    """Count unread conversations; as text, like Canvas."""
    return {"unread_count": str(store.conversations.unread_count())}


@api.get("/conversations/{conversation_id:int}", writes=True)
def get_conversation(
    store: CanvasStore, conversation_id: int, auto_mark_as_read: bool = True
) -> dict[str, Any]:
    """Return a conversation with its messages, and mark it as read unless told otherwise."""
    conversation = store.conversations.conversation(conversation_id)
    if auto_mark_as_read and conversation["workflow_state"] == "unread":
        conversation = store.conversations.update_conversation(conversation_id, {"workflow_state": "read"})
    return _with_messages(store, conversation)


@api.post("/conversations", status=201)
def create_conversation(
    store: CanvasStore,
    recipients: list[str],
    body: str = "",
    subject: str | None = None,
    group_conversation: bool = False,
) -> list[dict[str, Any]]:
    """Write to people: to each privately, or to all in one conversation."""
    if group_conversation:
        started = [store.conversations.start_group(recipients, body, subject)]
    else:
        started = store.conversations.start_conversations(recipients, body, subject)
    return [_with_messages(store, conversation, 1) for conversation in started]


@api.post("/conversations/mark_all_as_read")
def mark_all_as_read(store: CanvasStore) -> dict[str, Any]:
    """Read everything."""
    store.conversations.mark_all_as_read()
    return {}


@api.put("/conversations/{conversation_id:int}")
def update_conversation(
    store: CanvasStore, conversation_id: int, conversation: ConversationFields
) -> dict[str, Any]:
    """Mark a conversation as read, unread or archived, or star it."""
    changed = store.conversations.update_conversation(conversation_id, dict(conversation))
    return _conversations(store, [changed])[0]


@api.delete("/conversations/{conversation_id:int}")
def delete_conversation(store: CanvasStore, conversation_id: int) -> dict[str, Any]:
    """Delete a conversation from one's own inbox."""
    [shown] = _conversations(store, [store.conversations.conversation(conversation_id)])
    store.conversations.leave_conversation(conversation_id)
    return shown


@api.post("/conversations/{conversation_id:int}/add_message", status=201)
def add_message(store: CanvasStore, conversation_id: int, body: str = "") -> dict[str, Any]:
    """Answer in a conversation."""
    return _with_messages(store, store.conversations.add_message(conversation_id, body), 1)


@api.post("/conversations/{conversation_id:int}/add_recipients")
def add_recipients(store: CanvasStore, conversation_id: int, recipients: list[str]) -> dict[str, Any]:
    """Let further people take part."""
    return _with_messages(store, store.conversations.add_recipients(conversation_id, recipients), 1)


_EVENTS: dict[str, dict[str, Any]] = {
    "mark_as_read": {"workflow_state": STATES[0]},
    "mark_as_unread": {"workflow_state": STATES[1]},
    "archive": {"workflow_state": STATES[2]},
    "star": {"starred": True},
    "unstar": {"starred": False},
}


@api.put("/conversations")
def update_conversations(store: CanvasStore, conversation_ids: list[int], event: str) -> dict[str, Any]:
    """Do the same to several conversations, at once."""
    if event not in (*_EVENTS, "destroy"):
        raise Invalid(f"Invalid event: {event[:40]!r}", code="event.inclusion")
    for key in conversation_ids:
        if event == "destroy":
            store.conversations.leave_conversation(key)
        else:
            store.conversations.update_conversation(key, _EVENTS[event])
    return {
        "id": 1,
        "context_id": store.user_id,
        "context_type": "User",
        "user_id": store.user_id,
        "tag": "conversation_batch_update",
        "completion": 100.0,
        "workflow_state": "completed",
        "created_at": store.stamp,
        "updated_at": store.stamp,
        "message": f"{len(conversation_ids)} conversations processed",
    }


@api.get("/search/recipients")
def find_recipients(
    store: CanvasStore,
    paging: Paged,
    search: str = "",
    context: str | None = None,
    exclude: list[int] | None = None,
) -> Page:
    """The people whom one can write to."""
    courses = context_courses([context]) if context else []
    listing = store.conversations.find_recipients(
        search, courses[0] if courses else None, exclude or [], paging
    )
    return listing.of(_person)


def _person(user: Row) -> Json:
    avatar = f"{ADDRESS}/images/messages/avatar-50.png"
    names = {"id": user["id"], "name": user["short_name"], "full_name": user["name"]}
    return names | {"avatar_url": avatar, "common_courses": {}, "common_groups": {}}
