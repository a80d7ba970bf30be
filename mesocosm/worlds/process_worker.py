"""The other side of ``processes`` and ``nursery``: forks of a process that has loaded everything, each of
which is asked one thing after the other over its line.

A fork may reach nothing but its line (``close_in``), so all that it may need is loaded before.
"""

from __future__ import annotations

import ctypes
import errno
import gc
import importlib
import os
import pkgutil
import resource
import signal
import socket
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from enum import IntEnum
from functools import cache


class Kind(IntEnum):
    """Reply about a file that the process may hold already."""

    MISSING = 0
    """It is not here; all of it has to be sent."""
    KEPT = 1
    """It is held for the next time."""
    REFUSED = 2
    """It is not held."""


SIZE = struct.Struct("!Q")
FORK, END = b"f", b"e"
"""First bytes of messages to the forking process: an order, with the line of the new process as a
descriptor; and the id of a process that has ended, and may be reused."""
_LONGEST = 1000
"""Bytes of such a message."""


def bound_memory(size: int) -> None:
    """Limit this process's address space, where the system allows it."""
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (size, size))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def serve(line: socket.socket, answer: Callable[[bytes], tuple[Kind, bytes]]) -> None:
    """Answer requests until the line ends."""
    with line.makefile("rwb") as stream:
        while len(head := stream.read(SIZE.size)) == SIZE.size:
            kind, data = answer(stream.read(*SIZE.unpack(head)))
            stream.write(SIZE.pack(len(data)) + bytes([kind]))
            stream.write(data)
            stream.flush()


def load_all(name: str) -> None:
    """Load a package and all that lies in it, as far as this system has what it needs."""
    package = importlib.import_module(name)
    for module in pkgutil.iter_modules(package.__path__, f"{name}."):
        with suppress(ImportError, RuntimeError):
            if module.ispkg:
                load_all(module.name)
            else:
                importlib.import_module(module.name)


def fork_on_request(
    prepared: Callable[[bytes], Callable[[socket.socket], None]], *, walled: bool = True
) -> None:
    """Fork processes until the line ends whose descriptor is the last argument of the program.

    ``prepared``: called with each order before the fork; what it returns is done in the new process.
    ``walled``: whether that can reach nothing but its line.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    load_all("encodings")  # which are loaded by name, when a text in one is met
    with socket.socket(fileno=int(sys.argv[-1])) as line:
        _Forks(line, prepared, walled).serve()


class _Forks:
    def __init__(
        self, line: socket.socket, prepared: Callable[[bytes], Callable[[socket.socket], None]], walled: bool
    ) -> None:
        self._line, self._prepared, self._walled = line, prepared, walled
        self._alive: set[int] = set()
        self._ended: set[int] = set()
        """Those that nobody knows any more."""

    def serve(self) -> None:
        """Fork on request, until the line closes; then end all that is alive."""
        try:
            with suppress(BrokenPipeError, ConnectionResetError):  # who ordered is gone
                while True:
                    message, descriptors, _, _ = socket.recv_fds(self._line, _LONGEST, 1)
                    if not message:
                        break
                    if message[:1] == FORK:
                        process = self._forked(descriptors[0], message[1:])
                        self._line.sendall(struct.pack("!q", process))
                    else:
                        self._ended.add(*struct.unpack("!q", message[1:]))
                    self._bury()
        finally:
            for process in self._alive:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)

    def _forked(self, descriptor: int, order: bytes) -> int:
        work = self._prepared(order)
        gc.freeze()  # so that what is loaded stays shared
        process = os.fork()
        if not process:
            self._line.close()
            try:
                with suppress(BrokenPipeError, ConnectionResetError, MemoryError):  # who asked is gone
                    own = socket.socket(fileno=descriptor)
                    if self._walled:
                        close_in()
                    work(own)
            finally:
                os._exit(0)
        os.close(descriptor)
        self._alive.add(process)
        return process

    def _bury(self) -> None:
        """Reap a process only when told: until then its id may be used to kill it."""
        for process in [one for one in self._ended if os.waitpid(one, os.WNOHANG)[0]]:
            self._ended.remove(process)
            self._alive.remove(process)


# -- walls: a process has memory, the clock and the lines that it holds, and nothing else -------------------
#
# It opens no file, reaches no network, starts no process and signals nobody. That is done by the kernel's
# filter of system calls, on Linux; elsewhere there is none.

# Names with their numbers on x86_64 and on arm64; "-" where a processor has no such call.
_ALLOWED = """
    read 0 63; write 1 64; readv 19 65; writev 20 66; recvfrom 45 207; sendto 44 206; recvmsg 47 212;
    sendmsg 46 211; close 3 57; fstat 5 80; lseek 8 62; poll 7 -; ppoll 271 73; select 23 -; pselect6 270 72;
    mmap 9 222; munmap 11 215; mremap 25 216; mprotect 10 226; madvise 28 233; brk 12 214; membarrier 324 283;
    futex 202 98; set_robust_list 273 99; rseq 334 293; sched_yield 24 124; sched_getaffinity 204 123;
    rt_sigaction 13 134; rt_sigprocmask 14 135; rt_sigreturn 15 139; sigaltstack 131 132;
    restart_syscall 219 128; clock_gettime 228 113; clock_getres 229 114; gettimeofday 96 169; time 201 -;
    nanosleep 35 101; clock_nanosleep 230 115; setitimer 38 103; getitimer 36 102; getrusage 98 165;
    sysinfo 99 179; uname 63 160; getpid 39 172; gettid 186 178; getrandom 318 278; exit 60 93;
    exit_group 231 94
"""
# By an argument: threads (with the flags of glibc and of musl) and no processes, limits of itself alone, and
# what is open by its descriptor. What a descriptor can be told beyond that includes whom to signal.
_ALLOWED_BY_ARGUMENT = (
    ("clone 56 220", 0, (0x3D0F00, 0x7D0F00)),
    ("prlimit64 302 261", 0, (0,)),
    ("newfstatat 262 79", 3, (0x1000,)),
    ("fcntl 72 25", 1, (1, 2, 3, 4)),
    ("ioctl 16 29", 1, (0x5421,)),
)
_ARCHITECTURES = {"x86_64": (0xC000003E, 1), "aarch64": (0xC00000B7, 2)}
"""Their names for the filter, and their columns above."""
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
"""Their places in ``struct seccomp_data``."""
_LOAD, _IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _ERROR, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_REFUSE = _ERROR | errno.EPERM
_NEW_CLONE = 435
"""Its flags lie in memory, where no filter can look; the C library falls back to clone."""
_SET_SECCOMP, _FILTER, _NO_NEW_PRIVILEGES = 22, 2, 38


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def close_in() -> bool:
    """Put the walls up around this process, for good; false where the system has none."""
    program = _program()
    if program is None:
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    given = ctypes.byref(_Program(len(program) // 8, program))
    none = ctypes.c_ulong(0)
    return bool(
        libc.prctl(_NO_NEW_PRIVILEGES, ctypes.c_ulong(1), none, none, none) == 0
        and libc.prctl(_SET_SECCOMP, ctypes.c_ulong(_FILTER), given, none, none) == 0
    )


@cache
def _program() -> bytes | None:
    system = os.uname()
    if system.sysname != "Linux" or system.machine not in _ARCHITECTURES:
        return None
    architecture, column = _ARCHITECTURES[system.machine]
    code = [
        _instruction(_LOAD, _ARCHITECTURE),
        _instruction(_IF_EQUAL, architecture, 1, 0),
        _instruction(_RETURN, _KILL),
        _instruction(_LOAD, _NUMBER),
    ]
    code += [_instruction(_IF_EQUAL, _NEW_CLONE, 0, 1), _instruction(_RETURN, _ERROR | errno.ENOSYS)]
    for row in _ALLOWED.split(";"):
        number = row.split()[column]
        if number != "-":
            code += [_instruction(_IF_EQUAL, int(number), 0, 1), _instruction(_RETURN, _ALLOW)]
    for row, argument, values in _ALLOWED_BY_ARGUMENT:
        body = [_instruction(_LOAD, _ARGUMENTS + 8 * argument)]
        for value in values:
            body += [_instruction(_IF_EQUAL, value, 0, 1), _instruction(_RETURN, _ALLOW)]
        body.append(_instruction(_RETURN, _REFUSE))
        code += [_instruction(_IF_EQUAL, int(row.split()[column]), 0, len(body)), *body]
    return b"".join([*code, _instruction(_RETURN, _REFUSE)])


def _instruction(code: int, value: int, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("=HBBI", code, then, otherwise, value)
