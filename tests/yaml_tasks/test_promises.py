"""What `mesocosm lint` warns of, each in a task that is right but for one thing."""

from __future__ import annotations

import json
from pathlib import Path

import yaml
from typer.testing import CliRunner

from mesocosm.cli.commands import app

FOLDER = Path(__file__).with_name("proofs")


def test_lint_keeps_its_promises(tmp_path: Path) -> None:
    wrong = yaml.safe_load((FOLDER / "promises.yaml").read_text())
    right = [str(FOLDER / f"{name}.yaml") for name in ("appointments", "returns")]
    files = {}
    for number, one in enumerate(wrong):
        text = (FOLDER / f"{one['of']}.yaml").read_text()
        for old, new in one["with"]:
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / f"{number}.yaml"
        path.write_text(text)
        files[str(path)] = one["says"]
    done = CliRunner().invoke(app, ["lint", *right, *files, "--json"])
    assert done.exit_code == 1
    found: dict[str, list[str]] = {path: [] for path in [*right, *files]}
    for one in json.loads(done.stdout):
        found[one["file"]].append(f"{one['level']}: {one['key']}: {one['message']}")
    assert not any(found[path] for path in right)
    for path, words in files.items():
        assert any(line.startswith(words) for line in found[path]), (words, found[path])
        assert len(found[path]) <= 2, "one thing is wrong: no other hints mislead"
