"""Entries below a path: one thing, or the episodes of runs and logs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mesocosm.errors import UsageError
from mesocosm.evaluation.browser.application import ListedEntry


def entries_of(path: Path) -> Sequence[ListedEntry]:
    """List the entries at a path; raises ``UsageError`` if there are none."""
    if not path.exists():
        raise UsageError(f"there is no {path}")
    if _is_one(path):
        return [ListedEntry(path)]
    logged = path.is_file() or any(True for _ in path.rglob("*.eval"))
    runs = path.is_dir() and any(True for _ in path.rglob("run.json"))
    if logged or runs:
        return _episodes(path)
    worlds = {file.parent.parent for file in path.rglob("world.json") if file.parent.name == "world"}
    found = [ListedEntry(one) for one in sorted(worlds) if _is_one(one)]
    if not found:
        raise UsageError(f"{path} holds no instance, episode, run or log")
    return found


def _is_one(path: Path) -> bool:
    if any((folder / "episode.json").is_file() for folder in (path / "episode", path)):
        return True
    return (path / "world" / "world.json").is_file() and (path / "expected.json").is_file()


def _episodes(path: Path) -> list[ListedEntry]:
    """The samples of logs and runs, in the order of a report."""
    from mesocosm.evaluation.report.rows import read_samples
    from mesocosm.evaluation.report.tables import place

    found = []
    for sample in read_samples([path]):
        folder = Path(place(sample)) if sample.world else None
        found.append(ListedEntry(folder if folder and _is_one(folder) else None, sample))
    return sorted(found, key=lambda one: one.row["verdict"] != "failed")
