"""Refusals that the product answers with HTTP statuses of its own."""

from __future__ import annotations

from mesocosm.errors import Conflict, Invalid


class Unprocessable(Invalid):
    """The arguments are well-formed but cannot be acted on (GitHub's "Validation Failed")."""

    status = 422


class NotMergeable(Conflict):
    """The pull request cannot be merged as it is."""

    status = 405
