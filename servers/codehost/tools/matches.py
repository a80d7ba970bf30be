"""Where the words of a code search stand in a file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

MAX_FRAGMENTS = 2
MAX_FRAGMENT = 240
"""Characters of a fragment at most."""
MAX_MATCHES = 10

_WORD = re.compile(r"[^\W_]+")


def text_matches(content: str, words: Sequence[str]) -> list[dict[str, Any]]:
    """Fragments of a text with the words that were searched for, in the product's shape."""
    patterns = [r"[\W_]+".join(_WORD.findall(word)) for word in words]
    if not any(patterns):
        return []
    either = "|".join(pattern for pattern in patterns if pattern)
    search = re.compile(rf"(?<![^\W_])(?:{either})(?![^\W_])", re.IGNORECASE)
    fragments: list[dict[str, Any]] = []
    end = 0
    for found in search.finditer(content):
        if found.start() < end:
            continue
        if len(fragments) == MAX_FRAGMENTS:
            break
        start, end = _around(content, found.start(), found.end())
        fragment = content[start:end]
        matches = [
            {"text": match[0], "indices": [match.start(), match.end()]} for match in search.finditer(fragment)
        ]
        fragments.append({"property": "content", "fragment": fragment, "matches": matches[:MAX_MATCHES]})
    return fragments


def _around(content: str, start: int, end: int) -> tuple[int, int]:
    """The lines around a match: the one before and the one after, if they are not too long."""
    first = content.rfind("\n", 0, max(content.rfind("\n", 0, start), 0)) + 1
    after = content.find("\n", end)
    last = content.find("\n", after + 1) if after >= 0 else -1
    last = last if last >= 0 else len(content)
    return max(first, start - MAX_FRAGMENT // 2), min(last, max(end, start + MAX_FRAGMENT // 2))
