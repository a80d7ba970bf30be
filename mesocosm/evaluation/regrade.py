"""Judging the episodes that were kept with a log again: nothing is run, no model is asked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from mesocosm.errors import UsageError
from mesocosm.families.family import load_family

if TYPE_CHECKING:
    from inspect_ai.log import EvalSample


class Regraded(BaseModel):
    """A sample that was judged again."""

    log: str
    sample: str
    epoch: int
    before: str
    now: str
    """``passed``, ``failed``, ``errored``, or ``missing`` where its episode is no longer there."""
    missed: str = ""
    """Names of the findings that do not pass."""

    @property
    def changed(self) -> bool:
        return self.before != self.now


def logs_in(path: Path) -> list[Path]:
    """The logs that a path names: a file, or those of a folder."""
    if path.suffix == ".eval":
        return [path] if path.is_file() else []
    return sorted(path.glob("*.eval")) if path.is_dir() else []


def regrade(log_path: Path, *, write: bool = False) -> list[Regraded]:
    """Judge all samples of a log again; ``write`` puts the new verdicts into the log."""
    from inspect_ai.log import read_eval_log, recompute_metrics, write_eval_log

    try:
        log = read_eval_log(str(log_path))
    except Exception as error:  # noqa: BLE001 - whatever inspect_ai raises of a file that is no log of its
        raise UsageError(f"{log_path} is no log that inspect_ai can read: {error}") from None
    for name in dict.fromkeys(one.metadata.get("file") for one in log.samples or []):
        if name:
            load_family(name).params_type  # noqa: B018 - says what is wrong with a file of the user's own
    found = [_regrade(log_path, sample) for sample in log.samples or []]
    if write and found:
        recompute_metrics(log)
        write_eval_log(log, str(log_path))
    return found


def _regrade(log_path: Path, sample: EvalSample) -> Regraded:
    from mesocosm.evaluation.episodes import score_kept
    from mesocosm.evaluation.reasons import EpisodeErrored
    from mesocosm.evaluation.sample_episode import STORED

    before = next((score.answer or "" for score in (sample.scores or {}).values()), "errored")
    kept: dict[str, Any] = {"log": str(log_path), "sample": str(sample.id), "epoch": sample.epoch}
    told = sample.store.get(STORED)
    if not told or not (log_path.parent / told["world"] / "episode").is_dir():
        return Regraded(**kept, before=before, now="missing")
    try:
        score = score_kept(log_path.parent, told, sample.metadata)
    except EpisodeErrored:
        return Regraded(**kept, before=before, now="errored")
    if sample.scores:
        name = next(iter(sample.scores))
        sample.scores[name] = score
    missed = str((score.metadata or {}).get("missed", ""))
    return Regraded(**kept, before=before, now=score.answer or "", missed=missed)
