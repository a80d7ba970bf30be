"""Saying that the task is done; the journal is its only record."""

from __future__ import annotations

from mesocosm.services.service import Store


class ClaimDoneStore(Store):
    """Stores nothing: only the call itself counts."""
