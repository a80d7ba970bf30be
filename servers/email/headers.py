"""Parsing of mail headers."""

from __future__ import annotations

import re

_QUOTED_NAME = re.compile(r'"(?:\\.|[^"\\])*"')
_ADDRESS = re.compile(r'[^\s<>,"]+@[^\s<>,"]+')


def addresses(header: str | None) -> list[str]:
    """The bare addresses of an address column, in lower case."""
    return [found.lower() for found in _ADDRESS.findall(_QUOTED_NAME.sub("", header or ""))]
