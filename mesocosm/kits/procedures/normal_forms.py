"""The paper's rule for what is right: texts are compared without case, punctuation and superfluous blanks.

Of tables the names in the header are not compared, only how many there are. Results that are checked by a
rule (equations, plans) or by running them (programs) are right under either rule.
"""

from __future__ import annotations

import string
from collections import Counter
from typing import Literal

from mesocosm.kits.procedures.answers import clean_lines, compare_blocks, last_block, last_fence

Rule = Literal["strict", "paper"]
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = {"a", "an", "the"}


def normal(text: str) -> str:
    """Lower case, no punctuation, single blanks."""
    return " ".join(text.lower().translate(_PUNCTUATION).split())


def value_of_table(gold: str, answer: str) -> float:
    """The F1 of rows whose cells are compared normalised, articles and all blanks left out."""
    found, right = last_fence(answer, "tsv"), last_fence(gold, "tsv")
    if not found or not right:
        return 0.0
    header, *wanted = (line.split("\t") for line in right[0].split("\n") if line.strip())
    _, *rows = [line.split("\t") for line in found[0].split("\n") if line.strip()] or [[""]]
    if rows and len(rows[-1]) != len(header):
        rows.pop()  # which was cut off
    common = (Counter(map(_row, rows)) & Counter(map(_row, wanted))).total()
    return 2 * common / (len(rows) + len(wanted)) if common else 0.0


def _row(cells: list[str]) -> tuple[str, ...]:
    return tuple("".join(word for word in normal(cell).split() if word not in _ARTICLES) for cell in cells)


def value_of_lines(gold: str, answer: str, tags: tuple[str, ...]) -> float:
    """1 where all lines are the same once they are normalised."""
    return compare_blocks(_normalised(gold, tags), _normalised(answer, tags), tags).value


def _normalised(text: str, tags: tuple[str, ...]) -> str:
    parts = []
    for tag in tags:
        block = last_block(text, tag)
        if block is not None:
            parts += [f"<{tag}>", *map(normal, clean_lines(block)), f"</{tag}>"]
    return "\n".join(parts)
