"""Copies of a world, and episodes, that share the files which neither replaces."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confinement import needs_sandbox
from trials import call, failures, solve

from mesocosm.families.episode import Episode
from mesocosm.families.family import Family, load_family
from mesocosm.families.instances import build_instance
from mesocosm.services.world import World
from mesocosm.worlds.copies import copy_world, own_files

MakeWorld = Callable[..., World]


def _pair(make_world: MakeWorld, path: Path) -> tuple[World, World]:
    files = [("notes/a.txt", b"old"), ("b.txt", b"kept")]
    origin = make_world(lambda world: world.workspace.fill(files, world.now), "filesystem", "python_execute")
    copy_world(origin.path, path, sharing_files=True)
    return origin, World(path)


def test_what_tools_write_in_a_copy_its_origin_does_not_have(make_world: MakeWorld, tmp_path: Path) -> None:
    origin, other = _pair(make_world, tmp_path / "other")
    with other:
        for tool, arguments in [
            ("write_file", {"path": "notes/a.txt", "content": "new"}),
            ("move_file", {"source": "b.txt", "destination": "c.txt"}),
        ]:
            assert other.call("filesystem", tool, arguments).status == "ok"
        assert {name: path.read_bytes() for name, path in other.workspace.files()} == {
            "c.txt": b"kept",
            "notes/a.txt": b"new",
        }
    there = {name: path.read_bytes() for name, path in origin.workspace.files()}
    assert there == {"b.txt": b"kept", "notes/a.txt": b"old"}


@needs_sandbox
def test_what_code_writes_into_a_file_of_a_copy_its_origin_does_not_have(
    make_world: MakeWorld, tmp_path: Path
) -> None:
    origin, other = _pair(make_world, tmp_path / "other")
    with other:
        code = "with open('notes/a.txt', 'a') as file: file.write(' and more')"
        assert other.call("python_execute", "python_execute", {"code": code}).status == "ok"
        assert other.workspace.read("notes/a.txt") == b"old and more"
    assert (origin.path / "workspace/notes/a.txt").read_bytes() == b"old"


Instance = tuple[Family, Path]
"""A family, and the folder of a built instance of it."""


@pytest.fixture(scope="module")
def warnings(tmp_path_factory: pytest.TempPathFactory) -> Instance:
    """An instance of a task whose agents write files and run code."""
    family = load_family("academic_warning")
    folder = tmp_path_factory.mktemp("built") / "instance"
    build_instance(family, 0, folder, target=8_000)
    return family, folder


def _files(folder: Path) -> dict[str, bytes]:
    root = folder / "world" / "workspace"
    return {
        str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()
    }


def _shared(instance: Path, episode: Path) -> set[str]:
    """Files that both have as one."""
    theirs = episode / "world" / "workspace"
    return {
        name
        for name in _files(instance)
        if (theirs / name).exists() and (theirs / name).samefile(instance / "world" / "workspace" / name)
    }


def test_an_episode_that_shares_leaves_its_instance_as_it_was(warnings: Instance, tmp_path: Path) -> None:
    family, instance = warnings
    built = _files(instance)
    episode = Episode.create(tmp_path / "episode", instance, family)
    assert _shared(instance, tmp_path / "episode") == set(built)

    notice = next(name for name in built if name.startswith("notices/"))
    call(episode, "filesystem", "write_file", path="latest_quiz_scores.csv", content="lost")
    call(episode, "filesystem", "move_file", source=notice, destination="kept.txt")
    assert _files(instance) == built
    assert _shared(instance, tmp_path / "episode") == set(built) - {"latest_quiz_scores.csv", notice}
    episode.close()

    other = Episode.create(tmp_path / "other", instance, family)
    assert _files(tmp_path / "other") == built
    solve(family, other)
    assert failures(other) == set()
    other.close()
    assert _files(instance) == built


def test_an_episode_that_is_opened_again_still_shares(warnings: Instance, tmp_path: Path) -> None:
    family, instance = warnings
    built = _files(instance)
    Episode.create(tmp_path / "episode", instance, family).close()
    again = Episode(tmp_path / "episode")
    name = min(built)
    assert call(again, "filesystem", "read_text_file", path=name) is not None
    call(
        again,
        "filesystem",
        "edit_file",
        path=name,
        edits=[{"oldText": built[name][:5].decode(), "newText": "x"}],
    )
    assert _files(instance) == built
    assert _files(tmp_path / "episode")[name] == b"x" + built[name][5:]
    again.reset()
    assert _files(tmp_path / "episode") == built
    assert _shared(instance, tmp_path / "episode") == set(built)
    again.close()


def test_a_step_copies_a_file_once_whoever_shares_it_meanwhile(warnings: Instance, tmp_path: Path) -> None:
    """Other episodes on the instance give its files names, and remove them."""
    family, instance = warnings
    episode = Episode.create(tmp_path / "episode", instance, family)
    for number in range(3):
        call(episode, "filesystem", "write_file", path="mine.txt", content=str(number))
        Episode.create(tmp_path / f"other{number}", instance, family).close()
    kept = sorted((tmp_path / "episode/world/steps").glob("*.workspace-files"))
    assert len(kept) == 3
    name = min(_files(instance))
    assert len({(folder / name).stat().st_ino for folder in kept}) == 1
    episode.rollback(1)
    assert _files(tmp_path / "episode") == {**_files(instance), "mine.txt": b"0"}
    episode.close()


@needs_sandbox
def test_files_become_own_though_a_crash_came_between(
    warnings: Instance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    family, instance = warnings
    built = _files(instance)
    Episode.create(tmp_path / "episode", instance, family).close()
    world = tmp_path / "episode" / "world"
    rename, left = os.rename, iter([True, True, False])

    def crash(*names: Any, **folders: Any) -> None:
        if not next(left):
            raise KeyboardInterrupt
        rename(*names, **folders)

    with monkeypatch.context() as patched:
        patched.setattr(os, "rename", crash)
        with pytest.raises(KeyboardInterrupt):
            own_files(world)
    assert _files(tmp_path / "episode") == built
    assert len(_shared(instance, tmp_path / "episode")) == len(built) - 2
    paths = [path for path in (world / "workspace").rglob("*") if path.is_file()]
    before = {path: path.stat().st_mtime_ns for path in paths}

    episode = Episode(tmp_path / "episode")
    call(episode, "python_execute", "python_execute", code="pass")
    assert _files(tmp_path / "episode") == built
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert _shared(instance, tmp_path / "episode") == set()
    episode.close()


@needs_sandbox
def test_after_code_ran_further_names_of_files_are_refused_as_ever(
    warnings: Instance, tmp_path: Path
) -> None:
    family, instance = warnings
    episode = Episode.create(tmp_path / "episode", instance, family)
    name = min(_files(instance))
    call(episode, "python_execute", "python_execute", code="pass")
    episode.close()
    workspace = tmp_path / "episode/world/workspace"
    os.link(workspace / name, workspace / "second")  # as code may
    again = Episode(tmp_path / "episode")
    assert "hard link" in again.world.call("filesystem", "read_text_file", {"path": "second"}).text
    again.reset()
    assert again.world.call("filesystem", "read_text_file", {"path": name}).status == "ok"
    again.close()


@needs_sandbox
def test_code_in_an_episode_that_shares_writes_into_files_of_its_own(
    warnings: Instance, tmp_path: Path
) -> None:
    family, instance = warnings
    built = _files(instance)
    episode = Episode.create(tmp_path / "episode", instance, family)
    code = "with open('latest_quiz_scores.csv', 'a') as file: file.write('more')"
    call(episode, "python_execute", "python_execute", code=code)
    scores = built["latest_quiz_scores.csv"] + b"more"
    assert _files(tmp_path / "episode")["latest_quiz_scores.csv"] == scores
    assert _shared(instance, tmp_path / "episode") == set()
    assert _files(instance) == built
    episode.close()
