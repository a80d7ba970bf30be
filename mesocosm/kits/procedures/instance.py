"""Instances: a procedure, a level and a seed, with the prompt around them."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import cache
from typing import cast

from mesocosm.errors import UsageError
from mesocosm.kits.procedures.protocol import Case, Procedure, Score, find_case, output_tokens

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


@cache
def procedure(name: str) -> Procedure[Case]:
    """A procedure by name; ``UsageError`` names those there are."""
    if name not in _MODULES:
        raise UsageError(f"there is no procedure {name!r}; there are {', '.join(_MODULES)}")
    module, attribute = _MODULES[name]
    found = importlib.import_module(f"mesocosm.kits.procedures.{module}")
    return cast(Procedure[Case], getattr(found, attribute) if attribute else found)


@dataclass(frozen=True)
class Instance:
    """One case of a procedure and its gold."""

    procedure: Procedure[Case]
    level: int
    seed: int
    case: Case
    gold: str

    @property
    def id(self) -> str:
        """Unique within a dataset."""
        return f"{self.procedure.NAME}-{self.level}-s{self.seed}"

    @property
    def rules(self) -> str:
        """What is to be done, with worked examples."""
        return rules_of(self.procedure, self.seed)

    @property
    def prompt(self) -> str:
        """All that a model needs, in one message."""
        given = "\n".join(self.procedure.given(self.case))
        question = self.procedure.question(self.case)
        return f"{self.rules}\n\n# The case\n\n{given}\n\n{question}\n"

    def score(self, answer: str) -> Score:
        """Judge an answer."""
        return self.procedure.score(self.case, self.gold, answer)

    @property
    def output_tokens(self) -> int:
        """Of the gold."""
        return output_tokens(self.gold)


def make_instance(name: str, level: int, seed: int) -> Instance:
    """The instance of a seed: its gold has ``level`` tokens within 5 %; ``UsageError`` if there is none."""
    of = procedure(name)
    if level > MAX_LEVEL:
        raise UsageError(f"{name}: levels go up to {MAX_LEVEL} output tokens")
    case = find_case(of, level, str(seed))
    return Instance(of, level, seed, case, of.gold(case))


_DIFFERENT_EXAMPLES = 8
"""Sets of worked examples; instances share them in turn, so that a prompt's beginning can be cached."""


def rules_of(of: Procedure[Case], seed: int) -> str:
    """The rules of a procedure with worked examples, which no instance is made of."""
    return _rules_with_examples(of.NAME, seed % _DIFFERENT_EXAMPLES)


@cache
def _rules_with_examples(name: str, number: int) -> str:
    of = procedure(name)
    parts = [of.rules()]
    for at in range(of.EXAMPLES):
        case = find_case(of, of.EXAMPLE, f"example {number} {at}")
        given = "\n".join(of.given(case))
        parts.append(f"# Example\n\n{given}\n\n{of.question(case)}\n\nAnswer:\n\n{of.gold(case)}")
    return "\n\n".join(parts)
