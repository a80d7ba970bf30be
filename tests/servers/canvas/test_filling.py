"""Filling worlds in bulk obeys the rules of the tools."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from sqlalchemy.exc import IntegrityError

from mesocosm.errors import Invalid
from mesocosm.servers.canvas.store import CanvasStore


@pytest.fixture
def store(campus):
    with campus.world.editing():
        yield campus.world.store(CanvasStore)
        campus.world.store(CanvasStore).session.rollback()


def test_times_are_kept_in_utc(store):
    start = datetime(2025, 2, 1, 8, tzinfo=timezone(timedelta(hours=8)))

    [key] = store.courses.add_courses(
        [{"name": "N", "course_code": "N-1", "start_at": start, "end_at": "2025-03-01"}]
    )

    course = store.access(key).course
    assert (course["start_at"], course["end_at"]) == ("2025-02-01T00:00:00Z", "2025-03-01T00:00:00Z")
    assert datetime.fromisoformat(course["start_at"]) == start.astimezone(UTC)


def test_only_staff_announces(store):
    row = {"course_id": 1, "user_id": 4, "title": "T", "message": "M", "posted_at": "2025-01-01T00:00:00Z"}

    with pytest.raises(Invalid, match="may not announce"):
        store.discussions.add_announcements([row])


def test_only_students_hand_in(store):
    with pytest.raises(Invalid, match="does not study"):
        store.submissions.add_submissions([{"assignment_id": 1, "user_id": 2}])


def test_what_is_referred_to_must_exist(store):
    with pytest.raises(IntegrityError):
        store.courses.add_enrollments([{"course_id": 99, "user_id": 4}])


def test_module_items_point_into_their_own_course(store):
    with pytest.raises(Invalid, match="no Quiz"):
        store.modules.add_module_items([{"module_id": 1, "title": "T", "type": "Quiz", "content_id": 99}])


def test_a_filled_submission_is_graded_like_a_posted_one(store):
    row = {
        "assignment_id": 1,
        "user_id": 4,
        "submitted_at": "2025-01-14T00:00:00Z",
        "body": "B",
        "grade": "B+",
    }

    store.submissions.add_submissions([row])

    submission = store.submissions.submission(store.reading(1), 1, None)
    assert (submission["score"], submission["grade"], submission["workflow_state"]) == (
        44.5,
        "44.5",
        "graded",
    )


def test_pages_of_the_same_title_get_their_own_addresses(store):
    ids = store.pages.add_pages([{"course_id": 1, "title": "Course overview!", "body": "B"}] * 2)

    assert len(ids) == 2
    assert store.pages.page(store.reading(1), "course-overview-3")["id"] == ids[1]


def test_nothing_to_add_adds_nothing(store):
    assert (
        store.users.add_users([])
        == store.quizzes.add_quizzes([])
        == store.conversations.add_conversations([])
        == []
    )
