"""Sentences of a world by the facts they state, for measuring what could be skipped unread."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from mesocosm.families.exposure.sentences import MessageItems, Sentence
from mesocosm.kits.organisations.letters import Letter, Speaker
from mesocosm.kits.organisations.people import Person
from mesocosm.worlds import tokens

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
_HALF = re.compile(r" [ap]\.m\.")
_RUN = 8


def messages_of(letters: Sequence[Letter], me: Person, speaker: Speaker) -> MessageItems:
    """Return the messages of a world, sentence by sentence, with what untrained rules would drop.

    Args:
        letters: All messages, in order of time.
        me: Whose mailbox it is.
        speaker: Knows who has to do with what.
    """
    people = {who for one in letters for who in (one.sender, one.to, one.cc) if who}
    everybody = {
        who.first for one in letters for who in one.cast.story.roles.values() if isinstance(who, Person)
    }
    strangers = everybody - {who.first for who in people}
    about = {one.about for one in letters if any(told.matters for told in one.tellings)} - {None}
    theirs = {who for thing in about for who in speaker.around(thing)} - {me}
    keys = {part for who in theirs for part in (who.last, who.number) if part}
    names = {part for who in people for part in (who.first, who.last)} | everybody
    names |= {said.expression for one in letters for said in one.references}
    names |= {value.expression for one in letters for _, value in one.stated if value.form == "words"}
    sentences = [
        Sentence(
            text,
            tokens.count(text),
            letter.key,
            None if telling is None else f"{letter.key}:{telling}",
            telling is not None and letter.tellings[telling].matters,
            {
                "no unknown names": any(word in strangers for word in text.split()),
                "names of the question": not any(key in text for key in keys),
                "numbers and days": not any(
                    word[0].isdigit() or word.lower() in _NUMBERS for word in _WORD.findall(text)
                ),
                "headers": not ({letter.sender, letter.to} & theirs),
            },
        )
        for letter in letters
        for text, telling in _sentences(letter)
    ]
    return MessageItems(
        sentences,
        first_names_met_again(letters, everybody | {who.first for who in people}),
        repeated_runs([letter.body for letter in letters], names),
    )


def _sentences(letter: Letter) -> Iterator[tuple[str, int | None]]:
    """The sentences of a message, each with the number of the telling that it is a part of."""
    for paragraph in letter.body.split("\n\n"):
        for text in _END.split(paragraph):
            if text.strip():
                yield (
                    text,
                    next(
                        (n for n, one in enumerate(letter.tellings) if text in one.span or one.span in text),
                        None,
                    ),
                )


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
    """Return the share of runs of eight words that occur twice, with names, numbers and times masked.

    What is masked counts as one word: that two dates have the same form is no repetition.
    """
    masked = {part for name in names for part in _WORD.findall(name)}
    runs: Counter[tuple[str, ...]] = Counter()
    for text in texts:
        words: list[str] = []
        for word in _WORD.findall(_HALF.sub("", text)):
            hidden = word in masked or word.lower() in _NUMBERS or word[0].isdigit()
            if not (hidden and words and words[-1] == "#"):
                words.append("#" if hidden else word.lower())
        runs.update(tuple(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1))
    total = runs.total()
    return sum(count for count in runs.values() if count > 1) / total if total else 0.0
