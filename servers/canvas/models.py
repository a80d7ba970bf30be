"""The tables of ``canvas.db``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar

from sqlalchemy import JSON, ForeignKey, Index, Text, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from mesocosm.services.resources import blank

DEFAULT_TIME_ZONE = "America/Denver"
COUNTED = {"sqlite_autoincrement": True}
"""Table option: ids come from a counter and are never used twice."""


class Base(DeclarativeBase):
    """The tables of ``canvas.db``."""

    type_annotation_map: ClassVar[dict[Any, Any]] = {
        str: Text,
        list[str]: JSON,
        list[int]: JSON,
        list[dict[str, Any]]: JSON,
        dict[str, Any]: JSON,
    }


@cache
def usual(model: type[Base]) -> Mapping[str, Any]:
    """A row of a table as it is filled where nothing else is said."""
    return blank(model)


def account_key() -> Mapped[int]:
    """A column that names an account."""
    return mapped_column(ForeignKey("accounts.id"))


def user_key() -> Mapped[int]:
    """A column that names a user."""
    return mapped_column(ForeignKey("users.id"))


def course_key() -> Mapped[int]:
    """A column that names a course."""
    return mapped_column(ForeignKey("courses.id"))


# Databases have their tables and indexes in this order, so it stays.

# -- assignments, submissions and rubrics ---------------------------------------------------------------


class Assignment(Base):
    """A piece of work of a course. A published graded quiz has one too."""

    __tablename__ = "assignments"
    __table_args__ = (
        Index("assignments_by_course", "course_id", "position", "id"),
        Index("assignments_by_due", "course_id", "due_at", "id"),
        COUNTED,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    course_id: Mapped[int] = course_key()
    quiz_id: Mapped[int | None] = mapped_column(ForeignKey("quizzes.id", ondelete="CASCADE"), unique=True)
    name: Mapped[str]
    description: Mapped[str | None]
    due_at: Mapped[str | None]
    unlock_at: Mapped[str | None]
    lock_at: Mapped[str | None]
    points_possible: Mapped[float] = mapped_column(default=0.0)
    grading_type: Mapped[str] = mapped_column(default="points")
    submission_types: Mapped[list[str]] = mapped_column(default=lambda: ["online_text_entry"])
    allowed_attempts: Mapped[int] = mapped_column(default=-1)
    """-1: unlimited."""
    omit_from_final_grade: Mapped[bool] = mapped_column(default=False)
    published: Mapped[bool] = mapped_column(default=True)
    position: Mapped[int]
    created_at: Mapped[str]
    updated_at: Mapped[str]


class Submission(Base):
    """Latest submission of a student for an assignment, with its grade."""

    __tablename__ = "submissions"
    __table_args__ = (
        UniqueConstraint("assignment_id", "user_id"),
        Index("submissions_by_user", "user_id", "graded_at"),
        COUNTED,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    assignment_id: Mapped[int] = mapped_column(ForeignKey("assignments.id", ondelete="CASCADE"))
    user_id: Mapped[int] = user_key()
    attempt: Mapped[int | None]
    """``None`` for work that was graded without having been handed in."""
    submission_type: Mapped[str | None]
    body: Mapped[str | None]
    url: Mapped[str | None]
    file_ids: Mapped[list[int]]
    submitted_at: Mapped[str | None]
    workflow_state: Mapped[str]
    grade: Mapped[str | None]
    score: Mapped[float | None]
    graded_at: Mapped[str | None]
    graded_attempt: Mapped[int | None]
    grader_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))


class EarlierAttempt(Base):
    """Earlier submission, replaced by a later attempt."""

    __tablename__ = "earlier_attempts"

    submission_id: Mapped[int] = mapped_column(
        ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True
    )
    attempt: Mapped[int] = mapped_column(primary_key=True)
    submission_type: Mapped[str | None]
    body: Mapped[str | None]
    url: Mapped[str | None]
    file_ids: Mapped[list[int]]
    submitted_at: Mapped[str | None]
    grade: Mapped[str | None]
    score: Mapped[float | None]


class SubmissionComment(Base):
    """A remark on a submission."""

    __tablename__ = "submission_comments"
    __table_args__ = (Index("comments_by_submission", "submission_id", "id"), COUNTED)

    id: Mapped[int] = mapped_column(primary_key=True)
    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"))
    author_id: Mapped[int] = user_key()
    attempt: Mapped[int | None]
    comment: Mapped[str]
    created_at: Mapped[str]


class Rubric(Base):
    """A scheme by which work is judged."""

    __tablename__ = "rubrics"
    __table_args__ = (Index("rubrics_by_course", "course_id", "id"), COUNTED)

    id: Mapped[int] = mapped_column(primary_key=True)
    course_id: Mapped[int] = course_key()
    title: Mapped[str]
    description: Mapped[str | None]
    free_form_criterion_comments: Mapped[bool] = mapped_column(default=False)
    hide_score_total: Mapped[bool] = mapped_column(default=False)
    criteria: Mapped[list[dict[str, Any]]] = mapped_column(default=list)


# -- discussions, conversations, events and reports -----------------------------------------------------


class DiscussionTopic(Base):
    """A discussion of a course, or an announcement."""

    __tablename__ = "discussion_topics"
    __table_args__ = (
        Index("topics_by_posting", "course_id", "is_announcement", "posted_at", "id"),
        Index("topics_by_reply", "course_id", "is_announcement", "pinned", "last_reply_at", "id"),
        COUNTED,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    course_id: Mapped[int] = course_key()
    user_id: Mapped[int] = user_key()
    is_announcement: Mapped[bool]
    title: Mapped[str]
    message: Mapped[str]
    posted_at: Mapped[str]
    last_reply_at: Mapped[str]
    """Moment of the last entry; without entries, that at which the topic was posted."""
    published: Mapped[bool] = mapped_column(default=True)
    locked: Mapped[bool] = mapped_column(default=False)
    pinned: Mapped[bool] = mapped_column(default=False)
    require_initial_post: Mapped[bool] = mapped_column(default=False)


class DiscussionEntry(Base):
    """A post in a discussion."""

    __tablename__ = "discussion_entries"
    __table_args__ = (Index("entries_by_topic", "topic_id", "created_at", "id", "user_id"), COUNTED)

    id: Mapped[int] = mapped_column(primary_key=True)
    topic_id: Mapped[int] = mapped_column(ForeignKey("discussion_topics.id", ondelete="CASCADE"))
    user_id: Mapped[int] = user_key()
    parent_id: Mapped[int | None] = mapped_column(ForeignKey("discussion_entries.id", ondelete="CASCADE"))
    message: Mapped[str]
    created_at: Mapped[str]
    updated_at: Mapped[str]


class Conversation(Base):
    """An exchange of messages between users."""

    __tablename__ = "conversations"
    __table_args__ = COUNTED

    id: Mapped[int] = mapped_column(primary_key=True)
    subject: Mapped[str | None]
    private: Mapped[bool]
    """Between two users only."""
    course_id: Mapped[int | None] = mapped_column(ForeignKey("courses.id"))
    last_message_at: Mapped[str]


class Participant(Base):
    """A user who takes part in a conversation."""

    __tablename__ = "conversation_participants"
    __table_args__ = (Index("conversations_by_user", "user_id", "conversation_id"),)

    conversation_id: Mapped[int] = mapped_column(ForeignKey("conversations.id"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), primary_key=True)
    workflow_state: Mapped[str]
    """``read``, ``unread`` or ``archived``."""
    starred: Mapped[bool]


class Message(Base):
    """A message of a conversation."""

    __tablename__ = "conversation_messages"
    __table_args__ = (Index("messages_by_conversation", "conversation_id", "created_at", "id"), COUNTED)

    id: Mapped[int] = mapped_column(primary_key=True)
    conversation_id: Mapped[int] = mapped_column(ForeignKey("conversations.id"))
    author_id: Mapped[int] = user_key()
    body: Mapped[str]
    created_at: Mapped[str]


class CalendarEvent(Base):
    """An event of a course or of a user."""

    __tablename__ = "calendar_events"
    __table_args__ = (
        Index("events_by_course", "course_id", "start_at", "id"),
        Index("events_by_user", "user_id", "start_at", "id"),
        COUNTED,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    course_id: Mapped[int | None] = mapped_column(ForeignKey("courses.id"))
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    title: Mapped[str]
    description: Mapped[str | None]
    location_name: Mapped[str | None]
    start_at: Mapped[str]
    end_at: Mapped[str]
    all_day: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[str]
    updated_at: Mapped[str]


class AccountReport(Base):
    """A report that an administrator asked for."""

    __tablename__ = "account_reports"
    __table_args__ = (Index("reports_by_account", "account_id", "report", "id"), COUNTED)

    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int] = account_key()
    user_id: Mapped[int] = user_key()
    report: Mapped[str]
    parameters: Mapped[dict[str, Any]]
    status: Mapped[str]
    progress: Mapped[int]
    content: Mapped[str]
    """The report itself, as CSV."""
    lines: Mapped[int]
    created_at: Mapped[str]
    ended_at: Mapped[str]


# -- courses and enrollments ----------------------------------------------------------------------------


class Course(Base):
    __tablename__ = "courses"
    __table_args__ = (Index("courses_by_account", "account_id", "name", "id"), COUNTED)

    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int] = account_key()
    name: Mapped[str]
    course_code: Mapped[str]
    workflow_state: Mapped[str] = mapped_column(default="available")
    """``unpublished``, ``available``, ``completed`` or ``deleted``."""
    start_at: Mapped[str | None]
    end_at: Mapped[str | None]
    syllabus_body: Mapped[str | None]
    is_public: Mapped[bool] = mapped_column(default=False)
    time_zone: Mapped[str] = mapped_column(default=DEFAULT_TIME_ZONE)
    sis_course_id: Mapped[str | None]
    created_at: Mapped[str]
    updated_at: Mapped[str]


class Enrollment(Base):
    """A user's part in a course."""

    __tablename__ = "enrollments"
    __table_args__ = (
        UniqueConstraint("user_id", "course_id", "type"),
        Index("enrollments_by_course", "course_id", "type", "enrollment_state", "user_id"),
        COUNTED,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    course_id: Mapped[int] = course_key()
    user_id: Mapped[int] = user_key()
    type: Mapped[str] = mapped_column(default="StudentEnrollment")
    enrollment_state: Mapped[str] = mapped_column(default="active")
    """``active``, ``invited``, ``inactive`` or ``completed``."""
    associated_user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    """The student that an observer observes."""
    created_at: Mapped[str]
    updated_at: Mapped[str]


# -- modules, pages and files ---------------------------------------------------------------------------


class Module(Base):
    """A unit of a course."""

    __tablename__ = "modules"
    __table_args__ = (Index("modules_by_course", "course_id", "position", "id"), COUNTED)

    id: Mapped[int] = mapped_column(primary_key=True)
    course_id: Mapped[int] = course_key()
    name: Mapped[str]
    position: Mapped[int]
    unlock_at: Mapped[str | None]
    require_sequential_progress: Mapped[bool] = mapped_column(default=False)
    prerequisite_module_ids: Mapped[list[int]] = mapped_column(default=list)
    published: Mapped[bool] = mapped_column(default=True)


class ModuleItem(Base):
    """A step of a module, which points to something of the course or outside."""

    __tablename__ = "module_items"
    __table_args__ = (
        Index("items_by_module", "module_id", "position", "id"),
        Index("items_by_content", "type", "content_id"),
        COUNTED,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    module_id: Mapped[int] = mapped_column(ForeignKey("modules.id", ondelete="CASCADE"))
    title: Mapped[str]
    type: Mapped[str]
    content_id: Mapped[int | None]
    external_url: Mapped[str | None]
    position: Mapped[int]
    indent: Mapped[int] = mapped_column(default=0)
    published: Mapped[bool] = mapped_column(default=True)


class ItemCompletion(Base):
    """A student has done a module item."""

    __tablename__ = "item_completions"

    item_id: Mapped[int] = mapped_column(ForeignKey("module_items.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), primary_key=True)
    completed_at: Mapped[str]


class WikiPage(Base):
    """A page of a course."""

    __tablename__ = "pages"
    __table_args__ = (
        UniqueConstraint("course_id", "url"),
        Index("pages_by_title", "course_id", "title", "id"),
        COUNTED,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    course_id: Mapped[int] = course_key()
    url: Mapped[str]
    """The title as it stands in the page's address."""
    title: Mapped[str]
    body: Mapped[str]
    published: Mapped[bool] = mapped_column(default=True)
    front_page: Mapped[bool] = mapped_column(default=False)
    last_edited_by: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[str]
    updated_at: Mapped[str]


class Folder(Base):
    """A folder of a course's files."""

    __tablename__ = "folders"
    __table_args__ = (UniqueConstraint("course_id", "full_name"), COUNTED)

    id: Mapped[int] = mapped_column(primary_key=True)
    course_id: Mapped[int] = course_key()
    parent_folder_id: Mapped[int | None] = mapped_column(ForeignKey("folders.id"))
    name: Mapped[str]
    full_name: Mapped[str]
    hidden: Mapped[bool]
    created_at: Mapped[str]
    updated_at: Mapped[str]


class File(Base):
    """The record of a file in a course, or of one that a user uploaded to hand in."""

    __tablename__ = "files"
    __table_args__ = (
        Index("files_by_folder", "folder_id", "display_name", "id"),
        Index("files_by_course", "course_id", "display_name", "id"),
        COUNTED,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    course_id: Mapped[int | None] = mapped_column(ForeignKey("courses.id"))
    """``None`` for a user's own file."""
    folder_id: Mapped[int | None] = mapped_column(ForeignKey("folders.id"))
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    display_name: Mapped[str]
    content_type: Mapped[str] = mapped_column(default="application/octet-stream")
    size: Mapped[int]
    hidden: Mapped[bool] = mapped_column(default=False)
    locked: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[str]
    updated_at: Mapped[str]


# -- accounts, users, and who is signed in --------------------------------------------------------------


class Account(Base):
    """An institution (root account) or a part of one."""

    __tablename__ = "accounts"
    __table_args__ = (Index("accounts_by_parent", "parent_account_id"), COUNTED)

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    parent_account_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    root_account_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    """``None`` for a root account itself."""
    default_time_zone: Mapped[str] = mapped_column(default=DEFAULT_TIME_ZONE)
    sis_account_id: Mapped[str | None]
    workflow_state: Mapped[str] = mapped_column(default="active")


class User(Base):
    """A person who can sign in."""

    __tablename__ = "users"
    __table_args__ = (
        Index("users_by_name", "sortable_name", "id"),
        Index("users_by_email", "primary_email", "id"),
        COUNTED,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int] = account_key()
    """The root account."""
    name: Mapped[str]
    short_name: Mapped[str]
    sortable_name: Mapped[str]
    login_id: Mapped[str] = mapped_column(Text(collation="NOCASE"), unique=True)
    password: Mapped[str | None]
    primary_email: Mapped[str | None]
    sis_user_id: Mapped[str | None] = mapped_column(unique=True)
    bio: Mapped[str | None]
    title: Mapped[str | None]
    time_zone: Mapped[str] = mapped_column(default=DEFAULT_TIME_ZONE)
    last_login: Mapped[str | None]
    created_at: Mapped[str]
    updated_at: Mapped[str]


class SignIn(Base):
    """Signed-in user: one row, or none."""

    __tablename__ = "sign_in"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = user_key()


class AccountAdmin(Base):
    """A user who administers an account and all accounts below it."""

    __tablename__ = "account_admins"
    __table_args__ = (UniqueConstraint("user_id", "account_id"), COUNTED)

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = user_key()
    account_id: Mapped[int] = account_key()


class Preference(Base):
    """Setting of a user, or a value that an application stores for the user."""

    __tablename__ = "preferences"
    __table_args__ = (UniqueConstraint("user_id", "name"), COUNTED)

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = user_key()
    name: Mapped[str]
    value: Mapped[str]
    """A JSON object."""


# -- quizzes, questions and attempts --------------------------------------------------------------------


class Quiz(Base):
    """A quiz of a course."""

    __tablename__ = "quizzes"
    __table_args__ = (Index("quizzes_by_course", "course_id", "id"), COUNTED)

    id: Mapped[int] = mapped_column(primary_key=True)
    course_id: Mapped[int] = course_key()
    title: Mapped[str]
    description: Mapped[str | None]
    quiz_type: Mapped[str] = mapped_column(default="assignment")
    time_limit: Mapped[int | None]
    """Minutes."""
    due_at: Mapped[str | None]
    unlock_at: Mapped[str | None]
    lock_at: Mapped[str | None]
    shuffle_answers: Mapped[bool] = mapped_column(default=False)
    show_correct_answers: Mapped[bool] = mapped_column(default=True)
    allowed_attempts: Mapped[int] = mapped_column(default=1)
    """-1: unlimited."""
    scoring_policy: Mapped[str] = mapped_column(default="keep_highest")
    access_code: Mapped[str | None]
    published: Mapped[bool] = mapped_column(default=True)
    created_at: Mapped[str]
    updated_at: Mapped[str]


class QuizQuestion(Base):
    """A question of a quiz; its answers with their weights are the key."""

    __tablename__ = "quiz_questions"
    __table_args__ = (
        # Counts and points of a quiz are read from the index alone.
        Index("questions_by_quiz", "quiz_id", "position", "id", "question_type", "points_possible"),
        COUNTED,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    quiz_id: Mapped[int] = mapped_column(ForeignKey("quizzes.id", ondelete="CASCADE"))
    position: Mapped[int]
    question_name: Mapped[str]
    question_text: Mapped[str]
    question_type: Mapped[str]
    points_possible: Mapped[float]
    answers: Mapped[list[dict[str, Any]]]


class QuizSubmission(Base):
    """One attempt at a quiz."""

    __tablename__ = "quiz_submissions"
    __table_args__ = (UniqueConstraint("quiz_id", "user_id", "attempt"), COUNTED)

    id: Mapped[int] = mapped_column(primary_key=True)
    quiz_id: Mapped[int] = mapped_column(ForeignKey("quizzes.id", ondelete="CASCADE"))
    user_id: Mapped[int] = user_key()
    attempt: Mapped[int]
    started_at: Mapped[str]
    end_at: Mapped[str | None]
    """End of the attempt's time."""
    finished_at: Mapped[str | None]
    workflow_state: Mapped[str]
    """``untaken`` or ``complete``."""
    score: Mapped[float | None]
