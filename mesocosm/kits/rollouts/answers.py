"""Answering the questions from the text alone: what the reference solver does.

It shares nothing with the engine but the wording: messages are parsed, nothing is looked up. That makes it an
independent check of the golds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from mesocosm.kits.rollouts.transcript import read_text

_HEAD = re.compile(r"Round (\d+): you guessed (\w+) ")
_LINE = re.compile(r"^- ([^:]+): (.+)$", re.MULTILINE)
_MARKED = re.compile(r"(.+?) \((correct|wrong)[^)]*\)(?:; |$)")


@dataclass
class Feedback:
    """The feedback of a round: each section's values with their marks."""

    sections: dict[str, list[tuple[str, bool]]]


@dataclass
class History:
    """Feedback and result lists that were read, by round."""

    feedback: dict[int, Feedback] = field(default_factory=dict)
    results: dict[int, dict[str, list[str]]] = field(default_factory=dict)
    """By section; a concise list has the empty name."""

    @classmethod
    def of(cls, messages: Iterable[Mapping[str, object]]) -> History:
        """Read messages with their ``role`` and ``content``."""
        history, number = cls(), 0
        for message in messages:
            content = str(message["content"])
            if message["role"] == "user" and (head := _HEAD.match(content)):
                number = int(head[1])
                history.feedback[number] = _feedback(content)
            elif message["role"] == "tool":
                history.results[number] = _lists(content)
        return history


def _feedback(text: str) -> Feedback:
    return Feedback(
        {
            section: [(value, mark == "correct") for value, mark in _MARKED.findall(marked)]
            for section, marked in _LINE.findall(text)
        }
    )


def _lists(text: str) -> dict[str, list[str]]:
    data = json.loads(text)
    if "intersection" in data:
        return {"": data["intersection"]}
    return {part["section"]: part["candidates"] for part in data["per_section"]}


Reader = Callable[[History, re.Match[str]], str]
_READERS: list[tuple[re.Pattern[str], Reader]] = []


def answer_from(question: str, history: History) -> str:
    """The answer to a question as ``wording`` puts it; several names are separated by commas."""
    for pattern, read in _READERS:
        if found := pattern.search(question):
            return read(history, found)
    raise ValueError(f"not a question that can be read: {question[:200]!r}")


def answer_to(prompt: str) -> str | None:
    """The answer to a prompt that holds a history and then a question; ``None`` where it does not."""
    history, asked, question = prompt.rpartition("\n\nQuestion: ")
    messages = list(read_text(history)) if asked else []
    return answer_from(" ".join(question.split()), History.of(messages)) if messages else None


def answer_in_conversation(messages: Sequence[tuple[str, str]]) -> str | None:
    """The answer to the last message of a conversation (role and text of each); ``None`` where it has no
    history of the game."""
    if not any(role == "tool" for role, _ in messages):
        return None
    history = History.of({"role": role, "content": text} for role, text in messages[:-1])
    try:
        return answer_from(" ".join(messages[-1][1].split()), history)
    except ValueError:
        return None


def _reads(pattern: str) -> Callable[[Reader], Reader]:
    def register(read: Reader) -> Reader:
        _READERS.append((re.compile(pattern), read))
        return read

    return register


@_reads(r"How often does the \w+ (\w+) occur in the .*? of the result of round (\d+),")
def _occurrences(history: History, found: re.Match[str]) -> str:
    lists = history.results[int(found[2])].values()
    return str(sum(names.count(found[1]) for names in lists))


@_reads(r"Does the \w+ (\w+) occur both in the result of round (\d+) and in the result of round (\d+)\?")
def _in_both(history: History, found: re.Match[str]) -> str:
    held = (
        any(found[1] in names for names in history.results[int(number)].values())
        for number in (found[2], found[3])
    )
    return "yes" if all(held) else "no"


@_reads(r"In the candidates of the section (.+?) in the result of round (\d+),.*directly after (\w+)\?")
def _followers_in_section(history: History, found: re.Match[str]) -> str:
    return _after(history.results[int(found[2])][found[1]], found[3])


@_reads(r"In the list in the result of round (\d+),.*directly after (\w+)\?")
def _followers(history: History, found: re.Match[str]) -> str:
    return _after(history.results[int(found[1])][""], found[2])


def _after(names: list[str], name: str) -> str:
    at = names.index(name)
    return ", ".join(names[at + 1 : at + 3])


@_reads(r"sections were guessed right in round (\d+)\?")
def _right_sections(history: History, found: re.Match[str]) -> str:
    sections = history.feedback[int(found[1])].sections
    return str(sum(all(right for _, right in values) for values in sections.values()))


@_reads(r"how many rounds does the value (.+?) stand in the section (.+?), whether")
def _rounds_with_value(history: History, found: re.Match[str]) -> str:
    return str(
        sum(
            any(value == found[1] for value, _ in feedback.sections[found[2]])
            for feedback in history.feedback.values()
        )
    )


@_reads(r"which round is the number in the section (.+?) the highest")
def _highest(history: History, found: re.Match[str]) -> str:
    numbers = {
        number: int(feedback.sections[found[1]][0][0]) for number, feedback in history.feedback.items()
    }
    return str(max(numbers, key=lambda number: numbers[number]))


@_reads(r"scores of round (\d+) and round (\d+)\?.*Points by section: (.+?)\.")
def _difference(history: History, found: re.Match[str]) -> str:
    weights = {name: int(points) for name, points in re.findall(r"(?:^|, )(.+?) (\d+)", found[3])}
    scores = [
        sum(
            weights[section] * sum(right for _, right in values)
            for section, values in history.feedback[int(number)].sections.items()
        )
        for number in (found[1], found[2])
    ]
    return str(abs(scores[0] - scores[1]))


@_reads(r"in the list of every tool result of the whole history\?")
def _in_all(history: History, found: re.Match[str]) -> str:
    return ", ".join(_common(lists[""] for lists in history.results.values()))


@_reads(r"in all of the lists \(candidates\) of the result of round (\d+),")
def _in_all_of_round(history: History, found: re.Match[str]) -> str:
    return ", ".join(_common(history.results[int(found[1])].values()))


def _common(lists: Iterable[list[str]]) -> list[str]:
    first, *others = lists
    sets = [set(names) for names in others]
    return [name for name in first if all(name in names for names in sets)]
