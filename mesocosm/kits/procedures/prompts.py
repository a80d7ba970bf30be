"""Other prompts for the same cases: without the procedure, and with a part of the right answer given.

``full`` is the procedure with worked examples. ``pairs`` leaves the procedure out: the examples are inputs
with their results, and any way to the result will do (the paper's Figure 5). ``segments`` cuts the lines of
the right answer in four; all before one of these is given, and that part is to be written (Figure 4).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from mesocosm.errors import UsageError
from mesocosm.families.verdict import told
from mesocosm.kits.procedures.answers import clean_lines, last_block, open_block
from mesocosm.kits.procedures.instance import DIFFERENT_EXAMPLES, ProcedureInstance, examples_of, procedure
from mesocosm.kits.procedures.protocol import Score
from mesocosm.kits.procedures.rules import text_of
from mesocosm.worlds import tokens

Prompting = Literal["full", "pairs", "segments"]
PAIRS = ("countdown", "travel")
"""Procedures that search for a result, which can be right without the search."""
SEGMENTED = ("routes", "beliefs")
"""Procedures whose every line follows from those before."""
SEGMENTS = 4


@dataclass(frozen=True)
class PromptVariant:
    variant: str
    """Empty: the procedure with its examples; ``pairs``; or ``segment N``."""
    prompt: str
    gold: str

    @property
    def suffix(self) -> str:
        """Suffix of the row's id."""
        return f"-{self.variant.replace(' ', '-')}" if self.variant else ""


def asked_of(made: ProcedureInstance, prompting: Prompting) -> list[PromptVariant]:
    """The prompts for an instance; ``UsageError`` where a procedure has none of the kind."""
    name = made.procedure.NAME
    if prompting == "full":
        return [PromptVariant("", made.prompt, made.gold)]
    known = PAIRS if prompting == "pairs" else SEGMENTED
    if name not in known:
        raise UsageError(f"{name} has no prompts of the kind {prompting!r}; there are for {', '.join(known)}")
    if prompting == "pairs":
        return [_pairs(made)]
    return [_segment(made, number) for number in range(1, SEGMENTS + 1)]


# -- without the procedure ---------------------------------------------------------------------------------


def _pairs(made: ProcedureInstance) -> PromptVariant:
    given = "\n".join(made.procedure.given(made.case))
    rules = _pair_rules(made.procedure.NAME, made.seed % DIFFERENT_EXAMPLES)
    prompt = f"{rules}\n\n# The case\n\n{given}\n\n{_short(made.procedure.question(made.case))}\n"
    return PromptVariant("pairs", prompt, _result(made.procedure.BLOCKS[-1], made.gold))


@cache
def _pair_rules(name: str, number: int) -> str:
    of = procedure(name)
    parts = [text_of(f"{name}_pairs")]
    for case, gold in examples_of(name, number):
        given = "\n".join(of.given(case))
        answer = _result(of.BLOCKS[-1], gold)
        parts.append(f"# Example\n\n{given}\n\n{_short(of.question(case))}\n\nAnswer:\n\n{answer}")
    return "\n\n".join(parts)


def _short(question: str) -> str:
    """Return a question without its description of the search."""
    return re.sub(r",[^,.]*\bsearch\b[^.]*", "", question)


def _result(tag: str, gold: str) -> str:
    return f"<{tag}>{last_block(gold, tag)}</{tag}>"


# -- with a part given -------------------------------------------------------------------------------------


def _lines(made: ProcedureInstance) -> list[str]:
    return clean_lines(last_block(made.gold, made.procedure.BLOCKS[0]) or "")


def bounds(total: int, number: int) -> tuple[int, int]:
    """From which line to which a segment goes: the first, and the one after the last."""
    return (number - 1) * total // SEGMENTS, number * total // SEGMENTS


def _segment(made: ProcedureInstance, number: int) -> PromptVariant:
    tag, lines = made.procedure.BLOCKS[0], _lines(made)
    first, end = bounds(len(lines), number)
    before = "\n".join([f"<{tag}>", *lines[:first]])
    wanted = (
        f"The answer has {len(lines)} lines. Lines 1 to {first} are given below, and are right; write lines "
        f"{first + 1} to {end}"
        if first
        else f"The answer has {len(lines)} lines. Write lines 1 to {end}"
    )
    prompt = (
        f"{made.prompt}\n# What to write\n\n{wanted} and no others, between <{tag}> and </{tag}>, with "
        f"nothing after it.\n\n{before}\n"
    )
    gold = "\n".join([f"<{tag}>", *lines[first:end], f"</{tag}>"])
    return PromptVariant(f"segment {number}", prompt, gold)


def score_segment(gold: str, answer: str, tag: str) -> Score:
    """Score the lines of a segment. Lines of the gold after it do not count."""
    right = clean_lines(last_block(gold, tag) or "")
    block = last_block(answer, tag)
    found = clean_lines(block if block is not None else open_block(answer, tag) or answer)
    if len(found) > len(right) and right[0] in found:
        found = found[found.index(right[0]) :]  # what was given was written once more
    same = next((at for at, line in enumerate(right) if at >= len(found) or found[at] != line), len(right))
    if same == len(right):
        return Score(value=1, exact=True, partial=1)
    before = tokens.count("\n".join(right[:same]) + "\n") if same else 0
    said = found[same][:160] if same < len(found) else "nothing"
    return Score(
        value=0,
        exact=False,
        partial=same / len(right),
        line=same + 1,
        token=before,
        why=told(repr(said), repr(right[same][:160])),
    )
