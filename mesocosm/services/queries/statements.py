"""From text to statements: parsed in the vendor's dialect, and of a size that can be worked on."""

from __future__ import annotations

import logging
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from mesocosm.errors import Invalid
from mesocosm.services.queries.dialect import MEANINGLESS, WRITTEN, Dialect
from mesocosm.worlds import deadlines

logging.getLogger("sqlglot").setLevel(logging.CRITICAL)

LONGEST = 1_000_000
"""Characters of a text."""
_MOST_TOKENS, _MOST_QUERIES = 40_000, 200
"""Of a text: sqlglot is compiled, and lets nobody else work before it has read one and worked on it."""
_PACE = 200_000
"""Characters that it reads in a second."""
_DEEPEST, _LONGEST_RUN, _MOST_ARROWS, _DEEPEST_TREE = 100, 40, 300, 2_000
_OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE, TokenType.LT}
_CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END, TokenType.GT}
_ENDING = {*_CLOSING, TokenType.VAR, TokenType.IDENTIFIER, TokenType.NUMBER, TokenType.STRING, TokenType.STAR}
_NESTING = {
    **dict.fromkeys((TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE), 1),
    **dict.fromkeys((TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE), -1),
}
_AFTER_COLUMNS = {
    *(TokenType.FROM, TokenType.INTO, TokenType.WHERE, TokenType.GROUP_BY, TokenType.HAVING),
    *(TokenType.QUALIFY, TokenType.ORDER_BY, TokenType.LIMIT, TokenType.OFFSET, TokenType.FETCH),
    *(TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT, TokenType.SEMICOLON, TokenType.WINDOW),
}
_BEFORE_COLUMNS = {TokenType.DISTINCT, TokenType.ALL, TokenType.TOP}
_ARROWS = {TokenType.ARROW, TokenType.FARROW, TokenType.COLON_EQ, TokenType.DCOLON}


def parse(text: str, dialect: Dialect) -> list[exp.Expr]:
    """The statements of a text; at least one, or it is refused."""
    if len(text) > LONGEST:
        raise Invalid(f"The statement has {len(text)} characters; at most {LONGEST} are accepted.")
    deadlines.expect(len(text) / _PACE)
    reader = sqlglot.Dialect.get_or_raise(dialect.name)
    try:
        tokens = dialect.tokens(reader.tokenize(text))
        _check_size(tokens)
        _check_nesting(tokens)
        parsed = reader.parser().parse(tokens, text)
        # A remark behind the last semicolon is no statement.
        found = [tree for tree in parsed if tree is not None and not isinstance(tree, exp.Semicolon)]
    except ParseError as error:
        raise _malformed(dialect, text, error.errors[0] if error.errors else {}) from None
    except SqlglotError as error:
        line, column = _end(text)
        raise dialect.malformed(line, column, "<EOF>", str(error)) from None
    except MEANINGLESS:
        raise dialect.malformed(*_end(text), "<EOF>", "A function lacks an argument.") from None
    if not found:
        raise dialect.malformed(1, 1, "<EOF>", "Empty SQL statement.")
    for tree in found:
        _check_depth(tree)
    if dialect.named_as_written and len(found) == 1:
        _note_columns(found[0], tokens, text)
    return found


def parse_one(text: str, dialect: Dialect) -> exp.Expr:
    found = parse(text, dialect)
    if len(found) > 1:
        raise Invalid(
            f"Actual statement count {len(found)} did not match the desired statement count 1: send one "
            "statement per call."
        )
    return found[0]


def _note_columns(tree: exp.Expr, tokens: list[Token], text: str) -> None:
    """Keep with the columns of a query how they are written: vendors name columns after that."""
    while isinstance(tree, exp.SetOperation):
        tree = tree.this
    if not isinstance(tree, exp.Select):
        return
    columns: list[list[Token]] = []
    depth, before = 0, None
    for token in tokens:
        kind, behind_top = token.token_type, before is TokenType.TOP
        before = kind
        depth += _NESTING.get(kind, 0)
        if depth == 0 and kind is TokenType.SELECT:
            columns.append([])
        elif columns and depth == 0 and kind in _AFTER_COLUMNS:
            break
        elif columns and depth == 0 and kind is TokenType.COMMA:
            columns.append([])
        elif columns and not (behind_top or (not columns[-1] and kind in _BEFORE_COLUMNS)):
            columns[-1].append(token)
    if len(columns) == len(tree.expressions):
        for expression, written in zip(tree.expressions, columns, strict=True):
            if written:
                expression.meta[WRITTEN] = text[written[0].start : written[-1].end + 1]


def _malformed(dialect: Dialect, text: str, error: dict[str, Any]) -> Exception:
    line, column = error.get("line") or 1, error.get("col") or 1
    near = (error.get("highlight") or "").strip()
    return dialect.malformed(line, max(1, column - len(near) + 1), near, error.get("description") or "")


def _end(text: str) -> tuple[int, int]:
    lines = text.split("\n")
    return len(lines), len(lines[-1]) + 1


def _check_size(tokens: list[Token]) -> None:
    queries = sum(token.token_type is TokenType.SELECT for token in tokens)
    for many, most, what in ((len(tokens), _MOST_TOKENS, "tokens"), (queries, _MOST_QUERIES, "SELECTs")):
        if many > most:
            raise Invalid(f"The query is too complex: it has {many} {what}; at most {most} are accepted.")


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
