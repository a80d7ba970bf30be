"""Sections of a message (RFC 3501, 6.4.5) under the name that the client gave them.

pymap sorts the fields of ``BODY[HEADER.FIELDS (...)]`` and writes them in capitals; clients such as node-imap
look for the very words that they have sent, and take no other answer.
"""

from __future__ import annotations

from typing import Any

from pymap.parsing import Params
from pymap.parsing.primitives import List
from pymap.parsing.specials.fetchattr import FetchAttribute

_parse_section: Any = FetchAttribute.__dict__["_parse_section"].__func__
_raw: Any = FetchAttribute.raw.fget  # type: ignore[attr-defined]


def _parsed(
    cls: type[FetchAttribute], buf: memoryview, params: Params
) -> tuple[FetchAttribute.Section, memoryview]:
    section, after = _parse_section(cls, buf, params)
    said = bytes(buf[: len(buf) - len(after)])
    if section.headers and b"{" not in said:
        section.said = said[said.index(b"(") :]
    return section, after


def _shown(attribute: FetchAttribute) -> bytes:
    raw: bytes = _raw(attribute)
    said = getattr(attribute.section, "said", None)
    if said and attribute.section and attribute.section.headers:
        raw = raw.replace(bytes(List(attribute.section.headers, sort=True)), said)
    return raw


def mend_sections() -> None:
    """Let pymap answer under the names of sections that the client wrote."""
    FetchAttribute._parse_section = classmethod(_parsed)  # type: ignore[assignment,method-assign]
    FetchAttribute.raw = property(_shown)  # type: ignore[assignment,method-assign]
