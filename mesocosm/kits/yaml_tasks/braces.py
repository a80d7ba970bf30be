"""Braces in texts: ``{value}``, ``{one way|another}``, ``{if condition}`` ... ``{endif}``.

One sort of brackets, told apart by what is in them. With a bar it is a choice of words, which is made when
the text is written down. ``{if``, ``{elif``, ``{else}``, ``{for`` and their ends decide about what stands
between them. Anything else is a value, but what no value begins like: digits alone, as in a pattern
(``[A-Z]{3}``), a double quote, as in JSON (``{"ok": true}``), and a capital, as ``{First Name}`` in a form
has. These are themselves, with values in them. The sign itself is written ``{'{'}``.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from mesocosm.kits.yaml_tasks.filters import FILTERS

VALUE = "\x01", "\x02"
BLOCK = "\x03", "\x04"
"""Signs that no file can have: what the library for expressions is told to look for."""
_SIGN = re.compile(r"\{\s*(?:'[{}]+'|\"[{}]+\")\s*\}")
_AMOUNT = re.compile(r"\d*(?:,\d*)?")
_BEGINS = re.compile(r"\s*[a-z_('\[{\d-]")
"""Beginning of a value."""
_BLOCK = re.compile(r"(?:if|elif|for)\s.*|else|endif|endfor", re.DOTALL)
_OLD = re.compile(r"\{\{[^{}|]*(?:\|[^{}]*)?\}\}|\{%.*?%\}", re.DOTALL)
_PIPED = re.compile(rf"(.*\S)\s+\|\s+({'|'.join(FILTERS)})\s*(\(.*\))?\)*\s*", re.DOTALL)
"""Old syntax of a filter: a bar with blanks, unlike a choice of words."""


class BadBraces(ValueError):
    """Error in the braces of a text."""


@dataclass(frozen=True)
class BracePart:
    """Part of a text: words (with the choices in them), a value, or what decides about others."""

    kind: Literal["text", "value", "block"]
    text: str


@cache
def parts_of(text: str) -> tuple[BracePart, ...]:
    """Take a text apart; ``BadBraces`` where that cannot be done."""
    if "{" not in text:
        return (BracePart("text", text),)
    if old := _OLD.search(text):
        raise BadBraces(f"{old[0]} is how it was written before; `mesocosm convert FILE` rewrites the file")
    found: list[BracePart] = []
    _take_apart(text, found)
    joined: list[BracePart] = []
    for part in found:
        if joined and joined[-1].kind == part.kind == "text":
            joined[-1] = BracePart("text", joined[-1].text + part.text)
        elif part.text:
            joined.append(part)
    return tuple(joined)


def _take_apart(text: str, found: list[BracePart]) -> None:
    start = 0
    while (place := text.find("{", start)) >= 0:
        found.append(BracePart("text", text[start:place]))
        if sign := _SIGN.match(text, place):
            found.append(BracePart("value", sign[0][1:-1]))
            start = sign.end()
            continue
        end, bar = _end_of(text, place)
        inner = text[place + 1 : end]
        if bar and (old := _PIPED.fullmatch(inner)):
            raise BadBraces(f"{{{inner}}} is a choice of words; {old[2]} of a value is {{value.{old[2]}()}}")
        if bar or _AMOUNT.fullmatch(inner) or not _BEGINS.match(inner):
            found.append(BracePart("text", "{"))
            _take_apart(inner, found)
            found.append(BracePart("text", "}"))
        else:
            found.append(BracePart("block" if _BLOCK.fullmatch(inner.strip()) else "value", inner))
        start = end + 1
    found.append(BracePart("text", text[start:]))


def _end_of(text: str, place: int) -> tuple[int, bool]:
    """Find the end of a bracket, and whether it has alternatives of its own."""
    depth, bar = 0, False
    for number in range(place, len(text)):
        letter = text[number]
        depth += (letter == "{") - (letter == "}")
        bar = bar or (letter == "|" and depth == 1)
        if depth == 0:
            return number, bar
    line = " ".join(text[place : place + 40].split())
    raise BadBraces(
        f"nothing closes {line!r}: write {{value}} or {{one way|another}}, and {{'{{'}} for the sign"
    )


def has_values(text: str) -> bool:
    """True if a text has more than words and choices between them."""
    return any(part.kind != "text" for part in parts_of(text))


def within(source: str, signs: tuple[str, str]) -> str:
    """An expression between two signs, with blanks: a minus beside one means something to the library."""
    return f"{signs[0]} {source} {signs[1]}"


def marked(text: str) -> str:
    """The text as the library for expressions reads it."""
    signs = {"value": VALUE, "block": BLOCK}
    return "".join(
        part.text if part.kind == "text" else within(part.text, signs[part.kind]) for part in parts_of(text)
    )


def words_of(text: str) -> str:
    """Return a text without its values."""
    try:
        return "".join(part.text for part in parts_of(text) if part.kind == "text")
    except BadBraces:
        return text


# -- choices of words: ``{Could|May} we come {on|}`` is written in one of four ways; values are in by then

MAX_DEPTH = 8


def chosen(text: str, rng: random.Random) -> str:
    """The text with one option of each drawn, and the blanks that an empty one leaves taken away."""
    if "{" not in text or "|" not in text:
        return text
    pieces: list[list[str]] = [[""]]
    for mark in _marks(text):
        if mark == "{" and len(pieces) <= MAX_DEPTH:
            pieces.append([""])
        elif mark == "|" and len(pieces) > 1:
            pieces[-1].append("")
        elif mark == "}" and len(pieces) > 1:
            options = pieces.pop()
            pieces[-1][-1] += rng.choice(options) if len(options) > 1 else "{" + options[0] + "}"
        else:
            pieces[-1][-1] += mark
    while len(pieces) > 1:  # a brace that nothing closes
        options = pieces.pop()
        pieces[-1][-1] += "{" + "|".join(options)
    return _tidy(pieces[0][0])


def unclosed(source: str) -> bool:
    """True if a text opens or closes an option without its counterpart."""
    text = words_of(source)
    depth = 0
    for letter in text:
        depth += (letter == "{") - (letter == "}")
        if depth < 0:
            break
    return "|" in text and depth != 0


def _marks(text: str) -> list[str]:
    found, start = [], 0
    for place, letter in enumerate(text):
        if letter in "{|}":
            found += [text[start:place], letter]
            start = place + 1
    return [*found, text[start:]]


def _tidy(text: str) -> str:
    lines = [" ".join(part for part in line.split(" ") if part) for line in text.split("\n")]
    whole = "\n".join(lines)
    for mark in ",.;:?!":
        whole = whole.replace(f" {mark}", mark)
    return whole[:1].upper() + whole[1:]
