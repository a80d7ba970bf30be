"""Reading answers: the last complete block of each tag, and the first line that deviates from the gold.

All of it takes time in proportion to the answer, however it is made. The paper's rule for what is right is at
the end: texts are compared without case, punctuation and superfluous blanks.
"""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest
from typing import Literal

from mesocosm.families.verdict import told
from mesocosm.kits.procedures.protocol import Score
from mesocosm.worlds import tokens

_SHOWN = 160


def last_block(answer: str, tag: str) -> str | None:
    """Return the content of a tag's last complete pair, ignoring the rest."""
    close = answer.rfind(f"</{tag}>")
    if close < 0:
        return None
    start = answer.rfind(f"<{tag}>", 0, close)
    return answer[start + len(tag) + 2 : close] if start >= 0 else None


def open_block(answer: str, tag: str) -> str | None:
    """Return what follows the last opening tag of a truncated answer."""
    start = answer.rfind(f"<{tag}>")
    return answer[start + len(tag) + 2 :] if start >= 0 else None


def last_fence(answer: str, label: str) -> tuple[str, bool] | None:
    """Return the content of the last fence with a label, and whether it is complete.

    A fence that is never closed counts only if there is no complete one.
    """
    found: tuple[str, bool] | None = None
    inside: list[str] | None = None
    for line in answer.split("\n"):
        mark = line.strip().lower()
        if inside is None:
            if mark == f"```{label}":
                inside = []
        elif mark == "```":
            found, inside = ("\n".join(inside), True), None
        elif mark == f"```{label}":
            inside = []  # one that was begun anew
        else:
            inside.append(line)
    if inside is not None and found is None:
        found = "\n".join(inside), False
    return found


def clean_lines(text: str) -> list[str]:
    """The lines that count: without blank ones, and without white space at their ends."""
    return [stripped for line in text.split("\n") if (stripped := line.strip())]


def compare_blocks(gold: str, answer: str, tags: Sequence[str]) -> Score:
    """The score of a text by its lines: where it first deviates from the gold.

    ``value`` is 1 where all is right; who judges the result otherwise replaces it.
    """
    right = [clean_lines(last_block(gold, tag) or "") for tag in tags]
    total, matched = sum(map(len, right)), 0
    for tag, lines in zip(tags, right, strict=True):
        block = last_block(answer, tag)
        complete = block is not None
        if block is None:
            block = open_block(answer, tag)
        if block is None:
            return _deviation(gold, right, matched, total, f"there is no <{tag}>")
        for expected, found in zip_longest(lines, clean_lines(block)):
            if expected != found:
                if found is None and not complete:
                    why = f"<{tag}> is not closed"
                elif found is None:
                    why = f"ends before {expected[:_SHOWN]!r}"
                else:
                    wanted = repr(expected[:_SHOWN]) if expected else f"</{tag}>"
                    why = told(repr(found[:_SHOWN]), wanted)
                return _deviation(gold, right, matched, total, why)
            matched += 1
        if not complete:
            return _deviation(gold, right, matched, total, f"<{tag}> is not closed")
    return Score(value=1.0, exact=True, partial=1.0)


def _deviation(gold: str, right: Sequence[Sequence[str]], matched: int, total: int, why: str) -> Score:
    flat = [line for lines in right for line in lines]
    # Where all lines of the gold are there and more follow, or a tag is missing, not all is right.
    share = min(matched, total - 1) / total if total > 1 else 0.0
    before = tokens.count("\n".join(flat[:matched]) + "\n") if matched else 0
    return Score(value=0.0, exact=False, partial=share, line=matched + 1, token=before, why=why)


# -- the paper's rule ---------------------------------------------------------------------------------------
#
# Of tables the names in the header are not compared, only how many there are. Results that are checked by a
# rule (equations, plans) or by running them (programs) are right under either rule.

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
