"""The game as a task: the oracle's guesses win it, wasted queries are told, what is hidden stays so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from trials import call, failures, truth

from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance
from mesocosm.families.oracle import Made, history_of
from mesocosm.generators.puzzle import Expected
from mesocosm.kits.rollouts.player import best_guess, marks, still_open

FAMILY, EXPERT = load_family("puzzle"), load_family("puzzle_expert")


@pytest.fixture
def game(tmp_path: Path) -> Any:
    built = build_instance(FAMILY, 4, tmp_path / "instance", parameters={"creatures": 60})
    episode = Episode.create(tmp_path / "episode", built.path, FAMILY)
    yield episode
    episode.close()


def journal(game: Episode) -> list[Made]:
    return history_of(game.world.journal.entries())


def test_the_oracle_tells_what_is_open_and_its_plan_wins(game: Episode) -> None:
    expected = truth(FAMILY, game)
    assert isinstance(expected, Expected)
    oracle = expected.oracle()
    counts = [oracle.state(game.world, journal(game)).facts["count"]]
    while steps := oracle.plan(game.world, journal(game)):
        made = steps[0].calls[0]
        told = json.loads(call(game, made.service, made.tool, **made.arguments))
        counts.append(oracle.state(game.world, journal(game)).facts["count"])
        assert told["remaining_rounds"] == 10 - (len(counts) - 1)
    assert counts == sorted(counts, reverse=True)
    assert (counts[0], counts[-1]) == (60, 1)
    assert (
        oracle.state(game.world, journal(game)).text == f"The hidden creature was found: {expected.target}."
    )
    assert failures(game) == set()


def test_wasted_queries_are_told(game: Episode) -> None:
    target = truth(FAMILY, game).target
    (about,) = json.loads(call(game, "puzzle", "look_up", names=[target]))
    right = {
        "type": "numeric",
        "section": "Base Stats",
        "comparator": "==",
        "threshold": about["Base Stats"][0],
    }
    nobody = right | {"comparator": ">", "threshold": 5_000}
    for conditions in ([right], [right], [nobody]):
        call(game, "puzzle", "query", conditions=conditions)
    described = json.loads(call(game, "puzzle", "describe_game"))
    assert (described["queries"], described["wasted_queries"]) == (3, 2)
    call(game, "puzzle", "guess", name=target)
    (solved,) = [check for check in game.grade().findings if check.name == "solved"]
    assert solved.passed
    assert solved.detail.startswith("1 of 10 rounds, 2 of 3 queries wasted")


def test_no_result_tells_the_hidden_creature(game: Episode) -> None:
    expected = truth(FAMILY, game)
    said = call(game, "puzzle", "describe_game")
    assert expected.target not in said
    assert expected.target not in game.prompt


@pytest.fixture
def hard_game(tmp_path: Path) -> Any:
    built = build_instance(EXPERT, 2, tmp_path / "instance", parameters={"creatures": 120})
    episode = Episode.create(tmp_path / "episode", built.path, EXPERT)
    yield episode
    episode.close()


def test_an_expert_game_is_won_with_the_last_guess_by_who_thinks(hard_game: Episode) -> None:
    expected = truth(EXPERT, hard_game)
    assert "feedback" in json.loads(call(hard_game, "puzzle", "describe_game"))
    oracle = expected.oracle()
    for left in (3, 2, 1, 0):
        [step] = oracle.plan(hard_game.world, journal(hard_game))
        made = step.calls[0]
        told = json.loads(call(hard_game, made.service, made.tool, **made.arguments))
        assert set(told["sections"].values()) <= {"correct", "wrong"}, "each as a whole, and no direction"
        assert (told["remaining_rounds"], told["result"]) == (left, "wrong" if left else "correct")
    assert failures(hard_game) == set()


def test_an_expert_game_is_lost_by_who_takes_no_notice_of_feedback(hard_game: Episode) -> None:
    target = truth(EXPERT, hard_game).target
    read = json.loads(call(hard_game, "puzzle", "browse"))
    names = [one["name"] for one in read["creatures"] if one["name"] != target]
    for name in names[:4]:
        call(hard_game, "puzzle", "guess", name=name)
    refused = hard_game.world.call("puzzle", "guess", {"name": target})
    assert (refused.status, refused.text) == ("refused", "The game is over: all 4 rounds are used up.")
    assert failures(hard_game) == {"solved"}


def test_few_creatures_make_a_game_too(tmp_path: Path) -> None:
    built = build_instance(EXPERT, 0, tmp_path / "instance", parameters={"creatures": 20})
    assert built.expected.measures == {"creatures": 20, "rounds": 4}


PROFILES: dict[str, dict[str, tuple[int | str, ...]]] = {
    "A": {"Type": ("Fire",), "Stats": (1,)},
    "B": {"Type": ("Fire",), "Stats": (2,)},
    "C": {"Type": ("Water",), "Stats": (3,)},
}


def test_the_best_guess_leaves_the_fewest_open() -> None:
    assert best_guess(list(PROFILES), PROFILES) == "A", "the others are told apart by it"
    said = marks(PROFILES["B"], PROFILES["C"])
    assert said == (("wrong",), ("low",))
    assert still_open(list(PROFILES), PROFILES, "B", said) == ["C"]
