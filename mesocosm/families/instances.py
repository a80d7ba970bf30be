"""Instances: a family, a target length or parameters, and a seed, built into a directory.

::

    instance/
      world/          the world that an agent will act on
      expected.json   what the checker needs; no tool can read it
      prompt.md       what the agent is asked
"""

from __future__ import annotations

import gc
import hashlib
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any

import orjson

from mesocosm.errors import UsageError
from mesocosm.families import length as lengths
from mesocosm.families.configurations import PRESET, released
from mesocosm.families.family import Expected, Family, Params
from mesocosm.families.task import Growth
from mesocosm.services.extras import require_extras
from mesocosm.services.world import World
from mesocosm.worlds.manifest import Manifest
from mesocosm.worlds.randomness import Dice
from mesocosm.worlds.workspace import keep_for_owner, replace_file

EXPECTED = "expected.json"
"""File with the checker's knowledge: the answer."""

DENSITY = "density"
"""The parameter that every family has beside its own: how much of the description is evidence."""
GROWTH = "growth"
"""And this one: which of its ways to grow a task takes."""

_MUCH = 1.35
"""An estimate that is this much above the target is right that the instance is longer without filler."""

Progress = Callable[[str], None]


def memory_for(length: int) -> int:
    """Bytes of memory that it takes to build an instance of a length, or to prove it, and some to spare."""
    return 256 * 2**20 + 200 * length


@dataclass(frozen=True)
class Instance:
    """A built instance on disk."""

    path: Path
    expected: Expected
    prompt: str
    survey: lengths.Survey
    """The survey as it was measured; its world is closed."""


def build_instance(
    family: Family,
    seed: int,
    path: Path,
    *,
    target: int | None = None,
    parameters: Mapping[str, Any] | None = None,
    progress: Progress = lambda _: None,
) -> Instance:
    """Build an instance at a target length, or with exactly the given parameters.

    A target sets the parameter that grows, unless it is given, and the filler. ``density`` among the
    parameters is the share of the description in items that hold evidence, and sets the parameter that grows;
    ``growth`` names another parameter to grow by, ``preset`` a configuration, whose numbers win over the
    target. Nothing is left at ``path`` unless the whole instance is.
    """
    if path.exists():
        raise UsageError(f"{path} exists already")
    require_extras(family.task.servers)
    draft = path.with_name(f".{path.name}.building")
    shutil.rmtree(draft, ignore_errors=True)
    try:
        with family.drafting():
            built = _finished(_build(family, seed, draft, target, parameters or {}, progress), target)
        draft.rename(path)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return Instance(path, built.expected, built.prompt, built.survey)


@dataclass(frozen=True)
class _Asked:
    """Order for a build."""

    parameters: dict[str, Any]
    """Those of the generator."""
    preset: str | None
    way: Growth
    density: float | None

    @classmethod
    def of(cls, family: Family, target: int | None, parameters: Mapping[str, Any]) -> _Asked:
        """Read the parameters; ``UsageError`` for what cannot be built."""
        given = dict(parameters)
        preset = given.pop(PRESET, None)
        if preset is not None:
            given = {**released(family.name, preset, target), **given}
        way = family.task.growth_by(given.pop(GROWTH, None))
        density = _density(way.parameter, target, given)
        family.params(**given)
        return cls(given, preset, way, density)


def check_parameters(family: Family, target: int | None, parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that no instance can have, without building any."""
    _Asked.of(family, target, parameters)


def _build(
    family: Family,
    seed: int,
    path: Path,
    target: int | None,
    wanted: Mapping[str, Any],
    progress: Progress,
) -> Instance:
    asked = _Asked.of(family, target, wanted)
    parameters, preset, way, density = asked.parameters, asked.preset, asked.way, asked.density
    growth, attempts = way.parameter, 0
    if target is None:
        return _build_once(family, seed, path, family.params(**parameters))
    built: Instance | None = None

    def build(size: int, filler: int) -> int:
        nonlocal attempts, built
        attempts += 1
        progress(f"building {family.name}, seed {seed}: attempt {attempts}")
        params = family.params(**{growth: size, **parameters, "filler_tokens": filler})
        built = _build_once(family, seed, path, params)
        return built.survey.tokens

    def build_dense(size: int) -> float:
        lengths.calibrate(family, target, build, size, growth=way)
        assert built
        return built.survey.density

    if density:
        lengths.find_density(family, target, density, build_dense, growth=way)
        assert built
        return built
    given = parameters.get(growth)
    fixed = given if isinstance(given, int) else None
    if preset is not None and fixed is not None:
        bare = family.params(**{**parameters, "filler_tokens": 0})
        is_long = _estimated(family, seed, bare) > _MUCH * target
        if is_long and build(fixed, 0) > target * (1 + lengths.TOLERANCE):
            assert built
            return built  # its numbers win: no filler makes it shorter
    lengths.calibrate(family, target, build, fixed, growth=way, overshoot=preset is not None)
    assert built
    return built


def _density(growth: str, target: int | None, parameters: dict[str, Any]) -> float | None:
    """Take the density out of the parameters.

    Raises ``UsageError`` for one that is no share, or that something else decides already.
    """
    given = parameters.pop(DENSITY, None)
    if given is None:
        return None
    try:
        density = 0.0 if isinstance(given, bool) else float(given)
    except (TypeError, ValueError):
        density = 0.0
    if not 0 < density < 1:
        raise UsageError(f"density={given}: a share of the description above 0 and below 1 is expected")
    if target is None:
        raise UsageError("density needs a length: it is the share of a description of that length")
    if growth in parameters:
        raise UsageError(f"density and {growth} cannot both be given: it sets that one")
    return density


def _estimated(family: Family, seed: int, params: Params) -> int:
    """Estimate the tokens of an instance before it is built; ``None`` if the family cannot."""
    estimated = family.hook("estimated")
    return estimated(Dice(family.name, seed), params) if estimated else 0


def _build_once(family: Family, seed: int, path: Path, params: Params) -> Instance:
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    manifest = Manifest(
        family=family.name,
        version=family.task.version,
        seed=seed,
        parameters=params.model_dump(mode="json"),
        services=family.task.servers,
        refusals=family.task.limits.refusals,
    )
    with _keeping_all(), World.create(path / "world", manifest) as world:
        expected = family.generate(world, params)
        world.finish_building()
        survey = lengths.take_survey(family, world, expected)
    return Instance(path, expected, family.prompt(expected), survey)


def _finished(built: Instance, target: int | None) -> Instance:
    """Add the measurements and the files beside the world. Drafts on the way to a length skip this."""
    with _keeping_all():
        manifest = Manifest.read(built.path / "world")
        length = built.survey.length(target)
        manifest.model_copy(update={"length": length}).write(built.path / "world")
        expected = built.expected.finished()
        keep_for_owner(built.path / EXPECTED, orjson.dumps(expected.model_dump(mode="json")))
    replace_file(built.path / "prompt.md", built.prompt.encode())
    return replace(built, expected=expected)


class _Keeping:
    """Builds that go on in this process."""

    def __init__(self) -> None:
        self._lock, self._builds, self._was_on = Lock(), 0, False

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Look for no garbage: nearly all that is made is kept, so to look takes long and finds nothing."""
        with self._lock:
            if not self._builds:
                self._was_on = gc.isenabled()
                gc.disable()
            self._builds += 1
        try:
            yield
        finally:
            with self._lock:
                self._builds -= 1
                if not self._builds and self._was_on:
                    gc.enable()


_keeping_all = _Keeping()


def fingerprint(path: Path) -> str:
    """SHA-256 over all files of a directory: equal for equal bytes under equal names."""
    digest = hashlib.sha256()
    for file in sorted(file for file in path.rglob("*") if file.is_file()):
        digest.update(f"{file.relative_to(path).as_posix()}\0".encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()
