"""Texts with options: ``{Could|May} we come {on|}`` is written in one of four ways.

Options may hold options; values are in them by then.
"""

from __future__ import annotations

import random

from mesocosm.kits.yaml_tasks.braces import words_of

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
