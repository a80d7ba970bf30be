"""Rollouts written down: rounds as chat messages, in either vocabulary, with their tokens.

A round is four messages: feedback on a guess (user), a call (assistant), its result (tool), the next guess
(assistant). The tokens of a message are those of its text, ended by a newline; the text of a call is its
content, the tool's name and the arguments, each on a line. No token of cl100k_base reaches across these
newlines, nor across the quotation marks between the names of a list (a test counts both ways), so lists are
counted by their names.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import Any, Literal

from mesocosm.kits.rollouts.encyclopaedia import SECTIONS, Condition, Encyclopaedia, compare
from mesocosm.kits.rollouts.twins import Vocabulary
from mesocosm.worlds import tokens

Format = Literal["c", "v"]
"""Concise: a call returns the creatures that meet all conditions. Verbose: one list per section."""
FORMATS: tuple[Format, ...] = ("c", "v")
PER_ROUND = 4
Message = dict[str, Any]

_THOUGHTS = (
    "I will put what I know into a query.",
    "Let me see what still fits.",
    "The last feedback narrows it down; I will query again.",
    "I will check this against the list.",
    "Some of these conditions should help.",
)


@dataclass(frozen=True)
class Round:
    """One round, without words."""

    guess: int
    """Place of the creature whose guess the feedback is about."""
    query: tuple[Condition, ...]
    """Sorted by section."""
    lists: tuple[int, ...]
    """The sets that the result lists: one, or one per section of the query."""
    answer: int
    """Place of the creature that is guessed next."""


@dataclass(frozen=True)
class Rollout:
    """A whole game up to some round."""

    book: Encyclopaedia
    target: int
    format: Format
    rounds_allowed: int
    rounds: Sequence[Round]

    def verdicts(self, number: int) -> tuple[tuple[bool, ...], ...]:
        """Which values of a round's guess are right, by section; rounds count from 1."""
        guess = self.rounds[number - 1].guess
        return compare(self.book.entries[guess], self.book.entries[self.target])


def feedback_at(number: int) -> int:
    """The index of the message that holds a round's feedback; the system message is 0."""
    return 1 + PER_ROUND * (number - 1)


def result_at(number: int) -> int:
    """The index of the message that holds a round's result."""
    return 3 + PER_ROUND * (number - 1)


def sections_of(query: Sequence[Condition]) -> list[tuple[int, list[Condition]]]:
    """The conditions of a query by section."""
    found: dict[int, list[Condition]] = {}
    for condition in query:
        found.setdefault(condition.section, []).append(condition)
    return list(found.items())


@dataclass(frozen=True)
class Scribe:
    """Writes rounds of one game in one vocabulary."""

    words: Vocabulary
    format: Format
    rounds_allowed: int

    # -- texts ------------------------------------------------------------------------------------------

    @property
    def system(self) -> str:
        """What the player was told."""
        thing, tool = self.words.thing, self.words.tool
        returned = (
            f"returns the {thing}s that meet all conditions, in alphabetical order (intersection)"
            if self.format == "c"
            else f"returns, for each section with conditions, the {thing}s that meet these, in alphabetical "
            "order (candidates); it does not intersect the lists"
        )
        return (
            f"You are playing a game: find the hidden {thing} in at most {self.rounds_allowed:,} guesses. "
            f"After each guess you are told section by section ({', '.join(self.words.sections)}) what is "
            f"right and what is wrong. The tool {tool} {returned}. Give each guess as <answer>name</answer>."
        )

    def feedback(self, number: int, guess: int, book: Encyclopaedia, target: int) -> str:
        """What the game says about a guess."""
        entry, hidden = book.entries[guess], book.entries[target]
        lines = [f"Round {number}: you guessed {self.words.names[guess]} (No. {entry.number:04d})."]
        for section, values in enumerate(entry.traits):
            right = hidden.traits[section]
            name = self.words.sections[section]
            if SECTIONS[section].kind == "number":
                lines.append(f"- {name}: {values[0]} ({_direction(values[0], right[0])})")
            else:
                marks = (
                    f"{self.words.values[section][value]} ({'correct' if value in right else 'wrong'})"
                    for value in values
                )
                lines.append(f"- {name}: {'; '.join(marks)}")
        lines.append(f"Result: {'correct' if guess == target else 'wrong'}")
        lines.append(f"Remaining rounds: {self.rounds_allowed - number}")
        return "\n".join(lines)

    def thought(self, number: int) -> str:
        """What the player says before its call."""
        return f"<think>{_THOUGHTS[number % len(_THOUGHTS)]}</think>"

    def arguments(self, query: Sequence[Condition]) -> str:
        """The arguments of the call, as JSON."""
        return json.dumps({"conditions": [self._condition(condition) for condition in query]})

    def _condition(self, condition: Condition, *, named: bool = True) -> dict[str, Any]:
        section, comparator, operands = condition
        where = {"section": self.words.sections[section]} if named else {}
        if comparator not in ("any", "none"):
            return {"type": "numeric", **where, "comparator": comparator, "threshold": operands[0]}
        words = self.words.values[section]
        shown: dict[str, Any] = {"type": "value", **where, "values": [words[value] for value in operands]}
        return shown | {"exclude": True} if comparator == "none" else shown

    def result(self, round_: Round, book: Encyclopaedia) -> str:
        """What the call returned, as JSON."""
        lists = [self._names(creatures, book) for creatures in round_.lists]
        if self.format == "c":
            return '{"intersection": [' + lists[0] + "]}"
        heads = self._heads(round_.query)
        return '{"per_section": [' + ", ".join(f"{h}{n}]}}" for h, n in zip(heads, lists, strict=True)) + "]}"

    def _heads(self, query: Sequence[Condition]) -> list[str]:
        heads = []
        for section, conditions in sections_of(query):
            shown = json.dumps([self._condition(one, named=False) for one in conditions])
            name = json.dumps(self.words.sections[section])
            heads.append(f'{{"section": {name}, "conditions": {shown}, "candidates": [')
        return heads

    def _names(self, creatures: int, book: Encyclopaedia) -> str:
        found = '", "'.join(compress(self.words.names, book.flags(creatures)))
        return f'"{found}"' if creatures else ""

    def guess(self, answer: int) -> str:
        """The player's next guess."""
        return f"<answer>{self.words.names[answer]}</answer>"

    # -- messages and their tokens ----------------------------------------------------------------------

    def messages(self, rollout: Rollout) -> Iterator[Message]:
        """The whole game as chat messages."""
        yield {"role": "system", "content": self.system}
        for number, round_ in enumerate(rollout.rounds, 1):
            yield from self._round(number, round_, rollout)

    def _round(self, number: int, round_: Round, rollout: Rollout) -> Iterator[Message]:
        feedback = self.feedback(number, round_.guess, rollout.book, rollout.target)
        called = f"call_{result_at(number)}"
        function = {"name": self.words.tool, "arguments": self.arguments(round_.query)}
        yield {"role": "user", "content": feedback}
        yield {
            "role": "assistant",
            "content": self.thought(number),
            "tool_calls": [{"id": called, "type": "function", "function": function}],
        }
        content = self.result(round_, rollout.book)
        yield {"role": "tool", "tool_call_id": called, "name": self.words.tool, "content": content}
        yield {"role": "assistant", "content": self.guess(round_.answer)}

    def tokens(self, number: int, round_: Round, book: Encyclopaedia, target: int) -> tuple[int, int, int]:
        """Tokens of a round: of its feedback, its result, and of the two messages of the player."""
        feedback = tokens.count(self.feedback(number, round_.guess, book, target) + "\n")
        call = f"{self.thought(number)}\n{self.words.tool}\n{self.arguments(round_.query)}\n"
        spoken = tokens.count(f"{call}{self.guess(round_.answer)}\n")
        return feedback, self.result_tokens(round_, book), spoken

    def result_tokens(self, round_: Round, book: Encyclopaedia) -> int:
        """Tokens of a result, counted by the names in it."""
        if self.format == "c":
            return self._frame + self.list_tokens(round_.lists[0], book)
        heads = self._heads(round_.query)
        lists = sum(self.list_tokens(creatures, book) for creatures in round_.lists)
        # One name stands for each list, and is taken out again.
        frame = '{"per_section": [' + ", ".join(f'{head}"a"]}}' for head in heads) + "]}\n"
        return tokens.count(frame) - len(heads) + lists

    @cached_property
    def _frame(self) -> int:
        return tokens.count('{"intersection": ["a"]}\n') - 1

    def list_tokens(self, creatures: int, book: Encyclopaedia) -> int:
        """Tokens of the names of a list and of what stands between them."""
        names = sum(compress(self.words.name_tokens, book.flags(creatures)))
        return names + _BETWEEN * max(0, creatures.bit_count() - 1)


_BETWEEN = 2
"""Tokens of what stands between two names: ``",`` and `` "``."""


def _direction(guessed: int, right: int) -> str:
    if guessed == right:
        return "correct"
    return f"wrong, too {'low' if guessed < right else 'high'}"


def message_tokens(message: Message) -> int:
    """Tokens of a message, by the tokenizer."""
    text = message["content"]
    for call in message.get("tool_calls", []):
        text += f"\n{call['function']['name']}\n{call['function']['arguments']}"
    return tokens.count(text + "\n")
