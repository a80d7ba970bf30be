"""Disturbances of a service in its vendor's own form.

A service says it in ``servers/<name>/troubles.py``: ``TROUBLES`` has a ``Trouble`` for each of ``KINDS``. One
that has no such file is never disturbed: what runs beside the agent has no network that could fail.
"""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, get_args

from mesocosm.services.content import find_module
from mesocosm.services.service import Store

Kind = Literal["rate_limits", "errors", "timeouts", "sessions"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Trouble:
    """One way in which a service does not answer."""

    status: int
    """Of HTTP."""
    message: str
    """In the vendor's error body."""
    code: str | None = None
    """The vendor's error code, where its body has one."""
    headers: Mapping[str, str] = field(default_factory=dict)
    told: str = ""
    """Text of the vendor's MCP server; default: status and message."""
    spoken: Mapping[str, str] = field(default_factory=dict)
    """Texts of other protocols, by the first word of their operations: ``IMAP``, ``SMTP``."""

    def said(self, operation: str) -> str:
        """Return the message for an operation or tool."""
        protocol = operation.partition(" ")[0]
        return self.spoken.get(protocol) or self.told or f"{self.status}: {self.message}"


_CREDENTIALS = (
    "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other "
    "valid authentication credential."
)


def google_troubles(
    product: str, limited: str, *, status: int = 429, code: str = "rateLimitExceeded"
) -> Mapping[Kind, Trouble]:
    """Return the errors of a Google API: https://cloud.google.com/apis/design/errors

    Args:
        product: Its name, as the tools say it.
        limited: What it says of a quota that is used up.
        status: With which HTTP status it does.
        code: And for which reason.
    """

    def trouble(status: int, name: str, message: str, code: str, more: str = "") -> Trouble:
        return Trouble(
            status, message, code=code, told=f"{product} API error {status} {name}: {message}{more}"
        )

    unavailable = "The service is currently unavailable."
    return {
        "rate_limits": trouble(status, "RESOURCE_EXHAUSTED", limited, code),
        "errors": trouble(503, "UNAVAILABLE", unavailable, "backendError"),
        "timeouts": trouble(504, "DEADLINE_EXCEEDED", "Deadline exceeded", "deadlineExceeded"),
        "sessions": trouble(
            401, "UNAUTHENTICATED", _CREDENTIALS, "authError", more=" The token was refreshed."
        ),
    }


@dataclass(frozen=True)
class Touched:
    """A change by somebody else to an existing row. No task depends on it.

    Whoever judges takes the row to have been so from the beginning.
    """

    table: str
    key: Mapping[str, Any]
    """Columns by which the row is found."""
    values: Mapping[str, Any]
    """Columns that are changed, as the database holds them."""


Touch = Callable[[Any, random.Random], Touched | None]
"""Next change, given the store and dice; ``None`` if there is nothing to change."""


def began(store: Store) -> str:
    """Return the instant at which the world was finished (``2025-01-15T09:00:00Z``): anything created later
    is the agent's, and nobody else touches it.
    """
    return f"{store.world.manifest.start:%Y-%m-%dT%H:%M:%SZ}"


@cache
def load_troubles(service: str) -> Mapping[Kind, Trouble]:
    """Load the disturbances of a service; empty if it is never disturbed."""
    name = find_module("servers", service, "troubles")
    found: Mapping[Kind, Trouble] = importlib.import_module(name).TROUBLES if name else {}
    return found


@cache
def load_touch(service: str) -> Touch | None:
    """Load the changes by others in a service; ``None`` if there are none."""
    name = find_module("servers", service, "troubles")
    found: Touch | None = getattr(importlib.import_module(name), "touch", None) if name else None
    return found
