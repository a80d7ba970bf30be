"""Outcomes of a call on a world: an answer, a refusal, or an internal error."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import orjson

from mesocosm.errors import Invalid, Refusal
from mesocosm.services.calling import FAULT_TEXT
from mesocosm.services.service import Image, Page, Reply
from mesocosm.worlds import deadlines
from mesocosm.worlds.error_mapping import declined
from mesocosm.worlds.limits import settings


@dataclass(frozen=True)
class Outcome:
    """Outcome of one call."""

    status: Literal["ok", "refused", "fault", "disturbed"]
    blocks: tuple[str | Image, ...] = field(default=())
    reply: Reply | None = None
    """Reply to an HTTP client; there are no blocks then."""
    refusal: Refusal | None = None

    @property
    def is_error(self) -> bool:
        """True if the caller is told that the call failed."""
        return self.status != "ok"

    @property
    def text(self) -> str:
        """All text that the agent reads."""
        if self.reply is not None:
            return self.reply.text
        return "\n".join(block for block in self.blocks if isinstance(block, str))


def failed(error: Exception, size: int) -> tuple[Outcome, str | None]:
    """Classify the exception being handled as a refusal or an internal error.

    ``size``: characters of what the call was given to read.
    """
    if deadlines.overdue():
        # A statement that was interrupted, or what somebody made of it.
        raise deadlines.Overdue from error
    refusal = declined(error, size)
    if refusal is None:
        return fault()
    return Outcome("refused", (refusal.message,), refusal=refusal), None


def too_long() -> Outcome:
    """The outcome of a call that met its deadline."""
    refusal = Invalid(
        f"This call took longer than {settings().call_timeout} seconds and was given up; nothing was "
        "changed. Ask for less at once."
    )
    return Outcome("refused", (refusal.message,), refusal=refusal)


def fault() -> tuple[Outcome, str]:
    """The outcome of the exception being handled: the agent learns that it happened, the journal what."""
    return Outcome("fault", (FAULT_TEXT,)), traceback.format_exc()


def outcome_of(result: Any) -> Outcome:
    """The outcome of a call that returned something."""
    return Outcome("ok", reply=result) if isinstance(result, Reply) else Outcome("ok", _blocks(result))


def _blocks(result: Any) -> tuple[str | Image, ...]:
    """A tool's result as content blocks: text as it is, data as compact JSON, images as images."""
    if isinstance(result, str):
        return (result,)
    if isinstance(result, Image):
        return (result,)
    if isinstance(result, tuple):
        return tuple(block for part in result for block in _blocks(part))
    if isinstance(result, Page):
        items = orjson.dumps(list(result.items)).decode()
        if result.next_page is None:
            return (items,)
        return (items, orjson.dumps({"next_page": result.next_page, "total": result.total}).decode())
    if isinstance(result, Mapping | Sequence):
        return (orjson.dumps(result).decode(),)
    raise TypeError(f"a tool returned {type(result).__name__}; expected text, data, Image or Page")
