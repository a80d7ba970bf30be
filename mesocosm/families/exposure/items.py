"""The items of a description: what a reader would look at or pass over, one by one."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from mesocosm.families.family import Evidence, Family
from mesocosm.families.instances import build_instance
from mesocosm.families.items import items_of_text, written
from mesocosm.families.length import EvidenceFinder, Survey
from mesocosm.services.service import Image
from mesocosm.services.world import World
from mesocosm.worlds import tokens

_ADDRESS = re.compile(r"([\w.+-]+)@([\w.-]+\.\w+)")
_FEW_VALUES = 30


@dataclass(frozen=True)
class DescriptionItem:
    """One thing that a reader would look at or pass over."""

    kind: str
    """The tool that delivered it, and what of its result it is (of a workbook: of which sheet): only items of
    one kind are compared."""
    tokens: int
    evidence: bool
    text: str
    facts: Mapping[str, float | str]
    """Everything about it but its text."""


@dataclass
class _Reading(Survey):
    """A survey that keeps what it reads, item by item."""

    items: list[DescriptionItem] = field(default_factory=list)

    def look(self, service: str, tool: str, arguments: dict[str, Any]) -> list[str | Image]:
        """Make one call; its text blocks are taken apart."""
        blocks = super().look(service, tool, arguments)
        finder = self.finders.get(service)
        for block in blocks:
            if isinstance(block, str):
                parts = list(items_of_text(block))
                for place, (kind, part) in enumerate(parts):
                    sheet = arguments.get("sheet_name") or arguments.get("sheet") or ""
                    # Which column of a sheet has what is no secret either.
                    column = part.get("column", "") if sheet and isinstance(part, dict) else ""
                    name = f"{service}.{tool}{kind}{sheet}{column}"
                    self.items.append(_item(name, part, place, len(parts), arguments, finder))
        return blocks


def items_of(
    family: Family, seed: int, target: int | None, parameters: Mapping[str, Any] | None
) -> list[DescriptionItem]:
    with tempfile.TemporaryDirectory(prefix="mesocosm-exposure-") as folder:
        built = build_instance(family, seed, Path(folder) / "x", target=target, parameters=parameters)
        with World(built.path / "world", read_only=True) as world:
            reading = _Reading(world, list[Evidence](built.expected.evidence))
            family.survey(reading, built.expected)
    return _with_frequencies(reading.items)


def _item(
    kind: str, part: Any, place: int, among: int, arguments: Mapping[str, Any], finder: EvidenceFinder | None
) -> DescriptionItem:
    text = written(part)
    facts: dict[str, float | str] = {
        "tokens": tokens.count(text),
        "place": place / among,
        "last": float(place == among - 1),
    }
    for name, value in arguments.items():
        if isinstance(value, str) and len(value) <= 40:
            facts[f"call.{name}"] = value
    texts: list[str] = []
    _take_apart("", part, facts, texts)
    held = bool(finder and finder.held_by(text))
    return DescriptionItem(kind, int(facts["tokens"]), held, "\n".join(texts), facts)


def _take_apart(path: str, value: Any, facts: dict[str, float | str], texts: list[str]) -> None:
    """Sort what an item holds into text and everything but text."""
    if isinstance(value, dict):
        for key, inner in value.items():
            _take_apart(f"{path}.{key}", inner, facts, texts)
    elif isinstance(value, list):
        facts[f"{path}.count"] = len(value)
        texts += [orjson.dumps(value).decode()] if value else []
    elif value is None or isinstance(value, bool):
        facts[path] = str(value)
    elif isinstance(value, int | float):
        facts[path] = float(value)
    else:
        _take_text_apart(path, value, facts, texts)


def _take_text_apart(path: str, value: str, facts: dict[str, float | str], texts: list[str]) -> None:
    facts[f"{path}.length"] = len(value)
    if moment := _moment(value):
        facts[f"{path}.hour"] = moment.hour + moment.minute / 60
        facts[f"{path}.weekday"] = moment.weekday()
        facts[f"{path}.minute"] = moment.minute
        return
    if (address := _ADDRESS.search(value)) and len(value) < 120:
        facts[f"{path}.digits"] = sum(letter.isdigit() for letter in address[1])
        facts[f"{path}.dots"] = address[1].count(".")
        facts[f"{path}.address"] = len(address[0])
        facts[f"{path}.who"] = address[0]
        facts[f"{path}.domain"] = address[2]
        return
    facts[f"{path}.lines"] = value.count("\n")
    facts[f"{path}.html"] = float("</" in value)
    facts[f"{path}.quoted"] = float("\n>" in value)
    if " " in value.strip():
        texts.append(value)
    else:
        facts[path] = value


def _moment(value: str) -> datetime | None:
    if not (10 <= len(value) <= 40 and value[:2].isdigit()):
        return None
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        return None


def _with_frequencies(items: list[DescriptionItem]) -> list[DescriptionItem]:
    """Replace addresses, names and codes by their frequencies, unless there are few items."""
    values: dict[str, Counter[str]] = {}
    for item in items:
        for name, value in item.facts.items():
            if isinstance(value, str):
                values.setdefault(f"{item.kind}{name}", Counter())[value] += 1
    for item in items:
        facts = dict(item.facts)
        for name, value in item.facts.items():
            counts = values.get(f"{item.kind}{name}")
            if counts is not None and isinstance(value, str):
                facts[f"{name}.times"] = counts[value]
                if len(counts) > _FEW_VALUES:
                    del facts[name]
        object.__setattr__(item, "facts", facts)
    return items
