"""Folders as descriptors: paths below them cannot be swapped for links meanwhile."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

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
