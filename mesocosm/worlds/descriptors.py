"""Waiting for a descriptor."""

from __future__ import annotations

import select


def readable(descriptor: int, seconds: float) -> bool:
    """True if the descriptor becomes readable, or reaches its end, within ``seconds``.

    By ``poll``: ``select`` takes no descriptors above 1,023, and a server has one for every file of every
    episode that is open.
    """
    return _ready(descriptor, select.POLLIN, seconds)


def writable(descriptor: int, seconds: float) -> bool:
    """True if the descriptor takes something, or nobody reads from it any more, within ``seconds``."""
    return _ready(descriptor, select.POLLOUT, seconds)


def _ready(descriptor: int, event: int, seconds: float) -> bool:
    poll = select.poll()
    poll.register(descriptor, event)
    return bool(poll.poll(max(0.0, seconds) * 1000))
