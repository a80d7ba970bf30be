"""Interface of disturbances between an agent and its world."""

from __future__ import annotations

from typing import Protocol

from mesocosm.services.outcomes import Outcome
from mesocosm.services.service import Action

COLLEAGUE = "(somebody else)"
"""The tool of a call that was made meanwhile, and by nobody who is judged."""


class Disturber(Protocol):
    """Comes between. What it does follows from the seed and from the calls that were made, so that the same
    calls are disturbed alike."""

    def instead(self, service: str, action: Action, raw: str) -> Outcome | None:
        """Return the outcome to show instead of making a call (arguments as JSON); ``None`` to make it."""

    def shown(self, service: str, action: Action, raw: str, outcome: Outcome) -> Outcome:
        """Return the outcome of a reading call as the agent shall see it."""

    def meanwhile(self, service: str) -> Action | None:
        """Return a change by somebody else to a service after a call."""
