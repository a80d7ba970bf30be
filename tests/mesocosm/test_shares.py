"""Places for code: who has had least of late is served first, here and in a code runner."""

from __future__ import annotations

import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from confinement import needs_sandbox
from patience import PATIENCE

from mesocosm.doors.mcp import McpTools
from mesocosm.hosting.application import Hosting
from mesocosm.hosting.server import serving
from mesocosm.services.world import World
from mesocosm.worlds.manifest import Manifest
from mesocosm.worlds.shares import Shares

TOKEN = "token-of-the-test"
WAITS = "import os, time\nwhile not os.path.exists('go'): time.sleep(0.02)"
TASK: Any = SimpleNamespace(name="code", path=Path("tasks/code.yaml"), task=SimpleNamespace(servers={}))


def served_of(asked: list[str], most: int = 1, had: dict[str, float] | None = None) -> list[str]:
    """In which order those who ask are served, each for a second."""
    now = 0.0
    shares = Shares(most, lambda: now)
    order: list[str] = []

    async def hold(whom: str, seconds: float) -> None:
        nonlocal now
        async with shares.place(whom):
            order.append(whom)
            await anyio.lowlevel.checkpoint()
            now += seconds

    async def all_of_them() -> None:
        for whom, seconds in (had or {}).items():
            await hold(whom, seconds)
        order.clear()
        async with anyio.create_task_group() as tasks:
            for whom in asked:
                tasks.start_soon(hold, whom, 1.0)

    anyio.run(all_of_them)
    assert shares.running == shares.waiting == 0
    return order


def test_the_jobs_of_one_do_not_hold_up_another_ones() -> None:
    assert served_of(["a", "a", "a", "b", "b", "c"]) == ["a", "b", "c", "a", "b", "a"]
    assert served_of(["x", "a", "b", "c"], had={"a": 9.0, "b": 3.0}) == ["x", "c", "b", "a"]


def test_places_are_left_for_those_who_have_had_little() -> None:
    had = {f"hostile {n}": 20.0 for n in range(4)}
    order = served_of([*had, *had, "quiet"], most=4, had=had)
    assert order.index("quiet") == 3, "the fourth place is not for those who have had much"
    assert len(order) == 9


def test_who_goes_away_while_waiting_takes_no_place() -> None:
    async def go_away() -> Shares:
        shares = Shares(1)
        async with shares.place("a"):
            with anyio.move_on_after(0.01):
                async with shares.place("b"):
                    raise AssertionError
        return shares

    shares = anyio.run(go_away)
    assert shares.running == shares.waiting == 0


@needs_sandbox
def test_who_has_seldom_run_code_comes_before_who_has_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESOCOSM_SANDBOX_JOBS", "1")
    monkeypatch.setenv("MESOCOSM_SANDBOX_MAX_TIMEOUT", str(PATIENCE))
    instance = tmp_path / "instance"
    with World.create(instance / "world", Manifest(services={"python_execute": None})) as world:
        world.finish_building()
    (instance / "expected.json").write_text("{}")
    (instance / "prompt.md").write_text("Run code.\n")
    app = Hosting(tmp_path / "state", admin_token=TOKEN)
    with serving(app) as base, ThreadPoolExecutor(3) as pool:

        def run(id_: str, code: str = WAITS) -> None:
            with McpTools(f"{base}/e/{id_}/mcp") as tools:
                assert "Return code: 0" in tools.call(
                    "python_execute", "python_execute", code=code, timeout=PATIENCE
                )

        def until(line: bytes) -> None:
            asked = urllib.request.Request(f"{base}/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
            end = time.monotonic() + PATIENCE
            while line not in urllib.request.urlopen(asked).read():
                assert time.monotonic() < end
                time.sleep(0.05)

        def let_end(id_: str) -> None:
            (app.pool.path(id_) / "world/workspace/go").touch()

        often, seldom, first = (app.pool.adopt(instance, TASK) for _ in range(3))
        run(often, "import time; time.sleep(0.2)")
        jobs = [pool.submit(run, first)]
        until(b"mesocosm_code_running 1.0")
        jobs.append(pool.submit(run, often))
        until(b"mesocosm_code_waiting 1.0")
        jobs.append(pool.submit(run, seldom))
        until(b"mesocosm_code_waiting 2.0")
        let_end(first)
        let_end(seldom)
        jobs[2].result(PATIENCE)  # the other, which has not ended, did not get the place before it
        let_end(often)
        for job in jobs:
            job.result(PATIENCE)
