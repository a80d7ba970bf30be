"""Calls that nobody would make, over every tool, every route of the vendors' APIs, SQL, IMAP and SMTP lines.

    python benchmarks/fuzz.py --calls 5000000 --tally fuzz.json [--only tools,rest,mail,code,sql]
                              [--services google_cloud,snowflake] [--json]

Every call is made on a filled world and must be answered or refused; what raises anything else, or takes
more than 30 seconds of a processor, is a fault of ours, reported by its fingerprint with the first call that
met it. One process makes them all, in parts of some thousand on fresh copies of the worlds; arguments are
made from those that were answered before. Programs of agents, which cost a sandbox each, are one call in
1,500. After every part the tally is written to the file; a run with the same file goes on where it was ended
(also by a signal). Reported, too: how many of the operations were answered with success at least once, and
the slowest calls by processor time. Exit code 1 if there was a fault.
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import process_time
from typing import Any

from fuzzing.calls import Made, Requests, Tools
from fuzzing.faults import Faults
from fuzzing.inputs import Inputs
from fuzzing.lines import MailSession
from fuzzing.statements import Statements
from fuzzing.worlds import GAMES, OFFICE, build
from pydantic import BaseModel

from mesocosm.services.world import World
from mesocosm.worlds.copies import copy_world

CALLS_PER_WORLD = 6_000
_SLOW = 1.0
"""Seconds of a processor from which a call is reported."""
_ENDLESS = 30.0
"""Seconds of a processor after which a call is a fault."""
_WEIGHTS = {"sql": 3, "rest": 3, "mail": 1, "tools": 6}
"""How many calls of each kind. Tools come last, because some of them end the episode."""
_KINDS = (*_WEIGHTS, "code")


class Endless(BaseException):
    """A call took more than it may."""


class Found(Faults, BaseModel):
    """Results of a run so far."""

    parts: int = 0
    seconds: float = 0
    """Of a processor."""
    calls: Counter[str] = Counter()
    """By kind and outcome."""
    succeeded: Counter[str] = Counter()
    """By operation: how often it was answered with success."""
    tried: set[str] = set()
    """Operations that were called."""
    slow: list[tuple[float, str]] = []
    misread: Counter[str] = Counter()
    """Exceptions of the mail protocols' libraries over lines, which they answer as not understood."""

    @property
    def total(self) -> int:
        """Number of calls made."""
        return sum(self.calls.values())

    def note_slow(self, seconds: float, example: str) -> None:
        """Keep the slowest calls."""
        self.slow = sorted([*self.slow, (round(seconds, 2), example[:300])], reverse=True)[:20]


def _stop(*_: Any) -> None:
    raise Endless


@contextmanager
def bounded() -> Iterator[None]:
    """Limit the CPU time of the code inside."""
    signal.setitimer(signal.ITIMER_PROF, _ENDLESS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def part(
    found: Found,
    inputs: Inputs,
    kinds: tuple[str, ...],
    calls: int,
    bases: Path,
    services: tuple[str, ...] | None = None,
) -> None:
    """Some thousand calls, on a fresh world. ``services``: whose tools and routes; without, of all."""
    game = len(GAMES) > 0 and "tools" in kinds and services is None and found.parts % 12 == 11
    base = GAMES[found.parts // 12 % len(GAMES)] if game and (bases / GAMES[0]).exists() else OFFICE
    with tempfile.TemporaryDirectory(prefix="mesocosm-fuzz-") as folder:
        place = Path(folder) / "world"
        copy_world(bases / base, place)
        weights = {kind: _WEIGHTS[kind] for kind in kinds if kind in _WEIGHTS}
        if base != OFFICE:
            weights = {"tools": 1}
        whole, left = sum(weights.values()), calls
        for index, (kind, weight) in enumerate(weights.items()):
            many = calls * weight // whole if index + 1 < len(weights) else left
            left -= many
            if kind == "sql":
                copy_world(bases / base, Path(folder) / "neighbour")
                with World(place) as world, World(Path(folder) / "neighbour") as neighbour:
                    _calls(found, inputs, kind, iter(Statements(world, inputs, neighbour)), many, world)
                continue
            if kind == "mail":
                # An episode begins with a world as it was built.
                (Path(folder) / "mail").mkdir()
                copy_world(bases / base, Path(folder) / "mail" / "world")
                _mail(found, inputs, many, Path(folder) / "mail")
                continue
            with World(place) as world:
                source = (
                    Requests(world, inputs, services=services)
                    if kind == "rest"
                    else Tools(world, inputs, code="code" in kinds, services=services)
                )
                _calls(found, inputs, kind, iter(source), many, world)
    found.parts += 1


def _calls(found: Found, inputs: Inputs, kind: str, source: Iterator[Made], many: int, world: World) -> None:
    for _ in range(many):
        made = next(source)
        started = process_time()
        try:
            with bounded():
                outcome = made.make()
        except Exception:  # noqa: BLE001 - whatever comes through the boundary of a call is a fault
            status, text = "fault", traceback.format_exc()
        except Endless:
            found.calls[f"{kind}: endless"] += 1
            found.note_fault(made.name, traceback.format_exc(), f"{made.name} {str(made.arguments)[:1500]}")
            return  # nobody knows in what state the world is
        else:
            status, text = outcome.status, outcome.text
            if status == "fault":
                text = world.journal.faults()[-1][1]
        seconds = process_time() - started
        found.calls[f"{kind}: {status}"] += 1
        found.tried.add(made.name)
        if status == "ok":
            found.succeeded[made.name] += 1
            inputs.accepted(made.name, made.arguments)
            if inputs.dice.random() < 0.3:
                inputs.learn(text)
        elif status == "fault":
            found.note_fault(made.name, text, f"{made.name} {str(made.arguments)[:1500]}")
        if seconds > _SLOW:
            found.note_slow(seconds, f"{made.name} {str(made.arguments)[:300]}")
        if world.calls.ended and inputs.dice.random() < 0.02:
            return


def _mail(found: Found, inputs: Inputs, many: int, folder: Path) -> None:
    with MailSession(folder) as session:
        for _ in range(many):
            line = session.line(inputs)
            started = process_time()
            outcome = session.send(line)
            seconds = process_time() - started
            found.calls[f"mail: {outcome.status}"] += 1
            if outcome.status == "fault":
                found.note_fault("mail", outcome.text, repr(line)[:1500])
            if seconds > _SLOW:
                found.note_slow(seconds, repr(line)[:300])
        found.misread.update(session.log.misread)


def run(options: argparse.Namespace, tally: Path | None) -> Found:
    """Make parts until there are as many calls as asked for."""
    found = Found.model_validate_json(tally.read_bytes()) if tally and tally.exists() else Found()
    kinds = tuple(kind for kind in _KINDS if kind in options.only.split(","))
    services = tuple(options.services.split(",")) if options.services else None
    inputs = Inputs(f"{options.seed}:{found.parts}")
    signal.signal(signal.SIGPROF, _stop)
    with tempfile.TemporaryDirectory(prefix="mesocosm-fuzz-") as folder:
        build(Path(folder), inputs, games=options.calls > 20_000)
        while found.total < options.calls:
            started = process_time()
            calls = min(CALLS_PER_WORLD, options.calls - found.total)
            part(found, inputs, kinds, calls, Path(folder), services)
            found.seconds += process_time() - started
            if tally:
                draft = tally.with_suffix(".draft")
                draft.write_text(found.model_dump_json(indent=1))
                os.replace(draft, tally)
            if found.parts % 10 == 0:
                print(
                    f"{found.total:,} calls, {len(found.faults)} kinds of faults", file=sys.stderr, flush=True
                )
    return found


def main() -> int:
    """Make the run, and say what was found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=20_000, help="of the whole run, over all its parts")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--only", default=",".join(_KINDS), help="some of tools,rest,mail,code,sql")
    parser.add_argument("--services", default="", help="whose tools and routes are called; default: all")
    parser.add_argument("--tally", type=Path, help="a file that says what was found, to go on from")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    logging.getLogger("mesocosm").propagate = False
    logging.getLogger("asyncio").propagate = False
    found = run(options, options.tally)
    print(found.model_dump_json()) if options.json else _show(found)
    return 1 if found.faults else 0


def _show(found: Found) -> None:
    for name, number in sorted(found.calls.items()):
        print(f"{name:<18}{number:>12,}")
    print(f"{found.total:,} calls in {found.seconds:,.0f} s of a processor")
    print(f"{len(found.succeeded)} of {len(found.tried)} operations were answered with success at least once")
    for name, operations in sorted(_by_service(found).items()):
        never = sorted(operation for operation in operations if not found.succeeded[operation])
        print(f"  {name:<22}{len(operations) - len(never):>5} of {len(operations):>4}", *never, sep="  ")
    for name, number in found.misread.most_common(10):
        print(f"not understood  {number:>8,}  {name}")
    for took, text in found.slow:
        print(f"slow  {took:6.2f} s  {text[:200]}")
    found.show()


def _by_service(found: Found) -> dict[str, list[str]]:
    """The operations that were called, by tools or routes of a service."""
    grouped: dict[str, list[str]] = {}
    for name in found.tried:
        service, _, route = name.partition(" ")
        group = f"{service} (routes)" if route else name.partition(".")[0]
        grouped.setdefault(group, []).append(name)
    return grouped


if __name__ == "__main__":
    sys.exit(main())
