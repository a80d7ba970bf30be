"""Formulas: their syntax, and refusing those that reach outside of the workbook."""

from __future__ import annotations

import re

from openpyxl.formula.tokenizer import Token, Tokenizer, TokenizerError

from mesocosm.errors import Invalid

MAX_FORMULA = 8_192
EXTERNAL_FUNCTIONS = frozenset(
    ("WEBSERVICE", "RTD", "CALL", "REGISTER", "REGISTER.ID", "SQL.REQUEST", "IMAGE", "EXEC", "STOCKHISTORY")
)
"""Functions that fetch from outside of the workbook or run programs."""

_SUSPICIOUS = re.compile(r"[\[|]|(?:" + "|".join(map(re.escape, EXTERNAL_FUNCTIONS)) + r")\s*\(", re.I)
_QUOTED = re.compile(r"'(?:[^']|'')*'")


def check_external(formula: str, where: str) -> None:
    """Refuse links to other workbooks, DDE, and functions that reach outside."""
    if not _SUSPICIOUS.search(formula):
        return
    for token in _tokens(formula, where):
        if token.type == Token.FUNC and token.subtype == Token.OPEN:
            name = token.value[:-1].strip().upper().removeprefix("_XLFN.").removeprefix("_XLWS.")
            if name in EXTERNAL_FUNCTIONS:
                raise Invalid(f"{where}: Unsafe function: {name} reaches outside of the workbook.")
        elif token.type == Token.OPERAND and token.subtype == Token.RANGE:
            if "|" in _QUOTED.sub("", token.value):
                raise Invalid(f"{where}: DDE links to other programs are not allowed: {token.value}")
            quoted = _QUOTED.match(token.value)
            if token.value.startswith("[") or (quoted and "[" in quoted[0]):
                raise Invalid(f"{where}: links to other workbooks are not allowed: {token.value}")


def check_syntax(formula: str, where: str) -> None:
    """Refuse what Excel would not accept as a formula."""
    if not formula.startswith("=") or len(formula) < 2:
        raise Invalid(f"Invalid formula syntax: {where}: Formula must start with '=' and have an expression")
    if len(formula) > MAX_FORMULA:
        raise Invalid(f"Invalid formula syntax: {where}: longer than {MAX_FORMULA:,} characters")
    check_external(formula, where)
    open_groups: list[str] = []
    previous: Token | None = None
    for token in _tokens(formula, where):
        if token.type == Token.WSPACE:
            continue
        _check_neighbours(previous, token, where)
        if token.subtype == Token.OPEN:
            open_groups.append(token.type)
        elif token.subtype == Token.CLOSE and (not open_groups or open_groups.pop() != token.type):
            raise Invalid(f"Invalid formula syntax: {where}: Unmatched closing parenthesis")
        previous = token
    if open_groups:
        raise Invalid(f"Invalid formula syntax: {where}: Unclosed parenthesis")
    if previous is None or previous.type in (Token.OP_IN, Token.OP_PRE):
        raise Invalid(f"Invalid formula syntax: {where}: an operand is missing at the end")


def _check_neighbours(before: Token | None, token: Token, where: str) -> None:
    starts = token.type == Token.OPERAND or token.subtype == Token.OPEN
    ends_before = before is not None and (
        before.type in (Token.OPERAND, Token.OP_POST) or before.subtype == Token.CLOSE
    )
    if starts and ends_before:
        raise Invalid(f"Invalid formula syntax: {where}: an operator is missing before {token.value!r}")
    if token.type in (Token.OP_IN, Token.OP_POST) and not ends_before:
        raise Invalid(f"Invalid formula syntax: {where}: an operand is missing before {token.value!r}")
    if before is not None and before.type in (Token.OP_IN, Token.OP_PRE) and token.subtype == Token.CLOSE:
        raise Invalid(f"Invalid formula syntax: {where}: an operand is missing before {token.value!r}")


def _tokens(formula: str, where: str) -> list[Token]:
    try:
        return list(Tokenizer(formula).items)
    except (TokenizerError, IndexError, AssertionError) as error:
        reason = str(error) or "it cannot be parsed"
        raise Invalid(f"Invalid formula syntax: {where}: {reason}") from None
