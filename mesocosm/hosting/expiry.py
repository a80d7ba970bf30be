"""Expiry of unused data: abandoned episodes, and instances without episodes."""

from __future__ import annotations

import fcntl
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson

from mesocosm.errors import UsageError
from mesocosm.families.leases import IN_USE
from mesocosm.worlds.removal import remove

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_JOURNALS = ("world/journal.db-wal", "world/journal.db", ".")
"""Every call is written down in there, reads, too."""
MIN_ABANDONED = 60
"""The least number of seconds after which a client may be taken to be gone."""


def read_age(text: str) -> float:
    """Seconds of a text such as ``12h`` or ``7d``."""
    found = re.fullmatch(r"(\d+)([smhd])", text.strip())
    if not found or found[1].strip("0") == "":
        raise UsageError(f"not an age: {text!r}; write 90m, 12h or 7d")
    return int(found[1]) * _UNITS[found[2]]


def unused(folder: Path, seconds: float, names: tuple[str, ...] = _JOURNALS) -> bool:
    """True if nobody used an episode for ``seconds``."""
    last = 0.0
    for name in names:
        try:
            last = max(last, os.stat(folder / name).st_mtime)
        except OSError:
            continue
    return 0 < last < time.time() - seconds  # noqa: TID251 - of the server, in no world


def old_episodes(root: Path, seconds: float) -> list[Path]:
    """List the folders of episodes unused for ``seconds``."""
    return sorted(
        path for path in (root / "episodes").glob("*") if path.name.isalnum() and unused(path, seconds)
    )


def abandoned_episodes(root: Path) -> list[Path]:
    """List the folders of episodes that exceeded their ``abandoned_after``."""
    return [path for path in old_episodes(root, MIN_ABANDONED) if _is_abandoned(path)]


def _is_abandoned(path: Path) -> bool:
    try:
        after = orjson.loads((path / "episode.json").read_bytes()).get("abandoned_after")
    except (OSError, ValueError):
        return False  # removed meanwhile, or damaged, as whoever asks for it is told
    return after is not None and unused(path, after)


def old_instances(root: Path, seconds: float) -> list[Path]:
    """List instances from which no episode was made for ``seconds``."""
    folders = (path for path in (root / "instances").glob("*") if path.is_dir() and path.name[0] != ".")
    return sorted(path for path in folders if unused(path, seconds, (".",)))


def remove_instance(path: Path) -> None:
    """Remove an instance; it is rebuilt on demand."""
    gone = path.with_name(f".{path.name}.gone")
    path.rename(gone)
    remove(gone)
    path.with_name(f".{path.name}.lock").unlink(missing_ok=True)


@contextmanager
def alone(root: Path) -> Iterator[None]:
    """Have a state directory for oneself; ``UsageError`` where a server has it."""
    if not (root / "episodes").is_dir():
        raise UsageError(f"{root} is no state directory of a server")
    use = os.open(root / IN_USE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(use, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise UsageError(f"a server uses {root}: there, `serve --expire-after` removes what is old") from None
    finally:
        os.close(use)
