"""The filter of system calls: its answers to calls on either processor, and that the kernel obeys it."""

from __future__ import annotations

import errno
import json
import os
import struct
from collections.abc import Callable

import pytest
from confinement import needs_sandbox
from hypothesis import given
from hypothesis import strategies as some

from mesocosm.sandbox import seccomp
from mesocosm.services.world import World

MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOWED, KILLED = 0x7FFF0000, 0x80000000
TABLES = (
    seccomp._RESHAPING, seccomp._PRYING, seccomp._FULL_OF_HOLES, seccomp._UNCOUNTED, seccomp._LINKING,
    seccomp._ADMINISTERING, seccomp._ATTRIBUTES, seccomp._NEW_CLONE, seccomp._SOCKET,
)  # fmt: skip
ORDINARY = {
    "x86_64": {"read": 0, "write": 1, "mmap": 9, "execve": 59, "futex": 202, "openat": 257, "socketpair": 53},
    "aarch64": {"read": 63, "write": 64, "mmap": 222, "execve": 221, "futex": 98, "openat": 56},
}


def decided(program: bytes, machine: int, number: int, *arguments: int) -> int:
    """What the kernel's interpreter would return: the few instructions of it that are used."""
    data = struct.pack("=IIQ6Q", number, machine, 0, *(*arguments, *[0] * 6)[:6])
    code = [struct.unpack_from("=HBBI", program, at) for at in range(0, len(program), 8)]
    at, held = 0, 0
    while True:
        operation, then, otherwise, value = code[at]
        at += 1
        match operation:
            case 0x20:
                held = struct.unpack_from("=I", data, value)[0]
            case 0x06:
                return int(value)
            case 0x15:
                at += then if held == value else otherwise
            case 0x25:
                at += then if held > value else otherwise
            case 0x45:
                at += then if held & value else otherwise
            case other:
                raise AssertionError(f"instruction {other:#x}")


def refused(error: int) -> int:
    return 0x00050000 | error


@pytest.fixture(params=sorted(MACHINES))
def machine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def program(machine: str) -> bytes:
    found = seccomp.program(machine)
    assert found
    return found


def test_every_call_of_the_tables_is_refused(machine: str) -> None:
    numbers = [number for table in TABLES for number in seccomp.numbers(table, machine)]
    assert len(set(numbers)) == len(numbers) > 75
    for number in numbers:
        assert decided(program(machine), MACHINES[machine], number) & 0xFFFF0000 == 0x00050000


def test_ordinary_calls_are_allowed(machine: str) -> None:
    for number in ORDINARY[machine].values():
        assert decided(program(machine), MACHINES[machine], number) == ALLOWED


def test_threads_may_be_made_and_namespaces_not(machine: str) -> None:
    [clone], [prctl], [option] = (
        seccomp.numbers(table, machine) for table in (seccomp._CLONE, seccomp._PRCTL, seccomp._SETSOCKOPT)
    )
    is_ = MACHINES[machine]
    assert decided(program(machine), is_, clone, 0x3D0F00) == ALLOWED
    for bit in (7, 17, 25, 26, 27, 28, 29, 30):
        assert decided(program(machine), is_, clone, 0x11 | 1 << bit) == refused(errno.EPERM)
    assert decided(program(machine), is_, prctl, 4) == refused(errno.EPERM)
    assert decided(program(machine), is_, prctl, 15) == ALLOWED
    # The kernel reads 32 bits of it; so must the filter.
    assert decided(program(machine), is_, prctl, 4 | 1 << 40) == refused(errno.EPERM)
    assert decided(program(machine), is_, option, 3, 1, 7) == refused(errno.EPERM)
    assert decided(program(machine), is_, option, 3, 1, 20) == ALLOWED


@given(some.integers(0, 2**32 - 1), some.lists(some.integers(0, 2**64 - 1), max_size=6))
def test_whatever_is_called_there_is_an_answer_and_nothing_unknown_is_allowed(
    number: int, arguments: list[int]
) -> None:
    for name, is_ in MACHINES.items():
        answer = decided(program(name), is_, number, *arguments)
        if number > seccomp.NEWEST:
            assert answer == refused(errno.ENOSYS)
        for other in {0x40000003, *MACHINES.values()} - {is_}:
            assert decided(program(name), other, number, *arguments) == KILLED


def test_there_is_none_for_a_processor_whose_calls_are_not_known() -> None:
    assert seccomp.program("riscv64") is None


@needs_sandbox
@pytest.mark.skipif(os.uname().machine not in MACHINES, reason="no filter for this processor")
def test_the_kernel_obeys_it(make_world: Callable[..., World], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MESOCOSM_SANDBOX", "bubblewrap")
    world = make_world(None, "python_execute")
    here = os.uname().machine
    numbers = {number for table in TABLES for number in seccomp.numbers(table, here)} | {470, 1000, 1 << 30}
    answers = [errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EAFNOSUPPORT]
    code = f"""
import ctypes, json
libc = ctypes.CDLL(None, use_errno=True)
print(json.dumps([n for n in {sorted(numbers)} if libc.syscall(n, -1, 0, 0, 0, 0, 0) != -1
                  or ctypes.get_errno() not in {answers}]))
"""
    text = world.call("python_execute", "python_execute", {"code": code}).text
    assert json.loads(text.split("\n")[1]) == [], text
