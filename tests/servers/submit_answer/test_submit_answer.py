"""Handing in an answer."""

from __future__ import annotations

from typing import Any

import pytest

from mesocosm.servers.submit_answer.store import SubmitAnswerStore
from mesocosm.services.world import World


def answers(tools: Any) -> list[str]:
    """What is on the disk."""
    with World(tools.world.path, read_only=True) as world:
        return world.store(SubmitAnswerStore).answers()


@pytest.mark.parametrize("answer", ["XUyWgrar", "-17", " kept as it is \n", "中文", '["a"]'])
def test_an_answer_is_kept_as_it_is_and_ends_the_episode(open_tools: Any, answer: str) -> None:
    tools = open_tools(None, "submit_answer")
    assert tools.world.call("submit_answer", "submit_answer", {"answer": answer}).status == "ok"
    assert answers(tools) == [answer]
    assert tools.world.calls.ended


def test_a_second_answer_is_refused(open_tools: Any) -> None:
    tools = open_tools(None, "submit_answer")
    tools.call("submit_answer", "submit_answer", answer="one")
    again = tools.world.call("submit_answer", "submit_answer", {"answer": "two"})
    assert again.status == "refused"
    assert answers(tools) == ["one"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("a\0b", "NUL"),
        ("\ud800", "surrogate"),
        ("a" * 1_000_001, "at most"),
    ],
)
def test_what_is_no_answer_is_refused_and_another_can_follow(
    open_tools: Any, answer: str, reason: str
) -> None:
    tools = open_tools(None, "submit_answer")
    outcome = tools.world.call("submit_answer", "submit_answer", {"answer": answer})
    assert outcome.status == "refused"
    assert reason in outcome.text
    assert answers(tools) == []
    assert not tools.world.calls.ended
    tools.call("submit_answer", "submit_answer", answer="42")
    assert answers(tools) == ["42"]
