"""Whole episodes as files, to be carried from one machine to another."""

from __future__ import annotations

import shutil
import tarfile
import tempfile
from pathlib import Path
from typing import IO, Any

from mesocosm.families.episode import Episode

# Python 3.11 has it from 3.11.4 on; an archive comes from a server that its holder has the admin token of.
_FILTER: dict[str, Any] = {"filter": "tar"} if hasattr(tarfile, "tar_filter") else {}


def pack(episode: Episode) -> IO[bytes]:
    """An episode as it is between two calls, without its snapshots, as an open file (tar, gzip).

    The file has no name, so that nobody else can read what is expected, and nothing is left of it.
    """
    beside = episode.path.parent
    packed = tempfile.TemporaryFile(dir=beside)  # noqa: SIM115 - who asked for it closes it
    try:
        with tempfile.TemporaryDirectory(dir=beside, prefix=".packing-") as folder:
            copy = Path(folder) / "episode"
            episode.fork(copy).close()
            with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=3) as archive:
                archive.add(copy, ".")
        packed.seek(0)
    except BaseException:
        packed.close()
        raise
    return packed


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
