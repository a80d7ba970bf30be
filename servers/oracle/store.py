"""The task's oracle as a service. It knows the truth, and is offered only on request."""

from __future__ import annotations

from mesocosm.errors import NotFound
from mesocosm.services.service import Store
from mesocosm.services.world import Adviser


class OracleStore(Store):
    """Passes on what is known of the episode outside of its world."""

    def state(self) -> str:
        """Return what is known so far."""
        return self._adviser.told_state()

    def plan(self) -> str:
        """Return the next steps."""
        return self._adviser.told_plan()

    @property
    def _adviser(self) -> Adviser:
        adviser = self.world.adviser
        if adviser is None:
            raise NotFound("There is no oracle here.")
        return adviser
