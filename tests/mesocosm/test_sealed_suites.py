"""Suites that are held out: sealed with a key, revealed and verified."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import mesocosm

TASK = "listworld"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a key, a sealed suite, and its secret."""
    folder = tmp_path_factory.mktemp("sealed")
    words = ["--tasks", TASK, "--lengths", "8k", "--count", 2, "--workers", 1]
    for command in (
        ["key", "key"],
        ["seal", "autumn", "--key", "key", "--out", "sealed.json", *words],
        ["reveal", "sealed.json", "--key", "key", "--out", "revealed.json"],
    ):
        done = mesocosm("suite", *command, cwd=folder)
        assert done.returncode == 0, done.stderr
    return folder


def test_a_manifest_tells_nothing_but_that_there_are_instances(folder: Path) -> None:
    manifest = json.loads((folder / "sealed.json").read_text())
    assert [(one["task"], one["length"], one["number"]) for one in manifest["instances"]] == [
        (TASK, 8000, 0),
        (TASK, 8000, 1),
    ]
    assert (folder / "key").stat().st_mode & 0o777 == 0o600
    seeds = mesocosm("suite", "seeds", "sealed.json", "--key", "key", cwd=folder).stdout.strip()
    assert min(map(int, seeds.split(","))) >= 2**62
    assert not any(seed in (folder / "sealed.json").read_text() for seed in seeds.split(","))


def test_the_seeds_are_those_that_other_commands_take(folder: Path) -> None:
    seeds = mesocosm("suite", "seeds", "sealed.json", "--key", "key", cwd=folder).stdout.strip()
    words = [
        "suite",
        "build",
        "--tasks",
        TASK,
        "--lengths",
        "8k",
        "--seeds",
        seeds,
        "--out",
        "built",
        "--workers",
        1,
    ]
    assert mesocosm(*words, cwd=folder).returncode == 0
    assert sorted(path.name for path in (folder / "built" / TASK / "8k").iterdir()) == sorted(
        seeds.split(",")
    )


def test_whoever_has_the_secret_verifies_the_suite(folder: Path) -> None:
    done = mesocosm("suite", "verify", "sealed.json", "revealed.json", "--workers", 1, "--json", cwd=folder)
    assert [one["result"] for one in json.loads(done.stdout)] == ["same", "same"]


def test_an_instance_that_is_another_is_told(folder: Path) -> None:
    manifest = json.loads((folder / "sealed.json").read_text())
    manifest["instances"][1]["digest"] = manifest["instances"][0]["digest"]
    (folder / "forged.json").write_text(json.dumps(manifest))
    done = mesocosm("suite", "verify", "forged.json", "revealed.json", "--workers", 1, "--json", cwd=folder)
    assert sorted(one["result"] for one in json.loads(done.stdout)) == ["differs", "same"]
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["seeds", "sealed.json", "--key", "other"], "is not that of the sealed suite 'autumn'"),
        (["seeds", "sealed.json", "--key", "nobody"], "make a key with: mesocosm suite key FILE"),
        (["seeds", "sealed.json", "--key", "short"], "a key is 64 hexadecimal digits"),
        (["seeds", "revealed.json", "--key", "key"], "revealed.json: mesocosm: Field required"),
        (["key", "key"], "no key was written: File exists"),
    ],
)
def test_what_does_not_fit_is_refused(folder: Path, words: list[str], message: str) -> None:
    (folder / "other").write_text("ab" * 32)
    (folder / "short").write_text("abcd")
    done = mesocosm("suite", *words, cwd=folder)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())


@pytest.mark.parametrize("kept", [[], [0, 1, 0]])
def test_a_manifest_of_nothing_or_with_one_instance_twice_verifies_nothing(
    folder: Path, kept: list[int]
) -> None:
    manifest = json.loads((folder / "sealed.json").read_text())
    manifest["instances"] = [manifest["instances"][number] for number in kept]
    (folder / "wrong.json").write_text(json.dumps(manifest))
    done = mesocosm("suite", "verify", "wrong.json", "revealed.json", "--workers", 1, cwd=folder)
    assert done.returncode == 2
    assert ("at least 1 item" if not kept else "number 0 is there 2 times") in done.stderr
