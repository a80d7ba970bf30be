"""Room on the disk of the worlds."""

from __future__ import annotations

import errno

NO_ROOM = "there is no room on the disk of the episodes"


def is_no_room(error: BaseException) -> bool:
    """True if an error means that the disk is full."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    return "disk is full" in str(error)
