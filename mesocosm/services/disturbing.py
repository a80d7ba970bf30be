"""What may come between an agent and its world on purpose; who does it knows more than lies in the world."""

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
        """What is answered instead of making a call with these arguments (JSON); ``None``: it is made."""

    def shown(self, service: str, action: Action, raw: str, outcome: Outcome) -> Outcome:
        """What a reading call with these arguments shows of its result."""

    def meanwhile(self, service: str) -> Action | None:
        """What somebody else does in a service after a call."""
