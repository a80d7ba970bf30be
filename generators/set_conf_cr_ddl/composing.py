"""Mails of one form, whether they say something that matters or not."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from mesocosm.generators.set_conf_cr_ddl.conferences import Contact, Edition, Mail, Office
from mesocosm.generators.set_conf_cr_ddl.wording import aside, finish
from mesocosm.kits.prose import Prose, RecentRuns, Topic
from mesocosm.worlds import tokens

SMALL = 12
"""Submissions up to which mails are short: else little but evidence would fit."""
_OFFICIAL: tuple[Topic, ...] = ("author_notes",)
_AMONG_COLLEAGUES: tuple[Topic, ...] = ("research", "conference")


def mail_size(submissions: int) -> tuple[int, int]:
    """The least and the most tokens of a mail's text, by how many submissions there are."""
    return (25, 80) if submissions <= SMALL else (70, 230)


class Composer:
    """Writes texts of a size drawn beforehand, which statements share with sentences about anything else."""

    def __init__(
        self,
        rng: random.Random,
        prose: Prose,
        size: tuple[int, int],
        office: Office,
        memory: RecentRuns,
    ) -> None:
        self._rng = rng
        self._said = memory
        self._prose = prose
        self._size = size
        self._office = office

    def author_of(self, edition: Edition) -> Contact:
        """Return who writes for this edition of the conference."""
        office, chair = edition.chairs
        return office if self._rng.random() < 0.6 else chair

    def official(
        self, edition: Edition, author: Contact, facts: Sequence[str], size: int | None = None
    ) -> str:
        """A text of a conference to authors. A fact of several lines stands by itself."""
        rng, label = self._rng, edition.label
        hello = rng.choice(("Dear authors,", "Dear author,", "Dear colleagues,", f"Dear {label} authors,"))
        if author.person:
            name = f"{author.name}, {label}"
        else:
            name = rng.choice((f"The {label} chairs", author.name, f"Your {label} team"))
        goodbye = f"{rng.choice(('Best regards', 'Kind regards', 'Best wishes', 'Many thanks'))},\n{name}"
        return self._text(hello, facts, goodbye, _OFFICIAL, size)

    def personal(self, author: Contact, facts: Sequence[str]) -> str:
        """A text of a colleague to the user."""
        user = self._office.user.person
        name = author.person.first if author.person else author.name
        hello = f"{self._rng.choice(('Hi', 'Hello', 'Dear'))} {user.first if user else ''},"
        goodbye = f"{self._rng.choice(('Best', 'Cheers', 'Regards'))},\n{name}"
        return self._text(hello, facts, goodbye, _AMONG_COLLEAGUES, None)

    def longer(self, mail: Mail, more: int) -> Mail:
        """A conference's mail with a further paragraph of about so many tokens, if these are enough for a
        sentence."""
        left = more
        sentences: list[str] = []
        while left > 12:
            sentences.append(self._aside(_OFFICIAL[0], sentences))
            left -= tokens.count(sentences[-1])
        hello, _, rest = mail.body.partition("\n\n")
        return replace(mail, body="\n\n".join(part for part in (hello, " ".join(sentences), rest) if part))

    def _text(
        self, hello: str, facts: Sequence[str], goodbye: str, topics: Sequence[Topic], size: int | None
    ) -> str:
        rng = self._rng
        left = (size or rng.randint(*self._size)) - tokens.count(hello) - tokens.count(goodbye)
        left -= sum(map(tokens.count, facts))
        sentences: list[str] = []
        while left > 12 or not (sentences or facts):
            sentences.append(self._aside(rng.choice(topics), sentences))
            left -= tokens.count(sentences[-1])
        # In their order, wherever they come.
        places = sorted(rng.randint(0, len(sentences)) for _ in facts)
        for place, fact in reversed(list(zip(places, facts, strict=True))):
            sentences.insert(place, fact)
        return finish("\n\n".join([hello, *self._paragraphs(sentences), goodbye]))

    def _aside(self, topic: Topic, said: Sequence[str]) -> str:
        """Write an aside after ``said``, preferably unused elsewhere."""
        return self._said.draw(lambda: aside(self._prose, topic), said[-1] if said else "")

    def _paragraphs(self, sentences: Sequence[str]) -> list[str]:
        blocks: list[list[str]] = [[]]
        for sentence in sentences:
            if "\n" in sentence:
                blocks += [[sentence], []]
            elif len(blocks[-1]) >= self._rng.randint(1, 4):
                blocks.append([sentence])
            else:
                blocks[-1].append(sentence)
        return [" ".join(block) for block in blocks if block]
