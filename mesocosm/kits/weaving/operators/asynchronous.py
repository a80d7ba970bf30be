"""Concurrent tasks that read and update one shared number, in the order in which their waits end.

An expression of this operator is a score, such as ``v1 | wait 3, update + v2 | read, wait 5, write * 4``: the
number that is shared at first, and the steps of each task. ``update`` changes the number that is shared then,
``write`` what the task has read, so that updates in between are lost. All tasks start at time 0, in the order
in which they stand; nothing but waiting takes time, and no two waits end at the same moment.
"""

from __future__ import annotations

import heapq
import operator as operators
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mesocosm.kits.weaving.expressions import TreeValue
from mesocosm.kits.weaving.operator import Operator
from mesocosm.kits.weaving.program import Identifiers, Program

_LATEST = 40
"""When the last wait may end."""
_BASE = 1_000_000
_LARGEST_FACTOR, _LARGEST_TERM = 4, 30
_SIGNS: Mapping[str, Callable[[int, int], int]] = {"+": operators.add, "-": operators.sub, "*": operators.mul}


@dataclass(frozen=True)
class ConcurrentStep:
    """Action of an asynchronous task."""

    action: str
    """``wait``, ``read``, ``write`` or ``update``."""
    sign: str = ""
    operand: str = ""
    """A variable, or a number; of a wait, its length."""

    def __str__(self) -> str:
        return " ".join(part for part in (self.action, self.sign, self.operand) if part)


@dataclass(frozen=True)
class SharedScore:
    """The steps of all tasks, and what is done to the shared number at the end."""

    start: str
    tasks: tuple[tuple[ConcurrentStep, ...], ...]
    add: int = 0
    modulus: int = 0

    @classmethod
    def parse(cls, expression: str) -> SharedScore:
        start, *parts = expression.split(" | ")
        end = {part[0]: int(part[2:]) for part in parts if part[0] in "+%"}
        tasks = [part.split(", ") for part in parts if part[0] not in "+%"]
        return cls(start, tuple(tuple(map(_step, task)) for task in tasks), end.get("+", 0), end.get("%", 0))

    def __str__(self) -> str:
        end = [f"+ {self.add}"] if self.add else []
        end += [f"% {self.modulus}"] if self.modulus else []
        return " | ".join([self.start, *(", ".join(map(str, task)) for task in self.tasks), *end])

    def perform(
        self, values: Mapping[str, TreeValue], *, in_turn: bool = False, nothing_lost: bool = False
    ) -> int:
        """The number at the end.

        The two mistakes are for near misses: performing the tasks one after the other, and taking every
        ``write`` for an ``update``.
        """
        state = _Shared(_number(self.start, values))
        tasks = [_performed(task, state, values, nothing_lost) for task in self.tasks]
        if in_turn:
            for task in tasks:
                list(task)
        else:
            _interleave(tasks)
        total = state.number + self.add
        return total % self.modulus if self.modulus else total


@dataclass
class _Shared:
    number: int


def _performed(
    task: Sequence[ConcurrentStep], state: _Shared, values: Mapping[str, TreeValue], nothing_lost: bool
) -> Iterator[int]:
    """Performs a task up to the end of each wait; yields how long to wait."""
    seen = 0
    for step in task:
        if step.action == "wait":
            yield int(step.operand)
        elif step.action == "read":
            seen = state.number
        else:
            before = seen if step.action == "write" and not nothing_lost else state.number
            state.number = _SIGNS[step.sign](before, _number(step.operand, values))


def _interleave(tasks: Sequence[Iterator[int]]) -> None:
    awake = [(0, order) for order in range(len(tasks))]
    while awake:
        moment, order = heapq.heappop(awake)
        wait = next(tasks[order], None)
        if wait is not None:
            heapq.heappush(awake, (moment + wait, order))


def _step(text: str) -> ConcurrentStep:
    action, *rest = text.split()
    return ConcurrentStep(action, *([""] * (2 - len(rest)) + rest if rest else []))


def _number(name: str, values: Mapping[str, TreeValue]) -> int:
    return int(name) if name.isdigit() else int(values[name])


class Asynchronous(Operator):
    """A score in which every variable counts, and the order of the tasks too."""

    code_only = True
    words = ("asyncio",)

    def write(self, variables: Sequence[str], rng: random.Random) -> str:
        """The first variable is shared at first; each other one is an operand of a task."""
        while True:
            score = _draw(variables, rng)
            if _in_order(score, variables):
                return str(score)

    def execute(self, expression: str, values: Mapping[str, TreeValue]) -> TreeValue:
        """The shared number when all tasks have ended."""
        return SharedScore.parse(expression).perform(values)

    def limit(self, expression: str, add: int, modulus: int | None) -> str:
        """Describe the final operation on the shared number."""
        return " | ".join(
            [expression, *([f"+ {add}"] if add else []), *([f"% {modulus}"] if modulus else [])]
        )

    def program(self, expression: str, words: Identifiers) -> Program:
        """A coroutine for each task, and one that gathers them."""
        score = SharedScore.parse(expression)
        shared, runner = words.noun(), words.function()
        definitions, calls, parameters, arguments = [f"{shared} = 0"], [], [], []
        for task in score.tasks:
            name = words.function()
            operands = [step.operand for step in task if step.operand and not step.operand.isdigit()]
            inside = {operand: words.noun() for operand in operands}
            definitions.append(_coroutine(name, task, shared, inside, words))
            outside = [words.noun() for _ in operands]
            parameters += outside
            arguments += operands
            calls.append(f"{name}({', '.join(outside)})")
        gathering = f"    await asyncio.gather({', '.join(calls)})"
        definitions.append(f"async def {runner}({', '.join(parameters)}):\n{gathering}")
        result = super().limit(shared, score.add, score.modulus or None)
        body = [f"global {shared}", f"{shared} = {score.start}"]
        body += [f"asyncio.run({runner}({', '.join(arguments)}))", f"return {result}"]
        return Program("\n".join(body), "\n\n\n".join(definitions), ("asyncio",))


def _coroutine(
    name: str, task: Sequence[ConcurrentStep], shared: str, inside: Mapping[str, str], words: Identifiers
) -> str:
    lines = [f"async def {name}({', '.join(inside.values())}):", f"global {shared}"]
    seen = words.noun()
    for step in task:
        operand = inside.get(step.operand, step.operand)
        if step.action == "wait":
            lines.append(f"await asyncio.sleep({operand})")
        elif step.action == "read":
            lines.append(f"{seen} = {shared}")
        elif step.action == "write":
            lines.append(f"{shared} = {seen} {step.sign} {operand}")
        else:
            lines.append(f"{shared} {step.sign}= {operand}")
    return "\n    ".join(lines)


def _draw(variables: Sequence[str], rng: random.Random) -> SharedScore:
    """Any score: a task for each operand, two at least, and some of them with a number as well."""
    start, *operands = variables
    tasks: list[list[ConcurrentStep]] = []
    for at in range(max(2, len(operands))):
        changes = [(rng.choice("+-"), operands[at])] if at < len(operands) else []
        if not changes or rng.random() < 0.7:
            changes.insert(rng.randint(0, len(changes)), _constant(rng))
        tasks.append([step for change in changes for step in _change(*change, rng)])
    return SharedScore(start, _timed(tasks, rng))


def _constant(rng: random.Random) -> tuple[str, str]:
    sign = rng.choice("**+-")
    return sign, str(rng.randint(2, _LARGEST_FACTOR if sign == "*" else _LARGEST_TERM))


def _change(sign: str, operand: str, rng: random.Random) -> list[ConcurrentStep]:
    """A change at one moment, or one that takes the number at one moment and puts it back at another."""
    # Less often of a variable: what others change in between is lost, and no variable may be.
    if rng.random() < (0.4 if operand.isdigit() else 0.65):
        return [ConcurrentStep("wait"), ConcurrentStep("update", sign, operand)]
    before = [ConcurrentStep("wait")] if rng.random() < 0.7 else []
    return [*before, ConcurrentStep("read"), ConcurrentStep("wait"), ConcurrentStep("write", sign, operand)]


def _timed(
    tasks: Sequence[Sequence[ConcurrentStep]], rng: random.Random
) -> tuple[tuple[ConcurrentStep, ...], ...]:
    """The tasks with lengths of their waits, no two of which end at the same moment."""
    counts = [sum(step.action == "wait" for step in task) for task in tasks]
    moments = rng.sample(range(1, _LATEST + 1), sum(counts))
    timed = []
    for task, count in zip(tasks, counts, strict=True):
        ends = sorted(moments.pop() for _ in range(count))
        waits = iter([end - start for start, end in zip([0, *ends], ends, strict=False)])
        timed.append(
            tuple(
                ConcurrentStep("wait", "", str(next(waits))) if step.action == "wait" else step
                for step in task
            )
        )
    return tuple(timed)


def _in_order(score: SharedScore, variables: Sequence[str]) -> bool:
    """True if every variable matters, and ignoring the waits gives another number.

    The number at the end is a linear function of the values with small coefficients, so that those of powers
    of a large number can be read off the result.
    """
    powers: dict[str, TreeValue] = {name: _BASE**power for power, name in enumerate(variables, start=1)}
    result = score.perform(powers)
    rest = (result + _BASE // 2) // _BASE  # without the constant
    for _ in variables:
        # To the nearest, since coefficients can be negative.
        following = (rest + _BASE // 2) // _BASE
        if rest == following * _BASE:
            return False
        rest = following
    return result != score.perform(powers, in_turn=True)


operator = Asynchronous()
