"""What a fuzz run hands in: values that a schema admits and some that it does not, ids that are there, and
whatever has been seen to break things."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from typing import Any

_RESERVOIR = 200
"""Values that are kept of one name, from what was answered."""
_ODD_TEXTS = [
    "",
    " ",
    "a",
    "x" * 300 + "/",
    "x" * 5_000,
    "x" * 50_001,
    "a/" * 2_100,
    "../../etc/passwd",
    "/workspace",
    "/workspace/a.txt",
    "/workspace/book.xlsx",
    "/workspace/paper.pdf",
    ".",
    "~",
    "a\0b",
    "%",
    "_" * 90,
    "%a" * 500,
    "*" * 60 + "b",
    "[a-",
    "{a,b}" * 12,
    "\\",
    "'; --",
    '"',
    '"unbalanced',
    "a AND OR NOT (",
    "-",
    "NEAR(a b",
    "R&D",
    "&AAA&",
    "2025-02-30",
    "2025-13-01T25:61:61Z",
    "0001-01-01T00:00:00+23:59",
    "9999-12-31T23:59:59-23:59",
    "2025-01-15",
    "2025-01-15T09:00:00Z",
    "RRULE:FREQ=SECONDLY;COUNT=999999999",
    "RRULE:FREQ=YEARLY;INTERVAL=0",
    "1e999",
    "NaN",
    "-1",
    "0",
    "00",
    "9" * 30,
    "9" * 5_000,
    "true",
    "null",
    "[" * 2_000,
    "(" * 1_500,
    "<b>" * 2_000,
    "(a+)+$",
    "=" + "(" * 900 + "1" + ")" * 900,
    "=SUM(A1:XFD1048576)",
    "A1",
    "XFD1048576",
    "A1:XFD1048576",
    "Sheet1",
    "Sheet1!A1",
    "ada@example.org",
    "<ada@example.org",
    ",".join(["a@b.c"] * 300),
    "😀" * 40,
    "\u202e\u0130ß",
    "e\u0301" * 30,
    "\ud800",
    "data:image/png;base64,AAAA",
    "UEsDBBQ=",
    "%PDF-1.7",
    "{}",
    '{"a":' * 400,
    "master",
    "main",
    "refs/heads/../x",
    "HEAD~99999",
    "0" * 40,
    "asc",
    "desc",
    "all",
    "1,2,3",
    "1-9999999999",
    "*/5 * * * *",
    "en",
    "EUR",
    "Europe/Zurich",
]
_ODD_NUMBERS = [0, 1, 2, 3, -1, 10, 99, 100, 101, 1000, 2**31, 2**53, 2**63 - 1, -(2**63), 2**63, 10**30]
_ODD_FLOATS = [0.0, -0.0, 1.5, 1.0, 1e300, float("nan"), float("inf"), 1e-300]


class Inputs:
    """A source of arguments; the same seed gives the same as long as the answers are the same."""

    def __init__(self, seed: str) -> None:
        self.dice = random.Random(seed)
        self._seen: dict[str, list[Any]] = defaultdict(list)

    def learn(self, answer: str) -> None:
        """Remember values of an answer, to ask for what is there."""
        if answer[:1] in ("{", "["):
            try:
                self._remember("", json.loads(answer), 0)
            except (ValueError, RecursionError):
                return

    def _remember(self, name: str, value: Any, depth: int) -> None:
        if isinstance(value, dict) and depth < 6:
            for key, inner in list(value.items())[:40]:
                self._remember(_bare(key), inner, depth + 1)
        elif isinstance(value, list) and depth < 6:
            for inner in value[:5]:
                self._remember(name, inner, depth + 1)
        elif isinstance(value, str | int | float) and not isinstance(value, bool):
            kept = self._seen[name]
            if len(kept) < _RESERVOIR:
                kept.append(value)
            else:
                kept[self.dice.randrange(_RESERVOIR)] = value

    def arguments(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Arguments for a tool."""
        given = {
            name: self.value(name, inner)
            for name, inner in schema["properties"].items()
            if name in schema.get("required", []) or self.dice.random() < 0.35
        }
        roll = self.dice.random()
        if given and roll < 0.02:
            given.pop(self.dice.choice(list(given)))
        elif roll < 0.03:
            given[self.text("")[:50]] = 1
        return given

    def value(self, name: str, schema: dict[str, Any], depth: int = 0) -> Any:
        """A value for a parameter."""
        if self.dice.random() < 0.03:
            return self._anything(depth)
        for union in ("anyOf", "oneOf"):
            if union in schema:
                return self.value(name, self.dice.choice(schema[union]), depth)
        if "enum" in schema and self.dice.random() < 0.9:
            return self.dice.choice(schema["enum"])
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = self.dice.choice(kind)
        match kind:
            case "string":
                return self.text(name)
            case "integer":
                return self.number(name)
            case "number":
                return self.number(name) if self.dice.random() < 0.8 else self.dice.choice(_ODD_FLOATS)
            case "boolean":
                return self.dice.random() < 0.5
            case "null":
                return None
            case "array":
                most = 300 if self.dice.random() < 0.01 else 3
                items = schema.get("items", {})
                return [self.value(name, items, depth + 1) for _ in range(self.dice.randint(0, most))]
            case "object":
                return self._object(schema, depth)
        return self._anything(depth)

    def text(self, name: str) -> str:
        """A text, often one that was answered under such a name."""
        roll, known = self.dice.random(), self._seen.get(_bare(name))
        if known and roll < 0.6:
            return str(self.dice.choice(known))
        if roll < 0.85 or not self._seen:
            return self.dice.choice(_ODD_TEXTS)
        other = self._seen[self.dice.choice(list(self._seen))]
        text = str(self.dice.choice(other)) if other else ""
        return text[: self.dice.randint(0, 40)] + self.dice.choice(["", "", "'", "%", "\n", "é"])

    def number(self, name: str) -> int:
        """A whole number, often one that was answered under such a name."""
        known = [value for value in self._seen.get(_bare(name), ()) if isinstance(value, int)]
        if known and self.dice.random() < 0.6:
            return int(self.dice.choice(known))
        return self.dice.choice(_ODD_NUMBERS) if self.dice.random() < 0.5 else self.dice.randint(-2, 40)

    def _object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        properties = schema.get("properties")
        if properties:
            return {
                name: self.value(name, inner, depth + 1)
                for name, inner in properties.items()
                if name in schema.get("required", []) or self.dice.random() < 0.5
            }
        names = [*self._seen, "a"]
        return {self.dice.choice(names): self._anything(depth + 1) for _ in range(self.dice.randint(0, 3))}

    def _anything(self, depth: int) -> Any:
        roll = self.dice.randint(0, 6 if depth < 4 else 4)
        match roll:
            case 0:
                return None
            case 1:
                return self.dice.random() < 0.5
            case 2:
                return self.dice.choice(_ODD_NUMBERS)
            case 3:
                return self.dice.choice(_ODD_FLOATS)
            case 4:
                return self.text("")
            case 5:
                return [self._anything(depth + 1) for _ in range(self.dice.randint(0, 3))]
        if self.dice.random() < 0.02:
            nested: Any = []
            for _ in range(self.dice.choice([30, 200, 3_000])):
                nested = [nested]
            return nested
        return {self.text("")[:30]: self._anything(depth + 1) for _ in range(self.dice.randint(0, 2))}


def _bare(name: str) -> str:
    """Names that mean the same kind of thing: ``order_id`` and ``id``, ``file_path`` and ``path``."""
    lowered = name.lower().removesuffix("s")
    for end in ("id", "path", "email", "name", "date", "number", "sha", "slug"):
        if lowered.endswith(end):
            return end
    return lowered
