"""Accuracy of `eval --dry-run`: its estimates against scripted models that play every task.

    python benchmarks/estimates.py [--tasks all] [--length 8k] [--seeds 0] [--factor 1.5]

The scripted models make a call a turn, as the estimate assumes. What they take is counted in the log, with
the tokenizer that measures worlds: all that each of their requests holds. (They themselves report a token for
four bytes, which is half of what a grid or a list of numbers takes.) Families whose shortest world is longer
are played at that; those with a solution in YAML, which is told the truth and reads nothing, are left out.
Ends with status 1 where an estimate of the tokens that are read is off by more than the factor.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from inspect_ai.log import read_eval_log
from inspect_ai.model import ChatMessage, ChatMessageAssistant

from mesocosm.evaluation.estimate import BYTES_OF_TOKEN, OUTPUT_OF_CALL
from mesocosm.families.family import family_names, load_family
from mesocosm.worlds import tokens

EVAL = [sys.executable, "-m", "mesocosm", "eval"]


def evaluate(folder: Path, *words: str) -> list[dict[str, Any]]:
    """Return the output of `eval --json`; empty if refused."""
    done = subprocess.run([*EVAL, *words, "--json"], cwd=folder, capture_output=True, check=False, text=True)
    found: list[dict[str, Any]] = json.loads(done.stdout) if done.stdout.startswith("[") else []
    return found


def said(message: ChatMessage) -> int:
    """The tokens of a message."""
    calls = message.tool_calls or () if isinstance(message, ChatMessageAssistant) else ()
    return tokens.count(message.text) + sum(tokens.count(json.dumps(call.arguments)) for call in calls)


def asked_and_written(folder: Path) -> tuple[int, int]:
    """The tokens of all requests to models, and of all that they wrote, by the logs of a folder."""
    asked, written, known = 0, 0, dict[str, int]()
    for path in folder.glob("*.eval"):
        for sample in read_eval_log(path, resolve_attachments=True).samples or ():
            for event in sample.events:
                if event.event != "model":
                    continue
                schemas = [tool.model_dump_json(exclude_none=True) for tool in event.tools]
                asked += sum(map(len, schemas)) // BYTES_OF_TOKEN
                for message in event.input:
                    key = message.id or message.text
                    known[key] = known.get(key) or said(message)
                    asked += known[key]
                written += sum(said(choice.message) for choice in event.output.choices)
    return asked, written


def compare(task: str, length: str, seeds: str) -> float:
    """Return the ratio of tokens read to the estimate, over all episodes of a task."""
    provider = "scripted-anthropic" if "multimodal" in task else "scripted"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        chosen = [task, "--seeds", seeds, "--model", f"{provider}/solver", "--log-dir", "logs"]
        for words in ([*chosen, "--length", length], chosen):
            if told := evaluate(folder, *words, "--dry-run"):
                break
        evaluate(folder, *words)
        counted = asked_and_written(folder / "logs")
        runs = [json.loads(path.read_bytes()) for path in folder.glob("logs/worlds/*/*/run.json")]
    played = [run for run in runs if run["conversation"]]
    if not told or not played:
        print(f"{task:<28} was not played")
        return 1.0
    times = {field: [one["episodes"] if field in OF_ONE else 1 for one in told] for field in FIELDS}
    estimated = [sum(one[field] * n for one, n in zip(told, times[field], strict=True)) for field in FIELDS]
    taken = [
        sum(run["tool_calls"] for run in played),
        sum(run["delivered_tokens"] for run in played),
        *counted,
    ]
    # They write less than is assumed of models, and every later request holds what was written.
    unwritten = max(0.0, OUTPUT_OF_CALL - taken[3] / max(1, taken[0]))
    estimated[2] -= round(sum(unwritten * n * (n + 1) / 2 for n in (run["tool_calls"] for run in played)))
    shown = "".join(f"{e:>12,} {t:>12,} {t / max(1, e):>6.2f}" for e, t in zip(estimated, taken, strict=True))
    print(f"{task:<28}{len(played):>3} {shown}", flush=True)
    ratio: float = taken[2] / max(1, estimated[2])
    return ratio


FIELDS = ("calls", "delivered_tokens", "input_tokens", "output_tokens")
OF_ONE = ("calls", "delivered_tokens")
"""Figures that are told of one episode, not of all."""


def main() -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tasks", default="all", help="comma-separated")
    parser.add_argument("--length", default="8k")
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--factor", type=float, default=1.5)
    options = parser.parse_args()
    print(
        f"{'task':<28}  n " + "".join(f"{field.partition('_')[0] + ': told, taken':>32}" for field in FIELDS)
    )
    tasks = family_names() if options.tasks == "all" else options.tasks.split(",")
    tasks = [task for task in tasks if load_family(task).solver == "independent"]
    ratios = {task: compare(task, options.length, options.seeds) for task in tasks}
    off = {task: r for task, r in ratios.items() if not 1 / options.factor <= r <= options.factor}
    print(f"{len(off)} of {len(ratios)} are off by more than {options.factor:g}: {', '.join(off) or '-'}")
    sys.exit(bool(off))


if __name__ == "__main__":
    main()
