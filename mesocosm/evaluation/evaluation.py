"""Running an evaluation: tasks times strategies times models, resumable, with logs that inspect_ai reads."""

# Logs are inspect_ai's, so that its viewer and tools work on them (decision 061).

from __future__ import annotations

import errno
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from mesocosm.agents.react import RETRIES, check_endpoint, open_model
from mesocosm.agents.scripted.ability import check_can_answer, check_can_play
from mesocosm.agents.strategies.registry import parse_strategies
from mesocosm.errors import MissingExtra, UsageError
from mesocosm.evaluation.estimate import Estimate, estimate
from mesocosm.evaluation.progress import Say, Watch, read_prices, watching
from mesocosm.evaluation.questions import question_sets
from mesocosm.evaluation.reasons import reason_of
from mesocosm.evaluation.report.rows import was_cancelled
from mesocosm.evaluation.stage import check_calls, given_stage, kept_instances
from mesocosm.families.family import family_names, load_family
from mesocosm.families.instances import EXPECTED
from mesocosm.families.quantities import parse_size

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.log import EvalLog
    from inspect_ai.model import Model

_DOUBTFUL = 64_000
"""Lengths, in tokens, up to which one may be below the minimum of a task."""
ERRING = ("listworld", "treeworld", "gridworld")
"""Tasks whose possible calls are known at every step, so that one can be drawn by lot."""
MODELLESS = ("reference", "none", "command", "random")
"""Agents that need no model of inspect_ai's."""


class Evaluation(BaseModel):
    """Evaluation to run."""

    tasks: list[str]
    models: list[str] = []
    length: str | None = None
    n: str | None = None
    """Sizes: operations of dependency trees, calls of an optimal policy in the worlds of LUMINA."""
    seeds: str | None = None
    strategies: list[str] = ["none"]
    window: str = "128k"
    max_tokens: int | None = None
    """Of an answer; 0: no limit but the provider's."""
    parallel: bool = True
    """True if a model may make several calls in one turn."""
    max_calls: int | None = None
    max_turns: int | None = None
    max_failed_rounds: int | None = None
    final_text: bool | None = None
    confidence: bool | None = None
    """True if models are asked after the end how sure they are."""
    services: str | None = None
    tools: str = "all"
    disturb: str | None = None
    agent: str = "react"
    agent_command: str | None = None
    parameters: dict[str, Any] = {}
    epochs: int = 1
    temperature: float | None = None
    base_url: str | None = None
    server: str | None = None
    max_connections: int | None = None
    max_samples: int | None = None
    retry_on_error: int = 0
    prices: list[str] = []
    """Of models, as ``--price`` gives them."""
    budget: float | None = None
    """Dollars after which it ends."""
    token_budget: int | None = None
    """Tokens, in and out, after which it ends."""


class EvaluationOutcome(BaseModel):
    """Outcome of one task with one model."""

    task: str
    model: str
    strategy: str
    samples: int
    judged: int
    passed: int
    errored: int
    cancelled: int = 0
    """Samples that the interruption of the evaluation cut off, or that it left no time for."""
    cut: list[str] = []
    """Those of them that had begun."""
    ended_by: str = ""
    """The budget that was used up, if that was why."""
    step_accuracy: float | None = None
    """The mean over the samples, in families that know the best calls."""
    error: str = ""
    """Why the first of those that errored did."""
    log: str


def run_parts(
    parts: Sequence[Evaluation],
    folder: Path,
    *,
    quiet: bool = False,
    say: Say | None = None,
    every: float = 60,
) -> list[EvaluationOutcome]:
    """Run several evaluations one after the other, with their logs in one folder.

    What can be refused without building anything is refused before the first of them is run. With ``say``, a
    line tells every so many seconds how it stands.
    """
    for part in parts:
        _check_playing(_settled(part))
    outcomes: list[EvaluationOutcome] = []
    for part in parts:
        outcomes += run_evaluation(part, folder, quiet=quiet, say=say, every=every)
        if any(one.cancelled for one in outcomes):
            break
    return outcomes


def plan(parts: Sequence[Evaluation]) -> list[Estimate]:
    """Estimate evaluations; raises ``UsageError`` for one that cannot be run."""
    found: list[Estimate] = []
    for part in map(_settled, parts):
        _check_playing(part)
        models = [str(model) for model in _models(part)]
        tasks = _tasks(part)
        _check_instances(part, tasks)
        names = [part.agent] if part.agent in MODELLESS else models
        window = None if part.window in ("none", "0") else parse_size(part.window)
        found += estimate(
            tasks, names, read_prices(part.prices, models), window, part.max_samples or part.max_connections
        )
    return found


def run_evaluation(
    settings: Evaluation, folder: Path, *, quiet: bool = False, say: Say | None = None, every: float = 60
) -> list[EvaluationOutcome]:
    """Run the samples missing in the folder's logs. Raises ``UsageError`` before anything is built.

    An interruption ends it; outcomes say then which samples were cut off.
    """
    settings = _settled(settings)
    try:
        from inspect_ai import eval_set
        from inspect_ai._util.error import PrerequisiteError
    except ImportError:
        raise MissingExtra("evaluating", "eval") from None
    models = _models(settings)
    prices = read_prices(settings.prices, [str(model) for model in models])
    if settings.budget is not None and len(prices) < len(models):
        raise UsageError(
            "--budget needs the price of each model: --price IN,OUT in dollars for a million tokens"
        )
    _check_together(settings, models)
    for model in models:
        check_endpoint(model)
    tasks = _tasks(settings)
    _check_instances(settings, tasks)
    folder.mkdir(parents=True, exist_ok=True)
    before = set(folder.glob("*.eval"))
    given = {
        "temperature": settings.temperature,
        "max_connections": settings.max_connections,
    }
    for name, price in prices.items():
        price.announce(name)
    total = sum(len(task.dataset) * (task.epochs or 1) for task in tasks) * len(models)
    watch = Watch(total, settings.budget, settings.token_budget)
    try:
        with redirect_stdout(sys.stderr) if quiet else nullcontext(), watching(watch, say, every):
            _, logs = eval_set(
                tasks,
                log_dir=str(folder),
                model=models,
                retry_attempts=0,
                retry_immediate=False,
                retry_on_error=settings.retry_on_error or None,
                max_samples=settings.max_samples,
                max_tasks=max(1, len(tasks) * len(models)),
                display="none" if quiet else None,
                log_buffer=1,
                log_dir_allow_dirty=True,
                score_display=False,
                **{key: value for key, value in given.items() if value is not None},  # type: ignore[arg-type]
            )
    except PrerequisiteError as error:
        raise UsageError(str(error.message)) from None
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise UsageError(
            f"the disk of {folder} is full: make room and run the same command with --log-dir {folder}: "
            "it goes on where this ended"
        ) from None
    except KeyboardInterrupt:
        logs = []
    outcomes = [_outcome(log) for log in logs or _interrupted(folder, before)]
    return [one.model_copy(update={"ended_by": watch.spent if one.cancelled else ""}) for one in outcomes]


def _interrupted(folder: Path, before: set[Path]) -> list[EvalLog]:
    """The logs that were being written when an evaluation was interrupted."""
    from inspect_ai.log import read_eval_log

    return [
        read_eval_log(str(path), header_only=True) for path in sorted(set(folder.glob("*.eval")) - before)
    ]


def baselines_of(settings: Evaluation) -> list[Evaluation]:
    """Make the baselines on the same instances: doing nothing, random calls, optimal play."""
    names = [name for name in _names(settings) if _is_family(name)]
    worlds = [name for name in names if name in ERRING]
    alone = {
        "models": [],
        "strategies": ["none"],
        "disturb": None,
        "services": None,
        "confidence": None,
        "final_text": None,
        "agent_command": None,
        "epochs": 1,
        "budget": None,
        "token_budget": None,
        "prices": [],
    }
    agents = {"none": names, "random": worlds, "reference": names}
    return [
        settings.model_copy(update={**alone, "agent": agent, "tasks": tasks})
        for agent, tasks in agents.items()
        if tasks and not (agent == "random" and settings.server)
    ]


def _settled(settings: Evaluation) -> Evaluation:
    """Replace the agent ``auto`` by the actual one."""
    models = [name for name in settings.models if name]
    agent = settings.agent
    if agent == "auto":
        agent = "react" if models else "reference"
    return settings.model_copy(update={"models": models, "agent": agent})


def _models(settings: Evaluation) -> list[Model]:
    from mesocosm.evaluation.actors import actor

    actor(settings.agent)
    if settings.agent in MODELLESS:
        return [open_model("none/none")]
    if not settings.models:
        raise UsageError(
            "give a model: --model openai/..., anthropic/..., or scripted/solver for a first look"
        )
    return [open_model(name, settings.base_url, max_retries=RETRIES) for name in settings.models]


def _check_together(settings: Evaluation, models: Sequence[Model]) -> None:
    """``UsageError`` for strategies that one of the models cannot work with."""
    from inspect_ai.model import GenerateConfig

    if settings.agent == "react":
        for model in models:
            for text in settings.strategies:
                for strategy in parse_strategies(text):
                    strategy.configure(GenerateConfig(), model)


def _check_playing(settings: Evaluation) -> None:
    """``UsageError`` for scripted models that cannot play one of the tasks."""
    sets = question_sets()
    strategies = [one for text in settings.strategies for one in parse_strategies(text)]
    for model in settings.models if settings.agent == "react" else ():
        for name in _names(settings):
            if name in sets:
                check_can_answer(model, name, sets[name].solved)
            elif _is_family(name):
                check_can_play(model, load_family(name), strategies)


def _check_instances(settings: Evaluation, tasks: Sequence[Task]) -> None:
    """``UsageError`` for a length below a task's minimum, and for a limit of calls with which an instance
    cannot be done.

    Instances are built for that, and kept for the episodes; on other machines each episode is looked at when
    it is opened.
    """
    if settings.server or given_stage() is not None:
        return
    for task in tasks:
        told = [one.metadata or {} for one in task.dataset]
        orders: list[Mapping[str, Any]] = [one for one in told if "task" in one]
        shortest: dict[str, Mapping[str, Any]] = {}
        for order in orders:
            known = shortest.get(order["task"])
            if order["length"] and (known is None or order["length"] < known["length"]):
                shortest[order["task"]] = order
        for order in shortest.values():
            if order["length"] <= _DOUBTFUL:
                _instance(order)
        if settings.max_calls is not None:
            for order in orders:
                _check_limit(settings.max_calls, order)


def _instance(order: Mapping[str, Any]) -> Path:
    family = load_family(order.get("file", order["task"]))
    return kept_instances().get(family, order["seed"], order["length"], order["parameters"])


def _check_limit(calls: int, order: Mapping[str, Any]) -> None:
    family = load_family(order.get("file", order["task"]))
    if family.knows_calls:
        check_calls(calls, family.read_expected((_instance(order) / EXPECTED).read_bytes()).least_calls)


def _tasks(settings: Evaluation) -> list[Task]:
    from mesocosm.evaluation.inspect_tasks import task_of

    _check_playing(settings)
    sets = question_sets()
    tasks = []
    for name in _names(settings):
        if name in sets:
            tasks.append(_questions(settings, name))
        elif _is_family(name):
            load_family(name)
            for text in settings.strategies:
                parse_strategies(text)
                tasks.append(task_of(name)(**_arguments(settings, text)))
        else:
            known = ", ".join([*family_names(), *sets])
            raise UsageError(f"unknown task {name!r}; there are: {known}")
    return tasks


def _is_family(name: str) -> bool:
    """True for the name of a task, or a path to a task file."""
    return name.endswith((".yaml", ".yml")) or name in family_names()


def _names(settings: Evaluation) -> list[str]:
    return list(dict.fromkeys(family_names() if settings.tasks == ["all"] else settings.tasks))


def _arguments(settings: Evaluation, strategy: str) -> dict[str, Any]:
    kept = (
        "length",
        "n",
        "seeds",
        "agent",
        "agent_command",
        "window",
        "max_tokens",
        "max_calls",
        "max_turns",
    )
    more = (
        "parallel",
        "max_failed_rounds",
        "final_text",
        "confidence",
        "services",
        "tools",
        "disturb",
        "server",
    )
    given = {name: getattr(settings, name) for name in (*kept, *more)}
    given |= {"strategy": strategy, "params": settings.parameters or None}
    if settings.epochs > 1:
        given["epochs"] = settings.epochs
    return {name: value for name, value in given.items() if value is not None}


def _questions(settings: Evaluation, name: str) -> Task:
    from mesocosm.evaluation.inspect_tasks import TASKS

    if settings.n:
        raise UsageError(f"{name} asks questions: there --n has no meaning")
    if settings.agent != "react" or settings.strategies != ["none"] or settings.services:
        raise UsageError(f"{name} asks questions: there --agent, --strategy and --with have no meaning")
    given: dict[str, Any] = dict(settings.parameters)
    if settings.length:
        given["lengths"] = settings.length
    if settings.seeds:
        given["seeds"] = settings.seeds
    return TASKS[name](options=given, max_tokens=settings.max_tokens, epochs=settings.epochs)


def _outcome(log: EvalLog) -> EvaluationOutcome:
    from inspect_ai.log import read_eval_log_sample_summaries

    summaries = read_eval_log_sample_summaries(log.location)
    scored = [score for one in summaries for score in (one.scores or {}).values()]
    told = [(score.metadata or {}).get("step_accuracy") for score in scored]
    shares = [share for share in told if share is not None]
    asked = log.eval.dataset.samples or 0
    total = asked * (log.eval.config.epochs or 1)
    unscored = [one for one in summaries if not one.scores]
    cut = [str(one.id) for one in unscored if was_cancelled(log, one.error)]
    reasons = [reason_of(one.error) for one in unscored if one.error and str(one.id) not in cut]
    begun = len(summaries)
    cancelled = len(cut) + (total - begun if log.status in ("cancelled", "started") else 0)
    return EvaluationOutcome(
        task=log.eval.task_display_name or log.eval.task,
        model=_who(log),
        strategy=str((log.eval.metadata or {}).get("strategy", "none")),
        samples=total,
        judged=len(scored),
        passed=sum(score.as_float() == 1.0 for score in scored),
        errored=total - len(scored) - cancelled,
        cancelled=cancelled,
        cut=cut,
        error=reasons[0] if reasons else "",
        step_accuracy=sum(shares) / len(shares) if shares else None,
        log=log.location,
    )


def _who(log: EvalLog) -> str:
    agent = (log.eval.metadata or {}).get("agent")
    return str(agent) if agent in MODELLESS else str(log.eval.model)


def default_log_folder() -> Path:
    """The next free folder below ``evals/``."""
    number = 1
    while (path := Path("evals") / str(number)).exists():
        number += 1
    return path
