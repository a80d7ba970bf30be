"""Integrity of the judging code: an agent program must not be able to change it, and a check afterwards shows
that it has not.

The places of the code are read-only for the agent (see ``screen``). Two ways round that are left, and both
are looked for afterwards: a folder above such a place may be renamed and another one put there, and a file
may have a second name elsewhere, as installers make them that share files between environments.
"""

# Code that judges has to be out of the agent's reach, which runs as the same user (decision 033).

from __future__ import annotations

import os
import site
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import mesocosm
from mesocosm.errors import UsageError
from mesocosm.families import trust
from mesocosm.services.content import roots

_CODE = (".py", ".pyc", ".so", ".pth", ".zip", ".cfg")
_Identity = tuple[int, ...]


def close_other_ways() -> None:
    """From now on, neither this process nor those that it starts find code in folders that anybody may fill:
    the working directory, and a folder for the user's packages that is not there yet."""
    os.environ["PYTHONSAFEPATH"] = "1"
    if sys.path and Path(sys.path[0] or ".").resolve() == Path.cwd() and _package().parent != Path.cwd():
        del sys.path[0]
    if site.getusersitepackages() not in sys.path:
        os.environ["PYTHONNOUSERSITE"] = "1"


OWN_VARIABLES = ("PYTHONSAFEPATH", "PYTHONNOUSERSITE")
"""Variables that this sets for ourselves and hides from the agent."""


def code_places() -> list[Path]:
    """Files and folders from which Python code may be loaded, by this process or one that it starts."""
    trusted = filter(None, os.environ.get(trust.VARIABLE, "").split(os.pathsep))
    found = [
        _package(),
        *(root.path for root in roots()),
        *map(Path, (sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix)),
        Path(sys.executable).resolve(),
        *(Path(entry or ".") for entry in sys.path),
        *(file for task in trusted for file in (Path(task), trust.code_of(Path(task)))),
    ]
    places = sorted({path.resolve() for path in found if path.exists()})
    return [path for path in places if not any(other in path.parents for other in places)]


def _package() -> Path:
    return Path(mesocosm.__file__).resolve().parent


class Unchanged:
    """Records the state of paths, and checks later that they are unchanged.

    Args:
        code: Places that only those can change who reach what is in them by another name.
        others: Folders of which only where they lie is looked at.
    """

    def __init__(self, code: Iterable[Path], others: Iterable[Path]) -> None:
        code = list(code)
        self._places = {path: _place(path) for path in (*code, *others)}
        self._named_twice = {path: seen for place in code for path, seen in _named_twice(place)}

    def check(self) -> None:
        """``UsageError`` if one of them is another by now: nothing that is judged then can be believed."""
        for path, seen in self._places.items():
            if _place(path) != seen:
                raise _changed(path)
        for name, identity in self._named_twice.items():
            if _identity(os.lstat(name)) != identity:
                raise _changed(Path(name))


def _changed(path: Path) -> UsageError:
    return UsageError(f"{path} was exchanged while the agent acted, so there is no verdict")


def _place(path: Path) -> _Identity:
    try:
        status = path.stat()
    except OSError:
        return ()
    return status.st_dev, status.st_ino


def _identity(status: os.stat_result) -> _Identity:
    # Whoever changes a file cannot set the time at which its inode changed.
    return status.st_dev, status.st_ino, status.st_size, status.st_ctime_ns


def _named_twice(place: Path) -> Iterator[tuple[str, _Identity]]:
    """The files of code below a place that have further names."""
    if place.is_file():
        status = place.stat()
        if status.st_nlink > 1:
            yield str(place), _identity(status)
        return
    folders = [str(place)]
    for folder in folders:
        try:
            entries = os.scandir(folder)
        except FileNotFoundError:  # somebody else's, gone in the meantime
            continue
        with entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif (
                    entry.name.endswith(_CODE) and (status := entry.stat(follow_symlinks=False)).st_nlink > 1
                ):
                    yield entry.path, _identity(status)
