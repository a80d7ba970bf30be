"""Rollouts written down: rounds as chat messages, in either vocabulary.

A round is four messages: feedback on a guess (user), a call (assistant), its result (tool), the next guess
(assistant). The tokens of a message are those of its text, ended by a newline; the text of a call is its
content, the tool's name and the arguments, each on a line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress, pairwise
from typing import Any, Literal

from mesocosm.kits.rollouts.encyclopaedia import (
    SECTIONS,
    Encyclopaedia,
    EncyclopaediaEntry,
    EntryCondition,
    compare,
)
from mesocosm.kits.rollouts.twins import SymbolVocabulary
from mesocosm.worlds import tokens

Format = Literal["c", "v"]
"""Concise: a call returns the creatures that meet all conditions. Verbose: one list per section."""
FORMATS: tuple[Format, ...] = ("c", "v")
PER_ROUND = 4
_MOST_IN_COMMON = 40
ChatMessage = dict[str, Any]

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
    query: tuple[EntryCondition, ...]
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
        """Return which values of a round's guess are right, by section. Rounds count from 1."""
        guess = self.rounds[number - 1].guess
        return compare(self.book.entries[guess], self.book.entries[self.target])


def feedback_at(number: int) -> int:
    """The index of the message that holds a round's feedback; the system message is 0."""
    return 1 + PER_ROUND * (number - 1)


def result_at(number: int) -> int:
    """The index of the message that holds a round's result."""
    return 3 + PER_ROUND * (number - 1)


def few_in_common(lists: Sequence[int]) -> int:
    """The creatures that all of several lists hold, where these are few enough to be asked for; else none."""
    if len(lists) < 2:
        return 0
    common = lists[0]
    for creatures in lists[1:]:
        common &= creatures
    return common if 2 <= common.bit_count() <= _MOST_IN_COMMON else 0


def sections_of(query: Sequence[EntryCondition]) -> list[tuple[int, list[EntryCondition]]]:
    found: dict[int, list[EntryCondition]] = {}
    for condition in query:
        found.setdefault(condition.section, []).append(condition)
    return list(found.items())


@dataclass(frozen=True)
class Scribe:
    """Writes rounds of one game in one vocabulary."""

    words: SymbolVocabulary
    format: Format
    rounds_allowed: int

    # -- texts ------------------------------------------------------------------------------------------

    @property
    def system(self) -> str:
        """The player's system prompt."""
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
        """Write the game's feedback on a guess."""
        entry, hidden = book.entries[guess], book.entries[target]
        lines = [self.guessed(number, guess, entry)]
        lines += [self.line(at, values, hidden.traits[at]) for at, values in enumerate(entry.traits)]
        return ("".join(lines) + self.outcome(number, guess == target)).removesuffix("\n")

    def guessed(self, number: int, guess: int, entry: EncyclopaediaEntry) -> str:
        """The first line of feedback; every line ends in a newline."""
        return f"Round {number}: you guessed {self.words.names[guess]} (No. {entry.number:04d}).\n"

    def line(self, section: int, values: Sequence[int], right: Sequence[int]) -> str:
        """Write the feedback on one section."""
        name = self.words.sections[section]
        if SECTIONS[section].kind == "number":
            return f"- {name}: {values[0]} ({_direction(values[0], right[0])})\n"
        words = self.words.values[section]
        marks = (f"{words[value]} ({'correct' if value in right else 'wrong'})" for value in values)
        return f"- {name}: {'; '.join(marks)}\n"

    def outcome(self, number: int, solved: bool) -> str:
        """The last lines of feedback."""
        result = "correct" if solved else "wrong"
        return f"Result: {result}\nRemaining rounds: {self.rounds_allowed - number}\n"

    def thought(self, number: int) -> str:
        """Write the player's text before its call."""
        return f"<think>{_THOUGHTS[number % len(_THOUGHTS)]}</think>"

    def arguments(self, query: Sequence[EntryCondition]) -> str:
        """The arguments of the call, as JSON."""
        return f'{{"conditions": [{", ".join(map(self.condition, query))}]}}'

    def condition(self, condition: EntryCondition, *, named: bool = True) -> str:
        """A condition as JSON, with its section or without."""
        section, comparator, operands = condition
        where = {"section": self.words.sections[section]} if named else {}
        if comparator not in ("any", "none"):
            return json.dumps(
                {"type": "numeric", **where, "comparator": comparator, "threshold": operands[0]}
            )
        words = self.words.values[section]
        shown: dict[str, Any] = {"type": "value", **where, "values": [words[value] for value in operands]}
        return json.dumps(shown | {"exclude": True} if comparator == "none" else shown)

    def result(self, round_: Round, book: Encyclopaedia) -> str:
        """Serialise the call's result as JSON."""
        lists = [self._names(creatures, book) for creatures in round_.lists]
        if self.format == "c":
            return '{"intersection": [' + lists[0] + "]}"
        asked = sections_of(round_.query)
        parts = (self.part(*one, names) for one, names in zip(asked, lists, strict=True))
        return f'{{"per_section": [{", ".join(parts)}]}}'

    def part(self, section: int, conditions: Sequence[EntryCondition], names: str) -> str:
        """Write a verbose result's part on one section as JSON; the names are JSON already."""
        name = json.dumps(self.words.sections[section])
        shown = ", ".join(self.condition(one, named=False) for one in conditions)
        return f'{{"section": {name}, "conditions": [{shown}], "candidates": [{names}]}}'

    def _names(self, creatures: int, book: Encyclopaedia) -> str:
        found = '", "'.join(compress(self.words.names, book.flags(creatures)))
        return f'"{found}"' if creatures else ""

    def guess(self, answer: int) -> str:
        """The player's next guess."""
        return f"<answer>{self.words.names[answer]}</answer>"

    # -- messages ---------------------------------------------------------------------------------------

    def messages(self, rollout: Rollout) -> Iterator[ChatMessage]:
        """The whole game as chat messages."""
        yield {"role": "system", "content": self.system}
        for number, round_ in enumerate(rollout.rounds, 1):
            yield from self._round(number, round_, rollout)

    def _round(self, number: int, round_: Round, rollout: Rollout) -> Iterator[ChatMessage]:
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


def _direction(guessed: int, right: int) -> str:
    if guessed == right:
        return "correct"
    return f"wrong, too {'low' if guessed < right else 'high'}"


def message_tokens(message: ChatMessage) -> int:
    """Tokens of a message, by the tokenizer."""
    text = message["content"]
    for call in message.get("tool_calls", []):
        text += f"\n{call['function']['name']}\n{call['function']['arguments']}"
    return tokens.count(text + "\n")


def heading(index: int, message: ChatMessage) -> str:
    """Return the heading of a message; no other message begins with it."""
    role = message["role"]
    return f"Message {index} ({role}{', result of ' + message['tool_call_id'] if role == 'tool' else ''})"


def body(message: ChatMessage) -> str:
    """Return a message's content and calls."""
    parts = [message["content"]]
    for call in message.get("tool_calls", []):
        function = call["function"]
        parts.append(f"[{call['id']}] {function['name']}({function['arguments']})")
    return "\n".join(parts)


def as_text(messages: Iterable[ChatMessage]) -> str:
    """All messages, each under its heading."""
    return "\n\n".join(_each(messages))


def _each(messages: Iterable[ChatMessage]) -> Iterator[str]:
    for index, message in enumerate(messages):
        yield f"{heading(index, message)}\n{body(message)}"


_HEADING = re.compile(r"^Message \d+ \((\w+)[^)\n]*\)\n", re.MULTILINE)


def read_text(text: str) -> Iterator[ChatMessage]:
    """Parse the messages of a text by ``as_text``, ignoring what surrounds it."""
    heads = list(_HEADING.finditer(text))
    ends = [following.start() for _, following in pairwise(heads)] + [len(text)]
    for head, end in zip(heads, ends, strict=True):
        yield {"role": head[1], "content": text[head.end() : end].partition("\n\n")[0]}
