"""Countdown: reach a target from some numbers, searching in a fixed order and writing every step down."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from mesocosm.families.verdict import told
from mesocosm.kits.procedures.answers import clean_lines, compare_blocks, last_block
from mesocosm.kits.procedures.protocol import ProcedureCase, Score
from mesocosm.kits.procedures.rules import text_of
from mesocosm.worlds import tokens

NAME = "countdown"
UPSTREAM = "countdown"
TITLE = "Reach a target number by a search that is written down step by step"
BLOCKS = ("Search", "Solution")
SHEET = 200
SMALLEST = 200
EXAMPLE = 2_400
EXAMPLES = 2

LARGEST = 2000
_FEW_UP_TO = 9_000
"""Output tokens up to which four numbers do; with five, searches are as long as is wanted."""
_MARGIN = 0.04
_GAMES = 20
"""Number of sets of numbers one try takes."""


class CountdownCase(ProcedureCase):
    """A game."""

    numbers: list[int]
    target: int


CaseType = CountdownCase


class Move(NamedTuple):
    """A line of the search, and what it leads to if the search may end there."""

    text: str
    """Without the verdict where ``value`` is given."""
    value: int | None = None
    """The result of a branch's last operation."""
    path: tuple[str, ...] = ()
    """The equations that lead there."""


# -- searching ---------------------------------------------------------------------------------------------


def walk(numbers: Sequence[int], depth: int = 0, path: tuple[str, ...] = ()) -> Iterator[Move]:
    """The whole search, whatever the target is."""
    mark = ">" * depth
    for i, j in combinations(range(len(numbers)), 2):
        rest = [number for at, number in enumerate(numbers) if at not in (i, j)]
        deeper = mark
        if rest:
            deeper = mark + ">"
            yield Move(f"{deeper} Pick {numbers[i]} and {numbers[j]}, left {_listed(rest)}")
        high, low = max(numbers[i], numbers[j]), min(numbers[i], numbers[j])
        for sign in "+-*/":
            made = _apply(high, sign, low)
            if isinstance(made, str):
                yield Move(f"{deeper}> {made}, drop")
                continue
            equation = f"{high} {sign} {low} = {made}"
            if not rest:
                yield Move(f"{deeper}> {equation}", made, (*path, equation))
                continue
            yield Move(f"{deeper}> {equation}, now {_listed([made, *rest])}")
            yield from walk([made, *rest], depth + 2, (*path, equation))


def _apply(high: int, sign: str, low: int) -> int | str:
    """Apply an operation, or say why its result is dropped."""
    if sign == "/" and high % low:
        return f"{high} / {low} is not whole"
    made = {"+": high + low, "-": high - low, "*": high * low, "/": high // low}[sign]
    if made > LARGEST:
        return f"{high} {sign} {low} = {made} exceeds {LARGEST}"
    return made if made else f"{high} - {low} = 0 is not positive"


def _listed(numbers: Sequence[int]) -> str:
    return " ".join(map(str, numbers))


def _verdict(value: int, target: int) -> str:
    return ", found" if value == target else f", not {target}"


def draw(rng: random.Random, level: int) -> CountdownCase | None:
    """Numbers, and as the target one of the values that the search meets first about at the level."""
    few = level <= _FEW_UP_TO
    targets = range(10, 100) if few else range(100, 1000)
    for _ in range(_GAMES):
        numbers = [rng.randint(1, 49) for _ in range(4 if few else 5)]
        if found := _first_met(numbers, targets, level):
            return CountdownCase(numbers=numbers, target=rng.choice(found))
    return None


def distract(rng: random.Random, level: int) -> CountdownCase:
    """Numbers and a target that may be out of reach."""
    few = level <= _FEW_UP_TO
    numbers = [rng.randint(1, 49) for _ in range(4 if few else 5)]
    return CountdownCase(numbers=numbers, target=rng.randint(10, 99) if few else rng.randint(100, 999))


def _first_met(numbers: Sequence[int], targets: range, level: int) -> list[int]:
    """The targets at which the search ends after about so many tokens."""
    spent = tokens.count(gold_text(["x"], ["1 + 1 = 2"] * (len(numbers) - 1))) + 4 * len(numbers)
    seen: set[int] = set()
    found: list[int] = []
    for move in walk(numbers):
        verdict = "" if move.value is None else _verdict(0, targets.start)
        spent += tokens.count(f"{move.text}{verdict}\n")
        if spent > level * (1 + _MARGIN):
            break
        if move.value is None or move.value in seen:
            continue
        seen.add(move.value)
        if spent >= level * (1 - _MARGIN) and move.value in targets:
            found.append(move.value)
    return found


# -- showing -----------------------------------------------------------------------------------------------


def rules() -> str:
    return text_of(NAME)


def question(case: CountdownCase) -> str:
    """The target and how to reach it."""
    return "Reach the target with the numbers, by the search laid down."


def given(case: CountdownCase) -> list[str]:
    """Numbers and target."""
    return [f"Numbers: {_listed(case.numbers)}", f"Target: {case.target}"]


def gold(case: CountdownCase) -> str:
    """The search up to the first hit, and its equations."""
    lines = [f"Numbers {_listed(case.numbers)}, target {case.target}"]
    for move in walk(case.numbers):
        if move.value is None:
            lines.append(move.text)
            continue
        lines.append(move.text + _verdict(move.value, case.target))
        if move.value == case.target:
            return gold_text(lines, move.path)
    raise ValueError(f"{case.target} cannot be reached from {case.numbers}")


def gold_text(lines: Sequence[str], equations: Sequence[str]) -> str:
    """An answer with these lines."""
    return (
        "<Search>\n" + "\n".join(lines) + "\n</Search>\n<Solution>\n" + "\n".join(equations) + "\n</Solution>"
    )


# -- judging -----------------------------------------------------------------------------------------------

_EQUATION = re.compile(r"(\d{1,5})\s*([-+*/])\s*(\d{1,5})\s*=\s*(\d{1,5})", re.ASCII)
_MAX_LINE = 100


def score(case: CountdownCase, gold: str, answer: str) -> Score:
    """Any equations that keep the rules are right; the search has to be the one laid down to be exact."""
    text = compare_blocks(gold, answer, BLOCKS)
    wrong = _wrong(case, last_block(answer, "Solution"))
    return text.model_copy(update={"value": float(not wrong), "why": wrong or text.why})


def _wrong(case: CountdownCase, solution: str | None) -> str:
    if solution is None:
        return "there is no complete <Solution>"
    lines = clean_lines(solution)
    if len(lines) != len(case.numbers) - 1:
        return f"lines of the solution: {told(len(lines), len(case.numbers) - 1)}"
    left = list(case.numbers)
    for line in lines:
        found = _EQUATION.fullmatch(line) if len(line) <= _MAX_LINE else None
        if not found:
            return f"{line[:_MAX_LINE]!r} is no equation"
        a, b, made = int(found[1]), int(found[3]), int(found[4])
        for number in (a, b):
            if number not in left:
                return f"{line!r} uses {number}, which there is not"
            left.remove(number)
        if not _holds(a, found[2], b, made):
            return f"{line!r} does not hold"
        if not 0 < made <= LARGEST:
            return f"{line!r} is not between 1 and {LARGEST}"
        left.append(made)
    return "" if left == [case.target] else f"where it leads: {told(left[0], case.target)}"


def _holds(a: int, sign: str, b: int, made: int) -> bool:
    if sign == "/":
        return b != 0 and a == b * made
    return made == {"+": a + b, "-": a - b, "*": a * b}[sign]
