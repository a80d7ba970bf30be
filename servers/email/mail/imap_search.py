"""IMAP's SEARCH: a tree of criteria, as data, against the messages of a folder.

Each criterion is a list that begins with its name: ``["and", ...]``, ``["or", a, b]``, ``["not", a]``,
``["flag", "Seen"]``, ``["ids", "1:3,7"]``, ``["text", "subject", "report"]``, ``["header", "X-Tag", ""]``,
``["before" | "on" | "since", "2025-01-15"]``, ``["larger" | "smaller", 1000]``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from mesocosm.doors.mail.ids import read_ids
from mesocosm.errors import Invalid
from mesocosm.servers.email.mail.rendering import render_header, render_message
from mesocosm.servers.email.store import FLAGS
from mesocosm.services.service import Row

Criterion = Sequence[Any]
Test = Callable[["Candidate"], bool]

_MAX_DEPTH = 50
_COLUMNS = {
    "from": ("sender",),
    "to": ("to",),
    "cc": ("cc",),
    "bcc": ("bcc",),
    "subject": ("subject",),
    "body": ("body", "html_body"),
    "text": ("subject", "sender", "to", "cc", "bcc", "body", "html_body", "message_id"),
}


class Candidate:
    """A message that may be what is searched for."""

    def __init__(self, email: Row, files: Sequence[Row]) -> None:
        self.email = email
        self._files = files

    @cached_property
    def size(self) -> int:
        """Its size in bytes, as it is transmitted."""
        return len(render_message(self.email, self._files))

    @cached_property
    def header(self) -> Mapping[str, str]:
        """The fields of its header, in lower case."""
        lines = render_header(self.email, self._files).replace("\r\n ", " ").lower().split("\r\n")
        return dict(line.split(": ", 1) for line in lines if line)


def compile_criterion(criterion: Criterion, depth: int = 0) -> Test:
    """Compile a criterion into a test on messages."""
    if depth > _MAX_DEPTH:
        raise Invalid("The search criteria are nested too deep.")
    name, *operands = criterion
    match name:
        case "and":
            tests = [compile_criterion(inner, depth + 1) for inner in operands]
            return lambda message: all(test(message) for test in tests)
        case "or":
            tests = [compile_criterion(inner, depth + 1) for inner in operands]
            return lambda message: any(test(message) for test in tests)
        case "not":
            test = compile_criterion(operands[0], depth + 1)
            return lambda message: not test(message)
        case "flag":
            column = FLAGS.get(operands[0])
            return lambda message: column is not None and bool(message.email[column])
        case "ids":
            ids = frozenset(read_ids(operands[0]))
            return lambda message: message.email["id"] in ids
        case "text":
            return _contains(_COLUMNS[operands[0]], operands[1])
        case "header":
            return _in_header(*operands)
        case "before":
            return lambda message: message.email["date"][:10] < operands[0]
        case "on":
            return lambda message: message.email["date"][:10] == operands[0]
        case "since":
            return lambda message: message.email["date"][:10] >= operands[0]
        case "larger":
            return lambda message: message.size > operands[0]
        case "smaller":
            return lambda message: message.size < operands[0]
    raise Invalid(f"Unknown search criterion: {name}")


def _contains(columns: Sequence[str], value: str) -> Test:
    sought = value.casefold()
    return lambda message: any(sought in (message.email[column] or "").casefold() for column in columns)


_FIELDS = {
    "from": "sender",
    "to": "to",
    "cc": "cc",
    "bcc": "bcc",
    "subject": "subject",
    "message-id": "message_id",
    "in-reply-to": "in_reply_to",
    "references": "references",
}


def _in_header(field: str, value: str) -> Test:
    name, sought = field.lower(), value.casefold()
    if column := _FIELDS.get(name):
        return lambda message: bool(message.email[column]) and sought in message.email[column].casefold()
    return lambda message: name in message.header and sought in message.header[name]
