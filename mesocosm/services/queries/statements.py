"""From text to statements: parsed in the vendor's dialect, and of a size that can be worked on."""

from __future__ import annotations

import logging
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from mesocosm.errors import Invalid
from mesocosm.services.queries.dialect import Dialect

logging.getLogger("sqlglot").setLevel(logging.CRITICAL)

LONGEST = 1_000_000
"""Characters of a text."""
_DEEPEST, _LONGEST_RUN, _MOST_ARROWS, _DEEPEST_TREE = 100, 40, 300, 2_000
_OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE, TokenType.LT}
_CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END, TokenType.GT}
_ENDING = {*_CLOSING, TokenType.VAR, TokenType.IDENTIFIER, TokenType.NUMBER, TokenType.STRING, TokenType.STAR}
_ARROWS = {TokenType.ARROW, TokenType.FARROW, TokenType.COLON_EQ, TokenType.DCOLON}


def parse(text: str, dialect: Dialect) -> list[exp.Expr]:
    """The statements of a text; at least one, or it is refused."""
    if len(text) > LONGEST:
        raise Invalid(f"The statement has {len(text)} characters; at most {LONGEST} are accepted.")
    reader = sqlglot.Dialect.get_or_raise(dialect.name)
    try:
        tokens = dialect.tokens(reader.tokenize(text))
        _check_nesting(tokens)
        parsed = reader.parser().parse(tokens, text)
        # A remark behind the last semicolon is no statement.
        found = [tree for tree in parsed if tree is not None and not isinstance(tree, exp.Semicolon)]
    except ParseError as error:
        raise _malformed(dialect, text, error.errors[0] if error.errors else {}) from None
    except (TypeError, ValueError, LookupError, AttributeError):
        # Sqlglot takes the arguments of many functions to be there.
        raise dialect.malformed(*_end(text), "<EOF>", "A function lacks an argument.") from None
    except SqlglotError as error:
        line, column = _end(text)
        raise dialect.malformed(line, column, "<EOF>", str(error)) from None
    if not found:
        raise dialect.malformed(1, 1, "<EOF>", "Empty SQL statement.")
    for tree in found:
        _check_depth(tree)
    return found


def parse_one(text: str, dialect: Dialect) -> exp.Expr:
    """The one statement of a text."""
    found = parse(text, dialect)
    if len(found) > 1:
        raise Invalid(
            f"Actual statement count {len(found)} did not match the desired statement count 1: send one "
            "statement per call."
        )
    return found[0]


def _malformed(dialect: Dialect, text: str, error: dict[str, Any]) -> Exception:
    line, column = error.get("line") or 1, error.get("col") or 1
    near = (error.get("highlight") or "").strip()
    return dialect.malformed(line, max(1, column - len(near) + 1), near, error.get("description") or "")


def _end(text: str) -> tuple[int, int]:
    lines = text.split("\n")
    return len(lines), len(lines[-1]) + 1


def _check_nesting(tokens: list[Token]) -> None:
    """Refuse what would exhaust the stack of the parser, which follows the nesting of a text."""
    depth = run = arrows = 0
    for token in tokens:
        kind = token.token_type
        run = 0 if kind in _ENDING else run + 1
        arrows += kind in _ARROWS
        if kind in _OPENING:
            depth += 1
        elif kind in _CLOSING:
            depth = max(0, depth - 1)
        elif kind is TokenType.SEMICOLON:
            depth = 0
        if depth > _DEEPEST or run > _LONGEST_RUN or arrows > _MOST_ARROWS:
            raise Invalid(f"The statement is nested too deep (near line {token.line}, column {token.col}).")


def _check_depth(tree: exp.Expr) -> None:
    """Refuse a tree that is too deep to be followed: a chain of operators is a tree of their number."""
    level = [tree]
    for _ in range(_DEEPEST_TREE):
        level = [child for node in level for child in node.iter_expressions()]
        if not level:
            return
    raise Invalid("The statement is nested too deep.")
