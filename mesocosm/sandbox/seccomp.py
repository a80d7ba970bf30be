"""The system calls that sandboxed code may not make, as a filter program built by libseccomp."""

from __future__ import annotations

import ctypes
import errno
import os
from functools import cache

# Namespaces, mounts and other ways to reshape what the process can see; kernel interfaces with a long record
# of holes; memory that no limit counts; the machine's clock and modules.
_DENIED = """
    mount umount2 pivot_root chroot unshare setns open_tree open_tree_attr move_mount fsopen fsconfig fsmount
    fspick mount_setattr statmount listmount
    ptrace process_vm_readv process_vm_writev process_madvise kcmp pidfd_getfd
    bpf perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register
    keyctl add_key request_key
    memfd_create memfd_secret shmget shmat shmctl mq_open msgget semget
    link linkat name_to_handle_at open_by_handle_at mknod mknodat
    kexec_load kexec_file_load init_module finit_module delete_module create_module
    reboot swapon swapoff acct quotactl quotactl_fd syslog vhangup iopl ioperm modify_ldt personality
    settimeofday clock_settime clock_adjtime adjtimex sethostname setdomainname
    fanotify_init lookup_dcookie nfsservctl move_pages migrate_pages mbind set_mempolicy
""".split()  # noqa: SIM905 - a table

_NAMESPACES = 0x7E020080
"""The flags with which ``clone`` makes namespaces."""
_SET_DUMPABLE = 4
_FAMILIES = (1, 2, 10)
"""Sockets of the machine itself and, in a namespace without a network, of the internet protocols."""
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_EQUAL, _GREATER, _MASKED_EQUAL = 4, 6, 7


class _Comparison(ctypes.Structure):
    _fields_ = (
        ("argument", ctypes.c_uint),
        ("operator", ctypes.c_int),
        ("first", ctypes.c_uint64),
        ("second", ctypes.c_uint64),
    )


@cache
def program(*, sockets: bool = True) -> bytes | None:
    """The filter for this machine's processor; ``None`` where libseccomp is not installed.

    Args:
        sockets: Whether sockets may be made, as they may in a namespace without a network. Where there is no
            such namespace, pairs of connected ones are all that code gets.
    """
    try:
        library = ctypes.CDLL("libseccomp.so.2", use_errno=True)
    except OSError:
        return None
    library.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(_ALLOW)))
    try:
        for name in _DENIED:
            _deny(library, context, name, errno.EPERM)
        # Its flags lie in memory, where no filter can look; the C library falls back to clone.
        _deny(library, context, "clone3", errno.ENOSYS)
        for flag in (bit for bit in range(32) if _NAMESPACES >> bit & 1):
            _deny(library, context, "clone", errno.EPERM, _Comparison(0, _MASKED_EQUAL, 1 << flag, 1 << flag))
        if sockets:
            others = (family for family in range(max(_FAMILIES)) if family not in _FAMILIES)
            refused = [
                *(_Comparison(0, _EQUAL, f, 0) for f in others),
                _Comparison(0, _GREATER, max(_FAMILIES), 0),
            ]
            for comparison in refused:
                _deny(library, context, "socket", errno.EAFNOSUPPORT, comparison)
        else:
            _deny(library, context, "socket", errno.EAFNOSUPPORT)
        # The supervisor could no longer see what a process has open.
        _deny(library, context, "prctl", errno.EPERM, _Comparison(0, _EQUAL, _SET_DUMPABLE, 0))
        return _exported(library, context)
    finally:
        library.seccomp_release(context)


def _deny(
    library: ctypes.CDLL, context: ctypes.c_void_p, name: str, error: int, *comparisons: _Comparison
) -> None:
    number = library.seccomp_syscall_resolve_name(name.encode())
    if number < 0:
        return  # this processor or this version of the library has no such call
    array = (_Comparison * max(1, len(comparisons)))(*comparisons)
    result = library.seccomp_rule_add_array(
        context, ctypes.c_uint32(_ERRNO | error), number, ctypes.c_uint(len(comparisons)), array
    )
    if result < 0:
        raise OSError(-result, f"libseccomp refuses the rule for {name}")


def _exported(library: ctypes.CDLL, context: ctypes.c_void_p) -> bytes:
    file = os.memfd_create("seccomp")
    try:
        result = library.seccomp_export_bpf(context, file)
        if result < 0:
            raise OSError(-result, "libseccomp cannot export the filter")
        size = os.lseek(file, 0, os.SEEK_CUR)
        return os.pread(file, size, 0)
    finally:
        os.close(file)
