"""A program as the agent: what it can see, and that the answer is not among it."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from commands import mesocosm
from confinement import needs_sandbox
from hypothesis import given, settings
from hypothesis import strategies as some
from patience import PATIENCE

from mesocosm.agents import program
from mesocosm.errors import UsageError
from mesocosm.hosting.pool import EpisodePool
from mesocosm.services.content import roots

TASK = "canvas_list_test"
SPY = """
import importlib.util, json, os, sys
top = sys.argv[1]
found = {"files": [], "readable": [], "others": [], "modules": [], "environment": []}
for folder, folders, files in os.walk(top):
    for name in files:
        path = os.path.join(folder, name)
        found["files"].append(path)
        try:
            open(path, "rb").close()
            found["readable"].append(path)
        except OSError:
            pass
for pid in [name for name in os.listdir("/proc") if name.isdigit()]:
    try:
        line = open(f"/proc/{pid}/cmdline").read()
    except OSError:
        continue
    if "mesocosm" in line and "spy.py" not in line:
        found["others"].append(line)
    for what in ("cwd", "root", *(f"fd/{n}" for n in range(64))):
        path = f"/proc/{pid}/{what}"
        try:
            if os.path.realpath(path).endswith("expected.json") or "expected.json" in os.listdir(path):
                found["readable"].append(path)
        except OSError:
            pass
found["environment"] = [name for name, value in os.environ.items() if "/state" in value]
for package in ("generators", "checkers", "solvers"):
    try:
        spec = importlib.util.find_spec(f"mesocosm.{package}.canvas_list_test")
    except ImportError:
        spec = None
    found["modules"] += [package] if spec else []
print(json.dumps(found))
"""


def run(
    tmp_path: Path,
    command: str,
    *words: str,
    path: str = "",
    task: str = TASK,
    code: str = "auto",
    fresh: bool = False,
) -> tuple[dict[str, Any], str, str]:
    """The result of a run with a program as its agent, what that wrote, and what was said.

    The run is forked, or an interpreter of its own where what that loads or shows of itself is tried.
    """
    line = ["run", task, "--length", "8k", "--agent", "command", "--json", "--agent-command", command, *words]
    environment = {"MESOCOSM_STATE": str(tmp_path / "state"), "MESOCOSM_SANDBOX": code}
    environment |= {"PATH": path} if path else {}
    if fresh:
        line = [sys.executable, "-m", "mesocosm", *line]
        environment = {**os.environ, **environment}
        done = subprocess.run(
            line, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
    else:
        done = mesocosm(*line, cwd=tmp_path, **environment)
    assert done.returncode in (1, 3), done.stderr
    result = json.loads(done.stdout)
    log = (Path(tmp_path, result["episode"]).parent / "agent.log").read_text()
    return result, log, done.stderr


@pytest.fixture
def spy(tmp_path: Path) -> str:
    (tmp_path / "spy.py").write_text(SPY)
    return f"{sys.executable} {tmp_path}/spy.py {tmp_path}"


def answers(found: dict[str, Any], kind: str) -> list[str]:
    return [path for path in found[kind] if path.endswith(("expected.json", ".db", "trajectory.jsonl"))]


@needs_sandbox
def test_neither_answers_nor_databases_nor_processes_nor_source_can_be_seen(tmp_path: Path, spy: str) -> None:
    earlier = tmp_path / "runs/run-1/episode/expected.json"
    earlier.parent.mkdir(parents=True)
    earlier.write_text("{}")
    (tmp_path / "state/instances/x").mkdir(parents=True)
    (tmp_path / "state/instances/x/expected.json").write_text("{}")
    result, log, said = run(tmp_path, spy, fresh=True)
    found = json.loads(log)
    assert answers(found, "files") == []
    assert [found["others"], found["modules"], found["environment"]] == [[], [], []]
    assert all(find_spec(f"mesocosm.{package}.{TASK}") for package in ("generators", "checkers", "solvers"))
    assert "NOT KEPT" not in said
    assert result["agent_confined"] is True
    kept = tmp_path / result["episode"] / "expected.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def act(tmp_path: Path, command: str, out: str = "run", **options: Any) -> str:
    """What a program writes that acts beside a run directory like that of a run."""
    episode = tmp_path / out / "state/episodes/1"
    episode.mkdir(parents=True)
    for name in ("expected.json", "email.db"):
        (episode / name).write_text("{}")
    program.act(command, {"FOLDER": "{folder}"}, {"prompt.md": b"do"}, PATIENCE, tmp_path / out, **options)
    return (tmp_path / out / "agent.log").read_text()


@needs_sandbox
def test_what_an_agent_needs_is_there(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        log = act(
            tmp_path,
            "test $PWD = $FOLDER && cat prompt.md > got && cat got && ls ~ > got && echo x > /tmp/x-$$ && "
            f"rm /tmp/x-$$ && echo kept > {tmp_path}/memory && echo && id -u && "
            f"{sys.executable} -c 'import socket; socket.create_connection((None, {port}))' && "
            f"{sys.executable} -m mesocosm bridge http://127.0.0.1:1 && echo bridged",
        )
    assert log.split() == ["do", str(os.getuid()), "bridged"], log
    assert (tmp_path / "memory").read_text() == "kept\n"


@needs_sandbox
@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="no files in memory here")
def test_programs_and_temporary_folders_in_memory_are_there_and_runs_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        monkeypatch.setattr(tempfile, "tempdir", name)
        (Path(name) / "x").write_text("#!/bin/sh\ntest $PWD = $FOLDER && cat prompt.md\n")
        (Path(name) / "x").chmod(0o700)
        log = act(Path(name), f"{name}/x; find {name} -name expected.json -o -name '*.db'")
    assert log == "do"


@needs_sandbox
def test_what_is_hidden_cannot_be_uncovered(tmp_path: Path) -> None:
    ways = (
        "umount {}",
        "unshare -Ur -m umount {}",
        "mount -t tmpfs none {}/..",
        "ls /proc/1/root{}/state",
        "rmdir {}",
    )
    look = f"find {tmp_path} -name expected.json -o -name '*.db'"
    command = "".join(f"{way.format(tmp_path / 'run')}; {look}; " for way in ways) + "echo over"
    lines = act(tmp_path, command).splitlines()
    assert lines[-1] == "over"
    assert not [line for line in lines if line.endswith((".db", "expected.json"))]


@needs_sandbox
@given(out=some.lists(some.sampled_from(["a", "b", "run", ".x", "ö"]), min_size=1, max_size=3))
@settings(max_examples=4, deadline=None)
def test_wherever_a_run_lies_nothing_of_it_is_seen(
    tmp_path_factory: pytest.TempPathFactory, out: list[str]
) -> None:
    top = tmp_path_factory.mktemp("top")
    name = "/".join([*out, "mine"])
    other = top / name / "../theirs/episode"
    (top / name).mkdir(parents=True)
    other.mkdir(parents=True)
    (other / "expected.json").write_text("{}")
    log = act(top, f"find {top} -type f", name)
    assert log == ""


@needs_sandbox
def test_nothing_that_the_agent_started_outlives_it(tmp_path: Path) -> None:
    beat = tmp_path / "beat"
    beating = f"setsid sh -c 'while :; do echo x >> {beat}; sleep 0.02; done' &"
    act(tmp_path, f"{beating} while ! test -s {beat}; do sleep 0.02; done")
    size = beat.stat().st_size
    time.sleep(0.3)
    assert beat.stat().st_size == size > 0


FORGER = """
import os, site, sys, sysconfig
import json, mesocosm.families.episode, mesocosm.families.verdict, pydantic
forged = "import os; os.write(2, b'FORGED')\\n"
own = os.path.dirname(mesocosm.__file__)
pure, standard = sysconfig.get_path("purelib"), sysconfig.get_path("stdlib")
modules = (mesocosm.families.episode, mesocosm.families.verdict, pydantic, json)
places = [module.__file__ for module in modules]
places += [json.__cached__, sys.prefix + "/pyvenv.cfg", pure + "/x.pth", pure + "/sitecustomize.py"]
places += [standard + "/usercustomize.py", own + "/families/new.py", own + "/families/__pycache__/x.pyc"]
places += ["/proc/sys/kernel/core_pattern", "/sys/kernel/uevent_helper", "/proc/sysrq-trigger"]
for place in places:
    try:
        open(place, "a").close()
        print("written:", place)
    except OSError:
        pass
    if os.access(os.path.dirname(place), os.W_OK):
        print("can be exchanged:", place)
for place in (sys.argv[1], os.path.expanduser("~")):
    with open(place + "/usercustomize.py", "w") as file:
        file.write(forged)
    for name in ("sqlite3", "orjson", "anyio", "mesocosm"):
        with open(place + "/" + name + ".py", "w") as file:
            file.write(forged)
version = ".".join(map(str, sys.version_info[:2]))
user = os.path.expanduser(f"~/.local/lib/python{version}/site-packages")
os.makedirs(user)
for name in ("usercustomize.py", "sitecustomize.py"):
    with open(user + "/" + name, "w") as file:
        file.write(forged)
with open(user + "/x.pth", "w") as file:
    file.write(forged)
print("tried")
"""


@needs_sandbox
def test_the_code_that_judges_is_not_the_agents_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "forger.py").write_text(FORGER)
    result, log, said = run(tmp_path, f"{sys.executable} {tmp_path}/forger.py {tmp_path}", fresh=True)
    assert log == "tried\n"
    assert "FORGED" not in said
    assert (result["verdict"], result["agent_confined"]) == ("failed", True)


@needs_sandbox
@pytest.mark.parametrize("above", ["runs", "code"])
def test_a_folder_that_is_put_in_the_place_of_what_judges_gives_no_verdict(
    tmp_path: Path, above: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = tmp_path / above
    (top / "inside/moved_worlds/tasks").mkdir(parents=True)
    place = top / "inside/moved_worlds"
    monkeypatch.setenv("MESOCOSM_PATH", str(place) if above == "code" else "")
    roots.cache_clear()
    try:
        command = f"mv {top} {top}2 && mkdir -p {top}/inside && cp -r {top}2/inside/* {top}/inside"
        out = "runs/inside/1" if above == "runs" else "elsewhere"
        with pytest.raises(UsageError, match=f"{above}/inside.* was exchanged while the agent acted"):
            act(tmp_path, command, out)
    finally:
        roots.cache_clear()


@needs_sandbox
def test_a_file_of_code_with_another_name_is_not_the_agents_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "linked_worlds/tasks").mkdir(parents=True)
    (tmp_path / "store.py").touch()
    (tmp_path / "linked_worlds/__init__.py").hardlink_to(tmp_path / "store.py")
    monkeypatch.setenv("MESOCOSM_PATH", str(tmp_path / "linked_worlds"))
    roots.cache_clear()
    try:
        assert act(tmp_path, f"cat {tmp_path}/store.py") == ""
        with pytest.raises(UsageError, match=r"linked_worlds/__init__\.py was exchanged"):
            act(tmp_path, f"echo x > {tmp_path}/store.py; rm {tmp_path}/store.py", "run2")
    finally:
        roots.cache_clear()


@needs_sandbox
def test_the_tokens_of_other_servers_are_not_there(tmp_path: Path) -> None:
    other = EpisodePool(tmp_path / "their/state")
    (tmp_path / "their/state/admin-token").write_text("secret")
    try:
        said = act(
            tmp_path, f"cat {tmp_path}/their/state/admin-token; ls {tmp_path}/their/state; ls /proc/sys"
        )
    finally:
        other.close()
    assert "secret" not in said
    assert "No such file" in said
    assert "episodes" not in said
    assert "kernel" not in said


def test_without_walls_the_run_says_so(tmp_path: Path) -> None:
    assert "expected.json" in act(tmp_path, f"ls {tmp_path}/run/state/episodes/1", walls=False)


@needs_sandbox
def test_the_state_of_a_server_in_the_home_folder_does_not_hide_the_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MESOCOSM_STATE", str(tmp_path))
    (tmp_path / "episodes").mkdir()
    (tmp_path / "episodes/secret").touch()
    (tmp_path / "settings").touch()
    assert act(tmp_path, "ls ~ ~/episodes").split() == [
        f"{tmp_path}:",
        "episodes",
        "run",
        "settings",
        f"{tmp_path}/episodes:",
    ]


def test_where_there_can_be_no_walls_the_answer_is_not_on_the_disk_and_the_result_says_so(
    tmp_path: Path, spy: str
) -> None:
    # Without prlimit no sandbox is built.
    result, log, said = run(tmp_path, spy, path=str(tmp_path))
    found = json.loads(log)
    assert [path for path in found["readable"] if path.endswith("expected.json")] == []
    assert "THE AGENT IS NOT KEPT" in said
    assert result["agent_confined"] is False
    assert result["verdict"] == "failed"
    assert (tmp_path / result["episode"] / "expected.json").is_file()


def test_an_episode_that_could_not_run_code_is_errored(tmp_path: Path) -> None:
    client = (
        (Path(__file__).parents[1] / "mesocosm/independent_client.py").read_text().split("\nwith open")[0]
    )
    call = {"name": "python_execute", "arguments": {"code": "print(1)"}}
    client += f"\nprint(Server(os.environ['MESOCOSM_MCP_URL']).ask('tools/call', {call!r}))\n"
    (tmp_path / "client.py").write_text(client)
    result, log, said = run(
        tmp_path, f"{sys.executable} {tmp_path}/client.py", task="canvas_list_test", code="none"
    )
    assert "fault of the environment" in log, log
    assert result["verdict"] == "errored"
    assert "code of agents cannot be run here: MESOCOSM_SANDBOX=none" in said
