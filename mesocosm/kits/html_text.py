"""Visible text of HTML, in linear time.

The parser is libxml2's, by lxml, which tells of tags and text as it meets them. Weighed: regular expressions
(quadratic, and they take comments for text), html.parser (quadratic in places, in pure Python), html5lib and
Beautiful Soup (slow, trees), selectolax (follows browsers closest, but its tree takes quadratic time when
elements are nested deep, as the standard's own algorithm does).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lxml import etree

from mesocosm.kits.hidden_styles import Element, HidingRules, hides

MAX_DEPTH = 512
"""Elements within each other, as in browsers: what is nested deeper shows nobody anything."""
_CHUNK = 65_536
_UNSEEN = frozenset(["head", "style", "script", "title", "template", "noscript", "object", "iframe", "svg"])
_STRUCK = frozenset(["s", "del", "strike"])
"""Elements whose text is struck out: it is seen, and says nothing any more."""
_INLINE_NAMES = (
    "a abbr acronym b bdi bdo big cite code data dfn em font i ins kbd mark nobr q samp small span "
    "strong sub sup time tt u var wbr"
)
_INLINE = frozenset(_INLINE_NAMES.split())
"""Elements that may begin and end within a word."""
_LONGEST_STYLE, _LONGEST_SHEET = 10_000, 200_000


class _TooDeep(Exception):
    """Content nested too deeply to be visible."""


class _Reader:
    """Collects the text of elements that are shown."""

    def __init__(self, hiding: HidingRules) -> None:
        self.parts: list[str] = []
        self._rules = hiding
        self._around: list[Element] = []
        self._hidden = 0
        """Depth below the outermost hidden element, counting both."""

    def start(self, tag: Any, attrs: Any) -> None:
        """An element begins."""
        self._around.append(Element.of(tag, attrs))
        if len(self._around) > MAX_DEPTH:
            raise _TooDeep
        if self._hidden or tag in _UNSEEN or tag in _STRUCK or self._hides(attrs):
            self._hidden += 1
        elif tag not in _INLINE:
            self.parts.append(" ")

    def end(self, tag: Any) -> None:
        """An element ends, be it because another one does."""
        self._around.pop()
        if self._hidden:
            self._hidden -= 1
        elif tag not in _INLINE:
            self.parts.append(" ")

    def data(self, data: Any) -> None:
        """Text, with its entities resolved."""
        if not self._hidden:
            self.parts.append(data)

    def _hides(self, attributes: Mapping[str, str]) -> bool:
        style = attributes.get("style", "")[:_LONGEST_STYLE]
        return "hidden" in attributes or bool(style and hides(style)) or self._rules.hide(self._around)

    def comment(self, text: Any) -> None:
        """A comment, which nobody sees."""

    def close(self) -> str:
        """The document ends."""
        return "".join(self.parts)


class _Sheets:
    """Collects style sheets, which also apply to content before them."""

    def __init__(self) -> None:
        self._inside = False
        self._texts: list[str] = []

    def start(self, tag: Any, attrs: Any) -> None:
        """An element begins."""
        self._inside = tag == "style"

    def end(self, tag: Any) -> None:
        """An element ends."""
        self._inside = False

    def data(self, data: Any) -> None:
        if self._inside:
            self._texts.append(data)

    def comment(self, text: Any) -> None:
        """A comment."""

    def close(self) -> str:
        """The document ends."""
        return "\n".join(self._texts)


def visible_text(html: str) -> str:
    """Return the visible text, with blanks where elements separate it; without struck-out or too deeply
    nested text.
    """
    data = html.replace("\0", "").encode("utf-8", "replace")
    sheets = _read(_Sheets(), data) if b"<style" in data.lower() else ""
    return _read(_Reader(HidingRules(sheets[:_LONGEST_SHEET])), data)


def _read(reader: _Reader | _Sheets, data: bytes) -> str:
    parser = etree.HTMLParser(target=reader, huge_tree=True, encoding="utf-8")
    try:
        for start in range(0, len(data), _CHUNK):
            parser.feed(data[start : start + _CHUNK])
        if data:
            parser.close()
    except (_TooDeep, etree.XMLSyntaxError):
        pass  # what stands before can be seen
    return reader.close()
