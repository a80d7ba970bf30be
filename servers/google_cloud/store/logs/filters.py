"""The filter language of Cloud Logging: from its text to a tree of conditions.

As the product binds them: NOT (or a hyphen) before OR before AND, and conditions that stand side by side are
joined by AND. Comments go from ``--`` to the end of the line.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from mesocosm.errors import Invalid
from mesocosm.servers.google_cloud.store.part import quoted

OPERATORS = ("!=", "!~", "=~", ">=", "<=", "=", ">", "<", ":")
MAX_LENGTH = 20_000
_MAX_DEPTH = 100
_BLANK = re.compile(r"(?:\s|--[^\n]*)*")
_NAME = re.compile(r"[A-Za-z_][\w/-]*")
_BARE = re.compile(r"""[^\s()"'=<>!~,:]+""")
_VALUE = re.compile(r"""[^\s()"',]+""")
_QUOTED = re.compile(r""""((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'""", re.DOTALL)
_KEYWORDS = ("AND", "OR", "NOT")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"', "'": "'"}
"""Other backslashes stay: they are those of regular expressions."""


@dataclass(frozen=True)
class Both:
    """All of these hold."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Either:
    """One of these holds."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Not:
    """This does not hold."""

    part: Node


@dataclass(frozen=True)
class Comparison:
    """A field compared with a value."""

    path: tuple[str, ...]
    operator: str
    value: str
    is_quoted: bool


@dataclass(frozen=True)
class Anywhere:
    """A text that occurs in any field."""

    text: str


@dataclass(frozen=True)
class Call:
    """A function of the language, with its arguments as texts."""

    name: str
    arguments: tuple[str, ...]


Node = Both | Either | Not | Comparison | Anywhere | Call


def parse(text: str) -> Node | None:
    """The conditions of a filter; ``None`` for an empty one. ``Invalid`` names line and column."""
    if len(text) > MAX_LENGTH:
        raise Invalid(f"The filter is longer than {MAX_LENGTH:,} characters.", code="INVALID_ARGUMENT")
    parser = _Parser(text)
    parser.skip()
    if parser.at == len(text):
        return None
    tree = parser.all_of(0, parser.negated)
    if parser.at < len(text):
        parser.fail()
    return tree


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def skip(self) -> None:
        found = _BLANK.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def fail(self, at: int | None = None) -> NoReturn:
        at = self.at if at is None else at
        before = self.text[:at]
        line, column = before.count("\n") + 1, at - (before.rfind("\n") + 1) + 1
        token = re.match(r"\w+|\S|\Z", self.text[at:])
        what = f"token {quoted(token[0])}" if token and token[0] else "end of the filter"
        raise Invalid(
            f"Unparseable filter: syntax error at line {line}, column {column}, {what}",
            code="INVALID_ARGUMENT",
        )

    def takes(self, sign: str) -> bool:
        if not self.text.startswith(sign, self.at):
            return False
        self.at += len(sign)
        self.skip()
        return True

    def keyword(self, word: str) -> bool:
        found = _BARE.match(self.text, self.at)
        if found is None or found[0] != word:
            return False
        self.at = found.end()
        self.skip()
        return True

    def all_of(self, depth: int, one: Callable[[int], Node]) -> Node:
        """Read what stands side by side or has AND between it, each of it by ``one``."""
        if depth > _MAX_DEPTH:
            raise Invalid("The filter is nested too deeply.", code="INVALID_ARGUMENT")
        parts = [self.any_of(depth, one)]
        while self.at < len(self.text) and self.text[self.at] not in "),":
            self.keyword("AND")
            parts.append(self.any_of(depth, one))
        return parts[0] if len(parts) == 1 else Both(tuple(parts))

    def any_of(self, depth: int, one: Callable[[int], Node]) -> Node:
        parts = [one(depth)]
        while self.keyword("OR"):
            parts.append(one(depth))
        return parts[0] if len(parts) == 1 else Either(tuple(parts))

    def bracketed(self, depth: int, one: Callable[[int], Node]) -> Node:
        inside = self.all_of(depth + 1, one)
        if not self.takes(")"):
            self.fail()
        return inside

    def negated(self, depth: int) -> Node:
        if self.keyword("NOT") or self.takes("-"):
            if depth > _MAX_DEPTH:
                raise Invalid("The filter is nested too deeply.", code="INVALID_ARGUMENT")
            return Not(self.negated(depth + 1))
        return self.single(depth)

    def single(self, depth: int) -> Node:
        start = self.at
        if self.takes("("):
            return self.bracketed(depth, self.negated)
        path = self.path()
        if path is None:
            self.fail(start)
        if len(path) == 1 and self.text.startswith("(", self.at):
            return self.call(path[0])
        self.skip()
        for operator in OPERATORS:
            if self.takes(operator):
                return self.compared(path, operator, depth)
        text = self.text[start : self.at].strip()
        found = _QUOTED.fullmatch(text)
        if found is None and (text in _KEYWORDS or not text):
            self.fail(start)
        return Anywhere(_unquoted(found) if found else text)

    def path(self) -> tuple[str, ...] | None:
        """Parse the names of a field; also a bare word or a quoted text."""
        parts: list[str] = []
        while True:
            if found := _QUOTED.match(self.text, self.at):
                parts.append(_unquoted(found))
            elif found := (
                _NAME.match(self.text, self.at) or (None if parts else _BARE.match(self.text, self.at))
            ):
                if found[0] in _KEYWORDS:
                    return None
                parts.append(found[0])
            else:
                return None
            self.at = found.end()
            if not self.text.startswith(".", self.at):
                return tuple(parts)
            self.at += 1

    def call(self, name: str) -> Node:
        start = self.at - len(name)
        self.takes("(")
        arguments: list[str] = []
        while not self.takes(")"):
            if arguments and not self.takes(","):
                self.fail()
            arguments.append(self.value()[0])
        if name not in ("log_id", "source", "sample", "ip_in_net", "SEARCH", "regexp_extract", "cast"):
            self.fail(start)
        return Call(name, tuple(arguments))

    def compared(self, path: tuple[str, ...], operator: str, depth: int) -> Node:
        """A value, or several in parentheses: ``severity=(ERROR OR CRITICAL)``."""

        def one(depth: int) -> Node:
            negated = self.keyword("NOT")
            found = self.compared(path, operator, depth)
            return Not(found) if negated else found

        return self.bracketed(depth, one) if self.takes("(") else Comparison(path, operator, *self.value())

    def value(self) -> tuple[str, bool]:
        """A value, and whether it was quoted."""
        if found := _QUOTED.match(self.text, self.at):
            self.at = found.end()
            self.skip()
            return _unquoted(found), True
        found = _VALUE.match(self.text, self.at)
        if found is None or found[0] in _KEYWORDS:
            self.fail()
        self.at = found.end()
        self.skip()
        return found[0], False


def _unquoted(found: re.Match[str]) -> str:
    text = found[1] if found[1] is not None else found[2]
    return re.sub(r"\\(.)", lambda escape: _ESCAPES.get(escape[1], escape[0]), text, flags=re.DOTALL)
