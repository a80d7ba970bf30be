"""Writing a dataset into a folder, and reading it.

::

    dataset/
      README.md            what it holds; its head lets Hugging Face ``datasets`` load the folder
      dataset.json         the plan it was made from, and counts
      encyclopaedia/       the creatures, in both vocabularies
      trajectories/        one JSON-lines file per bucket, such as ki-c-32k.jsonl
      questions/           the same, each line naming its trajectory
      upstream/            on request: rows as AgentLongBench has them, by setting-format, length and type
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import orjson
from pydantic import BaseModel, ValidationError

from mesocosm.errors import MissingExtra, UsageError
from mesocosm.families.quantities import show_length
from mesocosm.families.workers.workers import Workers
from mesocosm.kits.rollouts.dataset import DatasetPlan, RolloutRow, RolloutTrajectory, make_all
from mesocosm.kits.rollouts.encyclopaedia import SECTIONS, Encyclopaedia
from mesocosm.kits.rollouts.questions import Type
from mesocosm.kits.rollouts.transcript import Format
from mesocosm.kits.rollouts.twins import Setting, SymbolVocabulary
from mesocosm.worlds import tokens

if TYPE_CHECKING:
    from datasets import IterableDataset  # type: ignore[import-untyped]

VERSION = 3
"""Raised with every change that makes results incomparable."""
Upstream = Literal["none", "answers", "full"]
"""Rows of upstream's format: none, without the messages (its scorer needs no more), or with them."""

_LABELS: dict[Type, tuple[str, str]] = {
    "count_frequency_tool": ("tool_response", "Count Frequency(Tool)"),
    "find_duplicates_tool": ("tool_response", "Find Duplicates(Tool)"),
    "find_target_offsets_tool": ("tool_response", "Find Target Offsets(Tool)"),
    "count_correctness_env": ("env_response", "Count Correctness(Env)"),
    "count_frequency_env": ("env_response", "Count Frequency(Env)"),
    "find_round_largest_value_env": ("env_response", "Find Round with Largest Value(Env)"),
    "weighted_summation_env": ("env_response", "Weighted Summation(Env)"),
    "intersection": ("final_guess", "Intersection"),
}
"""Upstream's folder and name of each type."""


class Reach(BaseModel):
    """Average amount of reading needed for a type's questions in a bucket."""

    setting: str
    format: str
    length: int
    type: Type
    questions: int
    evidence_tokens: float
    evidence_span: float


class Summary(BaseModel):
    """Summary of what was written."""

    path: str
    version: int
    trajectories: int
    questions: int
    tokens: int
    """Of all trajectories."""
    bytes: int
    evidence: list[Reach]


def write_dataset(
    plan: DatasetPlan, path: Path, workers: Workers, *, upstream: Upstream = "none"
) -> Iterator[Summary | None]:
    """Write a dataset; yields ``None`` for every trajectory that is done, and the summary in the end.

    The folder appears when it is complete. ``UsageError`` if it exists, or if there is no such dataset.
    """
    if path.exists():
        raise UsageError(f"{path} exists already")
    draft = path.with_name(f".{path.name}.writing")
    shutil.rmtree(draft, ignore_errors=True)
    try:
        draft.mkdir(parents=True)
        writer = _Writer(plan, draft, upstream)
        for made in make_all(plan, workers):
            for trajectory, questions, rows in made:
                writer.add(trajectory, questions, rows)
            yield None
        summary = writer.finish(path)
        draft.rename(path)
        yield summary
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)


class _Writer:
    def __init__(self, plan: DatasetPlan, root: Path, upstream: Upstream) -> None:
        self.plan, self.root, self.upstream = plan, root, upstream
        self.bytes = self.tokens = self.trajectories = 0
        self._reach: dict[tuple[str, str, int, Type], list[tuple[int, int]]] = {}

    def add(self, trajectory: bytes, questions: Sequence[bytes], rows: Sequence[RolloutRow]) -> None:
        first = rows[0]
        bucket = f"{first.setting}-{first.format}-{show_length(first.length)}.jsonl"
        self._append(self.root / "trajectories" / bucket, trajectory)
        self._append(self.root / "questions" / bucket, b"".join(questions))
        self.trajectories += 1
        self.tokens += first.tokens
        for row in rows:
            key = (row.setting, row.format, row.length, row.type)
            self._reach.setdefault(key, []).append((row.evidence.tokens, row.evidence.span))
        if self.upstream != "none":
            messages = orjson.loads(trajectory)["messages"] if self.upstream == "full" else None
            for row in rows:
                self._append(
                    self.root / "upstream" / upstream_path(row), _dumped(upstream_row(row, messages))
                )

    def _append(self, file: Path, data: bytes) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("ab") as out:
            out.write(data)
        self.bytes += len(data)

    def finish(self, path: Path) -> Summary:
        for format in self.plan.formats:
            for line in encyclopaedia_lines(self.plan, format):
                self._append(self.root / "encyclopaedia" / f"{format}.jsonl", line)
        summary = Summary(
            path=str(path),
            version=VERSION,
            trajectories=self.trajectories,
            questions=sum(map(len, self._reach.values())),
            tokens=self.tokens,
            bytes=self.bytes,
            evidence=[_reach(key, found) for key, found in sorted(self._reach.items())],
        )
        about = {
            "version": VERSION,
            "tokenizer": tokens.TOKENIZER,
            "plan": self.plan.model_dump(mode="json"),
            **summary.model_dump(exclude={"path", "version", "bytes"}),
        }
        (self.root / "dataset.json").write_bytes(orjson.dumps(about, option=orjson.OPT_INDENT_2) + b"\n")
        (self.root / "README.md").write_text(_card(self.plan, summary), encoding="utf-8")
        return summary


def _reach(key: tuple[str, str, int, Type], found: Sequence[tuple[int, int]]) -> Reach:
    setting, format, length, type = key
    return Reach(
        setting=setting,
        format=format,
        length=length,
        type=type,
        questions=len(found),
        evidence_tokens=round(sum(tokens for tokens, _ in found) / len(found), 1),
        evidence_span=round(sum(span for _, span in found) / len(found), 1),
    )


def _dumped(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)


def encyclopaedia_lines(plan: DatasetPlan, format: Format) -> Iterator[bytes]:
    """The creatures as JSON lines, in alphabetical order, in both vocabularies."""
    for size in [0] if plan.entities else plan.sizes(format):
        yield from _creatures(*plan.book(size))


def _creatures(book: Encyclopaedia, vocabularies: Mapping[Setting, SymbolVocabulary]) -> Iterator[bytes]:
    for at, entry in enumerate(book.entries):
        line: dict[str, Any] = {"number": entry.number, "of": len(book)}
        for setting, words in vocabularies.items():
            traits = {
                words.sections[section]: list(values)
                if SECTIONS[section].kind == "number"
                else [words.values[section][value] for value in values]
                for section, values in enumerate(entry.traits)
            }
            line[setting] = {"name": words.names[at], "sections": traits}
        yield _dumped(line)


# -- upstream's format -----------------------------------------------------------------------------------


def upstream_path(row: RolloutRow) -> Path:
    """Return upstream's path for such a question."""
    folder, _ = _LABELS[row.type]
    return Path(f"{row.setting}-{row.format}", show_length(row.length), folder, f"{row.type}.jsonl")


def upstream_row(row: RolloutRow, messages: Sequence[Any] | None) -> dict[str, Any]:
    """A question as upstream writes it, with the messages of its trajectory if these are given."""
    found: dict[str, Any] = {
        "id": row.id,
        "sample_id": row.trajectory,
        "question_type": _LABELS[row.type][1],
        "question": row.question,
        "answer": upstream_answer(row),
    }
    if len(row.rounds) == 1:
        found["round"] = row.rounds[0]
    elif row.rounds:
        found["i_round"], found["j_round"] = row.rounds
    if messages is not None:
        found["messages"] = messages
    return found


def upstream_answer(row: RolloutRow) -> int | bool | str | list[str]:
    """The gold as upstream's scorer compares it."""
    match row.answer_kind:
        case "number":
            return int(row.answer[0])
        case "boolean":
            return row.answer[0] == "yes"
        case "name":
            return row.answer[0]
        case _:
            return row.answer


# -- the card --------------------------------------------------------------------------------------------


def _card(plan: DatasetPlan, summary: Summary) -> str:
    lengths = ", ".join(show_length(length) for length in plan.lengths)
    rows = "".join(
        f"| {one.setting} | {one.format} | {show_length(one.length)} | {one.type} | {one.questions} "
        f"| {one.evidence_tokens:,.0f} | {one.evidence_span:,.0f} |\n"
        for one in summary.evidence
    )
    return f"""---
configs:
- config_name: questions
  default: true
  data_files: questions/*.jsonl
- config_name: trajectories
  data_files: trajectories/*.jsonl
---

# Questions about rollouts of a guessing game

{summary.questions:,} questions about {summary.trajectories:,} histories of an agent, of {lengths} tokens
({tokens.TOKENIZER}, within 1 %). Made by Mesocosm, version {VERSION} of this dataset, seed {plan.seed}.

- `trajectories`: `messages` as a chat model gets them. `setting` is `ki` (invented creatures, in words) or
  `kf` (the same rounds in symbols); `format` is `c` (a call returns one list) or `v` (one per section).
- `questions`: `question` and `answer` about the `trajectory` of that id. `twin` is the same in both settings.
  `evidence` says which messages hold what the answer needs, their tokens, and the tokens from the first to
  the last of them.
- `mesocosm.kits.rollouts.dataset_files.load` joins the two for the library `datasets`.
- `mesocosm score agentlongbench` judges answers.

| setting | format | length | type | questions | evidence tokens | evidence span |
| --- | --- | --- | --- | --- | --- | --- |
{rows}"""


# -- reading -----------------------------------------------------------------------------------------------


def read_questions(path: Path) -> list[RolloutRow]:
    """The questions of a dataset's folder, in the order of its files."""
    rows = [row for file in _files(path, "questions") for row in _rows(file)]
    if not rows:
        raise UsageError(f"{path} holds no questions")
    return rows


def read_trajectories(path: Path) -> Iterator[RolloutTrajectory]:
    """The trajectories of a dataset's folder, one at a time."""
    for file in _files(path, "trajectories"):
        with file.open("rb") as lines:
            for line in lines:
                yield RolloutTrajectory.model_validate_json(line)


def _files(path: Path, kind: str) -> list[Path]:
    folder = path / kind
    if not folder.is_dir():
        raise UsageError(f"{path} is no dataset: it has no folder {kind}")
    return sorted(folder.glob("*.jsonl"))


def _rows(file: Path) -> Iterator[RolloutRow]:
    for number, line in enumerate(file.read_bytes().splitlines(), 1):
        try:
            yield RolloutRow.model_validate_json(line)
        except ValidationError as error:
            wrong = error.errors()[0]
            where = ".".join(str(part) for part in wrong["loc"])
            raise UsageError(f"{file}, line {number}: {where}: {wrong['msg']}") from None


ASK = "Put the answer between <answer> and </answer>."
"""Rules for delivering an answer, said after each question."""


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
