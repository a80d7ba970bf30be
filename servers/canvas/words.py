"""Vocabulary of task files for the learning platform."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar
from zoneinfo import ZoneInfo

from mesocosm.services.calling import Tools
from mesocosm.services.later import later
from mesocosm.services.words import Fields, Found, Owner, Spoiling, Thing, Word, Words, saved_rows, stamp

if TYPE_CHECKING:
    import sqlalchemy as sql

    from mesocosm.servers.canvas import models
    from mesocosm.servers.canvas import store as rules
    from mesocosm.servers.canvas.store import accounts
    from mesocosm.services.world import World
    from mesocosm.worlds.changes import Changes, Row
else:
    sql, models, rules, accounts = later(
        "sqlalchemy",
        "mesocosm.servers.canvas.models",
        "mesocosm.servers.canvas.store",
        "mesocosm.servers.canvas.store.accounts",
    )

_PREPARED, _MEMBERS, _ENTERED = (91, 104), (62, 75), (40, 61)
"""So many days ago, at least and at most, courses were made, and their members and assignments entered."""
_ROLES = ("teacher", "student", "ta")
_COURSE = Word("Id of the course: `{course.place.id}`.", "number", required=True)


def _users(store: rules.CanvasStore, names: Sequence[str]) -> dict[str, int]:
    """The users of these names; who is not there yet is made."""
    known: dict[str, int] = {
        row.name: row.id for row in store.session.execute(sql.select(models.User.name, models.User.id))
    }
    new, zone = sorted(set(names) - set(known)), _zone(store)
    ids = store.users.add_users(
        [{"name": name, "login_id": f"{_login(name)}-{n}", "time_zone": zone} for n, name in enumerate(new)]
    )
    return known | dict(zip(new, ids, strict=True))


def _login(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum()) or "x"


def _zone(store: rules.CanvasStore) -> str:
    """Return the zone of all displayed times: the account's."""
    return str(store.accounts.account(store.accounts.root_account_id)["default_time_zone"])


def _office_hours(store: rules.CanvasStore, rng: Random, days: tuple[int, int]) -> str:
    """A moment so many days ago at which people work in offices, by the platform's clocks."""
    day = store.now.astimezone(ZoneInfo(_zone(store))) - timedelta(days=rng.randint(*days))
    if day.weekday() > 4:
        day -= timedelta(days=day.weekday() - 4)
    return stamp(day.replace(hour=rng.randint(8, 16), minute=rng.randrange(60), second=rng.randrange(60)))


def _me(store: rules.CanvasStore) -> int:
    return int(store.user_id)


class CourseThing(Thing):
    """A course that the owner takes part in."""

    name = "course"
    about = "A course that the owner takes part in."
    overhead = 250
    says: ClassVar[Mapping[str, Word]] = {
        "name": Word("Its name.", required=True),
        "course_code": Word("Its code.", required=True),
        "role": Word("What the owner is there; default: student.", choices=_ROLES),
        "teachers": Word("Names of its teachers.", "list"),
        "students": Word("Names of its students.", "list"),
        "syllabus_body": Word("Its syllabus."),
    }
    gives: ClassVar[Mapping[str, str]] = {"id": "The course's id."}

    def add(self, world: World, things: Sequence[Fields]) -> list[Fields]:
        store = world.store(rules.CanvasStore)
        rng = world.stream("courses made")
        courses = [
            {
                "name": str(one["name"]),
                "course_code": str(one["course_code"]),
                "syllabus_body": one.get("syllabus_body"),
                "time_zone": _zone(store),
                "created_at": _office_hours(store, rng, _PREPARED),
            }
            for one in things
        ]
        ids = store.courses.add_courses(courses)
        people = [name for one in things for role in ("teachers", "students") for name in one.get(role) or ()]
        users = _users(store, [str(name) for name in people])
        rows: list[Any] = []
        for number, one in zip(ids, things, strict=True):
            members = [(_me(store), one.get("role") or "student")]
            members += [(users[str(name)], "teacher") for name in one.get("teachers") or ()]
            members += [(users[str(name)], "student") for name in one.get("students") or ()]
            seen: dict[int, str] = {}
            entered = _office_hours(store, rng, _MEMBERS)
            for user, role in members:
                seen.setdefault(user, role)
            rows += [
                {
                    "course_id": number,
                    "user_id": user,
                    "type": _ENROLLED[role],
                    "enrollment_state": "active",
                    "created_at": entered,
                }
                for user, role in seen.items()
            ]
        store.courses.add_enrollments(rows)
        return [{"id": number} for number in ids]

    def trace(self, fields: Fields, given: Fields) -> str:
        return f'"course_code":"{fields["course_code"]}"'


_ENROLLED = {"teacher": "TeacherEnrollment", "student": "StudentEnrollment", "ta": "TaEnrollment"}


class AnnouncementThing(Thing):
    """An announcement in a course."""

    name = "announcement"
    about = "An announcement in a course, by one of its teachers; as a goal, by the agent."
    overhead = 85
    when = "posted_at"
    text = "message"
    title = "title"
    listed = False
    says: ClassVar[Mapping[str, Word]] = {
        "course_id": _COURSE,
        "author": Word("Name of the teacher who wrote it.", required=True),
        "title": Word("Its title; left out, an everyday one."),
        "message": Word("Its text.", required=True),
        "posted_at": Word("When it was posted.", "moment", required=True),
    }
    judges: ClassVar[Mapping[str, Word]] = {
        "course_id": Word("Id of the course.", "data"),
        "title": Word("Its title."),
        "message": Word("Its text."),
    }
    gives: ClassVar[Mapping[str, str]] = {"id": "The announcement's id."}

    def add(self, world: World, things: Sequence[Fields]) -> list[Fields]:
        store = world.store(rules.CanvasStore)
        users = _users(store, [str(one["author"]) for one in things])
        rows: list[Any] = [
            {
                "course_id": int(one["course_id"]),
                "user_id": users[str(one["author"])],
                "title": str(one.get("title") or "Announcement"),
                "message": _html(str(one["message"])),
                "posted_at": stamp(one["posted_at"]),
            }
            for one in things
        ]
        return [{"id": number} for number in store.discussions.add_announcements(rows)]

    def trace(self, fields: Fields, given: Fields) -> str:
        return f'discussion_topics/{given["id"]}"'

    def shown(self, name: str, value: Any) -> str:
        return html.escape(str(value), quote=False) if name == "message" else super().shown(name, value)

    def made(self, world: World, changes: Changes) -> Iterator[Found]:
        for row in changes.table("canvas", "discussion_topics").added:
            if row["is_announcement"]:
                fields = {name: row[name] for name in ("course_id", "title", "message")}
                yield Found(fields, frozenset({("discussion_topics", row["id"])}))


def _html(text: str) -> str:
    blocks = text.split("\n\n")
    return "".join(f"<p>{html.escape(b, quote=False).replace(chr(10), '<br>')}</p>" for b in blocks)


class AssignmentThing(Thing):
    """An assignment of a course."""

    name = "assignment"
    about = "An assignment of a course."
    overhead = 330
    text = "description"
    title = "name"
    listed = False
    identified_by = "id"
    says: ClassVar[Mapping[str, Word]] = {
        "course_id": _COURSE,
        "name": Word("Its name.", required=True),
        "description": Word("What is to be done."),
        "due_at": Word("When it is due.", "moment"),
        "points_possible": Word("Points for it.", "number"),
    }
    judges: ClassVar[Mapping[str, Word]] = {
        "id": Word("Which one, where it was there before: `{task.assignment.id}`.", "data"),
        "course_id": Word("Id of the course.", "data"),
        "name": Word("Its name."),
        "description": Word("What is to be done."),
        "due_at": Word("When it is due.", "moment"),
        "points_possible": Word("Points for it.", "number"),
        "published": Word("Whether students see it.", "flag"),
    }
    gives: ClassVar[Mapping[str, str]] = {"id": "The assignment's id."}
    when = "due_at"

    def add(self, world: World, things: Sequence[Fields]) -> list[Fields]:
        store = world.store(rules.CanvasStore)
        rng = world.stream(f"assignments made {things[0].get('name')}" if things else "assignments made")
        rows: list[Any] = [
            {
                "course_id": int(one["course_id"]),
                "name": str(one.get("name") or "Untitled"),
                "description": _html(str(one["description"])) if one.get("description") else None,
                "due_at": stamp(one["due_at"]) if one.get("due_at") else None,
                "points_possible": float(one.get("points_possible") or 0),
                "created_at": _office_hours(store, rng, _ENTERED),
            }
            for one in things
        ]
        return [{"id": number} for number in store.assignments.add_assignments(rows)]

    def trace(self, fields: Fields, given: Fields) -> str:
        return str(fields["name"])

    def made(self, world: World, changes: Changes) -> Iterator[Found]:
        for row in changes.table("canvas", "assignments").added:
            yield Found(_assignment(row), frozenset({("assignments", row["id"])}))

    def altered(self, world: World, changes: Changes) -> Iterator[Found]:
        judged = {*self.judges, "workflow_state", "updated_at"}
        for before, after in changes.table("canvas", "assignments").changed:
            columns = frozenset(name for name in before if before[name] != after[name]) & judged
            rows = frozenset({("assignments", after["id"])})
            yield Found(_assignment(after), rows, columns | {"updated_at"}, _assignment(before))


def _assignment(row: Row) -> Fields:
    return {
        name: row[name] for name in ("id", "course_id", "name", "description", "due_at", "points_possible")
    } | {"published": bool(row["published"])}


class MessageThing(Thing):
    """A message to people of a course."""

    name = "message"
    about = "A conversation that the agent began."
    judges: ClassVar[Mapping[str, Word]] = {
        "to": Word("Exactly these people, by name.", "list"),
        "subject": Word("Its subject."),
        "body": Word("Its text."),
    }

    def made(self, world: World, changes: Changes) -> Iterator[Found]:
        session = world.store(rules.CanvasStore).session
        me = _me(world.store(rules.CanvasStore))
        for row in changes.table("canvas", "conversations").added:
            people = session.execute(
                sql.select(models.User.id, models.User.name)
                .join(models.Participant, models.Participant.user_id == models.User.id)
                .where(models.Participant.conversation_id == row["id"])
            ).all()
            messages = [
                message
                for message in changes.table("canvas", "conversation_messages").added
                if message["conversation_id"] == row["id"]
            ]
            rows = {("conversations", row["id"]), *(("conversation_messages", one["id"]) for one in messages)}
            rows |= {("conversation_participants", (row["id"], one.id)) for one in people}
            yield Found(
                {
                    "to": sorted(one.name for one in people if one.id != me),
                    "subject": row["subject"],
                    "body": "\n".join(message["body"] for message in messages),
                },
                frozenset(rows),
            )


def _open(world: World, owner: Owner, people: Sequence[tuple[str, str]]) -> None:
    store = world.store(rules.CanvasStore)
    house = owner.house or accounts.DEFAULT_ACCOUNT
    store.accounts.add_accounts([{"name": house, "default_time_zone": owner.zone}])
    me, *_ = store.users.add_users(
        [
            {"name": name, "login_id": email, "primary_email": email, "time_zone": owner.zone}
            for name, email in [(owner.name, owner.email), *people]
        ]
    )
    store.sign_in(me)


def _survey(tools: Tools, options: Mapping[str, Any]) -> None:
    courses = list(tools.pages("canvas", "canvas_list_courses", per_page=100))
    for course in courses:
        for tool in ("canvas_list_announcements", "canvas_list_assignments"):
            for _ in tools.pages("canvas", tool, course_id=course["id"], per_page=100):
                pass


def _spoil(table: str, **values: Any) -> Any:
    def apply(world: World) -> bool:
        model = getattr(models, table)
        store = world.store(rules.CanvasStore)
        first = store.session.scalar(sql.select(model.id).order_by(model.id).limit(1))
        if first is not None:
            store.session.execute(sql.update(model).where(model.id == first).values(**values))
        return first is not None

    return apply


def _removed(world: World) -> bool:
    store = world.store(rules.CanvasStore)
    topic = models.DiscussionTopic
    oldest = store.session.scalar(sql.select(topic.id).order_by(topic.id).limit(1))
    if oldest is not None:
        store.session.execute(sql.delete(topic).where(topic.id == oldest))
    return oldest is not None


def _written(world: World) -> bool:
    store = world.store(rules.CanvasStore)
    me = _me(store)
    other = store.session.scalar(sql.select(models.User.id).where(models.User.id != me).limit(1))
    if other is not None:
        message = {"author_id": me, "body": "Hello", "created_at": store.stamp}
        begun: Any = {"subject": "Hello", "participants": [me, other], "messages": [message]}
        store.conversations.add_conversations([begun])
    return other is not None


def _same(world: World, changes: Changes) -> set[tuple[str, Any]]:
    """Conversations that were read, things that were saved unchanged, and who signed in again."""
    read = {
        ("conversation_participants", (after["conversation_id"], after["user_id"]))
        for before, after in changes.table("canvas", "conversation_participants").changed
        if before["workflow_state"] == "unread" and {**before, "workflow_state": "read"} == after
    }
    return read | set(saved_rows(world, changes, "canvas", ("last_login", "updated_at")))


words = Words(
    service="canvas",
    things={
        "course": CourseThing(),
        "announcement": AnnouncementThing(),
        "assignment": AssignmentThing(),
        "message": MessageThing(),
    },
    survey=_survey,
    open=_open,
    excuses=_same,
    spoilings=(
        Spoiling("a course renamed", _spoil("Course", name="Something else")),
        Spoiling("an announcement rewritten", _spoil("DiscussionTopic", message="Something else.")),
        Spoiling("an announcement removed", _removed),
        Spoiling("a message written", _written, frozenset({"canvas_message_extra"})),
        Spoiling(
            "an assignment renamed",
            _spoil("Assignment", name="Something else"),
            frozenset({"canvas_assignment_change_extra"}),
        ),
    ),
)
