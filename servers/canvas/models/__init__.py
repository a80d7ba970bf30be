"""Tables of the canvas service.

Times are ISO-8601 UTC text (``2025-01-15T09:00:00Z``): fixed width, so text order is time order. What
follows from other rows (late, missing, current scores, counts of items) is computed, never stored.
"""

from __future__ import annotations

from mesocosm.servers.canvas.models.assignments import (
    Assignment,
    EarlierAttempt,
    Rubric,
    Submission,
    SubmissionComment,
)
from mesocosm.servers.canvas.models.communication import (
    AccountReport,
    CalendarEvent,
    Conversation,
    DiscussionEntry,
    DiscussionTopic,
    Message,
    Participant,
)
from mesocosm.servers.canvas.models.courses import Course, Enrollment
from mesocosm.servers.canvas.models.modules import File, Folder, ItemCompletion, Module, ModuleItem, WikiPage
from mesocosm.servers.canvas.models.people import Account, AccountAdmin, Preference, SignIn, User
from mesocosm.servers.canvas.models.quizzes import Quiz, QuizQuestion, QuizSubmission
from mesocosm.servers.canvas.models.tables import Base

__all__ = [
    "Account",
    "AccountAdmin",
    "AccountReport",
    "Assignment",
    "Base",
    "CalendarEvent",
    "Conversation",
    "Course",
    "DiscussionEntry",
    "DiscussionTopic",
    "EarlierAttempt",
    "Enrollment",
    "File",
    "Folder",
    "ItemCompletion",
    "Message",
    "Module",
    "ModuleItem",
    "Participant",
    "Preference",
    "Quiz",
    "QuizQuestion",
    "QuizSubmission",
    "Rubric",
    "SignIn",
    "Submission",
    "SubmissionComment",
    "User",
    "WikiPage",
]
