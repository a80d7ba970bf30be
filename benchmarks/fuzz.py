"""Calls that nobody would make, over every tool, every route of the vendors' APIs, and IMAP and SMTP lines.

    python benchmarks/fuzz.py --calls 5000000 --workers 2 --seed 0 [--only tools,rest,mail] [--json]

Every call is made on a filled world and must be answered or refused; what raises anything else is a fault of
ours, reported by its fingerprint with the first call that met it. Worlds are begun anew after some thousand
calls. Reported, too: the slowest calls. Exit code 1
if there was a fault. Tools that run code are left out: each call starts a sandbox (see ``tests/sandbox``).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any
from urllib.parse import quote, urlencode

from fills.texts import Texts
from fuzzing.inputs import Inputs
from fuzzing.lines import MailSession
from pydantic import BaseModel

from mesocosm.doors.gateway import load_api
from mesocosm.doors.rest import Request, Route
from mesocosm.families.faults import Fault, faults_of
from mesocosm.services.service import load_service, service_names
from mesocosm.worlds.copies import copy_world
from mesocosm.worlds.world import Manifest, World

FILLED = ("email", "calendar", "canvas", "woocommerce", "documents", "codehost")
CALLS_PER_WORLD = 5_000
SLOW = 1.0
"""Seconds from which a call is reported."""
_TOKENS = 16_000
_KINDS = ("tools", "rest", "mail")


class Found(BaseModel):
    """What a part of a run found."""

    calls: Counter[str] = Counter()
    """By kind and outcome."""
    faults: list[Fault] = []
    examples: dict[str, str] = {}
    """By fingerprint: the first call that met the fault."""
    slow: list[tuple[float, str]] = []

    def add(self, other: Found) -> None:
        """Take in what another part found."""
        self.calls.update(other.calls)
        known = {fault.fingerprint: fault for fault in self.faults}
        for fault in other.faults:
            if fault.fingerprint in known:
                known[fault.fingerprint].count += fault.count
            else:
                self.faults.append(fault)
        self.examples = other.examples | self.examples
        self.slow = sorted([*self.slow, *other.slow], reverse=True)[:20]


def services() -> list[str]:
    """The services that are called; those that end an episode or run code are not."""
    names = [name for name in service_names() if not load_service(name).runs_code]
    return [name for name in names if not any(t.ends_episode for t in load_service(name).tools.values())]


def build(path: Path) -> None:
    """A world with all services, the large ones of them filled."""

    with World.create(path, Manifest(services=dict.fromkeys(services()))) as world:
        for name in FILLED:
            import_module(f"fills.{name}").fill(world, Texts(), _TOKENS)
        (path / "workspace" / "a.txt").write_text("one\ntwo\n" * 40)
        world.finish_building()
        for tool, arguments in (
            ("create_workbook", {"filepath": "book.xlsx"}),
            ("create_worksheet", {"filepath": "book.xlsx", "sheet_name": "Data"}),
        ):
            world.call("excel", tool, arguments)


def work(seed: str, calls: int, kinds: tuple[str, ...], base: Path) -> Found:
    """A part of a run, on a world of its own."""
    found = Found()
    with tempfile.TemporaryDirectory(prefix="mesocosm-fuzz-") as folder:
        copy_world(base, Path(folder) / "world")
        inputs = Inputs(seed)
        for kind, share in zip(kinds, _shares(calls, kinds), strict=True):
            with World(Path(folder) / "world") as world:
                source = {"tools": _tools, "rest": _rest, "mail": _mail}[kind]
                for number, (name, shown, call) in enumerate(source(world, inputs, folder)):
                    if number == share:
                        break
                    started = perf_counter()
                    outcome = call()
                    seconds = perf_counter() - started
                    found.calls[f"{kind}: {outcome.status}"] += 1
                    if outcome.status == "ok":
                        inputs.learn(outcome.text)
                    if outcome.status == "fault" or seconds > SLOW:
                        _note(found, world, name, shown, outcome.status, seconds)
    return found


def _shares(calls: int, kinds: tuple[str, ...]) -> list[int]:
    weights = {"tools": 6, "rest": 3, "mail": 1}
    whole = sum(weights[kind] for kind in kinds)
    return [calls * weights[kind] // whole for kind in kinds]


def _note(found: Found, world: World, name: str, shown: Any, status: str, seconds: float) -> None:
    text = f"{name} {str(shown)[:1500]}"
    if seconds > SLOW:
        found.slow = sorted([*found.slow, (round(seconds, 2), text[:300])], reverse=True)[:20]
    if status == "fault":
        _, error = world.journal.faults()[-1]
        one = Found(faults=faults_of([(name, error)]))
        one.examples = {one.faults[0].fingerprint: text}
        found.add(one)


Source = Iterator[tuple[str, Any, Any]]


def _tools(world: World, inputs: Inputs, _: str) -> Source:
    tools = [(s.name, tool) for s in world.services.values() for tool in s.tools.values()]
    # Small services would hardly be met among so many tools.
    by_service = {name: [tool for other, tool in tools if other == name] for name, _ in tools}
    while True:
        evenly = inputs.dice.random() < 0.4
        service = inputs.dice.choice(list(by_service)) if evenly else inputs.dice.choice(tools)[0]
        tool = inputs.dice.choice(by_service[service])
        arguments = inputs.arguments(tool.signature.schema)
        yield (
            f"{service}.{tool.name}",
            arguments,
            lambda s=service, t=tool.name, a=arguments: world.call(s, t, a),
        )


def _rest(world: World, inputs: Inputs, _: str) -> Source:
    routes = [(name, route) for name in services() if (api := load_api(name)) for route in api.routes]
    while True:
        service, route = inputs.dice.choice(routes)
        request = _request(route, inputs)
        api = load_api(service)
        assert api
        matched = api.match(route.method, request.path)
        if matched is None:
            continue
        name, arguments = matched.operation.name, request.arguments()
        yield (
            f"{service} {name}",
            arguments,
            lambda s=service, n=name, a=arguments: world.request(s, n, a),
        )


def _request(route: Route, inputs: Inputs) -> Request:
    """A request that the route may have to answer."""
    properties = route.signature.schema["properties"]
    path = route.template
    for placeholder in _placeholders(path):
        name, _, kind = placeholder.partition(":")
        value = str(abs(inputs.number(name))) if kind == "int" else inputs.text(name)[:300]
        path = path.replace(
            "{" + placeholder + "}", quote(value.encode("utf-8", "replace"), safe="") or "x", 1
        )
    given = {n: inputs.value(n, s) for n, s in properties.items() if inputs.dice.random() < 0.4}
    headers: dict[str, str] = {}
    query, body = "", b""
    if route.method in ("GET", "DELETE") or inputs.dice.random() < 0.2:
        pairs = [(name, _flat(value)) for name, value in given.items()]
        query = urlencode(pairs, errors="replace")
    elif inputs.dice.random() < 0.7:
        headers["content-type"] = "application/json"
        body = _written(given, inputs)
    else:
        headers["content-type"] = inputs.dice.choice(
            ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain", ""]
        )
        body = urlencode([(name, _flat(value)) for name, value in given.items()], errors="replace").encode()
    return Request(route.method, path, query, headers, body, "http://127.0.0.1/e/x/service")


def _written(given: Any, inputs: Inputs) -> bytes:
    if inputs.dice.random() < 0.03:
        given = inputs.value("", {})
    try:
        return json.dumps(given).encode()
    except (RecursionError, ValueError):
        return b"[" * 5_000


def _flat(value: Any) -> str:
    try:
        return value if isinstance(value, str) else json.dumps(value)
    except (RecursionError, ValueError):
        return "["


def _placeholders(template: str) -> list[str]:
    return [part.partition("}")[0] for part in template.split("{")[1:]]


def _mail(world: World, inputs: Inputs, folder: str) -> Source:
    world.close()  # the server of the mail ports has it to itself
    with MailSession(Path(folder)) as session:
        while True:
            line = session.line(inputs)
            yield ("mail", line, lambda line=line: session.send(line))


def main() -> int:
    """Make the run, and say what was found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", default="0")
    parser.add_argument("--only", default=",".join(_KINDS), help="some of tools,rest,mail")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    kinds = tuple(kind for kind in _KINDS if kind in options.only.split(","))
    started, found = perf_counter(), Found()
    with tempfile.TemporaryDirectory(prefix="mesocosm-fuzz-") as folder:
        base = Path(folder) / "base"
        build(base)
        parts = max(1, -(-options.calls // CALLS_PER_WORLD))
        sizes = [min(CALLS_PER_WORLD, options.calls - n * CALLS_PER_WORLD) for n in range(parts)]
        with ProcessPoolExecutor(options.workers, mp_context=get_context("spawn")) as pool:
            jobs = [
                pool.submit(work, f"{options.seed}:{n}", size, kinds, base) for n, size in enumerate(sizes)
            ]
            for done in as_completed(jobs):
                found.add(done.result())
                if sys.stderr.isatty() or sum(found.calls.values()) % 100_000 < CALLS_PER_WORLD:
                    print(f"{sum(found.calls.values()):,} calls, {len(found.faults)} faults", file=sys.stderr)
    seconds = perf_counter() - started
    if options.json:
        print(found.model_dump_json())
    else:
        _show(found, seconds)
    return 1 if found.faults else 0


def _show(found: Found, seconds: float) -> None:
    for name, number in sorted(found.calls.items()):
        print(f"{name:<18}{number:>12,}")
    print(f"{sum(found.calls.values()):,} calls in {seconds:,.0f} s")
    for took, text in found.slow:
        print(f"slow  {took:6.2f} s  {text[:200]}")
    for fault in found.faults:
        print(f"\nFAULT {fault.fingerprint}  {fault.exception} in {fault.place}, {fault.count:,} times")
        print(f"  {found.examples.get(fault.fingerprint, '')[:1200]}")
        print("  " + "\n  ".join(fault.traceback.strip().splitlines()[-8:]))
    print(f"\n{len(found.faults)} kinds of faults")


if __name__ == "__main__":
    sys.exit(main())
