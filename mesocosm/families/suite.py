"""The suite: every task at its preset lengths and seeds."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import orjson
from pydantic import BaseModel

from mesocosm.families.configurations import PRESET, configuration
from mesocosm.families.family import family_names, load_family
from mesocosm.families.instances import build_instance, memory_for
from mesocosm.families.quantities import parse_lengths, parse_seeds, show_length
from mesocosm.families.workers.workers import Workers


@dataclass(frozen=True)
class SuiteInstance:
    task: str
    length: int
    seed: int
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)


class BuiltInstance(BaseModel):
    """Result of building one instance."""

    task: str
    length: int
    seed: int
    edl: int = 0
    seconds: float = 0
    problem: str = ""


def instances(
    tasks: str | None, lengths: str | None, seeds: str | None, preset: str | None = None
) -> list[SuiteInstance]:
    """The instances of these tasks (default: all) at these lengths and seeds (default: each task's own).

    With a ``preset`` (a benchmark as it was released) all three are by default what that has.
    """
    released = configuration(preset) if preset else None
    names = list(released.tasks) if released else family_names()
    if tasks:
        names = [name.strip() for name in tasks.split(",")]
    wanted = []
    for name in names:
        task = load_family(name).task
        own_lengths, own_seeds = (
            (list(released.of(name).lengths), released.seeds) if released else (task.lengths, task.seeds)
        )
        for length in parse_lengths(lengths) if lengths else own_lengths:
            for seed in parse_seeds(seeds) if seeds else own_seeds:
                wanted.append(SuiteInstance(name, length, seed, {PRESET: preset} if preset else {}))
    return wanted


def build_all(wanted: Sequence[SuiteInstance], root: Path, workers: Workers) -> Iterator[BuiltInstance]:
    """Build missing instances below ``root/<task>/<length>/<seed>``; yields each when done.

    What a preset has lies below ``root/<preset>``.
    """
    root.mkdir(parents=True, exist_ok=True)
    missing = []
    for one in wanted:
        name = Path(one.task).stem if one.task.endswith((".yaml", ".yml")) else one.task
        path = root / one.parameters.get(PRESET, "") / name / show_length(one.length) / str(one.seed)
        if path.is_dir():
            manifest = orjson.loads((path / "world" / "world.json").read_bytes())
            yield _told(one, edl=manifest["length"]["measured"])
        else:
            missing.append((one, path))
    # Long ones first: the last core should not be left alone with the largest world.
    missing.sort(key=lambda job: -job[0].length)
    for _, built in workers.folders(_build, missing, lambda job: memory_for(job[0].length)):
        yield built


def _told(one: SuiteInstance, **known: Any) -> BuiltInstance:
    return BuiltInstance(task=one.task, length=one.length, seed=one.seed, **known)


def _build(one: SuiteInstance, path: Path) -> BuiltInstance:
    built = _told(one)
    started = perf_counter()
    try:
        family = load_family(one.task)
        instance = build_instance(family, one.seed, path, target=one.length, parameters=one.parameters)
        built.edl = instance.survey.tokens
    except Exception:  # noqa: BLE001 - one instance that cannot be built must not stop the others
        built.problem = traceback.format_exc()
    built.seconds = round(perf_counter() - started, 2)
    return built
