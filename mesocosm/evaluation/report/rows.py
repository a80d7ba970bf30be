"""Rows of a report: the samples of logs of inspect_ai and of run directories."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field, ValidationError

from mesocosm.errors import UsageError
from mesocosm.evaluation.failures import classify
from mesocosm.evaluation.reasons import reason_of
from mesocosm.evaluation.reports import read_results
from mesocosm.evaluation.runs import CUT_OFF, RunResult
from mesocosm.evaluation.samples import SampleRow
from mesocosm.families.episode import Episode
from mesocosm.families.evidence_coverage import EvidenceCoverage, read_journal
from mesocosm.families.quantities import show_length
from mesocosm.families.verdict import Verdict

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSampleSummary

MODELLESS = ("reference", "none", "command", "random")
"""Agents whose name stands where others have their model's."""
BASELINES = {
    "reference": "perfect player (reference)",
    "optimal": "perfect player (optimal)",
    "random": "baseline: random calls (random)",
    "none": "baseline: does nothing (none)",
}
"""Rows to compare others with, by the agent."""
_TALKING = ("temperature", "window", "max_tokens", "max_turns", "max_failed_rounds", "parallel", "final_text")
"""Settings that only a conversation with a model has."""
_ANSWERING = ("temperature", "max_tokens")
"""Those that a model has which answers questions."""
SETTINGS = (*_TALKING, "max_calls", "tools", "structured", "agent", "agent_command", "base_url", "version")
"""Settings that separate rows of reports, besides model, strategy, added services and disturbances."""
_LEAST_SHOWN = 60
"""Characters of a value that stand in the name of a row."""


class Sample(SampleRow):
    """A row with its actor and cost."""

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
    run: str = ""
    """The evaluation that it belongs to; logs that go on with one another have the same."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """Those of the generator that were given."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """Settings of the run, by the names of `SETTINGS`, as far as they apply."""
    labels: dict[str, Any] = Field(default_factory=dict)
    """Labels of a question, such as its kind."""
    variant: str = ""
    """The settings in which this sample differs from others of the report."""
    series: str = ""
    """Its row's name, where rows are not by model and settings."""

    @property
    def judged(self) -> bool:
        return self.verdict in ("passed", "failed")

    @property
    def instance(self) -> tuple[object, ...]:
        """Key of the instance and settings, whoever acted."""
        given = " ".join(f"{name}={value}" for name, value in sorted(self.parameters.items()))
        # Questions of one seed are told apart by their ids.
        asked = self.sample if self.agent == "answer" else given
        return self.task, self.length, self.seed, self.horizon, asked

    @property
    def who(self) -> str:
        """Model, strategy and settings, as a series of a figure is called."""
        disturbed = f", disturbed ({self.disturb})" if self.disturb else ""
        return self.series or f"{self.undisturbed}{disturbed}"

    @property
    def undisturbed(self) -> str:
        """The same, whatever it was disturbed by."""
        return self.named + ("" if self.plan == "none" else f", {self.plan}")

    @property
    def named(self) -> str:
        """The model, with the settings in which it differs from other rows."""
        name = BASELINES.get(self.agent, self.model)
        return f"{name}, {self.variant}" if self.variant else name

    @property
    def baseline(self) -> bool:
        """True for a baseline: an upper bound, or an actor without knowledge."""
        return self.agent in BASELINES

    @property
    def plan(self) -> str:
        """The strategy with the services that were added."""
        if not self.services:
            return self.strategy
        added = f"with {self.services.replace(' ', ', ')}"
        return added if self.strategy == "none" else f"{self.strategy} {added}"


def read_samples(paths: Iterable[Path], by: Sequence[str] = ()) -> list[Sample]:
    """All samples of logs (``.eval`` files, or folders of them) and of run directories.

    A sample that was run again after an error or an interruption, in the same evaluation, counts once, with
    what came of it last. Samples of different evaluations are different runs.

    Args:
        paths: Logs and folders.
        by: What rows of the report are by, instead of model and settings; see `value_of`.
    """
    found: dict[tuple[object, ...], Sample] = {}
    for path in paths:
        for one in _read(path):
            key = (one.run, one.sample, one.epoch)
            kept = found.get(key)
            if kept is None or not kept.judged or one.judged:
                found[key] = one
    if not found:
        raise UsageError("there are no samples in these logs")
    samples = list(found.values())
    name_rows(samples, by)
    return samples


def name_rows(samples: Sequence[Sample], by: Sequence[str] = ()) -> None:
    """Give every sample the settings by which it differs from others, and the name of its row."""
    seen: dict[str, dict[str, set[str]]] = {}
    for one in samples:
        for name, value in one.settings.items():
            of = one.task if name == "version" else ""  # versions of different tasks are not compared
            seen.setdefault(name, {}).setdefault(of, set()).add(str(value))
    differing = {name for name, values in seen.items() if any(len(some) > 1 for some in values.values())}
    for one in samples:
        one.variant = ", ".join(
            _shown(name, one.settings[name]) for name in SETTINGS if name in differing & one.settings.keys()
        )
        one.series = ", ".join(_shown(name, value_of(one, name, samples)) for name in by)


def value_of(sample: Sample, name: str, samples: Sequence[Sample]) -> Any:
    """A setting, a field, a parameter of the generator or a label of a sample; ``UsageError`` with what there
    is for a name that no sample has."""
    for values in (sample.settings, _plain(sample), sample.parameters, sample.labels):
        if name in values:
            return values[name]
    known = {key for one in samples for key in (*one.settings, *one.parameters, *one.labels)}
    if name not in known:
        there = ", ".join(sorted(known | _plain(sample).keys()))
        raise UsageError(f"--by {name}: no sample has that; there are: {there}")
    return "-"


def _plain(sample: Sample) -> dict[str, Any]:
    """The fields that rows can be by."""
    values = sample.model_dump(exclude={"settings", "parameters", "labels", "variant", "series"})
    return {**values, "log": Path(sample.log).name if sample.log.endswith(".eval") else sample.log}


def _shown(name: str, value: Any) -> str:
    if name in ("model", "strategy", "task", "log", "agent") or (isinstance(value, str) and " " in value):
        text = str(value)
    elif name == "length" or name == "window":
        text = f"{name} {show_length(value) if value else 'none'}"
    elif isinstance(value, bool):
        text = name if value else f"no {name}"
    else:
        text = f"{name} {'default' if value is None else value}"
    return text if len(text) <= _LEAST_SHOWN else text[: _LEAST_SHOWN - 1] + "…"


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
    log, summaries = read_summaries(path)
    for summary in summaries:
        if (sample := _sample(log, summary, path)) is not None:
            yield sample


def read_summaries(path: Path) -> tuple[EvalLog, list[EvalSampleSummary]]:
    """Read the header of a log and the summaries of its samples, without the rest, for speed."""
    from inspect_ai.log import read_eval_log, read_eval_log_sample_summaries

    try:
        return read_eval_log(str(path), header_only=True), read_eval_log_sample_summaries(str(path))
    except Exception as error:  # noqa: BLE001 - whatever inspect_ai raises of a file that is no log of its
        raise UsageError(f"{path} is no log that inspect_ai can read: {error}") from None


def _sample(log: EvalLog, summary: EvalSampleSummary, path: Path) -> Sample | None:
    known = dict(log.eval.metadata or {})
    order = summary.metadata.get("question", summary.metadata)
    # inspect_ai shortens long values of a summary to texts; the score has then what is needed.
    order = order if isinstance(order, dict) else {}
    scores = list((summary.scores or {}).values())
    values: dict[str, Any] = {
        "task": log.eval.task.split("/")[-1],
        "length": order.get("length"),
        "seed": order.get("seed", 0),
        "agent": known.get("agent", "answer"),
        "strategy": known.get("strategy", "none"),
        "window": known.get("window"),
        "services": " ".join(known.get("services", [])),
        "disturb": _given(log).get("disturb") or "",
    }
    if "task" in order:
        values["task"] = order["task"]
    if scores:
        values |= scores[0].metadata or {}
    usage = list(summary.model_usage.values())
    costs = [one.total_cost for one in usage if one.total_cost is not None]
    agent = str(values["agent"])
    parameters = order.get("parameters", {})
    values |= {
        "model": agent if agent in MODELLESS else str(log.eval.model),
        # Instances of a task that differ in their parameters only have the same id.
        "sample": " ".join([str(summary.id), *(f"{k}={v}" for k, v in parameters.items())]),
        "epoch": summary.epoch,
        "input_tokens": sum(one.input_tokens for one in usage) or None,
        "cost": sum(costs) if costs else None,
        "seconds": summary.total_time,
        "error": "" if scores else reason_of(summary.error or "not finished"),
        "log": str(path),
        "run": log.eval.task_id,
        "parameters": parameters,
        "settings": _settings(log, values),
        "labels": {k.removeprefix("label_"): v for k, v in values.items() if k.startswith("label_")},
    }
    if not scores:
        values["verdict"] = "cancelled" if was_cancelled(log, summary.error) else "errored"
    try:
        return Sample.model_validate(values)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise UsageError(f"{path} was written by another version of Mesocosm: look at {where}") from None


def was_cancelled(log: EvalLog, error: str | None) -> bool:
    """True if a sample without a score was interrupted by the user."""
    return error.startswith("CancelledError") if error else log.status in ("cancelled", "started")


def _given(log: EvalLog) -> dict[str, Any]:
    """Return the arguments of a log's task."""
    return dict(log.eval.task_args or {})


def _settings(log: EvalLog, known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a log's samples that characterise the actor."""
    agent = known["agent"]
    given = {**_given(log), "temperature": log.plan.config.temperature, "window": known.get("window")}
    given |= {"base_url": log.eval.model_base_url, "agent": agent, "tools": known.get("tools", "all")}
    given["structured"] = bool((log.eval.metadata or {}).get("structured"))
    names = [name for name in SETTINGS if name not in (*_TALKING, "version")]
    if agent == "react":
        names += _TALKING
    elif agent == "answer":
        names = list(_ANSWERING)
    elif agent not in MODELLESS:
        names += ["temperature"]
    if agent in MODELLESS:
        names = [name for name in names if name not in ("base_url", "agent")]
    found = {name: given.get(name) for name in names}
    return found | ({"version": known["version"]} if known.get("version") else {})


def _runs(path: Path) -> Iterator[Sample]:
    for folder in sorted({file.parent for file in path.rglob("run.json")}) or [path]:
        for result in read_results([folder]):
            yield _run(result, folder, _reading(folder / "episode"))


def _reading(path: Path) -> EvidenceCoverage | None:
    """Analyse a kept episode; ``None`` if it or its task is gone."""
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


def _run(result: RunResult, folder: Path, reading: EvidenceCoverage | None) -> Sample:
    talk = result.conversation
    verdict = Verdict.model_validate(result.model_dump(include=set(Verdict.model_fields)))
    row = SampleRow.of(
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
        services=result.services,
    )
    settings: dict[str, Any] = {"tools": result.tools}
    if talk:
        settings |= {name: getattr(talk, name) for name in ("temperature", "window", "max_failed_rounds")}
    cut = verdict.verdict == "errored" and CUT_OFF in (result.error or "")
    if verdict.verdict == "failed" and reading is None:
        row.failure = classify(verdict, EvidenceCoverage(writes=1), talk)
    return Sample(
        **row.model_dump(exclude={"world", "verdict"}),
        verdict="cancelled" if cut else row.verdict,
        model=talk.model if talk else result.agent,
        sample=str(folder),
        seconds=result.seconds,
        error=reason_of(result.error or ""),
        log=str(folder / "run.json"),
        run=str(folder.resolve()),
        parameters=result.parameters,
        settings=settings,
        world=".",
    )
