"""Loading a written dataset with the library ``datasets`` (extra ``datasets``)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mesocosm.errors import MissingExtra, UsageError
from mesocosm.kits.rollouts.dataset import RolloutRow, RolloutTrajectory
from mesocosm.kits.rollouts.dataset_files import read_questions, read_trajectories

if TYPE_CHECKING:
    from datasets import IterableDataset  # type: ignore[import-untyped]

ASK = "Put the answer between <answer> and </answer>."
"""How an answer is to be delivered, said after each question."""


def samples(path: str | Path) -> Iterator[dict[str, Any]]:
    """The questions of a dataset's folder, each with the ``messages`` that a model is to be sent.

    These are the history and, as the last message, the question. Trajectories are read one at a time.
    """
    rows: dict[str, list[RolloutRow]] = {}
    for row in read_questions(Path(path)):
        rows.setdefault(row.trajectory, []).append(row)
    for trajectory in read_trajectories(Path(path)):
        for row in rows.get(trajectory.id, []):
            yield row.model_dump(mode="json") | {"messages": prompt(trajectory, row)}


def prompt(trajectory: RolloutTrajectory, row: RolloutRow) -> list[dict[str, Any]]:
    """The history, then the question."""
    return [*trajectory.messages, {"role": "user", "content": f"{row.question} {ASK}"}]


def load(path: str | Path) -> IterableDataset:
    """A dataset's folder as an iterable dataset of ``samples``; needs the library ``datasets``."""
    try:
        from datasets import IterableDataset
    except ModuleNotFoundError:
        raise MissingExtra("to load a dataset", "datasets") from None
    if not (Path(path) / "questions").is_dir():
        raise UsageError(f"{path} is no dataset: it has no folder questions")
    found: IterableDataset = IterableDataset.from_generator(samples, gen_kwargs={"path": str(path)})
    return found
