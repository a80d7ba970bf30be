"""What an evaluation is going to take, told before it is run: episodes, calls, tokens, cost and time.

One instance of each task and length is built (and kept for the run); its survey says how many calls read all
of it, and how much these deliver. The rest is assumed, and the assumptions are told with the numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from mesocosm.evaluation.stage import kept_instances
from mesocosm.evaluation.watching import Price
from mesocosm.families.building import EXPECTED
from mesocosm.families.family import load_family
from mesocosm.families.quantities import show_length
from mesocosm.worlds.manifest import Manifest

if TYPE_CHECKING:
    from inspect_ai import Task

LARGEST = 128_000
"""Tokens of the largest instance that is built for an estimate; longer ones are reckoned from it."""
OUTPUT_OF_CALL = 150
"""Tokens that a model writes for a call, thoughts not counted."""
TOOLS = 10_000
"""Tokens of prompt and tools, which each request holds."""
SECONDS_OF_CALL = 5.0
AT_A_TIME = 10
"""Episodes that run at a time, unless it is said."""
ASSUMED = (
    f"Assumed: everything is read once, a turn for each call, {OUTPUT_OF_CALL} tokens written and "
    f"{SECONDS_OF_CALL:g} s in each, {TOOLS:,} tokens of prompt and tools, no cached input, {{at_a_time}} "
    "episodes at a time. Models that think, read twice or stop early differ: run a few episodes first."
)


class Estimate(BaseModel):
    """What the episodes of one task and length with one model and strategy are going to take."""

    task: str
    length: int | None
    model: str
    strategy: str
    episodes: int
    calls: int
    """Of an episode."""
    delivered_tokens: int
    """By the tools of an episode."""
    input_tokens: int
    """Of all requests of all episodes."""
    output_tokens: int
    cost: float | None
    """Dollars; ``None``: no price is known."""
    seconds: float
    """With all the others at its side."""


def estimate(
    tasks: Sequence[Task],
    models: Sequence[str],
    prices: Mapping[str, Price],
    window: int | None,
    at_a_time: int | None = None,
) -> list[Estimate]:
    """What the samples of tasks are going to take with each of the models."""
    found: dict[tuple[str, int | None, str, str], Estimate] = {}
    known: dict[tuple[str, int | None, str], tuple[int, int]] = {}
    for task in tasks:
        strategy = str((task.metadata or {}).get("strategy", "none"))
        for order in _orders(task):
            size = known.setdefault(_kind(order), (0, 0))
            if size == (0, 0):
                size = known[_kind(order)] = _size(order)
            for model in models:
                key = (order["task"], order["length"], model, strategy)
                one = _of_one(*key, *size, prices.get(model), window, at_a_time or AT_A_TIME)
                epochs = task.epochs or 1
                found[key] = _sum(found.get(key), one, epochs)
    return list(found.values())


def _orders(task: Task) -> Iterator[Mapping[str, Any]]:
    for sample in task.dataset:
        told = sample.metadata or {}
        if "task" in told:
            yield told
        elif "question" in told:
            asked = told["question"]
            yield {"task": task.name, "length": asked["length"], "tokens": asked["tokens"]}


def _kind(order: Mapping[str, Any]) -> tuple[str, int | None, str]:
    return order["task"], order["length"], str(order.get("parameters", order.get("tokens")))


def _size(order: Mapping[str, Any]) -> tuple[int, int]:
    """Calls of an episode, and the tokens that they deliver."""
    if "tokens" in order:
        return 0, int(order["tokens"])
    family, length = load_family(order.get("file", order["task"])), order["length"]
    built = min(length, LARGEST) if length else None
    path = kept_instances().get(family, order["seed"], built, order["parameters"])
    survey = Manifest.read(path / "world").length
    least = family.read_expected((path / EXPECTED).read_bytes()).least_calls if family.knows_calls else 0
    calls = max(least or 0, survey.calls if survey else 1)
    factor = length / built if length and built else 1.0
    return round(calls * factor), round((survey.measured if survey else 0) * factor)


def _of_one(
    task: str,
    length: int | None,
    model: str,
    strategy: str,
    calls: int,
    delivered: int,
    price: Price | None,
    window: int | None,
    at_a_time: int,
) -> Estimate:
    turns = calls + 1
    most = max(TOOLS, (window or TOOLS + delivered) - OUTPUT_OF_CALL)
    mean = min(TOOLS + delivered / 2, most)
    taken = delivered if not calls else round(turns * mean)
    written = turns * OUTPUT_OF_CALL
    return Estimate(
        task=task,
        length=length,
        model=model,
        strategy=strategy,
        episodes=1,
        calls=calls,
        delivered_tokens=delivered,
        input_tokens=taken,
        output_tokens=written,
        cost=price.of(taken, written) if price else None,
        seconds=turns * SECONDS_OF_CALL / at_a_time,
    )


def _sum(before: Estimate | None, one: Estimate, times: int) -> Estimate:
    old = before or one.model_copy(
        update={
            "episodes": 0,
            "input_tokens": 0,
            "output_tokens": 0,
            "seconds": 0.0,
            "cost": one.cost and 0.0,
        }
    )
    return old.model_copy(
        update={
            "episodes": old.episodes + times,
            "input_tokens": old.input_tokens + times * one.input_tokens,
            "output_tokens": old.output_tokens + times * one.output_tokens,
            "seconds": old.seconds + times * one.seconds,
            "cost": None if one.cost is None else (old.cost or 0.0) + times * one.cost,
        }
    )


HEAD = (
    "task",
    "length",
    "model",
    "strategy",
    "episodes",
    "calls",
    "delivered",
    "input",
    "output",
    "cost",
    "time",
)


def row(one: Estimate) -> tuple[str, ...]:
    """An estimate for reading."""
    return (
        one.task,
        show_length(one.length) if one.length else "custom",
        one.model,
        one.strategy,
        f"{one.episodes:,}",
        f"{one.calls:,}",
        f"{one.delivered_tokens:,}",
        f"{one.input_tokens:,}",
        f"{one.output_tokens:,}",
        "-" if one.cost is None else f"${one.cost:,.2f}",
        f"{one.seconds / 60:,.0f} min",
    )


def total(found: Sequence[Estimate]) -> str:
    """All of it in one line."""
    costs = [one.cost for one in found]
    known = [cost for cost in costs if cost is not None]
    cost = f"${sum(known):,.2f}" if len(known) == len(costs) else "cost not known (give --price IN,OUT)"
    return (
        f"{sum(one.episodes for one in found):,} episodes, "
        f"{sum(one.episodes * one.calls for one in found):,} calls, "
        f"{sum(one.input_tokens for one in found):,} tokens in and "
        f"{sum(one.output_tokens for one in found):,} out, {cost}, "
        f"about {sum(one.seconds for one in found) / 60:,.0f} min"
    )
