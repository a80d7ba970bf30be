"""Scoring: parsing an answer from a reply, and its value.

- The answer is what stands in the last complete ``<answer>...</answer>``; a reply without one has none.
- Names are compared without upper and lower case, blanks, hyphens, underscores, dots, quotation marks,
  brackets and what marks up a text (asterisks, backslashes). They may be listed in any usual way; what stands
  before a colon, and a creature's number in brackets, is no part of a name.
- A number is right when the answer holds that number and no other (12 and "round 12" are, "12 or 13" is not),
  and "not" or the like does not stand right before it.
- Yes and no are the words yes, true, no, false; an answer with both kinds has none, and so has one in which
  "not" or the like stands before one of them ("not true").
- A pair is worth half for each name at its place. One name alone is worth what it would be with a wrong one
  beside it, so leaving a name out never pays; with a third name it is worth nothing.
- A set is worth its F1, each name counted once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal

from mesocosm.kits.rollouts.questions import Type
from mesocosm.kits.rollouts.transcript import Format

AnswerKind = Literal["number", "boolean", "name", "pair", "set"]

_TAGGED = re.compile(r"<answer>((?:(?!<answer>).)*?)</answer>", re.DOTALL | re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:,\d{3})*(?:\.\d+)?(?![\w])")
_WORDS = {"yes": True, "true": True, "no": False, "false": False}
_DENIALS = frozenset(
    [
        "not",
        "never",
        "neither",
        "nor",
        "hardly",
        "cannot",
        "cant",
        "isnt",
        "dont",
        "doesnt",
        "didnt",
        "untrue",
    ]
)
_PLAIN = str.maketrans("", "", " \t\n-_.'\"‘’“”`*!\\[](){}")
_BETWEEN_NAMES = re.compile(r"[,;|/&\n]|->|→|\b(?:and|then)\b|\s\d+[.)]\s", re.IGNORECASE)
_BESIDE = re.compile(r"^[^:]*:|^\s*(?:[-*•]|\d+[.)])\s+|\(no\.? ?\d+\)", re.IGNORECASE)


def kind_of(type: Type, format: Format) -> AnswerKind:
    """Return the kind of answer to a question."""
    if type == "find_duplicates_tool":
        return "boolean"
    if type == "find_target_offsets_tool":
        return "pair"
    if type == "intersection":
        return "name" if format == "c" else "set"
    return "number"


def answer_in(reply: str) -> str | None:
    """The last complete answer of a reply, or ``None``."""
    found = _TAGGED.findall(reply)
    return found[-1].strip() if found else None


def score(answer: str | None, gold: Sequence[str], kind: AnswerKind) -> float:
    """Score an answer from 0 to 1; a missing one gets 0."""
    if answer is None or not answer.strip():
        return 0.0
    return _JUDGES[kind](answer, gold)


def plain(name: str) -> str:
    return name.casefold().translate(_PLAIN)


def names_in(answer: str) -> list[str]:
    """The names of a list: an array, or parts between commas, semicolons, bars, arrows, lines and ands."""
    parts = (_BESIDE.sub("", part) for part in _BETWEEN_NAMES.split(answer))
    return [name for part in parts if (name := plain(part))]


def number_in(answer: str) -> int | None:
    """The one whole number that an answer holds; ``None`` if it holds none, or several, or a denied one."""
    found = {float(text.replace(",", "")) for text in _NUMBER.findall(answer)}
    before = (_words_of(answer[: one.start()])[-1:] for one in _NUMBER.finditer(answer))
    if len(found) != 1 or any(_DENIALS.intersection(words) for words in before):
        return None
    (number,) = found
    return int(number) if number.is_integer() else None


def _words_of(text: str) -> list[str]:
    return re.findall(r"[a-z]+", text.casefold().replace("'", "").replace("\u2019", ""))


def boolean_in(answer: str) -> bool | None:
    """Parse yes or no; ``None`` for neither, both, or a negated word."""
    words = _words_of(answer)
    places = [place for place, word in enumerate(words) if word in _WORDS]
    said = {_WORDS[words[place]] for place in places}
    denied = any(_DENIALS.intersection(words[max(0, place - 2) : place]) for place in places)
    return said.pop() if len(said) == 1 and not denied else None


def _number(answer: str, gold: Sequence[str]) -> float:
    return float(number_in(answer) == int(gold[0]))


def _boolean(answer: str, gold: Sequence[str]) -> float:
    return float(boolean_in(answer) == (gold[0] == "yes"))


def _name(answer: str, gold: Sequence[str]) -> float:
    return float(set(names_in(answer)) == {plain(gold[0])})


def _pair(answer: str, gold: Sequence[str]) -> float:
    names = names_in(answer)
    if len(names) > len(gold):
        return 0.0
    right = sum(name == plain(wanted) for name, wanted in zip(names, gold, strict=False))
    return right / len(gold)


def _set(answer: str, gold: Sequence[str]) -> float:
    said, wanted = set(names_in(answer)), {plain(name) for name in gold}
    right = len(said & wanted)
    return 2 * right / (len(said) + len(wanted)) if right else 0.0


_JUDGES: dict[AnswerKind, Callable[[str, Sequence[str]], float]] = {
    "number": _number,
    "boolean": _boolean,
    "name": _name,
    "pair": _pair,
    "set": _set,
}
