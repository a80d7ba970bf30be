"""Processes that are forked from another program than theirs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mesocosm.worlds.processes import HelperProcesses

TAKEN_OVER = """
import sys
from mesocosm.worlds.process_worker import fork_on_request
def lie(line):
    line.recv(1)
    line.sendall(bytes.fromhex(sys.argv[1]))
    while line.recv(1 << 20):
        pass
fork_on_request(lambda _: lie)
"""
"""A process in which somebody else's code runs: it says what the argument does, whatever it is asked."""


@contextmanager
def forked_from(processes: HelperProcesses, *program: str) -> Iterator[None]:
    """While all of them are forked from a program, given with its arguments."""
    nursery = processes.nursery
    before = nursery.program
    processes.close()
    nursery.program = program
    try:
        yield
    finally:
        processes.close()
        nursery.program = before
