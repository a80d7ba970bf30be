"""Items: what a result of a survey consists of, each a thing that a reader would look at or pass over.

They are found without knowing the family: a mail, a document, an announcement, a row, a cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import orjson


def items_of_text(text: str) -> Iterator[tuple[str, Any]]:
    """The items of one result: elements of its longest list, rows or lines of a table, else the whole.

    Each with what of the result it is (``.cells``, ``.line``; empty for the whole).
    """
    value: Any = text
    if text[:1] in ("{", "["):
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError:
            value = text
    if isinstance(value, dict):
        yield from _items_of_mapping(value)
    elif isinstance(value, list):
        yield from (("[]", element) for element in value)
    else:
        lines = value.splitlines()
        if listed := _listed_below(value):
            yield ".rest", value.partition("\n[\n")[0]
            yield from (("[]", element) for element in listed)
        elif paragraphs := _paragraphs(value):
            yield from paragraphs
        elif len(lines) > 3 and min(line.count(",") for line in lines if line.strip()) >= 2:
            yield from ((".line", line) for line in lines)
        else:
            yield "", value


def _items_of_mapping(value: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    lists = {key: inner for key, inner in value.items() if isinstance(inner, list) and inner}
    several = {key: inner for key, inner in lists.items() if len(inner) > 1}
    only = next((key for key, inner in lists.items() if isinstance(inner[0], dict)), None)
    if several:
        longest = max(several, key=lambda key: len(orjson.dumps(several[key])))
        yield ".rest", {key: inner for key, inner in value.items() if key != longest}
        yield from ((f".{longest}", element) for element in value[longest])
    elif only is not None and any(isinstance(inner, list) for inner in lists[only][0].values()):
        # One thing in a list, which has the list: the values of a range.
        yield ".rest", {key: inner for key, inner in value.items() if key != only}
        yield from _items_of_mapping(lists[only][0])
    else:
        yield "", value


def _listed_below(text: str) -> list[Any]:
    """The elements of a JSON list that stands below some lines, as where a query's result has a head."""
    inside = text.partition("\n[\n")[2].rpartition("\n]")[0]
    try:
        return list(orjson.loads(f"[{inside}]")) if inside else []
    except orjson.JSONDecodeError:
        return []


_YAML = re.compile(r"type: data\n(?:\w+: .*\n)*data:\n- ")
_FOUND = re.compile(r"Found \d+ [\w ]+:\n\n")


def _paragraphs(text: str) -> list[tuple[str, Any]]:
    """Split a YAML table into rows, or a text with a count into its paragraphs."""
    for head, between in ((_YAML, "\n- "), (_FOUND, "\n\n")):
        if found := head.match(text):
            return [(".rest", found[0]), *(("[]", item) for item in text[found.end() :].split(between))]
    return []


def written(item: Any) -> str:
    """An item as it stands in its result."""
    return item if isinstance(item, str) else orjson.dumps(item).decode()
