"""Declared resources: what follows from the declaration, and that a new field is one line in it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import mesocosm
from mesocosm.families.proofs import prove_one

ROOT = Path(mesocosm.__file__).parent
TESTS = Path(__file__).parents[1]
LINE = '    idea: Mapped[str] = field(line, default="", tool=True, word="Whose idea it was.")\n'


def test_a_new_field_is_one_line(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "servers/woocommerce", tmp_path / "servers/woocommerce")
    place = tmp_path / "servers/woocommerce/models/coupons.py"
    before, after = place.read_text().split("    used_by: ", 1)
    place.write_text(f"{before}{LINE}    used_by: {after}")
    # Every process, also those that a proof starts, finds the copy before the shop.
    (tmp_path / "sitecustomize.py").write_text(
        f"import mesocosm.servers\nmesocosm.servers.__path__.insert(0, {str(tmp_path / 'servers')!r})\n"
    )
    command = [sys.executable, str(TESTS / "new_field.py"), str(tmp_path), "idea"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(TESTS)])}
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["tools"] == [{"type": "string"}, "Ann's", "Bob's"]
    assert found["rest"] == ["Bob's", "Cy's", 400]
    assert found["task"] == []


def test_a_task_of_things_that_are_only_declared_is_proven() -> None:
    proof = prove_one(str(TESTS / "yaml_tasks/coupons.yaml"), 32_000, 3)
    assert not proof.problems, "\n".join(proof.problems)
    assert proof.mutants >= 5
