"""Parts of what is told of a failure, and how events and texts are named in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mesocosm.evaluation.browser.marks import Marks
from mesocosm.services.views import Item

NAMED = 4
"""Things that are named; of others their number is told."""
ADDRESS = re.compile(r"[\w.+-]+@[\w.-]*\w(?![\w…])(?!\.\.)")


@dataclass(frozen=True)
class WhyPart:
    """A part of what is told; with a path, a link."""

    text: str
    path: str = ""


@dataclass(frozen=True)
class WhyPoint:
    """Something that is told below the paragraph, in lines."""

    title: str
    lines: Sequence[Sequence[WhyPart]]
    path: str = ""


def fact(marks: Marks, one: Any) -> Iterator[WhyPart]:
    """Describe an event: where it is told, and whether that was delivered."""
    place = marks.places.get(one.text)
    kind = one.kind.replace("_", " ")
    known = marks.derivations
    path = f"derivations#d{known.index(one) + 1}" if one in known else ""
    yield WhyPart(f"“{kind}” in “{place[1].title}”" if place else f"“{kind}”", path)
    if one.says.strip():
        yield WhyPart(f", “{shown(' '.join(one.says.split()))}”")
    call = marks.told_by(one)
    yield WhyPart(f" (delivered by call {call})" if call else " (never delivered)")


def signed(item: Item, marks: Marks) -> str:
    """Say who wrote something, and when."""
    who = item.who[0] if item.who else ""
    by = f" by {marks.cast.get(who, '') or who}" if who else ""
    return by + (f" of {item.when[:10]}" if item.when else "")


def shown(text: str, longest: int = 300) -> str:
    """A text, cut if it is long."""
    return text if len(text) <= longest else f"{text[:longest]}…"
