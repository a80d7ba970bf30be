"""The texts of all the worlds: written once, and handed out anew for each."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from itertools import cycle
from time import process_time
from typing import Any

from mesocosm.kits.prose import TOPICS, Prose
from mesocosm.kits.prose.words import cost

Call = tuple[str, dict[str, Any]]
"""A tool and its arguments."""

COMMON, FREQUENT, SELDOM, RARE, MISSING = "the", "room", "symposium", "xylograph", "qvzzyx"
"""Words in all texts, in every fourth, in one of a hundred, in one of a thousand, and in none."""

_BEGIN = datetime(2023, 1, 15, tzinfo=UTC)
_PAST = timedelta(days=725)
_LENGTHS = (60, 90, 120, 150, 240)


class Texts:
    """Prose in the order in which it was written; ``tokens`` counts what one world was given."""

    def __init__(self) -> None:
        self._prose = Prose(random.Random(0))
        self._topics = cycle(sorted(TOPICS))
        self._lengths = cycle(_LENGTHS)
        self._texts: list[tuple[str, int]] = []
        self._titles: list[tuple[str, int]] = []
        self.rewind()

    def rewind(self) -> None:
        """Begin again, for another world."""
        self._next_text = self._next_title = 0
        self.tokens = 0
        self.writing = 0.0
        """CPU seconds that went into writing: not those of the service that is filled."""
        self.rng = random.Random(0)

    def text(self) -> str:
        """A few paragraphs of 60 to 240 tokens."""
        if self._next_text == len(self._texts):
            self._write(self._texts, 1000, self._new_text)
        text, tokens = self._texts[self._next_text]
        self._next_text += 1
        self.tokens += tokens
        return text

    def title(self) -> str:
        """A short line."""
        if self._next_title == len(self._titles):
            self._write(self._titles, 1000, self._new_title)
        text, tokens = self._titles[self._next_title]
        self._next_title += 1
        self.tokens += tokens
        return text

    def facts(self, tokens: int) -> None:
        """Count what a record shows besides its texts: ids, dates, addresses, amounts."""
        self.tokens += tokens

    def _write(self, kept: list[tuple[str, int]], many: int, write: Any) -> None:
        started = process_time()
        for _ in range(many):
            text = write()
            kept.append((text, cost(text)))
        self.writing += process_time() - started

    def _new_text(self) -> str:
        text = self._prose.message(next(self._topics), next(self._lengths)).body
        return f"{text}\n\nThe {RARE} is ready." if len(self._texts) % 1000 == 500 else text

    def _new_title(self) -> str:
        return self._prose.sentence(next(self._topics))[:80].strip()


def moment(share: float) -> datetime:
    """A moment in the two years before the worlds begin: 0 is the first, 1 the last."""
    return (_BEGIN + _PAST * share).replace(microsecond=0)


def stamp(share: float) -> str:
    """Such a moment as text."""
    return moment(share).strftime("%Y-%m-%dT%H:%M:%SZ")


def pages(tool: str, last: int, page: str = "page", **arguments: Any) -> list[Call]:
    """The first page of a list, one in the middle and the last."""
    numbers = sorted({1, max(1, last // 2), max(1, last)})
    return [(tool, {**arguments, page: number}) for number in numbers]


def words(tool: str, argument: str = "query", **arguments: Any) -> list[Call]:
    """Searches for words of every frequency."""
    wanted = (COMMON, FREQUENT, SELDOM, RARE, MISSING, f"{FREQUENT} {SELDOM}")
    return [(tool, {**arguments, argument: word}) for word in wanted]
