"""The system calls that sandboxed code may not make, as a program for the kernel's filter.

It is written here instruction by instruction, because no library need then be installed, and calls that are
younger than the libraries can be named: libseccomp 2.5 knows neither ``statmount`` nor ``listmount``.
"""

# A user namespace gives code capabilities inside it, so dangerous system calls are refused (decision 020).

from __future__ import annotations

import errno
import os
import struct
from collections.abc import Iterable
from functools import cache

# Names with their numbers on x86_64 and on arm64, from Linux' own tables (syscall_64.tbl and
# asm-generic/unistd.h); "-" where a processor has no such call.
_RESHAPING = """
    mount 165 40; umount2 166 39; pivot_root 155 41; chroot 161 51; unshare 272 97; setns 308 268;
    open_tree 428 428; open_tree_attr 467 467; move_mount 429 429; fsopen 430 430; fsconfig 431 431;
    fsmount 432 432; fspick 433 433; mount_setattr 442 442; statmount 457 457; listmount 458 458
"""
"""Namespaces, mounts and other ways to reshape, or to be told, what the process can see."""
_PRYING = """
    ptrace 101 117; process_vm_readv 310 270; process_vm_writev 311 271; process_madvise 440 440;
    kcmp 312 272; pidfd_getfd 438 438
"""
_FULL_OF_HOLES = """
    bpf 321 280; perf_event_open 298 241; userfaultfd 323 282; io_uring_setup 425 425;
    io_uring_enter 426 426; io_uring_register 427 427; keyctl 250 219; add_key 248 217; request_key 249 218
"""
"""Interfaces of the kernel with a long record."""
_UNCOUNTED = """
    memfd_create 319 279; memfd_secret 447 447; shmget 29 194; shmat 30 196; shmctl 31 195; mq_open 240 180;
    msgget 68 186; semget 64 190; inotify_init 253 -; inotify_init1 294 26
"""
"""Memory that no limit counts."""
_LINKING = """
    link 86 -; linkat 265 37; name_to_handle_at 303 264; open_by_handle_at 304 265; mknod 133 -;
    mknodat 259 33
"""
_ADMINISTERING = """
    kexec_load 246 104; kexec_file_load 320 294; init_module 175 105; finit_module 313 273;
    delete_module 176 106; create_module 174 -; reboot 169 142; swapon 167 224; swapoff 168 225; acct 163 89;
    quotactl 179 60; quotactl_fd 443 443; syslog 103 116; vhangup 153 58; iopl 172 -; ioperm 173 -;
    modify_ldt 154 -; personality 135 92; settimeofday 164 170; clock_settime 227 112; clock_adjtime 305 266;
    adjtimex 159 171; sethostname 170 161; setdomainname 171 162; fanotify_init 300 262;
    lookup_dcookie 212 18; nfsservctl 180 42; move_pages 279 239; migrate_pages 256 238; mbind 237 235;
    set_mempolicy 238 237; set_mempolicy_home_node 450 450
"""
_ATTRIBUTES = """
    setxattr 188 5; lsetxattr 189 6; fsetxattr 190 7; setxattrat 463 463; fallocate 285 47
"""
"""In ``/tmp`` attributes of files are memory, too, and room can be had beyond the end of a file, of which the
limit on its size knows nothing. Programs do without either when told that there is no such thing."""
# Its flags lie in memory, where no filter can look; the C library falls back to clone.
_NEW_CLONE = "clone3 435 435"
# Pairs of connected sockets can be had. What one may send itself over a network of its own, and what waits in
# queues of connections that nobody accepts, would be memory that no limit counts.
_SOCKET = "socket 41 198"

NEWEST = 469
"""The last call that was looked at when this was written; those that a later kernel adds do not exist."""
_CLONE, _PRCTL, _SETSOCKOPT = "clone 56 220", "prctl 157 167", "setsockopt 54 208"
_NAMESPACES = 0x7E020080
"""The flags with which ``clone`` makes namespaces."""
_SET_DUMPABLE = 4
"""The option of ``prctl`` after which the supervisor could no longer see what a process has open."""
_BUFFER_SIZES = (7, 8, 32, 33)
"""The options of sockets that let more wait in them than usual."""

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_COLUMNS = {"x86_64": 1, "aarch64": 2}
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
"""Where in ``struct seccomp_data`` they lie."""
_LOAD, _IF_EQUAL, _IF_GREATER, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x25, 0x45, 0x06
_ALLOW, _ERROR, _KILL = 0x7FFF0000, 0x00050000, 0x80000000


@cache
def program(machine: str | None = None) -> bytes | None:
    """The filter for a processor, by default this machine's; ``None`` where its calls are not known."""
    name = machine or os.uname().machine
    if name not in _ARCHITECTURES:
        return None
    code = [
        _instruction(_LOAD, _ARCHITECTURE),
        _instruction(_IF_EQUAL, _ARCHITECTURES[name], 1, 0),
        _instruction(_RETURN, _KILL),  # calls of another processor, by other numbers
        _instruction(_LOAD, _NUMBER),
        # Above are also those of x86_64 that take pointers of 32 bits.
        _instruction(_IF_GREATER, NEWEST, 0, 1),
        _refuse(errno.ENOSYS),
    ]
    refused = (_RESHAPING, _PRYING, _FULL_OF_HOLES, _UNCOUNTED, _LINKING, _ADMINISTERING)
    for table, error in (
        *((table, errno.EPERM) for table in refused),
        (_ATTRIBUTES, errno.EOPNOTSUPP),
        (_NEW_CLONE, errno.ENOSYS),
        (_SOCKET, errno.EAFNOSUPPORT),
    ):
        for number in numbers(table, name):
            code += [_instruction(_IF_EQUAL, number, 0, 1), _refuse(error)]
    for call, argument, test, values in (
        (_CLONE, 0, _IF_ANY_BIT, (_NAMESPACES,)),
        (_PRCTL, 0, _IF_EQUAL, (_SET_DUMPABLE,)),
        (_SETSOCKOPT, 2, _IF_EQUAL, _BUFFER_SIZES),
    ):
        code += _refuse_argument(numbers(call, name)[0], argument, test, values)
    return b"".join([*code, _instruction(_RETURN, _ALLOW)])


def numbers(table: str, machine: str) -> list[int]:
    """The numbers in a table of what is called how on which processor."""
    columns = [row.split()[_COLUMNS[machine]] for row in table.split(";")]
    return [int(number) for number in columns if number != "-"]


def _refuse_argument(number: int, argument: int, test: int, values: Iterable[int]) -> list[bytes]:
    """Refuse a system call by an argument (32 bits): equal to a value, or with certain bits."""
    body = [_instruction(_LOAD, _ARGUMENTS + 8 * argument)]
    for value in values:
        body += [_instruction(test, value, 0, 1), _refuse(errno.EPERM)]
    body.append(_instruction(_RETURN, _ALLOW))
    return [_instruction(_IF_EQUAL, number, 0, len(body)), *body]


def _refuse(error: int) -> bytes:
    return _instruction(_RETURN, _ERROR | error)


def _instruction(code: int, value: int, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("=HBBI", code, then, otherwise, value)
