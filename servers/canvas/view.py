"""Pages of Canvas: courses with announcements, assignments, grades, modules and people; the inbox."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sql

from mesocosm.servers.canvas.models import (
    Account,
    Assignment,
    CalendarEvent,
    Conversation,
    Course,
    DiscussionEntry,
    DiscussionTopic,
    Enrollment,
    File,
    Module,
    ModuleItem,
    Participant,
    Quiz,
    QuizQuestion,
    Submission,
    SubmissionComment,
    User,
    WikiPage,
)
from mesocosm.servers.canvas.models import Message as Written
from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.services.views import (
    Asked,
    Block,
    Columns,
    Fields,
    Item,
    Link,
    Message,
    Page,
    Row,
    Table,
    View,
    count_of,
    found_in,
    minute_of,
    table_of,
)

view = View()
Shows = Callable[[CanvasStore], Columns]


def _people(store: CanvasStore) -> dict[int, str]:
    """Names by number."""
    return dict(store.session.execute(sql.select(User.id, User.name)).all())


def _global(store: CanvasStore) -> list[Link]:
    return [
        Link("Courses", "", count_of(store, Course)),
        Link("Inbox", "inbox", count_of(store, Conversation)),
        Link("Calendar", "calendar", count_of(store, CalendarEvent)),
        Link("People", "people", count_of(store, User)),
    ]


@view.page("")
def courses(store: CanvasStore, asked: Asked) -> Page:
    columns: Columns = {
        "Code": lambda one: one.course_code,
        "Course": lambda one: Link(one.name, f"course/{one.id}"),
        "State": lambda one: one.workflow_state,
        "From": lambda one: minute_of(one.start_at)[:10],
    }
    account = store.session.scalar(sql.select(Account.name).order_by(Account.id))
    return Page(account or "Canvas", [table_of(store, asked, Course, columns)], _global(store))


def _course(store: CanvasStore, id: str) -> tuple[Course, list[Link], Link]:
    course = found_in(store, Course, id, "course")
    here = f"course/{course.id}"

    def count(kind: Any, *chosen: Any) -> int:
        return count_of(store, kind, kind.course_id == course.id, *chosen)

    counts = {
        "Announcements": count(DiscussionTopic, DiscussionTopic.is_announcement),
        "Assignments": count(Assignment),
        "Grades": None,
        "Quizzes": count(Quiz),
        "Discussions": count(DiscussionTopic, ~DiscussionTopic.is_announcement),
        "Modules": count(Module),
        "Pages": count(WikiPage),
        "Files": count(File),
        "People": count(Enrollment),
    }
    places = [Link(name, f"{here}/{name.lower()}", there) for name, there in counts.items() if there != 0]
    return course, [Link("Home", here), *places], Link("All courses", "")


def _of_course(title: str, kind: Any, *chosen: Any, order: Sequence[Any] = ()) -> Callable[[Shows], Shows]:
    """Register the page of a course with what it has of a kind; the function says what is shown of each."""

    def register(columns: Shows) -> Shows:
        @view.page(f"course/{{id}}/{title.lower()}")
        def listed(store: CanvasStore, asked: Asked, id: str) -> Page:
            found, places, up = _course(store, id)
            inside = kind.course_id == found.id
            table = table_of(store, asked, kind, columns(store), inside, *chosen, order=order)
            return Page(f"{title}, {found.name}", [table], places, up)

        return columns

    return register


@view.page("course/{id}")
def course(store: CanvasStore, asked: Asked, id: str) -> Page:
    """The home of a course: its syllabus."""
    found, places, up = _course(store, id)
    facts = Fields(
        {
            "Code": found.course_code,
            "State": found.workflow_state,
            "From": minute_of(found.start_at),
            "Until": minute_of(found.end_at),
            "Time zone": found.time_zone,
        },
        ref=f"courses:{found.id}",
    )
    blocks: list[Block] = [facts]
    if found.syllabus_body:
        blocks.append(Message("Syllabus", found.syllabus_body, source=found.syllabus_body))
    return Page(found.name, blocks, places, up)


_NEWEST = (DiscussionTopic.posted_at.desc(), DiscussionTopic.id.desc())


@_of_course("Announcements", DiscussionTopic, DiscussionTopic.is_announcement, order=_NEWEST)
@_of_course("Discussions", DiscussionTopic, ~DiscussionTopic.is_announcement, order=_NEWEST)
def _topics(store: CanvasStore) -> Columns:
    names = _people(store)
    return {
        "By": lambda one: names.get(one.user_id, ""),
        "Title": lambda one: Link(one.title, f"topic/{one.id}"),
        "Posted": lambda one: minute_of(one.posted_at),
    }


@view.page("topic/{number}")
def topic(store: CanvasStore, asked: Asked, number: str) -> Page:
    """An announcement or a discussion with its entries."""
    found = found_in(store, DiscussionTopic, number, "topic")
    names = _people(store)
    entries = store.session.scalars(
        sql.select(DiscussionEntry)
        .where(DiscussionEntry.topic_id == found.id)
        .order_by(DiscussionEntry.created_at, DiscussionEntry.id)
        .offset(asked.start)
        .limit(asked.size)
    )
    kind = "announcements" if found.is_announcement else "discussions"
    first = Message(
        names.get(found.user_id, ""),
        found.message,
        minute_of(found.posted_at),
        title=found.title,
        ref=f"discussion_topics:{found.id}",
        source=found.message,
        notes=[word for word, on in (("pinned", found.pinned), ("locked", found.locked)) if on],
    )
    answers = [
        Message(
            names.get(one.user_id, ""),
            one.message,
            minute_of(one.created_at),
            ref=f"discussion_entries:{one.id}",
            source=one.message,
            notes=["answers another entry"] if one.parent_id else (),
        )
        for one in entries
    ]
    _, places, _ = _course(store, str(found.course_id))
    up = Link(kind.capitalize(), f"course/{found.course_id}/{kind}")
    return Page(found.title, [first, *answers], places, up)


@_of_course("Assignments", Assignment, order=(Assignment.due_at.is_(None), Assignment.due_at))
def _assignments(store: CanvasStore) -> Columns:
    handed = dict(
        store.session.execute(
            sql.select(Submission.assignment_id, sql.func.count())
            .where(Submission.submitted_at.is_not(None))
            .group_by(Submission.assignment_id)
        ).all()
    )
    return {
        "Assignment": lambda one: Link(one.name, f"assignment/{one.id}"),
        "Due (UTC)": lambda one: minute_of(one.due_at),
        "Points": lambda one: one.points_possible,
        "Handed in": lambda one: handed.get(one.id, 0),
        "": lambda one: "" if one.published else "not published",
    }


@view.page("assignment/{number}")
def assignment(store: CanvasStore, asked: Asked, number: str) -> Page:
    """An assignment with what was handed in."""
    found = found_in(store, Assignment, number, "assignment")
    names = _people(store)
    facts = Fields(
        {
            "Due (UTC)": minute_of(found.due_at),
            "Open": " until ".join(filter(None, [minute_of(found.unlock_at), minute_of(found.lock_at)])),
            "Points": found.points_possible,
            "Handed in as": ", ".join(found.submission_types),
            "Attempts": found.allowed_attempts,
        },
        ref=f"assignments:{found.id}",
    )
    mine = Submission.assignment_id == found.id
    submissions = store.session.scalars(
        sql.select(Submission).where(mine).order_by(Submission.user_id).offset(asked.start).limit(asked.size)
    ).all()
    rows = [
        Row(
            [
                names.get(one.user_id, ""),
                one.workflow_state,
                minute_of(one.submitted_at),
                one.grade,
                (one.body or one.url or "")[:120],
            ],
            path=f"submission/{one.id}",
            ref=f"submissions:{one.id}",
        )
        for one in submissions
    ]
    head = ["Student", "State", "Handed in", "Grade", "What"]
    blocks: list[Block] = [facts]
    if found.description:
        blocks.append(Message("Description", found.description, source=found.description))
    blocks.append(Table(head, rows, count_of(store, Submission, mine), "Submissions"))
    _, places, _ = _course(store, str(found.course_id))
    return Page(found.name, blocks, places, Link("Assignments", f"course/{found.course_id}/assignments"))


@view.page("submission/{number}")
def submission(store: CanvasStore, asked: Asked, number: str) -> Page:
    """Page of a submission with its comments."""
    found = found_in(store, Submission, number, "submission")
    names = _people(store)
    comments = store.session.scalars(
        sql.select(SubmissionComment)
        .where(SubmissionComment.submission_id == found.id)
        .order_by(SubmissionComment.id)
    )
    facts = Fields(
        {
            "State": found.workflow_state,
            "Attempt": found.attempt,
            "Handed in": minute_of(found.submitted_at),
            "Grade": found.grade,
            "Score": found.score,
            "Graded": minute_of(found.graded_at),
            "Address": found.url,
        },
        ref=f"submissions:{found.id}",
    )
    blocks: list[Block] = [facts]
    if found.body:
        blocks.append(
            Message(
                names.get(found.user_id, ""), found.body, minute_of(found.submitted_at), source=found.body
            )
        )
    blocks += [
        Message(
            names.get(one.author_id, ""),
            one.comment,
            minute_of(one.created_at),
            ref=f"submission_comments:{one.id}",
        )
        for one in comments
    ]
    return Page(
        names.get(found.user_id, ""),
        blocks,
        _global(store),
        Link("The assignment", f"assignment/{found.assignment_id}"),
    )


@view.page("course/{id}/grades")
def grades(store: CanvasStore, asked: Asked, id: str) -> Page:
    """The gradebook of a course: students by assignments."""
    found, places, up = _course(store, id)
    work = store.session.execute(
        sql.select(Assignment.id, Assignment.name)
        .where(Assignment.course_id == found.id)
        .order_by(Assignment.position, Assignment.id)
        .limit(asked.size)
    ).all()
    students = store.session.execute(
        sql.select(User.id, User.sortable_name)
        .join(Enrollment, Enrollment.user_id == User.id)
        .where(Enrollment.course_id == found.id, Enrollment.type == "StudentEnrollment")
        .order_by(User.sortable_name, User.id)
        .offset(asked.start)
        .limit(asked.size)
    ).all()
    given: dict[tuple[int, int], str | None] = {
        (user, task): grade
        for user, task, grade in store.session.execute(
            sql.select(Submission.user_id, Submission.assignment_id, Submission.grade).where(
                Submission.assignment_id.in_([one.id for one in work])
            )
        )
    }
    rows = [
        Row([name, *(given.get((user, task.id)) for task in work)], ref=f"users:{user}")
        for user, name in students
    ]
    total = count_of(
        store, Enrollment, Enrollment.course_id == found.id, Enrollment.type == "StudentEnrollment"
    )
    head = ["Student", *(one.name for one in work)]
    return Page(f"Grades, {found.name}", [Table(head, rows, total)], places, up)


@_of_course("Quizzes", Quiz, order=(Quiz.due_at,))
def _quizzes(store: CanvasStore) -> Columns:
    return {
        "Quiz": lambda one: Link(one.title, f"quiz/{one.id}"),
        "Type": lambda one: one.quiz_type,
        "Due (UTC)": lambda one: minute_of(one.due_at),
        "Minutes": lambda one: one.time_limit,
    }


@view.page("quiz/{number}")
def quiz(store: CanvasStore, asked: Asked, number: str) -> Page:
    """A quiz with its questions."""
    found = found_in(store, Quiz, number, "quiz")
    questions = store.session.scalars(
        sql.select(QuizQuestion)
        .where(QuizQuestion.quiz_id == found.id)
        .order_by(QuizQuestion.position)
        .offset(asked.start)
        .limit(asked.size)
    )
    facts = Fields(
        {
            "Type": found.quiz_type,
            "Due (UTC)": minute_of(found.due_at),
            "Minutes": found.time_limit,
            "Attempts": found.allowed_attempts,
        },
        ref=f"quizzes:{found.id}",
    )
    shown = [
        Message(
            one.question_name,
            "\n".join(
                [
                    one.question_text,
                    *(
                        f"- {answer.get('text') or answer.get('answer_text') or answer}"
                        for answer in one.answers
                    ),
                ]
            ),
            title=f"{one.question_type}, {one.points_possible:g} points",
            ref=f"quiz_questions:{one.id}",
        )
        for one in questions
    ]
    about = [Message("Description", found.description, source=found.description)] if found.description else []
    _, places, _ = _course(store, str(found.course_id))
    return Page(
        found.title, [facts, *about, *shown], places, Link("Quizzes", f"course/{found.course_id}/quizzes")
    )


@view.page("course/{id}/modules")
def modules(store: CanvasStore, asked: Asked, id: str) -> Page:
    """The modules of a course with their items."""
    found, places, up = _course(store, id)
    parts = store.session.scalars(
        sql.select(Module).where(Module.course_id == found.id).order_by(Module.position)
    )
    blocks = [
        Table(
            ["Item", "Type"],
            [
                Row([one.title, one.type], ref=f"module_items:{one.id}")
                for one in store.session.scalars(
                    sql.select(ModuleItem)
                    .where(ModuleItem.module_id == part.id)
                    .order_by(ModuleItem.position)
                )
            ],
            title=part.name,
        )
        for part in parts
    ]
    return Page(f"Modules, {found.name}", blocks, places, up)


@_of_course("Pages", WikiPage, order=(WikiPage.title,))
def _pages(store: CanvasStore) -> Columns:
    return {
        "Page": lambda one: Link(one.title, f"page/{one.id}"),
        "Changed": lambda one: minute_of(one.updated_at),
    }


@view.page("page/{number}")
def page(store: CanvasStore, asked: Asked, number: str) -> Page:
    """A page of a course."""
    found = found_in(store, WikiPage, number, "page")
    _, places, _ = _course(store, str(found.course_id))
    shown = Message(
        found.title, found.body, minute_of(found.updated_at), ref=f"pages:{found.id}", source=found.body
    )
    return Page(found.title, [shown], places, Link("Pages", f"course/{found.course_id}/pages"))


@_of_course("Files", File, order=(File.display_name,))
def _files(store: CanvasStore) -> Columns:
    return {
        "File": lambda one: one.display_name,
        "Type": lambda one: one.content_type,
        "Bytes": lambda one: one.size,
        "Changed": lambda one: minute_of(one.updated_at),
    }


_FAMILY_NAME = sql.select(User.sortable_name).where(User.id == Enrollment.user_id).scalar_subquery()


@_of_course("People", Enrollment, order=(Enrollment.type.desc(), _FAMILY_NAME))
def _enrolled(store: CanvasStore) -> Columns:
    users = {user.id: user for user in store.session.scalars(sql.select(User))}
    return {
        "Name": lambda one: users[one.user_id].name,
        "Address": lambda one: users[one.user_id].primary_email,
        "As": lambda one: one.type.removesuffix("Enrollment"),
        "State": lambda one: one.enrollment_state,
    }


@view.page("people")
def people(store: CanvasStore, asked: Asked) -> Page:
    """Page of all users."""
    columns: Columns = {
        "Name": lambda one: one.name,
        "Address": lambda one: one.primary_email,
        "Title": lambda one: one.title,
    }
    table = table_of(store, asked, User, columns, order=(User.sortable_name,))
    return Page("People", [table], _global(store))


@view.page("inbox")
def inbox(store: CanvasStore, asked: Asked) -> Page:
    """Conversations, the latest first."""
    names, members = _people(store), _members(store)
    columns: Columns = {
        "Between": lambda one: ", ".join(names.get(user, "") for user in members[one.id]),
        "Subject": lambda one: Link(one.subject or "(no subject)", f"conversation/{one.id}"),
        "Last message": lambda one: minute_of(one.last_message_at),
    }
    order = (Conversation.last_message_at.desc(), Conversation.id.desc())
    return Page("Inbox", [table_of(store, asked, Conversation, columns, order=order)], _global(store))


def _members(store: CanvasStore) -> dict[int, list[int]]:
    """Return who takes part in each conversation."""
    members: dict[int, list[int]] = defaultdict(list)
    for talk, user in store.session.execute(sql.select(Participant.conversation_id, Participant.user_id)):
        members[talk].append(user)
    return members


@view.page("conversation/{number}")
def conversation(store: CanvasStore, asked: Asked, number: str) -> Page:
    """A conversation with its messages."""
    found = found_in(store, Conversation, number, "conversation")
    names = _people(store)
    messages = store.session.scalars(
        sql.select(Written)
        .where(Written.conversation_id == found.id)
        .order_by(Written.created_at, Written.id)
    )
    shown = [
        Message(
            names.get(one.author_id, ""),
            one.body,
            minute_of(one.created_at),
            ref=f"conversation_messages:{one.id}",
        )
        for one in messages
    ]
    return Page(found.subject or "(no subject)", shown, _global(store), Link("Inbox", "inbox"))


@view.page("calendar")
def calendar(store: CanvasStore, asked: Asked) -> Page:
    """Events of courses and of people."""
    courses = dict(store.session.execute(sql.select(Course.id, Course.course_code)).all())
    columns: Columns = {
        "From (UTC)": lambda one: minute_of(one.start_at),
        "Until": lambda one: minute_of(one.end_at),
        "Event": lambda one: one.title,
        "Where": lambda one: one.location_name,
        "Course": lambda one: courses.get(one.course_id or 0, ""),
    }
    table = table_of(store, asked, CalendarEvent, columns, order=(CalendarEvent.start_at,))
    return Page("Calendar", [table], _global(store))


@view.items
def items(store: CanvasStore) -> Iterator[Item]:
    """Everything that has a text."""
    address = {
        id_: email or "" for id_, email in store.session.execute(sql.select(User.id, User.primary_email))
    }
    members = _members(store)
    subjects = dict(store.session.execute(sql.select(Conversation.id, Conversation.subject)).all())

    def found(
        kind: Any,
        what: str,
        title: str,
        text: str,
        when: str,
        path: str,
        author: str = "",
        *,
        changed: Callable[[Any, Item], Item] = lambda one, item: item,
    ) -> Iterator[Item]:
        """The things of a kind; of each, what these columns have."""
        for one in store.session.scalars(sql.select(kind).order_by(kind.id).execution_options(yield_per=500)):
            said = [getattr(one, name) or "" if name else "" for name in (title, text, when)]
            who = [address.get(getattr(one, author), "")] if author else ()
            ref = f"{kind.__tablename__}:{one.id}"
            yield changed(one, Item(what, said[0], said[1], path.format(one), ref, said[2], who))

    def announced(one: DiscussionTopic, item: Item) -> Item:
        return replace(item, kind="announcement") if one.is_announcement else item

    def talked(one: Written, item: Item) -> Item:
        talk = one.conversation_id
        everybody = [*item.who, *(address.get(user, "") for user in members[talk])]
        return replace(item, title=subjects.get(talk) or "", who=everybody)

    def described(one: Course, item: Item) -> Item:
        return replace(
            item, text="\n".join(filter(None, [one.course_code, one.sis_course_id, one.syllabus_body]))
        )

    topic, talk, work = (
        "topic/{0.topic_id}",
        "conversation/{0.conversation_id}",
        "submission/{0.submission_id}",
    )
    yield from found(
        DiscussionTopic, "discussion", "title", "message", "posted_at", "topic/{0.id}", "user_id",
        changed=announced,
    )  # fmt: skip
    yield from found(DiscussionEntry, "entry", "", "message", "created_at", topic, "user_id")
    yield from found(Written, "message", "", "body", "created_at", talk, "author_id", changed=talked)
    yield from found(Assignment, "assignment", "name", "description", "due_at", "assignment/{0.id}")
    yield from found(WikiPage, "page", "title", "body", "updated_at", "page/{0.id}")
    yield from found(Quiz, "quiz", "title", "description", "due_at", "quiz/{0.id}")
    yield from found(Course, "course", "name", "", "", "course/{0.id}", changed=described)
    yield from found(SubmissionComment, "comment", "", "comment", "created_at", work, "author_id")
    yield from found(CalendarEvent, "event", "title", "description", "start_at", "calendar")
