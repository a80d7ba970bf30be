"""The part of a text that shows best what a search found in it.

SQLite's own ``snippet`` takes the square of how often words occur, and ``highlight`` that of a text's length;
neither can be interrupted. This takes time in proportion to the text, and passes ``deadlines.check``. What is
a form of which word is asked of an index of the same kind, in which are only the few words that may be one.
"""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from mesocosm.servers.documents.models import TOKENIZER
from mesocosm.worlds import deadlines

WORDS = 24
"""Words of an excerpt."""
_REACH = 160
"""Characters that about as many words have: what is found nearer to one another is shown together."""
_AROUND = 2_000
"""Characters on either side in which words for an excerpt are looked for."""
_MOST_WORDS, _MOST_PLACES = 20_000, 2_000
"""Of a text, after which nobody looks for a better excerpt."""
_WORD = re.compile(r"[^\W_]+")
_SENTENCE = re.compile(r"[.:!?]\s\W*\Z")
_GAP = 40
"""Characters that may be between a sentence and the next."""

Phrase = tuple[str, ...]
"""Words that stand together, folded."""


@dataclass(frozen=True)
class _Place:
    """Position of a phrase, in characters."""

    start: int
    end: int
    phrase: Phrase


def excerpts(phrases: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Of each text the words around what was looked for, which is set in ``**``; the beginning of a text that
    has none of it."""
    wanted = list(dict.fromkeys(filter(None, (_folded(_WORD.findall(phrase)) for phrase in phrases))))
    read = [_Text(text, wanted) for text in texts]
    forms = _forms(
        {word for phrase in wanted for word in phrase}, {one for text in read for one in text.likely}
    )
    return [one.excerpt(forms) for one in read]


def _folded(words: Sequence[str]) -> Phrase:
    return tuple(map(_fold, words))


def _fold(word: str) -> str:
    """A word without case and accents, as the index compares words."""
    if word.isascii():
        return word.lower()
    apart = unicodedata.normalize("NFD", word.casefold())
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def _forms(wanted: set[str], likely: set[str]) -> Mapping[str, frozenset[str]]:
    """By a word of a text, the wanted words that it is a form of."""
    found: dict[str, set[str]] = {}
    with closing(sqlite3.connect(":memory:")) as index:
        index.execute(f"CREATE VIRTUAL TABLE words USING fts5(word, tokenize='{TOKENIZER}')")
        index.executemany("INSERT INTO words VALUES (?)", ((word,) for word in sorted(likely)))
        for word in sorted(wanted):
            deadlines.check()
            for (form,) in index.execute("SELECT word FROM words WHERE words MATCH ?", (f'"{word}"',)):
                found.setdefault(form, set()).add(word)
    return {form: frozenset(words) for form, words in found.items()}


@dataclass
class _Text:
    text: str
    wanted: Sequence[Phrase]

    @cached_property
    def words(self) -> list[tuple[int, int, str]]:
        """Start, end and folded word, of words that begin as a wanted one: forms differ at the end only."""
        deadlines.check()
        beginnings = {word[:2] for phrase in self.wanted for word in phrase}
        likely = islice(_beginning(beginnings).finditer(self.text), _MOST_WORDS)
        folded = ((word.start(), word.end(), _fold(word[0])) for word in likely)
        return [one for one in folded if one[2][:2] in beginnings]

    @property
    def likely(self) -> set[str]:
        """The words that may be forms of those that are wanted."""
        return {word for _, _, word in self.words}

    def excerpt(self, forms: Mapping[str, frozenset[str]]) -> str:
        """The words around the best place."""
        places = list(islice(self._places(forms), _MOST_PLACES))
        first, last = _best(places) if places else (0, 0)
        behind = list(islice(_WORD.finditer(self.text, first, last + _AROUND), WORDS))
        before = list(_WORD.finditer(self.text, max(0, first - _AROUND), first))
        before = before[1:] if first > _AROUND else before  # of which the first may not be whole
        inside = sum(word.start() < last for word in behind)
        room = max(0, min(WORDS - inside, len(before)))
        # Better the beginning of a sentence, if what was found has room behind it.
        begins = (lead for lead in range(room + 1) if self._begins(before[-lead].start() if lead else first))
        lead = next(begins, room // 2)
        lead = min(len(before), max(lead, WORDS - len(behind)))
        start = before[-lead].start() if lead else first
        end = behind[: WORDS - lead][-1].end() if behind else len(self.text)
        start = 0 if not _WORD.search(self.text, 0, start) else start
        end = end if _WORD.search(self.text, end) else len(self.text)
        return self._marked(start, end, places)

    def _begins(self, at: int) -> bool:
        """True if a sentence begins at this word."""
        before = self.text[max(0, at - _GAP) : at]
        return _SENTENCE.search(before) is not None or (at <= _GAP and not _WORD.search(before))

    def _places(self, forms: Mapping[str, frozenset[str]]) -> Iterator[_Place]:
        by_first: dict[str, list[Phrase]] = {}
        for phrase in self.wanted:
            by_first.setdefault(phrase[0], []).append(phrase)
        deadlines.check()
        for start, end, word in self.words:
            for form in sorted(forms.get(word, ())):
                for phrase in by_first.get(form, ()):
                    to = self._end(end, phrase[1:], forms)
                    if to is not None:
                        yield _Place(start, to, phrase)

    def _end(self, end: int, rest: Phrase, forms: Mapping[str, frozenset[str]]) -> int | None:
        """Return the end of a phrase whose words follow here; ``None`` if they do not."""
        for wanted in rest:
            word = _WORD.search(self.text, end)
            if word is None or wanted not in forms.get(_fold(word[0]), ()):
                return None
            end = word.end()
        return end

    def _marked(self, start: int, end: int, places: Sequence[_Place]) -> str:
        parts, at = [" ... "] if start else [], start
        for place in places:
            if place.start >= at and place.end <= end:
                parts += [self.text[at : place.start], "**", self.text[place.start : place.end], "**"]
                at = place.end
        return "".join([*parts, self.text[at:end], *([" ... "] if end < len(self.text) else [])])


def _beginning(beginnings: set[str]) -> re.Pattern[str]:
    """Words that begin like one of these, or with letters that may be like theirs but for an accent."""
    ways = "|".join(
        "".join(f"(?:{re.escape(letter)}|[^\x00-\x7f])" for letter in beginning)
        for beginning in sorted(beginnings)
    )
    return re.compile(rf"(?<![^\W_])(?:{ways})[^\W_]*", re.IGNORECASE)


def _best(places: Sequence[_Place]) -> tuple[int, int]:
    """Start and end of what an excerpt shows: most phrases, then most places, the earliest."""
    inside: Counter[Phrase] = Counter()
    best, found, begin = (0, 0), (0, 0), 0
    for place in places:
        inside[place.phrase] += 1
        while places[begin].start < min(place.start, place.end - _REACH):
            left = places[begin].phrase
            inside[left] -= 1
            if not inside[left]:
                del inside[left]
            begin += 1
        score = (len(inside), inside.total())
        if score > best:
            best, found = score, (places[begin].start, place.end)
    return found
