"""Detection of text hidden by CSS, as far as mails use it: an element's own style, and style sheets.

No browser: what counts is what a rule says outright; where elements come to lie, and what lies over them, is
not worked out. All takes time in proportion to what is read: patterns neither go back nor begin in a word.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

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


def hides(style: str) -> bool:
    """True if declarations, such as those of a ``style`` attribute, hide text."""
    said = dict(_declarations(style))

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
        """True if the selector matches the element."""
        return self.tags <= {one.tag} and self.ids <= {one.id} and self.classes <= one.classes


class HidingRules:
    """The rules of style sheets by which elements are not seen, on a screen of any size."""

    def __init__(self, sheet: str) -> None:
        self._rules: dict[str, list[tuple[_Asked, ...]]] = defaultdict(list)
        """Rules by the last element's name: conditions on its ancestors and itself."""
        around: list[str] = []
        text = ""
        for piece in re.split(r"([{}])", _COMMENT.sub(" ", sheet.lower())):
            if piece == "{":
                around.append(text.rpartition(";")[2].strip())
            elif piece == "}" and around:
                *outside, selectors = around
                if all(_on_every_screen(one) for one in outside) and hides(text):
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
