"""Number of entities at a length, for files that do not say it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from mesocosm.errors import UsageError
from mesocosm.families.task import Growth, Task
from mesocosm.kits.yaml_tasks.entities import Wrong
from mesocosm.kits.yaml_tasks.letters import Sketches
from mesocosm.kits.yaml_tasks.placement import FactPlacement, is_rows
from mesocosm.kits.yaml_tasks.written import Start, YamlFamily
from mesocosm.worlds.randomness import Dice

_SHARES = {8_000: 0.55, 64_000: 0.48, 256_000: 0.48, 1_000_000: 0.48}
"""Shares of a length for what counts; the rest is distractors and noise."""
_FULL, _ROOMY = 0.97, 0.7
"""Share of the shortest length that evidence may take, and the share that leaves room for noise."""
TRIED, _OFTEN = 24, 0.25
"""Number of instances tried, and share of them in which a case may be missing."""
_LETTERS = 4.2
"""Characters of a token: near enough, and the same wherever a file is read."""


def sized(task: Task, path: Path) -> Growth:
    """Compute a task's growth from the tokens told for two numbers of entities; unchanged if nothing can be
    drawn yet, which building explains better.
    """
    growth = task.growth
    if task.python:
        return growth
    try:
        written = YamlFamily(task, path)
        # What belongs to others is as many as these have, whatever the size is.
        own = [it for it in written.definition.entities.values() if it.parent is None]
        least = max(len(it.cases_with(background=False)) for it in own)
        few = max(6, 2 * least)
        tokens = [_tokens(written, growth.parameter, size) for size in (few, 3 * few)]
    except (UsageError, Wrong):
        return growth
    each = (tokens[1] - tokens[0]) / (2 * few)
    if each <= 0:
        return growth
    fixed = tokens[0] - each * few
    points = {
        length: max(least, 1, int((share * length - fixed) / each)) for length, share in _SHARES.items()
    }
    return growth.model_copy(update={"points": points})


def too_long(written: YamlFamily) -> tuple[int, int, int, int] | None:
    """Return, if evidence hardly fits the shortest length: that length, the entities, their approximate
    tokens, and a number that would fit (0: none).
    """
    task = written.task
    if any("queries" in options for options in written.definition.survey.values()):
        return None  # what is summed costs less than it says
    length = min(task.lengths)
    size, parameter = task.growth.size_for(length), task.growth.parameter
    tokens = _least(written, parameter, size)
    if tokens <= _FULL * length:
        return None
    least = max(1, *(len(it.cases_with(background=False)) for it in written.definition.entities.values()))
    fewer = max(least, size // 2)
    if fewer >= size:
        return length, size, tokens, 0
    each = max(1, (tokens - _least(written, parameter, fewer)) / (size - fewer))
    possible = int(size - (tokens - _ROOMY * length) / each)
    return length, size, tokens, possible if possible >= least else 0


def rare(written: YamlFamily) -> Iterator[tuple[str, str, int]]:
    """Yield cases of child entities that are often missing at the shortest length, with the number of
    ``TRIED`` instances that lack them.
    """
    task, parts = written.task, [name for name, it in written.definition.entities.items() if it.parent]
    if not any(written.definition.entities[name].cases for name in parts):
        return
    missing: Counter[tuple[str, str]] = Counter()
    for seed in range(TRIED):
        size = task.growth.size_for(min(task.lengths))
        missing.update(_teller(written, task.growth.parameter, size, seed).truth.absent())
    yield from ((*of, times) for of, times in missing.items() if times > _OFTEN * TRIED)


def _least(written: YamlFamily, parameter: str, size: int) -> int:
    """About how many tokens an instance has at least: what counts, one of each distractor, and rules."""
    teller = _teller(written, parameter, size)
    together = teller.estimated()
    teller.add_background(0)
    teller.pretend()
    told = [one.what for one in written.definition.evidence]
    further = [one for ones in teller.truth.background.values() for one in ones if one.parent is None]
    rules = [
        one
        for what in dict.fromkeys(told)
        for one in teller.told(what, background=False)
        if one.entity is None
        and not any(map(is_rows, one.statement.fields.values() if one.statement else ()))
    ]
    return together + sum(map(teller.cost_of, further)) + sum(map(teller.cost, rules))


def _tokens(written: YamlFamily, parameter: str, size: int) -> int:
    """About how many tokens tell so many entities."""
    return _teller(written, parameter, size).estimated()


def _teller(written: YamlFamily, parameter: str, size: int, seed: int = 0) -> FactPlacement:
    dice = Dice("size", seed)
    start = Start(dice)
    truth = written.draw(start, written.Params(**{parameter: size}), dice.stream)
    about = lambda text: round(len(text) / _LETTERS)  # noqa: E731
    return FactPlacement(written.definition, truth, dice.stream, about, Sketches)
