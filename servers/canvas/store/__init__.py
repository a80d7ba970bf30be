"""The rules of the canvas service: one part for each topic."""

from __future__ import annotations

from functools import cached_property

from mesocosm.servers.canvas.models import Base
from mesocosm.servers.canvas.store.access import CourseAccess, View
from mesocosm.servers.canvas.store.accounts import Accounts, NewAccount
from mesocosm.servers.canvas.store.assignments import Assignments, NewAssignment, NewRubric
from mesocosm.servers.canvas.store.authoring import Authoring
from mesocosm.servers.canvas.store.calendar import Calendar, NewEvent
from mesocosm.servers.canvas.store.conversations import Conversations, NewConversation, NewMessage
from mesocosm.servers.canvas.store.courses import Courses, NewCourse, NewEnrollment
from mesocosm.servers.canvas.store.discussions import Discussions, NewAnnouncement, NewDiscussion, NewEntry
from mesocosm.servers.canvas.store.filing import Filing
from mesocosm.servers.canvas.store.gradebook import Gradebook
from mesocosm.servers.canvas.store.inbox import Inbox
from mesocosm.servers.canvas.store.listing import Listing
from mesocosm.servers.canvas.store.modules import Modules, NewItem, NewModule
from mesocosm.servers.canvas.store.pages import NewFile, NewFolder, NewPage, Pages
from mesocosm.servers.canvas.store.posting import Posting
from mesocosm.servers.canvas.store.questions import NewQuestion
from mesocosm.servers.canvas.store.quizzes import NewQuiz, NewQuizSubmission, Quizzes
from mesocosm.servers.canvas.store.reports import Reports
from mesocosm.servers.canvas.store.roster import Roster
from mesocosm.servers.canvas.store.submissions import NewSubmission, Submissions
from mesocosm.servers.canvas.store.users import NewUser, Users
from mesocosm.services.service import Store


class CanvasStore(View, Store):
    """One Canvas, seen by the user who is signed in."""

    metadata = Base.metadata

    @cached_property
    def accounts(self) -> Accounts:
        """Accounts and what their administrators see."""
        return Accounts(self)

    @cached_property
    def users(self) -> Users:
        """The people of Canvas."""
        return Users(self)

    @cached_property
    def courses(self) -> Courses:
        """Courses, and who takes part in them."""
        return Courses(self)

    @cached_property
    def assignments(self) -> Assignments:
        """What students are asked to do, and by which schemes it is judged."""
        return Assignments(self)

    @cached_property
    def submissions(self) -> Submissions:
        """What students hand in, and what they get for it."""
        return Submissions(self)

    @cached_property
    def quizzes(self) -> Quizzes:
        """Quizzes, their questions and attempts."""
        return Quizzes(self)

    @cached_property
    def modules(self) -> Modules:
        """Modules and their items."""
        return Modules(self)

    @cached_property
    def pages(self) -> Pages:
        """Pages and files."""
        return Pages(self)

    @cached_property
    def discussions(self) -> Discussions:
        """What is announced and discussed in courses."""
        return Discussions(self)

    @cached_property
    def conversations(self) -> Conversations:
        """Messages between users."""
        return Conversations(self)

    @cached_property
    def calendar(self) -> Calendar:
        """What is on, and what is new, for the signed-in user."""
        return Calendar(self)

    @cached_property
    def reports(self) -> Reports:
        """Reports, which are complete as soon as they are asked for."""
        return Reports(self)

    @cached_property
    def roster(self) -> Roster:
        """The people of courses, and their enrollments."""
        return Roster(self)

    @cached_property
    def gradebook(self) -> Gradebook:
        """Assignments and submissions in lists."""
        return Gradebook(self)

    @cached_property
    def authoring(self) -> Authoring:
        """What the staff of a course changes in its material."""
        return Authoring(self)

    @cached_property
    def filing(self) -> Filing:
        """The files of courses and of users."""
        return Filing(self)

    @cached_property
    def posting(self) -> Posting:
        """Announcements, discussions with their threads, and events."""
        return Posting(self)

    @cached_property
    def inbox(self) -> Inbox:
        """Conversations as their participants handle them."""
        return Inbox(self)


__all__ = [
    "CanvasStore",
    "CourseAccess",
    "Listing",
    "NewAccount",
    "NewAnnouncement",
    "NewAssignment",
    "NewConversation",
    "NewCourse",
    "NewDiscussion",
    "NewEnrollment",
    "NewEntry",
    "NewEvent",
    "NewFile",
    "NewFolder",
    "NewItem",
    "NewMessage",
    "NewModule",
    "NewPage",
    "NewQuestion",
    "NewQuiz",
    "NewQuizSubmission",
    "NewRubric",
    "NewSubmission",
    "NewUser",
]
