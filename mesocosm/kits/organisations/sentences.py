"""Sentences of a world by what they tell: for measuring what could be skipped without being read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from mesocosm.kits.organisations.telling import Letter
from mesocosm.worlds import tokens

Role = Literal["evidence", "lookalike", ""]
_END = re.compile(r"(?<=[.!?])(?<![ap]\.m\.)\s+")
_WORD = re.compile(r"[A-Za-z']+|\d[\d:.,]*")
_NUMBERS = frozenset(
    re.findall(
        r"\S+",
        """one two three four five six seven eight nine ten eleven twelve noon morning afternoon half hour
        hours day days week weeks minutes today tomorrow am pm monday tuesday wednesday thursday friday
        saturday sunday january february march april may june july august september october november
        december""",
    )
)
_RUN = 8


@dataclass(frozen=True)
class Sentence:
    """A sentence of a message, what it tells, and the telling that it is a part of."""

    text: str
    role: Role
    telling: tuple[str, int] | None
    letter: Letter

    @property
    def size(self) -> int:
        """Its tokens."""
        return tokens.count(self.text)


def sentences_of(letters: Iterable[Letter]) -> list[Sentence]:
    """Return the sentences of messages: tellings of what matters are evidence, all others look-alikes."""
    found = []
    for letter in letters:
        for paragraph in letter.body.split("\n\n"):
            for text in _END.split(paragraph):
                if not text.strip():
                    continue
                telling = next(
                    (n for n, one in enumerate(letter.tellings) if text in one.span or one.span in text), None
                )
                role: Role = ""
                if telling is not None:
                    role = "evidence" if letter.tellings[telling].matters else "lookalike"
                found.append(Sentence(text, role, None if telling is None else (letter.key, telling), letter))
    return found


def first_names_met_again(letters: Sequence[Letter], names: Iterable[str]) -> float:
    """Return the share of the first names in texts and headers that occur in two messages or more."""
    known = set(names)
    counts: Counter[str] = Counter()
    for letter in letters:
        said = {
            word
            for word in _WORD.findall(f"{letter.body} {letter.sender.first} {letter.to.first}")
            if word in known
        }
        counts.update(said)
    return sum(count > 1 for count in counts.values()) / max(len(counts), 1)


def repeated_runs(texts: Iterable[str], names: Iterable[str]) -> float:
    """Return the share of runs of eight words that occur twice, with names, numbers and times masked."""
    masked = {part for name in names for part in _WORD.findall(name)}
    runs: Counter[tuple[str, ...]] = Counter()
    for text in texts:
        words = [
            "#" if word in masked or word.lower() in _NUMBERS or word[0].isdigit() else word.lower()
            for word in _WORD.findall(text)
        ]
        runs.update(tuple(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1))
    total = runs.total()
    return sum(count for count in runs.values() if count > 1) / total if total else 0.0


def skipped(
    sentences: Sequence[Sentence], scores: Sequence[float], roles: frozenset[Role], recall: float = 0.98
) -> float:
    """Return the share of the tokens that can be dropped while so many of the tellings keep their best
    sentence."""
    best: dict[tuple[str, int], float] = {}
    for sentence, score in zip(sentences, scores, strict=True):
        if sentence.telling is not None and sentence.role in roles:
            best[sentence.telling] = max(best.get(sentence.telling, score), score)
    if not best:
        return 0.0
    bound = sorted(best.values())[int(len(best) * (1 - recall))]
    total = sum(sentence.size for sentence in sentences)
    return (
        sum(sentence.size for sentence, score in zip(sentences, scores, strict=True) if score < bound) / total
    )


def dropped_by(sentences: Sequence[Sentence], drops: Sequence[bool]) -> tuple[float, float]:
    """Return the share of the tokens that a rule drops, and of the evidence that it loses."""
    total = sum(sentence.size for sentence in sentences)
    gone = sum(sentence.size for sentence, drop in zip(sentences, drops, strict=True) if drop)
    evidence = [drop for sentence, drop in zip(sentences, drops, strict=True) if sentence.role == "evidence"]
    return gone / max(total, 1), sum(evidence) / max(len(evidence), 1)
