"""Rows of a report: the samples of logs of inspect_ai and of run directories."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from mesocosm.errors import UsageError
from mesocosm.evaluation.failures import classify
from mesocosm.evaluation.reports import read_results
from mesocosm.evaluation.runs import RunResult
from mesocosm.evaluation.samples import Row
from mesocosm.families.episode import Episode
from mesocosm.families.reading import Reading, read_journal
from mesocosm.families.verdict import Verdict

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSampleSummary

MODELLESS = ("reference", "none", "command")


class Sample(Row):
    """A row, with who acted and what it cost."""

    model: str
    sample: str
    epoch: int = 1
    input_tokens: int | None = None
    cost: float | None = None
    """US dollars, where inspect_ai knows the model's prices."""
    seconds: float | None = None
    error: str = ""
    """Of infrastructure, one line; the sample is no failure of the model's then."""
    log: str = ""
    """The log that it stands in."""

    @property
    def instance(self) -> tuple[str, int | None, int, int | None]:
        """What was run, whoever acted."""
        return self.task, self.length, self.seed, self.horizon

    @property
    def who(self) -> str:
        """Model and strategy, as a series of a figure is called."""
        disturbed = f", disturbed ({self.disturb})" if self.disturb else ""
        return f"{self.undisturbed}{disturbed}"

    @property
    def undisturbed(self) -> str:
        """The same, whatever it was disturbed by."""
        added = f" with {self.services.replace(' ', ', ')}" if self.services else ""
        strategy = "" if self.strategy == "none" else f", {self.strategy}"
        return f"{self.model}{strategy}{added}"


def read_samples(paths: Iterable[Path]) -> list[Sample]:
    """All samples of logs (``.eval`` files, or folders of them) and of run directories.

    A sample that was run again after an error counts once, with what came of it last.
    """
    found: dict[tuple[object, ...], Sample] = {}
    for path in paths:
        for one in _read(path):
            key = (
                one.model,
                one.agent,
                one.strategy,
                one.window,
                one.services,
                one.tools,
                one.disturb,
                one.sample,
                one.epoch,
            )
            kept = found.get(key)
            if kept is None or kept.verdict == "errored" or one.verdict != "errored":
                found[key] = one
    if not found:
        raise UsageError("there are no samples in these logs")
    return list(found.values())


def _read(path: Path) -> Iterator[Sample]:
    logs = log_files(path)
    if path.is_dir() and not logs:
        yield from _runs(path)
    for log in logs:
        yield from read_log(log)


def log_files(path: Path) -> list[Path]:
    """The logs of a folder, or the one log that it is."""
    if not path.exists():
        raise UsageError(f"there is no {path}")
    return [path] if path.suffix in (".eval", ".json") else sorted(path.rglob("*.eval"))


def read_log(path: Path) -> Iterator[Sample]:
    """The samples of one log."""
    log, summaries = read_summaries(path)
    for summary in summaries:
        if (sample := _sample(log, summary, path)) is not None:
            yield sample


def read_summaries(path: Path) -> tuple[EvalLog, list[EvalSampleSummary]]:
    """The head of a log and the summaries of its samples; nothing else is read, so that it is quick."""
    from inspect_ai.log import read_eval_log, read_eval_log_sample_summaries

    try:
        return read_eval_log(str(path), header_only=True), read_eval_log_sample_summaries(str(path))
    except Exception as error:  # noqa: BLE001 - whatever inspect_ai raises of a file that is no log of its
        raise UsageError(f"{path} is no log that inspect_ai can read: {error}") from None


def _sample(log: EvalLog, summary: EvalSampleSummary, path: Path) -> Sample | None:
    known = dict(log.eval.metadata or {})
    order = summary.metadata.get("question", summary.metadata)
    scores = list((summary.scores or {}).values())
    values: dict[str, Any] = {
        "task": log.eval.task.split("/")[-1],
        "length": order.get("length"),
        "seed": order.get("seed", 0),
        "agent": known.get("agent", "answer"),
        "strategy": known.get("strategy", "none"),
        "window": known.get("window"),
        "services": " ".join(known.get("services", [])),
    }
    if "task" in order:
        values["task"] = order["task"]
    if scores:
        values |= scores[0].metadata or {}
    usage = list(summary.model_usage.values())
    costs = [one.total_cost for one in usage if one.total_cost is not None]
    agent = str(values["agent"])
    values |= {
        "model": agent if agent in MODELLESS else str(log.eval.model),
        # Instances of a task that differ in their parameters only have the same id.
        "sample": " ".join([str(summary.id), *(f"{k}={v}" for k, v in order.get("parameters", {}).items())]),
        "epoch": summary.epoch,
        "input_tokens": sum(one.input_tokens for one in usage) or None,
        "cost": sum(costs) if costs else None,
        "seconds": summary.total_time,
        "error": "" if scores else (summary.error or "not finished").strip().splitlines()[0][:200],
        "log": str(path),
    }
    try:
        return Sample.model_validate(values)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise UsageError(f"{path} was written by another version of Mesocosm: look at {where}") from None


def _runs(path: Path) -> Iterator[Sample]:
    for folder in sorted({file.parent for file in path.rglob("run.json")}) or [path]:
        for result in read_results([folder]):
            yield _run(result, folder, _reading(folder / "episode"))


def _reading(path: Path) -> Reading | None:
    """What was read in a kept episode; ``None`` where it is gone, or its task is."""
    if not path.is_dir():
        return None
    try:
        episode = Episode(path)
    except (UsageError, OSError):
        return None
    try:
        return read_journal(episode)
    except (UsageError, OSError):
        return None
    finally:
        episode.close()


def _run(result: RunResult, folder: Path, reading: Reading | None) -> Sample:
    talk = result.conversation
    verdict = Verdict.model_validate(result.model_dump(include=set(Verdict.model_fields)))
    row = Row.of(
        verdict,
        talk,
        reading,
        measures=result.measures,
        steps=result.steps,
        task=result.task,
        length=result.length,
        seed=result.seed,
        edl=result.edl,
        agent=result.agent,
        strategy=talk.strategy if talk else "none",
        window=talk.window if talk else None,
        tool_calls=result.tool_calls,
        delivered_tokens=result.delivered_tokens,
        tools=result.tools,
        disturb=result.disturb,
    )
    if verdict.verdict == "failed" and reading is None:
        row.failure = classify(verdict, Reading(writes=1), talk)
    return Sample(
        **row.model_dump(exclude={"world"}),
        model=talk.model if talk else result.agent,
        sample=str(folder),
        seconds=result.seconds,
        error=(result.error or "").strip().splitlines()[-1][:200] if result.error else "",
        log=str(folder / "run.json"),
        world=".",
    )
