"""QUERY: Google's query language over a range, written as SQL and answered by SQLite in memory."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from mesocosm.servers.google_sheet.store.ranges import letters
from mesocosm.services.patterns import STEPS, BadPattern, Pattern, like

_CLAUSES = (
    "select",
    "where",
    "group by",
    "pivot",
    "order by",
    "limit",
    "offset",
    "label",
    "format",
    "options",
)
_TOKEN = re.compile(
    r"""\s*(?:(?P<text>'[^']*'|"[^"]*")|(?P<number>\d+(?:\.\d+)?)|(?P<quoted>`[^`]+`)|(?P<word>[A-Za-z_][\w.]*)"""
    r"""|(?P<sign><=|>=|<>|!=|[-+*/=<>(),]))""",
    re.ASCII,
)
_FUNCTIONS = {
    "sum": "sum",
    "avg": "avg",
    "min": "min",
    "max": "max",
    "count": "count",
    "upper": "upper",
    "lower": "lower",
}
_AGGREGATES = ("sum", "avg", "min", "max", "count")
_DATES = {"year": "%Y", "month": "%m", "day": "%d"}
_WORDS = ("and", "or", "not", "is", "null", "true", "false", "asc", "desc")
_STEPS = 100_000
_MAX_STEPS = 400
"""Hundred thousand steps of SQLite's machine, after which a query is given up: some seconds."""


class QueryError(Exception):
    """Error in a query."""


def query(rows: Sequence[Sequence[Any]], text: str, headers: int) -> list[list[Any]]:
    """The lines of a query's answer, that of the titles first where there are headers.

    Args:
        rows: The range.
        text: The query, as in ``select A, sum(C) where B = 'x' group by A order by A limit 5``.
        headers: How many lines of titles the range has; -1 to see for oneself.
    """
    if headers < 0:
        headers = _guessed(rows)
    titles = [
        " ".join(str(row[c]) for row in rows[:headers] if row[c] is not None) for c in range(len(rows[0]))
    ]
    reading = _Reading(text, len(rows[0]), titles)
    table = sqlite3.connect(":memory:")
    try:
        table.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1_000_000)
        table.create_function("rx", 2, _Matching().matches, deterministic=True)
        columns = ", ".join(f'"{letters(n)}"' for n in range(len(rows[0])))
        table.execute(f"CREATE TABLE data ({columns})")
        marks = ", ".join("?" * len(rows[0]))
        table.executemany(f"INSERT INTO data VALUES ({marks})", _typed(rows[headers:]))
        steps = iter(range(_MAX_STEPS))
        table.set_progress_handler(lambda: next(steps, None) is None, _STEPS)
        found = [list(row) for row in table.execute(reading.sql, reading.values)]
    except sqlite3.Error as refused:
        raise QueryError(f"the query cannot be run ({refused})") from None
    finally:
        table.close()
    if headers or reading.labelled or reading.aggregated:
        found.insert(0, reading.shown_titles(headers > 0))
    return found or [[None]]


def _guessed(rows: Sequence[Sequence[Any]]) -> int:
    """One line of titles where the first holds texts only and some column below holds none."""
    first = rows[0]
    if len(rows) < 2 or not all(isinstance(value, str) or value is None for value in first):
        return 0
    return int(any(isinstance(row[c], (int, float)) for row in rows[1:] for c in range(len(first))))


def _typed(rows: Sequence[Sequence[Any]]) -> Iterator[list[Any]]:
    """Rows whose columns have one type each: that of most of its values; the others are none."""
    if not rows:
        return
    kinds = []
    for column in range(len(rows[0])):
        values = [
            row[column] for row in rows if row[column] is not None and not isinstance(row[column], dict)
        ]
        numbers = sum(isinstance(value, (int, float)) for value in values)
        kinds.append((int, float, bool) if numbers * 2 > len(values) else (str,))
    for row in rows:
        yield [v if isinstance(v, kind) else None for v, kind in zip(row, kinds, strict=True)]


class _Matching:
    """The patterns of one query, which together take no longer than one may."""

    def __init__(self) -> None:
        self._left = STEPS

    def matches(self, pattern: str, text: Any) -> bool:
        """True if a pattern matches the whole text."""
        if text is None:
            return False
        compiled = Pattern(pattern)
        self._left -= compiled.steps(str(text))
        if self._left < 0:
            raise BadPattern("it is too large")
        return compiled.fullmatch(str(text)) is not None


class _Reading:
    """A query as SQL, with the titles of its columns."""

    def __init__(self, text: str, width: int, titles: list[str]) -> None:
        self.width, self.titles = width, titles
        self.values: list[Any] = []
        self.labels: dict[str, str] = {}
        self.aggregated = False
        clauses = self._clauses(text)
        chosen = clauses.get("select") or [("sign", "*")]
        if [value for _, value in chosen] == ["*"]:
            chosen = self._all()
        items = self._separated(chosen)
        self.columns = [(self._written(item), self._sql(item, numbered=False)) for item in items]
        self.selected = items
        grouping = clauses.get("group by")
        parts = ["SELECT " + ", ".join(sql for _, sql in self.columns), "FROM data"]
        if where := clauses.get("where"):
            parts.append("WHERE " + self._sql(where))
        if grouping:
            parts.append("GROUP BY " + self._sql(grouping))
        ordering = clauses.get("order by")
        if ordering:
            parts.append(
                "ORDER BY " + self._sql(ordering) + (", " + self._sql(grouping) if grouping else ", rowid")
            )
        elif grouping:
            parts.append("ORDER BY " + self._sql(grouping))
        elif not self.aggregated:
            parts.append("ORDER BY rowid")
        parts.append(f"LIMIT {self._count(clauses, 'limit', -1)} OFFSET {self._count(clauses, 'offset', 0)}")
        for item in self._separated(clauses.get("label", [])):
            if len(item) < 2 or item[-1][0] != "text":
                raise QueryError("a label is a column and a text in quotes")
            self.labels[self._written(item[:-1])] = item[-1][1][1:-1]
        self.sql = " ".join(parts)

    @property
    def labelled(self) -> bool:
        return bool(self.labels)

    def shown_titles(self, headed: bool) -> list[str]:
        """The line of titles."""
        return [
            self.labels.get(name, self._title(item, headed))
            for (name, _), item in zip(self.columns, self.selected, strict=True)
        ]

    def _title(self, item: list[tuple[str, str]], headed: bool) -> str:
        words = []
        for kind, value in item:
            if kind == "column":
                words.append(self.titles[_number(value)] if headed else "")
            elif kind == "word":
                words.append(value.lower())
            elif kind == "sign" and value not in "()":
                words.append(value)
        return " ".join(filter(None, words))

    def _clauses(self, text: str) -> dict[str, list[tuple[str, str]]]:
        tokens = self._tokens(text)
        clauses: dict[str, list[tuple[str, str]]] = {}
        current: list[tuple[str, str]] | None = None
        at = 0
        while at < len(tokens):
            kind, value = tokens[at]
            pair = f"{value} {tokens[at + 1][1]}".lower() if at + 1 < len(tokens) else ""
            name = pair if kind == "word" and pair in _CLAUSES else value.lower() if kind == "word" else ""
            if name in _CLAUSES:
                if name in ("pivot", "format", "options"):
                    raise QueryError(f"{name.upper()} is not supported here")
                if name in clauses:
                    raise QueryError(f"{name.upper()} comes twice")
                current = clauses[name] = []
                at += 2 if " " in name else 1
                continue
            if current is None:
                raise QueryError(f'it begins with "{value}", not with SELECT')
            current.append((kind, value))
            at += 1
        return clauses

    def _tokens(self, text: str) -> list[tuple[str, str]]:
        found, at = [], 0
        text = text.rstrip()
        if len(text) > 10_000:
            raise QueryError("it is too long")
        while at < len(text):
            match = _TOKEN.match(text, at)
            if not match:
                raise QueryError(f'"{text[at : at + 20].strip()}" at {at + 1}')
            kind = str(match.lastgroup)
            value = match[kind]
            if kind == "quoted":
                kind, value = "word", value[1:-1]
            if kind == "word" and (column := self._column(value)) is not None:
                kind, value = "column", column
            found.append((kind, value))
            at = match.end()
        return found

    def _column(self, word: str) -> str | None:
        if re.fullmatch(r"Col\d{1,5}", word):
            return letters(int(word[3:]) - 1)
        return word if re.fullmatch(r"[A-Z]{1,3}", word) else None

    def _all(self) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        for number in range(self.width):
            found += [("sign", ","), ("column", letters(number))]
        return found[1:]

    def _separated(self, tokens: list[tuple[str, str]]) -> list[list[tuple[str, str]]]:
        items: list[list[tuple[str, str]]] = [[]]
        depth = 0
        for kind, value in tokens:
            depth += {"(": 1, ")": -1}.get(value, 0) if kind == "sign" else 0
            if (kind, value) == ("sign", ",") and depth == 0:
                items.append([])
            else:
                items[-1].append((kind, value))
        return [item for item in items if item]

    def _written(self, item: list[tuple[str, str]]) -> str:
        return " ".join(value.lower() if kind == "word" else value for kind, value in item)

    def _count(self, clauses: dict[str, list[tuple[str, str]]], name: str, default: int) -> int:
        tokens = clauses.get(name)
        if tokens is None:
            return default
        if len(tokens) != 1 or not tokens[0][1].isdecimal():
            raise QueryError(f"{name.upper()} needs a number")
        return int(tokens[0][1])

    def _sql(self, tokens: list[tuple[str, str]], numbered: bool = True) -> str:
        parts: list[str] = []
        at = 0
        while at < len(tokens):
            kind, value = tokens[at]
            low = value.lower()
            following = tokens[at + 1] if at + 1 < len(tokens) else ("", "")
            at += 1
            if kind == "column":
                if _number(value) >= self.width:
                    raise QueryError(f"NO_COLUMN: {value}")
                parts.append(f'"{value}"')
            elif kind == "text":
                parts.append(_literal(value[1:-1]))
            elif kind == "number" or kind == "sign":
                parts.append(value)
            elif low in ("contains", "matches", "like") or (
                low in ("starts", "ends") and following[1].lower() == "with"
            ):
                at += low in ("starts", "ends")
                if at >= len(tokens) or tokens[at][0] != "text":
                    raise QueryError(f"{value} needs a text in quotes")
                parts[-1] = _compared(parts[-1], low, tokens[at][1][1:-1])
                at += 1
            elif low == "date" and following[0] == "text":
                at += 1
                parts.append(f"(julianday({_literal(following[1][1:-1])}) - 2415018.5)")
            elif low in _DATES and following[1] == "(":
                end = tokens.index(("sign", ")"), at)
                inner = self._sql(tokens[at + 1 : end])
                less = " - 1" if low == "month" else ""  # Google counts months from 0 here
                parts.append(f"(CAST(strftime('{_DATES[low]}', {inner} + 2415018.5) AS INTEGER){less})")
                at = end + 1
            elif low in _FUNCTIONS and following[1] == "(":
                self.aggregated |= low in _AGGREGATES
                parts.append(_FUNCTIONS[low])
            elif low in _WORDS:
                parts.append(low.upper())
            else:
                raise QueryError(f"NO_COLUMN: {value}")
        return " ".join(parts)


def _number(column: str) -> int:
    number = 0
    for letter in column:
        number = number * 26 + ord(letter) - 64
    return number - 1


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''").replace("\0", "") + "'"


def _compared(left: str, how: str, text: str) -> str:
    if how == "matches":
        return f"rx({_literal(text)}, {left})"
    if how == "like":
        return f"rx({_literal(like(text))}, {left})"
    if how == "contains":
        return f"instr({left}, {_literal(text)}) > 0"
    piece = f"substr({left}, 1, {len(text)})" if how == "starts" else f"substr({left}, -{max(1, len(text))})"
    return f"{piece} = {_literal(text)}"
