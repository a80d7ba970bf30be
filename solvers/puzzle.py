"""Plays the game: reads the encyclopaedia, then always makes the guess that leaves the fewest open."""

from __future__ import annotations

from typing import Any

from mesocosm.kits.rollouts.player import Marks, Profile, best_guess, still_open
from mesocosm.services.calling import Tools

_MARKS = {"correct": "correct", "wrong": "wrong", "wrong, too low": "low", "wrong, too high": "high"}


def solve(tools: Tools, prompt: str) -> None:
    """Guess until the hidden creature is found."""
    profiles = _encyclopaedia(tools)
    names = list(profiles)
    by_section = "feedback" in tools.call("puzzle", "describe_game")
    while True:
        guess = best_guess(names, profiles, by_section=by_section)
        told = tools.call("puzzle", "guess", name=guess)
        if told["result"] == "correct":
            return
        names = still_open(names, profiles, guess, _marks(told), by_section=by_section)


def _encyclopaedia(tools: Tools) -> dict[str, Profile]:
    profiles: dict[str, Profile] = {}
    page: int | None = 1
    while page:
        read = tools.call("puzzle", "browse", page=page, per_page=100)
        for creature in read["creatures"]:
            name, _ = creature.pop("name"), creature.pop("number")
            profiles[name] = creature
        page = read.get("next_page")
    return profiles


def _marks(told: dict[str, Any]) -> Marks:
    if all(isinstance(said, str) for said in told["sections"].values()):
        return tuple((said,) for said in told["sections"].values())
    return tuple(tuple(_MARKS[value["verdict"]] for value in values) for values in told["sections"].values())
