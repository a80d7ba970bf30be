"""Cost of python_execute, against a bare ``python3 -c`` subprocess in the same sandbox.

    python benchmarks/python_execute.py [rounds]

Both are measured in turn, in one run, so that whatever else the machine does meets both.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter

from mesocosm.sandbox import bubblewrap, runtime
from mesocosm.sandbox.jobs import Job, JobLimits
from mesocosm.services.world import World
from mesocosm.worlds.manifest import Manifest

TARGET = 1.3


def bare(workspace: Path, code: str) -> None:
    """The process alone, with nobody watching."""
    binary, why_not = bubblewrap.chosen()
    assert binary, why_not
    job = Job((runtime.PYTHON, "-c", code), workspace, JobLimits())
    with ExitStack() as stack:
        launch = bubblewrap._launch(binary, job, stack, None)
        ran = subprocess.run(
            launch.command,
            capture_output=True,
            env=dict(launch.environment),
            pass_fds=tuple(launch.descriptors),
            check=True,
        )
    assert ran.stdout


def tool(world: World, code: str) -> None:
    """The whole tool call: validation, journal, sandbox, supervision, tidying."""
    assert world.call("python_execute", "python_execute", {"code": code}).status == "ok"


def measure(rounds: int, *actions: Callable[[], None]) -> list[list[float]]:
    """Milliseconds of each action in each round."""
    times: list[list[float]] = [[] for _ in actions]
    for _ in range(rounds):
        for action, kept in zip(actions, times, strict=True):
            started = perf_counter()
            action()
            kept.append((perf_counter() - started) * 1000)
    return times


def main() -> int:
    """Print the numbers; exit code 1 if the target is missed."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    if problem := bubblewrap.trial():
        print(f"no sandbox here: {problem}")
        return 2
    with (
        tempfile.TemporaryDirectory() as folder,
        World.create(Path(folder) / "world", Manifest(services={"python_execute": None})) as world,
    ):
        world.finish_building()
        ratios = [
            compare(world, code, rounds) for code in ("print(1)", "import pandas; print(pandas.__version__)")
        ]
    return int(ratios[0] > TARGET)


def compare(world: World, code: str, rounds: int) -> float:
    """Return the tool's time as a multiple of the bare process's."""
    tool(world, code)
    alone, whole = measure(rounds, lambda: bare(world.workspace.root, code), lambda: tool(world, code))
    # Of each round by itself: what slows the machine down for a while then slows both.
    ratio = statistics.median(one / other for one, other in zip(whole, alone, strict=True))
    print(
        f"{code:<42} bare {statistics.median(alone):6.1f} ms (least {min(alone):.1f})   "
        f"tool {statistics.median(whole):6.1f} ms (least {min(whole):.1f})   ratio {ratio:.2f}"
    )
    return ratio


if __name__ == "__main__":
    sys.exit(main())
