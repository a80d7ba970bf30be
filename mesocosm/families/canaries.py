"""Canaries: texts that reveal instances in the wrong place, such as a model's output.

They stand in what is published (data sets, exported tasks) and in no world: an agent that has read one has
not read it here.
"""

# Canaries are in exports only: every agent would meet those in a world (decision 084).

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

_PREFIX = "mesocosm:canary:"
_CANARY = re.compile(re.escape(_PREFIX) + r"[0-9a-f]{8,32}")


def canary(ids: Iterable[str]) -> str:
    """The canary of instances by their ids; the same for the same ones."""
    return f"{_PREFIX}{hashlib.sha256(chr(10).join(ids).encode()).hexdigest()[:32]}"


def canaries_in(text: str, others: Iterable[str] = ()) -> list[str]:
    """Canaries of ours that occur in a text, and those of ``others`` that do."""
    return sorted({*_CANARY.findall(text), *(one for one in others if one in text)})
