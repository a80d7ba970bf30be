"""A small sample of the fuzz run that anybody can start: see ``benchmarks/fuzz.py``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from patience import PATIENCE

FUZZ = Path(__file__).parents[2] / "benchmarks" / "fuzz.py"


def test_calls_that_nobody_would_make_are_answered_or_refused() -> None:
    words = ["--calls", "600", "--seed", "sample", "--only", "tools,rest,mail,sql", "--json"]
    done = subprocess.run(
        [sys.executable, str(FUZZ), *words], capture_output=True, text=True, check=False, timeout=4 * PATIENCE
    )
    found = json.loads(done.stdout)
    assert (done.returncode, found["faults"]) == (0, []), found["examples"]
    assert sum(found["calls"].values()) == 600
    kinds = ("tools", "rest", "mail", "sql")
    assert {f"{kind}: {status}" for kind in kinds for status in ("ok", "refused")} == found["calls"].keys()
