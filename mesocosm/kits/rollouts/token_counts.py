"""Tokens of a game's messages, counted without tokenising them.

cl100k_base cuts a text before it looks for tokens: where letters, groups of up to three digits, punctuation
and line breaks meet. Names and values have as many tokens after a blank or a quotation mark as alone
(``naming``). So a message has the tokens of its frame, which is tokenised once for every shape that it can
have, and those of the names, values and numbers in it. A test counts both ways.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from mesocosm.kits.rollouts.encyclopaedia import SECTIONS, Encyclopaedia, EntryCondition
from mesocosm.kits.rollouts.transcript import Rollout, Round, Scribe, sections_of
from mesocosm.worlds import tokens

_BETWEEN = 2
"""Tokens of what stands between two names of a list: ``",`` and `` "``."""


@dataclass(frozen=True)
class Counter:
    """Counts the messages of games with one hidden creature, as one scribe writes them."""

    scribe: Scribe
    book: Encyclopaedia
    target: int

    def system(self) -> int:
        """Count the tokens of the system prompt."""
        return tokens.count(self.scribe.system + "\n")

    def round(self, number: int, round_: Round) -> tuple[int, int, int, int]:
        """Tokens of a round's four messages: feedback, call, result, guess."""
        return (
            self.feedback(number, round_.guess),
            self.call(number, round_.query),
            self.result(round_),
            self.guess(round_.answer),
        )

    def rollout(self, rollout: Rollout) -> list[int]:
        """Tokens of every message of a game."""
        sizes = [self.system()]
        for number, round_ in enumerate(rollout.rounds, 1):
            sizes += self.round(number, round_)
        return sizes

    def feedback(self, number: int, guess: int) -> int:
        scribe, entry = self.scribe, self.book.entries[guess]
        inside = _digits(number) + _digits(f"{entry.number:04d}") + scribe.words.name_tokens[guess]
        total = self._counted("said", inside, scribe.guessed, number, guess, entry)
        for section, values in enumerate(entry.traits):
            right = self.book.entries[self.target].traits[section]
            shape: Hashable
            if SECTIONS[section].kind == "number":
                inside = _digits(values[0])
                shape = (values[0] > right[0]) - (values[0] < right[0])
            else:
                sizes = scribe.words.value_tokens[section]
                inside = sum(sizes[value] for value in values)
                shape = tuple(value in right for value in values)
            total += self._counted(("line", section, shape), inside, scribe.line, section, values, right)
        solved = guess == self.target
        left = _digits(scribe.rounds_allowed - number)
        return total + self._counted(("end", solved), left, scribe.outcome, number, solved)

    def call(self, number: int, query: tuple[EntryCondition, ...]) -> int:
        """Count the tokens of a call: the text before it, the tool's name, and the arguments."""
        scribe = self.scribe
        total = self._counted(("call", scribe.thought(number)), 0, _call_begins, scribe, number)
        for at, condition in enumerate(query, 1):
            shape = (condition.section, condition.comparator, len(condition.operands), at == len(query))
            inside = self._operands(condition)
            total += self._counted(("asked", shape), inside, _condition_ends, scribe, condition, shape[-1])
        return total

    def result(self, round_: Round) -> int:
        # In its frames one name of one token stands in each list.
        lists = sum(self.names(creatures) - 1 for creatures in round_.lists)
        if self.scribe.format == "c":
            return lists + self._counted("intersection", 0, _concise_frame)
        total = lists + self._counted("per_section", 0, _verbose_begins)
        parts = sections_of(round_.query)
        for at, (section, conditions) in enumerate(parts, 1):
            shape = tuple((one.comparator, len(one.operands)) for one in conditions)
            key = ("part", section, shape, at == len(parts))
            inside = sum(map(self._operands, conditions))
            total += self._counted(key, inside, _part_ends, self.scribe, section, conditions, key[-1])
        return total

    def names(self, creatures: int) -> int:
        """Count the tokens of a list of names with separators."""
        sizes = self.scribe.words.by_tokens.items()
        names = sum(size * (creatures & who).bit_count() for size, who in sizes)
        return names + _BETWEEN * max(0, creatures.bit_count() - 1)

    def guess(self, answer: int) -> int:
        return self._counted("guess", self.scribe.words.name_tokens[answer], _guess_line, self.scribe, answer)

    def _operands(self, condition: EntryCondition) -> int:
        if condition.comparator not in ("any", "none"):
            return _digits(condition.operands[0])
        sizes = self.scribe.words.value_tokens[condition.section]
        return sum(sizes[value] for value in condition.operands)

    def _counted(self, shape: Hashable, inside: int, write: Callable[..., str], *said: object) -> int:
        """Tokens of a text of some shape that has so many tokens of names, values and numbers in it."""
        frames = self.scribe.words.frames
        if shape not in frames:
            frames[shape] = tokens.count(write(*said)) - inside
        return frames[shape] + inside


def _digits(number: int | str) -> int:
    """Tokens of a number: one for every three digits."""
    return -(-len(str(number)) // 3)


# -- texts, cut before a word that follows a quotation mark --------------------------------------------------


def _call_begins(scribe: Scribe, number: int) -> str:
    return f'{scribe.thought(number)}\n{scribe.words.tool}\n{{"conditions": [{{"'


def _condition_ends(scribe: Scribe, condition: EntryCondition, last: bool) -> str:
    return scribe.condition(condition).removeprefix('{"') + ("]}\n" if last else ', {"')


def _concise_frame() -> str:
    return '{"intersection": ["a"]}\n'


def _verbose_begins() -> str:
    return '{"per_section": [{"'


def _part_ends(scribe: Scribe, section: int, conditions: list[EntryCondition], last: bool) -> str:
    return scribe.part(section, conditions, '"a"').removeprefix('{"') + ("]}\n" if last else ', {"')


def _guess_line(scribe: Scribe, answer: int) -> str:
    return f"{scribe.guess(answer)}\n"
