"""Reads that are made again: the same result for less, and never an old one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from mesocosm.servers.calendar.store import CalendarStore
from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.servers.canvas.store.values import timestamp
from mesocosm.servers.documents.store import DocumentsStore
from mesocosm.services.calls import MAX_SIZE, Outcome, RecentReads
from mesocosm.services.service import Image, Reply
from mesocosm.services.world import World

ADA = "ada@example.org"


def fill(world: World) -> None:
    documents = world.store(DocumentsStore)
    documents.items.create_user(ADA, "Ada")
    documents.sign_in(ADA)
    documents.items.create_space("Library", owner=ADA, space_id="library")
    documents.filling.add_documents("library", [{"title": "Plan", "content": "One", "file_id": "plan"}])
    calendar = world.store(CalendarStore)
    calendar.create_account(ADA, "Ada")
    calendar.sign_in(ADA)


@pytest.fixture
def tools(open_tools: Callable[..., Any]) -> Any:
    return open_tools(fill, "documents", "calendar")


def read(tools: Any) -> Any:
    return tools.call("documents", "read_document", file_id="plan")


def test_a_read_that_is_made_again_is_a_call_like_any_other(tools: Any) -> None:
    assert (read(tools), read(tools)) == ("One", "One")
    first, second = tools.world.journal.entries()
    assert (first.tool, first.status, first.result) == (second.tool, second.status, second.result)
    assert second.seq == 2


def test_a_write_is_seen_by_the_next_read(tools: Any) -> None:
    assert read(tools) == "One"
    tools.call("documents", "update_document", file_id="plan", content="Two")
    assert read(tools) == "Two"


def test_what_was_changed_from_outside_is_seen(tools: Any) -> None:
    assert read(tools) == "One"
    with tools.world.editing() as world:
        world.store(DocumentsStore).writing.update("plan", "Three")
    assert read(tools) == "Three"


def test_a_read_that_looks_at_the_clock_is_made_anew(tools: Any) -> None:
    first, second = (tools.call("calendar", "get_current_time")["dateTime"] for _ in range(2))
    assert first < second


def fill_course(world: World) -> None:
    canvas = world.store(CanvasStore)
    [student] = canvas.users.add_users([{"name": "Ada", "login_id": "ada@example.edu"}])
    [course] = canvas.courses.add_courses([{"name": "Engines", "course_code": "E-1"}])
    canvas.courses.enroll_students([(course, student)])
    opens = timestamp(world.now + timedelta(seconds=3))
    canvas.assignments.add_assignments([{"course_id": course, "name": "Notes", "unlock_at": opens}])
    canvas.sign_in(student)


def test_a_list_changes_when_the_clock_passes_a_date_in_it(open_tools: Callable[..., Any]) -> None:
    tools = open_tools(fill_course, "canvas")
    lists = [tools.call("canvas", "canvas_list_assignments", course_id=1) for _ in range(5)]
    assert [listed[0]["locked_for_user"] for listed in lists] == [True, True, True, False, False]


def test_only_so_much_is_kept() -> None:
    reads = RecentReads()
    page = Outcome("ok", ("x" * (MAX_SIZE // 5),))
    for number in range(7):
        reads.keep(("documents", "read_document", str(number)), page)
    kept = [number for number in range(7) if reads.get(("documents", "read_document", str(number)))]
    assert kept == [2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    "large",
    [
        Outcome("ok", ("x" * MAX_SIZE,)),
        Outcome("ok", ("a picture", Image(bytes(MAX_SIZE)))),
        Outcome("ok", reply=Reply(bytes(MAX_SIZE))),
    ],
    ids=["text", "picture", "bytes"],
)
def test_what_is_large_is_not_kept(large: Outcome) -> None:
    reads = RecentReads()
    reads.keep(("documents", "read_document", "large"), large)
    assert reads.get(("documents", "read_document", "large")) is None
