"""Processes that are forked from one that has loaded everything."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest
from patience import PATIENCE

from mesocosm.worlds.nursery import ForkedProcess, Nursery

ECHO = """
from mesocosm.worlds.process_worker import fork_on_request
def prepared(order):
    def echo(line):
        while question := line.recv(100):
            line.sendall(order + question)
    return echo
fork_on_request(prepared)
"""


@pytest.fixture
def nursery() -> Iterator[Nursery]:
    made = Nursery([ECHO], {})
    yield made
    made.close()


def answered(process: ForkedProcess) -> bytes:
    process.line.settimeout(PATIENCE)
    process.line.sendall(b"?")
    return process.line.recv(100)


def is_gone(process: int) -> bool:
    deadline = time.monotonic() + PATIENCE
    while os.path.exists(f"/proc/{process}"):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def children(nursery: Nursery) -> list[int]:
    assert nursery.process
    process = nursery.process.pid
    with open(f"/proc/{process}/task/{process}/children") as file:
        return [*map(int, file.read().split())]


def test_each_process_is_one_of_its_order(nursery: Nursery) -> None:
    made = {order: [ForkedProcess(nursery, order) for _ in range(3)] for order in (b"a", b"b", b"c")}
    assert {order: [*map(answered, some)] for order, some in made.items()} == {
        order: [order + b"?"] * 3 for order in made
    }
    assert len({one.id for some in made.values() for one in some}) == 9


def test_processes_are_begun_before_they_are_asked_for(nursery: Nursery) -> None:
    first = ForkedProcess(nursery, b"a")
    assert answered(first) == b"a?"
    deadline = time.monotonic() + PATIENCE
    while not (ahead := {*children(nursery)} - {first.id}):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert ForkedProcess(nursery, b"a").id in ahead


def test_what_is_ended_is_buried_at_the_next_fork_and_all_end_with_the_nursery(nursery: Nursery) -> None:
    first, second = (ForkedProcess(nursery, b"a") for _ in range(2))
    first.end()
    third = ForkedProcess(nursery, b"a")
    assert answered(third) == b"a?"
    deadline = time.monotonic() + PATIENCE
    while os.path.exists(f"/proc/{first.id}"):  # the kernel ends it when it comes to it
        assert time.monotonic() < deadline
        nursery.fork(b"a")[1].close()
    begun = children(nursery)
    assert {second.id, third.id} <= {*begun}
    nursery.close()
    assert all(map(is_gone, begun))


def test_another_nursery_is_begun_where_one_has_ended(nursery: Nursery) -> None:
    assert answered(ForkedProcess(nursery, b"a")) == b"a?"
    assert nursery.process
    nursery.process.kill()
    nursery.process.wait()
    assert answered(ForkedProcess(nursery, b"a")) == b"a?"
