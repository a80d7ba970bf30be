"""From a page to a table: reads the items below a heading in whatever layout they are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html.parser import HTMLParser

Item = dict[str, str]

_VOID = ("img", "br", "input")
_LABELS = ("strong", "dt", "em", "th")
_VALUES = ("dd", "span", "td")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


class Page(HTMLParser):
    """Collects the items below a heading of second order."""

    def __init__(self, heading: str) -> None:
        super().__init__()
        self.items: list[Item] = []
        self.title = ""
        """The name of the first property, where there is a table that says it."""
        self._heading, self._inside = heading, False
        self._open: list[str] = []
        self._text: list[str] = []
        self._heads: list[str] = []
        self._cells: list[str] = []
        self._label = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag == "br":
            self._text.append(" ")
            return
        if tag in _VOID:
            return
        if tag in ("h2", "h3", *_LABELS) or (tag in _VALUES and not {"dd", "td"} & set(self._open)):
            self._text = []
        if tag == "tr":
            self._cells = []
        self._open.append(tag)

    def handle_data(self, data: str) -> None:
        if data.strip() or self._text:
            self._text.append(data)

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass
        text = " ".join("".join(self._text).split()).rstrip(", ") if tag != "li" else ""
        if tag == "h2":
            self._inside = text == self._heading
        elif tag == "section":
            self._inside = False
        elif self._inside:
            self._ended(tag, text)

    def _ended(self, tag: str, text: str) -> None:
        if tag == "h3":
            self.items.append({"": text})
        elif tag == "li" and "ul" in self._open:
            self._text.append(", ")
        elif tag == "th":
            self._heads.append(text)
        elif tag == "td":
            self._cells.append(text)
        elif tag == "tr" and self._cells:
            row = dict(zip(self._heads, self._cells, strict=False))
            self.items.append({**row, "": self._cells[0]})
        elif tag in ("strong", "dt", "em"):
            self._label = text.rstrip(": ")
        elif tag in ("dd", "span") and self._label and self.items and not {"dd", "span"} & set(self._open):
            self.items[-1][self._label] = text
            self._label = ""


def table(question: str, given: Sequence[str]) -> str:
    """The table, in a fence."""
    asked = re.search(
        r'under the heading "(.+?)"\. Properties: (.+?)\.(?: Only \w+ of which (.+?); those|$| )', question
    )
    assert asked
    columns = asked[2].split("; ")
    page = Page(asked[1])
    page.feed("\n".join(given))
    rows = [
        [item.get("", ""), *(item.get(name, "") for name in columns[1:])]
        for item in page.items
        if not asked[3] or _keeps(asked[3], item)
    ]
    lines = ["\t".join(cell or "N/A" for cell in row) for row in rows]
    return "\n".join(["```tsv", "\t".join(columns), *lines, "```"])


def _keeps(rule: str, item: Item) -> bool:
    found = re.match(
        r'"(.+?)" (is exactly|is given and is not|names|is at most|is) (.+?)(?: or later| \(alone.*\))?$',
        rule,
    )
    assert found, rule
    cell, value = item.get(found[1], ""), found[3]
    if not cell:
        return False
    match found[2]:
        case "is exactly":
            return cell == value
        case "is given and is not":
            return cell != value
        case "names":
            return value in cell.split(", ")
        case "is at most":
            return _amount(cell) <= _amount(value)
        case _:
            return cell >= value


def _amount(text: str) -> float:
    found = _NUMBER.search(text)
    return float(found[0]) if found else 0.0
