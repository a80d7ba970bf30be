"""Servers and tasks of somebody else's package: the guide's own, as a user would add them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from commands import mesocosm

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "your-own-package.md"
_FILE = re.compile(r"^`(acme_worlds/[\w/.]+)`\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the guide describes."""
    folder = tmp_path_factory.mktemp("own")
    for name, text in _FILE.findall(GUIDE.read_text(encoding="utf-8")):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "acme_worlds"


def command(folder: Path, *words: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    if path is None:
        return mesocosm(*words, cwd=folder)
    # What the variable names is found while Mesocosm is loaded, which a fork has behind it.
    line = [sys.executable, "-m", "mesocosm", *words]
    environment = {**os.environ, "MESOCOSM_PATH": str(path)}
    return subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_what_the_guide_builds_keeps_every_contract(package: Path) -> None:
    words = ("check", "acme_worlds", "--lengths", "8k", "--seeds", "0", "--json")
    checked = command(package.parent, *words)
    assert json.loads(checked.stdout) == {"server tickets": [], "task triage": []}
    assert checked.returncode == 0


def test_every_command_finds_it_by_the_variable(package: Path) -> None:
    ran = command(package.parent, "run", "triage", "--length", "8k", "--json", path=package)
    assert json.loads(ran.stdout)["verdict"] == "passed", ran.stderr
    listed = command(package.parent, "list", "servers", "--json", path=package)
    assert "tickets" in {server["name"] for server in json.loads(listed.stdout)}
    assert command(package.parent, "run", "triage", "--length", "8k").returncode == 2


def test_what_is_wrong_is_said(package: Path, tmp_path: Path) -> None:
    checker = package / "checkers" / "triage.py"
    kept = checker.read_text(encoding="utf-8")
    try:
        checker.write_text(
            kept.replace('finding("tickets", [*', 'finding("tickets", [] and [*'), encoding="utf-8"
        )
        checked = command(package.parent, "check", "acme_worlds", "--lengths", "8k", "--seeds", "0", "--json")
    finally:
        checker.write_text(kept, encoding="utf-8")
    assert checked.returncode == 1
    assert "'one added' should break 'tickets'" in " ".join(json.loads(checked.stdout)["task triage"])
    for folder, complaint in (
        (tmp_path, "none of the folders"),
        (tmp_path / "my-worlds", "like a Python package"),
    ):
        (tmp_path / "my-worlds" / "servers").mkdir(parents=True, exist_ok=True)
        refused = command(tmp_path, "check", str(folder))
        assert refused.returncode == 2
        assert complaint in " ".join(refused.stderr.split())


def test_two_of_one_name_are_refused(package: Path, tmp_path: Path) -> None:
    other = tmp_path / "more_worlds" / "servers" / "email"
    other.mkdir(parents=True)
    (other / "tools.py").write_text("", encoding="utf-8")
    refused = command(tmp_path, "list", "servers", path=tmp_path / "more_worlds")
    assert refused.returncode == 2
    assert "there are two of the server 'email'" in " ".join(refused.stderr.split())
