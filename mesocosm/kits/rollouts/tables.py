"""User-provided creatures: a file of names and values, in place of invented ones.

JSON lines, or a CSV file with the same columns: ``name``, ``Type``, ``Base Stats``, ``Generation``,
``Abilities``, ``Evolution``, ``Habitat``. Several values of a section are a list, or separated by ``;``.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import orjson

from mesocosm.errors import UsageError
from mesocosm.kits.rollouts.encyclopaedia import (
    MAX_ENTRIES,
    MIN_ENTRIES,
    SECTIONS,
    Encyclopaedia,
    EncyclopaediaEntry,
)

_NAME = "name"


def read_table(path: Path) -> Encyclopaedia:
    """The creatures of a file; ``UsageError`` says which line is wrong, and how."""
    values: list[dict[str, int]] = [{} for _ in SECTIONS]
    found: dict[str, tuple[tuple[int, ...], ...]] = {}
    profiles: dict[tuple[tuple[int, ...], ...], str] = {}
    for where, row in _rows(path):
        name = str(row.get(_NAME) or "").strip()
        if not name or name in found:
            raise UsageError(f"{where}: {f'{name!r} comes twice' if name else 'there is no name'}")
        traits = tuple(_trait(where, at, row, values[at]) for at in range(len(SECTIONS)))
        if traits in profiles:
            raise UsageError(f"{where}: {name} is in all sections what {profiles[traits]} is")
        found[name], profiles[traits] = traits, name
    if not MIN_ENTRIES <= len(found) <= MAX_ENTRIES:
        raise UsageError(f"{path}: {len(found):,} creatures; {MIN_ENTRIES} to {MAX_ENTRIES:,} are expected")
    numbers = {name: at for at, name in enumerate(found, 1)}
    names = sorted(found)
    entries = [EncyclopaediaEntry(numbers[name], found[name]) for name in names]
    return Encyclopaedia(names, entries, [list(words) for words in values])


def _trait(where: str, at: int, row: dict[str, Any], known: dict[str, int]) -> tuple[int, ...]:
    section = SECTIONS[at]
    value = row.get(section.name)
    if section.kind == "number":
        try:
            return (int(str(value)),)
        except ValueError:
            raise UsageError(f"{where}: {section.name}: {value!r} is no whole number") from None
    parts = value if isinstance(value, list) else str(value or "").split(";")
    words = list(dict.fromkeys(word for part in parts if (word := str(part).strip())))
    if not words:
        raise UsageError(f"{where}: {section.name}: there is no value")
    return tuple(known.setdefault(word, len(known)) for word in words)


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from None
    if path.suffix == ".csv":
        for number, row in enumerate(csv.DictReader(StringIO(text)), 2):
            yield f"{path}, line {number}", row
        return
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                row = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                raise UsageError(f"{path}, line {number}: {error}") from None
            if not isinstance(row, dict):
                raise UsageError(f"{path}, line {number}: an object is expected")
            yield f"{path}, line {number}", row
