"""Optimal play in the list world.

What was popped and passed over is settled; what is left is always a tail of the first list. So a state is
the settled part and the place where the rest begins. The goal is within reach when the settled part is the
beginning of the target and what follows in the target is a subsequence of the rest.

Once it is out of reach, the optimal actions are those that still bring about the end of the target, as much
of it as the rest holds: the same formula for both, which tests compare with brute force.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from mesocosm.families.oracle import Call, Made, State
from mesocosm.kits.lumina.game import Game, GameCalls, played


class ListGame(Game):
    """The list world.

    Args:
        initial: The list at first.
        target: A subsequence of it.
        budget: Calls that may be made in all.
    """

    service: ClassVar[str] = "listworld"

    def __init__(self, initial: Sequence[int], target: Sequence[int], budget: int) -> None:
        super().__init__()
        self.initial, self.target, self.budget = initial, target, budget
        self.turns = 0
        self.settled: list[int] = []
        self.at = 0
        """Start of the rest in the first list."""
        self._matched = 0
        """Length of the target's prefix that is a subsequence of the settled part."""
        self._needed = _first_within_reach(initial, target)

    @property
    def current(self) -> list[int]:
        """The list now."""
        return [*self.settled, *self.initial[self.at :]]

    @property
    def spent(self) -> bool:
        """True if no calls are left."""
        return self.turns >= self.budget

    @property
    def lost(self) -> bool:
        """True if the target is out of reach."""
        settled = len(self.settled)
        within = self._matched == settled and self._needed[self.at] <= settled
        return not within or self.turns + len(self.initial) - self.at - (len(self.target) - settled) >= (
            self.budget
        )

    def take(self, made: Made) -> None:
        """Count the turn, and remove what was popped."""
        self.turns += 1
        if not made.ok:
            return
        if made.tool == "done":
            self.over = True
        elif made.tool == "pop":
            end = self.at + int(made.arguments["id"]) - len(self.settled)
            for value in self.initial[self.at : end]:
                self.settled.append(value)
                if self._matched < len(self.target) and self.target[self._matched] == value:
                    self._matched += 1
            self.at = end + 1

    def optimal(self) -> Iterator[Call]:
        """Every pop after which as much can still be had as before; at the end, to be done."""
        if self.over or self.spent:
            return
        first = len(self.settled)
        yield from (self.call("pop", id=first + distance) for distance in self._distances())
        if self._finished:
            yield self.call("done")

    def is_optimal(self, call: Call) -> bool:
        """True if the call is among the optimal ones."""
        if self.over or self.spent:
            return False
        if call.tool == "done":
            return self._finished
        index = call.arguments.get("id")
        if call.tool != "pop" or not isinstance(index, int):
            return False
        return index - len(self.settled) in self._distances()

    @property
    def _from(self) -> int:
        """Start of the target's part that can still be had."""
        return max(self._matched, self._needed[self.at])

    @property
    def _finished(self) -> bool:
        return len(self.initial) - self.at == len(self.target) - self._from

    def _distances(self) -> range:
        """Return how many elements may be passed over before the one to pop.

        Those passed over must be what the target goes on with, and the rest of it must lie behind the pop.
        The second holds from some distance on; the first up to some distance.
        """
        wanted, rest = self._from, len(self.initial) - self.at
        far = 0
        while (
            far < rest
            and wanted + far < len(self.target)
            and self.initial[self.at + far] == self.target[wanted + far]
        ):
            far += 1
        if far == rest:
            return range(0)
        near = far
        while near and self._needed[self.at + near] <= wanted + near - 1:
            near -= 1
        return range(near, far + 1)

    def legal(self) -> Sequence[Call]:
        """Pops of all elements that can still be popped, and to be done."""
        if self.over or self.spent:
            return ()
        first, rest = len(self.settled), len(self.initial) - self.at

        def make(number: int) -> Call:
            return self.call("pop", id=first + number) if number < rest else self.call("done")

        return GameCalls(rest + 1, make)

    def describe(self) -> State:
        """The list as it is, and from where on it can be changed."""
        current = self.current
        first = len(self.settled)
        text = f"The list is now {current}. "
        if self.at:
            text += f"The last pop was at index {first}: only indexes from {first} on can be popped. "
        text += f"Calls left: {max(0, self.budget - self.turns)}."
        if self.over:
            text += " The task has ended."
        facts = {
            "list": current,
            "first_poppable": first,
            "calls_left": max(0, self.budget - self.turns),
            "ended": self.over,
        }
        return State(text=text, facts=facts)

    def phrase(self, call: Call) -> str:
        """Name the element to remove, or say that it is done."""
        if call.tool == "done":
            return "There is nothing more to remove: call done."
        index = call.arguments["id"]
        value = self.initial[self.at + index - len(self.settled)]
        return f"Remove the element {value}, which is at index {index} of the list as it is now."


def _first_within_reach(initial: Sequence[int], target: Sequence[int]) -> list[int]:
    """For each place of the list: from where on the target is a subsequence of what begins there."""
    left = len(target)
    needed = [left] * (len(initial) + 1)
    for place in range(len(initial) - 1, -1, -1):
        if left and initial[place] == target[left - 1]:
            left -= 1
        needed[place] = left
    return needed


def example(state: bool, plan: bool) -> str:
    """A short game."""
    initial, target = [7, 3, 9, 4, 8, 2], [7, 9, 8]
    game = ListGame(initial, target, 8)
    turns = played(
        game,
        lambda call: (
            "The task has ended."
            if call.tool == "done"
            else f"Removed the element at index {call.arguments['id']}."
        ),
        state,
        plan,
    )
    return f"Initial list: {initial}\nTarget list: {target}\nBudget: 8 calls\n{turns}"
