"""Assignments, submissions, grading and rubrics."""

from __future__ import annotations

import pytest

from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.servers.canvas.store.grading import graded

ESSAY = {"course_id": 1, "assignment_id": 1}
TEXT = {"submission_type": "online_text_entry"}


def test_students_see_published_assignments_and_quizzes_in_order(campus):
    names = [assignment["name"] for assignment in campus("list_assignments", course_id=1)]

    assert names == ["Essay", "Late work", "Closed", "Upload", "Quiz"]
    assert "Secret" in [a["name"] for a in campus.as_("teacher")("list_assignments", course_id=1)]


def test_an_assignment_says_when_it_is_due_and_whether_it_is_locked(campus):
    assignment = campus("get_assignment", course_id=1, assignment_id=4)

    assert (assignment["lock_at"], assignment["locked_for_user"]) == ("2025-01-14T00:00:00Z", True)
    assert campus("get_assignment", **ESSAY)["due_at"] == "2025-01-20T23:59:59Z"


def test_a_teacher_creates_an_assignment_at_the_end(campus):
    assignment = campus.as_("teacher")(
        "create_assignment",
        course_id=1,
        name="Lab",
        due_at="2025-02-01",
        points_possible=12.5,
        published=True,
    )

    assert (assignment["due_at"], assignment["points_possible"]) == ("2025-02-01T23:59:59Z", 12.5)
    assert campus.as_("student")("list_assignments", course_id=1)[-1]["name"] == "Lab"


def test_an_update_changes_what_is_given_and_an_empty_date_clears(campus):
    assignment = campus.as_("teacher")("update_assignment", **ESSAY, name="Long essay", due_at="")

    assert (assignment["name"], assignment["due_at"], assignment["points_possible"]) == (
        "Long essay",
        None,
        50,
    )


def test_what_was_handed_in_keeps_its_assignment_published(campus):
    campus("submit_assignment", **ESSAY, **TEXT, body="mine")

    assert "student submissions" in campus.as_("teacher").refuses(
        "update_assignment", **ESSAY, published=False
    )


def test_a_submission_can_be_read_by_its_student_and_the_graders(campus):
    handed_in = campus("submit_assignment", **ESSAY, **TEXT, body="mine")

    assert (handed_in["attempt"], handed_in["workflow_state"], handed_in["late"]) == (1, "submitted", False)
    assert campus("get_submission", **ESSAY) == handed_in
    assert campus.as_("ta")("get_submission", **ESSAY, user_id=4)["body"] == "mine"


def test_handing_in_again_counts_and_keeps_the_earlier_attempt(campus):
    first = campus("submit_assignment", **ESSAY, **TEXT, body="one")
    second = campus("submit_assignment", **ESSAY, **TEXT, body="two")

    assert (second["id"], second["attempt"], second["body"]) == (first["id"], 2, "two")
    assert [attempt["body"] for attempt in second["submission_history"]] == ["one"]


def test_late_and_missing_follow_from_the_due_date_and_the_clock(campus):
    missing = campus("get_submission", course_id=1, assignment_id=2)
    handed_in = campus("submit_assignment", course_id=1, assignment_id=2, **TEXT, body="sorry")

    assert (missing["id"], missing["workflow_state"], missing["missing"]) == (None, "unsubmitted", True)
    assert (handed_in["late"], handed_in["missing"]) == (True, False)
    assert handed_in["seconds_late"] // 3600 == 4 * 24 + 9


def test_files_of_ones_own_can_be_handed_in(campus):
    answer = campus(
        "submit_assignment", course_id=1, assignment_id=5, submission_type="online_upload", file_ids=[4]
    )

    assert [file["display_name"] for file in answer["attachments"]] == ["mine.doc"]


def test_attempts_are_limited(campus):
    with campus.world.editing():
        store = campus.world.store(CanvasStore)
        [key] = store.assignments.add_assignments([{"course_id": 1, "name": "Once", "allowed_attempts": 1}])
    campus("submit_assignment", course_id=1, assignment_id=key, **TEXT, body="one")

    refusal = campus.refuses("submit_assignment", course_id=1, assignment_id=key, **TEXT, body="two")

    assert "maximum number of attempts" in refusal


def test_a_grade_is_seen_by_the_student_with_its_comment(campus):
    campus("submit_assignment", **ESSAY, **TEXT, body="mine")
    campus.as_("ta")("submit_grade", **ESSAY, user_id=4, grade="90%", comment="Good")

    seen = campus.as_("student")("get_submission", **ESSAY)
    assert (seen["grade"], seen["score"], seen["grader_id"], seen["workflow_state"]) == (
        "45",
        45,
        3,
        "graded",
    )
    assert seen["submission_comments"][0]["comment"] == "Good"


def test_handing_in_after_grading_leaves_a_grade_of_an_earlier_attempt(campus):
    campus("submit_assignment", **ESSAY, **TEXT, body="one")
    campus.as_("teacher")("submit_grade", **ESSAY, user_id=4, grade=30)
    again = campus.as_("student")("submit_assignment", **ESSAY, **TEXT, body="two")

    assert (again["score"], again["workflow_state"]) == (30, "submitted")
    assert again["grade_matches_current_submission"] is False


def test_points_beyond_all_measure_are_numbers_as_any(campus):
    campus.as_("teacher")("update_assignment", **ESSAY, points_possible=1e-12)
    campus("submit_grade", **ESSAY, user_id=4, grade=1e9)
    grades = [one["grades"]["current_score"] for one in campus("get_course_grades", course_id=1)]
    assert max(grade or 0 for grade in grades) > 1e18


def test_work_that_was_not_handed_in_can_be_graded_and_the_grade_taken_back(campus):
    campus.as_("teacher")
    given = campus("submit_grade", **ESSAY, user_id=5, grade=10)
    taken = campus("submit_grade", **ESSAY, user_id=5, grade="")

    assert (given["score"], given["attempt"]) == (10, None)
    assert (taken["score"], taken["grade"], taken["workflow_state"]) == (None, None, "unsubmitted")


@pytest.mark.parametrize(
    ("kind", "posted", "grade", "score"),
    [
        ("points", 13.5, "13.5", 13.5),
        ("points", "87%", "43.5", 43.5),
        ("percent", 40, "80%", 40),
        ("letter_grade", "A-", "A-", 46.5),
        ("letter_grade", "F", "F", 0),
        ("letter_grade", 50, "A", 50),
        ("pass_fail", "complete", "complete", 50),
        ("pass_fail", "fail", "incomplete", 0),
    ],
)
def test_a_posted_grade_is_read_by_the_rules_of_the_grading_type(kind, posted, grade, score):
    assert graded({"points_possible": 50, "grading_type": kind}, posted) == (grade, score)


def test_rubrics_sum_the_points_of_their_criteria(campus):
    ratings = [{"description": "Fair", "points": 3}, {"description": "Full", "points": 5}]
    criteria = [{"description": "Style", "ratings": ratings}, {"description": "Facts", "points": 2.5}]

    rubric = campus.as_("teacher")("create_rubric", course_id=1, title="Report", criteria=criteria)

    assert rubric["points_possible"] == 7.5
    assert [r["description"] for r in rubric["criteria"][0]["ratings"]] == ["Full", "Fair"]
    assert campus("get_rubric", course_id=1, rubric_id=rubric["id"]) == rubric
    assert [r["title"] for r in campus("list_rubrics", course_id=1)] == ["Writing", "Report"]
