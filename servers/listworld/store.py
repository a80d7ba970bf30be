"""The rules of the list world: pops go from left to right, and nothing comes back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, func, insert, select, update

from mesocosm.errors import Conflict, Invalid
from mesocosm.servers.listworld.models import Base, Element, Game, Target
from mesocosm.services.service import Store

PER_PAGE = 2_000

_GAME = select(Game.budget, Game.done)
_FIRST_LEFT = select(func.coalesce(func.max(Element.id), 0).label("last")).where(Element.popped)
_SETTLED = select(func.count().label("number")).where(~Element.popped, Element.id < bindparam("last"))
_NTH = (
    select(Element.id)
    .where(~Element.popped, Element.id > bindparam("last"))
    .order_by(Element.id)
    .limit(1)
    .offset(bindparam("at"))
)
_CURRENT = select(Element.value).where(~Element.popped).order_by(Element.id)
_INITIAL = select(Element.value).order_by(Element.id).limit(PER_PAGE).offset(bindparam("at"))
_TARGET = select(Target.value).order_by(Target.id).limit(PER_PAGE).offset(bindparam("at"))


class ListworldStore(Store):
    """One list, the list that it is to become, and the budget of calls."""

    metadata = Base.metadata

    def current(self) -> list[int]:
        """The list as it is now."""
        return [row["value"] for row in self.fetch(_CURRENT)]

    def start(self, at: int) -> dict[str, Any]:
        """A page of the list as it was at first, and of the target."""
        initial = [row["value"] for row in self.fetch(_INITIAL, at=at)]
        target = [row["value"] for row in self.fetch(_TARGET, at=at)]
        more = at + PER_PAGE if len(initial) == PER_PAGE else None
        return {"initial": initial, "target": target, "next_offset": more}

    def pop(self, index: int) -> None:
        """Remove the element at an index; indexes count from 0."""
        self._take_turn()
        last = self.fetch(_FIRST_LEFT)[0]["last"]
        settled = self.fetch(_SETTLED, last=last)[0]["number"]
        if index < 0:
            raise Invalid(f"id: there is no index {index}; indexes count from 0.")
        if index < settled:
            raise Conflict(
                f"The element at index {index} can no longer be removed: pops go from left to right, and "
                f"the last one was at index {settled}."
            )
        rows = self.fetch(_NTH, last=last, at=min(index - settled, 2**62))
        if not rows:
            raise Invalid(f"id: the list has no element at index {index}.")
        self.session.execute(update(Element).where(Element.id == rows[0]["id"]).values(popped=True))

    def finish(self) -> None:
        """End the game with the list as it is."""
        self._take_turn()
        self.session.execute(update(Game).values(done=True))

    def _take_turn(self) -> None:
        budget = self.budget
        if self.world.turns(self.service) >= budget:
            raise Conflict(f"The budget of {budget} calls is used up.")

    @property
    def budget(self) -> int:
        """Calls that may be made in all."""
        rows = self.fetch(_GAME)
        if not rows:
            raise Conflict("There is no list in this world.")
        return int(rows[0]["budget"])

    # -- filling ----------------------------------------------------------------------------------------

    def set_up(self, initial: Sequence[int], target: Sequence[int], budget: int) -> None:
        """Lay out the game; the target must be a subsequence of the list."""
        rest = iter(initial)
        assert all(value in rest for value in target), "the target is no subsequence of the list"
        for table, values in ((Element, initial), (Target, target)):
            rows = [{"id": number, "value": value} for number, value in enumerate(values, 1)]
            if rows:
                self.session.execute(insert(table), rows)
        self.session.add(Game(id=1, budget=budget))
        self.session.flush()
