"""Quizzes, questions and attempts."""

from __future__ import annotations

from mesocosm.servers.canvas.store import CanvasStore

QUIZ = {"course_id": 1, "quiz_id": 1}


def test_students_see_published_quizzes_without_key_or_code(campus):
    quizzes = campus("list_quizzes", course_id=1)

    assert [(q["title"], q["question_count"], q["points_possible"]) for q in quizzes] == [
        ("Quiz", 2, 10),
        ("Coded", 0, 0),
    ]
    assert "weight" not in str(quizzes)
    assert "sesame" not in str(quizzes)
    assert campus.as_("teacher")("get_quiz", course_id=1, quiz_id=3)["access_code"] == "sesame"


def test_a_quiz_can_be_read(campus):
    quiz = campus("get_quiz", **QUIZ)

    assert (quiz["time_limit"], quiz["allowed_attempts"], quiz["scoring_policy"]) == (30, 1, "keep_highest")
    assert campus("get_assignment", course_id=1, assignment_id=quiz["assignment_id"])["quiz_id"] == 1


def test_questions_are_shown_after_the_start_and_without_the_key(campus):
    campus("start_quiz_attempt", **QUIZ)

    [first, _] = campus("get_quiz_questions", **QUIZ)

    assert [answer["answer_text"] for answer in first["answers"]] == ["yes", "no"]
    assert "weight" not in str(first)


def test_teachers_see_the_key(campus):
    [first, _] = campus.as_("teacher")("get_quiz_questions", **QUIZ)

    assert [answer["answer_weight"] for answer in first["answers"]] == [100, 0]


def test_an_attempt_has_a_number_and_an_end(campus):
    attempt = campus("start_quiz_attempt", **QUIZ)

    assert (attempt["attempt"], attempt["workflow_state"], attempt["attempts_left"]) == (1, "untaken", 0)
    assert (attempt["started_at"], attempt["end_at"]) == ("2025-01-15T09:00:01Z", "2025-01-15T09:30:01Z")


def test_a_second_attempt_waits_for_the_end_of_the_first(campus):
    campus("start_quiz_attempt", **QUIZ)

    assert "already exists" in campus.refuses("start_quiz_attempt", **QUIZ)


def test_the_access_code_opens_a_quiz(campus):
    assert campus("start_quiz_attempt", course_id=1, quiz_id=3, access_code="sesame")["attempt"] == 1


def test_finished_attempts_count_and_their_best_score_is_the_grade(campus):
    times = {"started_at": "2025-01-14T09:00:00Z", "finished_at": "2025-01-14T09:10:00Z"}
    with campus.world.editing():
        store = campus.world.store(CanvasStore)
        store.quizzes.add_quiz_submissions(
            [{"quiz_id": 1, "user_id": 4, "score": score, **times} for score in (8, 6)]
        )

    assert campus("get_submission", course_id=1, assignment_id=6)["score"] == 8
    assert "no attempts are left" in campus.refuses("start_quiz_attempt", **QUIZ)


def test_a_quiz_is_created_and_published_with_its_assignment(campus):
    campus.as_("teacher")
    quiz = campus("create_quiz", course_id=1, title="New", time_limit=20)
    campus("add_quiz_question", course_id=1, quiz_id=quiz["id"], question_text="?", points_possible=3)
    published = campus("publish_quiz", course_id=1, quiz_id=quiz["id"])

    assert (quiz["published"], quiz["assignment_id"]) == (False, None)
    assert published["points_possible"] == 3
    assignment = campus("get_assignment", course_id=1, assignment_id=published["assignment_id"])
    assert (assignment["name"], assignment["points_possible"]) == ("New", 3)


def test_the_assignment_follows_its_quiz(campus):
    campus.as_("teacher")
    campus("update_quiz", **QUIZ, title="Test", due_at="2025-03-01T10:00:00Z", allowed_attempts=-1)

    assignment = campus("get_assignment", course_id=1, assignment_id=6)
    assert (assignment["name"], assignment["due_at"]) == ("Test", "2025-03-01T10:00:00Z")


def test_a_quiz_that_was_begun_stays_published(campus):
    campus("start_quiz_attempt", **QUIZ)

    assert "student submissions" in campus.as_("teacher").refuses("update_quiz", **QUIZ, published=False)


def test_changing_and_deleting_questions_changes_the_points_and_never_reuses_ids(campus):
    campus.as_("teacher")
    campus("update_quiz_question", **QUIZ, question_id=1, points_possible=7)
    deleted = campus("delete_quiz_question", **QUIZ, question_id=2)
    new = campus("add_quiz_question", **QUIZ, question_text="And?", answers=[{"answer_text": "so"}])

    assert deleted == "Question 2 deleted successfully"
    assert (new["id"], new["question_type"]) == (5, "multiple_choice_question")
    assert campus("get_quiz", **QUIZ)["points_possible"] == 8
    assert campus("get_assignment", course_id=1, assignment_id=6)["points_possible"] == 8


def test_a_deleted_quiz_takes_its_assignment_along(campus):
    campus.as_("teacher")

    assert campus("delete_quiz", **QUIZ) == "Quiz 1 deleted successfully"
    assert "Quiz" not in [a["name"] for a in campus("list_assignments", course_id=1)]
    assert "does not exist" in campus.refuses("get_quiz", **QUIZ)
