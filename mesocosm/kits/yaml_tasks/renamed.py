"""Words of task files that were others before, by where they stand."""

from __future__ import annotations

from collections.abc import Mapping

from mesocosm.families.task import RENAMED

ENTITY = {"kinds": "cases", "lookalikes": "distractors", "of": "parent"}
CASE = {"told": "quote", "background": "weight"}
DRAW = {"one": "ref", "kinds": "cases"}
DOING = {"kinds": "cases", "counts": "matters", "by": "sort"}
ROWS = {"kinds": "cases", "by": "sort", "last": "footer"}
NOISE = {"share": "weight"}
NAMES = {"kind": "case", "nth": "index", "lookalike": "distractor", "one_of": "choice"}
"""In expressions."""
FILTERS = {"where": "select", "without": "reject", "by": "sort"}
"""What is done to values."""
KEYS = {**RENAMED, **NOISE, **ENTITY, **CASE, **DRAW, **DOING, **ROWS}
IN_EXPRESSIONS = {**NAMES, **FILTERS}


def now_called(word: str, words: Mapping[str, str] = KEYS) -> str:
    """Return the hint for a renamed word; "" for any other."""
    return (
        f": it is called {words[word]} now, and `mesocosm convert FILE` rewrites the file"
        if word in words
        else ""
    )
