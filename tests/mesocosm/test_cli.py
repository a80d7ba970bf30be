"""The command line, as a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from commands import mesocosm, stand_in
from patience import PATIENCE
from typer.testing import CliRunner

from mesocosm.cli.commands import app
from mesocosm.doors.client_configurations import DIALECTS
from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance, fingerprint

TASK = "canvas_arrange_exam"
QUICK = "canvas_list_test"  # its reference solver reads before it writes, and its proof is quick
AGENT = Path(__file__).with_name("independent_client.py")


def mesocosm_json(*words: str, cwd: Path, code: int = 0) -> Any:
    done = mesocosm(*words, "--json", cwd=cwd)
    assert done.returncode == code, done.stderr + done.stdout
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run directory of the reference solver."""
    folder = tmp_path_factory.mktemp("solved")
    words = ["--length", "8k", "--agent", "reference", "--tools", "needed", "--out", "run"]
    done = mesocosm("run", QUICK, *words, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout
    return folder / "run"


@pytest.fixture(scope="module")
def idle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run directory of an agent that does nothing."""
    folder = tmp_path_factory.mktemp("idle")
    result = mesocosm_json(
        "run", TASK, "--length", "8k", "--agent", "none", "--out", "run", cwd=folder, code=1
    )
    assert (result["verdict"], result["reward"], result["tool_calls"]) == ("failed", 0.0, 0)
    return folder / "run"


def test_a_run_keeps_what_is_needed_to_look_at_it_again(solved: Path) -> None:
    result = json.loads((solved / "run.json").read_text())
    assert (result["verdict"], result["reward"], result["tools"]) == ("passed", 1.0, "needed")
    assert abs(result["edl"] / 8000 - 1) <= 0.01
    assert result["findings"]
    assert all(finding["passed"] for finding in result["findings"])
    calls = [json.loads(line) for line in (solved / "trajectory.jsonl").read_text().splitlines()]
    assert len(calls) == result["tool_calls"] > 5
    assert sum(call["tokens"] for call in calls) == result["delivered_tokens"] > 2000
    assert json.loads((solved / "verdict.json").read_text())["verdict"] == "passed"
    assert (solved / "prompt.md").read_text().strip()
    assert {"canvas.db", "journal.db", "world.json"} <= {
        path.name for path in (solved / "episode" / "world").iterdir()
    }


def test_a_run_can_be_graded_again(solved: Path, idle: Path) -> None:
    again = mesocosm_json("grade", str(solved), cwd=solved.parent)
    assert again["findings"] == json.loads((solved / "run.json").read_text())["findings"]
    assert mesocosm_json("grade", str(idle), cwd=idle.parent, code=1)["verdict"] == "failed"


def test_a_run_can_be_replayed_to_the_same_bytes(solved: Path) -> None:
    replay = mesocosm_json("replay", str(solved), cwd=solved.parent)
    assert replay["calls"] > 5
    assert replay["differences"] == []


def test_a_damaged_database_makes_the_verdict_errored(idle: Path, tmp_path: Path) -> None:
    copy = tmp_path / "run"
    subprocess.run(["cp", "-r", str(idle), str(copy)], check=True)
    (copy / "episode" / "world" / "canvas.db").write_bytes(b"garbage" * 1000)
    result = mesocosm_json("grade", str(copy), cwd=tmp_path, code=3)
    assert (result["verdict"], result["reward"]) == ("errored", None)


def test_the_reference_agent_speaks_the_older_era_too(tmp_path: Path) -> None:
    words = ["run", TASK, "--length", "8k", "--seed", "1", "--era", "legacy"]
    assert mesocosm_json(*words, cwd=tmp_path)["verdict"] == "passed"
    assert [path.name for path in (tmp_path / "runs").iterdir()] == [f"{TASK}-8k-s1-reference-1"]


def test_any_program_can_be_the_agent(tmp_path: Path) -> None:
    command = f"{sys.executable} {AGENT}"
    words = ["run", TASK, "--length", "8k", "--agent", "command", "--agent-command", command, "--out", "run"]
    result = mesocosm_json(*words, cwd=tmp_path, code=1)
    log = (tmp_path / "run" / "agent.log").read_text()
    assert "Traceback" not in log, log
    assert "email 30" in log
    assert result["tool_calls"] == 2
    assert result["verdict"] == "failed"


def test_an_agent_that_cannot_be_started_is_wrong_usage(tmp_path: Path) -> None:
    words = ["run", TASK, "--length", "8k", "--agent", "command", "--agent-command", "no-such-program"]
    done = mesocosm(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert "there is no program 'no-such-program'" in done.stderr


def test_a_program_named_from_here_is_wrong_usage_with_its_whole_path(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("#!/bin/sh\n")
    (tmp_path / "x").chmod(0o700)
    words = ["run", TASK, "--length", "8k", "--agent", "command", "--agent-command", "HOME=/ ./x --go"]
    done = mesocosm(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert f"whole path, {tmp_path}/x" in " ".join(done.stderr.split())


def test_a_bug_in_a_tool_makes_the_run_errored(tmp_path: Path) -> None:
    sabotage = (
        "import dataclasses, runpy, sys\n"
        "from mesocosm.services.service import load_service\n"
        "tools = load_service('excel').tools\n"
        "def broken(store, **arguments): raise RuntimeError('our bug')\n"
        "name = 'write_data_to_excel'\n"
        "tools[name] = dataclasses.replace(tools[name], function=broken)\n"
        "from mesocosm.families import length\n"
        "length.take_survey = lambda family, world, expected: length.Survey(world)\n"
        "length.calibrate = lambda family, target, build, fixed, **_: build(7, 0)\n"
        f"sys.argv = ['mesocosm', 'run', '{TASK}', '--length', '8k', '--json']\n"
        "runpy.run_module('mesocosm', run_name='__main__')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", sabotage],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 3, done.stderr
    result = json.loads(done.stdout)
    assert (result["verdict"], result["reward"]) == ("errored", None)


def test_the_same_instance_is_the_same_bytes_in_two_processes(tmp_path: Path) -> None:
    for seed in ("1", "2"):
        words = ["build", TASK, "--length", "8k", "--seed", "3", "--out", f"hash{seed}"]
        command = [sys.executable, "-m", "mesocosm", *words]
        subprocess.run(command, cwd=tmp_path, env={**os.environ, "PYTHONHASHSEED": seed}, check=True)
    build_instance(load_family(TASK), 3, tmp_path / "here", target=8000)
    prints = {fingerprint(tmp_path / name) for name in ("hash1", "hash2", "here")}
    assert len(prints) == 1


def test_describe_says_what_a_length_consists_of(tmp_path: Path) -> None:
    words = ["describe", TASK, "--length", "8k", "--plot", "evidence.svg"]
    described = mesocosm_json(*words, cwd=tmp_path)
    assert abs(described["edl"] / 8000 - 1) <= 0.01
    assert sum(described["by_service"].values()) == described["edl"]
    assert sum(part["tokens"] for part in described["parts"]) == described["edl"]
    assert 0 < described["adequate"] < described["edl"]
    assert "<svg" in (tmp_path / "evidence.svg").read_text()


def test_describe_reads_a_run(solved: Path, tmp_path: Path) -> None:
    described = mesocosm_json("describe", str(solved), "--plot", str(tmp_path / "e.png"), cwd=tmp_path)
    assert described["edl"] == json.loads((solved / "run.json").read_text())["edl"]
    assert (tmp_path / "e.png").read_bytes().startswith(b"\x89PNG")


def test_prove_prints_a_table_and_a_document(tmp_path: Path) -> None:
    [proof] = mesocosm_json("prove", QUICK, "--lengths", "8k", "--seeds", "2", cwd=tmp_path)
    assert proof["problems"] == []
    assert proof["mutants"] >= 5


def test_lists_are_for_people_and_machines(tmp_path: Path) -> None:
    tools = mesocosm_json("list", "tools", cwd=tmp_path)
    of_mails = {
        tool["name"]: tool["arguments"] for tool in mesocosm_json("list", "tools", "email", cwd=tmp_path)
    }
    assert of_mails.keys() == {tool["name"] for tool in tools if tool["service"] == "email"}
    assert of_mails["send_email"].startswith("to, subject, body, ")
    assert "cc?" in of_mails["send_email"].split(", ")
    assert {"service", "name", "inputSchema"} <= tools[0].keys()
    assert {"email", "canvas", "excel", "filesystem", "claim_done"} <= {tool["service"] for tool in tools}
    assert TASK in {task["name"] for task in mesocosm_json("list", "tasks", cwd=tmp_path)}
    assert TASK in mesocosm("list", cwd=tmp_path).stdout.replace("\n", "")


@pytest.mark.parametrize("client", sorted(DIALECTS))
def test_every_client_gets_its_configuration(client: str) -> None:
    words = [
        "mcp-config",
        "--client",
        client,
        "--url",
        "http://127.0.0.1:1/e/x",
        "--services",
        "email,canvas",
    ]
    done = CliRunner().invoke(app, words)  # in this process: there are many clients
    assert done.exit_code == 0, done.output
    for service in ("email", "canvas"):
        assert f"http://127.0.0.1:1/e/x/{service}/mcp" in done.stdout


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["run", "no_such_task"], "unknown task 'no_such_task'; there are: "),
        (["run", "no_such_file.yaml"], "there is no file 'no_such_file.yaml'"),
        (["list", "tools", "fax"], "no such service: 'fax'; there are calendar, "),
        (["list", "tasks", "email"], "only tools are listed for a service"),
        (["run", TASK, "--length", "500"], "below the minimum"),
        (["run", TASK, "--length", "9m"], "out of range"),
        (["run", TASK, "--length", "eight"], "not a length"),
        (["run", TASK, "--param", "no_such=1"], "no_such"),
        (["run", TASK, "--param", "num_courses"], "NAME=VALUE"),
        (["run", TASK, "--agent", "command"], "--agent-command"),
        (["run", TASK, "--agent", "nobody"], "nobody"),
        (["run", TASK, "--server", "http://127.0.0.1:9"], "cannot reach"),
        (["grade", "nowhere"], "episode.json"),
        (["describe", "."], "no instance"),
        (["mcp-config", "--client", "netscape", "--url", "http://x/e/y"], "unknown client"),
        (
            ["mcp-config", "--client", "codex", "--url", "http://x/e/y", "--services", "fax"],
            "unknown service 'fax'",
        ),
        (["mcp-config", "--client", "codex", "--url", "http://x"], "not an episode"),
        (["run", TASK, "--tools", "canvas_list_courses,fax"], "the task offers no tool 'fax'"),
        (["prove", TASK, "--seeds", "x"], "not a seed"),
        (["frobnicate"], "frobnicate"),
    ],
)
def test_wrong_usage_is_said_and_leaves_nothing(words: list[str], complaint: str, tmp_path: Path) -> None:
    done = mesocosm(*words, cwd=tmp_path, MESOCOSM_SERVER_WAIT="0")
    assert done.returncode == 2, done.stdout + done.stderr
    assert complaint in " ".join(done.stderr.replace("│", " ").split())
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_task_file_of_ones_own_is_run_by_its_path(tmp_path: Path) -> None:
    text = load_family(QUICK).path.read_text(encoding="utf-8")
    own = tmp_path / "my_own.yaml"
    own.write_text(f"family: {QUICK}\n{text}", encoding="utf-8")
    result = mesocosm_json("run", str(own), "--length", "8k", "--out", "run", cwd=tmp_path)
    assert result["verdict"] == "passed"
    assert mesocosm_json("grade", "run", cwd=tmp_path)["verdict"] == "passed"


def test_a_broken_task_file_is_refused_with_key_and_line(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("version: 1\ntitle: x\npromt: y\n")
    done = mesocosm("run", "mine.yaml", cwd=tmp_path)
    assert done.returncode == 2
    assert "mine.yaml, line 3: promt: unknown key" in done.stderr


def test_the_schema_of_task_files_is_a_json_schema(tmp_path: Path) -> None:
    schema = json.loads(mesocosm("schema", cwd=tmp_path).stdout)
    assert schema["additionalProperties"] is False
    assert {"version", "prompt", "servers", "growth"} <= schema["properties"].keys()


def test_the_suite_is_listed_and_built_and_resumed(tmp_path: Path) -> None:
    words = ["--tasks", QUICK, "--lengths", "8k", "--seeds", "0-1"]
    assert len(mesocosm_json("suite", "list", *words, cwd=tmp_path)) == 2
    built = mesocosm_json("suite", "build", *words, "--out", "suite", cwd=tmp_path)
    assert [one["problem"] for one in built] == ["", ""]
    again = mesocosm_json("suite", "build", *words, "--out", "suite", cwd=tmp_path)
    assert [one["seconds"] for one in again] == [0, 0]
    assert {one["edl"] for one in again} == {one["edl"] for one in built}


def test_a_released_benchmark_is_a_suite(tmp_path: Path) -> None:
    all_of_it = mesocosm_json("suite", "list", "--preset", "loca", cwd=tmp_path)
    assert {one["seed"] for one in all_of_it} == {42, 123, 456, 789, 2024}
    assert Counter(one["task"] for one in all_of_it)["excel_market_research"] == 35
    words = ["--preset", "loca", "--tasks", "excel_market_research", "--lengths", "8k", "--seeds", "42"]
    [built] = mesocosm_json("suite", "build", *words, "--out", "suite", cwd=tmp_path)
    world = json.loads((tmp_path / "suite/loca/excel_market_research/8k/42/world/world.json").read_text())
    assert not built["problem"]
    assert world["parameters"]["num_raw_categories"] == 5
    refused = mesocosm("suite", "list", "--preset", "loca", "--tasks", "stock_take", cwd=tmp_path)
    assert refused.returncode == 2
    assert "there are no numbers for stock_take" in refused.stderr


@pytest.mark.parametrize(
    "command",
    [["prove", QUICK], pytest.param(["suite", "prove", "--tasks", QUICK], marks=pytest.mark.long)],
)
def test_proofs_are_resumed_from_a_file(tmp_path: Path, command: list[str]) -> None:
    words = [*command, "--lengths", "8k", "--seeds", "4", "--resume", "proofs.jsonl"]
    [first] = mesocosm_json(*words, cwd=tmp_path)
    [again] = mesocosm_json(*words, cwd=tmp_path)
    assert first == again
    proofs = tmp_path / "proofs.jsonl"
    assert len(proofs.read_text().splitlines()) == 1
    proofs.write_text(proofs.read_text() + '{"task": "cut o')  # whoever wrote it was ended
    [disturbed] = mesocosm_json(*words, "--disturb", "hard", cwd=tmp_path)
    assert (disturbed["disturb"], disturbed["disturbed"] > 0, disturbed["problems"]) == ("hard", True, [])
    assert len(proofs.read_text().splitlines()) == 2


def test_help_loads_little() -> None:
    """It is asked for often; benchmarks/starting.py says what it takes."""
    code = (
        "import sys; sys.argv = ['mesocosm', '--help']\n"
        "from mesocosm.__main__ import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print({'pydantic', 'asyncio', 'sqlalchemy', 'mcp', 'fastapi', 'yaml'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"


def test_a_full_disk_is_no_fault_of_ours() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*stand_in(), "schema"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, "error: the disk is full: make room" in done.stderr) == (3, True), done.stderr
    assert "report it" not in done.stderr
