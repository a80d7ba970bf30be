"""Fixtures of the tests of one family: ``FAMILY`` of the module that asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from trials import solve

from mesocosm.families.episode import Episode
from mesocosm.families.family import Expected
from mesocosm.families.instances import Instance, build_instance

Build = Callable[..., Instance]


@pytest.fixture
def build(request: pytest.FixtureRequest, tmp_path: Path) -> Build:
    """``build(seed, num_courses=7, ...)``: an instance with these parameters, or of a ``target`` length."""
    built: list[Path] = []

    def make(seed: int = 0, *, target: int | None = None, **parameters: Any) -> Instance:
        path = tmp_path / f"instance-{len(built)}"
        built.append(path)
        return build_instance(request.module.FAMILY, seed, path, target=target, parameters=parameters)

    return make


@pytest.fixture(scope="module")
def instance(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Instance:
    """An instance of 16k, for all tests of the module."""
    return build_instance(request.module.FAMILY, 5, tmp_path_factory.mktemp("built") / "x", target=16_000)


@pytest.fixture
def episode(request: pytest.FixtureRequest, instance: Instance, tmp_path: Path) -> Iterator[Episode]:
    """A fresh episode of the instance."""
    episode = Episode.create(tmp_path / "episode", instance.path, request.module.FAMILY)
    yield episode
    episode.close()


@pytest.fixture
def expected(instance: Instance) -> Expected:
    """What the checker knows of the instance."""
    return instance.expected


@pytest.fixture(scope="module")
def solved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Episode]:
    """A solved episode with ``LARGE`` parameters, in which every mutant has its place; to be forked."""
    family, folder = request.module.FAMILY, tmp_path_factory.mktemp("solved")
    seed, parameters = request.module.LARGE
    built = build_instance(family, seed, folder / "instance", parameters=parameters)
    episode = Episode.create(folder / "episode", built.path, family)
    solve(family, episode)
    yield episode
    episode.close()


@pytest.fixture(scope="module")
def done(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Episode]:
    """An episode of ``DONE`` (a seed, and what it is built with) in which all is done; it may go on."""
    family, folder = request.module.FAMILY, tmp_path_factory.mktemp("done")
    seed, options = request.module.DONE
    built = build_instance(family, seed, folder / "instance", **options)
    episode = Episode.create(folder / "episode", built.path, family)
    solve(family, episode, claim=False)
    yield episode
    episode.close()


@pytest.fixture
def fork(solved: Episode, tmp_path: Path) -> Iterator[Episode]:
    """The solved episode, to be spoiled."""
    episode = solved.fork(tmp_path / "fork")
    yield episode
    episode.close()
