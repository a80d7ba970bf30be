"""A request's own id, by which it is found again in answers, logs and journals: the client's, or one made."""

from __future__ import annotations

import re
import secrets
from contextvars import ContextVar

HEADER = "X-Request-Id"
RAW = HEADER.lower().encode()

current: ContextVar[str | None] = ContextVar("request_id", default=None)
"""Id of the request being answered."""
_ALLOWED = re.compile(r"[\w.:-]{1,64}", re.ASCII)


def new_id() -> str:
    """One for a request that came without."""
    return secrets.token_hex(8)


def known(text: str | None) -> str | None:
    """Return a client's request id if it is acceptable."""
    return text if text and _ALLOWED.fullmatch(text) else None
