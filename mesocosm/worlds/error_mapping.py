"""Errors of the operating system, SQLite or Python that a call's arguments caused: they become refusals.

A tool that hands a path, a pattern or a number on is told no by whoever knows the limits: a name is too long,
a pattern too complex, a structure nested too deep. That is part of the product, as if a rule of the store had
said it. What does not follow from a call's arguments or from the agent's files stays a fault of ours.
"""

from __future__ import annotations

import errno
import re
import sqlite3

from sqlalchemy.exc import DBAPIError

from mesocosm.errors import Invalid, Refusal

# What the operating system or SQLite refuses because of a call's arguments is the agent's mistake, not
# ours, and must not void the episode (decision 030).


_OF_THE_CALL = {
    errno.ENAMETOOLONG: "a name or path is too long",
    errno.ELOOP: "a path leads through too many symbolic links",
    errno.EILSEQ: "a name is not valid text",
    errno.EOVERFLOW: "a number is too large",
    errno.EFBIG: "a file would be too large",
    errno.EMLINK: "a file has too many names",
    errno.EXDEV: "a path leads out of the workspace",
}
"""Errors that the operating system gives for nothing but the arguments. A full disk, a lack of descriptors
or a file that is not there are not among them: these may be ours."""
_TOO_MUCH = re.compile(
    r"LIKE or GLOB pattern too complex|string or blob too big|too many SQL variables|"
    r"too many terms in compound SELECT|Expression tree is too large|parser stack overflow|"
    r"integer overflow|fts5: |unterminated string"
)
"""SQLite's errors for oversized values."""
_LEAST_NESTED = 250
"""Characters below which nothing is nested so deep that following it exhausts the interpreter's stack: there,
a recursion without end is our own."""


def declined(error: BaseException, size: int) -> Refusal | None:
    """The refusal that an exception amounts to; ``None`` where it is a fault.

    ``size``: characters of what the call was given to read.
    """
    if isinstance(error, Refusal):
        return error
    if isinstance(error, DBAPIError) and error.orig is not None:
        return declined(error.orig, size)
    reason = _reason(error, size)
    return None if reason is None else Invalid(f"This cannot be done: {reason}.")


def _reason(error: BaseException, size: int) -> str | None:
    match error:
        case OSError():
            return _OF_THE_CALL.get(error.errno or 0)
        case sqlite3.Error():
            return str(error) if _TOO_MUCH.search(str(error)) else None
        case RecursionError():
            return "it is nested too deep" if size >= _LEAST_NESTED else None
        case OverflowError():
            return "a number is too large"
        case MemoryError():
            return "it takes too much memory"
        case UnicodeEncodeError():
            return "a text contains half of a character (an unpaired surrogate)"
        case ValueError():
            text = str(error)
            return text if "embedded null" in text or text.startswith("Exceeds the limit (") else None
    return None


NO_ROOM = "there is no room on the disk of the episodes"


def is_no_room(error: BaseException) -> bool:
    """True if an error means that the disk is full."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    return "disk is full" in str(error)
