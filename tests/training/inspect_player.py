"""Plays calls through inspect_ai, with a model that makes them one after the other (``test_parity.py``).

Reads ``{"url", "task", "length", "seed", "trajectories"}`` and prints the reward of each trajectory, by name.
"""

from __future__ import annotations

import json
import sys
import tempfile
from typing import Any

from inspect_ai import eval as evaluate
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from mesocosm.evaluation.inspect_tasks import build_task
from mesocosm.families.family import load_family


def play(asked: dict[str, Any], calls: list[tuple[str, dict[str, Any]]], logs: str) -> float:
    said = [ModelOutput.for_tool_call("mockllm/model", tool, arguments) for tool, arguments in calls]
    for output in said:
        output.usage = ModelUsage(
            input_tokens=1, output_tokens=1
        )  # else it is counted, with a file of the web's
    options = {"length": asked["length"], "seeds": asked["seed"], "tools": "needed", "window": None}
    task = build_task([load_family(asked["task"])], asked["task"], server=asked["url"], **options)
    model = get_model("mockllm/model", custom_outputs=said, memoize=False)
    (log,) = evaluate(task, model=model, log_dir=logs, display="none")
    (sample,) = log.samples or []
    assert log.status == "success", sample.error
    (score,) = (sample.scores or {}).values()
    return score.as_float()


def main() -> None:
    asked = json.load(sys.stdin)
    with tempfile.TemporaryDirectory() as logs:
        print(json.dumps({name: play(asked, calls, logs) for name, calls in asked["trajectories"].items()}))


if __name__ == "__main__":
    main()
