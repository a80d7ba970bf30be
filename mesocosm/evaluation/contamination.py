"""Contamination: signs in logs that a model knew what it was asked before it was.

- It wrote a canary: these stand in published data sets and exports, and in no world.
- It passed without having been delivered any of the evidence. Code that read files may have delivered it
  unseen; then that is said. And a short answer may have been guessed: a sign, no proof.
"""

# Each sign has an innocent explanation, so the report says signs, not proof (decision 084).

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict

from mesocosm.errors import UsageError
from mesocosm.evaluation.report.rows import Sample, read_samples
from mesocosm.families.canaries import canaries_in
from mesocosm.families.episode import Episode
from mesocosm.services.service import load_service

_TOLD = ("reference", "none")
"""Agents that know the answer, or do nothing."""


class Sign(BaseModel):
    """One sign in one sample."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    kind: Literal["canary", "unread"]
    task: str
    length: int | None
    seed: int
    model: str
    sample: str
    log: str
    """The log that it stands in."""
    detail: str


class Contamination(BaseModel):
    """Result of a contamination check."""

    samples: int
    """Of models and programs; those of the reference solver and of nobody are left out."""
    passed: int
    judged: int
    """Samples that passed and of which it is known what evidence was delivered."""
    signs: list[Sign]


def look_for_contamination(paths: Sequence[Path], canaries: Iterable[str] = ()) -> Contamination:
    """Signs in logs (``.eval`` files, folders of them) and run directories."""
    wanted = sorted(set(canaries))
    samples = [one for one in read_samples(paths) if one.agent not in _TOLD]
    passed = [one for one in samples if one.verdict == "passed"]
    judged = [one for one in passed if one.evidence and one.coverage is not None]
    signs = [sign for one in samples for sign in _canaries(one, wanted)]
    signs += [_sign(one, "unread", _unread(one)) for one in judged if one.coverage == 0]
    return Contamination(samples=len(samples), passed=len(passed), judged=len(judged), signs=signs)


def _sign(sample: Sample, kind: Literal["canary", "unread"], detail: str) -> Sign:
    told = sample.model_dump(include={"task", "length", "seed", "model", "sample", "log"})
    return Sign(kind=kind, detail=detail, **told)


def _unread(sample: Sample) -> str:
    said = f"passed, and none of {sample.evidence} pieces of evidence was delivered"
    run = _run(sample)
    coded = _code_calls(run / "episode") if run else 0
    return f"{said}; {coded} calls ran code, which may have read some" if coded else said


def _run(sample: Sample) -> Path | None:
    """The directory of a sample's run; ``None`` where it was not kept."""
    run = Path(sample.log).parent / sample.world if sample.world else None
    return run if run and run.is_dir() else None


def _code_calls(path: Path) -> int:
    """Calls of an episode that ran code of the agent."""
    try:
        episode = Episode(path)
    except (UsageError, OSError):
        return 0
    try:
        return sum(
            entry.service in episode.world.all_services and load_service(entry.service).runs_code
            for entry in episode.world.journal.entries()
        )
    finally:
        episode.close()


def _canaries(sample: Sample, wanted: Sequence[str]) -> Iterator[Sign]:
    found = {one for text in _written(sample) for one in canaries_in(text, wanted)}
    for one in sorted(found):
        yield _sign(sample, "canary", f"wrote {one}")


def _written(sample: Sample) -> Iterator[str]:
    """Yield everything the actor wrote: messages, reasoning, arguments of calls."""
    log = Path(sample.log)
    if log.suffix == ".eval":
        yield from _messages(log, sample)
    if run := _run(sample):
        yield from _lines(run / "conversation.jsonl", ("text", "reasoning"))
        yield from _lines(run / "trajectory.jsonl", ("arguments",))


def _messages(log: Path, sample: Sample) -> Iterator[str]:
    from inspect_ai.log import read_eval_log_sample
    from inspect_ai.model import ChatMessageAssistant

    found = read_eval_log_sample(str(log), id=sample.sample.partition(" ")[0], epoch=sample.epoch)
    for message in found.messages:
        if isinstance(message, ChatMessageAssistant):
            yield json.dumps(message.model_dump(include={"content", "tool_calls"}), default=str)
    yield found.output.completion


def _lines(path: Path, keys: Sequence[str]) -> Iterator[str]:
    for line in path.read_bytes().splitlines() if path.is_file() else ():
        turn: dict[str, Any] = orjson.loads(line)
        yield json.dumps([turn.get(key) for key in keys])
        yield json.dumps([call.get("arguments") for call in turn.get("calls") or ()])
