"""What a reader sees of HTML, in time that is proportional to its length.

The parser is libxml2's, by lxml, which tells of tags and text as it meets them. Weighed: regular expressions
(quadratic, and they take comments for text), html.parser (quadratic in places, in pure Python), html5lib and
Beautiful Soup (slow, trees), selectolax (follows browsers closest, but its tree takes quadratic time when
elements are nested deep, as the standard's own algorithm does).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lxml import etree

MAX_DEPTH = 512
"""Elements within each other, as in browsers: what is nested deeper shows nobody anything."""
_CHUNK = 65_536
_UNSEEN = frozenset(["head", "style", "script", "title", "template", "noscript", "object", "iframe", "svg"])
_INLINE_NAMES = (
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd mark nobr q s samp small span "
    "strike strong sub sup time tt u var wbr"
)
_INLINE = frozenset(_INLINE_NAMES.split())
"""Elements that may begin and end within a word."""
_HIDING = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|(?:font-size|opacity)\s*:\s*0(?![\d.]))",
    re.IGNORECASE,
)
_LONGEST_STYLE = 10_000


class _TooDeep(Exception):
    """Nobody can see what is in there."""


class _Reader:
    """Collects the text of elements that are shown."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._depth = 0
        self._hidden = 0
        """How many elements there are between the outermost hidden one and here, with both."""

    def start(self, tag: Any, attrs: Any) -> None:
        """An element begins."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _TooDeep
        if self._hidden or tag in _UNSEEN or _hides(attrs):
            self._hidden += 1
        elif tag not in _INLINE:
            self.parts.append(" ")

    def end(self, tag: Any) -> None:
        """An element ends, be it because another one does."""
        self._depth -= 1
        if self._hidden:
            self._hidden -= 1
        elif tag not in _INLINE:
            self.parts.append(" ")

    def data(self, data: Any) -> None:
        """Text, with its entities resolved."""
        if not self._hidden:
            self.parts.append(data)

    def comment(self, text: Any) -> None:
        """A comment, which nobody sees."""

    def close(self) -> str:
        """The document ends."""
        return "".join(self.parts)


def visible_text(html: str) -> str:
    """The text that is shown, with blanks where elements break it; nothing of what is nested too deep."""
    reader = _Reader()
    parser = etree.HTMLParser(target=reader, huge_tree=True, encoding="utf-8")
    data = html.replace("\0", "").encode("utf-8", "replace")
    try:
        for start in range(0, len(data), _CHUNK):
            parser.feed(data[start : start + _CHUNK])
        if data:
            parser.close()
    except (_TooDeep, etree.XMLSyntaxError):
        pass  # what stands before can be seen
    return reader.close()


def _hides(attributes: Mapping[str, str]) -> bool:
    return "hidden" in attributes or bool(_HIDING.search(attributes.get("style", "")[:_LONGEST_STYLE]))
