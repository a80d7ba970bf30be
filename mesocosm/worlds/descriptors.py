"""Descriptors: waiting for one, and folders as descriptors."""

from __future__ import annotations

import os
import select
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

# Folders as descriptors: paths below them cannot be swapped for links meanwhile.

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def open_folder(name: str | Path, parent: int | None = None) -> Iterator[int]:
    """A descriptor of a folder, which must not be a link; ``parent`` is that of the folder it lies in."""
    opened = os.open(name, FOLDER, dir_fd=parent)
    try:
        yield opened
    finally:
        os.close(opened)


@contextmanager
def open_below(root: str | Path, parts: Iterable[str]) -> Iterator[int]:
    """A descriptor of the folder that lies below ``root`` by these names, none of which may be a link."""
    opened = os.open(root, FOLDER)
    try:
        for part in parts:
            inner = os.open(part, FOLDER, dir_fd=opened)
            os.close(opened)
            opened = inner
        yield opened
    finally:
        os.close(opened)


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
