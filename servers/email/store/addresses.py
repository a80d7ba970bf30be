"""Address lists of a message's header (RFC 5322): reading what an agent wrote, and writing it in one form."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from mesocosm.errors import Invalid

_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_ADDRESS = re.compile(rf"(?P<local>{_ATOM}(?:\.{_ATOM})*)@(?P<domain>(?:{_LABEL}\.)+[A-Za-z][A-Za-z0-9-]*)")
# One entry of a list: up to a comma that stands neither in quotes nor in angle brackets.
_ENTRY = re.compile(r'(?:"(?:\\.|[^"\\])*"|<[^>]*>|[^,"<])+')
_NAMED = re.compile(r"(?P<name>.*?)\s*<(?P<address>[^<>]*)>", re.DOTALL)
_NEEDS_QUOTES = re.compile(r'[()<>@,;:\\".\[\]]')
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True)
class Address:
    """A mailbox and, where one was given, the name of its owner."""

    email: str
    name: str = ""

    @property
    def key(self) -> str:
        """Key that all spellings of a mailbox share."""
        return self.email.lower()

    @property
    def domain(self) -> str:
        """The part after the ``@``, in lower case."""
        return self.key.rpartition("@")[2]

    def __str__(self) -> str:
        if not self.name:
            return self.email
        if not _NEEDS_QUOTES.search(self.name):
            return f"{self.name} <{self.email}>"
        escaped = self.name.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}" <{self.email}>'


def is_address(text: str) -> bool:
    """True for a bare e-mail address that mail can be sent to."""
    found = _ADDRESS.fullmatch(text)
    return found is not None and len(found["local"]) <= 64 and len(text) <= 254


def parse_addresses(header: str, what: str = "TO") -> tuple[Address, ...]:
    """The addresses of a comma-separated list, each once; ``Invalid`` names those that are none."""
    addresses, wrong = _parse(header)
    if wrong:
        raise Invalid(f"Invalid {what} addresses: {', '.join(entry or '(empty)' for entry in wrong)}")
    return addresses


# Worlds hold the same few correspondents many thousand times.
@lru_cache(maxsize=8192)
def _parse(header: str) -> tuple[tuple[Address, ...], tuple[str, ...]]:
    found: dict[str, Address] = {}
    wrong: list[str] = []
    for entry in _entries(header):
        address = _parse_one(entry)
        if address is None:
            wrong.append(_CONTROL.sub(" ", entry)[:100])
        else:
            found.setdefault(address.key, address)
    return tuple(found.values()), tuple(wrong)


def _entries(header: str) -> Iterator[str]:
    position = 0
    while position < len(header):
        found = _ENTRY.match(header, position)
        if found is None:
            # A stray comma is harmless; a stray quote or bracket is not.
            if header[position] != ",":
                yield header[position:].strip()
                return
            position += 1
            continue
        if entry := found[0].strip():
            yield entry
        position = found.end()


def _parse_one(entry: str) -> Address | None:
    if _CONTROL.search(entry) or not _ENTRY.fullmatch(entry):
        return None
    named = _NAMED.fullmatch(entry)
    email, name = (named["address"].strip(), _unquoted(named["name"].strip())) if named else (entry, "")
    return Address(email, name) if is_address(email) else None


def _unquoted(name: str) -> str:
    if len(name) >= 2 and name[0] == name[-1] == '"':
        return re.sub(r"\\(.)", r"\1", name[1:-1]).strip()
    return name


def join(addresses: Iterable[Address]) -> str:
    """The list as the tables keep it and as a header shows it."""
    return ", ".join(map(str, addresses))


def without(addresses: Iterable[Address], *left_out: str) -> list[Address]:
    """The addresses, each once, but for those named (in lower case)."""
    kept = {address.key: address for address in reversed(list(addresses)) if address.key not in left_out}
    return list(reversed(kept.values()))
