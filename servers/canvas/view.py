"""Pages of Canvas: courses with announcements, assignments, grades, modules and people; the inbox."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
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
    Cell,
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
)

view = View()


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
    found = store.session.scalars(
        sql.select(Course).order_by(Course.id).offset(asked.start).limit(asked.size)
    )
    rows = [
        Row(
            [
                one.course_code,
                Link(one.name, f"course/{one.id}"),
                one.workflow_state,
                minute_of(one.start_at)[:10],
            ],
            ref=f"courses:{one.id}",
        )
        for one in found
    ]
    account = store.session.scalar(sql.select(Account.name).order_by(Account.id))
    table = Table(["Code", "Course", "State", "From"], rows, count_of(store, Course))
    return Page(account or "Canvas", [table], _global(store))


def _course(store: CanvasStore, id: str) -> tuple[Course, list[Link], Link]:
    course = found_in(store, Course, id, "course")
    here = f"course/{course.id}"
    topics = DiscussionTopic.course_id == course.id
    places = [
        Link("Home", here),
        Link(
            "Announcements",
            f"{here}/announcements",
            count_of(store, DiscussionTopic, topics, DiscussionTopic.is_announcement),
        ),
        Link(
            "Assignments",
            f"{here}/assignments",
            count_of(store, Assignment, Assignment.course_id == course.id),
        ),
        Link("Grades", f"{here}/grades"),
        Link("Quizzes", f"{here}/quizzes", count_of(store, Quiz, Quiz.course_id == course.id)),
        Link(
            "Discussions",
            f"{here}/discussions",
            count_of(store, DiscussionTopic, topics, ~DiscussionTopic.is_announcement),
        ),
        Link("Modules", f"{here}/modules", count_of(store, Module, Module.course_id == course.id)),
        Link("Pages", f"{here}/pages", count_of(store, WikiPage, WikiPage.course_id == course.id)),
        Link("Files", f"{here}/files", count_of(store, File, File.course_id == course.id)),
        Link("People", f"{here}/people", count_of(store, Enrollment, Enrollment.course_id == course.id)),
    ]
    return course, [place for place in places if place.count != 0], Link("All courses", "")


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


def _topics(store: CanvasStore, asked: Asked, id: str, *, announcements: bool) -> Page:
    found, places, up = _course(store, id)
    chosen = (
        DiscussionTopic.course_id == found.id,
        DiscussionTopic.is_announcement if announcements else ~DiscussionTopic.is_announcement,
    )
    topics = store.session.scalars(
        sql.select(DiscussionTopic)
        .where(*chosen)
        .order_by(DiscussionTopic.posted_at.desc(), DiscussionTopic.id.desc())
        .offset(asked.start)
        .limit(asked.size)
    ).all()
    names = _people(store)
    rows = [
        Row(
            [names.get(one.user_id, ""), Link(one.title, f"topic/{one.id}"), minute_of(one.posted_at)],
            ref=f"discussion_topics:{one.id}",
        )
        for one in topics
    ]
    total = count_of(store, DiscussionTopic, *chosen)
    return Page(
        f"{'Announcements' if announcements else 'Discussions'}, {found.name}",
        [Table(["By", "Title", "Posted"], rows, total)],
        places,
        up,
    )


@view.page("course/{id}/announcements")
def announcements(store: CanvasStore, asked: Asked, id: str) -> Page:
    """The announcements of a course, the latest first."""
    return _topics(store, asked, id, announcements=True)


@view.page("course/{id}/discussions")
def discussions(store: CanvasStore, asked: Asked, id: str) -> Page:
    """The discussions of a course."""
    return _topics(store, asked, id, announcements=False)


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


@view.page("course/{id}/assignments")
def assignments(store: CanvasStore, asked: Asked, id: str) -> Page:
    """The assignments of a course by their due dates."""
    found, places, up = _course(store, id)
    handed = dict(
        store.session.execute(
            sql.select(Submission.assignment_id, sql.func.count())
            .where(Submission.submitted_at.is_not(None))
            .group_by(Submission.assignment_id)
        ).all()
    )
    chosen = sql.select(Assignment).where(Assignment.course_id == found.id)
    ordered = chosen.order_by(Assignment.due_at.is_(None), Assignment.due_at, Assignment.id)
    rows = [
        Row(
            [
                Link(one.name, f"assignment/{one.id}"),
                minute_of(one.due_at),
                one.points_possible,
                handed.get(one.id, 0),
                "" if one.published else "not published",
            ],
            ref=f"assignments:{one.id}",
        )
        for one in store.session.scalars(ordered.offset(asked.start).limit(asked.size))
    ]
    total = count_of(store, Assignment, Assignment.course_id == found.id)
    head = ["Assignment", "Due (UTC)", "Points", "Handed in", ""]
    return Page(f"Assignments, {found.name}", [Table(head, rows, total)], places, up)


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


@view.page("course/{id}/quizzes")
def quizzes(store: CanvasStore, asked: Asked, id: str) -> Page:
    """The quizzes of a course."""
    found, places, up = _course(store, id)
    chosen = Quiz.course_id == found.id
    rows = [
        Row(
            [Link(one.title, f"quiz/{one.id}"), one.quiz_type, minute_of(one.due_at), one.time_limit],
            ref=f"quizzes:{one.id}",
        )
        for one in store.session.scalars(
            sql.select(Quiz)
            .where(chosen)
            .order_by(Quiz.due_at, Quiz.id)
            .offset(asked.start)
            .limit(asked.size)
        )
    ]
    table = Table(["Quiz", "Type", "Due (UTC)", "Minutes"], rows, count_of(store, Quiz, chosen))
    return Page(f"Quizzes, {found.name}", [table], places, up)


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


@view.page("course/{id}/pages")
def pages(store: CanvasStore, asked: Asked, id: str) -> Page:
    """The pages of a course."""
    found, places, up = _course(store, id)
    chosen = WikiPage.course_id == found.id
    rows = [
        Row([Link(one.title, f"page/{one.id}"), minute_of(one.updated_at)], ref=f"pages:{one.id}")
        for one in store.session.scalars(
            sql.select(WikiPage)
            .where(chosen)
            .order_by(WikiPage.title, WikiPage.id)
            .offset(asked.start)
            .limit(asked.size)
        )
    ]
    return Page(
        f"Pages, {found.name}",
        [Table(["Page", "Changed"], rows, count_of(store, WikiPage, chosen))],
        places,
        up,
    )


@view.page("page/{number}")
def page(store: CanvasStore, asked: Asked, number: str) -> Page:
    """A page of a course."""
    found = found_in(store, WikiPage, number, "page")
    _, places, _ = _course(store, str(found.course_id))
    shown = Message(
        found.title, found.body, minute_of(found.updated_at), ref=f"pages:{found.id}", source=found.body
    )
    return Page(found.title, [shown], places, Link("Pages", f"course/{found.course_id}/pages"))


@view.page("course/{id}/files")
def files(store: CanvasStore, asked: Asked, id: str) -> Page:
    """The files of a course."""
    found, places, up = _course(store, id)
    chosen = File.course_id == found.id
    rows = [
        Row([one.display_name, one.content_type, one.size, minute_of(one.updated_at)], ref=f"files:{one.id}")
        for one in store.session.scalars(
            sql.select(File)
            .where(chosen)
            .order_by(File.display_name, File.id)
            .offset(asked.start)
            .limit(asked.size)
        )
    ]
    table = Table(["File", "Type", "Bytes", "Changed"], rows, count_of(store, File, chosen))
    return Page(f"Files, {found.name}", [table], places, up)


@view.page("course/{id}/people")
def enrolled(store: CanvasStore, asked: Asked, id: str) -> Page:
    """Page of a course's members."""
    found, places, up = _course(store, id)
    chosen = Enrollment.course_id == found.id
    rows = [
        Row(
            [user.name, user.primary_email, one.type.removesuffix("Enrollment"), one.enrollment_state],
            ref=f"enrollments:{one.id}",
        )
        for one, user in store.session.execute(
            sql.select(Enrollment, User)
            .join(User, User.id == Enrollment.user_id)
            .where(chosen)
            .order_by(Enrollment.type.desc(), User.sortable_name, Enrollment.id)
            .offset(asked.start)
            .limit(asked.size)
        )
    ]
    table = Table(["Name", "Address", "As", "State"], rows, count_of(store, Enrollment, chosen))
    return Page(f"People, {found.name}", [table], places, up)


@view.page("people")
def people(store: CanvasStore, asked: Asked) -> Page:
    """Page of all users."""
    rows = [
        Row([one.name, one.primary_email, one.title], ref=f"users:{one.id}")
        for one in store.session.scalars(
            sql.select(User).order_by(User.sortable_name, User.id).offset(asked.start).limit(asked.size)
        )
    ]
    return Page("People", [Table(["Name", "Address", "Title"], rows, count_of(store, User))], _global(store))


@view.page("inbox")
def inbox(store: CanvasStore, asked: Asked) -> Page:
    """Conversations, the latest first."""
    names, rows = _people(store), []
    for one in store.session.scalars(
        sql.select(Conversation)
        .order_by(Conversation.last_message_at.desc(), Conversation.id.desc())
        .offset(asked.start)
        .limit(asked.size)
    ):
        who = store.session.scalars(
            sql.select(Participant.user_id).where(Participant.conversation_id == one.id)
        )
        subject = Link(one.subject or "(no subject)", f"conversation/{one.id}")
        cells: list[Cell] = [
            ", ".join(names.get(user, "") for user in who),
            subject,
            minute_of(one.last_message_at),
        ]
        rows.append(Row(cells, ref=f"conversations:{one.id}"))
    table = Table(["Between", "Subject", "Last message"], rows, count_of(store, Conversation))
    return Page("Inbox", [table], _global(store))


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
    rows = [
        Row(
            [
                minute_of(one.start_at),
                minute_of(one.end_at),
                one.title,
                one.location_name,
                courses.get(one.course_id or 0, ""),
            ],
            ref=f"calendar_events:{one.id}",
        )
        for one in store.session.scalars(
            sql.select(CalendarEvent)
            .order_by(CalendarEvent.start_at, CalendarEvent.id)
            .offset(asked.start)
            .limit(asked.size)
        )
    ]
    head = ["From (UTC)", "Until", "Event", "Where", "Course"]
    return Page("Calendar", [Table(head, rows, count_of(store, CalendarEvent))], _global(store))


@view.items
def items(store: CanvasStore) -> Iterator[Item]:
    """Everything that has a text."""
    address = {
        id_: email or "" for id_, email in store.session.execute(sql.select(User.id, User.primary_email))
    }

    def found(kind: type[Any], make: Callable[[Any], Item]) -> Iterator[Item]:
        for one in store.session.scalars(sql.select(kind).order_by(kind.id).execution_options(yield_per=500)):
            yield make(one)

    def topic_of(one: DiscussionTopic) -> Item:
        kind = "announcement" if one.is_announcement else "discussion"
        who = [address.get(one.user_id, "")]
        return Item(
            kind, one.title, one.message, f"topic/{one.id}", f"discussion_topics:{one.id}", one.posted_at, who
        )

    yield from found(DiscussionTopic, topic_of)
    yield from found(
        DiscussionEntry,
        lambda one: Item(
            "entry", "", one.message, f"topic/{one.topic_id}", f"discussion_entries:{one.id}", one.created_at,
            [address.get(one.user_id, "")],
        ),
    )  # fmt: skip
    members: dict[int, list[str]] = defaultdict(list)
    for talk, user in store.session.execute(sql.select(Participant.conversation_id, Participant.user_id)):
        members[talk].append(address.get(user, ""))
    subjects = dict(store.session.execute(sql.select(Conversation.id, Conversation.subject)).all())
    yield from found(
        Written,
        lambda one: Item(
            "message", subjects.get(one.conversation_id) or "", one.body,
            f"conversation/{one.conversation_id}", f"conversation_messages:{one.id}", one.created_at,
            [address.get(one.author_id, ""), *members[one.conversation_id]],
        ),
    )  # fmt: skip
    yield from found(
        Assignment,
        lambda one: Item(
            "assignment", one.name, one.description or "", f"assignment/{one.id}", f"assignments:{one.id}",
            one.due_at or "",
        ),
    )  # fmt: skip
    yield from found(
        WikiPage,
        lambda one: Item("page", one.title, one.body, f"page/{one.id}", f"pages:{one.id}", one.updated_at),
    )
    yield from found(
        Quiz,
        lambda one: Item(
            "quiz", one.title, one.description or "", f"quiz/{one.id}", f"quizzes:{one.id}", one.due_at or ""
        ),
    )
    yield from found(
        Course,
        lambda one: Item(
            "course",
            one.name,
            "\n".join(filter(None, [one.course_code, one.sis_course_id, one.syllabus_body])),
            f"course/{one.id}",
            f"courses:{one.id}",
        ),
    )
    yield from found(
        SubmissionComment,
        lambda one: Item(
            "comment", "", one.comment, f"submission/{one.submission_id}", f"submission_comments:{one.id}",
            one.created_at, [address.get(one.author_id, "")],
        ),
    )  # fmt: skip
    yield from found(
        CalendarEvent,
        lambda one: Item(
            "event", one.title, one.description or "", "calendar", f"calendar_events:{one.id}", one.start_at
        ),
    )
