"""The dashboard, the calendar, what is due and what is new."""

from __future__ import annotations


def test_upcoming_work_is_of_my_courses_and_sorted_by_due_date(campus):
    upcoming = campus("get_upcoming_assignments")

    assert [(row["assignment"]["name"], row["course"]["course_code"]) for row in upcoming] == [
        ("Quiz", "BIO-1"),
        ("Essay", "BIO-1"),
    ]
    assert len(campus("get_upcoming_assignments", limit=1)) == 1
    assert campus.as_("outsider")("get_upcoming_assignments") == []


def test_the_dashboard_shows_me_my_courses_and_what_is_due(campus):
    dashboard = campus("get_dashboard")

    assert dashboard["user"]["id"] == 4
    assert (len(dashboard["courses"]), dashboard["course_count"]) == (2, 2)
    assert dashboard["upcoming_assignments"][0]["assignment"]["name"] == "Quiz"


def test_there_is_a_card_for_each_course(campus):
    cards = campus("get_dashboard_cards")

    assert [(card["courseCode"], card["subtitle"]) for card in cards] == [
        ("BIO-1", "enrolled as: Student"),
        ("CHEM-1", "enrolled as: Student"),
    ]


def test_the_calendar_shows_the_events_that_touch_a_span(campus):
    def titles(**span):
        return [event["title"] for event in campus("list_calendar_events", **span)]

    assert titles() == ["Lab", "Visit"]
    assert titles(start_date="2025-01-17T11:00:00Z", end_date="2025-01-17") == ["Lab"]
    assert titles(start_date="2025-01-17T20:00:00+08:00") == ["Lab", "Visit"]
    assert titles(start_date="2025-01-18") == ["Visit"]


def test_news_are_announcements_discussions_messages_and_grades(campus):
    campus.as_("teacher")("submit_grade", course_id=1, assignment_id=1, user_id=4, grade=40)

    news = campus.as_("student")("list_notifications")

    assert [entry["type"] for entry in news] == [
        "Submission",
        "DiscussionTopic",
        "DiscussionTopic",
        "DiscussionTopic",
        "Conversation",
        "Announcement",
        "Announcement",
    ]
    assert (news[0]["score"], news[4]["conversation_id"], news[5]["title"]) == (40, 1, "Final exam")
    assert len({entry["id"] for entry in news}) == 7
