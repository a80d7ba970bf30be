"""Reports on long procedures: tables by procedure and level, and how far answers stay right."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from pydantic import BaseModel

from mesocosm.errors import UsageError
from mesocosm.evaluation.reports import read_results
from mesocosm.evaluation.runs import RunResult
from mesocosm.evaluation.statistics import wilson
from mesocosm.evaluation.table_files import markdown, models_as_csv, models_as_json, write_files
from mesocosm.families.figures import render
from mesocosm.families.quantities import show_length
from mesocosm.kits.procedures import procedure
from mesocosm.kits.procedures.answers import Rule
from mesocosm.kits.procedures.rows import ProcedureAnswer, ProcedureRow, Scored, read_lines, score_answers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_Z = 1.959964
ALL = "all"


class ProcedureCell(BaseModel):
    """The answers of a model to a procedure at a level; the procedure ``all`` is the mean over procedures."""

    model: str
    procedure: str
    level: int
    answers: int
    """Judged ones."""
    value: float | None
    """The mean of what the results are worth: accuracy, and F1 for tables; ``None`` where none was judged."""
    lower: float
    upper: float
    """The interval of the value, at 95 %: Wilson's where all values are 0 or 1, normal otherwise."""
    exact: float | None
    partial: float | None
    unjudged: int
    missing: int = 0
    """Rows without an answer, which are wrong."""
    terminated: float | None = None
    """The share of answers that ended by themselves, of all rows."""
    value_terminated: float | None = None
    """The mean value of those."""


class Survivors(BaseModel):
    """Number of answers that are still right at one position of the output."""

    model: str
    procedure: str
    token: int
    reaching: int
    """Answers whose gold is at least that long."""
    right: int
    share: float
    """Kaplan-Meier: answers whose gold has ended before are not held against any."""


def tabulate(scores: Sequence[Scored]) -> list[ProcedureCell]:
    """The cells of the paper's tables, procedures in the order in which they come."""
    grouped: dict[tuple[str, str, int], list[Scored]] = {}
    for score in scores:
        grouped.setdefault((series_of(score), score.procedure, score.level), []).append(score)
    cells = [_cell(*key, found) for key, found in grouped.items()]
    for model, level in dict.fromkeys((cell.model, cell.level) for cell in cells):
        of = [cell for cell in cells if (cell.model, cell.level) == (model, level) and cell.value is not None]
        if len(of) > 1:
            cells.append(_mean(model, level, of))
    return cells


def series_of(score: Scored) -> str:
    """Name a series: the model, and the rule and prompt unless they are the defaults."""
    rule = ["the paper's rule"] if score.rule == "paper" else []
    variant = [score.variant] if score.variant else []
    return ", ".join([*([score.model] if score.model else []), *rule, *variant])


def _cell(model: str, procedure: str, level: int, found: Sequence[Scored]) -> ProcedureCell:
    judged = [score for score in found if not score.unjudged]
    lower, upper = _interval([score.value for score in judged])
    ended = [score.value for score in judged if score.terminated]
    return ProcedureCell(
        model=model,
        procedure=procedure,
        level=level,
        answers=len(judged),
        value=fmean(score.value for score in judged) if judged else None,
        lower=lower,
        upper=upper,
        exact=fmean(score.exact for score in judged) if judged else None,
        partial=fmean(score.partial for score in judged) if judged else None,
        unjudged=len(found) - len(judged),
        missing=sum(not score.answered for score in judged),
        terminated=len(ended) / len(judged) if judged else None,
        value_terminated=fmean(ended) if ended else None,
    )


def _mean(model: str, level: int, cells: Sequence[ProcedureCell]) -> ProcedureCell:
    """Every task counts the same, however many answers there are and in however many languages they are
    written; so do their intervals."""
    weights = _weights([cell.procedure for cell in cells])
    value = sum(weight * (cell.value or 0.0) for weight, cell in zip(weights, cells, strict=True))
    spreads = [weight * (cell.upper - cell.lower) / 2 for weight, cell in zip(weights, cells, strict=True)]
    half = sqrt(sum(spread**2 for spread in spreads))
    return ProcedureCell(
        model=model,
        procedure=ALL,
        level=level,
        answers=sum(cell.answers for cell in cells),
        value=value,
        lower=max(0.0, value - half),
        upper=min(1.0, value + half),
        exact=sum(w * (cell.exact or 0.0) for w, cell in zip(weights, cells, strict=True)),
        partial=sum(w * (cell.partial or 0.0) for w, cell in zip(weights, cells, strict=True)),
        unjudged=sum(cell.unjudged for cell in cells),
        missing=sum(cell.missing for cell in cells),
        terminated=sum(w * (cell.terminated or 0.0) for w, cell in zip(weights, cells, strict=True)),
    )


def _weights(procedures: Sequence[str]) -> list[float]:
    """A share for each task of the paper, divided among those that are the same task."""
    tasks = [_task(name) for name in procedures]
    return [1 / (len(set(tasks)) * tasks.count(task)) for task in tasks]


def _task(name: str) -> str:
    try:
        return procedure(name).UPSTREAM
    except UsageError:  # a task over MCP of several procedures
        return name


def _interval(values: Sequence[float]) -> tuple[float, float]:
    if all(value in (0.0, 1.0) for value in values):
        return wilson(round(sum(values)), len(values))
    if len(values) < 2:
        return 0.0, 1.0
    mean, half = fmean(values), _Z * stdev(values) / sqrt(len(values))
    return max(0.0, mean - half), min(1.0, mean + half)


def survival(scores: Iterable[Scored]) -> list[Survivors]:
    """For each model and procedure, the share of answers that are right up to each token of the gold.

    Only answers that are judged line by line (not programs) have a place where they deviate.
    """
    grouped: dict[tuple[str, str], list[Scored]] = {}
    for score in scores:
        if not score.unjudged and not score.variant and (score.exact or score.token is not None):
            grouped.setdefault((score.model, score.procedure), []).append(score)
    return [point for (model, name), found in grouped.items() for point in _curve(model, name, found)]


def _curve(model: str, procedure: str, found: Sequence[Scored]) -> list[Survivors]:
    ends = [(one.output_tokens if one.token is None else one.token, one.token is not None) for one in found]
    points = [
        Survivors(model=model, procedure=procedure, token=0, reaching=len(ends), right=len(ends), share=1.0)
    ]
    share = 1.0
    for token in sorted({end for end, _ in ends}):
        reaching = sum(end >= token for end, _ in ends)
        failing = sum(end == token and wrong for end, wrong in ends)
        share *= 1 - failing / reaching
        points.append(
            Survivors(
                model=model,
                procedure=procedure,
                token=token,
                reaching=reaching,
                right=reaching - failing,
                share=share,
            )
        )
    return points


def read_scores(paths: Iterable[Path]) -> list[Scored]:
    """Scores in files, logs of `mesocosm eval longproc` and run directories; ``UsageError`` without any."""
    found: list[Scored] = []
    for path in paths:
        if path.is_dir():
            logs, runs = sorted(path.rglob("*.eval")), sorted(path.rglob("run.json"))
            if not logs and not runs:
                raise UsageError(f"{path} holds neither a log of `mesocosm eval` nor a run.json")
            found += [score for log in logs for score in _read_log(log)]
            found += [score for run in runs for score in _of_runs(read_results([run]))]
        else:
            found += _read_log(path) if path.suffix == ".eval" else read_lines(path, Scored)
    if not found:
        raise UsageError("there are no scores of long procedures in these files")
    return found


_VALUE = re.compile(r"value (\d\.\d+)")
_PARTIAL = re.compile(r"(\d\.\d+) of it is right; (?:line (\d+), token (\d+): )?(.*)", re.DOTALL)
_PREFIX = "longproc_"


def _of_runs(results: Iterable[RunResult]) -> Iterator[Scored]:
    """Yield the scores in the findings of runs. A procedure is named after its task."""
    for result in results:
        checks = {check.name: check for check in result.findings}
        if "level" not in result.measures or not {"result", "text"} <= checks.keys():
            continue
        value = _VALUE.search(checks["result"].detail)
        where = _PARTIAL.match(checks["text"].detail)
        exact = checks["text"].passed
        token = int(where[3]) if where and where[3] else None
        yield Scored(
            id=f"{result.task}-{result.seed}",
            model=result.conversation.model if result.conversation else result.agent,
            procedure=result.task.removeprefix(_PREFIX),
            level=result.measures["level"],
            seed=result.seed,
            output_tokens=result.measures["output_tokens"],
            value=float(value[1]) if value else float(checks["result"].passed),
            exact=exact,
            partial=1.0 if exact else float(where[1]) if where else 0.0,
            line=int(where[2]) if where and where[2] else None,
            token=token,
            why=where[4] if where else "",
            unjudged=result.verdict == "errored",
        )


def _read_log(path: Path) -> Iterator[Scored]:
    """Judge the answers of a log again: the log keeps only whether they were right."""
    from inspect_ai.log import read_eval_log

    try:
        log = read_eval_log(str(path))
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise UsageError(f"{path} is no log of `mesocosm eval`: {error}") from None
    if log.eval.task.rpartition("/")[2] != "longproc":
        return
    for sample in log.samples or []:
        asked = (sample.metadata or {}).get("question")
        if asked and sample.output.choices and not sample.error:
            row = ProcedureRow(prompt="", **asked["expected"])
            answer = ProcedureAnswer(
                id=row.id,
                answer=sample.output.completion,
                model=str(log.eval.model),
                terminated=sample.output.stop_reason not in ("max_tokens", "model_length"),
            )
            rule: Rule = "paper" if asked["labels"].get("rule") == "paper" else "strict"
            yield from score_answers({row.id: row}, [answer], rule)


# -- writing -----------------------------------------------------------------------------------------------


HEAD = (
    "model", "procedure", "level", "answers", "value", "95 % interval", "exact", "partial", "ended",
    "of these right", "missing", "not judged",
)  # fmt: skip


def rows_of(cells: Sequence[ProcedureCell]) -> list[list[str]]:
    rows = []
    for cell in cells:
        judged = ["-"] * 4
        if cell.value is not None and cell.exact is not None and cell.partial is not None:
            span = f"{cell.lower:.1%} to {cell.upper:.1%}"
            judged = [f"{cell.value:.1%}", span, f"{cell.exact:.1%}", f"{cell.partial:.1%}"]
        ended = [_share(cell.terminated), _share(cell.value_terminated)]
        counts = [str(cell.missing), str(cell.unjudged)]
        level = show_length(cell.level)
        rows.append([cell.model or "-", cell.procedure, level, str(cell.answers), *judged, *ended, *counts])
    return rows


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def matrix(cells: Sequence[ProcedureCell]) -> str:
    """The paper's table as Markdown: a row per model, a column per procedure and level."""
    columns = list(dict.fromkeys((cell.procedure, cell.level) for cell in cells))
    heads = [f"{name} {show_length(level)}" for name, level in columns]
    lines = []
    for model in dict.fromkeys(cell.model for cell in cells):
        by = {(cell.procedure, cell.level): cell for cell in cells if cell.model == model}
        lines.append([model or "-", *(_short(by.get(column)) for column in columns)])
    return markdown(["model", *heads], lines)


def _short(cell: ProcedureCell | None) -> str:
    if cell is None or cell.value is None:
        return "-"
    return f"{100 * cell.value:.1f} ({100 * cell.lower:.1f}-{100 * cell.upper:.1f})"


def write_procedure_report(scores: Sequence[Scored], folder: Path) -> list[Path]:
    """Write the table (CSV, Markdown, JSON) and the curves (CSV, SVG, PNG); what is there is replaced."""
    cells, curves = tabulate(scores), survival(scores)
    written = {
        "procedures.csv": models_as_csv(ProcedureCell, cells),
        "procedures.md": matrix(cells).encode(),
        "procedures.json": models_as_json(cells),
        "survival.csv": models_as_csv(Survivors, curves),
    }
    if curves:
        written |= {f"survival.{kind}": draw_survival(curves, kind) for kind in ("svg", "png")}
    return write_files(folder, written)


def draw_survival(curves: Sequence[Survivors], kind: str) -> bytes:
    """The share of answers still right against the position in the output, as ``svg`` or ``png``."""

    def fill(figure: Figure) -> None:
        axes = figure.subplots()
        for model, name in dict.fromkeys((point.model, point.procedure) for point in curves):
            drawn = [point for point in curves if (point.model, point.procedure) == (model, name)]
            label = f"{name}, {model}" if model else name
            shares = [100 * point.share for point in drawn]
            axes.plot([point.token for point in drawn], shares, drawstyle="steps-post", label=label)
        axes.set(xlabel="output position (tokens)", ylabel="still right (%)", ylim=(-3, 103))
        axes.grid(alpha=0.3)
        axes.legend(fontsize="small")

    return render(fill, kind)
