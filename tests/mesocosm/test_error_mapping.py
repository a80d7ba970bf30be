"""What the system declines because of a call's arguments is a refusal; our own bugs stay faults."""

from __future__ import annotations

import errno
import itertools
import json
import os
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from mailbox import fill_mailbox
from time import perf_counter
from typing import Any

import pytest

from mesocosm.services.service import load_service
from mesocosm.services.world import World
from mesocosm.worlds import deadlines
from mesocosm.worlds.error_mapping import declined

LONG = "x" * 300
Arguments = dict[str, Any]


@pytest.fixture
def world(make_world: Callable[..., World]) -> World:
    return make_world(fill_mailbox, "email", "filesystem", "memory", "documents")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("filesystem.write_file", {"path": f"{LONG}/", "content": ""}),
        ("filesystem.write_file", {"path": LONG, "content": ""}),
        ("filesystem.move_file", {"source": f"{LONG}/", "destination": "a"}),
        ("filesystem.list_directory", {"path": "a/" * 3000}),
        ("filesystem.create_directory", {"path": f"{LONG}/a"}),
        ("email.export_emails", {"export_path": f"{LONG}/"}),
        ("email.export_emails", {"export_path": f"{LONG}/a.json"}),
        ("memory.search_nodes", {"query": "x" * 50_001}),
        ("email.search_emails", {"query": "x" * 50_001}),
        ("documents.download_file", {"file_id": "a", "path": f"{LONG}/"}),
    ],
)
def test_what_is_too_long_is_refused(world: World, tool: str, arguments: Arguments) -> None:
    service, _, name = tool.partition(".")
    outcome = world.call(service, name, arguments)
    assert (outcome.status, world.journal.faults()) in (("refused", []), ("ok", []))


@pytest.mark.parametrize("tool", ["read_file", "get_file_info", "list_directory"])
def test_a_chain_of_links_is_refused(world: World, tool: str) -> None:
    for number in range(1200):
        (world.path / "workspace" / f"link-{number + 1}").symlink_to(f"link-{number}")
    assert world.call("filesystem", tool, {"path": "link-1200"}).status == "refused"


def test_arguments_that_are_nested_too_deep_are_refused(world: World) -> None:
    nested: Any = []
    for _ in range(100_000):
        nested = [nested]
    outcome = world.call("memory", "open_nodes", {"names": nested})
    assert (outcome.status, world.journal.faults()) == ("refused", [])


@pytest.mark.parametrize(
    ("error", "size", "refused"),
    [
        (OSError(errno.ENAMETOOLONG, "too long"), 0, True),
        (OSError(errno.ELOOP, "too many links"), 0, True),
        (OSError(errno.ENOSPC, "no space"), 1000, False),
        (OSError(errno.EMFILE, "too many open files"), 1000, False),
        (FileNotFoundError(errno.ENOENT, "a template of ours"), 1000, False),
        (sqlite3.OperationalError("LIKE or GLOB pattern too complex"), 1000, True),
        (sqlite3.DataError("string or blob too big"), 1000, True),
        (sqlite3.OperationalError("no such table: emails"), 1000, False),
        (sqlite3.OperationalError("disk I/O error"), 1000, False),
        (RecursionError(), 10_000, True),
        (RecursionError(), 20, False),
        (OverflowError("date value out of range"), 20, True),
        (ValueError("a rule of ours"), 1000, False),
        (ValueError("embedded null byte"), 20, True),
        (KeyError("name"), 1000, False),
    ],
)
def test_only_what_follows_from_the_arguments_is_a_refusal(
    error: Exception, size: int, refused: bool
) -> None:
    assert (declined(error, size) is not None) == refused


def test_a_recursion_without_end_is_our_own_where_little_was_given(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def endless(*_: Any, **__: Any) -> Any:
        return endless()

    tools = load_service("email").tools
    monkeypatch.setitem(tools, "get_folders", replace(tools["get_folders"], function=endless))
    assert world.call("email", "get_folders", {}).status == "fault"


def test_a_call_that_takes_too_long_is_given_up_and_undone(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESOCOSM_CALL_TIMEOUT", "1")
    entities = [{"name": f"e{n}", "entityType": "t", "observations": []} for n in range(20_000)]
    began, clock = perf_counter() + 1, itertools.count()
    with monkeypatch.context() as patched:  # half a second passes with every look at the clock
        patched.setattr(deadlines, "perf_counter", lambda: began + next(clock) / 2)
        outcome = world.call("memory", "create_entities", {"entities": entities})
    assert outcome.status == "refused"
    assert "longer than 1 seconds" in outcome.text
    assert world.call("memory", "read_graph", {}).text == '{"entities":[],"relations":[]}'
    assert os.listdir(world.path / "workspace") == []


def test_a_call_that_is_given_up_anywhere_is_undone_and_can_be_made_again(
    make_world: Callable[..., World], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Time passes with every look at the clock, so that the call is given up at each place in turn. It goes on
    # from the present: requests that a server had before lie in the past, and nobody rests for them.
    clock = itertools.count(perf_counter() + 1)
    monkeypatch.setattr(deadlines, "perf_counter", lambda: next(clock))
    world = make_world(lambda _: None, "woocommerce")
    batch = {"create": [{"name": "Lamp", "sku": "L"}, {"name": "Lamp", "sku": "L"}, {"name": "Vase"}]}
    before = (world.path / "woocommerce.db").read_bytes()
    given_up = 0
    for looks in range(1, 2000):
        monkeypatch.setenv("MESOCOSM_CALL_TIMEOUT", str(looks))
        outcome = world.call("woocommerce", "woo_products_batch_update", batch)
        if "longer than" not in outcome.text:
            break
        given_up += 1
        assert (world.path / "woocommerce.db").read_bytes() == before
    assert outcome.status == "ok", outcome.text
    assert given_up > 10
    listed = world.call("woocommerce", "woo_products_list", {})
    assert [product["name"] for product in json.loads(listed.text)] == ["Vase", "Lamp"]
