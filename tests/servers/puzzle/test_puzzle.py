"""The puzzle service: conditions, feedback, the end of the game, refusals."""

from __future__ import annotations

from typing import Any

import pytest

from mesocosm.servers.puzzle.store import PuzzleStore
from mesocosm.services.calling import ToolError
from mesocosm.services.world import World

CREATURES = [
    (3, "Adix", {"Type": ("Fire", "Rock"), "Stats": (300,)}),
    (1, "Belor", {"Type": ("Rock",), "Stats": (450,)}),
    (2, "Corune", {"Type": ("Water",), "Stats": (300,)}),
    (4, "Dumon", {"Type": ("Fire",), "Stats": (500,)}),
]


def fill(world: World, *, verbose: bool = False) -> None:
    store = world.store(PuzzleStore)
    store.add_sections({"Type": False, "Stats": True})
    store.add_creatures(CREATURES)
    store.set_up(2, 3, verbose=verbose)


def value(*values: str, **more: Any) -> dict[str, Any]:
    return {"type": "value", "section": "Type", "values": list(values), **more}


def number(sign: str, threshold: int) -> dict[str, Any]:
    return {"type": "numeric", "section": "Stats", "comparator": sign, "threshold": threshold}


@pytest.mark.parametrize(
    ("conditions", "names"),
    [
        ([], ["Adix", "Belor", "Corune", "Dumon"]),
        ([value("Fire")], ["Adix", "Dumon"]),
        ([value("Fire", "Water")], ["Adix", "Corune", "Dumon"]),
        ([value("Fire", exclude=True)], ["Belor", "Corune"]),
        ([value("Fire"), value("Rock")], ["Adix"]),
        ([number(">", 300)], ["Belor", "Dumon"]),
        ([number("<", 450), value("Rock", exclude=True)], ["Corune"]),
        ([number("==", 300)], ["Adix", "Corune"]),
    ],
)
def test_a_query_finds_who_meets_all_conditions(
    open_tools: Any, conditions: list[dict[str, Any]], names: list[str]
) -> None:
    found = open_tools(fill, "puzzle").call("puzzle", "query", conditions=conditions)
    assert found == {"intersection": names, "total": len(names)}


def test_a_verbose_query_lists_by_section_and_intersects_nothing(open_tools: Any) -> None:
    tools = open_tools(lambda world: fill(world, verbose=True), "puzzle")
    found = tools.call("puzzle", "query", conditions=[value("Fire"), number("<", 450), value("Rock")])
    assert found["per_section"] == [
        {"section": "Type", "candidates": ["Adix"], "total": 1},
        {"section": "Stats", "candidates": ["Adix", "Corune"], "total": 2},
    ]


def test_feedback_says_what_is_right_until_the_game_is_won(open_tools: Any) -> None:
    tools = open_tools(fill, "puzzle")
    assert tools.call("puzzle", "guess", name="Adix") == {
        "round": 1,
        "guess": "Adix",
        "number": 3,
        "sections": {
            "Type": [{"value": "Fire", "verdict": "wrong"}, {"value": "Rock", "verdict": "correct"}],
            "Stats": [{"value": 300, "verdict": "wrong, too low"}],
        },
        "result": "wrong",
        "remaining_rounds": 2,
    }
    too_high = tools.call("puzzle", "guess", name="Dumon")["sections"]["Stats"]
    assert too_high == [{"value": 500, "verdict": "wrong, too high"}]
    assert tools.call("puzzle", "guess", name="Belor")["result"] == "correct"
    described = tools.call("puzzle", "describe_game")
    assert (described["solved"], described["remaining_rounds"]) == (True, 0)
    with pytest.raises(ToolError, match="was found"):
        tools.call("puzzle", "guess", name="Corune")


def test_the_game_ends_when_the_rounds_are_used_up(open_tools: Any) -> None:
    tools = open_tools(fill, "puzzle")
    for name in ("Adix", "Corune", "Dumon"):
        assert tools.call("puzzle", "guess", name=name)["result"] == "wrong"
    with pytest.raises(ToolError, match="all 3 rounds are used up"):
        tools.call("puzzle", "guess", name="Belor")


def test_the_encyclopaedia_is_read_in_pages_and_by_name(open_tools: Any) -> None:
    tools = open_tools(fill, "puzzle")
    first = tools.call("puzzle", "browse", per_page=3)
    assert first["next_page"] == 2
    assert first["creatures"][0] == {"name": "Adix", "number": 3, "Type": ["Fire", "Rock"], "Stats": [300]}
    assert tools.call("puzzle", "browse", page=2, per_page=3)["creatures"][0]["name"] == "Dumon"
    assert [one["number"] for one in tools.call("puzzle", "look_up", names=["Dumon", "Adix"])] == [4, 3]


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("guess", {"name": "Nobody"}, "no creature named 'Nobody'"),
        ("look_up", {"names": []}, "1 to 50"),
        ("query", {"conditions": [value("Fire", section="Colour")]}, "no section 'Colour'; there are Type"),
        ("query", {"conditions": [number("<", 3) | {"section": "Type"}]}, "type value"),
        ("query", {"conditions": [value("300") | {"section": "Stats"}]}, "type numeric"),
        ("query", {"conditions": [value()]}, "1 to 100 values"),
        (
            "query",
            {"conditions": [value("Fire", "Ice")]},
            "No creature .* 'Ice' in Type; there are Fire",
        ),
        ("query", {"conditions": [{"type": "value", "section": "Type"}]}, "values is missing"),
        (
            "query",
            {"conditions": [number(">", 3) | {"exclude": True}]},
            "numeric has a comparator .* and a threshold: exclude has no place in it",
        ),
        ("query", {"conditions": [{"type": "numeric", "section": "Stats", "threshold": 3}]}, "comparator is"),
        ("query", {"conditions": [value("Fire")] * 31}, "at most 30"),
    ],
)
def test_what_makes_no_sense_is_refused(
    open_tools: Any, tool: str, arguments: dict[str, Any], said: str
) -> None:
    with pytest.raises(ToolError, match=said):
        open_tools(fill, "puzzle").call("puzzle", tool, **arguments)
