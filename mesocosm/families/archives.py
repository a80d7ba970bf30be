"""Whole episodes as files, to be carried from one machine to another."""

from __future__ import annotations

import shutil
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from mesocosm.families.episode import Episode

# Python 3.11 has it from 3.11.4 on; an archive comes from a server that its holder has the admin token of.
_FILTER: dict[str, Any] = {"filter": "tar"} if hasattr(tarfile, "tar_filter") else {}


def pack(episode: Episode, path: Path) -> None:
    """Write an episode as it is between two calls, without its snapshots, to a file (tar, gzip)."""
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".packing-") as folder:
        copy = Path(folder) / "episode"
        episode.fork(copy).close()
        with tarfile.open(path, "w:gz", compresslevel=3) as archive:
            archive.add(copy, ".")


def unpack(path: Path, folder: Path) -> None:
    """Make the episode of an archive lie in a folder that is not there yet."""
    draft = folder.with_name(f".{folder.name}.unpacking")
    shutil.rmtree(draft, ignore_errors=True)
    try:
        with tarfile.open(path) as archive:
            archive.extractall(draft, **_FILTER)
        draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
