"""Walls around a process that reads what agents made: from here on it has memory, the clock and the lines
that it holds, and nothing else. It opens no file, reaches no network, starts no process and signals nobody.

It is the kernel's filter of system calls, on Linux; elsewhere there is none.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from functools import cache

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
"""Where in ``struct seccomp_data`` they lie."""
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
