"""Courses, enrollments, grades of courses."""

from __future__ import annotations

import json


def test_students_see_their_published_courses_that_have_not_ended(campus):
    assert [course["name"] for course in campus("list_courses")] == ["Biology", "Chemistry"]


def test_ended_courses_come_when_asked_for(campus):
    assert [c["name"] for c in campus("list_courses", include_ended=True)] == [
        "Biology",
        "Chemistry",
        "Ended",
    ]


def test_teachers_see_their_unpublished_courses(campus):
    assert [c["name"] for c in campus.as_("teacher")("list_courses")] == ["Biology", "Draft"]


def test_courses_name_their_teachers_with_address_and_leave_the_syllabus_out(campus):
    course = campus("list_courses")[0]

    assert course["teachers"] == [{"id": 2, "display_name": "Teacher Person", "email": "teacher@uni.edu"}]
    assert course["enrollments"][0]["type"] == "student"
    assert course["total_students"] == 2
    assert "syllabus_body" not in course


def test_a_page_of_courses_says_when_there_is_more(campus):
    first, more = campus.blocks("list_courses", per_page=1)

    assert json.loads(more) == {"next_page": 2, "total": 2}
    assert len(json.loads(first)) == 1
    assert len(campus.blocks("list_courses", per_page=1, page=2)) == 1


def test_a_page_beyond_the_end_is_empty(campus):
    assert campus("list_courses", page=5) == []


def test_a_course_has_its_syllabus(campus):
    assert campus("get_course", course_id=1)["syllabus_body"] == "<p>Cells.</p>"
    assert campus("get_syllabus", course_id=1) == {"course_id": 1, "syllabus_body": "<p>Cells.</p>"}


def test_whole_numbers_may_be_written_with_a_point(campus):
    assert campus("get_course", course_id=1.0)["id"] == 1


def test_an_administrator_creates_and_publishes_a_course(campus):
    campus.as_("admin")

    course = campus("create_course", account_id=2, name="Physics", start_at="2025-02-01T08:00:00+08:00")
    offered = campus("update_course", course_id=course["id"], event="offer")

    assert (course["workflow_state"], course["start_at"]) == ("unpublished", "2025-02-01T00:00:00Z")
    assert offered["workflow_state"] == "available"


def test_a_teacher_changes_a_course(campus):
    campus.as_("teacher")("update_course", course_id=1, name="Botany", syllabus_body="<p>Plants</p>")

    course = campus.as_("student")("get_course", course_id=1)
    assert (course["name"], course["course_code"], course["syllabus_body"]) == (
        "Botany",
        "BIO-1",
        "<p>Plants</p>",
    )


def test_a_concluded_course_can_be_read_but_not_changed(campus):
    campus.as_("teacher")("update_course", course_id=1, event="conclude")

    assert "not authorized" in campus.refuses("create_assignment", course_id=1, name="More")
    campus.as_("student")
    assert [course["id"] for course in campus("list_courses")] == [2]
    assert campus("list_announcements", course_id=1)
    assert "not authorized" in campus.refuses("post_to_discussion", course_id=1, topic_id=4, message="Hi")


def test_a_teacher_takes_back_the_end_of_a_course(campus):
    campus.as_("teacher")("update_course", course_id=1, event="conclude")

    assert campus("update_course", course_id=1, event="offer")["workflow_state"] == "available"


def test_an_enrolled_student_sees_the_course(campus):
    enrollment = campus.as_("teacher")("enroll_user", course_id=1, user_id=6)

    assert (enrollment["type"], enrollment["enrollment_state"]) == ("StudentEnrollment", "active")
    assert [course["id"] for course in campus.as_("outsider")("list_courses")] == [1]


def test_enrolling_twice_changes_the_state_of_the_same_enrollment(campus):
    campus.as_("ta")
    first = campus("enroll_user", course_id=1, user_id=6, enrollment_state="invited")
    second = campus("enroll_user", course_id=1, user_id=6, enrollment_state="inactive")

    assert first["id"] == second["id"]
    assert campus.as_("outsider")("list_courses") == []


def test_grades_of_a_course_follow_from_the_scores(campus):
    campus.as_("teacher")("submit_grade", course_id=1, assignment_id=1, user_id=4, grade=40)

    grades = {row["user_id"]: row["grades"] for row in campus("get_course_grades", course_id=1)}
    assert grades[4]["current_score"] == 80
    assert grades[4]["final_score"] == round(100 * 40 / 70, 2)
    assert (grades[5]["current_score"], grades[5]["final_score"]) == (None, 0)


def test_students_and_observers_see_only_the_grades_that_concern_them(campus):
    assert [row["user_id"] for row in campus("get_course_grades", course_id=1)] == [4]
    assert campus.as_("observer")("get_course_grades", course_id=1) == []


def test_my_grades_cover_my_current_courses(campus):
    campus.as_("teacher")("submit_grade", course_id=1, assignment_id=2, user_id=4, grade="70%")

    rows = campus.as_("student")("get_user_grades")
    assert [(row["course_code"], row["grades"]["current_score"]) for row in rows] == [
        ("BIO-1", 70),
        ("CHEM-1", None),
    ]
