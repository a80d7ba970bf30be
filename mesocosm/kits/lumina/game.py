"""Games: what an agent with perfect memory would know of a world, and all optimal calls.

A game starts from what the prompt says and advances by the calls that were answered. It is the belief state
of the agent, so an oracle over it never tells what could not have been known.
"""

# Worlds whose optimal play is known make every single step gradable (decision 040).

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, overload

from pydantic import Field

from mesocosm.families import family
from mesocosm.families.oracle import Call, Made, Oracle, State, Subtask, advice
from mesocosm.services.world import World

SPARE_CALLS = 20
"""Calls that are waited for once a budget is used up: none of them is accepted."""


class BudgetParams(family.Params):
    """Budget as a multiple of what an optimal policy needs."""

    budget_factor: float = Field(default=1.5, ge=1, le=1000)
    """m of the budget m * T + n, where T is what an optimal policy needs."""
    budget_extra: int = Field(default=5, ge=0, le=1_000_000)
    """n of the budget m * T + n."""

    def budget(self, optimum: int) -> int:
        """Return the budget for an optimal cost of ``optimum``."""
        return int(self.budget_factor * optimum) + self.budget_extra


class Game(ABC):
    """One world, as far as it is known."""

    service: ClassVar[str]

    def __init__(self) -> None:
        self.over = False
        """True if the agent has ended the task."""

    @abstractmethod
    def take(self, made: Made) -> None:
        """Advance by a call of the service that was answered."""

    @abstractmethod
    def optimal(self) -> Iterator[Call]:
        """Yield the optimal calls in a fixed order; none once the game is over."""

    @abstractmethod
    def is_optimal(self, call: Call) -> bool:
        """True if the call is among the optimal ones."""

    @abstractmethod
    def legal(self) -> Sequence[Call]:
        """All calls that are not in vain."""

    @abstractmethod
    def describe(self) -> State:
        """Describe the known state."""

    @abstractmethod
    def phrase(self, call: Call) -> str:
        """The call as a subtask that needs no look-ahead."""

    def call(self, tool: str, **arguments: object) -> Call:
        """A call of the game's service."""
        return Call(service=self.service, tool=tool, arguments=arguments)


@dataclass(frozen=True)
class GameCalls(Sequence[Call]):
    """Many calls, each made when it is asked for."""

    number: int
    make: Callable[[int], Call]

    def __len__(self) -> int:
        return self.number

    @overload
    def __getitem__(self, at: int) -> Call: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Call]: ...
    def __getitem__(self, at: int | slice) -> Call | Sequence[Call]:
        if isinstance(at, slice):
            return [self.make(one) for one in range(self.number)[at]]
        return self.make(range(self.number)[at])


@dataclass
class GameOracle(Oracle):
    """The oracle of one instance of a game.

    Args:
        start: Makes the game as it is at first.
        example: ``example(state, plan)``: an example for the prompt, in the form that these oracles need.
    """

    start: Callable[[], Game]
    example: Callable[[bool, bool], str]
    _game: Game | None = field(default=None, init=False)
    _taken: list[Made] = field(default_factory=list, init=False)

    def game(self, journal: Sequence[Made]) -> Game:
        """The game after these calls. Asked again after further calls, it goes on from where it was."""
        known = len(self._taken)
        if self._game is None or len(journal) < known or (known and journal[known - 1] != self._taken[-1]):
            self._game, self._taken, known = self.start(), [], 0
        for made in journal[known:]:
            self._taken.append(made)
            if made.service == self._game.service:
                self._game.take(made)
        return self._game

    def prepare(self) -> None:
        """Set the game up."""
        self.game(self._taken)

    def state(self, world: World | None, journal: Sequence[Made]) -> State:
        """Return everything the agent could know after these calls."""
        return self.game(journal).describe()

    def plan(self, world: World | None, journal: Sequence[Made]) -> list[Subtask]:
        """One call of an optimal policy."""
        game = self.game(journal)
        call = next(game.optimal(), None)
        return [] if call is None else [Subtask(goal=game.phrase(call), calls=[call])]

    def legal(self, world: World | None, journal: Sequence[Made]) -> Sequence[Call]:
        """All calls that are not in vain now."""
        return self.game(journal).legal()

    def judge(self, journal: Sequence[Made]) -> list[bool]:
        """Of each call of the game, whether an optimal policy could have made it."""
        game, judged = self.start(), []
        for made in journal:
            if made.service == game.service:
                judged.append(game.is_optimal(made))
                game.take(made)
        return judged

    def brief(self, prompt: str, *, state: bool, plan: bool) -> str:
        """The prompt with its example in the form that these oracles need."""
        told = prompt.replace(self.example(False, False), self.example(state, plan))
        return super().brief(told, state=state, plan=plan)


def played(game: Game, answer: Callable[[Call], str], state: bool, plan: bool) -> str:
    """Return an optimal game turn by turn, with the advice before each turn."""
    lines = []
    while (call := next(game.optimal(), None)) is not None:
        told = advice(game.describe().text if state else None, game.phrase(call) if plan else None)
        result = answer(call)
        arguments = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())
        lines += [*([told] if told else []), f"Call: {call.tool}({arguments})", f"Result: {result}"]
        game.take(Made(**call.model_dump(), ok=True, result=result))
    return "\n".join(lines)
