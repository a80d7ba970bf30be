"""Record of deliveries to an agent: all results, by service.

Two calls may deliver the same in different ways (other pages, other fields), so what was read is compared
record by record: the scalar fields of every object of a JSON result, or the lines of a text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from mesocosm.services.calling import decode

Record = frozenset[str]
"""The fields of an object, each as ``name=value``; or one line of a text."""


def records_of(result: str) -> Iterator[tuple[Record, str]]:
    """The records of a result, each with how it stands there."""
    for block in result.split("\n") if result[:1] in "{[" else [result]:
        value = decode(block)
        if isinstance(value, str):
            for line in value.splitlines():
                if line.strip():
                    yield frozenset({line.strip()}), line
        else:
            yield from _objects(value)


def _objects(value: Any, name: str = "") -> Iterator[tuple[Record, str]]:
    if isinstance(value, dict):
        plain = {key: one for key, one in value.items() if not isinstance(one, dict | list)}
        if plain:
            yield frozenset(f"{key}={one}" for key, one in plain.items()), orjson.dumps(plain).decode()
        for key, one in value.items():
            yield from _objects(one, key)
    elif isinstance(value, list):
        for one in value:
            if isinstance(one, dict | list):
                yield from _objects(one, name)
            else:
                yield frozenset({f"{name}={one}"}), f"{name}: {one}"


@dataclass
class Delivered:
    """All that was delivered so far."""

    _with: dict[tuple[str, str], list[Record]] = field(default_factory=dict)
    """By service and field: the records that have it."""
    values: set[str] = field(default_factory=set)
    """All values that were seen, of any service."""

    def take(self, service: str, result: str) -> None:
        """Note a result."""
        for record, _ in records_of(result):
            for one in record:
                self._with.setdefault((service, one), []).append(record)
                self.values.add(one.partition("=")[2] or one)

    def holds(self, service: str, record: Record) -> bool:
        """True if one delivered record contains all parts of ``record``."""
        found = min((self._with.get((service, one), []) for one in record), key=len, default=[])
        return any(record <= other for other in found)
