"""The rules of the canvas service, by topic; each topic builds on those before it."""

from __future__ import annotations

from mesocosm.servers.canvas.store.access import CourseAccess
from mesocosm.servers.canvas.store.accounts import NewAccount
from mesocosm.servers.canvas.store.assignments import NewAssignment, NewRubric
from mesocosm.servers.canvas.store.calendar import NewEvent
from mesocosm.servers.canvas.store.conversations import NewConversation, NewMessage
from mesocosm.servers.canvas.store.courses import NewCourse, NewEnrollment
from mesocosm.servers.canvas.store.discussions import NewAnnouncement, NewDiscussion, NewEntry
from mesocosm.servers.canvas.store.inbox import InboxStore
from mesocosm.servers.canvas.store.listing import Listing
from mesocosm.servers.canvas.store.modules import NewItem, NewModule
from mesocosm.servers.canvas.store.pages import NewFile, NewFolder, NewPage
from mesocosm.servers.canvas.store.questions import NewQuestion
from mesocosm.servers.canvas.store.quizzes import NewQuiz, NewQuizSubmission
from mesocosm.servers.canvas.store.submissions import NewSubmission
from mesocosm.servers.canvas.store.users import NewUser


class CanvasStore(InboxStore):
    """One Canvas, seen by the user who is signed in."""


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
