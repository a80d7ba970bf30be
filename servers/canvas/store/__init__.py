"""The rules of the canvas service: one part for each topic."""

from __future__ import annotations

from mesocosm.servers.canvas.models import Base
from mesocosm.servers.canvas.store.access import CourseAccess, View
from mesocosm.servers.canvas.store.accounts import Accounts
from mesocosm.servers.canvas.store.assignments import Assignments
from mesocosm.servers.canvas.store.calendar import Calendar
from mesocosm.servers.canvas.store.conversations import Conversations
from mesocosm.servers.canvas.store.courses import Courses
from mesocosm.servers.canvas.store.discussions import Discussions
from mesocosm.servers.canvas.store.files import Files
from mesocosm.servers.canvas.store.modules import Modules
from mesocosm.servers.canvas.store.pages import Pages
from mesocosm.servers.canvas.store.quizzes import Quizzes
from mesocosm.servers.canvas.store.reports import Reports
from mesocosm.servers.canvas.store.roster import Roster
from mesocosm.servers.canvas.store.submissions import Submissions
from mesocosm.servers.canvas.store.users import Preferences, Users
from mesocosm.services.service import Store, Topic


class CanvasStore(View, Store):
    """One Canvas, seen by the user who is signed in."""

    metadata = Base.metadata

    accounts = Topic(Accounts)
    users = Topic(Users)
    preferences = Topic(Preferences)
    courses = Topic(Courses)
    assignments = Topic(Assignments)
    submissions = Topic(Submissions)
    quizzes = Topic(Quizzes)
    modules = Topic(Modules)
    pages = Topic(Pages)
    discussions = Topic(Discussions)
    conversations = Topic(Conversations)
    calendar = Topic(Calendar)
    reports = Topic(Reports)
    roster = Topic(Roster)
    files = Topic(Files)


__all__ = [
    "CanvasStore",
    "CourseAccess",
]
