"""Names and addresses in headers of mails: ``Ann Lee <ann@example.com>, "Hines, Smith and Sons" <...>``.

A file writes ``{supplier.name} <{supplier.email}>`` and does not know what a name has in it. An address in
angle brackets ends an entry, so that a comma before it is part of the name.
"""

from __future__ import annotations

import re

_ENTRY = re.compile(
    r'\s*(?:(?P<quoted>"(?:\\.|[^"\\])*")\s*<(?P<first>[^<>\s]+@[^<>\s]+)>'
    r'|(?P<bare>[^\s<>,"]+@[^\s<>,"]+)'
    r"|(?P<name>[^<>]*?)\s*<(?P<second>[^<>\s]+@[^<>\s]+)>)\s*(?:,|$)"
)
_SPECIAL = re.compile(r'[()<>@,;:\\"\[\]]')
"""Characters that a name needs quotes for."""


def mailbox(name: str, address: str) -> str:
    """One entry, with the name in quotes where it needs them."""
    if _SPECIAL.search(name):
        name = '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return f"{name} <{address}>" if name else address


def unquoted(name: str) -> str:
    """A name without the quotes that it needs in a header."""
    if len(name) >= 2 and name[0] == name[-1] == '"':
        name = name[1:-1]
    return re.sub(r"\\(.)", r"\1", name)


def entries(header: str) -> list[tuple[str, str]] | None:
    """Parse a header into names and addresses; ``None`` if it is invalid."""
    found, place = list[tuple[str, str]](), 0
    while place < len(header):
        entry = _ENTRY.match(header, place)
        if entry is None:
            return None
        name = unquoted(entry["quoted"]) if entry["quoted"] else (entry["name"] or "").strip()
        found.append((name, entry["first"] or entry["bare"] or entry["second"]))
        place = entry.end()
    return found


def in_quotes(header: str) -> str:
    """Quote names in a header where needed; invalid headers stay as they are."""
    found = entries(header) if _SPECIAL.search(re.sub(r"<[^<>]*>", "", header)) else None
    return header if not found else ", ".join(mailbox(*entry) for entry in found)
