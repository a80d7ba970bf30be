"""Effect of one mistake in dependency-tree tasks: does it show, and does it change the answer?

    python benchmarks/headroom.py [--operations 60] [--instances 20] [--mistakes 20]

In documents one identifier is computed wrongly, or of two values the one is taken that does not count, and
what follows is done rightly: *silent* is a mistake after which another value of the variable that is asked
for is found, without a document that is not there. In code one module's value is got wrong, by a little or
by its sign: *changed* is a mistake after which the program's value is another one. Exit code 1 if an expert
task is below 95 %. In the puzzle a player guesses anyone whom the feedback leaves open, and wins or loses;
the reference player wins all of these games with the last guess.
"""

from __future__ import annotations

import argparse
import ast
import random
import sys
from collections import deque
from datetime import date
from functools import cache

from mesocosm.families.family import Family, load_family
from mesocosm.generators.puzzle import FEW, MANY, drawn, found_last, profiles_of
from mesocosm.kits.rollouts.player import marks, still_open
from mesocosm.kits.weaving.composition import Composition
from mesocosm.solvers.lore_code import value_of
from mesocosm.solvers.lore_documents import Notes, Rule, day_of
from mesocosm.worlds.randomness import Dice

LEAST = 0.95
_BY = (-10, -3, -2, -1, 1, 2, 3, 10)


class Mistaken(Notes):
    """Computes one identifier wrongly, or takes the value of two that does not count."""

    def __init__(self, at: int, rng: random.Random, made: Composition) -> None:
        super().__init__(day_of(made.public["today"]) if "today" in made.public else date.max)
        self.at, self.rng, self.computed = at, rng, 0
        self.relevant = {node.variable for node in made.tree.nodes()}

    def _holds(self, name: str, below: bool) -> bool:
        right = super()._holds(name, below)
        self.computed += name in self.relevant
        return right != (self.computed == self.at and name in self.relevant)

    def _document(self, rule: Rule) -> str:
        right = super()._document(rule)
        self.computed += 1
        if self.computed != self.at:
            return right
        target, _, result = right.partition("%")
        if result.lstrip("-").isdigit():
            return f"{target}%{int(result) + self.rng.choice((-10, -2, -1, 1, 2, 10))}"
        return f"{target}%{result[::-1]}" if result != result[::-1] else f"{target}%{result.swapcase()}"


def read(made: Composition, notes: Notes) -> str | None:
    """Return the value found for the variable in question; ``None`` if a document is missing."""
    files = {file.id: file.text for file in made.files}
    queue = deque(made.public["documents"].split(", "))
    seen = set(queue)
    while "v0" not in notes.values:
        if not queue or (document := queue.popleft()) not in files:
            return None
        for found in notes.take_in(files[document]):
            if found not in seen:
                seen.add(found)
                queue.append(found)
    return str(notes.values["v0"])


def silent(made: Composition, mistakes: int, rng: random.Random) -> tuple[int, int]:
    """Count the mistakes that lead to another value, of how many."""
    whole = Mistaken(0, rng, made)
    assert read(made, whole) == made.answer
    ends = [read(made, Mistaken(rng.randint(1, whole.computed), rng, made)) for _ in range(mistakes)]
    return sum(end not in (None, made.answer) for end in ends), len(ends)


class Slip(ast.NodeTransformer):
    """Changes what ``main`` of a module returns, and what it assigns to a shared number."""

    def __init__(self, by: int | None) -> None:
        self.by = by
        """The number that is added; ``None``: the sign is turned."""

    def visit_Module(self, node: ast.Module) -> ast.Module:
        """Only ``main`` changes."""
        node.body = [self.visit(one) if getattr(one, "name", "") == "main" else one for one in node.body]
        return node

    def _changed(self, value: ast.expr) -> ast.expr:
        if self.by is None:
            return ast.UnaryOp(ast.USub(), value)
        return ast.BinOp(value, ast.Add() if self.by > 0 else ast.Sub(), ast.Constant(abs(self.by)))

    def visit_Return(self, node: ast.Return) -> ast.Return:
        """Change what was assigned before."""
        if node.value and not isinstance(node.value, ast.Attribute):
            node.value = self._changed(node.value)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        """Change what other modules find."""
        if isinstance(node.targets[0], ast.Attribute):
            node.value = self._changed(node.value)
        return node


def changed(made: Composition, mistakes: int, rng: random.Random) -> tuple[int, int]:
    """Count the mistakes that change the program's result, of how many."""
    texts = {file.id.removesuffix(".py"): file.text for file in made.files}
    called: dict[str, None] = {}

    def read(name: str) -> str:
        called[name] = None
        return texts[name]

    assert str(value_of("main", read)) == made.answer
    names = [name for name in called if name != "main" and "def main():" in texts[name]]
    counted = 0
    for _ in range(mistakes):
        name, by = rng.choice(names), None if rng.random() < 0.2 else rng.choice(_BY)
        slipped = ast.fix_missing_locations(Slip(by).visit(ast.parse(texts[name])))
        wrong = {**texts, name: ast.unparse(slipped)}
        counted += str(value_of("main", wrong.__getitem__)) != made.answer
    return counted, mistakes


def won(creatures: int, games: int) -> int:
    """Count the games of ``puzzle_expert`` won by guessing any remaining creature."""
    count = 0
    for seed in range(games):
        rng, key = random.Random(seed), f"headroom {seed}"
        profiles, rounds = profiles_of(key, creatures, True), FEW if creatures < MANY else FEW + 1
        target = list(profiles)[found_last(drawn(key, creatures, True), rounds, rng, True)]
        left, guess = list(profiles), ""
        for _ in range(rounds):
            guess = rng.choice(left)
            said = marks(profiles[guess], profiles[target], by_section=True)
            left = still_open(left, profiles, guess, said, by_section=True) or [guess]
            if guess == target:
                break
        count += guess == target
    return count


@cache
def composed(task: str, operations: int, seed: int) -> Composition:
    """An instance without a world."""
    family: Family = load_family(task)
    compose = family.hook("compose")
    assert compose
    made: Composition = compose(Dice(task, seed), family.params(operations=operations))
    return made


def main() -> int:
    """Measure all variants."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--operations", type=int, default=60)
    parser.add_argument("--instances", type=int, default=20)
    parser.add_argument("--mistakes", type=int, default=20)
    options = parser.parse_args()
    low = False
    for domain, measure, word in (("documents", silent, "silent"), ("code", changed, "changed")):
        for variant in ("", "_hard", "_expert"):
            task, rng = f"lore_{domain}{variant}", random.Random(0)
            counts = [
                measure(composed(task, options.operations, seed), options.mistakes, rng)
                for seed in range(options.instances)
            ]
            share = sum(one for one, _ in counts) / sum(of for _, of in counts)
            low |= variant == "_expert" and share < LEAST
            print(f"{task}: {share:.1%} {word} of {sum(of for _, of in counts)} mistakes")
    for creatures in (110, 450, 2_000):
        games = 2 * options.instances
        print(f"puzzle_expert, {creatures:,} creatures: {won(creatures, games) / games:.0%} won of {games}")
    return int(low)


if __name__ == "__main__":
    sys.exit(main())
