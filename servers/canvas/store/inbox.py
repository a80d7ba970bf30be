"""Actions on the inbox: replying, reading, starring, archiving, searching recipients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, exists, select

from mesocosm.servers.canvas.models import Conversation, Enrollment, Message, Participant, User
from mesocosm.servers.canvas.store import values
from mesocosm.servers.canvas.store.access import Lister, Paging, StorePart, denied
from mesocosm.servers.canvas.store.accounts import matching
from mesocosm.servers.canvas.store.conversations import OWN_CONVERSATIONS
from mesocosm.services.service import Page, Row

STATES = ("read", "unread", "archived")

_OWN = OWN_CONVERSATIONS.where(Participant.user_id == bindparam("user"))
_UNREAD = select(Participant.conversation_id).where(
    Participant.user_id == bindparam("user"), Participant.workflow_state == "unread"
)
_SENT = exists().where(Message.conversation_id == Conversation.id, Message.author_id == bindparam("user"))


class Inbox(StorePart):
    """Conversations as their participants handle them."""

    def find_conversations(
        self, paging: Paging, *, scope: str | None, course_ids: Sequence[int] = ()
    ) -> Page:
        """The signed-in user's conversations: those that are not archived, or those of a scope."""
        statement = _OWN
        if scope == "starred":
            statement = statement.where(Participant.starred)
        elif scope == "sent":
            statement = statement.where(_SENT)
        elif scope in ("unread", "archived"):
            statement = statement.where(Participant.workflow_state == scope)
        else:
            statement = statement.where(Participant.workflow_state != "archived")
        if course_ids:
            statement = statement.where(Conversation.course_id.in_(list(course_ids)))
        ordered = statement.order_by(Conversation.last_message_at.desc(), Conversation.id.desc())
        return self.listing(Lister(ordered), paging, user=self.user_id)

    def unread_count(self) -> int:
        """Count the signed-in user's unread conversations."""
        return len(self.fetch(_UNREAD, user=self.user_id))

    def mark_all_as_read(self) -> None:
        """Read everything."""
        for row in self.fetch(_UNREAD, user=self.user_id):
            self._set(row["conversation_id"], {"workflow_state": "read"})

    def start_group(self, recipients: Sequence[str], body: str, subject: str | None) -> Row:
        """Start one conversation with all of the recipients."""
        title = values.text(subject.strip(), "subject", limit=values.MAX_TITLE) if subject else ""
        people = self.store.conversations.people_named(recipients)
        text = values.filled(body, "body")
        conversation = self.insert(
            Conversation(
                subject=title or None, private=len(people) == 1, course_id=None, last_message_at=self.stamp
            )
        )
        for user_id in (self.user_id, *people):
            self._join(conversation.id, user_id)
        return self.add_message(conversation.id, text)

    def add_message(self, conversation_id: int, body: str) -> Row:
        """Answer in a conversation; the others have not read it."""
        self.store.conversations.conversation(conversation_id)
        text = values.filled(body, "body")
        message = Message(
            conversation_id=conversation_id, author_id=self.user_id, body=text, created_at=self.stamp
        )
        self.insert(message)
        self.change(Conversation, conversation_id, {"last_message_at": self.stamp})
        for person in self.store.conversations.participants([conversation_id])[conversation_id]:
            taking_part = self.session.get_one(Participant, (conversation_id, person["id"]))
            taking_part.workflow_state = "read" if person["id"] == self.user_id else "unread"
        self.session.flush()
        return self.store.conversations.conversation(conversation_id)

    def add_recipients(self, conversation_id: int, recipients: Sequence[str]) -> Row:
        """Let further people take part in a group conversation."""
        conversation = self.store.conversations.conversation(conversation_id)
        if conversation["private"]:
            raise denied()
        known = {
            person["id"]
            for person in self.store.conversations.participants([conversation_id])[conversation_id]
        }
        for user_id in self.store.conversations.people_named(recipients):
            if user_id not in known:
                self._join(conversation_id, user_id)
        return self.store.conversations.conversation(conversation_id)

    def update_conversation(self, conversation_id: int, fields: dict[str, Any]) -> Row:
        """Mark a conversation as read, unread or archived, or star it; for the signed-in user only."""
        self.store.conversations.conversation(conversation_id)
        if "workflow_state" in fields:
            values.choice(fields["workflow_state"], "workflow_state", STATES)
        self._set(conversation_id, fields)
        return self.store.conversations.conversation(conversation_id)

    def leave_conversation(self, conversation_id: int) -> Row:
        """Delete a conversation from the signed-in user's inbox; the others keep theirs."""
        conversation = self.store.conversations.conversation(conversation_id)
        self.session.delete(self.session.get_one(Participant, (conversation_id, self.user_id)))
        self.session.flush()
        return conversation

    def find_recipients(
        self, search: str, course_id: int | None, exclude: Sequence[int], paging: Paging
    ) -> Page:
        """The people whom the signed-in user can write to, of one course or of all."""
        mine = select(Enrollment.course_id).where(
            Enrollment.user_id == self.user_id, Enrollment.enrollment_state == "active"
        )
        if course_id is not None:
            self.reading(course_id)
            mine = mine.where(Enrollment.course_id == course_id)
        known = select(Enrollment.user_id).where(
            Enrollment.course_id.in_(mine), Enrollment.enrollment_state == "active"
        )
        statement = select(*User.__table__.c).where(User.id.in_(known), User.id.not_in(list(exclude)))
        if len(search.strip()) > 1:
            statement = statement.where(matching(search, User.name))
        return self.listing(Lister(statement.order_by(User.sortable_name, User.id)), paging)

    def _join(self, conversation_id: int, user_id: int) -> None:
        state = "read" if user_id == self.user_id else "unread"
        self.insert(
            Participant(conversation_id=conversation_id, user_id=user_id, workflow_state=state, starred=False)
        )

    def _set(self, conversation_id: int, fields: dict[str, Any]) -> None:
        taking_part = self.session.get_one(Participant, (conversation_id, self.user_id))
        for name, value in fields.items():
            setattr(taking_part, name, value)
        self.session.flush()
