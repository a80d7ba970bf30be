"""The history service: pages, parts of long messages, searches, refusals."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mesocosm.servers.history.store import MAX_CHARACTERS, HistoryStore
from mesocosm.services.calling import ToolError
from mesocosm.services.world import World

LONG = "Kelox, " * (MAX_CHARACTERS // 5)


def fill(world: World) -> None:
    bodies = ["You play.", "Round 1: you guessed Brumon.", LONG, "Item_K2 and Item_K29", "Kelox\nBrumon"]
    roles = ["system", "user", "tool", "assistant", "user"]
    world.store(HistoryStore).add_messages(
        (role, f"Message {at} ({role})", body)
        for at, (role, body) in enumerate(zip(roles, bodies, strict=True))
    )


def test_reading_on_gives_every_message_whole(open_tools: Any) -> None:
    tools = open_tools(fill, "history")
    blocks = tools.read("history", "read_messages", {})
    assert blocks[0].startswith("Message 0 (system)\nYou play.\n\nMessage 1 (user)\nRound 1")
    text, place = blocks[0].partition("Message 2 (tool)\n")[2], json.loads(blocks[1])
    while place["next_first"] == 2:
        blocks = tools.read("history", "read_messages", {"first": 2, "offset": place["next_offset"]})
        head, _, rest = blocks[0].partition("\n")
        assert head == f"Message 2 (tool), from character {place['next_offset']} on"
        text += rest.partition("\n\nMessage 3")[0]
        assert len(blocks[0]) < MAX_CHARACTERS + 500
        place = json.loads(blocks[1]) if len(blocks) > 1 else {"next_first": None}
    assert text == LONG
    assert blocks[0].endswith("Message 4 (user)\nKelox\nBrumon")


def test_what_there_is(open_tools: Any) -> None:
    described = open_tools(fill, "history").call("history", "describe_history")
    assert described["messages"] == 5
    assert described["roles"] == {"assistant": 1, "system": 1, "tool": 1, "user": 2}


@pytest.mark.parametrize(
    ("query", "messages"),
    [
        ("kelox", [4]),
        ("Item_K2", [3]),
        ("tem_K2", []),
        ("round 1", [1]),
        ("Brumon", [1]),
        ("ou", []),
        ("%", []),
        ("Kelox Brumon", []),
    ],
)
def test_searching_finds_whole_words_of_first_lines_but_not_of_results(
    open_tools: Any, query: str, messages: list[int]
) -> None:
    found = open_tools(fill, "history").call("history", "search", query=query)
    assert [one["message"] for one in found["matches"]] == messages


def test_matches_come_in_pages(open_tools: Any) -> None:
    tools = open_tools(fill, "history")
    first = tools.call("history", "search", query="you", per_page=1)
    assert (first["total"], first["next_page"]) == (2, 2)
    assert first["matches"] == [{"message": 0, "role": "system", "first_line": "You play."}]
    assert "next_page" not in tools.call("history", "search", query="you", per_page=1, page=2)


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("read_messages", {"first": 5}, "numbered 0 to 4"),
        ("read_messages", {"first": -1}, "no message -1"),
        ("read_messages", {"first": 0, "offset": 9}, "has 9 characters"),
        ("read_messages", {"offset": -1}, "negative"),
        ("search", {"query": " "}, "1 to 200"),
        ("search", {"query": "x" * 201}, "1 to 200"),
        ("search", {"query": "x", "page": 0}, "page"),
    ],
)
def test_what_cannot_be_read_is_refused(
    open_tools: Any, tool: str, arguments: dict[str, Any], said: str
) -> None:
    with pytest.raises(ToolError, match=said):
        open_tools(fill, "history").call("history", tool, **arguments)
