"""github3.py's ordinary day of work, in an environment of its own (``tests/clients/environments.sh``)."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from githost import fill
from rest.hosted import HostedWorld

PYTHON = Path(os.environ.get("MESOCOSM_CLIENTS") or "none") / "github3" / "bin" / "python"
pytestmark = pytest.mark.skipif(
    not PYTHON.is_file(), reason="MESOCOSM_CLIENTS names no folder with github3.py"
)


def test_every_case_of_a_day_passes(episode_of: Callable[..., HostedWorld]) -> None:
    hosted = episode_of(["codehost"], fill)
    command = [
        PYTHON,
        Path(__file__).parent / "elsewhere" / "with_github3.py",
        hosted.api("codehost"),
        hosted.id,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"cases": 109, "failed": {}}
