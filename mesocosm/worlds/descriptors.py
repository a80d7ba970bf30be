"""Waiting for a descriptor."""

from __future__ import annotations

import select


def readable(descriptor: int, seconds: float) -> bool:
    """True if the descriptor becomes readable, or reaches its end, within ``seconds``.

    By ``poll``: ``select`` takes no descriptors above 1,023, and a server has one for every file of every
    episode that is open.
    """
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(max(0.0, seconds) * 1000))
