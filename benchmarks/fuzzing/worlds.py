"""The worlds that a fuzz run makes its calls on."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

from fills.texts import Call, Texts

from fuzzing.inputs import Inputs
from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance
from mesocosm.services.content import service_names
from mesocosm.services.service import load_service
from mesocosm.services.world import World
from mesocosm.worlds.manifest import Manifest

FILLED = (
    "email",
    "calendar",
    "canvas",
    "woocommerce",
    "documents",
    "codehost",
    "google_cloud",
    "google_sheet",
    "snowflake",
)
GAMES = ("puzzle", "puzzle_history", "listworld", "treeworld", "gridworld", "longproc_steps")
"""Families whose services do nothing in a world that their generator has not filled."""
OFFICE = "office"
_TOKENS = 16_000


def services() -> list[str]:
    """The services of the office: all that need no game."""
    ours = [name for name in service_names() if not load_service(name).runs_code]
    lasting = [name for name in ours if not any(t.ends_episode for t in load_service(name).tools.values())]
    return [*lasting, "claim_done", "submit_answer"]


def code_services() -> list[str]:
    """The services that run code of agents."""
    return [name for name in service_names() if load_service(name).runs_code]


def build(folder: Path, inputs: Inputs, *, games: bool) -> None:
    """The office, with all services, the large ones of them filled; and the games.

    ``inputs`` is told the calls that are known to be answered.
    """
    offered = dict.fromkeys([*services(), *code_services()])
    known: list[tuple[str, Call]] = []
    texts = Texts()
    with World.create(folder / OFFICE, Manifest(services=offered)) as world:
        for name in FILLED:
            texts.rewind()
            known += [(name, call) for call in import_module(f"fills.{name}").fill(world, texts, _TOKENS)]
        (folder / OFFICE / "workspace" / "a.txt").write_text("one\ntwo\n" * 40)
        world.finish_building()
        for tool, arguments in (
            ("create_workbook", {"filepath": "book.xlsx"}),
            ("create_worksheet", {"filepath": "book.xlsx", "sheet_name": "Data"}),
        ):
            world.call("excel", tool, arguments)
    with World(folder / OFFICE) as world:
        for service, (tool, arguments) in known:
            outcome = world.call(service, tool, arguments)
            if outcome.status == "ok":
                inputs.of(service)
                inputs.learn(outcome.text)
                inputs.accepted(f"{service}.{tool}", arguments)
    for name in FILLED:
        # What answers in prose do not tell under the names that requests have for it.
        if told := getattr(import_module(f"fills.{name}"), "TOLD", None):
            inputs.of(name)
            inputs.learn(json.dumps(told))
    with World(folder / OFFICE) as world:
        for name in FILLED:
            if asking := getattr(import_module(f"fills.{name}"), "requests", None):
                for route, given in asking(world):
                    inputs.of(name)
                    inputs.accepted(f"{name} {route}", given)
    (folder / OFFICE / "journal.db").unlink()
    for name in GAMES if games else ():
        build_instance(load_family(name), 0, folder / f"{name}-instance")
        (folder / f"{name}-instance" / "world").rename(folder / name)
