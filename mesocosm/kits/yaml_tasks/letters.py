"""How letters look, whatever they say: greetings, names below, subjects, senders."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

from mesocosm.kits.prose import Prose
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


class Letters:
    """Writes the parts of letters that are the same for all."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def letter(self, fields: Mapping[str, Any], owner: Mapping[str, Any], blocks: Sequence[str]) -> str:
        """A letter to the owner, with these paragraphs."""
        rng, name = self._rng, sender_of(fields)[0]
        to = str(owner["name"])
        hello = rng.choice(_HELLO).format(to.split()[0] if rng.random() < 0.8 else to)
        below = name if rng.random() < 0.7 else name.split()[0]
        return "\n\n".join([hello, *blocks, f"{rng.choice(_BYE)}\n{below}"])

    def subject(self, topic: str) -> str:
        """What an everyday letter is about."""
        return Prose(self._rng).message(topic, 1).subject

    def other_sender(self, known: Sequence[Mapping[str, Any]]) -> dict[str, str]:
        """Somebody else, whose name and address look like those that are known."""
        rng = self._rng
        first, last, home = (sender_of(rng.choice(known)) for _ in range(3))
        name = f"{first[0].split()[0]} {last[0].split()[-1]}"
        if name in {sender_of(fields)[0] for fields in known[:2000]}:
            return {}
        address = f"{FILTERS['handle'](name)}@{home[1].partition('@')[2]}"
        return {"from": f"{name} <{address}>"}


def sender_of(fields: Mapping[str, Any]) -> tuple[str, str]:
    """Name and address of who wrote a letter."""
    sender = str(fields.get("from") or "")
    if found := _SENDER.fullmatch(sender):
        return found[1] or found[2], found[2]
    return sender or "Somebody", sender
