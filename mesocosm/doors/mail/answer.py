"""Answers of mail operations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mesocosm.services.service import Reply


@dataclass(frozen=True)
class MailAnswer(Reply):
    """An answer that the protocol's own server puts into words."""

    repeatable: ClassVar[bool] = False  # its data is the mail server's, which uses it up

    body: bytes = b""
    data: Any = None
    """What that server needs."""
    said: str = ""
    """What the client learns, as the journal keeps it."""
    revision: int | None = None
    """Number of the last call that changed the service, this one included."""
    previous: int | None = None
    """The same before this call."""

    @property
    def text(self) -> str:
        """The answer as the client sees it."""
        return self.said
