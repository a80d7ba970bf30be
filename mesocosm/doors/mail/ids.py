"""Sets of message ids, written as IMAP writes them."""

from __future__ import annotations

from collections.abc import Iterable


def write_ids(ids: Iterable[int]) -> str:
    """Ids in ascending order: ``1:3,7``."""
    runs: list[list[int]] = []
    for key in ids:
        if runs and key == runs[-1][1] + 1:
            runs[-1][1] = key
        else:
            runs.append([key, key])
    return ",".join(f"{first}:{last}" if last > first else f"{first}" for first, last in runs)


def read_ids(text: str) -> list[int]:
    """The ids that ``write_ids`` wrote."""
    ids: list[int] = []
    for run in filter(None, text.split(",")):
        first, _, last = run.partition(":")
        ids.extend(range(int(first), int(last or first) + 1))
    return ids
