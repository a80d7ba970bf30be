"""Estimates of an evaluation before it runs: episodes, calls, tokens, cost and time.

One instance of each task and length is built (and kept for the run), and the reference solver plays it: so it
is known how many calls it takes, and how much each of them delivers. One that knows the truth reads little:
the calls of the survey, which read all there is, are added. The rest is assumed, and the assumptions are told
with the numbers. ``benchmarks/estimates.py`` compares them with what runs take.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from pydantic import BaseModel

from mesocosm.errors import Refusal, UsageError
from mesocosm.evaluation.progress import Price
from mesocosm.evaluation.stage import kept_instances
from mesocosm.families.episode import Episode
from mesocosm.families.family import Family, load_family
from mesocosm.families.quantities import show_length
from mesocosm.services.calling import Direct, ToolError
from mesocosm.services.service import ending_tools, load_service
from mesocosm.worlds import tokens
from mesocosm.worlds.manifest import Manifest

if TYPE_CHECKING:
    from inspect_ai import Task

LARGEST = 128_000
"""Tokens of the largest instance that is built for an estimate; longer ones are reckoned from it."""
OUTPUT_OF_CALL = 150
"""Tokens that a model writes for a call, thoughts not counted."""
BYTES_OF_TOKEN = 4
"""Of the schema of a tool: providers write them anew for their models, and do not say how."""
SECONDS_OF_CALL = 5.0
AT_A_TIME = 10
"""Episodes that run at a time, unless it is said."""
ASSUMED = (
    f"Assumed: everything is read once, a turn for each call, {OUTPUT_OF_CALL} tokens written and "
    f"{SECONDS_OF_CALL:g} s in each, {BYTES_OF_TOKEN} bytes of a tool's schema for a token, no cached input, "
    "{at_a_time} episodes at a time. Models that think, read twice, make several calls in a turn or stop "
    "early differ: run a few episodes first."
)


class Estimate(BaseModel):
    """Estimate for the episodes of one task, length, model and strategy."""

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
    """Seconds, with all other episodes running beside it."""


def estimate(
    tasks: Sequence[Task],
    models: Sequence[str],
    prices: Mapping[str, Price],
    window: int | None,
    at_a_time: int | None = None,
) -> list[Estimate]:
    """Estimate the samples of tasks for each model."""
    found: dict[tuple[str, int | None, str, str], Estimate] = {}
    known: dict[tuple[str, int | None, str], _Size] = {}
    for task in tasks:
        strategy = str((task.metadata or {}).get("strategy", "none"))
        for order in _orders(task):
            size = known.get(_kind(order)) or known.setdefault(_kind(order), _size(order))
            for model in models:
                key = (order["task"], order["length"], model, strategy)
                one = _of_one(*key, size, prices.get(model), window, at_a_time or AT_A_TIME)
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


@dataclass(frozen=True)
class _Size:
    """Calls and tokens of one episode."""

    held: int
    """Tokens that every request holds: prompt and tools."""
    delivered: Sequence[int] = ()
    """Tokens of the result of each call, in order."""
    stretch: float = 1.0
    """So many times as long as the instance that was built is the one that is wanted."""
    last: int = 1
    """Turns after the last call: none where that ends the episode."""

    def read(self, window: int | None) -> int:
        """Tokens of all requests: each holds all that was said before, as far as the window is."""
        most = max(self.held, window - OUTPUT_OF_CALL) if window else sys.maxsize
        before = [0, *accumulate(tokens + OUTPUT_OF_CALL for tokens in self.delivered)]
        before = before[: len(self.delivered) + self.last]
        return round(sum(min(self.held + self.stretch * said, most) for said in before) * self.stretch)


def _size(order: Mapping[str, Any]) -> _Size:
    """Measure an episode by how the reference solver plays it."""
    if "tokens" in order:
        return _Size(int(order["tokens"]))
    family, length = load_family(order.get("file", order["task"])), order["length"]
    built = min(length, LARGEST) if length else None
    path = kept_instances().get(family, order["seed"], built, order["parameters"])
    offered = family.task.offered(order.get("tools", "all")) | dict.fromkeys(order.get("services", ()))
    prompt = (path / "prompt.md").read_text(encoding="utf-8")
    held = tokens.count(prompt) + sum(_tokens_of_tools(name, names) for name, names in offered.items())
    stretch = length / built if length and built else 1.0
    return _Size(held, _played(family, path, prompt), stretch, last=not ending_tools(offered))


def _tokens_of_tools(service: str, names: Sequence[str] | None) -> int:
    """Of the tools of a service as a request holds them."""
    shown = ("name", "description", "inputSchema")
    tools = load_service(service).select(names).tools.values()
    schemas = [orjson.dumps({key: tool.listing[key] for key in shown}) for tool in tools]
    return sum(map(len, schemas)) // BYTES_OF_TOKEN


def _played(family: Family, path: Path, prompt: str) -> list[int]:
    """Tokens of the results of the calls that read and do what is to be done."""
    survey = Manifest.read(path / "world").length
    reading = [survey.measured // survey.calls] * survey.calls if survey and survey.calls else []
    with tempfile.TemporaryDirectory() as folder:
        episode = Episode.create(Path(folder) / "episode", path, family, steps=False)
        try:
            family.solve(Direct(episode.world), prompt, episode.expected())
            episode.usage()  # counts the tokens
            entries = episode.world.journal.entries()
            made = [entry.tokens or 0 for entry in entries if entry.parent is None]
        except (ToolError, Refusal, UsageError):
            return reading or [0]
        finally:
            episode.close()
    return [*reading, *made] if family.solver == "solution" else made


def _of_one(
    task: str,
    length: int | None,
    model: str,
    strategy: str,
    size: _Size,
    price: Price | None,
    window: int | None,
    at_a_time: int,
) -> Estimate:
    calls = round(len(size.delivered) * size.stretch)
    turns = calls + size.last
    taken, written = size.read(window), turns * OUTPUT_OF_CALL
    return Estimate(
        task=task,
        length=length,
        model=model,
        strategy=strategy,
        episodes=1,
        calls=calls,
        delivered_tokens=round(sum(size.delivered) * size.stretch),
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
