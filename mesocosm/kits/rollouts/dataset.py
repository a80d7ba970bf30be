"""Datasets of questions about rollouts.

A trajectory is one game; its twins in both settings are the same rounds. Every trajectory carries one
question of each type, so of every bucket (setting, format, length) there are as many trajectories as
questions per type, and none is written twice. What is made depends on the dataset's seed and on its own
place only.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from io import StringIO
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal, Self

import orjson
from pydantic import BaseModel, ConfigDict, Field, model_validator

from mesocosm.errors import UsageError
from mesocosm.families.quantities import show_length
from mesocosm.families.workers.workers import Workers
from mesocosm.kits.rollouts import wording
from mesocosm.kits.rollouts.encyclopaedia import (
    MAX_ENTRIES,
    MIN_ENTRIES,
    SECTIONS,
    Encyclopaedia,
    EncyclopaediaEntry,
    invent,
)
from mesocosm.kits.rollouts.engine import RolloutEngine, Unfit
from mesocosm.kits.rollouts.questions import TYPES, RolloutQuestion, Type, ask
from mesocosm.kits.rollouts.scores import AnswerKind, kind_of
from mesocosm.kits.rollouts.simulated_player import Behaviour
from mesocosm.kits.rollouts.token_counts import Counter
from mesocosm.kits.rollouts.transcript import ChatMessage, Format, Rollout, Scribe, message_tokens
from mesocosm.kits.rollouts.twins import SETTINGS, Setting, SymbolVocabulary, symbols_of, words_of

# User-provided creatures: a file of names and values, in place of invented ones.
#
# JSON lines, or a CSV file with the same columns: ``name``, ``Type``, ``Base Stats``, ``Generation``,
# ``Abilities``, ``Evolution``, ``Habitat``. Several values of a section are a list, or separated by ``;``.

_NAME = "name"


def read_table(path: Path) -> Encyclopaedia:
    """The creatures of a file; ``UsageError`` says which line is wrong, and how."""
    values: list[dict[str, int]] = [{} for _ in SECTIONS]
    found: dict[str, tuple[tuple[int, ...], ...]] = {}
    profiles: dict[tuple[tuple[int, ...], ...], str] = {}
    for where, row in _rows(path):
        name = str(row.get(_NAME) or "").strip()
        if not name or name in found:
            raise UsageError(f"{where}: {f'{name!r} comes twice' if name else 'there is no name'}")
        traits = tuple(_trait(where, at, row, values[at]) for at in range(len(SECTIONS)))
        if traits in profiles:
            raise UsageError(f"{where}: {name} is in all sections what {profiles[traits]} is")
        found[name], profiles[traits] = traits, name
    if not MIN_ENTRIES <= len(found) <= MAX_ENTRIES:
        raise UsageError(f"{path}: {len(found):,} creatures; {MIN_ENTRIES} to {MAX_ENTRIES:,} are expected")
    numbers = {name: at for at, name in enumerate(found, 1)}
    names = sorted(found)
    entries = [EncyclopaediaEntry(numbers[name], found[name]) for name in names]
    return Encyclopaedia(names, entries, [list(words) for words in values])


def _trait(where: str, at: int, row: dict[str, Any], known: dict[str, int]) -> tuple[int, ...]:
    section = SECTIONS[at]
    value = row.get(section.name)
    if section.kind == "number":
        try:
            return (int(str(value)),)
        except ValueError:
            raise UsageError(f"{where}: {section.name}: {value!r} is no whole number") from None
    parts = value if isinstance(value, list) else str(value or "").split(";")
    words = list(dict.fromkeys(word for part in parts if (word := str(part).strip())))
    if not words:
        raise UsageError(f"{where}: {section.name}: there is no value")
    return tuple(known.setdefault(word, len(known)) for word in words)


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from None
    if path.suffix == ".csv":
        for number, row in enumerate(csv.DictReader(StringIO(text)), 2):
            yield f"{path}, line {number}", row
        return
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                row = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                raise UsageError(f"{path}, line {number}: {error}") from None
            if not isinstance(row, dict):
                raise UsageError(f"{path}, line {number}: an object is expected")
            yield f"{path}, line {number}", row


Job = tuple[Format, int, int]
"""Format, length and number of a trajectory."""
ITEMS: dict[Format, int] = {"c": 1_000, "v": 2_000}
"""Creatures of an encyclopaedia, unless others are asked for: with so many a concise history has some four
times as many rounds as a verbose one, whose results are as much longer, as the paper's Table 2 has it."""
_MORE_ITEMS = 2_000_000, 1_600
"""Above so many tokens of a concise history so many creatures: none is guessed twice."""
_ATTEMPTS = 60
_LEAST_ROUNDS = 3


class DatasetPlan(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    settings: tuple[Setting, ...] = SETTINGS
    formats: tuple[Format, ...] = ("c", "v")
    lengths: tuple[int, ...]
    """Tokens of a trajectory, each within 1 %."""
    per_type: int = Field(default=25, ge=1)
    """Questions of each type in each bucket, and trajectories."""
    seed: int = Field(default=0, ge=0)
    items: int | None = Field(default=None, ge=MIN_ENTRIES, le=MAX_ENTRIES)
    """Creatures of the encyclopaedia; by the format if left out."""
    behaviour: Behaviour = Behaviour()
    counts: Literal["even", "paper"] = "even"
    """Number of questions of each type: ``per_type`` of each, or as the paper's Tables 3 to 6 count them."""
    entities: str | None = None
    """A file with creatures of one's own, for the setting of words."""

    @model_validator(mode="after")
    def _own_words(self) -> Self:
        if self.entities and self.settings != ("ki",):
            raise ValueError("creatures of one's own are for the setting ki alone: say --settings ki")
        if self.entities and self.items:
            raise ValueError("creatures of one's own are as many as they are: leave --items out")
        return self

    def size(self, format: Format, length: int) -> int:
        """Creatures of the encyclopaedia."""
        above, more = _MORE_ITEMS
        return self.items or (more if format == "c" and length > above else ITEMS[format])

    def sizes(self, format: Format) -> list[int]:
        """Creatures of all encyclopaedias of a format."""
        return sorted({self.size(format, length) for length in self.lengths})

    def book(self, size: int) -> tuple[Encyclopaedia, dict[Setting, SymbolVocabulary]]:
        return open_table(self.entities) if self.entities else open_book(self.seed, size)

    def asked(self, job: Job) -> list[Type]:
        """The types of the questions about a trajectory."""
        format, length, number = job
        return [type for type in TYPES if number < self.count(type, format, length)]

    def count(self, type: Type, format: Format, length: int) -> int:
        """Return the number of questions of a type in a bucket."""
        return paper_count(type, format, length) if self.counts == "paper" else self.per_type

    @property
    def jobs(self) -> list[Job]:
        """Format, length and number of every trajectory, long ones last."""
        return [
            (format, length, number)
            for length in self.lengths
            for format in self.formats
            for number in range(max(self.count(type, format, length) for type in TYPES))
        ]


class RolloutEvidence(BaseModel):
    """Parts of the history that an answer needs."""

    messages: list[int]
    """Indexes of the trajectory's messages, ascending."""
    tokens: int
    """Of these messages: the adequate context length."""
    span: int
    """From the beginning of the first of them to the end of the last."""


class RolloutRow(BaseModel):
    """One question of a dataset."""

    id: str
    twin: str
    """The name of the same question in both settings."""
    trajectory: str
    setting: Setting
    format: Format
    length: int
    """The bucket."""
    type: Type
    question: str
    answer: list[str]
    """One text, or for pairs (in order) and sets one for each name."""
    answer_kind: AnswerKind
    rounds: list[int]
    """The rounds that the question names."""
    evidence: RolloutEvidence
    tokens: int
    """Of the trajectory."""


class RolloutTrajectory(BaseModel):
    id: str
    setting: Setting
    format: Format
    length: int
    tokens: int
    rounds: int
    messages: list[ChatMessage]


@dataclass(frozen=True)
class RolloutGame:
    """A rollout that every type of question can be asked about, and these questions."""

    rollout: Rollout
    questions: Sequence[RolloutQuestion]


@cache
def open_book(seed: int, size: int) -> tuple[Encyclopaedia, dict[Setting, SymbolVocabulary]]:
    book = invent(random.Random(f"encyclopaedia:{seed}:{size}"), size)
    symbols = symbols_of(book, random.Random(f"symbols:{seed}:{size}"))
    return book, {"ki": words_of(book), "kf": symbols}


@cache
def open_table(path: str) -> tuple[Encyclopaedia, dict[Setting, SymbolVocabulary]]:
    """Creatures of one's own, and their words."""
    book = read_table(Path(path))
    return book, {"ki": words_of(book, exact=False)}


def play_for(
    engine: RolloutEngine, name: str, length: int, turn: int, types: Sequence[Type] = TYPES
) -> RolloutGame:
    """A game of a length with a question of each of these types; the same ``name`` is the same game."""
    last: Unfit | None = None
    for attempt in range(_ATTEMPTS):
        rng = random.Random(f"{name}:{attempt}")
        rollout = engine.play(rng, length)
        try:
            if len(rollout.rounds) < _LEAST_ROUNDS:
                raise Unfit(f"it has less than {_LEAST_ROUNDS} rounds")
            return RolloutGame(rollout, [_asked(kind, rng, rollout, turn) for kind in types])
        except Unfit as error:
            last = error
    raise UsageError(f"no game of {show_length(length)} tokens has all questions: {last}")


def _asked(kind: Type, rng: random.Random, rollout: Rollout, turn: int) -> RolloutQuestion:
    last: Unfit | None = None
    for _ in range(8):
        try:
            return ask(kind, rng, rollout, turn)
        except Unfit as error:
            last = error
    assert last
    raise last


def play_job(plan: DatasetPlan, job: Job) -> RolloutGame:
    """The game of a trajectory, with a question of each type."""
    format, length, number = job
    book, vocabularies = plan.book(plan.size(format, length))
    # Both vocabularies, whatever settings are asked for: the rounds must not depend on that.
    engine = RolloutEngine(book, list(vocabularies.values()), format, plan.behaviour)
    return play_for(engine, f"{plan.seed}:{format}:{length}:{number}", length, number)


def name_of(job: Job) -> str:
    """Return a trajectory's name, the same in both settings."""
    format, length, number = job
    return f"{format}-{show_length(length)}-{number:03d}"


def make(plan: DatasetPlan, job: Job) -> list[tuple[RolloutTrajectory, list[RolloutRow]]]:
    """One trajectory with its questions, in each of the settings."""
    format, length, _ = job
    _, vocabularies = plan.book(plan.size(format, length))
    game, types = play_job(plan, job), plan.asked(job)
    asked = RolloutGame(game.rollout, [question for question in game.questions if question.type in types])
    return [_written(asked, vocabularies[setting], length, name_of(job)) for setting in plan.settings]


def _written(
    game: RolloutGame, words: SymbolVocabulary, length: int, twin: str
) -> tuple[RolloutTrajectory, list[RolloutRow]]:
    rollout = game.rollout
    scribe = Scribe(words, rollout.format, rollout.rounds_allowed)
    sizes = tokens_of(scribe, rollout)
    trajectory = RolloutTrajectory(
        id=f"{words.setting}-{twin}",
        setting=words.setting,
        format=rollout.format,
        length=length,
        tokens=sum(sizes),
        rounds=len(rollout.rounds),
        messages=list(scribe.messages(rollout)),
    )
    ends = list(accumulate(sizes))
    rows = [_row(question, words, trajectory, twin, sizes, ends) for question in game.questions]
    return trajectory, rows


def tokens_of(scribe: Scribe, rollout: Rollout) -> list[int]:
    """Tokens of every message."""
    if not scribe.words.exact:
        return [message_tokens(message) for message in scribe.messages(rollout)]
    return Counter(scribe, rollout.book, rollout.target).rollout(rollout)


def _row(
    question: RolloutQuestion,
    words: SymbolVocabulary,
    trajectory: RolloutTrajectory,
    twin: str,
    sizes: Sequence[int],
    ends: Sequence[int],
) -> RolloutRow:
    held = question.evidence
    return RolloutRow(
        id=f"{trajectory.id}-{question.type}",
        twin=f"{twin}-{question.type}",
        trajectory=trajectory.id,
        setting=words.setting,
        format=trajectory.format,
        length=trajectory.length,
        type=question.type,
        question=wording.put(question, words, trajectory.format),
        answer=wording.answer(question, words),
        answer_kind=kind_of(question.type, trajectory.format),
        rounds=list(question.rounds),
        evidence=RolloutEvidence(
            messages=list(held),
            tokens=sum(sizes[at] for at in held),
            span=ends[held[-1]] - ends[held[0]] + sizes[held[0]],
        ),
        tokens=trajectory.tokens,
    )


def make_all(
    plan: DatasetPlan, workers: Workers
) -> Iterator[list[tuple[bytes, list[bytes], list[RolloutRow]]]]:
    """The lines of all trajectories and their questions, job by job."""
    return workers.ordered(partial(lines, plan), plan.jobs)


def lines(plan: DatasetPlan, job: Job) -> list[tuple[bytes, list[bytes], list[RolloutRow]]]:
    """Serialise the output of ``make`` as JSON lines: the trajectory, its questions, and their rows."""
    return [
        (
            _line(trajectory),
            [_line(row) for row in rows],
            rows,
        )
        for trajectory, rows in make(plan, job)
    ]


def _line(model: BaseModel) -> bytes:
    return model.model_dump_json().encode() + b"\n"


BUCKETS = (32_000, 64_000, 128_000, 256_000, 512_000, 1_000_000, 2_000_000, 4_000_000)
"""The paper's eight lengths."""
_COUNTS: Mapping[Format, Mapping[Type, Sequence[int]]] = {
    "c": {
        "count_frequency_tool": [25] * 8,
        "find_duplicates_tool": [25] * 8,
        "find_target_offsets_tool": [25] * 8,
        "count_correctness_env": [25] * 8,
        "count_frequency_env": [16, 12, 18, 17, 23, 21, 16, 17],
        "find_round_largest_value_env": [20, 23, 20, 19, 12, 17, 18, 19],
        "weighted_summation_env": [14, 15, 12, 14, 15, 12, 16, 14],
        "intersection": [50] * 8,
    },
    "v": {
        "count_frequency_tool": [25] * 8,
        "find_duplicates_tool": [24, *[25] * 7],
        "find_target_offsets_tool": [26, *[25] * 7],
        "count_correctness_env": [25] * 8,
        "count_frequency_env": [21, 24, 20, 21, 13, 17, 20, 21],
        "find_round_largest_value_env": [13, 13, 16, 15, 20, 18, 24, 17],
        "weighted_summation_env": [16, 13, 14, 14, 17, 15, 6, 12],
        "intersection": [50] * 8,
    },
}


def paper_count(type: Type, format: Format, length: int) -> int:
    """The number of questions of a type in a bucket; ``UsageError`` for a length that the paper has not."""
    if length not in BUCKETS:
        known = ", ".join(map(show_length, BUCKETS))
        raise UsageError(f"the paper counts no questions at {show_length(length)}; it does at {known}")
    return _COUNTS[format][type][BUCKETS.index(length)]
