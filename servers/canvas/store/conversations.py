"""Conversations, and how their participants handle them: Canvas's inbox."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, exists, func, insert, select

from mesocosm.errors import Invalid
from mesocosm.servers.canvas.models import Conversation, Enrollment, Message, Participant, User
from mesocosm.servers.canvas.store import values
from mesocosm.servers.canvas.store.access import (
    DESIGNER,
    ENROLLMENT_TYPES,
    OBSERVER,
    STUDENT,
    TA,
    TEACHER,
    Lister,
    StorePart,
    denied,
    matching,
    missing,
    table_of,
)
from mesocosm.services.service import Page, Paging, Row

MAX_RECIPIENTS = 100
STATES = ("read", "unread", "archived")
GROUPS = {
    "students": STUDENT,
    "teachers": TEACHER,
    "tas": TA,
    "observers": OBSERVER,
    "designers": DESIGNER,
}

_CONTEXT = re.compile(r"course_(\d{1,18})(?:_(\w+))?")
_USER = re.compile(r"(?:user_)?(\d{1,18})")

_COUNT = (
    select(func.count())
    .where(Message.conversation_id == Conversation.id)
    .scalar_subquery()
    .label("message_count")
)
_LAST_MESSAGE = (
    select(Message.body)
    .where(Message.conversation_id == Conversation.id)
    .order_by(Message.created_at.desc(), Message.id.desc())
    .limit(1)
    .scalar_subquery()
    .label("last_message")
)
_OWN_CONVERSATIONS = select(
    *Conversation.__table__.c, Participant.workflow_state, Participant.starred, _COUNT, _LAST_MESSAGE
).join(Participant, Participant.conversation_id == Conversation.id)
_OWN = _OWN_CONVERSATIONS.where(Participant.user_id == bindparam("user"))
_UNREAD = select(Participant.conversation_id).where(
    Participant.user_id == bindparam("user"), Participant.workflow_state == "unread"
)
_SENT = exists().where(Message.conversation_id == Conversation.id, Message.author_id == bindparam("user"))
_NEWEST = (Conversation.last_message_at.desc(), Conversation.id.desc())
_CONVERSATIONS = Lister(_OWN.where(Participant.workflow_state != "archived").order_by(*_NEWEST))
_CONVERSATION = _OWN.where(Conversation.id == bindparam("conversation"))
_MESSAGES = Lister(
    select(*Message.__table__.c)
    .where(Message.conversation_id == bindparam("conversation"))
    .order_by(Message.created_at.desc(), Message.id.desc())
)
_PARTICIPANTS = (
    select(Participant.conversation_id, User.id, User.short_name, User.name)
    .join(User, User.id == Participant.user_id)
    .where(Participant.conversation_id.in_(bindparam("conversations", expanding=True)))
    .order_by(Participant.conversation_id, User.id)
)
_CLASSMATES = select(Enrollment.user_id).where(
    Enrollment.course_id.in_(
        select(Enrollment.course_id).where(
            Enrollment.user_id == bindparam("viewer"), Enrollment.enrollment_state == "active"
        )
    ),
    Enrollment.enrollment_state == "active",
    Enrollment.user_id.in_(bindparam("users", expanding=True)),
)
_MEMBERS = (
    select(Enrollment.user_id)
    .where(
        Enrollment.course_id == bindparam("course"),
        Enrollment.type.in_(bindparam("types", expanding=True)),
        Enrollment.enrollment_state == "active",
    )
    .distinct()
    .order_by(Enrollment.user_id)
    .limit(MAX_RECIPIENTS + 2)
)
_MINE = select(Participant.conversation_id).where(Participant.user_id == bindparam("user"))
_THEIRS = select(Participant.conversation_id).where(Participant.user_id == bindparam("other"))
_PRIVATE = (
    select(Conversation.id, Conversation.subject)
    .where(Conversation.private, Conversation.id.in_(_MINE), Conversation.id.in_(_THEIRS))
    .order_by(Conversation.id.desc())
)


class Conversations(StorePart):
    """Messages between users."""

    def listed(self, paging: Paging) -> Page:
        """The signed-in user's conversations, the one with the newest message first."""
        return self.listing(_CONVERSATIONS, paging, user=self.user_id)

    def conversation(self, conversation_id: int) -> Row:
        """A conversation in which the signed-in user takes part."""
        return self.one(
            _CONVERSATION,
            "conversation",
            conversation_id,
            conversation=conversation_id,
            user=self.user_id,
        )

    def messages(self, conversation_id: int, paging: Paging) -> Page:
        """The messages of a conversation, newest first."""
        return self.listing(_MESSAGES, paging, conversation=conversation_id)

    def participants(self, conversation_ids: Sequence[int]) -> dict[int, list[Row]]:
        groups: dict[int, list[Row]] = {key: [] for key in conversation_ids}
        for row in self.fetch(_PARTICIPANTS, conversations=conversation_ids):
            groups[row["conversation_id"]].append(row)
        return groups

    def start_conversations(self, recipients: Sequence[str], body: str, subject: str | None) -> list[Row]:
        """Send a message to each recipient privately; returns the conversations with them.

        A private conversation of the same subject is continued.
        """
        sender = self.user_id
        text = values.filled(body, "body")
        title = values.text(subject.strip(), "subject", limit=values.MAX_TITLE) if subject else ""
        people = self.people_named(recipients)
        keys = [self._private(sender, other, title or None) for other in people]
        for key in keys:
            self.insert(Message(conversation_id=key, author_id=sender, body=text, created_at=self.stamp))
            self.change(Conversation, key, {"last_message_at": self.stamp})
        return [self.conversation(key) for key in keys]

    def _private(self, sender: int, other: int, subject: str | None) -> int:
        """The private conversation to continue, or a new one; the other one has not read it."""
        for row in self.fetch(_PRIVATE, user=sender, other=other):
            if subject in (None, row["subject"]):
                for user_id, state in ((sender, "read"), (other, "unread")):
                    self.session.get_one(Participant, (row["id"], user_id)).workflow_state = state
                return int(row["id"])
        conversation = self.insert(
            Conversation(subject=subject, private=True, course_id=None, last_message_at=self.stamp)
        )
        for user_id in (sender, other):
            self._join(conversation.id, user_id)
        return conversation.id

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
        ordered = statement.order_by(*_NEWEST)
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
        people = self.people_named(recipients)
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
        self.conversation(conversation_id)
        text = values.filled(body, "body")
        message = Message(
            conversation_id=conversation_id, author_id=self.user_id, body=text, created_at=self.stamp
        )
        self.insert(message)
        self.change(Conversation, conversation_id, {"last_message_at": self.stamp})
        for person in self.participants([conversation_id])[conversation_id]:
            taking_part = self.session.get_one(Participant, (conversation_id, person["id"]))
            taking_part.workflow_state = "read" if person["id"] == self.user_id else "unread"
        self.session.flush()
        return self.conversation(conversation_id)

    def add_recipients(self, conversation_id: int, recipients: Sequence[str]) -> Row:
        """Let further people take part in a group conversation."""
        conversation = self.conversation(conversation_id)
        if conversation["private"]:
            raise denied()
        known = {person["id"] for person in self.participants([conversation_id])[conversation_id]}
        for user_id in self.people_named(recipients):
            if user_id not in known:
                self._join(conversation_id, user_id)
        return self.conversation(conversation_id)

    def update_conversation(self, conversation_id: int, fields: dict[str, Any]) -> Row:
        """Mark a conversation as read, unread or archived, or star it; for the signed-in user only."""
        self.conversation(conversation_id)
        if "workflow_state" in fields:
            values.choice(fields["workflow_state"], "workflow_state", STATES)
        self._set(conversation_id, fields)
        return self.conversation(conversation_id)

    def leave_conversation(self, conversation_id: int) -> Row:
        """Delete a conversation from the signed-in user's inbox; the others keep theirs."""
        conversation = self.conversation(conversation_id)
        self.remove(Participant, (conversation_id, self.user_id))
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

    def people_named(self, recipients: Sequence[str]) -> list[int]:
        """The users whom these recipients name; all must be within the sender's reach."""
        people: dict[int, None] = {}
        for recipient in recipients:
            for user_id in self._named(recipient.strip()):
                people[user_id] = None
        people.pop(self.user_id, None)
        if not people:
            raise Invalid("recipients can't be blank")
        if len(people) > MAX_RECIPIENTS:
            raise Invalid(f"Too many recipients: a message can be sent to at most {MAX_RECIPIENTS} users.")
        return list(people)

    def _named(self, recipient: str) -> list[int]:
        if found := _USER.fullmatch(recipient):
            return [self._reachable(int(found[1]))]
        if found := _CONTEXT.fullmatch(recipient):
            return self._group(int(found[1]), found[2])
        raise Invalid(
            f"Invalid recipient {recipient[:40]!r}: use a user id, course_<id> or course_<id>_teachers"
            " (or _students, _tas, _observers, _designers)."
        )

    def _reachable(self, user_id: int) -> int:
        """A user whom the sender knows from a course, or may see as an administrator."""
        if user_id == self.user_id or self.fetch(_CLASSMATES, viewer=self.user_id, users=[user_id]):
            return user_id
        if self.administers(self.store.users.user(self.user_id)["account_id"]) and self.store.users.user(
            user_id
        ):
            return user_id
        raise missing("recipient", user_id)

    def _group(self, course_id: int, group: str | None) -> list[int]:
        access = self.reading(course_id)
        if group is not None and group not in GROUPS:
            raise Invalid(f"Invalid recipient group {group[:40]!r}: use one of {', '.join(GROUPS)}.")
        # Students may write to the staff as a whole, but not to everybody at once.
        if not (access.staff or group in ("teachers", "tas")):
            raise denied()
        types = [GROUPS[group]] if group else list(ENROLLMENT_TYPES)
        return [row["user_id"] for row in self.fetch(_MEMBERS, course=course_id, types=types)]

    # -- filling ----------------------------------------------------------------------------------------

    def add_conversations(self, conversations: Sequence[Row]) -> list[int]:
        """Add conversations with their messages; returns their ids.

        Participants and messages (oldest first) are required. A conversation is unread by those who did not
        write its last message, unless ``read_by`` names them.
        """
        ids = self.fill(Conversation, [_filled(conversation) for conversation in conversations])
        participants, messages = [], []
        for key, conversation in zip(ids, conversations, strict=True):
            people = conversation["participants"]
            for message in conversation["messages"]:
                if message["author_id"] not in people:
                    raise Invalid(f"user {message['author_id']} does not take part in the conversation")
                created_at = values.stored_time(message["created_at"])
                messages.append({**message, "created_at": created_at, "conversation_id": key})
            read_by = {conversation["messages"][-1]["author_id"], *conversation.get("read_by", [])}
            for user_id in people:
                state = "read" if user_id in read_by else "unread"
                row = {"conversation_id": key, "user_id": user_id, "workflow_state": state, "starred": False}
                participants.append(row)
        if participants:
            self.session.execute(insert(table_of(Participant)), participants)
        self.fill(Message, messages)
        return ids


def _filled(conversation: Row) -> dict[str, Any]:
    if not conversation["messages"] or len(set(conversation["participants"])) < 2:
        raise Invalid("a conversation needs two participants and a message")
    return {
        "subject": conversation.get("subject"),
        "private": len(conversation["participants"]) == 2,
        "course_id": conversation.get("course_id"),
        "last_message_at": max(
            str(values.stored_time(message["created_at"])) for message in conversation["messages"]
        ),
    }
