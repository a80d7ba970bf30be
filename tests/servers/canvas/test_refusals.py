"""Every tool refuses bad arguments and what the user may not do, and a refused call leaves no trace."""

from __future__ import annotations

from typing import Any

import pytest

from mesocosm.services.service import load_service

FORBIDDEN = "user not authorized to perform that action"
UNKNOWN = "does not exist"
TEXT = {"submission_type": "online_text_entry", "body": "x"}
NEW_USER = {"user": {"name": "N"}, "pseudonym": {"unique_id": "n@uni.edu"}}

ALLOWED_FORM = (FORBIDDEN, UNKNOWN, "closed for comments", "completed in order")

BAD: list[tuple[str, str, dict[str, Any], str]] = [
    ("student", "health_check", {"x": 1}, "Unknown argument"),
    (
        "student",
        "login",
        {"login_id": "teacher@uni.edu", "password": "wrong"},
        "Invalid login_id or password",
    ),
    ("student", "login", {"login_id": "nobody@uni.edu", "password": ""}, "Invalid login_id or password"),
    ("student", "logout", {"x": 1}, "Unknown argument"),
    ("student", "get_current_user", {"x": 1}, "Unknown argument"),
    ("student", "list_users", {"course_id": 3}, FORBIDDEN),
    ("student", "list_users", {"per_page": 101}, "per_page must be between"),
    ("student", "get_user_profile", {"x": 1}, "Unknown argument"),
    ("student", "update_user_profile", {"name": " "}, "name can't be blank"),
    ("student", "update_user_profile", {"time_zone": "Nowhere/City"}, "Invalid time_zone"),
    ("student", "update_user_profile", {"bio": "a\0b"}, "null characters"),
    ("student", "list_courses", {"page": 0}, "page must be between"),
    ("student", "list_courses", {"per_page": -1}, "per_page must be between"),
    ("student", "get_course", {"course_id": 99}, UNKNOWN),
    ("student", "get_course", {"course_id": 10**30}, "64 bits"),
    ("student", "get_course", {"course_id": 1.5}, "whole number"),
    ("student", "get_course", {"course_id": "abc"}, "must be number"),
    ("student", "get_course", {"course_id": 3}, FORBIDDEN),
    ("outsider", "get_course", {"course_id": 1}, FORBIDDEN),
    ("teacher", "create_course", {"account_id": 1, "name": "Mine"}, FORBIDDEN),
    ("admin", "create_course", {"account_id": 1, "name": ""}, "name can't be blank"),
    ("admin", "create_course", {"account_id": 1, "name": "X", "start_at": "soon"}, "Invalid datetime"),
    ("student", "update_course", {"course_id": 1, "name": "Mine"}, FORBIDDEN),
    ("ta", "update_course", {"course_id": 1, "name": "Mine"}, FORBIDDEN),
    (
        "teacher",
        "update_course",
        {"course_id": 4, "start_at": "2025-01-01T00:00:00Z"},
        "End date can't be before",
    ),
    ("student", "list_assignments", {"course_id": 3}, FORBIDDEN),
    ("student", "get_assignment", {"course_id": 1, "assignment_id": 3}, UNKNOWN),
    ("student", "get_assignment", {"course_id": 2, "assignment_id": 1}, UNKNOWN),
    ("student", "create_assignment", {"course_id": 1, "name": "Mine"}, FORBIDDEN),
    (
        "teacher",
        "create_assignment",
        {"course_id": 1, "name": "A", "due_at": "not a date"},
        "Invalid datetime",
    ),
    (
        "teacher",
        "create_assignment",
        {"course_id": 1, "name": "A", "points_possible": -1},
        "points_possible must be",
    ),
    (
        "teacher",
        "create_assignment",
        {"course_id": 1, "name": "A", "submission_types": ["fax"]},
        "Invalid submission_",
    ),
    ("student", "update_assignment", {"course_id": 1, "assignment_id": 1, "name": "B"}, FORBIDDEN),
    ("teacher", "update_assignment", {"course_id": 1, "assignment_id": 6, "name": "B"}, "belongs to a quiz"),
    ("student", "get_submission", {"course_id": 1, "assignment_id": 1, "user_id": 5}, FORBIDDEN),
    ("teacher", "get_submission", {"course_id": 1, "assignment_id": 1, "user_id": 6}, UNKNOWN),
    ("student", "submit_assignment", {"course_id": 1, "assignment_id": 4, **TEXT}, "was locked at"),
    ("student", "submit_assignment", {"course_id": 1, "assignment_id": 5, **TEXT}, "this assignment accepts"),
    (
        "student",
        "submit_assignment",
        {"course_id": 1, "assignment_id": 1, **TEXT, "body": " "},
        "body can't be blank",
    ),
    ("student", "submit_assignment", {"course_id": 1, "assignment_id": 99, **TEXT}, UNKNOWN),
    (
        "student",
        "submit_assignment",
        {"course_id": 1, "assignment_id": 5, "submission_type": "online_upload", "file_ids": [1]},
        "No attachment",
    ),
    (
        "student",
        "submit_assignment",
        {"course_id": 1, "assignment_id": 5, "submission_type": "online_url", "url": "javascript:x"},
        "valid http",
    ),
    ("teacher", "submit_assignment", {"course_id": 1, "assignment_id": 1, **TEXT}, FORBIDDEN),
    ("student", "submit_grade", {"course_id": 1, "assignment_id": 1, "user_id": 4, "grade": 50}, FORBIDDEN),
    (
        "teacher",
        "submit_grade",
        {"course_id": 1, "assignment_id": 1, "user_id": 4, "grade": "great"},
        "Invalid grade",
    ),
    ("teacher", "submit_grade", {"course_id": 1, "assignment_id": 1, "user_id": 6, "grade": 5}, UNKNOWN),
    (
        "teacher",
        "submit_grade",
        {"course_id": 1, "assignment_id": 3, "user_id": 4, "grade": 5},
        "not published",
    ),
    ("student", "list_files", {"course_id": 1, "folder_id": 99}, UNKNOWN),
    ("student", "get_file", {"file_id": 3}, UNKNOWN),
    ("classmate", "get_file", {"file_id": 4}, FORBIDDEN),
    ("outsider", "list_folders", {"course_id": 1}, FORBIDDEN),
    ("outsider", "list_pages", {"course_id": 1}, FORBIDDEN),
    ("student", "get_page", {"course_id": 1, "page_url": "hidden-notes"}, UNKNOWN),
    ("student", "get_page", {"course_id": 1, "page_url": "\0"}, "null characters"),
    ("student", "list_calendar_events", {"start_date": "someday"}, "Invalid datetime"),
    (
        "student",
        "list_calendar_events",
        {"start_date": "2025-02-01", "end_date": "2025-01-01"},
        "must not be before",
    ),
    ("student", "get_upcoming_assignments", {"limit": 0}, "between 1 and 100"),
    ("student", "get_dashboard", {"x": 1}, "Unknown argument"),
    ("student", "get_dashboard_cards", {"page": -1}, "page must be between"),
    ("outsider", "get_course_grades", {"course_id": 1}, FORBIDDEN),
    ("student", "get_user_grades", {"per_page": 0}, "per_page must be between"),
    ("student", "enroll_user", {"course_id": 1, "user_id": 4, "role": "TeacherEnrollment"}, FORBIDDEN),
    ("ta", "enroll_user", {"course_id": 1, "user_id": 6, "role": "TeacherEnrollment"}, FORBIDDEN),
    ("teacher", "enroll_user", {"course_id": 1, "user_id": 6, "role": "King"}, "Invalid role"),
    (
        "teacher",
        "enroll_user",
        {"course_id": 1, "user_id": 6, "enrollment_state": "gone"},
        "Invalid enrollment_state",
    ),
    ("teacher", "enroll_user", {"course_id": 1, "user_id": 99}, UNKNOWN),
    ("outsider", "list_modules", {"course_id": 1}, FORBIDDEN),
    ("student", "get_module", {"course_id": 1, "module_id": 3}, UNKNOWN),
    ("student", "list_module_items", {"course_id": 1, "module_id": 3}, UNKNOWN),
    ("student", "get_module_item", {"course_id": 1, "module_id": 2, "item_id": 1}, UNKNOWN),
    (
        "student",
        "mark_module_item_complete",
        {"course_id": 1, "module_id": 1, "item_id": 2},
        "completed in order",
    ),
    (
        "student",
        "mark_module_item_complete",
        {"course_id": 1, "module_id": 2, "item_id": 3},
        "module is locked",
    ),
    ("student", "create_module", {"course_id": 1, "name": "Mine"}, FORBIDDEN),
    ("teacher", "create_module", {"course_id": 1, "name": "M", "position": 0}, "position must be between"),
    (
        "teacher",
        "create_module",
        {"course_id": 1, "name": "M", "prerequisite_module_ids": [99]},
        "not a module before",
    ),
    (
        "student",
        "create_module_item",
        {"course_id": 1, "module_id": 1, "title": "T", "type": "Quiz"},
        FORBIDDEN,
    ),
    (
        "teacher",
        "create_module_item",
        {"course_id": 1, "module_id": 1, "title": "T", "type": "Quiz", "content_id": 99},
        "is not a Quiz of this course",
    ),
    (
        "teacher",
        "create_module_item",
        {"course_id": 1, "module_id": 1, "title": "T", "type": "ExternalUrl"},
        "url is",
    ),
    (
        "teacher",
        "create_module_item",
        {"course_id": 1, "module_id": 1, "title": "T", "type": "Song"},
        "one of",
    ),
    ("outsider", "list_discussion_topics", {"course_id": 1}, FORBIDDEN),
    ("student", "get_discussion_topic", {"course_id": 1, "topic_id": 3}, UNKNOWN),
    (
        "student",
        "post_to_discussion",
        {"course_id": 1, "topic_id": 6, "message": "me too"},
        "closed for comments",
    ),
    (
        "student",
        "post_to_discussion",
        {"course_id": 1, "topic_id": 4, "message": ""},
        "message can't be blank",
    ),
    ("outsider", "list_announcements", {"course_id": 1}, FORBIDDEN),
    ("student", "list_announcements", {"course_id": 1, "per_page": 1000}, "per_page must be between"),
    ("outsider", "list_quizzes", {"course_id": 1}, FORBIDDEN),
    ("student", "get_quiz", {"course_id": 1, "quiz_id": 2}, UNKNOWN),
    ("student", "create_quiz", {"course_id": 1, "title": "Mine"}, FORBIDDEN),
    ("teacher", "create_quiz", {"course_id": 1, "title": "Q", "quiz_type": "riddle"}, "Invalid quiz_type"),
    ("teacher", "create_quiz", {"course_id": 1, "title": "Q", "time_limit": 0}, "time_limit must be between"),
    ("teacher", "start_quiz_attempt", {"course_id": 1, "quiz_id": 1}, FORBIDDEN),
    ("student", "start_quiz_attempt", {"course_id": 1, "quiz_id": 3}, "access code required"),
    (
        "student",
        "start_quiz_attempt",
        {"course_id": 1, "quiz_id": 3, "access_code": "x"},
        "invalid access code",
    ),
    ("student", "update_quiz", {"course_id": 1, "quiz_id": 1, "title": "T"}, FORBIDDEN),
    (
        "teacher",
        "update_quiz",
        {"course_id": 1, "quiz_id": 1, "allowed_attempts": 0},
        "allowed_attempts must be",
    ),
    (
        "teacher",
        "update_quiz",
        {"course_id": 1, "quiz_id": 1, "scoring_policy": "best"},
        "Invalid scoring_policy",
    ),
    ("student", "publish_quiz", {"course_id": 1, "quiz_id": 2}, FORBIDDEN),
    ("student", "delete_quiz", {"course_id": 1, "quiz_id": 1}, FORBIDDEN),
    ("teacher", "delete_quiz", {"course_id": 1, "quiz_id": 99}, UNKNOWN),
    ("student", "add_quiz_question", {"course_id": 1, "quiz_id": 1, "question_text": "?"}, FORBIDDEN),
    (
        "teacher",
        "add_quiz_question",
        {
            "course_id": 1,
            "quiz_id": 1,
            "question_text": "?",
            "answers": [{"answer_text": "a", "answer_weight": 200}],
        },
        "answer_weight must be",
    ),
    (
        "teacher",
        "add_quiz_question",
        {"course_id": 1, "quiz_id": 1, "question_text": "?", "question_type": "riddle"},
        "Invalid question_type",
    ),
    ("student", "get_quiz_questions", {"course_id": 1, "quiz_id": 1}, FORBIDDEN),
    ("teacher", "update_quiz_question", {"course_id": 1, "quiz_id": 2, "question_id": 1}, UNKNOWN),
    ("student", "update_quiz_question", {"course_id": 1, "quiz_id": 1, "question_id": 1}, FORBIDDEN),
    ("teacher", "delete_quiz_question", {"course_id": 1, "quiz_id": 1, "question_id": 99}, UNKNOWN),
    ("student", "delete_quiz_question", {"course_id": 1, "quiz_id": 1, "question_id": 1}, FORBIDDEN),
    ("student", "list_rubrics", {"course_id": 1}, FORBIDDEN),
    ("teacher", "get_rubric", {"course_id": 2, "rubric_id": 1}, FORBIDDEN),
    ("teacher", "get_rubric", {"course_id": 1, "rubric_id": 9}, UNKNOWN),
    (
        "teacher",
        "create_rubric",
        {"course_id": 1, "title": "R", "criteria": [{"points": -1}]},
        "points must be",
    ),
    ("student", "create_rubric", {"course_id": 1, "title": "R"}, FORBIDDEN),
    ("student", "list_conversations", {"page": 0}, "page must be between"),
    ("classmate", "get_conversation", {"conversation_id": 1}, UNKNOWN),
    ("student", "create_conversation", {"recipients": [], "body": "x"}, "recipients can't be blank"),
    ("student", "create_conversation", {"recipients": ["6"], "body": "x"}, UNKNOWN),
    ("student", "create_conversation", {"recipients": ["bob"], "body": "x"}, "Invalid recipient"),
    ("student", "create_conversation", {"recipients": ["course_1_students"], "body": "x"}, FORBIDDEN),
    ("student", "create_conversation", {"recipients": ["2"], "body": ""}, "body can't be blank"),
    ("student", "list_notifications", {"per_page": 0}, "per_page must be between"),
    ("student", "get_account", {"account_id": 9}, UNKNOWN),
    ("student", "list_account_courses", {"account_id": 1}, FORBIDDEN),
    ("admin", "list_account_courses", {"account_id": 1, "search_term": "b"}, "at least 2 characters"),
    ("teacher", "list_account_users", {"account_id": 1}, FORBIDDEN),
    ("admin", "list_account_users", {"account_id": 1, "sort": "age"}, "one of"),
    ("student", "create_user", {"account_id": 1, **NEW_USER}, FORBIDDEN),
    (
        "admin",
        "create_user",
        {"account_id": 1, "user": {"name": "N"}, "pseudonym": {"unique_id": "TEACHER@uni.edu"}},
        "ID already in use",
    ),
    (
        "admin",
        "create_user",
        {"account_id": 1, "user": {"name": "N"}, "pseudonym": {"unique_id": "n", "password": "short"}},
        "password is too short",
    ),
    (
        "admin",
        "create_user",
        {"account_id": 1, "user": {}, "pseudonym": {"unique_id": "n"}},
        "required field 'name'",
    ),
    ("student", "list_sub_accounts", {"account_id": 1}, FORBIDDEN),
    ("student", "get_account_reports", {"account_id": 1}, FORBIDDEN),
    ("student", "create_account_report", {"account_id": 1, "report": "grade_export_csv"}, FORBIDDEN),
    ("admin", "create_account_report", {"account_id": 1, "report": "gossip"}, "invalid report name"),
    ("student", "get_syllabus", {"course_id": 3}, FORBIDDEN),
]


TOOLS = [name.removeprefix("canvas_") for name in load_service("canvas").tools]
WITHOUT_USER = ("health_check", "login", "logout", "get_current_user")


@pytest.mark.parametrize("tool", TOOLS)
def test_bad_calls_are_refused_clearly_and_leave_no_trace(campus, tool):
    bad = [row for row in BAD if row[1] == tool]

    assert bad, "every tool has a refusal"
    for person, _, arguments, reason in bad:
        campus.as_(person)
        assert reason in campus.refuses(tool, **arguments)


def test_nothing_is_shown_or_done_for_somebody_who_is_not_signed_in(campus):
    campus("logout")

    for tool in TOOLS:
        if tool not in WITHOUT_USER:
            arguments = next((row[2] for row in BAD if row[1] == tool and row[3] in ALLOWED_FORM), {})
            assert "user authorization required" in campus.refuses(tool, **arguments)
