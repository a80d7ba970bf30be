"""Reports on answers about rollouts: accuracy by type, length, setting and format, with intervals, and what
finding the evidence costs: the same questions with the history in the prompt, and with it served to tools."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import orjson
from pydantic import BaseModel, ValidationError

from mesocosm.errors import UsageError
from mesocosm.evaluation.statistics import bootstrap, wilson
from mesocosm.evaluation.table_files import as_csv, markdown, models_as_json, write_files
from mesocosm.families.family import load_family
from mesocosm.families.instances import EXPECTED
from mesocosm.families.quantities import show_length
from mesocosm.kits.rollouts.dataset import name_of
from mesocosm.kits.rollouts.predictions import (
    QuestionForm,
    ScoredQuestion,
    above_chance,
    chance_of,
    chances,
    worth_told,
)
from mesocosm.kits.rollouts.questions import Type

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSampleSummary

BY = ("how", "type", "category", "length", "setting", "format")
CATEGORIES: dict[Type, str] = {
    "count_frequency_tool": "tool response",
    "find_duplicates_tool": "tool response",
    "find_target_offsets_tool": "tool response",
    "count_correctness_env": "environment response",
    "count_frequency_env": "environment response",
    "find_round_largest_value_env": "environment response",
    "weighted_summation_env": "environment response",
    "intersection": "final guess",
}
"""The paper's three categories of questions."""
ALL = "all"
Key = tuple[str, str, str, int, str, str]
"""Model, how, type, length, setting, format."""


class RolloutCell(BaseModel):
    """The questions of a model that are alike in what is reported by."""

    model: str
    how: str
    """The history in the ``prompt``, or served to ``tools``; ``all`` where that is not told apart."""
    type: str
    length: int | None
    """``None`` where lengths are not told apart; the others are ``all`` there."""
    setting: str
    format: str
    questions: int
    missing: int
    accuracy: float
    """The mean score."""
    lower: float
    upper: float
    """Wilson's interval of the mean, at 95 %."""
    chance: float | None = None
    """Score without reading (the best constant answer), or with half read; ``None``: unknown."""
    above_chance: float | None = None
    """Score rescaled so that chance is 0."""
    evidence_tokens: float


class Comparison(BaseModel):
    """The same kind of questions asked both ways."""

    model: str
    type: str
    length: int | None
    setting: str
    format: str
    prompt: RolloutCell
    tools: RolloutCell
    pairs: int
    """Questions that were asked both ways."""
    difference: float | None
    """Tools less prompt, over the pairs; ``None`` without any."""
    lower: float | None
    upper: float | None
    """Its bootstrap interval over pairs, at 95 %."""


def tabulate(scores: Sequence[ScoredQuestion], by: Sequence[str] = BY) -> list[RolloutCell]:
    """One cell for each model and each combination of what is reported by, in order."""
    known = chances(scores)
    return [_cell(key, found, known) for key, found in _grouped(scores, by)]


def _grouped(scores: Sequence[ScoredQuestion], by: Sequence[str]) -> list[tuple[Key, list[ScoredQuestion]]]:
    grouped: dict[Key, list[ScoredQuestion]] = {}
    for one in scores:
        key = (
            one.model,
            one.how if "how" in by else ALL,
            one.type if "type" in by else CATEGORIES[one.type] if "category" in by else ALL,
            one.length if "length" in by else 0,
            one.setting if "setting" in by else ALL,
            one.format if "format" in by else ALL,
        )
        grouped.setdefault(key, []).append(one)
    return sorted(grouped.items())


def _cell(key: Key, found: Sequence[ScoredQuestion], known: Mapping[QuestionForm, float]) -> RolloutCell:
    model, how, type, length, setting, format = key
    accuracy = fmean(one.score for one in found)
    lower, upper = wilson(accuracy * len(found), len(found))
    chance = chance_of(found, known)
    return RolloutCell(
        model=model,
        how=how,
        type=type,
        length=length or None,
        setting=setting,
        format=format,
        questions=len(found),
        missing=sum(one.missing for one in found),
        accuracy=accuracy,
        lower=lower,
        upper=upper,
        chance=chance,
        above_chance=above_chance(accuracy, chance),
        evidence_tokens=round(fmean(one.evidence_tokens for one in found), 1),
    )


def compare(scores: Sequence[ScoredQuestion], by: Sequence[str] = BY) -> list[Comparison]:
    """Prompt against tools, for each combination of what is reported by in which there are both."""
    found = []
    known = chances(scores)
    for (model, _, type, length, setting, format), alike in _grouped(
        scores, [one for one in by if one != "how"]
    ):
        both = {how: [one for one in alike if one.how == how] for how in ("prompt", "tools")}
        if not all(both.values()):
            continue
        cells = {
            how: _cell((model, how, type, length, setting, format), some, known) for how, some in both.items()
        }
        prompt, tools = (_by_question(both[how]) for how in ("prompt", "tools"))
        gained = [tools[id_] - prompt[id_] for id_ in prompt if id_ in tools]
        lower, upper = bootstrap([[one] for one in gained]) if gained else (None, None)
        found.append(
            Comparison(
                model=model,
                type=type,
                length=length or None,
                setting=setting,
                format=format,
                prompt=cells["prompt"],
                tools=cells["tools"],
                pairs=len(gained),
                difference=fmean(gained) if gained else None,
                lower=lower,
                upper=upper,
            )
        )
    return found


def _by_question(scores: Sequence[ScoredQuestion]) -> dict[str, float]:
    """The mean score of each question, which may have been asked several times."""
    grouped: dict[str, list[float]] = {}
    for one in scores:
        grouped.setdefault(one.id, []).append(one.score)
    return {id_: fmean(found) for id_, found in grouped.items()}


# -- tables ------------------------------------------------------------------------------------------------

HEAD = (
    "model", "how", "type", "length", "setting", "format", "questions", "missing", "accuracy",
    "95 % interval", "chance", "above chance", "evidence tokens",
)  # fmt: skip
COMPARED = (
    "model", "type", "length", "setting", "format", "in the prompt", "95 % interval", "with tools",
    "95 % interval", "asked both ways", "difference", "95 % interval",
)  # fmt: skip


def _share(share: float) -> str:
    return f"{share:.1%}"


def _interval(cell: RolloutCell) -> str:
    return f"{cell.lower:.1%} to {cell.upper:.1%}"


def rows_of(cells: Sequence[RolloutCell]) -> list[tuple[str, ...]]:
    return [
        (
            cell.model,
            cell.how,
            cell.type,
            show_length(cell.length) if cell.length else ALL,
            cell.setting,
            cell.format,
            str(cell.questions),
            str(cell.missing),
            _share(cell.accuracy),
            _interval(cell),
            "-" if cell.chance is None else _share(cell.chance),
            "-" if cell.above_chance is None else f"{cell.above_chance:+.2f}",
            f"{cell.evidence_tokens:,.0f}",
        )
        for cell in cells
    ]


def compared_rows(found: Sequence[Comparison]) -> list[tuple[str, ...]]:
    return [
        (
            one.model,
            one.type,
            show_length(one.length) if one.length else ALL,
            one.setting,
            one.format,
            f"{_share(one.prompt.accuracy)} of {one.prompt.questions}",
            _interval(one.prompt),
            f"{_share(one.tools.accuracy)} of {one.tools.questions}",
            _interval(one.tools),
            str(one.pairs),
            "-" if one.difference is None else f"{one.difference:+.1%}",
            "-" if one.lower is None or one.upper is None else f"{one.lower:+.1%} to {one.upper:+.1%}",
        )
        for one in found
    ]


def write_cells(
    cells: Sequence[RolloutCell], folder: Path, comparisons: Sequence[Comparison] = ()
) -> list[Path]:
    """Write the tables as CSV, Markdown and JSON; what is there is replaced."""
    tables: dict[str, tuple[Sequence[str], Sequence[Sequence[str]], Sequence[BaseModel]]] = {
        "accuracy": (HEAD, rows_of(cells), cells)
    }
    if comparisons:
        tables["comparison"] = (COMPARED, compared_rows(comparisons), comparisons)
    written: dict[str, bytes] = {}
    for name, (head, lines, models) in tables.items():
        flat = [_flat(model.model_dump()) for model in models]
        written |= {
            f"{name}.csv": as_csv(flat[0] if flat else [], (one.values() for one in flat)),
            f"{name}.md": markdown(head, lines).encode(),
            f"{name}.json": models_as_json(models),
        }
    return write_files(folder, written)


def _flat(value: Mapping[str, Any]) -> dict[str, Any]:
    """A comparison's cells in columns of their own."""
    found: dict[str, Any] = {}
    for name, part in value.items():
        if isinstance(part, dict):
            kept = ("questions", "missing", "accuracy", "lower", "upper", "chance", "evidence_tokens")
            found |= {f"{name}_{column}": part[column] for column in kept}
        else:
            found[name] = part
    return found


# -- reading -----------------------------------------------------------------------------------------------


def read_scores(paths: Sequence[Path]) -> list[ScoredQuestion]:
    """Read output of ``score agentlongbench --out`` and logs of `mesocosm eval` (files or folders).

    Of logs, ``agentlongbench`` counts as asked in the prompt and ``puzzle_history`` as asked with tools; what
    ended with an error is left out. ``UsageError`` for a file that is neither, and for a question that the
    same model answered in two of the files.
    """
    found: list[ScoredQuestion] = []
    seen: dict[tuple[str, str, str], Path] = {}
    for path in paths:
        scores = list(_from_logs(path) if path.is_dir() or path.suffix == ".eval" else _from_lines(path))
        for key in dict.fromkeys((one.model, one.how, one.id) for one in scores):
            if key in seen:
                raise UsageError(f"{path}: {key[2]!r} is judged a second time, for the same model {key[0]!r}")
            seen[key] = path
        found += scores
    if not found:
        raise UsageError("there are no scores")
    return found


def _from_lines(path: Path) -> Iterator[ScoredQuestion]:
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    known: set[str] = set()
    for number, line in enumerate(lines, 1):
        try:
            one = ScoredQuestion.model_validate_json(line)
        except ValidationError as error:
            wrong = error.errors()[0]
            where = ".".join(map(str, wrong["loc"])) or "the line"
            raise UsageError(f"{path}, line {number}: {where}: {wrong['msg']}") from None
        if one.id in known:
            raise UsageError(f"{path}, line {number}: {one.id!r} is judged a second time")
        known.add(one.id)
        yield one


def _from_logs(path: Path) -> Iterator[ScoredQuestion]:
    from mesocosm.evaluation.report.rows import log_files, read_summaries

    kept: dict[tuple[str, str, str, int], ScoredQuestion] = {}
    for file in log_files(path):
        log, summaries = read_summaries(file)
        read = _READERS.get(log.eval.task.split("/")[-1].replace("-", "_"))
        for summary in summaries if read else ():
            if read and summary.scores and (one := read(log, summary, file)):
                # What was run again counts once.
                kept[one.model, one.how, one.id, summary.epoch] = one
    yield from kept.values()


def _asked_in_prompt(log: EvalLog, summary: EvalSampleSummary, file: Path) -> ScoredQuestion:
    told = _told(summary)
    known = {name: told[f"label_{name}"] for name in ("setting", "format", "type", "evidence_tokens")}
    known["gold"] = str(told["label_gold"]).split("; ") if "label_gold" in told else []
    return _judged(log, summary, id=str(summary.id), how="prompt", length=told["length"], **known)


def _asked_with_tools(log: EvalLog, summary: EvalSampleSummary, file: Path) -> ScoredQuestion:
    order = summary.metadata
    params: Any = load_family("puzzle_history").params(**order["parameters"])
    type, number = params.turn(order["seed"])
    length = params.bucket or order["length"] or 0
    name = f"{params.setting}-{name_of((params.format, length, number))}-{type}"
    run = file.parent / str(_told(summary).get("world")) / "run.json"
    measures = orjson.loads(run.read_bytes())["measures"] if run.is_file() else {}
    truth = run.parent / "episode" / EXPECTED
    gold = orjson.loads(truth.read_bytes())["answer"] if truth.is_file() else []
    return _judged(
        log,
        summary,
        id=name if params.bucket else f"served-{name}",
        how="tools",
        length=length,
        setting=params.setting,
        format=params.format,
        type=type,
        evidence_tokens=measures.get("evidence_tokens", 0),
        gold=gold,
    )


_READERS: dict[str, Callable[[EvalLog, EvalSampleSummary, Path], ScoredQuestion]] = {
    "agentlongbench": _asked_in_prompt,
    "puzzle_history": _asked_with_tools,
}


def _told(summary: EvalSampleSummary) -> Mapping[str, Any]:
    (score,) = (summary.scores or {}).values()
    return score.metadata or {}


def _judged(log: EvalLog, summary: EvalSampleSummary, **known: Any) -> ScoredQuestion:
    told = _told(summary)
    findings = {one["name"]: one for one in told.get("findings", ())}
    agent = str(told.get("agent"))
    answered = [one["passed"] for name, one in findings.items() if name in ("answered", "submitted")]
    return ScoredQuestion(
        **known,
        model=agent if agent in ("reference", "none", "command") else str(log.eval.model),
        score=worth_told(findings.get("answer", {}).get("detail", "")),
        missing=not all(answered),
        answer=None,
    )
