"""Visible text of HTML, in linear time.

The parser is libxml2's, by lxml, which tells of tags and text as it meets them. Weighed: regular expressions
(quadratic, and they take comments for text), html.parser (quadratic in places, in pure Python), html5lib and
Beautiful Soup (slow, trees), selectolax (follows browsers closest, but its tree takes quadratic time when
elements are nested deep, as the standard's own algorithm does).
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lxml import etree
from PIL import ImageColor

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
        self._painted: list[tuple[Colour | None, Colour | None]] = [
            (None, None if hiding.grounds else _WHITE)
        ]
        """Colours of letters and of what is behind them, in the elements around; ``None`` where one is not
        known."""

    def start(self, tag: Any, attrs: Any) -> None:
        """An element begins."""
        self._around.append(Element.of(tag, attrs))
        if len(self._around) > MAX_DEPTH:
            raise _TooDeep
        style = attrs.get("style", "")[:_LONGEST_STYLE]
        said = dict(_declarations(style)) if style else {}
        self._painted.append(_painted(attrs, said, *self._painted[-1]))
        closed = tag == "dialog" and "open" not in attrs
        if self._hidden or tag in _UNSEEN or tag in _STRUCK or closed or self._hides(attrs, said):
            self._hidden += 1
        elif tag not in _INLINE:
            self.parts.append(" ")

    def end(self, tag: Any) -> None:
        """An element ends, be it because another one does."""
        self._around.pop()
        self._painted.pop()
        if self._hidden:
            self._hidden -= 1
        elif tag not in _INLINE:
            self.parts.append(" ")

    def data(self, data: Any) -> None:
        """Text, with its entities resolved."""
        letters, ground = self._painted[-1]
        unseen = letters is not None and ground is not None and math.dist(letters, ground) < _ALIKE
        if not self._hidden and not unseen:
            self.parts.append(data)

    def _hides(self, attributes: Mapping[str, str], said: Mapping[str, str]) -> bool:
        return "hidden" in attributes or bool(said and hides(said)) or self._rules.hide(self._around)

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


# -- text hidden by CSS, as far as mails use it ------------------------------------------------------------
#
# No browser: what counts is what a rule says outright; where elements come to lie, and what lies over them,
# is not worked out. All takes time in proportion to what is read: patterns neither go back nor begin in a
# word.

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_LENGTH = re.compile(
    r"(?<![\w.#])([+-]?+(?:\d++(?:\.\d*+)?+|\.\d++))(px|pt|em|rem|ex|%|vw|vh|cm|mm|in)?+(?![\w.])"
)
_PIXELS = {
    "px": 1,
    "pt": 1.33,
    "em": 16,
    "rem": 16,
    "ex": 8,
    "vw": 10,
    "vh": 10,
    "cm": 38,
    "mm": 3.8,
    "in": 96,
}
_LETTER, _PAGE = 0.16, 4
"""Pixels of a percent, of the size of letters and of a page."""
_SMALLEST, _FAR = 2, -400
"""Pixels of letters that nobody reads, and of a place outside of every window."""
_ZERO = r"\s*(?:0++(?:\.0*+)?+|\.0++)%?\s*"
_NO_COLOUR = re.compile(
    rf"transparent|(?:rgb|hsl)a\((?:[^,)]*,){{3}}{_ZERO}\)|(?:rgb|hsl)a?\([^/)]*/{_ZERO}\)"
    r"|#[0-9a-f]{3}0(?!\w)|#[0-9a-f]{6}00(?!\w)"
)
Colour = tuple[int, ...]
"""Red, green and blue, each up to 255."""
_WHITE: Colour = (255, 255, 255)
_ALIKE = 12
"""Letters so near to the colour behind them are not seen."""
_ANY = ("inherit", "initial", "unset", "currentcolor")
_WORDS = {
    "display": {"none"},
    "visibility": {"hidden", "collapse"},
    "content-visibility": {"hidden"},
    "mso-hide": {"all"},
}
_SHRUNK = re.compile(rf"scale(?:[xyz]|3d)?\({_ZERO}[,)]")
_CLIPPED = re.compile(
    r"rect\(\s*0\w*[\s,]+0\w*[\s,]+0\w*[\s,]+0\w*\s*\)|inset\(\s*(?:[5-9]\d|100)%|circle\(\s*0"
)
_PLACES = (
    "text-indent",
    "left",
    "top",
    "right",
    "bottom",
    "margin-left",
    "margin-top",
    "margin",
    "inset",
    "transform",
)
_EXTENTS = ("width", "height", "max-width", "max-height")


def hides(said: Mapping[str, str]) -> bool:
    """True if declarations, such as those of a ``style`` attribute, hide text."""

    def pixels(name: str, percent: float = _PAGE) -> Iterator[float]:
        for number, unit in _LENGTH.findall(said.get(name, "")):
            yield float(number) * (percent if unit == "%" else _PIXELS.get(unit, 1))

    if any(said.get(name) in words for name, words in _WORDS.items()):
        return True
    # What is struck out is not said.
    if any("line-through" in said.get(name, "") for name in ("text-decoration", "text-decoration-line")):
        return True
    if (
        _share(said.get("opacity", "")) < 0.05
        or _share(said.get("filter", "").partition("opacity(")[2]) < 0.05
    ):
        return True
    size = next(pixels("font-size", _LETTER), next(pixels("font", _LETTER), _SMALLEST))
    if size < _SMALLEST or _colourless(said):
        return True
    if any(place < _FAR for name in _PLACES for place in pixels(name)):
        return True
    clipped = said.get("overflow") in ("hidden", "clip")
    if clipped and any(extent < _SMALLEST for name in _EXTENTS for extent in pixels(name)):
        return True
    return any(
        pattern.search(said.get(name, ""))
        for name, pattern in (("transform", _SHRUNK), ("clip", _CLIPPED), ("clip-path", _CLIPPED))
    )


def _declarations(style: str) -> Iterator[tuple[str, str]]:
    for one in _COMMENT.sub(" ", style.lower()).split(";"):
        name, _, value = one.partition(":")
        yield name.strip(), value.replace("!important", "").strip()


def _share(value: str) -> float:
    found = _LENGTH.match(value.strip())
    return float(found[1]) / (100 if found[2] == "%" else 1) if found else 1


def _colourless(said: Mapping[str, str]) -> bool:
    colour = said.get("-webkit-text-fill-color") or said.get("color") or ""
    ground = said.get("background-color") or said.get("background") or ""
    return bool(colour) and (bool(_NO_COLOUR.match(colour)) or (colour == ground and colour not in _ANY))


def _painted(
    attributes: Mapping[str, str], said: Mapping[str, str], letters: Colour | None, ground: Colour | None
) -> tuple[Colour | None, Colour | None]:
    """Return the colours of an element: its own, or those around it."""
    named = said.get("color") or attributes.get("color", "")
    if named not in ("", *_ANY):
        letters = _colour(named)
    behind = said.get("background-color") or said.get("background") or attributes.get("bgcolor", "")
    if behind not in ("", "none", "transparent", *_ANY) or "background" in attributes:
        ground = _colour(behind)
    return letters, ground


def _colour(text: str) -> Colour | None:
    """The colour that a style or an attribute names; ``None`` for none, or one that is not plain."""
    try:
        found = ImageColor.getrgb(text.strip())
    except ValueError:
        return None
    return found[:3] if len(found) == 3 or found[3] == 255 else None


@dataclass(frozen=True)
class Element:
    """Element for matching selectors; names are lower case."""

    tag: str
    id: str
    classes: frozenset[str]

    @classmethod
    def of(cls, tag: str, attributes: Mapping[str, str]) -> Element:
        """As it begins in a document."""
        classes = attributes.get("class", "").lower().split()
        return cls(tag, attributes.get("id", "").lower(), frozenset(classes))


@dataclass(frozen=True)
class _Asked:
    """A part of a selector, for one element."""

    tags: frozenset[str]
    ids: frozenset[str]
    classes: frozenset[str]

    @classmethod
    def by(cls, text: str) -> _Asked:
        named = re.findall(r"([.#]?)([\w-]+)", text)
        return cls(*(frozenset(name for mark, name in named if mark == kind) for kind in ("", "#", ".")))

    def matches(self, one: Element) -> bool:
        return self.tags <= {one.tag} and self.ids <= {one.id} and self.classes <= one.classes


class HidingRules:
    """The rules of style sheets by which elements are not seen, on a screen of any size."""

    def __init__(self, sheet: str) -> None:
        self._rules: dict[str, list[tuple[_Asked, ...]]] = defaultdict(list)
        """Rules by the last element's name: conditions on its ancestors and itself."""
        self.grounds = "background" in sheet.lower()
        """True if they give elements a background, which is not worked out."""
        around: list[str] = []
        text = ""
        for piece in re.split(r"([{}])", _COMMENT.sub(" ", sheet.lower())):
            if piece == "{":
                around.append(text.rpartition(";")[2].strip())
            elif piece == "}" and around:
                *outside, selectors = around
                if all(_on_every_screen(one) for one in outside) and hides(dict(_declarations(text))):
                    self._add(selectors)
                around.pop()
            text = piece

    def _add(self, selectors: str) -> None:
        for selector in selectors.split(","):
            # A state of an element (such as that it is pointed at), or what nobody writes in mails.
            if not selector.strip() or any(mark in selector for mark in "@:["):
                continue
            asked = tuple(_Asked.by(part) for part in re.split(r"[\s>+~]+", selector.strip()))
            last = asked[-1]
            self._rules[min(last.ids or last.classes or last.tags, default="")].append(asked)

    def hide(self, elements: Sequence[Element]) -> bool:
        """True if the innermost of nested elements is hidden by any of them."""
        one = elements[-1]
        return bool(self._rules) and any(
            rule[-1].matches(one) and _within(rule[:-1], elements[:-1])
            for key in ("", one.tag, one.id, *one.classes)
            if key in self._rules
            for rule in self._rules[key]
        )


def _within(asked: Sequence[_Asked], around: Sequence[Element]) -> bool:
    found = 0
    for one in around:
        if found < len(asked) and asked[found].matches(one):
            found += 1
    return found == len(asked)


def _on_every_screen(rule: str) -> bool:
    """True if the contents of an at-rule apply to every screen."""
    return rule in ("@media all", "@media screen") or rule.startswith(("@layer", "@supports"))
