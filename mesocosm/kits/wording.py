"""Statements in many wordings, texts for HTML or plain text, and one author's way to write dates."""

from __future__ import annotations

import datetime as dt
import html
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

Line = str
Block = str | list[Line]
"""A paragraph, or the lines of a list."""


@dataclass
class Draft:
    """A text before it is known whether it becomes HTML or plain text."""

    blocks: list[Block] = field(default_factory=list)

    def html(self) -> str:
        """As Canvas keeps announcements."""
        return "".join(_html(block) for block in self.blocks)

    def plain(self) -> str:
        """As mails and messages are written."""
        return "\n\n".join(
            block if isinstance(block, str) else "\n".join(f"- {line}" for line in block)
            for block in self.blocks
        )


def _html(block: Block) -> str:
    if isinstance(block, str):
        return f"<p>{html.escape(block, quote=False).replace(chr(10), '<br>')}</p>"
    return "<ul>" + "".join(f"<li>{html.escape(line, quote=False)}</li>" for line in block) + "</ul>"


class WordingVoice:
    """One author's way to write down facts: the same format throughout a text, another one in the next."""

    DATES: ClassVar[tuple[str, ...]] = (
        "{day:%A}, {day:%B} {day.day}, {day.year}",
        "{day:%A} {day.day} {day:%B} {day.year}",
        "{day:%Y-%m-%d}",
        "{day:%B} {day.day}, {day.year}",
        "{day:%a} {day.day} {day:%b} {day.year}",
    )
    CLOCKS: ClassVar[tuple[str, ...]] = ("24", "24", "am", "a.m.")

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._date = rng.choice(self.DATES)
        self._clock = rng.choice(self.CLOCKS)

    def pick(self, *texts: str) -> str:
        return self._rng.choice(texts)

    def chance(self, share: float) -> bool:
        return self._rng.random() < share

    def date(self, day: dt.date) -> str:
        return self._date.format(day=day)

    def time(self, time: dt.time) -> str:
        # 12 p.m. is noon to most people and midnight to some.
        if self._clock == "24" or time.hour % 12 == 0:
            return f"{time:%H:%M}"
        half = self._clock if time.hour < 12 else self._clock.replace("a", "p")
        return f"{(time.hour - 1) % 12 + 1}:{time:%M} {half.upper() if half in ('am', 'pm') else half}"


def saying(pattern: str) -> Callable[[str], bool]:
    """Make a case-insensitive test from a pattern in small letters.

    It takes a third of the time of ``re.IGNORECASE``, with which each alternative is tried everywhere.
    """
    search = re.compile(pattern).search
    return lambda text: search(text.lower()) is not None


_OPTION = re.compile(r"\[([^\[\]|]*(?:\|[^\[\]|]*)+)\]")


class Phrases:
    """Draws wordings, each way in turn before any comes again; ``[this|that]`` inside one is either.

    >>> Phrases(random.Random(1)).say(("[please |]write to {who}",), who="Ann")
    'Please write to Ann.'
    """

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._decks: dict[tuple[str, ...], list[str]] = {}

    def say(self, ways: Sequence[str], **values: str) -> str:
        """A sentence: one of the ways with its values, a capital letter and a full stop."""
        said = self.part(ways, **values)
        return f"{said[0].upper()}{said[1:]}{'' if said[-1] in '.?!' else '.'}"

    def part(self, ways: Sequence[str], **values: str) -> str:
        """One of the ways with its values, as it stands."""
        deck = self._decks.setdefault(tuple(ways), [])
        if not deck:
            deck += self._rng.sample(list(ways), len(ways))
        chosen = _OPTION.sub(lambda found: self._rng.choice(found[1].split("|")), deck.pop())
        return chosen.format(**values)
