"""The public Canvas SDK (canvasapi), unmodified, against an episode."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import requests
from campus import PEOPLE, fill_campus
from canvasapi import Canvas
from canvasapi.exceptions import (
    BadRequest,
    Conflict,
    Forbidden,
    InvalidAccessToken,
    ResourceDoesNotExist,
)
from patience import PATIENCE
from rest.hosted import HostedWorld

from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.services.calling import Tools
from mesocosm.services.service import load_operations, load_service
from mesocosm.services.world import World

pytestmark = pytest.mark.filterwarnings("ignore:Canvas may respond unexpectedly:UserWarning")

BIOLOGY, CHEMISTRY, DRAFT = 1, 2, 3
CROWD, TASKS = 230, 110


def fill_crowd(world: World) -> None:
    """The campus with a course that has more people and assignments than fit on a page."""
    fill_campus(world)
    store = world.store(CanvasStore)
    people = [
        {"name": f"Given{n:03} Family", "login_id": f"crowd{n}@uni.edu", "sis_user_id": f"S{n}"}
        for n in range(CROWD)
    ]
    [course] = store.courses.add_courses(
        [{"name": "Crowd", "course_code": "CROWD", "sis_course_id": "SIS-CROWD"}]
    )
    store.courses.enroll_students([(course, user) for user in store.users.add_users(people)])  # type: ignore[arg-type]
    store.courses.add_enrollments(
        [{"course_id": course, "user_id": PEOPLE["teacher"], "type": "TeacherEnrollment"}]
    )
    store.assignments.add_assignments([{"course_id": course, "name": f"Task {n:03}"} for n in range(TASKS)])
    store.sign_in(PEOPLE["teacher"])


class Campus:
    """An episode of the campus: the SDK and the MCP tools, both acting for whoever is signed in."""

    def __init__(self, hosted: HostedWorld, tools: Tools) -> None:
        self.hosted = hosted
        self.tools = tools
        self.canvas = Canvas(hosted.api("canvas"), hosted.id)

    def as_(self, person: str) -> Canvas:
        """Let another person act from here on."""
        self("login", login_id=f"{person}@uni.edu", password=f"{person}-secret")
        return self.canvas

    def __call__(self, tool: str, **arguments: Any) -> Any:
        """Call a tool by its name without ``canvas_``."""
        return self.tools.call("canvas", f"canvas_{tool}", **arguments)

    def raw(self, method: str, path: str, **options: Any) -> requests.Response:
        """A request without the SDK."""
        headers = {"Authorization": f"Bearer {self.hosted.id}"} | options.pop("headers", {})
        url = f"{self.hosted.api('canvas')}/api/v1/{path}"
        return requests.request(method, url, headers=headers, timeout=PATIENCE, **options)

    def refuses(self, error: type[Exception], action: Callable[[], Any]) -> str:
        """Why a request is refused; it must not have left a trace."""
        before = self.hosted.tables("canvas")
        with pytest.raises(error) as refusal:
            action()
        assert self.hosted.tables("canvas") == before
        return str(refusal.value)


@pytest.fixture
def campus(episode_of: Callable[..., HostedWorld]) -> Iterator[Campus]:
    """A campus with the student signed in."""
    hosted = episode_of(["canvas"], fill_campus)
    with hosted.tools() as tools:
        yield Campus(hosted, tools)


@pytest.fixture(scope="module")
def crowd(episode_of: Callable[..., HostedWorld]) -> Iterator[Campus]:
    """A campus with a large course, the teacher signed in; tests only read it."""
    hosted = episode_of(["canvas"], fill_crowd)
    with hosted.tools() as tools:
        yield Campus(hosted, tools)


def names(objects: Any, field: str = "name") -> list[str]:
    return [getattr(each, field) for each in objects]


# -- lists ------------------------------------------------------------------------------------------------


def test_a_page_that_is_no_number_is_the_first(crowd: Campus) -> None:
    for said in ("page[]=2", "page[a]=b&per_page[]=1", "page=\N{SUPERSCRIPT TWO}"):
        answer = crowd.raw("GET", f"courses/1/feeds?{said}")
        assert (answer.status_code, answer.json()) == (200, [])


def test_lists_are_walked_over_several_pages(crowd: Campus) -> None:
    course = crowd.canvas.get_course("SIS-CROWD", use_sis_id=True)
    assert names(course.get_assignments(per_page=20)) == [f"Task {n:03}" for n in range(TASKS)]
    users = course.get_users(enrollment_type=["student"])
    assert names(users) == [f"Given{n:03} Family" for n in range(CROWD)]


def test_a_page_links_to_its_neighbours(crowd: Campus) -> None:
    response = crowd.raw(
        "GET", "courses/sis_course_id:SIS-CROWD/assignments?page=2&per_page=50&order_by=name"
    )
    links = response.links
    assert sorted(links) == ["current", "first", "last", "next", "prev"]
    assert {rel: re.search(r"[?&]page=(\d+)", links[rel]["url"])[1] for rel in links} == {  # type: ignore[index]
        "current": "2",
        "next": "3",
        "prev": "1",
        "first": "1",
        "last": "3",
    }
    assert "order_by=name" in links["next"]["url"]
    assert len(response.json()) == 50
    last = crowd.raw("GET", "courses/1/users?page=7&per_page=1000")
    assert (last.json(), "next" in last.links) == ([], False)


def test_a_query_parameter_carries_the_token_too_and_stays_out_of_the_links(crowd: Campus) -> None:
    url = f"{crowd.hosted.api('canvas')}/api/v1/courses/5/users?per_page=5"
    response = requests.get(f"{url}&access_token={crowd.hosted.id}", timeout=PATIENCE)
    assert response.status_code == 200
    assert "access_token" not in response.headers["Link"]


def test_lists_are_searched_filtered_and_sorted(crowd: Campus) -> None:
    course = crowd.canvas.get_course(5, include=["syllabus_body", "teachers", "total_students", "term"])
    assert (course.total_students, course.teachers[0]["id"]) == (CROWD, PEOPLE["teacher"])
    assert names(course.get_assignments(search_term="task 09")) == [f"Task 09{n}" for n in range(10)]
    assert names(course.get_assignments(bucket="past")) == []
    users = course.get_users(search_term="crowd22", sort="email", order="desc", include=["email"])
    assert names(users, "email")[:2] == ["crowd22@uni.edu", "crowd229@uni.edu"]
    assert names(crowd.canvas.get_courses(enrollment_type="teacher", enrollment_state="active")) == [
        "Biology",
        "Crowd",
        "Draft",
    ]
    user = crowd.canvas.get_course(5).get_user("S7", "sis_user_id", include=["enrollments"])
    assert user.enrollments[0]["type"] == "StudentEnrollment"


# -- courses, people and enrolments -----------------------------------------------------------------------


def test_courses_are_made_changed_and_ended(campus: Campus) -> None:
    account = campus.as_("admin").get_account(1)
    start = datetime.fromisoformat("2025-02-01T08:00:00+01:00")
    course = account.create_course(course={"name": "Botany", "start_at": start}, offer=True)
    assert (course.workflow_state, course.start_at) == ("available", "2025-02-01T07:00:00Z")
    assert campus("get_course", course_id=course.id)["name"] == "Botany"
    assert course.update(course={"name": "Botany I", "syllabus_body": "<p>Roots.</p>"}) == "Botany I"
    assert campus("get_syllabus", course_id=course.id)["syllabus_body"] == "<p>Roots.</p>"
    assert "Botany I" in names(account.get_courses(search_term="botany"))
    assert course.conclude() is True
    assert campus("get_course", course_id=course.id)["workflow_state"] == "completed"
    assert course.delete() is True
    assert "404" not in campus.refuses(ResourceDoesNotExist, lambda: campus.canvas.get_course(course.id))
    assert "Botany I" not in names(account.get_courses(search_term="biology"))


def test_enrolments_begin_and_end(campus: Campus) -> None:
    course = campus.as_("teacher").get_course(BIOLOGY)
    enrollment = course.enroll_user(
        PEOPLE["outsider"], enrollment={"type": "StudentEnrollment", "enrollment_state": "invited"}
    )
    assert (enrollment.enrollment_state, enrollment.user["name"]) == ("invited", "Outsider Person")
    campus.as_("outsider")
    assert enrollment.accept() is True
    assert names(campus.canvas.get_courses()) == ["Biology"]
    course = campus.as_("teacher").get_course(BIOLOGY)
    assert enrollment.deactivate("deactivate").enrollment_state == "inactive"
    assert enrollment.reactivate().enrollment_state == "active"
    assert enrollment.deactivate("conclude").enrollment_state == "completed"
    assert "outsider@uni.edu" not in {u["login_id"] for u in campus("list_users", course_id=1)["users"]}
    enrollment.deactivate("delete")
    assert PEOPLE["outsider"] not in [e.user_id for e in course.get_enrollments(state=["completed"])]
    section = course.get_sections()[0]
    assert section.course_id == course.id
    assert len(list(section.get_enrollments(type=["StudentEnrollment"]))) == 2


def test_users_and_their_grades_are_read(campus: Campus) -> None:
    campus.as_("teacher").get_course(BIOLOGY).get_assignment(1).get_submission(PEOPLE["student"]).edit(
        submission={"posted_grade": 45}
    )
    canvas = campus.as_("student")
    me = canvas.get_current_user()
    assert (me.name, me.get_profile()["primary_email"]) == ("Student Person", "student@uni.edu")
    own = next(e for e in me.get_enrollments() if e.course_id == BIOLOGY)
    assert own.grades["current_score"] == 90
    assert own.grades["final_score"] == campus("get_user_grades")[0]["grades"]["final_score"]
    others = canvas.get_course(BIOLOGY).get_enrollments(user_id=PEOPLE["classmate"])
    assert not hasattr(others[0], "grades")
    assert not hasattr(canvas.get_user(PEOPLE["classmate"]), "login_id")
    me.edit(user={"short_name": "Stu", "time_zone": "Europe/Berlin"})
    assert campus("get_user_profile")["short_name"] == "Stu"
    campus.refuses(Forbidden, lambda: canvas.get_user(PEOPLE["outsider"]))


def test_accounts_and_their_reports(campus: Campus) -> None:
    account = campus.as_("admin").get_accounts()[0]
    assert names(account.get_subaccounts()) == ["Sciences"]
    user = account.create_user(
        pseudonym={"unique_id": "new@uni.edu", "password": "long enough"}, user={"name": "New One"}
    )
    assert user.sortable_name == "One, New"
    assert names(account.get_users(search_term="new@uni")) == ["New One"]
    taken = {"unique_id": "new@uni.edu"}
    assert "unique_id" in campus.refuses(BadRequest, lambda: account.create_user(pseudonym=taken))
    report = account.create_report("provisioning_csv", parameters={"users": True})
    assert account.get_report("provisioning_csv", report.id).status == "complete"
    assert account.get_index_of_reports("provisioning_csv")[0].id == report.id
    for kind, parameters in (
        ("unpublished_courses_csv", {"users": True}),
        ("provisioning_csv", {"users": 0.5}),
    ):
        campus.refuses(BadRequest, lambda k=kind, p=parameters: account.create_report(k, parameters=p))
    assert {r.report for r in account.get_reports()} >= {"grade_export_csv"}
    outsider = campus.as_("outsider")
    campus.refuses(Forbidden, lambda: list(outsider.get_account(1).get_courses()))


# -- work -------------------------------------------------------------------------------------------------


def test_assignments_are_made_handed_in_and_graded(campus: Campus) -> None:
    course = campus.as_("teacher").get_course(BIOLOGY)
    due = datetime.fromisoformat("2025-01-31T12:00:00+00:00")
    assignment = course.create_assignment(
        {
            "name": "Field trip",
            "points_possible": 20,
            "due_at": due,
            "submission_types": ["online_text_entry", "online_url"],
            "allowed_attempts": 2,
            "published": True,
        }
    )
    assert (assignment.due_at, assignment.submission_types) == (
        "2025-01-31T12:00:00Z",
        ["online_text_entry", "online_url"],
    )
    assert campus("get_assignment", course_id=1, assignment_id=assignment.id)["points_possible"] == 20
    assert assignment.edit(assignment={"name": "Field trips", "due_at": ""}).due_at is None

    mine = campus.as_("student").get_course(BIOLOGY).get_assignment(assignment.id, include=["submission"])
    assert mine.submission["workflow_state"] == "unsubmitted"
    mine.submit({"submission_type": "online_text_entry", "body": "<p>It rained.</p>"})
    again = mine.submit({"submission_type": "online_url", "url": "https://example.org/trip"})
    assert (again.attempt, again.url) == (2, "https://example.org/trip")
    mine.get_submission("self").edit(comment={"text_comment": "Sorry for the mud."})
    assert "exceeded" in campus.refuses(
        Forbidden, lambda: mine.submit({"submission_type": "online_text_entry", "body": "Again"})
    )

    theirs = campus.as_("teacher").get_course(BIOLOGY).get_assignment(assignment.id)
    states = {s.user_id: s.workflow_state for s in theirs.get_submissions()}
    assert states == {PEOPLE["student"]: "submitted", PEOPLE["classmate"]: "unsubmitted"}
    assert [t.assignment["id"] for t in course.get_todo_items()] == [assignment.id]
    submission = theirs.get_submission(PEOPLE["student"], include=["submission_history", "user"])
    assert [attempt["attempt"] for attempt in submission.submission_history] == [1, 2]
    graded = submission.edit(submission={"posted_grade": "90%"}, comment={"text_comment": "Good boots."})
    assert (graded.score, graded.grader_id) == (18, PEOPLE["teacher"])
    seen = campus("get_submission", course_id=1, assignment_id=assignment.id, user_id=PEOPLE["student"])
    assert [c["comment"] for c in seen["submission_comments"]] == ["Sorry for the mud.", "Good boots."]
    feed = list(course.get_uncollated_submissions())
    assert (feed[0].new_grade, feed[0].user_name) == ("18", "Student Person")
    assert theirs.delete().id == assignment.id
    campus.refuses(ResourceDoesNotExist, lambda: course.get_assignment(assignment.id))


def test_grades_given_with_the_tools_are_read_with_the_sdk(campus: Campus) -> None:
    campus.as_("teacher")
    campus(
        "submit_grade", course_id=1, assignment_id=1, user_id=PEOPLE["student"], grade="A-", comment="Nice"
    )
    course = campus.canvas.get_course(BIOLOGY)
    several = course.get_multiple_submissions(
        student_ids=["all"], assignment_ids=[1, 2], include=["submission_comments"]
    )
    found = {(s.user_id, s.assignment_id): s for s in several}
    assert len(found) == 4
    assert found[PEOPLE["student"], 1].submission_comments[0]["comment"] == "Nice"
    grouped = course.get_multiple_submissions(student_ids="all", grouped=True)
    assert {group.user_id for group in grouped} == {PEOPLE["student"], PEOPLE["classmate"]}
    student = campus.as_("student")
    assert names(student.get_current_user().get_missing_submissions()) == ["Late work"]
    course = student.get_course(BIOLOGY)
    campus.refuses(Forbidden, lambda: list(course.get_multiple_submissions(student_ids=["all"])))
    campus.refuses(Forbidden, lambda: course.get_assignment(1).get_submission(PEOPLE["classmate"]))


def test_work_is_uploaded_and_handed_in(campus: Campus, tmp_path: Path) -> None:
    essay = tmp_path / "essay ü.pdf"
    essay.write_bytes(b"%PDF-1.7\r\n\x00\xff" * 40)
    assignment = campus.as_("student").get_course(BIOLOGY).get_assignment(5)
    done, file = assignment.upload_to_submission(str(essay))
    assert done
    assert (file["size"], file["content-type"]) == (480, "application/pdf")
    assignment.submit({"submission_type": "online_upload", "file_ids": [file["id"]]})
    submission = campus("get_submission", course_id=1, assignment_id=5)
    assert [a["display_name"] for a in submission["attachments"]] == ["essay ü.pdf"]


def test_students_are_excused_from_work(campus: Campus) -> None:
    course = campus.as_("teacher").get_course(BIOLOGY)
    student, classmate = PEOPLE["student"], PEOPLE["classmate"]
    course.get_assignment(1).get_submission(student).edit(submission={"posted_grade": 25})
    [before] = [e.grades for e in course.get_enrollments(user_id=student)]
    late = course.get_assignment(2)

    work = late.get_submission(student)
    assert (work.excused, work.missing) == (False, True)
    done = work.edit(submission={"excuse": True, "posted_grade": 3}, comment={"text_comment": "Ill."})
    assert (done.excused, done.missing, done.score, done.grade) == (True, False, None, None)
    assert (done.workflow_state, done.grader_id) == ("graded", PEOPLE["teacher"])
    assert done.submission_comments[0]["comment"] == "Ill."
    assert {s.user_id: s.excused for s in late.get_submissions()} == {student: True, classmate: False}
    seen = campus("get_submission", course_id=1, assignment_id=2, user_id=student)
    assert (seen["workflow_state"], seen["grade"], seen["missing"]) == ("graded", None, False)
    [after] = [e.grades for e in course.get_enrollments(user_id=student)]
    total = round(2500 / before["final_score"])
    assert after["current_score"] == before["current_score"] == 50
    assert after["final_score"] == round(2500 / (total - 10), 2)

    mine = campus.as_("student").get_course(BIOLOGY).get_assignment(2)
    assert names(campus.canvas.get_current_user().get_missing_submissions()) == []
    mine.submit({"submission_type": "online_text_entry", "body": "All the same."})
    assert mine.get_submission("self").excused is True
    campus.refuses(Forbidden, lambda: mine.get_submission("self").edit(submission={"excuse": False}))
    work = campus.as_("teacher").get_course(BIOLOGY).get_assignment(2).get_submission(student)
    assert work.edit(submission={"excuse": False}).workflow_state == "submitted"
    assert work.edit(submission={"excuse": True}).excused is True
    graded = work.edit(submission={"posted_grade": 7})
    assert (graded.excused, graded.score) == (False, 7)
    assert work.edit(submission={"excuse": False}).score == 7


def test_what_is_not_kept_of_a_grade_is_refused(campus: Campus) -> None:
    work = campus.as_("teacher").get_course(BIOLOGY).get_assignment(2).get_submission(PEOPLE["student"])
    assert work.edit(submission={"late_policy_status": "none"}).late_policy_status is None
    for fields in (
        {"submission": {"late_policy_status": "extended", "posted_grade": 5}},
        {"submission": {"seconds_late_override": 60}},
        {"rubric_assessment": {"_1_1": {"points": 3}}},
    ):
        campus.refuses(BadRequest, lambda fields=fields: work.edit(**fields))  # type: ignore[misc]


def test_a_submission_has_a_number_of_its_own_before_there_is_one(crowd: Campus) -> None:
    assignments = crowd.canvas.get_course(5).get_assignments()
    ids = [s.id for n in (0, 1) for s in assignments[n].get_submissions(per_page=100)]
    assert len(set(ids)) == 2 * CROWD
    first = next(iter(assignments[0].get_submissions()))
    assert assignments[0].get_submission(first.user_id).id == first.id > 10**15
    assert (
        crowd("get_submission", course_id=5, assignment_id=first.assignment_id, user_id=first.user_id)["id"]
        is None
    )


def test_what_a_client_follows_with_its_token_stays_in_the_episode(campus: Campus, tmp_path: Path) -> None:
    course = campus.as_("teacher").get_course(BIOLOGY)
    here = f"{campus.hosted.api('canvas')}/api/v1/"
    file, folder, module = course.get_files()[0], course.get_folders()[0], course.get_modules()[0]
    campus.refuses(ResourceDoesNotExist, lambda: file.download(str(tmp_path / "x")))
    campus.refuses(ResourceDoesNotExist, file.get_contents)
    event = campus.canvas.create_calendar_event(
        {"context_code": "course_1", "title": "Trip", "start_at": "2025-01-20T08:00:00Z"}
    )
    item = module.get_module_items()[1]
    followed = {file.url: 404, folder.files_url: 200, module.items_url: 200, item.url: 200, event.url: 200}
    assert [url for url in followed if not url.startswith(here)] == []
    assert {url: campus.raw("GET", url.removeprefix(here)).status_code for url in followed} == followed
    assert campus.raw("GET", file.url.removeprefix(here)).json()["errors"][0]["message"]

    (tmp_path / "a.pdf").write_bytes(b"%PDF")
    assignment = campus.as_("student").get_course(BIOLOGY).get_assignment(5)
    _, sent = assignment.upload_to_submission(str(tmp_path / "a.pdf"))
    assignment.submit({"submission_type": "online_upload", "file_ids": [sent["id"]]})
    [attachment] = assignment.get_submission("self").attachments
    assert attachment.url.startswith(here)
    campus.refuses(ResourceDoesNotExist, attachment.get_contents)


def test_groups_and_what_is_planned_beside_work_are_lists_that_are_empty(campus: Campus) -> None:
    canvas = campus.as_("student")
    course = canvas.get_course(BIOLOGY)
    assert [
        *course.get_groups(),
        *course.get_group_categories(),
        *canvas.get_current_user().get_groups(),
    ] == []
    assert [*canvas.get_planner_notes(), *canvas.get_planner_overrides()] == []
    with pytest.raises(ResourceDoesNotExist):
        canvas.create_planner_note(title="read")


def test_groups_rubrics_and_settings_are_read(campus: Campus) -> None:
    course = campus.as_("teacher").get_course(BIOLOGY)
    group = course.get_assignment_groups(include=["assignments"])[0]
    assert [a["id"] for a in group.assignments] == [a.id for a in course.get_assignments()]
    assert course.get_assignment(1).assignment_group_id == group.id
    made = course.create_rubric(
        rubric={
            "title": "Clarity",
            "criteria": {
                "0": {"description": "Words", "ratings": {"0": {"description": "Full", "points": 5}}}
            },
        }
    )
    rubric = course.get_rubric(made["rubric"].id)
    assert (rubric.points_possible, rubric.data[0]["ratings"][0]["points"]) == (5, 5)
    assert [r["title"] for r in campus("list_rubrics", course_id=1)] == ["Writing", "Clarity"]
    rubric.delete()
    assert [r["title"] for r in campus("list_rubrics", course_id=1)] == ["Writing"]
    assert course.get_settings()["allow_student_discussion_topics"] is True


def test_quizzes_are_made_and_taken(campus: Campus) -> None:
    course = campus.as_("teacher").get_course(BIOLOGY)
    quiz = course.create_quiz({"title": "Leaves", "time_limit": 20, "quiz_type": "assignment"})
    question = quiz.create_question(
        question={
            "question_text": "Green?",
            "question_type": "true_false_question",
            "points_possible": 4,
            "answers": [
                {"answer_text": "True", "answer_weight": 100},
                {"answer_text": "False", "answer_weight": 0},
            ],
        }
    )
    assert [(a["text"], a["weight"]) for a in question.answers] == [("True", 100), ("False", 0)]
    question.edit(question={"points_possible": 6})
    assert quiz.edit(quiz={"published": True}).points_possible == 6
    assert campus("get_quiz", course_id=1, quiz_id=quiz.id)["question_count"] == 1
    assert quiz.id in [a.quiz_id for a in course.get_assignments(search_term="Leaves")]

    taken = campus.as_("student").get_course(BIOLOGY).get_quiz(quiz.id)
    campus.refuses(Forbidden, lambda: list(taken.get_questions()))
    attempt = taken.create_submission()
    assert (attempt.workflow_state, attempt.get_times()["time_left"] > 1100) == ("untaken", True)
    assert "weight" not in taken.get_questions()[0].answers[0]
    campus.refuses(Conflict, taken.create_submission)

    quiz = campus.as_("teacher").get_course(BIOLOGY).get_quiz(quiz.id)
    assert [s.user_id for s in quiz.get_submissions()] == [PEOPLE["student"]]
    assert quiz.get_quiz_submission(attempt.id).attempt == 1
    assert "published" in campus.refuses(BadRequest, lambda: quiz.edit(quiz={"published": False}))
    assert question.delete() is True
    quiz.delete()
    assert "Leaves" not in names(course.get_quizzes(), "title")


# -- talk -------------------------------------------------------------------------------------------------


def test_announcements_are_made_and_read(campus: Campus) -> None:
    course = campus.as_("teacher").get_course(BIOLOGY)
    made = course.create_discussion_topic(title="Rain", message="<p>Bring boots.</p>", is_announcement=True)
    assert "Rain" in [a["title"] for a in campus("list_announcements", course_id=1)]
    later = course.create_discussion_topic(
        title="Later", message="x", is_announcement=True, delayed_post_at="2025-01-20T08:00:00Z"
    )
    canvas = campus.as_("student")
    assert names(canvas.get_announcements(context_codes=["course_1"]), "title") == [
        "Rain",
        "Final exam",
        "Welcome",
    ]
    listed = canvas.get_course(BIOLOGY).get_discussion_topics(only_announcements=True, search_term="exam")
    assert names(listed, "title") == ["Final exam"]
    campus.refuses(ResourceDoesNotExist, lambda: canvas.get_course(1).get_discussion_topic(later.id))
    campus.refuses(
        Forbidden, lambda: canvas.get_course(1).create_discussion_topic(title="No", is_announcement=True)
    )
    campus.as_("teacher")
    assert later.update(delayed_post_at=" ").delayed_post_at is None, "without a delay it is posted"
    assert made.update(title="Heavy rain").title == "Heavy rain"
    assert made.delete() is True
    assert "Heavy rain" not in [a["title"] for a in campus("list_announcements", course_id=1)]


def test_discussions_with_replies(campus: Campus) -> None:
    course = campus.as_("student").get_course(BIOLOGY)
    topic = course.create_discussion_topic(title="Moss", message="Why?")
    entry = topic.post_entry(message="Because.")
    reply = entry.post_reply(message="Of what?")
    assert (reply.parent_id, names(entry.get_replies(), "message")) == (entry.id, ["Of what?"])
    seen = campus("get_discussion_topic", course_id=1, topic_id=topic.id)
    assert [e["message"] for e in seen["entries"]] == ["Because.", "Of what?"]
    assert (topic.mark_as_read(), topic.mark_entries_as_read(), entry.mark_as_read()) == (True, True, True)
    campus("post_to_discussion", course_id=1, topic_id=topic.id, message="A tool says hello")
    assert names(topic.get_topic_entries(), "message") == ["A tool says hello", "Because."]
    assert names(topic.get_entries([reply.id]), "message") == ["Of what?"]
    tree = course.get_full_discussion_topic(topic.id)
    assert tree["view"][0]["replies"][0]["message"] == "Of what?"
    entry.update(message="Because of rain.")
    assert entry.delete() is True
    assert names(topic.get_topic_entries(), "message") == ["A tool says hello"]
    first = course.get_discussion_topic(5)
    campus.refuses(Forbidden, lambda: list(first.get_topic_entries()))
    first.post_entry(message="Me first")
    assert len(list(first.get_topic_entries())) == 2
    campus.refuses(Forbidden, lambda: course.get_discussion_topic(6).post_entry(message="Shut?"))


def test_conversations(campus: Campus) -> None:
    teacher = campus.as_("teacher")
    [private] = teacher.create_conversation([str(PEOPLE["classmate"])], "Come and see me.", subject="Marks")
    [group] = teacher.create_conversation(
        ["course_1_students"], "Bring boots.", subject="Trip", group_conversation=True
    )
    assert private.private
    assert len(group.participants) == 3
    student = campus.as_("student")
    assert student.conversations_unread_count() == {"unread_count": "2"}
    assert names(student.get_conversations(scope="unread"), "subject") == ["Trip", "Hello"]
    read = student.get_conversation(group.id)
    assert [m["body"] for m in read.messages] == ["Bring boots."]
    read.add_message("I have none.")
    campus("create_conversation", recipients=[str(PEOPLE["teacher"])], body="Yes.", subject="Hello")
    assert [c["subject"] for c in campus("list_conversations")] == ["Hello", "Trip"]
    assert read.edit(conversation={"workflow_state": "archived", "starred": True}) is not None
    assert names(student.get_conversations(scope="archived"), "subject") == ["Trip"]
    assert student.search_recipients(search="Class")[0]["id"] == PEOPLE["classmate"]
    teacher = campus.as_("teacher")
    assert teacher.get_conversation(group.id).message_count == 2
    assert teacher.conversations_mark_all_as_read() is True
    assert teacher.conversations_unread_count() == {"unread_count": "0"}
    teacher.conversations_batch_update([private.id], "destroy")
    campus.refuses(ResourceDoesNotExist, lambda: teacher.get_conversation(private.id))


def test_events_and_what_is_to_be_done(campus: Campus) -> None:
    canvas = campus.as_("teacher")
    event = canvas.create_calendar_event(
        {"context_code": "course_1", "title": "Walk", "start_at": "2025-01-18T10:00:00Z"}
    )
    assert "Walk" in [e["title"] for e in campus("list_calendar_events")]
    assert event.edit(calendar_event={"location_name": "Park"}).location_name == "Park"
    within: dict[str, Any] = {"start_date": "2025-01-15", "end_date": "2025-01-31"}
    assert names(canvas.get_calendar_events(context_codes=["course_1"], **within), "title") == ["Lab", "Walk"]
    due = canvas.get_calendar_events(type="assignment", context_codes=["course_1"], **within)
    assert names(due, "title") == ["Quiz", "Essay"]
    event.delete()
    student = campus.as_("student")
    assert [e["title"] for e in student.get_upcoming_events()] == ["Lab", "Quiz", "Essay"]
    assert [t.assignment["name"] for t in student.get_todo_items()] == ["Quiz", "Essay"]
    assert {"type": "Conversation", "unread_count": 0, "count": 1} in student.get_activity_stream_summary()
    wanted = {"context_code": "course_1", "title": "No", "start_at": "2025-01-18"}
    campus.refuses(Forbidden, lambda: student.create_calendar_event(wanted))


# -- material ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["params", "data", "json"])
def test_an_object_that_is_given_as_a_text_is_refused(campus: Campus, how: str) -> None:
    # A text of JSON would bring in fields that no client may set.
    campus.as_("teacher")
    before = campus.hosted.tables("canvas")
    answer = campus.raw("PUT", "courses/1/modules/2", **{how: {"module": '{"id": 1, "course_id": 2}'}})
    assert answer.status_code == 400
    assert "An object was expected" in answer.text
    assert campus.hosted.tables("canvas") == before


def test_modules_and_items(campus: Campus) -> None:
    course = campus.as_("teacher").get_course(BIOLOGY)
    module = course.create_module({"name": "Week 0", "position": 1})
    item = module.create_module_item({"type": "Page", "page_url": "course-overview", "title": "Start"})
    module.create_module_item({"type": "ExternalUrl", "external_url": "https://example.org", "title": "Web"})
    header = module.create_module_item({"type": "SubHeader", "title": "To read", "position": 1})
    assert (header.position, header.published, hasattr(header, "completion_requirement")) == (1, False, False)
    assert campus("list_module_items", course_id=1, module_id=module.id)[0]["title"] == "To read"
    header.delete()
    assert names(course.get_modules(), "name") == ["Week 0", "Week 1", "Week 2", "Hidden week"]
    item.edit(module_item={"title": "Begin", "position": 2})
    listed = campus("list_module_items", course_id=1, module_id=module.id)
    assert [(i["title"], i["position"]) for i in listed] == [("Web", 1), ("Begin", 2)]
    module.edit(module={"published": True, "position": 9})
    assert names(course.get_modules(include=["items"]), "name")[-1] == "Week 0"
    module.get_module_items()[0].delete()
    assert [i["position"] for i in campus("list_module_items", course_id=1, module_id=module.id)] == [1]
    assert module.delete().name == "Week 0"
    mine = campus.as_("student").get_course(BIOLOGY).get_module(1)
    first = mine.get_module_items()[0]
    assert first.complete().completed is True
    assert campus("get_module", course_id=1, module_id=1)["state"] == "started"
    assert first.uncomplete().completed is False
    campus.refuses(Forbidden, lambda: mine.get_module_items()[1].complete())


def test_pages_and_the_front_page(campus: Campus) -> None:
    course = campus.as_("teacher").get_course(BIOLOGY)
    page = course.create_page({"title": "Field Guide", "body": "<p>Ferns</p>", "published": True})
    assert campus("get_page", course_id=1, page_url="field-guide")["body"] == "<p>Ferns</p>"
    campus.refuses(ResourceDoesNotExist, course.show_front_page)
    page.edit(wiki_page={"front_page": True, "body": "<p>Moss</p>"})
    assert course.show_front_page().body == "<p>Moss</p>"
    assert course.edit_front_page(wiki_page={"title": "Guide"}).url == "guide"
    campus.refuses(BadRequest, lambda: course.get_page("guide").delete())
    course.get_page("course-overview").delete()
    assert names(course.get_pages(sort="created_at"), "title") == ["Hidden notes", "Guide"]
    assert names(course.get_module(1).get_module_items(), "title") == ["Write"]


def test_files_and_folders(campus: Campus, tmp_path: Path) -> None:
    course = campus.as_("teacher").get_course(BIOLOGY)
    folder = course.create_folder("maps", parent_folder_id=course.get_folder(1).id)
    draft = campus.canvas.get_course(DRAFT)
    campus.refuses(ResourceDoesNotExist, lambda: draft.create_folder("maps", parent_folder_id=folder.id))
    notes = tmp_path / "notes.txt"
    notes.write_text("north")
    _, uploaded = folder.upload(str(notes))
    assert (uploaded["size"], uploaded["folder_id"]) == (5, folder.id)
    assert names(folder.get_files(), "display_name") == ["notes.txt"]
    assert names(course.get_files(search_term="week"), "display_name") == ["week 1.pdf"]
    file = campus.canvas.get_file(uploaded["id"])
    assert file.update(name="south.txt").display_name == "south.txt"
    assert "south.txt" in [f["display_name"] for f in campus("list_files", course_id=1)]
    assert names(course.resolve_path("maps"), "name") == ["course files", "maps"]
    campus.refuses(Conflict, folder.delete)
    file.delete()
    folder.delete()
    assert "maps" not in [f["name"] for f in campus("list_folders", course_id=1)]
    student = campus.as_("student").get_course(BIOLOGY)
    assert "exam.pdf" not in names(student.get_files(), "display_name")
    campus.refuses(Forbidden, lambda: student.create_folder("mine"))


# -- errors -----------------------------------------------------------------------------------------------


def test_errors_are_the_vendors(campus: Campus) -> None:
    canvas = campus.canvas
    campus.refuses(ResourceDoesNotExist, lambda: canvas.get_course(4711))
    campus.refuses(ResourceDoesNotExist, lambda: canvas.get_course("nothing", use_sis_id=True))
    campus.refuses(Forbidden, lambda: canvas.get_course(BIOLOGY).create_assignment({"name": "Mine"}))
    campus.refuses(Forbidden, lambda: canvas.get_course(DRAFT))
    campus.as_("teacher")
    course = canvas.get_course(BIOLOGY)
    blank = campus.refuses(BadRequest, lambda: course.create_assignment({"name": " "}))
    assert '{"errors":{"name":[{"attribute":"name","type":"blank"' in blank
    campus.refuses(BadRequest, lambda: course.create_assignment({"name": "x", "points_possible": "many"}))
    campus.refuses(BadRequest, lambda: course.create_assignment({"name": "x", "due_at": "soon"}))
    assert campus.raw("GET", "courses/4711").json() == {
        "errors": [{"message": "The specified resource does not exist."}]
    }
    assert campus.raw("GET", "courses/1/assignments/x").status_code == 404
    assert campus.raw("PATCH", "courses/1").status_code == 404
    broken = campus.raw(
        "POST", "courses/1/assignments", data="{", headers={"Content-Type": "application/json"}
    )
    assert (broken.status_code, "errors" in broken.json()) == (400, True)


def test_a_wrong_token_opens_nothing_and_reaches_no_journal(campus: Campus) -> None:
    stranger = Canvas(campus.hosted.api("canvas"), "0" * 32)
    message = campus.refuses(InvalidAccessToken, lambda: stranger.get_course(BIOLOGY))
    assert "Invalid access token" in message
    assert campus.hosted.journal() == []
    response = campus.raw("GET", "courses", headers={"Authorization": "Bearer x"})
    assert response.headers["WWW-Authenticate"] == 'Bearer realm="canvas-lms"'


def test_nobody_signed_in_is_unauthenticated(campus: Campus) -> None:
    campus("logout")
    campus.refuses(InvalidAccessToken, lambda: campus.canvas.get_current_user())


def test_bodies_may_be_json_with_null_for_no_date(campus: Campus) -> None:
    campus.as_("teacher")
    body = {"assignment": {"name": "Essay 2", "due_at": None, "points_possible": 5.5}}
    response = campus.raw("PUT", "courses/1/assignments/1", json=body)
    assert response.status_code == 200
    assert (response.json()["name"], response.json()["due_at"]) == ("Essay 2", None)
    assert response.headers["Content-Type"].startswith("application/json")
    body["assignment"] |= {"name": "Essay 3", "unheard_of": 1}
    response = campus.raw("PUT", "courses/1/assignments/1", json=body)
    assert response.status_code == 400
    assert "assignment[unheard_of]" in response.json()["errors"][0]["message"]
    assert campus.raw("GET", "courses/1/assignments/1").json()["name"] == "Essay 2"


# -- the episode ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ('name="filename"; filename="b.txt"', 400),  # a file where a name is asked for
        ('name="filename[]"', 400),
        ('name="course_id[a]"', 400),
        ('name="folder_id"; filename="b.txt"', 400),
        ('name="file[a]"; filename="b.txt"', 400),
        ('name="course_id"', 201),
    ],
)
def test_whatever_an_upload_says_is_no_fault_of_ours(campus: Campus, given: str, status: int) -> None:
    parts = ['name="filename"', 'name="file"; filename="a.xyz"']
    body = "".join(f"--x\r\nContent-Disposition: form-data; {one}\r\n\r\nabc\r\n" for one in (*parts, given))
    sent = campus.raw(
        "POST",
        "uploads",
        data=f"{body}--x--\r\n".encode(),
        headers={"Content-Type": "multipart/form-data; boundary=x"},
    )
    assert sent.status_code == status, sent.text
    assert {entry.status for entry in campus.hosted.journal()} <= {"ok", "refused"}


def test_requests_are_journalled_and_replay_to_the_same(campus: Campus, tmp_path: Path) -> None:
    course = campus.as_("teacher").get_course(BIOLOGY)
    course.create_assignment({"name": "Kept"})
    campus.refuses(BadRequest, lambda: course.create_assignment({"name": ""}))
    campus.canvas.create_conversation([str(PEOPLE["student"])], "Ü", subject="Grüße")
    (tmp_path / "a.bin").write_bytes(bytes(range(256)))
    course.upload(str(tmp_path / "a.bin"))
    calls = [(entry.tool, entry.status) for entry in campus.hosted.journal()]
    assert calls == [
        ("canvas_login", "ok"),
        ("GET /api/v1/courses/{course_id}", "ok"),
        ("POST /api/v1/courses/{course_id}/assignments", "ok"),
        ("POST /api/v1/courses/{course_id}/assignments", "refused"),
        ("POST /api/v1/conversations", "ok"),
        ("POST /api/v1/courses/{course_id}/files", "ok"),
        ("POST /api/v1/uploads", "ok"),
    ]
    assert campus.hosted.replay().differences == []


def test_every_tool_has_a_route() -> None:
    tools, routes = set(load_service("canvas").tools), set(load_operations("canvas"))
    assert tools == set(ROUTES) | set(WITHOUT_ROUTE)
    missing = {tool: route for tool, route in ROUTES.items() if _route(route) not in routes}
    assert missing == {}


WITHOUT_ROUTE = {
    "canvas_health_check": "says that the server runs; not part of Canvas",
    "canvas_login": "a client of the API is who is signed in: its token is the episode's",
    "canvas_logout": "as above",
}
C = "courses/{course_id}"
M, Q, T = f"{C}/modules/{{module_id:int}}", f"{C}/quizzes/{{quiz_id:int}}", f"{C}/discussion_topics"
A = f"{C}/assignments/{{assignment_id:int}}"
ROUTES = {
    "canvas_add_quiz_question": f"POST {Q}/questions",
    "canvas_create_account_report": "POST accounts/{account_id}/reports/{report}",
    "canvas_create_assignment": f"POST {C}/assignments",
    "canvas_create_conversation": "POST conversations",
    "canvas_create_course": "POST accounts/{account_id}/courses",
    "canvas_create_module": f"POST {C}/modules",
    "canvas_create_module_item": f"POST {M}/items",
    "canvas_create_quiz": f"POST {C}/quizzes",
    "canvas_create_rubric": f"POST {C}/rubrics",
    "canvas_create_user": "POST accounts/{account_id}/users",
    "canvas_delete_quiz": f"DELETE {Q}",
    "canvas_delete_quiz_question": f"DELETE {Q}/questions/{{question_id:int}}",
    "canvas_enroll_user": f"POST {C}/enrollments",
    "canvas_get_account": "GET accounts/{account_id}",
    "canvas_get_account_reports": "GET accounts/{account_id}/reports",
    "canvas_get_assignment": f"GET {A}",
    "canvas_get_conversation": "GET conversations/{conversation_id:int}",
    "canvas_get_course": f"GET {C}",
    "canvas_get_course_grades": f"GET {C}/enrollments",
    "canvas_get_current_user": "GET users/{user_id}",
    "canvas_get_dashboard": "GET users/self/upcoming_events",
    "canvas_get_dashboard_cards": "GET dashboard/dashboard_cards",
    "canvas_get_discussion_topic": f"GET {T}/{{topic_id:int}}/view",
    "canvas_get_file": "GET files/{file_id:int}",
    "canvas_get_module": f"GET {M}",
    "canvas_get_module_item": f"GET {M}/items/{{item_id:int}}",
    "canvas_get_page": f"GET {C}/pages/{{url}}",
    "canvas_get_quiz": f"GET {Q}",
    "canvas_get_quiz_questions": f"GET {Q}/questions",
    "canvas_get_rubric": f"GET {C}/rubrics/{{rubric_id:int}}",
    "canvas_get_submission": f"GET {A}/submissions/{{user_id}}",
    "canvas_get_syllabus": f"GET {C}",
    "canvas_get_upcoming_assignments": "GET users/self/upcoming_events",
    "canvas_get_user_grades": "GET users/{user_id}/enrollments",
    "canvas_get_user_profile": "GET users/{user_id}/profile",
    "canvas_list_account_courses": "GET accounts/{account_id}/courses",
    "canvas_list_account_users": "GET accounts/{account_id}/users",
    "canvas_list_announcements": "GET announcements",
    "canvas_list_assignments": f"GET {C}/assignments",
    "canvas_list_calendar_events": "GET calendar_events",
    "canvas_list_conversations": "GET conversations",
    "canvas_list_courses": "GET courses",
    "canvas_list_discussion_topics": f"GET {T}",
    "canvas_list_files": f"GET {C}/files",
    "canvas_list_folders": f"GET {C}/folders",
    "canvas_list_module_items": f"GET {M}/items",
    "canvas_list_modules": f"GET {C}/modules",
    "canvas_list_notifications": "GET users/self/activity_stream",
    "canvas_list_pages": f"GET {C}/pages",
    "canvas_list_quizzes": f"GET {C}/quizzes",
    "canvas_list_rubrics": f"GET {C}/rubrics",
    "canvas_list_sub_accounts": "GET accounts/{account_id}/sub_accounts",
    "canvas_list_users": f"GET {C}/users",
    "canvas_mark_module_item_complete": f"PUT {M}/items/{{item_id:int}}/done",
    "canvas_post_to_discussion": f"POST {T}/{{topic_id:int}}/entries",
    "canvas_publish_quiz": f"PUT {Q}",
    "canvas_start_quiz_attempt": f"POST {Q}/submissions",
    "canvas_submit_assignment": f"POST {A}/submissions",
    "canvas_submit_grade": f"PUT {A}/submissions/{{user_id}}",
    "canvas_update_assignment": f"PUT {A}",
    "canvas_update_course": f"PUT {C}",
    "canvas_update_quiz": f"PUT {Q}",
    "canvas_update_quiz_question": f"PUT {Q}/questions/{{question_id:int}}",
    "canvas_update_user_profile": "PUT users/{user_id}",
}


def _route(route: str) -> str:
    method, _, path = route.partition(" ")
    return f"{method} /api/v1/{path}"
