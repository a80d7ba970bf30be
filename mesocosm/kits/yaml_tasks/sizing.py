"""How many entities there are at a length, where a file does not say it."""

from __future__ import annotations

from pathlib import Path

from mesocosm.errors import UsageError
from mesocosm.families.task import Growth, Task
from mesocosm.kits.yaml_tasks.entities import Wrong
from mesocosm.kits.yaml_tasks.letters import Sketches
from mesocosm.kits.yaml_tasks.telling import Teller
from mesocosm.kits.yaml_tasks.written import Start, Written
from mesocosm.worlds.randomness import Dice

_SHARES = {8_000: 0.55, 64_000: 0.48, 256_000: 0.48, 1_000_000: 0.48}
"""What part of a length counts: the rest is distractors and noise."""
_LETTERS = 4.2
"""Characters of a token: near enough, and the same wherever a file is read."""


def sized(task: Task, path: Path) -> Growth:
    """How a task grows, from what is told of two numbers of entities; where nothing can be drawn yet, which
    building says better, as it stands."""
    growth = task.growth
    if task.python:
        return growth
    try:
        written = Written(task, path)
        least = max(len(it.cases_with(background=False)) for it in written.definition.entities.values())
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


def _tokens(written: Written, parameter: str, size: int) -> int:
    """About how many tokens tell so many entities."""
    dice = Dice("size", 0)
    start = Start(dice)
    truth = written.draw(start, written.Params(**{parameter: size}), dice.stream)
    about = lambda text: round(len(text) / _LETTERS)  # noqa: E731
    return Teller(written.definition, truth, dice.stream, about, Sketches).estimated()
