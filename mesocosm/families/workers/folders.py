"""Folders as bytes, to be carried from one machine to another."""

from __future__ import annotations

import io
from pathlib import Path

from mesocosm.worlds.archives import pack, unpack


def packed(folder: Path) -> bytes:
    file = io.BytesIO()
    pack(folder, file)
    return file.getvalue()


def unpacked(carried: bytes, folder: Path) -> None:
    """Make a folder that was carried lie at a path that is not there yet."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    file = folder.with_name(f".{folder.name}.carried")
    try:
        file.write_bytes(carried)
        unpack(file, folder)
    finally:
        file.unlink(missing_ok=True)
