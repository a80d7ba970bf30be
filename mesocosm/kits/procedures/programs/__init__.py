"""Programs: from a description line by line to code that does the same, judged by running it on tests."""

from __future__ import annotations

import random
from dataclasses import dataclass

from mesocosm.kits.procedures.answers import last_fence
from mesocosm.kits.procedures.programs import execution
from mesocosm.kits.procedures.programs.code_text import in_code, in_words
from mesocosm.kits.procedures.programs.execution import HEADERS, NotJudged, digest, outcomes
from mesocosm.kits.procedures.programs.grammar import Function, run
from mesocosm.kits.procedures.programs.random_functions import FunctionAuthor
from mesocosm.kits.procedures.protocol import ProcedureCase, Score
from mesocosm.kits.procedures.rules import text_of
from mesocosm.worlds import tokens

_TESTS = 8
_LARGEST_FUNCTION = 170
"""Tokens that a function has at most, about."""
_SMALLEST_FUNCTION = 70
_MARGIN = 0.035
_MISSES = 60
"""Functions that may turn out too long, or not to matter throughout, before a program is given up."""


class ProgramCase(ProcedureCase):
    """A program in words and in code, with its tests."""

    language: str
    words: list[str]
    code: list[str]
    tests: list[tuple[str, str]]
    """Pairs of input and output."""


@dataclass(frozen=True)
class Programs:
    NAME: str
    language: str
    label: str
    """Of the language, in sentences."""
    tokens_per_statement: int
    SMALLEST: int
    """Output tokens below which there are no cases."""
    EXAMPLE: int
    """Output tokens of a worked example."""
    UPSTREAM: str = "pseudo_to_code"
    SHEET: int = 1_600
    EXAMPLES: int = 1
    CaseType: type[ProgramCase] = ProgramCase

    @property
    def TITLE(self) -> str:  # noqa: N802 - as the other procedures have it
        """One line for listings."""
        return f"Turn a description, line by line, into a {self.label} program"

    @property
    def BLOCKS(self) -> tuple[str, ...]:  # noqa: N802
        """The label of the fence."""
        return (self.language,)

    def draw(self, rng: random.Random, level: int) -> ProgramCase | None:
        """Draw a program of ``level`` tokens in which every statement matters to its tests."""
        return self._drawn(rng, level, thorough=True)

    def distract(self, rng: random.Random, level: int) -> ProgramCase:
        """A program of which some statements may not matter."""
        while True:
            if made := self._drawn(rng, max(level, self.SMALLEST), thorough=False):
                return made

    def _drawn(self, rng: random.Random, level: int, *, thorough: bool) -> ProgramCase | None:
        inputs = [[rng.randint(0, 99) for _ in range(rng.randint(4, 9))] for _ in range(_TESTS)]
        author = FunctionAuthor(rng, inputs, thorough=thorough)
        functions: list[Function] = []
        spent = tokens.count(self._text([]))
        misses = 0
        while (left := level - spent) > _SMALLEST_FUNCTION / 2 and misses < _MISSES:
            share = left / max(1, round(left / _LARGEST_FUNCTION))
            made = author.function(max(4, round(share / self.tokens_per_statement) + rng.randint(-2, 2)))
            cost = tokens.count(self._text([made])) - tokens.count(self._text([])) + 1 if made else 0
            if made is None or cost > left + level * _MARGIN:
                misses += 1
                if left < level * _MARGIN:
                    break
                continue
            functions.append(made)
            spent += cost
        if not functions:
            return None
        tests = [
            (f"{len(data)}\n{' '.join(map(str, data))}\n", "".join(f"{run(f, data)}\n" for f in functions))
            for data in inputs
        ]
        return ProgramCase(
            language=self.language,
            words=in_words(rng, functions),
            code=in_code(self.language, functions),
            tests=tests,
        )

    def _text(self, functions: list[Function]) -> str:
        return "\n".join([f"```{self.language}", *in_code(self.language, functions), "```"])

    def rules(self) -> str:
        headers = f"These headers are included already, and namespace std is used: {', '.join(HEADERS)}."
        limits = f"Each test may take {execution.SECONDS_PER_TEST} seconds and {execution.MEMORY} MiB"
        compiling = f", compiling (C++17) {execution.SECONDS_TO_COMPILE} seconds"
        return text_of(
            "programs",
            label=self.label,
            fence=self.language,
            has="Only the standard library is there." if self.language == "python" else headers,
            limits=f"{limits}{compiling if self.language == 'cpp' else ''}.",
        )

    def question(self, case: ProgramCase) -> str:
        return f"Write this program in {self.label}."

    def given(self, case: ProgramCase) -> list[str]:
        return list(case.words)

    def gold(self, case: ProgramCase) -> str:
        """The program, one of many that are right."""
        return "\n".join([f"```{self.language}", *case.code, "```"])

    def score(self, case: ProgramCase, gold: str, answer: str) -> Score:
        """Every test has to be passed; ``partial`` is the share that is."""
        found = last_fence(answer, self.language)
        if found is None or not found[1]:
            return Score(
                value=0, exact=False, partial=0, why=f"there is no complete ```{self.language} program"
            )
        try:
            printed = outcomes(self.language, found[0], [given for given, _ in case.tests])
        except NotJudged as error:
            return Score(value=0, exact=False, partial=0, why=str(error), unjudged=True)
        right = [got == digest(wanted) for got, (_, wanted) in zip(printed, case.tests, strict=True)]
        if all(right):
            return Score(value=1, exact=True, partial=1)
        first = right.index(False)
        said = printed[first]
        why = f"test {first + 1} prints something else" if len(said) == 64 and " " not in said else said
        return Score(value=0, exact=False, partial=sum(right) / len(right), why=why)


PYTHON = Programs("programs", "python", "Python 3", 12, 220, 240)
CPP = Programs("programs_cpp", "cpp", "C++", 15, 300, 320)
