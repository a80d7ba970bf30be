"""Whole episodes as files, to be carried from one machine to another."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import IO

from mesocosm.families.episode import Episode
from mesocosm.worlds import archives


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
            archives.pack(copy, packed, level=3)
        packed.seek(0)
    except BaseException:
        packed.close()
        raise
    return packed
