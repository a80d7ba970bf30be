"""Instances that are built again in the process that is kept for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance, fingerprint
from mesocosm.families.rebuilds import RebuildFailed, rebuilt_fingerprint

TASK = "canvas_arrange_exam"
NOISE = """
import sys
from mesocosm.families import rebuilds
from mesocosm.families.instances import build_instance
def build(*arguments, **options):
    print("a generator that prints")
    return build_instance(*arguments, **options)
rebuilds.build_instance = build
answers, sys.stdout = sys.stdout, sys.stderr
rebuilds.serve(sys.stdin, answers)
"""


def test_it_is_the_same_bytes_there_again_and_again(tmp_path: Path) -> None:
    for number, (length, seed) in enumerate([(8_000, 3), (9_000, 0), (8_000, 3)]):
        built = build_instance(load_family(TASK), seed, tmp_path / str(number), target=length)
        assert rebuilt_fingerprint(TASK, length, seed) == fingerprint(built.path)


def test_what_cannot_be_built_there_is_said_and_the_next_one_is_built() -> None:
    with pytest.raises(RebuildFailed, match="below the minimum"):
        rebuilt_fingerprint(TASK, 300, 0)
    with pytest.raises(RebuildFailed, match="unknown task 'no_such'"):
        rebuilt_fingerprint("no_such", 8_000, 0)
    assert len(rebuilt_fingerprint(TASK, 8_000, 0)) == 64


def test_what_a_generator_prints_does_not_come_between() -> None:
    done = subprocess.run(
        [sys.executable, "-c", NOISE],
        input=f'["{TASK}", 8000, 0, {{}}]\n',
        env={**os.environ, "PYTHONHASHSEED": "12"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "a generator that prints" in done.stderr
    assert done.stdout == f'["{rebuilt_fingerprint(TASK, 8_000, 0)}", null]\n'
