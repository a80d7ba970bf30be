"""The questions in words, with every rule that an answer depends on, and the answers in words."""

from __future__ import annotations

from collections.abc import Callable

from mesocosm.kits.rollouts.encyclopaedia import SECTIONS
from mesocosm.kits.rollouts.questions import RolloutQuestion, Type
from mesocosm.kits.rollouts.transcript import Format
from mesocosm.kits.rollouts.twins import SymbolVocabulary

_RESULT = "the tool result that follows the feedback 'Round {0}: ...' and comes before the next feedback"
_NUMBER = "Answer with one whole number, in digits."
_PUBLIC = "The rounds are those of the feedback, which begins with 'Round', its number and a colon."


def put(question: RolloutQuestion, words: SymbolVocabulary, format: Format) -> str:
    """Word a question without the instructions for its answer."""
    return f"{_PUTS[question.type](question, words, format)} {_PUBLIC}"


def answer(question: RolloutQuestion, words: SymbolVocabulary) -> list[str]:
    """The gold: one text, or for pairs (in order) and sets (in alphabetical order) one for each name."""
    if question.type == "find_duplicates_tool":
        return ["yes" if question.gold[0] else "no"]
    if question.type in ("find_target_offsets_tool", "intersection"):
        return [words.names[at] for at in question.gold]
    return [str(question.gold[0])]


def _name(question: RolloutQuestion, words: SymbolVocabulary) -> str:
    assert question.creature is not None
    return words.names[question.creature]


def _count_frequency_tool(question: RolloutQuestion, words: SymbolVocabulary, format: Format) -> str:
    lists = "list" if format == "c" else "lists (candidates) of all sections together"
    return (
        f"How often does the {words.thing} {_name(question, words)} occur in the {lists} of the result of "
        f"round {question.rounds[0]}, that is, {_RESULT.format(question.rounds[0])}? It may be 0. {_NUMBER}"
    )


def _find_duplicates_tool(question: RolloutQuestion, words: SymbolVocabulary, format: Format) -> str:
    first, second = question.rounds
    anywhere = "" if format == "c" else " Being in any of a result's lists counts."
    return (
        f"Does the {words.thing} {_name(question, words)} occur both in the result of round {first} and in "
        f"the result of round {second}? The result of a round is the tool result that follows its feedback "
        f"and comes before the next feedback.{anywhere} Answer with yes or no."
    )


def _find_target_offsets_tool(question: RolloutQuestion, words: SymbolVocabulary, format: Format) -> str:
    where = "the list"
    if question.section is not None:
        where = f"the candidates of the section {words.sections[question.section]}"
    return (
        f"In {where} in the result of round {question.rounds[0]}, that is, "
        f"{_RESULT.format(question.rounds[0])}: which two {words.thing}s come directly after "
        f"{_name(question, words)}? Answer with their two names in that order, separated by a comma."
    )


def _count_correctness_env(question: RolloutQuestion, words: SymbolVocabulary, format: Format) -> str:
    return (
        f"How many of the {len(SECTIONS)} sections were guessed right in round {question.rounds[0]}? A "
        "section counts when every value of it in the feedback of that round is marked correct; one that is "
        f"right in part does not count. {_NUMBER}"
    )


def _count_frequency_env(question: RolloutQuestion, words: SymbolVocabulary, format: Format) -> str:
    assert question.section is not None
    assert question.value is not None
    value = words.values[question.section][question.value]
    section = words.sections[question.section]
    return (
        f"In the feedback of how many rounds does the value {value} stand in the section {section}, whether "
        f"it is marked correct or wrong? Queries and results do not count. {_NUMBER}"
    )


def _find_round_largest_value_env(question: RolloutQuestion, words: SymbolVocabulary, format: Format) -> str:
    assert question.section is not None
    return (
        f"In the feedback of which round is the number in the section {words.sections[question.section]} the "
        f"highest of all rounds? There is one such round. Answer with the number of that round, in digits."
    )


def _weighted_summation_env(question: RolloutQuestion, words: SymbolVocabulary, format: Format) -> str:
    weights = ", ".join(f"{words.sections[at]} {section.weight}" for at, section in enumerate(SECTIONS))
    return (
        f"What is the absolute difference between the scores of round {question.rounds[0]} and round "
        f"{question.rounds[1]}? The score of a round is the sum of points for every value that its feedback "
        f"marks correct; a section with two correct values gives its points twice. Points by section: "
        f"{weights}. {_NUMBER}"
    )


def _intersection(question: RolloutQuestion, words: SymbolVocabulary, format: Format) -> str:
    if format == "c":
        return (
            f"Which {words.thing} is in the list of every tool result of the whole history? There is exactly "
            "one. Answer with its name."
        )
    return (
        f"Which {words.thing}s are in all of the lists (candidates) of the result of round "
        f"{question.rounds[0]}, that is, {_RESULT.format(question.rounds[0])}? Answer with all their names, "
        "separated by commas, in any order."
    )


_PUTS: dict[Type, Callable[[RolloutQuestion, SymbolVocabulary, Format], str]] = {
    "count_frequency_tool": _count_frequency_tool,
    "find_duplicates_tool": _find_duplicates_tool,
    "find_target_offsets_tool": _find_target_offsets_tool,
    "count_correctness_env": _count_correctness_env,
    "count_frequency_env": _count_frequency_env,
    "find_round_largest_value_env": _find_round_largest_value_env,
    "weighted_summation_env": _weighted_summation_env,
    "intersection": _intersection,
}
