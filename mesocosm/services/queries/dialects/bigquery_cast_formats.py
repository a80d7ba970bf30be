"""CAST of texts to dates and times with FORMAT.

Sqlglot makes the same of ``CAST(x AS TIME FORMAT f)`` as of DATETIME and TIMESTAMP, so each becomes a call of
the function that reads such a text before it is parsed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from sqlglot.tokenizer_core import Token, TokenType

from mesocosm.errors import Invalid

_READERS = {
    "DATE": "PARSE_DATE",
    "TIME": "PARSE_TIME",
    "DATETIME": "PARSE_DATETIME",
    "TIMESTAMP": "PARSE_TIMESTAMP",
}
_ELEMENTS = {
    "YYYY": "%Y",
    "RRRR": "%Y",
    "YY": "%y",
    "RR": "%y",
    "MONTH": "%B",
    "MON": "%b",
    "MM": "%m",
    "DD": "%d",
    "HH24": "%H",
    "HH12": "%I",
    "HH": "%I",
    "MI": "%M",
    "A.M.": "%p",
    "P.M.": "%p",
    "AM": "%p",
    "PM": "%p",
    "TZH:TZM": "%Ez",
    "TZH": "%z",
}
_ELEMENT = re.compile(
    r"(?P<seconds>SS\.FF\d?)|(?P<whole>SS(?!SSS))|(?P<name>"
    + "|".join(re.escape(name) for name in _ELEMENTS)
    + r')|"(?P<text>[^"]*)"|(?P<sign>[-./,\';: ])',
    re.IGNORECASE,
)
_WITH_DOTS = re.compile(r"[AP]\.M\.", re.IGNORECASE)


def reading(tokens: Sequence[Token]) -> list[Token]:
    """The tokens of a text, with the function that reads a text in the place of such a CAST."""
    made = list(tokens)
    # From the last to the first: what stands inside a CAST is done before it is.
    for place in range(len(made) - 1, -1, -1):
        if made[place].text.upper() in ("CAST", "SAFE_CAST") and _is(made, place + 1, TokenType.L_PAREN):
            made[place:] = _cast(made[place:])
    return made


def _cast(tokens: list[Token]) -> list[Token]:
    """A CAST, and what comes after it."""
    depth, parts = 0, {}
    for place, token in enumerate(tokens):
        if token.token_type == TokenType.L_PAREN:
            depth += 1
        elif token.token_type == TokenType.R_PAREN:
            depth -= 1
            if depth == 0:
                parts["end"] = place
                break
        elif depth == 1 and token.token_type == TokenType.ALIAS:
            parts["as"] = place
    start, end = parts.get("as", 0), parts.get("end", 0)
    kind = tokens[start + 1].text.upper() if start and end > start + 3 else ""
    if kind not in _READERS or tokens[start + 2].text.upper() != "FORMAT":
        return tokens
    pattern = tokens[start + 3]
    if pattern.token_type != TokenType.STRING:
        return tokens
    value, zone = tokens[2:start], tokens[start + 4 : end]
    if zone and [token.text.upper() for token in zone[:3]] == ["AT", "TIME", "ZONE"]:
        zone = zone[3:]

    make = partial(_token, pattern)
    comma = make(TokenType.COMMA, ",")
    opening = [make(TokenType.VAR, "SAFE"), make(TokenType.DOT, ".")] if _is_safe(tokens[0]) else []
    opening += [make(TokenType.VAR, _READERS[kind]), tokens[1]]
    if _WITH_DOTS.search(pattern.text):
        # P.M. as PM
        read = [make(TokenType.STRING, r"(?i)([AP])\.(M)\."), comma, make(TokenType.STRING, r"\1\2")]
        value = [make(TokenType.VAR, "REGEXP_REPLACE"), tokens[1], *value, comma, *read, tokens[end]]
    rest = [comma, *zone] if zone else []
    return [*opening, make(TokenType.STRING, _shape(pattern.text)), comma, *value, *rest, *tokens[end:]]


def _token(near: Token, sort: TokenType, text: str) -> Token:
    return Token(sort, text, near.line, near.col, near.start, near.end)


def _is_safe(token: Token) -> bool:
    return token.text.upper() == "SAFE_CAST"


def _shape(pattern: str) -> str:
    """Elements of a format as PARSE_TIMESTAMP and its like have them."""
    made, at = [], 0
    while at < len(pattern):
        found = _ELEMENT.match(pattern, at)
        if found is None:
            raise Invalid(f"The format {pattern[:50]!r} is not provided here.", code="invalidQuery")
        at = found.end()
        if found["name"]:
            made.append(_ELEMENTS[found["name"].upper()])
        elif found["seconds"] or found["whole"]:
            made.append("%E*S" if found["seconds"] else "%S")
        else:
            made.append((found["text"] if found["text"] is not None else found["sign"]).replace("%", "%%"))
    return "".join(made)


def _is(tokens: Sequence[Token], place: int, sort: TokenType) -> bool:
    return place < len(tokens) and tokens[place].token_type == sort
