"""A process that computes statements, taken over by one of them."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from worlds import build_world

from mesocosm.servers.snowflake.store import SnowflakeStore
from mesocosm.services.queries import engine, select_queries
from mesocosm.services.queries.engine import Engine
from mesocosm.services.world import World
from mesocosm.worlds.plain_values import pack

BEGIN = "from mesocosm.services.queries import computer\n"
ANSWERING = """
import re, struct
def taken_over(line, memory):
    request, _ = computer.receive(line, 2**30)
    for size, data in ANSWERS[int(re.search(r"90(\\d\\d)", request["sql"])[1])]:
        line.sendall(struct.pack("!Q", size) + data)
    line.recv(1)
computer._compute = taken_over
"""
TURNING = """
answered = computer.Computer._answer
asked = []
def turning(self, request, tables):
    asked.append(request)
    return answered(self, request, tables) if len(asked) < 2 else ("end", "odd")
computer.Computer._answer = turning
"""
FIELDS = pack(["fields", [["N", "INTEGER"]]])
END = pack(["end", False, {}])


class _Make:
    """Code that a pickle runs when it is read."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (self.path,)


ANSWERS: dict[str, Callable[[str], list[bytes]]] = {
    "a pickle that runs code": lambda mark: [pickle.dumps(_Make(mark))],
    "no answer": lambda _: [b""],
    "an unknown one": lambda _: [pack(["done"])],
    "rows of nothing": lambda _: [pack(["rows", [[1]]]), END],
    "rows with more values than fields": lambda _: [FIELDS, pack(["rows", [[1, 2]]]), END],
    "a row that is a text": lambda _: [FIELDS, pack(["rows", ["1"]]), END],
    "an end of another kind": lambda _: [FIELDS, pack(["end", False, {"s": "1"}])],
    "fields that are none": lambda _: [pack(["fields", [["N"]]]), END],
    "lists of four thousand million items": lambda _: [b"\xdd\xff\xff\xff\xff" * 400],
    "four thousand lists in each other": lambda _: [b"\x91" * 4000 + b"\xc0"],
    "a schema that is none": lambda _: [pack(["schema", b"x"])],
    "an unknown exception": lambda _: [pack(["SystemExit", "x"])],
}


def fill(world: World) -> None:
    world.store(SnowflakeStore).add_table("DB.PUBLIC.T", {"ID": "INT"}, [(1,), (2,)])
    world.store(SnowflakeStore).sessions.use("DB", "PUBLIC")


@pytest.fixture
def begun_with(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Makes an engine whose processes are begun with some code."""
    made: list[Engine] = []

    def begin(code: str) -> None:
        monkeypatch.setattr(engine, "_NURSERY", f"{BEGIN}{code}\ncomputer.main()")
        made.append(Engine())
        monkeypatch.setattr(select_queries, "engine", lambda: made[-1])

    yield begin
    for one in made:
        one.close()


def count(world: World, number: int = 0) -> Any:
    query = f"select count(*) n from t where id < {9000 + number}"
    return world.call("snowflake", "read_query", {"query": query})


def test_what_it_says_spoils_its_call_and_nothing_else(
    tmp_path: Path, begun_with: Callable[[str], None]
) -> None:
    mark = tmp_path / "mark"
    with build_world(tmp_path / "world", ["snowflake"], fill) as world:
        answers = [[(len(one), one) for one in answer(str(mark))] for answer in ANSWERS.values()]
        answers.append([(2**50, b"")])
        begun_with(f"ANSWERS = {answers!r}{ANSWERING}")
        for number in range(len(answers)):
            assert count(world, number).status == "fault", [*ANSWERS, "more bytes than there is room for"][
                number
            ]
            assert len(world.journal.faults()) == number + 1
        assert not mark.exists()
        begun_with("")
        assert '"N": 2' in count(world).text


def test_who_asks_after_it_is_answered_by_another(tmp_path: Path, begun_with: Callable[[str], None]) -> None:
    begun_with(TURNING)
    with build_world(tmp_path / "a", ["snowflake"], fill) as first:
        assert '"N": 2' in count(first).text
        with build_world(tmp_path / "b", ["snowflake"], fill) as second:
            assert '"N": 2' in count(second).text
