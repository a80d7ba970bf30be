"""Oracles: how fast they answer, and that they lead to the end in every family, also after mistakes.

    python benchmarks/oracles.py speed [TASK ...]     the worlds at their largest, office families at 64K
    python benchmarks/oracles.py follow [TASK ...]    every such family at 8K, with and without mistakes

An oracle is prepared when its episode begins; what is said of its answers holds for all of them, the first
one too. ``follow`` makes every third step a wrong one that can be mended: an event, a draft, a file.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

from mesocosm.families.episode import Episode
from mesocosm.families.family import family_names, load_family
from mesocosm.families.instances import build_instance
from mesocosm.families.oracle import Call
from mesocosm.families.solver_oracle import SolverOracle

LARGEST: dict[str, dict[str, Any]] = {
    "listworld": {"removals": 1_000, "kept": 9_000},
    "treeworld": {"nodes": 100_000},
    "gridworld": {"size": 300},
}
STEPS = 200


SPOILT: dict[str, dict[str, Any]] = {
    "write_file": {"content": "nonsense"},
    "write_data_to_excel": {"data": [["x"] * 3] * 2},
    "issue_write": {"method": "update", "issue_number": 1, "title": "Something else"},
    "woo_products_update": {"productData": {"regular_price": "1.11"}},
}
"""Arguments by which a call of the solver's is wrong, by tool."""


@contextmanager
def opened(
    task: str, seed: int, target: int | None, parameters: dict[str, Any]
) -> Iterator[tuple[Episode, float]]:
    """An episode, and the seconds by the clock that it took to build."""
    with tempfile.TemporaryDirectory() as folder:
        path, family = Path(folder), load_family(task)
        started = perf_counter()
        instance = build_instance(family, seed, path / "instance", target=target, parameters=parameters)
        built = perf_counter() - started
        episode = Episode.create(path / "episode", instance.path, family)
        yield episode, built
        episode.close()


def timed(what: Callable[[], Any]) -> tuple[Any, float]:
    """A result, and the milliseconds of this processor's time that it took."""
    started = process_time()
    return what(), 1000 * (process_time() - started)


def speed(task: str, target: int | None, parameters: dict[str, Any]) -> None:
    """Act as the oracle says for some steps, and print how long its answers took."""
    with opened(task, 0, target, parameters) as (episode, built):
        took: dict[str, list[float]] = {"plan": [], "state": []}
        _, prepared = timed(lambda: episode.oracle.prepare())
        for _ in range(STEPS):
            plan, milliseconds = timed(lambda: episode.oracle.plan(episode.world, episode.history()))
            took["plan"].append(milliseconds)
            took["state"].append(timed(episode.told_state)[1])
            if not plan:
                break
            for call in plan[0].calls:
                episode.world.call(call.service, call.tool, call.arguments)
        figures = ", ".join(
            f"{name} {median(times):.1f} ms (largest {max(times):.1f})" for name, times in took.items()
        )
        print(
            f"{task} {parameters or target}: built in {built:.2f} s; prepared in {prepared:.0f} ms; {figures}"
        )


def mistakes(episode: Episode) -> list[Call]:
    """Wrong calls that can be mended, for each service that the task offers."""
    at = {"dateTime": "2025-03-03T10:00:00Z"}
    entity = {"name": "Slip", "entityType": "x", "observations": ["y"]}
    known: dict[str, tuple[str, dict[str, Any]]] = {
        "calendar": ("create_event", {"summary": "Lunch", "start": at, "end": at}),
        "email": ("save_draft", {"subject": "Later", "body": "To be written."}),
        "memory": ("create_entities", {"entities": [entity]}),
    }
    calls = [
        Call(service=service, tool=tool, arguments=arguments)
        for service, (tool, arguments) in known.items()
        if service in episode.world.services
    ]
    for step in episode.oracle.script if isinstance(episode.oracle, SolverOracle) else ():
        if step.call.tool in SPOILT:
            spoilt = {**step.call.arguments, **SPOILT[step.call.tool]}
            calls.append(step.call.model_copy(update={"arguments": spoilt}))
    return calls


def follow(task: str, seed: int, erring: bool, target: int = 8_000) -> bool:
    """Do what the plan says up to the end; print what the checker says, and how long the answers took."""
    with opened(task, seed, target, {}) as (episode, _):
        _, prepared = timed(lambda: episode.oracle.prepare())
        wrong = mistakes(episode) if erring else []
        steps = erred = 0
        took = {"plan": [0.0], "state": [0.0]}
        while True:
            plan, milliseconds = timed(lambda: episode.oracle.plan(episode.world, episode.history()))
            took["plan"].append(milliseconds)
            took["state"].append(timed(episode.told_state)[1])
            if not plan:
                break
            steps += 1
            call = plan[0].calls[0]
            if wrong and steps % 3 == 0 and erred < 12:
                call = wrong[erred % len(wrong)]
                erred += 1
            episode.world.call(call.service, call.tool, call.arguments)
            if steps > 1_000:
                break
        failed = [c.name for c in episode.family.check(episode.world, episode.expected()) if not c.passed]
        largest = ", ".join(f"{name} {max(times):.0f}" for name, times in took.items())
        print(
            f"{task} seed {seed}: {steps} steps, {erred} mistakes: {', '.join(failed) or 'passed'}; "
            f"milliseconds: preparing {prepared:.0f}, largest of {largest}",
            flush=True,
        )
        return not failed


def main() -> None:
    """Do what the first argument says."""
    what, *tasks = sys.argv[1:] or ["speed"]
    if what == "speed":
        for task, parameters in LARGEST.items():
            speed(task, None, parameters)
        for task in tasks or ["canvas_list_test", "filter_low_selling_products"]:
            for erring in (False, True):
                follow(task, 0, erring, 64_000)
        return
    chosen = tasks or [name for name in family_names() if name not in LARGEST]
    passed = [follow(task, seed, erring) for task in chosen for seed in (0, 1) for erring in (False, True)]
    print(f"{sum(passed)} of {len(passed)} passed")
    sys.exit(not all(passed))


if __name__ == "__main__":
    main()
