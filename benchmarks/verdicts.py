"""Verdicts on whatever an agent may leave: any bytes, trees and values in every place that a checker reads.

    python benchmarks/verdicts.py --states 20000 [--families stock_take,nhl_b2b_analysis] [--seed 0] [--json]

For every family an instance is built and solved. States are made from the solved and from the untouched
world: files are damaged, workbooks are repacked with broken parts, things of other kinds take the places of
files, the solver's calls are made again with values at and beyond every limit, and tools are called with
anything. Each state is judged: a verdict has to come of it. A checker that raises, a verdict that cannot be
written down, and a call that breaks are faults of ours, reported by their fingerprints with the first state
that met them. A run that is ended by a signal reports what it has found until then. Exit code 1 if there was
a fault.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import Any

from fuzzing.faults import Faults
from fuzzing.leavings import Leavings
from pydantic import BaseModel

from mesocosm.doors.mcp import McpTools, world_server
from mesocosm.families.episode import Episode
from mesocosm.families.family import Family, family_names, load_family
from mesocosm.families.instances import build_instance
from mesocosm.families.verdict import Verdict
from mesocosm.services.calling import Tools
from mesocosm.services.service import Image

_LENGTH = 8_000


class Found(Faults, BaseModel):
    """Results of a run."""

    states: Counter[str] = Counter()
    """By family and verdict."""
    seconds: float = 0


def solved(family: Family, folder: Path) -> Iterator[Episode]:
    """The untouched episode of a built instance, and the solved one."""
    built = build_instance(family, 0, folder / "instance", target=_LENGTH)
    yield Episode.create(folder / "untouched", built.path, family, steps=False)
    episode = Episode.create(folder / "solved", built.path, family, steps=False)
    with McpTools(world_server(episode.world)) as tools:
        family.solve(_Unclaimed(tools), episode.prompt, built.expected)
    yield episode


class _Unclaimed(Tools):
    """Tools with which a task cannot be declared done, after which no call would be accepted."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def look(self, service: str, tool: str, arguments: dict[str, Any]) -> list[str | Image]:
        return ["{}"] if service == "claim_done" else self._tools.look(service, tool, arguments)


def judge(found: Found, name: str, episode: Episode, leavings: Leavings, dice: random.Random) -> None:
    """Make a state of a copy of an episode, and judge it."""
    with tempfile.TemporaryDirectory(prefix="mesocosm-verdicts-") as folder:
        state = episode.fork(Path(folder) / "state")
        try:
            before = state.world.journal.last
            done = leavings.leave(state.world, dice)
            example = f"{name}: {'; '.join(done)}"
            for tool, text in state.world.journal.faults():
                if state.world.journal.last > before:
                    found.note_fault(tool, text, example)
            try:
                verdict = Verdict.of(state.findings())
                verdict.model_dump_json()
            except Exception:  # noqa: BLE001 - whatever comes through the boundary of judging is a fault
                found.note_fault("judging", traceback.format_exc(), example)
                found.states[f"{name}: errored"] += 1
            else:
                found.states[f"{name}: {verdict.verdict}"] += 1
        finally:
            state.close()


def run(families: list[str], states: int, seed: str) -> Found:
    """So many states, the same number of each family."""
    found, started = Found(), perf_counter()
    with suppress(KeyboardInterrupt):
        _run(found, families, states, seed)
    found.seconds = perf_counter() - started
    return found


def _run(found: Found, families: list[str], states: int, seed: str) -> None:
    for number, name in enumerate(families):
        many = (states + number) // len(families)
        with tempfile.TemporaryDirectory(prefix="mesocosm-verdicts-") as folder:
            untouched, done = solved(load_family(name), Path(folder))
            leavings = Leavings(done)
            for which in range(many):
                dice = random.Random(f"{seed}:{name}:{which}")
                judge(found, name, dice.choice((untouched, done, done)), leavings, dice)
            untouched.close()
            done.close()
        print(f"{name}: {found.states.total():,} states, {len(found.faults)} faults", file=sys.stderr)


def main() -> int:
    """Make the run, and say what was found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--states", type=int, default=2_000, help="of all families together")
    parser.add_argument("--families", default="", help="their names; default: all there are")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    families = options.families.split(",") if options.families else family_names()
    found = run(families, options.states, options.seed)
    print(found.model_dump_json(), flush=True) if options.json else _show(found)
    return 1 if found.faults else 0


def _show(found: Found) -> None:
    for name, number in sorted(found.states.items()):
        print(f"{name:<50}{number:>10,}")
    print(f"{found.states.total():,} states in {found.seconds:,.0f} s")
    found.show()


if __name__ == "__main__":
    sys.exit(main())
