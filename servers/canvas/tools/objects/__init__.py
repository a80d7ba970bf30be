"""The objects of Canvas's REST API, as the tools (and the REST API) give them."""

from __future__ import annotations

from mesocosm.servers.canvas.tools.objects.assignments import (
    assignment_json,
    attempt_json,
    bare_submission_json,
    comment_json,
    rubric_json,
    submission_json,
)
from mesocosm.servers.canvas.tools.objects.communication import (
    announcement_json,
    conversations_json,
    entry_json,
    event_json,
    message_json,
    topic_json,
)
from mesocosm.servers.canvas.tools.objects.courses import (
    course_json,
    courses_json,
    enrollment_json,
    teacher_json,
)
from mesocosm.servers.canvas.tools.objects.modules import (
    file_json,
    folder_json,
    full_page_json,
    module_item_json,
    modules_json,
    page_json,
)
from mesocosm.servers.canvas.tools.objects.people import account_json, profile_json, user_json
from mesocosm.servers.canvas.tools.objects.quizzes import question_json, quiz_json, quiz_submission_json
from mesocosm.servers.canvas.tools.objects.values import ADDRESS, Row, address, hosted, number

__all__ = [
    "ADDRESS",
    "Row",
    "account_json",
    "address",
    "announcement_json",
    "assignment_json",
    "attempt_json",
    "bare_submission_json",
    "comment_json",
    "conversations_json",
    "course_json",
    "courses_json",
    "enrollment_json",
    "entry_json",
    "event_json",
    "file_json",
    "folder_json",
    "full_page_json",
    "hosted",
    "message_json",
    "module_item_json",
    "modules_json",
    "number",
    "page_json",
    "profile_json",
    "question_json",
    "quiz_json",
    "quiz_submission_json",
    "rubric_json",
    "submission_json",
    "teacher_json",
    "topic_json",
    "user_json",
]
