"""Modules, pages and files."""

from __future__ import annotations

WEEK = {"course_id": 1, "module_id": 1}


def test_students_see_published_modules_with_their_progress(campus):
    modules = campus("list_modules", course_id=1)

    assert [(m["name"], m["items_count"], m["state"]) for m in modules] == [
        ("Week 1", 2, "unlocked"),
        ("Week 2", 1, "locked"),
    ]


def test_completing_the_items_opens_what_depends_on_them(campus):
    first = campus("mark_module_item_complete", **WEEK, item_id=1)
    half = campus("get_module", **WEEK)["state"]
    campus("mark_module_item_complete", **WEEK, item_id=2)

    assert (first["completed"], half) == (True, "started")
    assert [m["state"] for m in campus("list_modules", course_id=1)] == ["completed", "unlocked"]
    assert campus("mark_module_item_complete", course_id=1, module_id=2, item_id=3)["completed"]


def test_completing_twice_is_the_same_as_once(campus):
    once = campus("mark_module_item_complete", **WEEK, item_id=1)

    assert campus("mark_module_item_complete", **WEEK, item_id=1) == once


def test_completion_is_each_students_own(campus):
    campus("mark_module_item_complete", **WEEK, item_id=1)

    assert campus.as_("classmate")("get_module_item", **WEEK, item_id=1)["completed"] is False


def test_items_say_what_they_point_to(campus):
    read, write = campus("list_module_items", **WEEK)

    assert (read["type"], read["page_url"]) == ("Page", "course-overview")
    assert (write["type"], write["content_id"]) == ("Assignment", 1)
    link = campus("get_module_item", course_id=1, module_id=2, item_id=3)
    assert link["external_url"] == "https://example.org"


def test_a_module_takes_its_position_and_moves_the_others(campus):
    campus.as_("teacher")("create_module", course_id=1, name="Start", position=1, published=True)

    modules = campus("list_modules", course_id=1)
    assert [(m["name"], m["position"]) for m in modules] == [
        ("Start", 1),
        ("Week 1", 2),
        ("Week 2", 3),
        ("Hidden week", 4),
    ]


def test_an_item_is_added_at_its_position(campus):
    campus.as_("teacher")
    item = campus("create_module_item", **WEEK, title="Test", type="Quiz", content_id=1, position=2)

    assert item["published"] is True
    assert [i["title"] for i in campus("list_module_items", **WEEK)] == ["Read", "Test", "Write"]


def test_pages_are_listed_without_and_read_with_their_text(campus):
    [listed] = campus("list_pages", course_id=1)
    page = campus("get_page", course_id=1, page_url=listed["url"])

    assert "body" not in listed
    assert (page["body"], page["last_edited_by"]["display_name"]) == ("<p>Welcome</p>", "Teacher Person")


def test_files_are_listed_by_name_and_folder(campus):
    assert [file["display_name"] for file in campus("list_files", course_id=1)] == ["plan.pdf", "week 1.pdf"]
    assert [file["id"] for file in campus("list_files", course_id=1, folder_id=2)] == [2]
    assert [f["full_name"] for f in campus("list_folders", course_id=1)] == [
        "course files",
        "course files/slides",
    ]


def test_a_file_can_be_looked_up(campus):
    assert campus("get_file", file_id=2)["size"] == 200
    assert campus("get_file", file_id=4)["display_name"] == "mine.doc"
    assert campus.as_("teacher")("get_file", file_id=3)["hidden"] is True
