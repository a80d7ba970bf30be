"""Values of a fuzz run: valid and invalid by schema, existing ids, and inputs that broke something before.

Most calls begin with arguments that were answered before, of which some are exchanged: what is made from
nothing is nearly always refused at the first rule.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from functools import lru_cache
from typing import Any, TypeVar

from fuzzing.odd import FLOATS, NUMBERS, TEXTS

_RESERVOIR = 100
"""Values that are kept of one name, from what was answered."""
_CORPUS = 30
"""Arguments that are kept of one operation."""
_LONGEST = 20_000
"""Characters of an answer, or of arguments, that are learned from."""

T = TypeVar("T")


class Inputs:
    """A source of arguments; the same seed gives the same as long as the answers are the same."""

    def __init__(self, seed: str) -> None:
        self.dice = random.Random(seed)
        self._service = ""
        self._texts: dict[tuple[str, str], list[str]] = defaultdict(list)
        self._numbers: dict[tuple[str, str], list[int]] = defaultdict(list)
        self._accepted: dict[tuple[str, str], list[Any]] = defaultdict(list)
        """Values that were part of a call that was answered, by service and name."""
        self._objects: dict[str, list[dict[str, Any]]] = defaultdict(list)
        """Objects that were answered, by service."""
        self._corpus: dict[str, list[dict[str, Any]]] = defaultdict(list)

    def of(self, service: str) -> None:
        """Switch to a service for what is learned and requested from now on."""
        self._service = service

    def learn(self, answer: str) -> None:
        """Remember values of an answer, to ask for what is there."""
        if answer[:1] in ("{", "[") and len(answer) < _LONGEST:
            try:
                said = json.loads(answer)
            except (ValueError, RecursionError):
                return
            self._remember("", said, 0)
            for one in said[:3] if isinstance(said, list) else (said,):
                if isinstance(one, dict):
                    self._keep(self._objects[self._service], one, _RESERVOIR)

    def accepted(self, operation: str, arguments: dict[str, Any]) -> None:
        """Remember arguments that were answered."""
        try:
            short = len(repr(arguments)) < _LONGEST
        except RecursionError:
            return
        if short:
            self._keep(self._corpus[operation], arguments, _CORPUS)
            for name, value in arguments.items():
                self._keep(self._accepted[self._service, name], value, _RESERVOIR)

    def _keep(self, kept: list[T], value: T, most: int) -> None:
        if len(kept) < most:
            kept.append(value)
        elif self.dice.random() < 0.1:
            kept[self.dice.randrange(most)] = value

    def _remember(self, name: str, value: Any, depth: int) -> None:
        if isinstance(value, dict) and depth < 6:
            for key, inner in list(value.items())[:40]:
                self._remember(bare(key), inner, depth + 1)
        elif isinstance(value, list) and depth < 6:
            for inner in value[:5]:
                self._remember(name, inner, depth + 1)
        elif isinstance(value, str):
            self._keep(self._texts[self._service, name], value, _RESERVOIR)
        elif isinstance(value, int) and not isinstance(value, bool):
            self._keep(self._numbers[self._service, name], value, _RESERVOIR)

    def arguments(
        self, service: str, operation: str, schema: dict[str, Any], always: tuple[str, ...] = ()
    ) -> dict[str, Any]:
        """Arguments for an operation of a service; ``always`` are required besides what the schema says."""
        self.of(service)
        known, properties = self._corpus.get(operation), schema["properties"]
        needed = {*schema.get("required", []), *always}
        if known and self.dice.random() < 0.75:
            given = dict(self.dice.choice(known))
            for _ in range(self.dice.choice((0, 1, 1, 2))):
                # What no schema tells, such as fields of a body, is in the arguments alone.
                if names := list(properties | given):
                    name = self.dice.choice(names)
                    if name not in properties and name in given:
                        given[name] = self._like(name, given[name])
                    elif name in given and name not in needed and self.dice.random() < 0.3:
                        del given[name]
                    else:
                        given[name] = self.value(name, properties[name])
        else:
            given = {
                name: self.value(name, inner)
                for name, inner in properties.items()
                if name in needed or self.dice.random() < 0.3
            }
        roll = self.dice.random()
        if given and roll < 0.01:
            name = self.dice.choice(list(given))
            if name not in always:
                del given[name]
        elif roll < 0.015:
            given[self.text("")[:50]] = 1
        return given

    def fields(self) -> dict[str, Any]:
        """Some fields of an object as it was answered, as clients send it back, with changes."""
        known = self._objects.get(self._service)
        if not known:
            return {}
        given = self.dice.choice(known)
        names = self.dice.sample(list(given), min(len(given), self.dice.randint(0, 4)))
        return {
            name: given[name] if self.dice.random() < 0.5 else self._like(name, given[name]) for name in names
        }

    def _like(self, name: str, value: Any) -> Any:
        match value:
            case bool():
                return not value
            case int():
                return self.number(name)
            case str():
                return self.text(name)
            case list() if value:
                return [*value[:2], self._like(name, value[0])]
            case dict() if value:
                key = self.dice.choice(list(value))
                return {**value, key: self._like(key, value[key])}
        return self._anything(1)

    def value(self, name: str, schema: dict[str, Any], depth: int = 0) -> Any:
        """A value for a parameter."""
        roll = self.dice.random()
        if roll < 0.015:
            return self._anything(depth)
        if depth == 0 and roll < 0.4 and (known := self._accepted.get((self._service, name))):
            return self.dice.choice(known)
        for union in ("anyOf", "oneOf"):
            if union in schema:
                return self.value(name, self.dice.choice(schema[union]), depth)
        if "enum" in schema and self.dice.random() < 0.95:
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
                return self.number(name) if self.dice.random() < 0.9 else self.dice.choice(FLOATS)
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
        roll, known = self.dice.random(), self._texts.get((self._service, bare(name)))
        if known and roll < 0.6:
            return self.dice.choice(known)
        if roll < 0.85 or not known:
            return self.dice.choice(TEXTS)
        text = self.dice.choice(known)
        return text[: self.dice.randint(0, 40)] + self.dice.choice(["", "", "'", "%", "\n", "é"])

    def number(self, name: str) -> int:
        """A whole number, often one that was answered under such a name."""
        known = self._numbers.get((self._service, bare(name)))
        if known and self.dice.random() < 0.6:
            return self.dice.choice(known)
        return self.dice.choice(NUMBERS) if self.dice.random() < 0.3 else self.dice.randint(-1, 40)

    def _object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        properties = schema.get("properties")
        if properties:
            return {
                name: self.value(name, inner, depth + 1)
                for name, inner in properties.items()
                if name in schema.get("required", []) or self.dice.random() < 0.5
            }
        names = [name for service, name in self._texts if service == self._service] or ["a"]
        return {self.dice.choice(names): self._anything(depth + 1) for _ in range(self.dice.randint(0, 3))}

    def _anything(self, depth: int) -> Any:
        roll = self.dice.randint(0, 6 if depth < 4 else 4)
        match roll:
            case 0:
                return None
            case 1:
                return self.dice.random() < 0.5
            case 2:
                return self.dice.choice(NUMBERS)
            case 3:
                return self.dice.choice(FLOATS)
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


@lru_cache(maxsize=50_000)
def bare(name: str) -> str:
    """Names that mean the same kind of thing: ``order_id`` and ``id``, ``file_path`` and ``path``."""
    lowered = name.lower().removesuffix("s")
    for end in ("id", "path", "email", "name", "date", "number", "sha", "slug"):
        if lowered.endswith(end):
            return end
    return lowered
