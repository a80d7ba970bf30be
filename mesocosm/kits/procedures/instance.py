"""Instances: a procedure, a level and a seed, with the prompt around them."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import cast

from mesocosm.errors import UsageError
from mesocosm.kits.procedures.protocol import Procedure, ProcedureCase, Score, find_case, output_tokens

MAX_LEVEL = 131_072
_MODULES = {
    "tables": ("tables", None),
    "programs": ("programs", "PYTHON"),
    "programs_cpp": ("programs", "CPP"),
    "routes": ("routes", None),
    "beliefs": ("beliefs", None),
    "countdown": ("countdown", None),
    "travel": ("travel", None),
}
"""Where each procedure is: a module, or an object in one."""


def procedure_names() -> list[str]:
    """Every procedure there is."""
    return list(_MODULES)


_PAPER = {
    "html_to_tsv": "tables",
    "pseudo_to_code": "programs_cpp",
    "path_traversal": "routes",
    "tom_tracking": "beliefs",
    "travel_planning": "travel",
}
"""Their names in the paper, where these differ."""


def read_procedures(names: Iterable[str]) -> list[str]:
    """Names of procedures, ours or the paper's, as ours; ``UsageError`` for one that there is not."""
    return list(dict.fromkeys(procedure(name.strip()).NAME for name in names))


@cache
def procedure(name: str) -> Procedure[ProcedureCase]:
    """A procedure by name, ours or the paper's; ``UsageError`` names those there are."""
    name = _PAPER.get(name, name)
    if name not in _MODULES:
        known = ", ".join([*_MODULES, *_PAPER])
        raise UsageError(f"there is no procedure {name!r}; there are {known}")
    module, attribute = _MODULES[name]
    found = importlib.import_module(f"mesocosm.kits.procedures.{module}")
    return cast(Procedure[ProcedureCase], getattr(found, attribute) if attribute else found)


@dataclass(frozen=True)
class ProcedureInstance:
    """One case of a procedure and its gold."""

    procedure: Procedure[ProcedureCase]
    level: int
    seed: int
    case: ProcedureCase
    gold: str

    @property
    def id(self) -> str:
        """Unique within a dataset."""
        return f"{self.procedure.NAME}-{self.level}-s{self.seed}"

    @property
    def rules(self) -> str:
        """Instructions with worked examples."""
        return rules_of(self.procedure, self.seed)

    @property
    def prompt(self) -> str:
        """All that a model needs, in one message."""
        given = "\n".join(self.procedure.given(self.case))
        question = self.procedure.question(self.case)
        return f"{self.rules}\n\n# The case\n\n{given}\n\n{question}\n"

    def score(self, answer: str) -> Score:
        return self.procedure.score(self.case, self.gold, answer)

    @property
    def output_tokens(self) -> int:
        """Of the gold."""
        return output_tokens(self.gold)


def make_instance(name: str, level: int, seed: int) -> ProcedureInstance:
    """The instance of a seed: its gold has ``level`` tokens within 5 %; ``UsageError`` if there is none."""
    of = procedure(name)
    if level > MAX_LEVEL:
        raise UsageError(f"{name}: levels go up to {MAX_LEVEL} output tokens")
    case = find_case(of, level, str(seed))
    return ProcedureInstance(of, level, seed, case, of.gold(case))


DIFFERENT_EXAMPLES = 8
"""Sets of worked examples; instances share them in turn, so that a prompt's beginning can be cached."""


def rules_of(of: Procedure[ProcedureCase], seed: int) -> str:
    """The rules of a procedure with worked examples, which no instance is made of."""
    return _rules_with_examples(of.NAME, seed % DIFFERENT_EXAMPLES)


@cache
def examples_of(name: str, number: int) -> list[tuple[ProcedureCase, str]]:
    """One set of worked examples: cases and their golds."""
    of = procedure(name)
    cases = [find_case(of, of.EXAMPLE, f"example {number} {at}") for at in range(of.EXAMPLES)]
    return [(case, of.gold(case)) for case in cases]


@cache
def _rules_with_examples(name: str, number: int) -> str:
    of = procedure(name)
    parts = [of.rules()]
    for case, gold in examples_of(name, number):
        given = "\n".join(of.given(case))
        parts.append(f"# Example\n\n{given}\n\n{of.question(case)}\n\nAnswer:\n\n{gold}")
    return "\n\n".join(parts)
