"""A record that is written step by step."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def record(open_tools: Any) -> Any:
    return open_tools(None, "record")


def call(tools: Any, tool: str, **arguments: Any) -> Any:
    return tools.call("record", tool, **arguments)


def refused(tools: Any, tool: str, **arguments: Any) -> str:
    outcome = tools.world.call("record", tool, arguments)
    assert outcome.status == "refused"
    return str(outcome.text)


def test_lines_are_kept_in_the_order_in_which_they_were_written(record: Any) -> None:
    assert call(record, "append_lines", lines=["a", " b "]) == {"lines": 2}
    assert call(record, "append_lines", lines=[""]) == {"lines": 3}
    shown = call(record, "read_lines", start=2)
    assert shown == {"total": 3, "lines": [{"number": 2, "text": " b "}, {"number": 3, "text": ""}]}


def test_lines_are_taken_back_from_one_on(record: Any) -> None:
    call(record, "append_lines", lines=list("abcde"))
    assert call(record, "remove_lines", start=3) == {"lines": 2}
    assert call(record, "append_lines", lines=["x"]) == {"lines": 3}
    assert [line["text"] for line in call(record, "read_lines")["lines"]] == ["a", "b", "x"]


def test_an_empty_record_can_be_read(record: Any) -> None:
    assert call(record, "read_lines") == {"total": 0, "lines": []}


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("append_lines", {"lines": []}, "1 to 20 lines"),
        ("append_lines", {"lines": ["x"] * 21}, "got 21"),
        ("append_lines", {"lines": ["a\nb"]}, "line break"),
        ("append_lines", {"lines": ["x" * 2_001]}, "2,001 characters"),
        ("read_lines", {"start": 2}, "no line 2"),
        ("read_lines", {"start": 0}, "no line 0"),
        ("read_lines", {"limit": 101}, "between 1 and 100"),
        ("remove_lines", {"start": 1}, "no line 1"),
    ],
)
def test_what_makes_no_sense_is_refused(
    record: Any, tool: str, arguments: dict[str, Any], message: str
) -> None:
    assert message in refused(record, tool, **arguments)
