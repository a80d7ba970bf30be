"""Speed of ``git clone`` from an episode, against git's own server with the same repository.

    python benchmarks/git_clone.py [--files 1000] [--commits 20] [--rounds 5] [--json]

A repository of so many files in folders, changed by so many commits, lies in a code host in a server process;
the real git clones it over HTTP, and in turn from a bare copy on disk (``file://``), which git serves
itself. Reported are the least and the median seconds of the rounds, and the median of the CPU seconds that
client and server take together, which tell more on a machine that others use too. Target: less than 2 s for
1,000 files.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, sleep
from types import SimpleNamespace
from typing import Any

from mesocosm.hosting.pool import EpisodePool
from mesocosm.hosting.server import listen
from mesocosm.servers.codehost.store import CodehostStore, NewCommit
from mesocosm.services.world import World
from mesocosm.worlds.manifest import Manifest

TARGET = 2.0
SERVE = """
import sys
from pathlib import Path
from mesocosm.hosting.application import Hosting
from mesocosm.hosting.server import serve
serve(Hosting(Path(sys.argv[2]), admin_token="benchmark"), "127.0.0.1", int(sys.argv[1]))
"""


def fill(world: World, files: int, commits: int) -> None:
    """One repository."""
    store = world.store(CodehostStore)
    store.accounts.create_account("alice")
    store.filling.create_repository("alice", "big")
    paths = [f"src/part{number % 40}/module_{number}.py" for number in range(files)]
    store.filling.add_commits(
        "alice", "big", [NewCommit("Begin", {path: _text(path, 0) for path in paths}, "alice")]
    )
    for turn in range(1, commits):
        changed = paths[turn::commits]
        store.filling.add_commits(
            "alice", "big", [NewCommit(f"Step {turn}", {p: _text(p, turn) for p in changed}, "alice")]
        )
    store.accounts.sign_in("alice")


def _text(path: str, turn: int) -> str:
    """About 4 KB that no two files share."""
    lines = (f"value_{line} = {line * 7919 + turn}  # {path}, line {line}" for line in range(80))
    return "\n".join(lines) + "\n"


def host(root: Path, files: int, commits: int) -> str:
    """An episode with the repository; returns its id."""
    with tempfile.TemporaryDirectory() as folder:
        instance = Path(folder) / "instance"
        instance.mkdir()
        with World.create(instance / "world", Manifest(services={"codehost": None})) as world:
            fill(world, files, commits)
            world.finish_building()
        (instance / "expected.json").write_text("{}")
        (instance / "prompt.md").write_text("Clone.\n")
        task: Any = SimpleNamespace(
            name="by-hand", path=Path("tasks/by-hand.yaml"), task=SimpleNamespace(servers={})
        )
        return EpisodePool(root).adopt(instance, task)


def clone(url: str, target: Path, *options: str) -> float:
    """Seconds of a clone."""
    environment = {**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(target.parent)}
    environment["GIT_TERMINAL_PROMPT"] = "0"
    started = perf_counter()
    subprocess.run(["git", "clone", "-q", *options, url, str(target)], check=True, env=environment)
    return perf_counter() - started


def measure(files: int, commits: int, rounds: int) -> dict[str, Any]:
    """The seconds of every round."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        id_ = host(work / "state", files, commits)
        with listen("127.0.0.1", 0) as free:
            port = free.getsockname()[1]
        server = subprocess.Popen([sys.executable, "-c", SERVE, str(port), str(work / "state")])
        try:
            url = f"http://x:{id_}@127.0.0.1:{port}/e/{id_}/codehost/alice/big.git"
            _wait(server, url)
            clone(url, work / "bare.git", "--bare")
            size = sum(path.stat().st_size for path in (work / "bare.git" / "objects").rglob("*.pack"))
            times: dict[str, list[float]] = {"episode": [], "git": []}
            cpu: dict[str, list[float]] = {"episode": [], "git": []}
            for number in range(rounds):
                for name, source in (("episode", url), ("git", f"file://{work}/bare.git")):
                    target = work / f"{name}-{number}"
                    before = _cpu(server.pid)
                    times[name].append(clone(source, target))
                    cpu[name].append(_cpu(server.pid) - before)
                    assert sum(1 for _ in target.rglob("*.py")) == files
                    shutil.rmtree(target)
        finally:
            server.terminate()
            server.wait()
    return {"files": files, "commits": commits, "pack_bytes": size, "seconds": times, "cpu": cpu}


def _cpu(server: int) -> float:
    """CPU seconds that the server and all clones took so far."""
    clones = os.times()
    fields = Path(f"/proc/{server}/stat").read_text().rpartition(")")[2].split()
    ticks = int(fields[11]) + int(fields[12])
    return clones.children_user + clones.children_system + ticks / os.sysconf("SC_CLK_TCK")


def _wait(server: subprocess.Popen[bytes], url: str) -> None:
    """Until the server answers."""
    while subprocess.run(["git", "ls-remote", "-q", url], capture_output=True).returncode:
        if server.poll() is not None:
            raise SystemExit("the server did not start")
        sleep(0.1)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--commits", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = measure(options.files, options.commits, options.rounds)
    if options.json:
        print(json.dumps(found))
        return
    print(f"{found['files']} files, {found['commits']} commits, a pack of {found['pack_bytes'] / 1e6:.1f} MB")
    for name, seconds in found["seconds"].items():
        print(
            f"{name:8} least {min(seconds):.2f} s   median {statistics.median(seconds):.2f} s"
            f"   CPU {statistics.median(found['cpu'][name]):.2f} s"
        )
    median = statistics.median(found["seconds"]["episode"])
    print(f"target {TARGET:.0f} s: {'reached' if median < TARGET else 'MISSED'}")


if __name__ == "__main__":
    main()
