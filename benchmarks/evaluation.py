"""Evaluations: our share of a turn, many samples at a time, going on after a kill, a report over thousands.

    python benchmarks/evaluation.py turn | parallel [SAMPLES] | resume | report [SAMPLES]

``turn`` compares our own time per turn of the model with what inspect_ai and the model's HTTP take, in one
run with a scripted model. ``parallel`` runs samples at once on one server in one process. ``resume`` kills an
evaluation in the middle, runs it again, and compares its table with that of one that was not disturbed.
``report`` writes the page over logs that inspect_ai wrote with so many samples. Each ends with status 1 where
it misses what it must reach.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

TURN_MILLISECONDS = 10
"""Of our own, at most, for a turn of the model."""
REPORT_SECONDS = 30
"""For a report over 5,000 samples, at most."""
MESOCOSM = [sys.executable, "-m", "mesocosm"]
TASK = ["eval", "lore_documents", "--param", "operations=6", "--model", "scripted/solver", "--json"]


def demand(reached: bool, what: str) -> None:
    """End with status 1 where something is missed."""
    print("reached" if reached else "MISSED", f"({what})")
    if not reached:
        sys.exit(1)


def logged(folder: Path) -> list[str]:
    """Samples that stand judged in the last log of a folder, whatever became of who wrote it."""
    from inspect_ai.log import read_eval_log_sample_summaries

    last = max(folder.glob("logs/*.eval"), key=lambda path: path.name)
    found = read_eval_log_sample_summaries(str(last))
    return [str(one.id) for one in found if one.scores]


def evaluate(folder: Path, *words: str) -> list[dict[str, Any]]:
    """Run an evaluation to its end."""
    command = [*MESOCOSM, *TASK, *words, "--log-dir", str(folder / "logs")]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def talks(folder: Path) -> list[dict[str, Any]]:
    """The conversations of the samples that were kept."""
    runs = [json.loads(path.read_bytes()) for path in folder.glob("logs/worlds/*/*/run.json")]
    return [run["conversation"] for run in runs]


def turn(folder: Path) -> None:
    """Ours, beside everything else that a turn takes."""
    started = time.perf_counter()
    evaluate(folder, "--seeds", "0-4", "--max-samples", "1")
    seconds = time.perf_counter() - started
    found = talks(folder)
    turns = sum(talk["turns"] for talk in found)
    own = sum(talk["own_seconds"] for talk in found)
    print(
        f"{turns} turns: ours {1000 * own / turns:.2f} ms a turn; the whole program, start and builds "
        f"included,"
    )
    print(f"{1000 * seconds / turns:.1f} ms a turn (inspect_ai, HTTP of model and tools, the scripted model)")
    demand(1000 * own / turns < TURN_MILLISECONDS, f"ours is to be below {TURN_MILLISECONDS} ms")


def parallel(folder: Path, samples: int) -> None:
    """Many samples at once."""
    started = time.perf_counter()
    [outcome] = evaluate(
        folder,
        "--param",
        "operations=2",
        "--seeds",
        "0",
        "--epochs",
        str(samples),
        "--max-samples",
        str(samples),
        "--max-connections",
        str(samples),
    )
    print(
        f"{samples} samples at once: {outcome['passed']} passed, {outcome['errored']} errored, "
        f"{time.perf_counter() - started:.0f} s"
    )
    if outcome["errored"]:
        from mesocosm.evaluation.report.rows import read_samples

        print(sorted({one.error for one in read_samples([folder / "logs"]) if one.error})[:5])
    demand(outcome["passed"] == samples, "all pass, none with an error")


def resume(folder: Path) -> None:
    """A kill in the middle, and the same table in the end."""
    words = ("--seeds", "0-7", "--max-samples", "1")
    (folder / "whole").mkdir()
    (folder / "killed").mkdir()
    [whole] = evaluate(folder / "whole", *words)
    command = [*MESOCOSM, *TASK, *words, "--log-dir", str(folder / "killed/logs")]
    process = subprocess.Popen(
        command,
        cwd=folder / "killed",
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    while len(list(folder.glob("killed/logs/worlds/*/*/run.json"))) < 3:
        time.sleep(0.2)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    kept = {path.parent.name[:-7] for path in folder.glob("killed/logs/worlds/*/*/run.json")}
    before = len(logged(folder / "killed"))
    [again] = evaluate(folder / "killed", *words)
    runs = len(list(folder.glob("killed/logs/worlds/*/*/run.json")))
    print(f"killed with {len(kept)} of {whole['samples']} samples kept, {before} of them in the log")
    print(f"{runs - len(kept)} were run after it")
    tables = [table_of(folder / name) for name in ("whole", "killed")]
    print(f"the table: {again['passed']} of {again['judged']} passed")
    demand(tables[0] == tables[1], "the same table, line by line")
    demand(runs == whole["samples"], "nothing is run twice")


def table_of(folder: Path) -> list[tuple[Any, ...]]:
    """Return the data of the reports, without times."""
    from mesocosm.evaluation.report.rows import read_samples

    fields = "task seed edl verdict score missed tool_calls delivered_tokens turns trajectory_length"
    names = [*fields.split(), "output_tokens", "coverage", "re_reads", "failure"]
    return sorted(tuple(getattr(one, name) for name in names) for one in read_samples([folder / "logs"]))


def report(folder: Path, samples: int) -> None:
    """A report over many samples: logs as inspect_ai writes them, of a task that answers at once."""
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.scorer import Score, mean, scorer
    from inspect_ai.solver import generate

    @scorer(metrics=[mean()])
    def scored() -> Any:
        async def score(state: Any, target: Any) -> Score:
            passed = state.metadata["seed"] % 3 > 0
            row = {
                **state.metadata,
                "verdict": "passed" if passed else "failed",
                "edl": state.metadata["length"],
            }
            row |= {"tool_calls": 50, "delivered_tokens": 9_000, "trajectory_length": 20_000, "density": 0.3}
            row |= {"failure": "" if passed else "source_missed", "score": float(passed)}
            return Score(value=float(passed), metadata=row)

        return score

    each = samples // 10
    for log in range(10):
        orders = [
            Sample(
                id=f"s{n}",
                input="q",
                metadata={"task": f"task_{log % 5}", "length": 8_000 << (n % 6), "seed": n // 6},
            )
            for n in range(each)
        ]
        task = Task(MemoryDataset(orders), solver=generate(), scorer=scored(), name=f"task_{log % 5}")
        eval(task, model="mockllm/model", log_dir=str(folder / "logs"), display="none", log_realtime=False)
    command = [*MESOCOSM, "report", str(folder / "logs"), "-o", str(folder / "out")]
    started = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    seconds = time.perf_counter() - started
    kilobytes = (folder / "out/index.html").stat().st_size / 1000
    print(f"report over {10 * each} samples: {seconds:.1f} s, a page of {kilobytes:.0f} kB")
    demand(seconds < REPORT_SECONDS, f"within {REPORT_SECONDS} s")


def main() -> None:
    what, *rest = sys.argv[1:] or [""]
    with tempfile.TemporaryDirectory(prefix="mesocosm-benchmark-") as name:
        folder = Path(name)
        if what == "turn":
            turn(folder)
        elif what == "parallel":
            parallel(folder, int(rest[0]) if rest else 200)
        elif what == "resume":
            resume(folder)
        elif what == "report":
            report(folder, int(rest[0]) if rest else 5_000)
        else:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
