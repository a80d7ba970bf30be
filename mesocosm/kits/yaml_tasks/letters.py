"""How letters look, whatever they say: greetings, names below, subjects, senders."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

from mesocosm.kits.prose import Prose
from mesocosm.kits.prose.words import cost
from mesocosm.kits.yaml_tasks.filters import FILTERS

_HELLO = ("Hello {},", "Hi {},", "Dear {},", "Good morning {},", "{},", "Hello {}!")
_BYE = (
    "Best regards",
    "Kind regards",
    "Best",
    "Thank you",
    "Regards",
    "With best wishes",
    "Thanks",
    "Best wishes",
)
_SENDER = re.compile(r'\s*"?(.*?)"?\s*<([^<>\s]+@[^<>\s]+)>\s*')


LEAST = 12
"""Tokens of the shortest everyday text."""


class Letters:
    """Writes the parts of letters that are the same for all."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def letter(self, fields: Mapping[str, Any], owner: Mapping[str, Any], blocks: Sequence[str]) -> str:
        """A letter to the owner, with these paragraphs."""
        rng, name = self._rng, sender_of(fields)[0]
        to = str(owner["name"])
        if fields.get("to") and str(owner["email"]) not in str(fields["to"]):
            to = sender_of({"from": fields["to"]})[0]
        first = to.split()[0] if rng.random() < 0.8 else to
        hello = rng.choice(_HELLO).format(first) if "@" not in to else "Hello,"
        below = name if rng.random() < 0.7 else name.split()[0]
        return "\n\n".join([hello, *blocks, f"{rng.choice(_BYE)}\n{below}"])

    def paragraphs(self, topic: str, size: int) -> list[str]:
        """Everyday paragraphs of about so many tokens."""
        return [" ".join(lines) for lines in self._lines(topic, size)]

    def woven(self, content: str, topic: str, size: int) -> list[str]:
        """Paragraphs with a statement among their sentences, and about so many tokens of everyday text."""
        blocks = content.strip().split("\n\n")
        if size < LEAST:
            return blocks
        everyday = self._lines(topic, size)
        if len(blocks) == 1 and "\n" not in blocks[0]:
            lines = self._rng.choice(everyday)
            lines.insert(self._rng.randint(0, len(lines)), blocks[0])
            return [" ".join(lines) for lines in everyday]
        at = self._rng.randint(0, len(everyday))
        whole = [" ".join(lines) for lines in everyday]
        return [*whole[:at], *blocks, *whole[at:]]

    def _lines(self, topic: str, size: int) -> list[list[str]]:
        """Sentences, by paragraphs."""
        prose, found, left = Prose(self._rng), list[list[str]](), size
        while left >= LEAST or not found:
            wanted = prose.sentences(topic, self._rng.randint(2, 5))
            lines: list[str] = []
            while wanted and (left >= LEAST or not lines):
                lines.append(wanted.pop(0))
                left -= cost(lines[-1])
            found.append(lines)
        return found

    def subject(self, topic: str) -> str:
        """What an everyday letter is about."""
        return Prose(self._rng).message(topic, 1).subject

    def other_sender(self, pattern: Mapping[str, Any], known: Sequence[Mapping[str, Any]]) -> dict[str, str]:
        """Somebody else, whose name and address look like those of the pattern."""
        rng = self._rng
        first, last = (sender_of(rng.choice(known))[0].split() for _ in range(2))
        name, (old, address) = f"{first[0]} {last[-1]}", sender_of(pattern)
        if name in {sender_of(fields)[0] for fields in known[:2000]}:
            return {}
        local, _, home = address.partition("@")
        handle = FILTERS["handle"](old)
        rest = self.other_number(local.removeprefix(handle)) if local.startswith(handle) else ""
        homes = {sender_of(fields)[1].partition("@")[2] for fields in known[:2000]}
        if len(homes) > len(known[:2000]) / 8 and rng.random() < 0.5:
            home = FILTERS["domain"](Prose(rng).company())
        return {"from": f"{name} <{FILTERS['handle'](name)}{rest}@{home}>"}

    def other_number(self, text: str) -> str:
        """The text with other digits in it."""
        return re.sub("[0-9]", lambda _: str(self._rng.randint(1, 9)), text)


def sender_of(fields: Mapping[str, Any]) -> tuple[str, str]:
    """Name and address of who wrote a letter."""
    sender = str(fields.get("from") or "")
    if found := _SENDER.fullmatch(sender):
        return found[1] or found[2], found[2]
    return sender or "Somebody", sender
