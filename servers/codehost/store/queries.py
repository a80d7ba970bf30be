"""The product's search language: words, phrases, ``NOT``, ``OR`` and ``qualifier:value``."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from mesocosm.servers.codehost.store.values import MAX_NUMBER, Unprocessable, parse_time

MAX_WORDS = 256
"""Characters of a query, not counting its qualifiers and operators."""
MAX_RESULTS = 1000
"""Maximum offset in the results of a search."""

_TOKEN = re.compile(r'(-?)(?:([A-Za-z][A-Za-z-]*):)?("[^"]*"|\S+)')
_SOMETHING = re.compile(r"[^\W_]")


@dataclass(frozen=True)
class Qualifier:
    """``name:value``, or its opposite."""

    name: str
    value: str
    negated: bool

    @property
    def flag(self) -> bool:
        """A value that is ``true`` or ``false``."""
        if self.value.lower() not in ("true", "false"):
            raise Unprocessable(f"Validation Failed: {self.name}:{self.value} should be true or false.")
        return (self.value.lower() == "true") != self.negated


@dataclass(frozen=True)
class Query:
    """A search as it was understood."""

    groups: list[list[tuple[str, bool]]]
    """Alternatives of words and whether each is unwanted."""
    qualifiers: list[Qualifier]

    @property
    def words(self) -> list[str]:
        """The wanted words and phrases."""
        return [word for group in self.groups for word, negated in group if not negated]

    def match(self) -> str | None:
        """The wanted words as FTS5 wants them; ``None`` if there are none."""
        alternatives = []
        for group in self.groups:
            wanted = " AND ".join(_quoted(word) for word, negated in group if not negated)
            unwanted = "".join(f" NOT {_quoted(word)}" for word, negated in group if negated)
            if wanted:
                alternatives.append(f"(({wanted}){unwanted})")
        return " OR ".join(alternatives) or None

    def mismatch(self) -> str | None:
        """Unwanted words of a query that wants none."""
        if self.match() is not None:
            return None
        return " OR ".join(_quoted(word) for group in self.groups for word, _ in group) or None

    def values(self, *names: str) -> list[Qualifier]:
        """The qualifiers of these names."""
        return [qualifier for qualifier in self.qualifiers if qualifier.name in names]


def parse(query: str, names: Collection[str]) -> Query:
    """Understand a search; what looks like a qualifier but is none of ``names`` is words."""
    if "\0" in query:
        raise Unprocessable("Validation Failed: the query must not contain null characters.")
    groups: list[list[tuple[str, bool]]] = [[]]
    qualifiers: list[Qualifier] = []
    negate = False
    for found in _TOKEN.finditer(query):
        minus, name, value = found[1], found[2], found[3]
        if not name and not minus and value in ("AND", "OR", "NOT"):
            negate = value == "NOT"
            if value == "OR" and groups[-1]:
                groups.append([])
            continue
        if name and name.lower() in names:
            text = value[1:-1] if value.startswith('"') and value.endswith('"') else value
            qualifiers.append(Qualifier(name.lower(), text, bool(minus) != negate))
        else:
            text = f"{name}:{value}" if name else value
            if _SOMETHING.search(text):
                groups[-1].append((text.replace('"', " ").strip(), bool(minus) != negate))
        negate = False
    parsed = Query([group for group in groups if group], qualifiers)
    if not query.strip():
        raise Unprocessable("Validation Failed: the query is missing.")
    if sum(len(word) for word in parsed.words) > MAX_WORDS:
        raise Unprocessable(f"The search is longer than {MAX_WORDS} characters.")
    return parsed


def _quoted(word: str) -> str:
    return '"' + word.replace('"', " ") + '"'


@dataclass
class Where:
    """Conditions of a SQL statement with their parameters."""

    conditions: list[str] = field(default_factory=list)
    parameters: dict[str, Any] = field(default_factory=dict)

    def name(self, value: Any) -> str:
        """A placeholder for a value."""
        key = f"v{len(self.parameters)}"
        self.parameters[key] = value
        return f":{key}"

    def add(self, condition: str, *values: Any, negated: bool = False) -> None:
        """Add a condition in which ``{}`` stands for each value in turn."""
        text = condition.format(*(self.name(value) for value in values))
        self.conditions.append(f"NOT coalesce(({text}), 0)" if negated else f"({text})")

    def any_of(self, conditions: list[tuple[str, Any]]) -> None:
        """Add a condition that holds when one of these does."""
        if conditions:
            texts = [text.format(self.name(value)) for text, value in conditions]
            self.conditions.append("(" + " OR ".join(texts) + ")")

    def time(self, column: str, qualifier: Qualifier) -> None:
        """Add a condition on a time: a date, ``>=date``, or ``date..date``."""
        parts = []
        for operator, value in filter(None, _bounds(qualifier)):
            # A date is a whole day: after it means after its end, up to it means to its end.
            time = parse_time(value, qualifier.name, end=operator in (">", "<="))
            parts.append(f"{column} {operator} {self.name(time)}")
        self.add(" AND ".join(parts) or "1", negated=qualifier.negated)

    def number(self, column: str, qualifier: Qualifier) -> None:
        """Add a condition on a number, written like one on a time."""
        parts = []
        for operator, value in filter(None, _bounds(qualifier)):
            if not (value.isascii() and value.isdecimal()) or int(value) > MAX_NUMBER:
                raise Unprocessable(
                    f"Validation Failed: {qualifier.name}:{qualifier.value} should compare with a number."
                )
            parts.append(f"{column} {operator} {self.name(int(value))}")
        self.add(" AND ".join(parts) or "1", negated=qualifier.negated)

    @property
    def text(self) -> str:
        """All conditions."""
        return " AND ".join(self.conditions) or "1"


def _bounds(qualifier: Qualifier) -> tuple[tuple[str, str] | None, tuple[str, str] | None]:
    """The lower and the upper bound that a qualifier's value sets."""
    value = qualifier.value
    for operator in (">=", "<=", ">", "<"):
        if value.startswith(operator):
            bound = (operator, value[len(operator) :])
            return (bound, None) if operator[0] == ">" else (None, bound)
    if ".." in value:
        low, _, high = value.partition("..")
        return (None if low == "*" else (">=", low), None if high == "*" else ("<=", high))
    return (">=", value), ("<=", value)
