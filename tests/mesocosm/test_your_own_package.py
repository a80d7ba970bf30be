"""Servers and tasks of somebody else's package: the guide's own, as a user would add them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from commands import mesocosm

from mesocosm.cli.commands import app

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
    assert json.loads(checked.stdout) == {
        "server tickets": [],
        "task parcels": [],
        "task triage": [],
    }
    assert checked.returncode == 0


def test_every_command_finds_it_by_the_variable(package: Path) -> None:
    ran = command(package.parent, "run", "triage", "--length", "8k", "--json", path=package)
    assert json.loads(ran.stdout)["verdict"] == "passed", ran.stderr
    listed = command(package.parent, "list", "servers", "--json", path=package)
    assert "tickets" in {server["name"] for server in json.loads(listed.stdout)}
    assert command(package.parent, "run", "triage", "--length", "8k").returncode == 2


def test_an_installed_package_is_found_and_trusted_with_its_functions(package: Path, tmp_path: Path) -> None:
    """As pip installs it: a wheel with the entry point that the guide shows."""
    [project] = re.findall(r"^```toml\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.M | re.S)
    named = tomllib.loads(project)["project"]["entry-points"]["mesocosm.content"]
    wheel, about = tmp_path / "acme_worlds-1.0-py3-none-any.whl", "acme_worlds-1.0.dist-info"
    own = [file for file in package.rglob("*.*") if file.suffix in (".py", ".yaml")]
    files = {str(file.relative_to(package.parent)): file.read_text() for file in own}
    files |= {
        f"{about}/METADATA": "Metadata-Version: 2.1\nName: acme-worlds\nVersion: 1.0\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/entry_points.txt": "[mesocosm.content]\n"
        + "".join(f"{name} = {value}\n" for name, value in named.items()),
    }
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
        archive.writestr(f"{about}/RECORD", "".join(f"{name},,\n" for name in [*files, f"{about}/RECORD"]))
    site = tmp_path / "site"
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--no-index",
        "--no-deps",
        "--target",
        str(site),
        str(wheel),
    ]
    subprocess.run(pip, check=True, capture_output=True)
    line = [sys.executable, "-m", "mesocosm", "run", "parcels", "--param", "parcels=6", "--json"]
    environment = {**os.environ, "PYTHONPATH": str(site)}
    ran = subprocess.run(line, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert json.loads(ran.stdout)["verdict"] == "passed", ran.stderr


def test_the_python_beside_a_file_is_run_where_that_is_said(package: Path, tmp_path: Path) -> None:
    """The file outside of any package: each refusal's advice works as it is written."""
    for name in ("parcels.yaml", "parcels.py"):
        (tmp_path / name).write_text((package / "tasks" / name).read_text())
    small = ("parcels.yaml", "--param", "parcels=6")
    build = ("build", *small, "--out", "instance")
    refused = mesocosm(*build, cwd=tmp_path, MESOCOSM_TRUST="")
    assert refused.returncode == 2
    assert "review it, then add --trust" in " ".join(refused.stderr.split())
    assert mesocosm("describe", *small, cwd=tmp_path, MESOCOSM_TRUST="./parcels.yaml").returncode == 0
    assert mesocosm("describe", *small, cwd=tmp_path, MESOCOSM_TRUST="other.yaml").returncode == 2
    orders = ("eval", *small, "--agent", "reference", "--log-dir", "logs")
    for command in (build, ("describe", "instance"), orders, ("grade", "logs")):
        done = mesocosm(*command, "--trust", cwd=tmp_path, MESOCOSM_TRUST="")
        assert done.returncode == 0, (command, done.stdout, done.stderr)
    (tmp_path / "parcels.py").write_text(
        "def with_check_digit(number):\n    return {}[number]\ndef solve(tools, prompt):\n    pass\n"
    )
    wrong = mesocosm("describe", *small, "--trust", cwd=tmp_path)
    assert wrong.returncode == 2
    assert "with_check_digit: parcels.py, line 2: KeyError: " in " ".join(wrong.stderr.split())
    assert "--trust goes with --task" in mesocosm("serve", "--trust", cwd=tmp_path).stderr


def test_every_command_that_reads_a_task_can_be_told_to_trust_it() -> None:
    reading = {"task", "tasks", "path", "files", "run", "what"}
    without = [
        name
        for name, command in _commands(typer.main.get_command(app), "")
        if {one.name for one in command.params} & reading and "trust" not in {p.name for p in command.params}
    ]
    # These list or write tasks, and run nothing of theirs; data sets are of Mesocosm's own.
    assert without == ["list", "convert", "new", "dataset lumina", "suite list"]


def _commands(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "commands"):
        yield name, command
    for part, inner in getattr(command, "commands", {}).items():
        yield from _commands(inner, f"{name} {part}".strip())


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
