"""Data sets of questions: a prompt, an answer of the model, a rule that judges it. No tools and no world.

A set is one object, found by its name in the modules of ``mesocosm.evaluation.question_sets`` (each has one,
named ``questions``) and in the entry points of the group ``mesocosm.questions``. ``mesocosm eval NAME`` and
``inspect eval mesocosm/NAME`` run it with the models, logs, statistics and reports of everything else::

    class Sums(QuestionSet):
        name = "sums"
        title = "Adding numbers"

        class Options(QuestionOptions):
            digits: int = 3

        def questions(self, options: Options) -> Iterator[Question]:
            for seed in options.seeds:
                ...
                yield Question(id=f"sum-{seed}", prompt=f"What is {a} + {b}?", expected=str(a + b), seed=seed)

        def judge(self, question: Question, answer: str) -> Verdict:
            return Verdict.of([Check(name="sum", passed=answer.strip() == question.expected)])

    questions = Sums()
"""

from __future__ import annotations

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import cache
from importlib import metadata
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

import mesocosm.evaluation.question_sets as package
from mesocosm.errors import UsageError, first_complaint
from mesocosm.families.quantities import parse_lengths, parse_seeds
from mesocosm.families.verdict import Verdict

GROUP = "mesocosm.questions"


def _words(value: Any) -> Any:
    if value is None or (isinstance(value, list) and all(isinstance(one, int) for one in value)):
        return value
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _lengths(value: Any) -> Any:
    words = _words(value)
    return parse_lengths(words) if isinstance(words, str) else words


def _seeds(value: Any) -> Any:
    words = _words(value)
    return parse_seeds(words) if isinstance(words, str) else words


class QuestionOptions(BaseModel):
    """Options of a question set. Every set adds its own fields; ``--length`` and ``--seeds`` set these."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    lengths: Annotated[list[int], BeforeValidator(_lengths)] = [32_000]
    """Tokens of a prompt, about."""
    seeds: Annotated[list[int], BeforeValidator(_seeds)] = [0]


class Question(BaseModel):
    """A prompt, with the data to judge its answer."""

    id: str
    """Of its own within the set."""
    prompt: str
    messages: list[dict[str, Any]] = []
    """For a question that ends a conversation: the conversation in chat form (``role``, ``content``,
    ``tool_calls``, ``tool_call_id``), in place of ``prompt``."""
    expected: Any = None
    """Whatever the rule needs, as JSON; the model never sees it."""
    length: int | None = None
    """The length that was asked for, in tokens."""
    seed: int = 0
    tokens: int = 0
    """The measured length of the prompt; 0: it is counted."""
    labels: dict[str, str | int] = {}
    """Labels by which reports can group, such as the kind of question."""


class QuestionSet(ABC):
    """A data set of questions with its rule."""

    name: ClassVar[str]
    title: ClassVar[str]
    """One line for listings."""
    Options: ClassVar[type[QuestionOptions]] = QuestionOptions
    max_tokens: ClassVar[int] = 32_768
    """Of an answer."""
    solved: ClassVar[bool] = False
    """True if ``scripted/solver`` can answer it from the prompt alone."""
    temperature: ClassVar[float | None] = None
    """``None``: what the run says."""

    @abstractmethod
    def questions(self, options: Any) -> Iterable[Question]:
        """The questions, in a stable order; the same options give the same questions on every machine."""

    @abstractmethod
    def judge(self, question: Question, answer: str) -> Verdict:
        """Judge an answer. What is raised makes the sample an error and no failure."""

    def options(self, **values: Any) -> QuestionOptions:
        """The options from values as a command line gives them; ``UsageError`` says which is wrong."""
        try:
            return self.Options(**values)
        except ValidationError as error:
            complaint = first_complaint(error, self.Options.model_fields)
            raise UsageError(f"{self.name}: {complaint}") from None


@cache
def question_sets() -> dict[str, QuestionSet]:
    """All that are installed, by name."""
    found = [
        importlib.import_module(f"{package.__name__}.{info.name}").questions
        for info in pkgutil.iter_modules(package.__path__)
        if not info.name.startswith("_")
    ]
    found += [entry.load() for entry in metadata.entry_points(group=GROUP)]
    return {one.name: one for one in sorted(found, key=lambda one: str(one.name))}
