"""The guide's way to a task in YAML, as somebody goes it who has never done it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from mesocosm.cli.commands import app

GUIDE = Path(__file__).parents[2] / "docs/guides/write-a-task.md"


def blocks(section: str, language: str) -> list[str]:
    part = GUIDE.read_text().partition(f"{section}\n")[2]
    part = re.split(r"^##+ ", part, maxsplit=1, flags=re.M)[0]
    return re.findall(rf"^```{language}\n(.*?)^```", part, re.M | re.S)


def merged(old: Any, new: Any) -> Any:
    if isinstance(old, dict) and isinstance(new, dict):
        return old | {key: merged(old.get(key), value) for key, value in new.items()}
    return new


def run(command: str) -> Any:
    words = command.partition("#")[0].split()
    assert words.pop(0) == "mesocosm"
    return CliRunner().invoke(app, words)


def test_every_block_of_the_guide_does_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # The process that judges is started by the first command, and keeps the environment that it found.
    monkeypatch.setenv("MESOCOSM_TRUST", str(tmp_path / "my_task.yaml"))
    [commands] = blocks("## A task that is one YAML file", "sh")
    for command in commands.splitlines():
        if " prove " not in command:  # it is proven below
            # At the shortest length: longer ones are no other way.
            done = run(command.replace("32k", "8k"))
            assert done.exit_code == 0, (command, done.output)

    own = "### With functions of your own"
    [code], [lines], [commands] = (blocks(own, language) for language in ("python", "yaml", "sh"))
    start = yaml.safe_load(Path("my_task.yaml").read_text())
    Path("my_task.yaml").write_text(yaml.safe_dump(merged(start, yaml.safe_load(lines)), sort_keys=False))
    Path("my_task.py").write_text(code)
    monkeypatch.setenv("MESOCOSM_TRUST", "")
    refused = run("mesocosm describe my_task.yaml --length 8k")
    assert "my_task.py, which is a program" in str(refused.exception)
    assert "is not run without --trust" in run("mesocosm lint my_task.yaml").stdout
    for command in commands.splitlines():
        done = run(command)
        assert done.exit_code == 0, (command, done.output)


@pytest.mark.parametrize(
    ("name", "mark"), [("grouped", "north =="), ("grouped", "group("), ("refunds", "woocommerce.refund")]
)
def test_what_the_guide_shows_of_a_task_is_part_of_one_that_is_proven(name: str, mark: str) -> None:
    """`test_grouped.py` and `test_refunds.py` prove them."""
    task = yaml.safe_load(Path(__file__).with_name(f"{name}.yaml").read_text())
    [shown] = [block for block in blocks("## A task that is one YAML file", "yaml") if mark in block]
    assert merged(task, yaml.safe_load(shown)) == task
