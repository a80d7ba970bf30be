"""Announcements, discussions and conversations."""

from __future__ import annotations


def test_announcements_come_newest_first_and_not_before_their_time(campus):
    announcements = campus("list_announcements", course_id=1)

    assert [a["title"] for a in announcements] == ["Final exam", "Welcome"]
    assert announcements[0]["author"] == {"id": 2, "display_name": "Teacher Person"}
    assert campus.as_("teacher")("list_announcements", course_id=1)[0]["title"] == "Tomorrow"


def test_discussions_are_listed_apart_from_announcements(campus):
    topics = campus("list_discussion_topics", course_id=1)

    assert {topic["title"] for topic in topics} == {"Cells", "First", "Shut"}
    assert not any(topic["is_announcement"] for topic in topics)


def test_a_post_appears_in_the_discussion_and_moves_it_up(campus):
    entry = campus("post_to_discussion", course_id=1, topic_id=4, message="I think so.")

    topic = campus("get_discussion_topic", course_id=1, topic_id=4)
    assert topic["entries"][-1] == entry
    assert (entry["user_id"], topic["discussion_subentry_count"]) == (4, 2)
    assert campus("list_discussion_topics", course_id=1)[0]["id"] == 4


def test_some_discussions_show_the_posts_of_others_only_after_ones_own(campus):
    before = campus("get_discussion_topic", course_id=1, topic_id=5)
    campus("post_to_discussion", course_id=1, topic_id=5, message="Mine.")

    assert before["entries"] is None
    assert len(campus("get_discussion_topic", course_id=1, topic_id=5)["entries"]) == 2


def test_the_posts_of_a_discussion_come_in_pages(campus):
    campus("post_to_discussion", course_id=1, topic_id=4, message="Two")

    topic = campus("get_discussion_topic", course_id=1, topic_id=4, per_page=1)

    assert topic["entries_paging"] == {"page": 1, "per_page": 1, "total": 2, "next_page": 2}


def test_a_conversation_is_listed_and_read(campus):
    [listed] = campus("list_conversations")
    conversation = campus("get_conversation", conversation_id=listed["id"])

    assert (listed["subject"], listed["workflow_state"], listed["last_message"]) == (
        "Hello",
        "unread",
        "See me.",
    )
    assert [message["body"] for message in conversation["messages"]] == ["See me."]
    assert [person["id"] for person in conversation["participants"]] == [2, 4]


def test_a_message_reaches_its_recipients(campus):
    [sent] = campus("create_conversation", recipients=["course_1_teachers"], body="Question", subject="Exam")

    received = campus.as_("teacher")("list_conversations")[0]
    assert (received["id"], received["workflow_state"], received["last_message"]) == (
        sent["id"],
        "unread",
        "Question",
    )


def test_several_recipients_get_a_conversation_each(campus):
    started = campus("create_conversation", recipients=["2", "5", "2"], body="Hi", subject="Hi")

    assert [[p["id"] for p in c["participants"]] for c in started] == [[2, 4], [4, 5]]


def test_a_message_without_subject_continues_the_private_conversation(campus):
    [continued] = campus("create_conversation", recipients=["2"], body="Yes?")

    assert (continued["id"], continued["message_count"]) == (1, 2)
    assert campus("get_conversation", conversation_id=1)["messages"][0]["body"] == "Yes?"


def test_answering_counts_as_having_read(campus):
    campus("create_conversation", recipients=["2"], body="Yes?")

    assert campus("list_conversations")[0]["workflow_state"] == "read"


def test_teachers_write_to_all_students(campus):
    started = campus.as_("teacher")(
        "create_conversation", recipients=["course_1_students"], body="Note", subject="N"
    )

    assert len(started) == 2
