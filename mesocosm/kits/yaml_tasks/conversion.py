"""Rewriting task files in the words that are used now; all else of a file stays as it is.

What is renamed depends on where it stands: ``of`` is a word of an entity and may be a column of a table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import yaml

from mesocosm.families.task import RENAMED as TOP
from mesocosm.kits.yaml_tasks.braces import BadBraces, parts_of
from mesocosm.kits.yaml_tasks.complaints import CASE, DOING, DRAW, ENTITY, FILTERS, NAMES, NOISE, ROWS

_VALUE = re.compile(r"\{\{(.*?)\}\}|\{%-?(.*?)-?%\}", re.DOTALL)
_NUMBER = re.compile(r"\{\{\s*(\d+)\s*\}\}")
_STRING = re.compile(r"'[^']*'|\"[^\"]*\"")
_FILTER = re.compile(r"\s*\|\s*([a-z_]\w*)(\s*\()?")
_BY_NAME = re.compile(r"(\.(?:select|reject|sort|pick|group|count)\()(['\"])(kind|nth|lookalike)\2")
_WORD = re.compile(rf"\b(?:{'|'.join(NAMES)})\b")
Edit = tuple[int, int, str]
Visit = Callable[[yaml.Node], Iterator[Edit]]


class Unconvertible(Exception):
    """A part that has to be rewritten by hand first, with its line."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")


def converted(text: str) -> str:
    """Convert the text of a task file to the current vocabulary; ``Unconvertible`` names an obstacle."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if not isinstance(root, yaml.MappingNode) or not any(key.value in TOP for key, _ in root.value):
        return text
    _refuse_taken(root)
    edits = sorted(set(_Converter(text).file(root)))
    pieces, start = [], 0
    for first, last, instead in edits:
        pieces += [text[start:first], instead]
        start = last
    changed = "".join([*pieces, text[start:]])
    _check(yaml.compose(changed, Loader=yaml.SafeLoader))
    return changed


def _check(node: yaml.Node | None) -> None:
    """Refuse braces that meant themselves and would be taken for more."""
    todo = [node] if node else []
    while todo:
        one = todo.pop()
        if isinstance(one, yaml.ScalarNode):
            try:
                parts_of(one.value)
            except BadBraces as error:
                raise Unconvertible(one.start_mark.line + 1, str(error)) from None
        elif isinstance(one, yaml.MappingNode):
            todo += [inner for pair in one.value for inner in pair]
        elif one is not None:
            todo += one.value


def _refuse_taken(root: yaml.MappingNode) -> None:
    """Refuse names of a file that mean something of themselves now."""
    for facts in (value for key, value in root.value if key.value == "facts"):
        for _, fact in _pairs(facts):
            parts = {key.value: value for key, value in _pairs(fact)}
            for key, _ in _pairs(parts.get("fields")):
                taken = {"index": True, "case": "kinds" in parts, "distractor": "lookalikes" in parts}
                if taken.get(key.value):
                    message = (
                        f"the field {key.value!r} needs another name, as each entity has one of that name"
                    )
                    raise Unconvertible(key.start_mark.line + 1, message)


def _pairs(node: yaml.Node | None) -> list[tuple[yaml.Node, yaml.Node]]:
    return node.value if isinstance(node, yaml.MappingNode) else []


def _items(node: yaml.Node) -> list[yaml.Node]:
    return node.value if isinstance(node, yaml.SequenceNode) else [node]


class _Converter:
    def __init__(self, text: str) -> None:
        self._text = text
        self._seen: set[int] = set()

    def file(self, root: yaml.MappingNode) -> Iterator[Edit]:
        parts: dict[str, Visit] = {
            "prompt": self._texts,
            "facts": self._each(self._entity),
            "statements": partial(self._all, self._doing),
            "goal": partial(self._all, self._doing),
            "walk": partial(self._all, self._doing),
            "background": self._each(self._noise),
            "survey": self._texts,
            "world": self._each(self._value),
        }
        yield from self._mapping(root, TOP, parts)

    def _mapping(
        self,
        node: yaml.Node,
        words: Mapping[str, str],
        parts: Mapping[str, Visit],
        other: Visit | None = None,
    ) -> Iterator[Edit]:
        if id(node) in self._seen:  # an alias
            return
        self._seen.add(id(node))
        for key, value in _pairs(node):
            if key.value in words:
                yield key.start_mark.index, key.end_mark.index, words[key.value]
            if visit := parts.get(key.value, other):
                yield from visit(value)

    def _each(self, visit: Visit) -> Visit:
        return lambda node: (edit for _, value in _pairs(node) for edit in visit(value))

    def _all(self, visit: Visit, node: yaml.Node) -> Iterator[Edit]:
        for one in _items(node):
            yield from visit(one)

    def _entity(self, node: yaml.Node) -> Iterator[Edit]:
        fields = self._each(self._value)
        case: dict[str, Visit] = {
            "share": self._bare, "weight": self._bare, "told": self._texts, "fields": self._fields,
            "expect": partial(self._all, self._bare),
        }  # fmt: skip
        cases = self._each(lambda one: self._mapping(one, CASE, case))
        parts = {"count": self._bare, "fields": fields, "kinds": cases, "lookalikes": cases}
        yield from self._mapping(node, ENTITY, parts)

    def _fields(self, node: yaml.Node) -> Iterator[Edit]:
        if id(node) not in self._seen:
            self._seen.add(id(node))
            yield from self._each(self._value)(node)

    def _value(self, node: yaml.Node) -> Iterator[Edit]:
        """A field: a text, or how it is drawn."""
        if not isinstance(node, yaml.MappingNode):
            yield from self._texts(node)
            return
        bounds = self._each(self._bare)
        ends: dict[str, Visit] = {"after": self._bare, "before": self._bare}
        period = partial(self._mapping, words={}, parts=ends)
        parts: dict[str, Visit] = {
            "where": self._bare, "unlike": self._bare, "number": bounds, "moment": period, "date": period,
        }  # fmt: skip
        yield from self._mapping(node, DRAW, parts)

    def _doing(self, node: yaml.Node) -> Iterator[Edit]:
        known: dict[str, Visit] = {"where": self._bare, "counts": self._bare}
        plain = ("for", "kinds", "by", "as", "around", "topics", "asked", "answered", "how", "name", "key")
        nothing: Visit = lambda one: iter(())  # noqa: E731
        yield from self._mapping(node, DOING, dict.fromkeys(plain, nothing) | known, self._texts)

    def _noise(self, node: yaml.Node) -> Iterator[Edit]:
        yield from self._mapping(node, NOISE, {})

    def _texts(self, node: yaml.Node) -> Iterator[Edit]:
        """Everything inside, with the rows of tables."""
        if isinstance(node, yaml.ScalarNode):
            if id(node) not in self._seen:
                self._seen.add(id(node))
                yield from self._rewritten(node, _in_text)
        elif isinstance(node, yaml.SequenceNode):
            for one in node.value:
                yield from self._texts(one)
        elif {"columns", "each"} & {key.value for key, _ in _pairs(node)}:
            rows: dict[str, Visit] = {"where": self._bare, "each": self._bare}
            yield from self._mapping(node, ROWS, rows, self._texts)
        else:
            yield from self._mapping(node, {}, {}, self._texts)

    def _bare(self, node: yaml.Node) -> Iterator[Edit]:
        if isinstance(node, yaml.ScalarNode) and id(node) not in self._seen:
            self._seen.add(id(node))
            yield from self._rewritten(node, _in_expression)

    def _rewritten(self, node: yaml.ScalarNode, change: Callable[[str], str]) -> Iterator[Edit]:
        first, last = node.start_mark.index, node.end_mark.index
        before = self._text[first:last]
        quote = before[:1] if before[:1] in ("'", '"') else ""
        inner = before[1:-1] if quote else before
        if number := _NUMBER.fullmatch(inner):  # which would be a text without its braces
            yield first, last, number[1]
            return
        if (after := change(inner)) != inner:
            yield first, last, f"{quote}{after}{quote}"


def _in_text(text: str) -> str:
    def brace(found: re.Match[str]) -> str:
        inner = _in_expression((found[1] if found[1] is not None else found[2]).strip())
        if inner.isdigit():
            return inner
        return f"{{ {inner} }}" if inner.startswith("{") or inner.endswith("}") else f"{{{inner}}}"

    return _VALUE.sub(brace, text)


def _in_expression(source: str) -> str:
    """Rewrite an expression: filters behind the value, and current names."""
    strings: list[str] = []

    def kept(found: re.Match[str]) -> str:
        strings.append(found[0])
        return f"\x00{len(strings) - 1}\x00"

    source = _STRING.sub(kept, source)
    source = _FILTER.sub(lambda it: f".{FILTERS.get(it[1], it[1])}{'(' if it[2] else '()'}", source)
    source = _WORD.sub(lambda it: NAMES[it[0]], source)
    source = re.sub("\x00(\\d+)\x00", lambda it: strings[int(it[1])], source)
    return _BY_NAME.sub(lambda it: f"{it[1]}{it[2]}{NAMES[it[3]]}{it[2]}", source)
