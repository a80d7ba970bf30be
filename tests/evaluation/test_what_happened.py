"""An evaluation says what happened: through the command line, as a process, with scripted models."""

from __future__ import annotations

import csv
import json
import os
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from commands import mesocosm, stand_in
from later import Later
from patience import PATIENCE

from mesocosm.errors import UsageError
from mesocosm.evaluation.progress import read_prices
from mesocosm.evaluation.reasons import explain, reason_of
from mesocosm.evaluation.report.rows import Sample, name_rows, read_samples
from mesocosm.evaluation.report.tables import pairs, unlike
from mesocosm.families.episode import Episode
from mesocosm.families.evidence_coverage import read_journal
from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance

log_files = Later("inspect_ai.log")
WORLD = ("gridworld", "--n", "5", "--seeds", "0")


def said(done: subprocess.CompletedProcess[str]) -> str:
    """What a command wrote, without its line breaks."""
    assert "Traceback" not in done.stdout + done.stderr
    return " ".join((done.stdout + done.stderr).split())


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("canvas_arrange_exam", "--length", "1k", "--seeds", "0"), "is below the minimum of this task"),
        (
            ("gridworld", "--param", "colour=red"),
            "colour: there is no such parameter; there are filler_tokens",
        ),
        (("gridworld", "--agent", "command", "--agent-command", "no_such_agent --now"), "'no_such_agent'"),
    ],
)
def test_wrong_usage_ends_with_2_before_anything_is_run(
    tmp_path: Path, words: tuple[str, ...], reason: str
) -> None:
    done = mesocosm("eval", "--agent", "none", *words, "--log-dir", "logs", cwd=tmp_path)
    assert done.returncode == 2
    assert reason in said(done)
    assert not (tmp_path / "logs").exists()


@pytest.mark.parametrize("command", ["eval", "run"])
def test_an_endpoint_that_is_away_is_said_before_anything_is_run(tmp_path: Path, command: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
    words = [command, "gridworld", "--agent", "react", "--model", "openai-api/away/x"]
    where = ["--base-url", url, "--log-dir" if command == "eval" else "--out", "kept"]
    done = mesocosm(*words, *where, cwd=tmp_path, AWAY_API_KEY="none")
    assert done.returncode == 2
    assert f"cannot be reached: {url}" in said(done)
    assert not (tmp_path / "kept").exists()


def test_a_program_that_ends_with_an_error_is_errored_and_its_last_lines_are_shown(tmp_path: Path) -> None:
    words = ("--agent", "command", "--agent-command", "echo first; echo it broke >&2; exit 3")
    done = mesocosm("eval", *WORLD, *words, "--log-dir", "logs", cwd=tmp_path)
    assert done.returncode == 3
    assert "ended with exit code 3; its last lines: | first | it broke" in said(done)
    report = mesocosm("report", "logs", "--json", cwd=tmp_path)
    assert [one["verdict"] for one in json.loads(report.stdout)["samples"]] == ["errored"]
    run = mesocosm("run", "gridworld", "--param", "size=4", *words, "--out", "run", cwd=tmp_path)
    assert run.returncode == 3
    assert "ended with exit code 3; its last lines: | first | it broke" in said(run)


def test_an_interrupted_evaluation_ends_with_130_and_is_counted_apart(tmp_path: Path) -> None:
    command = [*stand_in(), "eval", *WORLD, "--log-dir", "logs"]
    command += ["--model", "scripted/solver:delay=3"]
    running = subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        text=True,
    )
    try:
        deadline = time.monotonic() + PATIENCE
        while not list(tmp_path.glob("logs/worlds/*/*/conversation.jsonl")):
            assert running.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.2)
        os.killpg(running.pid, signal.SIGINT)  # as the terminal does
        written, _ = running.communicate(timeout=PATIENCE)
    finally:
        running.kill()
        running.wait()
    assert running.returncode == 130
    assert "Traceback" not in written
    assert "interrupted; cut off: gridworld-custom-n5-s" in written
    assert "--log-dir logs goes on from there" in written
    shown = mesocosm("report", "logs", "--json", cwd=tmp_path)
    samples = json.loads(shown.stdout)["samples"]
    assert samples
    assert {one["verdict"] for one in samples} == {"cancelled"}


@pytest.mark.long
def test_settings_make_rows_of_their_own(tmp_path: Path) -> None:
    model = ("--model", "scripted/solver", "--log-dir")
    for number, words in enumerate((("--temperature", "0"), ("--max-turns", "1"))):
        assert mesocosm("eval", *WORLD, *model, f"logs/{number}", *words, cwd=tmp_path).returncode == 0
    assert mesocosm("report", "logs", "-o", "out", cwd=tmp_path).returncode == 0
    with (tmp_path / "out/summary.csv").open() as file:
        rows = {row["who"]: f"{row['n']} of {row['accuracy']}" for row in csv.DictReader(file)}
    assert rows == {
        "scripted/solver, temperature 0.0, max_turns default": "1 of 100.0%",
        "scripted/solver, temperature 1.0, max_turns 1": "1 of 0.0%",
    }
    by = mesocosm("report", "logs", "--by", "max_turns,size", cwd=tmp_path)
    assert "max_turns default, size 4 │ 1" in by.stdout
    assert "max_turns 1, size 4 " in by.stdout
    with pytest.raises(UsageError, match="--by colour: no sample has that; there are: agent"):
        read_samples([tmp_path / "logs"], ["colour"])


STRATEGY = """
from mesocosm.agents.strategies import Strategy, View


class Reminder(Strategy):
    name = "reminder"
    every: int = 10

    async def before_turn(self, view: View) -> None:
        if view.turn % self.every == 0:
            view.tell("Remember the task.")
"""


@pytest.mark.long
def test_a_strategy_of_ones_own_and_compaction_run_without_a_network(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(STRATEGY)
    own = "own.py::Reminder:every=2+clear_tool_results"
    compaction = "compaction:method=trim:threshold=1500"
    words = ("lore_documents", "--n", "4", "--seeds", "0", "--model", "scripted/solver", "--log-dir", "logs")
    strategies = ("--strategy", own, "--strategy", compaction)
    nowhere = {"https_proxy": "http://127.0.0.1:9", "TIKTOKEN_CACHE_DIR": str(tmp_path)}
    done = mesocosm("eval", *words, *strategies, "--json", cwd=tmp_path, **nowhere)
    assert done.returncode == 0, done.stdout + done.stderr
    found = {one["strategy"]: (one["passed"], one["errored"]) for one in json.loads(done.stdout)}
    assert found.keys() == {own, "compaction:method=trim:threshold=1500.0"}
    assert found[own] == (1, 0)
    talked = [path.read_text() for path in tmp_path.glob("logs/worlds/*/*/conversation.jsonl")]
    assert sum("Remember the task." in text for text in talked) == 1


@pytest.mark.long
def test_who_passes_a_task_that_its_prompt_tells_whole_is_no_suspect(tmp_path: Path) -> None:
    words = (
        "listworld,gridworld",
        "--n",
        "4",
        "--seeds",
        "0",
        "--model",
        "scripted/solver",
        "--log-dir",
        "logs",
    )
    assert mesocosm("eval", *words, cwd=tmp_path).returncode == 0
    looked = mesocosm("contamination", "logs", "--json", cwd=tmp_path)
    told = json.loads(looked.stdout)
    assert (looked.returncode, told["passed"], told["signs"]) == (0, 2, [])
    report = json.loads(mesocosm("report", "logs", "--json", cwd=tmp_path).stdout)
    assert [one["coverage"] for one in report["samples"]] == [1.0, 1.0]


def test_records_of_which_some_fields_were_asked_for_are_read(tmp_path: Path) -> None:
    family = load_family("refund_list")
    built = build_instance(family, 0, tmp_path / "instance", target=8_000)
    delivered = []
    for number, chosen in enumerate(({}, {"fields": ["id", "sku", "name"]}, {"fields": ["id", "name"]})):
        episode = Episode.create(tmp_path / str(number), built.path, family)
        outcome = episode.world.call("woocommerce", "woo_products_list", {"perPage": 100, **chosen})
        assert not outcome.is_error
        delivered.append(read_journal(episode).delivered)
        episode.close()
    assert delivered[0] == delivered[1] > 0
    assert delivered[2] == 0, "nothing says which products these are"


def test_arguments_that_were_taken_as_other_values_are_counted(tmp_path: Path) -> None:
    family = load_family("refund_list")
    built = build_instance(family, 0, tmp_path / "instance", target=8_000)
    episode = Episode.create(tmp_path / "episode", built.path, family)
    for sent in ({"perPage": 5}, {"perPage": "5"}, {"perPage": 5, "search": None}, {"fields": '["id"]'}):
        assert not episode.world.call("woocommerce", "woo_products_list", sent).is_error
    assert read_journal(episode).coerced == 3
    episode.close()


def test_what_it_takes_is_told_before(tmp_path: Path) -> None:
    words = ("gridworld", "--n", "4", "--seeds", "0-2", "--model", "scripted/solver")
    planned = mesocosm("eval", *words, "--epochs", "2", "--dry-run", "--price", "1,5", "--json", cwd=tmp_path)
    assert planned.returncode == 0, planned.stderr
    [plan] = json.loads(planned.stdout)
    assert (plan["episodes"], plan["calls"]) == (6, 5)
    assert plan["cost"] == pytest.approx((plan["input_tokens"] + 5 * plan["output_tokens"]) / 1_000_000)
    assert not list(tmp_path.rglob("*.eval"))


TYPES = ("intersection", "count_frequency_env", "count_correctness_env")


@pytest.fixture(scope="module")
def cut(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Three questions about a history at 2.3 cents each, the third beyond 3 cents: the folder, and what the
    command said."""
    folder = tmp_path_factory.mktemp("cut")
    words = ("agentlongbench", "--length", "32k", "--seeds", "0", "--model", "scripted/solver")
    types = f"types={','.join(TYPES)}"
    few = ("--param", "settings=ki", "--param", "formats=c", "--param", types, "--max-samples", "1")
    done = mesocosm(
        "eval", *words, *few, "--price", "1,5", "--budget", "0.03", "--log-dir", "logs", cwd=folder
    )
    assert done.returncode == 130, done.stdout + done.stderr
    return folder, said(done)


def test_a_budget_ends_an_evaluation_that_goes_on_from_there(cut: tuple[Path, str]) -> None:
    _, words = cut
    assert "the budget of $0.03 is used up" in words
    assert "--log-dir logs goes on from there" in words


def test_questions_that_were_answered_are_reported_by_their_type(cut: tuple[Path, str]) -> None:
    folder, _ = cut
    shown = mesocosm("report", "logs", "--by", "type", "--json", cwd=folder)
    found = {one["series"]: one["verdict"] for one in json.loads(shown.stdout)["samples"]}
    assert "passed" in found.values()
    assert found.keys() < {f"type {name}" for name in TYPES}


def test_rows_of_a_report_are_named_by_the_settings_that_differ(
    cut: tuple[Path, str], tmp_path: Path
) -> None:
    [path] = cut[0].glob("logs/*.eval")
    log = log_files.read_eval_log(str(path))
    log_files.write_eval_log(log, str(tmp_path / "logs/one.eval"))
    log.plan.config.temperature, log.eval.task_id = 0.5, "another"
    log_files.write_eval_log(log, str(tmp_path / "logs/other.eval"))
    report = json.loads(mesocosm("report", "logs", "--json", cwd=tmp_path).stdout)
    assert {one["variant"] for one in report["samples"]} == {"temperature 1.0", "temperature 0.5"}


@pytest.mark.long
def test_what_it_takes_was_foreseen_and_a_budget_cuts_it_off(tmp_path: Path) -> None:
    words = ("gridworld", "--n", "4", "--seeds", "0-2", "--model", "scripted/solver")
    [plan] = json.loads(
        mesocosm("eval", *words, "--dry-run", "--price", "1,5", "--json", cwd=tmp_path).stdout
    )
    done = mesocosm("eval", *words, "--price", "1,5", "--log-dir", "logs", cwd=tmp_path)
    assert done.returncode == 0
    assert "3 of 3 episodes done, 3 passed, 0 errored" in said(done)
    report = json.loads(mesocosm("report", "logs", "--json", cwd=tmp_path).stdout)
    read = [one["input_tokens"] for one in report["samples"]]
    assert plan["input_tokens"] / plan["episodes"] == pytest.approx(sum(read) / 3, rel=0.5)
    costs = [one["cost"] for one in report["samples"]]
    assert all(cost > 0 for cost in costs)
    half = f"{sum(costs) / 2:.8f}"
    more = ("--price", "1,5", "--max-samples", "1", "--budget", half, "--log-dir", "cut")
    cut = mesocosm("eval", *words, *more, cwd=tmp_path)
    assert cut.returncode == 130
    assert "the budget of $0.0" in said(cut)
    assert "goes on from there" in said(cut)


def test_what_a_task_takes_whose_solution_reads_nothing_is_reckoned_with_all_that_is_to_be_read(
    tmp_path: Path,
) -> None:
    words = ("refund_list", "--length", "8k", "--seeds", "0", "--model", "scripted/solver")
    [told] = json.loads(mesocosm("eval", *words, "--dry-run", "--json", cwd=tmp_path).stdout)
    assert told["delivered_tokens"] > 7_500
    assert told["calls"] > 10


@pytest.mark.parametrize("wrong", ["cheap", "1", "1,-2", "openai/other=1,2"])
def test_prices_that_are_none_are_refused(wrong: str) -> None:
    with pytest.raises(UsageError, match="--price"):
        read_prices([wrong], ["scripted/solver"])


def sample(model: str, seed: int, passed: bool, **known: Any) -> Sample:
    """A judged sample."""
    values = {"task": "t", "length": 8_000, "agent": "react", "run": model, "sample": str(seed), **known}
    return Sample(**values, model=model, seed=seed, verdict="passed" if passed else "failed")


def test_rows_are_compared_on_the_instances_that_they_share() -> None:
    found = [sample("a", seed, passed=True) for seed in range(12)]
    found += [sample("b", seed, passed=seed >= 14) for seed in range(4, 16)]
    name_rows(found)
    assert unlike(found)
    ((one, other, n, left, gap, _, p, corrected),) = pairs(found).rows
    assert (one, other, n, left, gap) == ("a", "b", "8", "4 / 4", "+100.0")
    assert p == corrected == "0.008", "two of the 256 assignments of signs are as far"


def test_a_setting_of_a_model_is_none_of_an_agent_without_one() -> None:
    found = [
        sample("m", 0, True, settings={"window": 16_000}),
        sample("m", 1, True, settings={"window": None}),
    ]
    found += [sample("reference", 0, True, settings={})]
    name_rows(found)
    assert [one.who for one in found] == ["m, window 16k", "m, window none", "reference"]


def test_reasons_are_one_line_and_say_what_to_do() -> None:
    class APIConnectionError(Exception):
        pass

    tried = RuntimeError("it was tried five times")
    tried.__cause__ = APIConnectionError("Connection error.")
    assert "cannot be reached: check --base-url" in explain(tried)
    assert "make room" in explain(OSError(28, "No space left on device"))
    assert reason_of("UsageError('too short:\\n  really')") == "too short: | really"
    assert (
        reason_of('Traceback (most recent call last):\n  File "x"\nmesocosm.errors.Denied: no')
        == "Denied: no"
    )
