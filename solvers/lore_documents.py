"""Follows a chain of documents: reads what is named, computes what comes next, up to the value asked for."""

from __future__ import annotations

import ast
import operator
import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from mesocosm.kits.weaving.delivery import read_whole
from mesocosm.services.calling import Tools

Value = int | str

_ID = re.compile(r"\bv\d+%[-\w]+")
_FIELDS = [
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^(?:Field |Parameter |Variable |Value of )?(?P<name>v\d+)"
        r"(?:: | = | has value | is | contains | is set to | equals )(?P<value>-?\w+)\.$",
        r"^We note (?P<value>-?\w+) for (?P<name>v\d+)\.$",
    )
]
_RULES = [
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^Read the document '(?P<target>v\d+)%X' next, where X = (?P<expression>[^.]+)\.",
        r"^Continue with '(?P<target>v\d+)%X'; X is the value of (?P<expression>[^.]+)\.",
        r"^Compute X = (?P<expression>[^.]+), then read '(?P<target>v\d+)%X'\.",
        r"^More is said in '(?P<target>v\d+)%X', X being (?P<expression>[^.]+)\.",
        r"^The document '(?P<target>v\d+)%X' follows, with (?P<expression>[^.]+) as X\.",
    )
]
_OPERATIONS: dict[type[ast.operator], Callable[[Value, Value], Value]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}


@dataclass
class Rule:
    """A document to read once its identifier can be computed."""

    target: str
    expression: str
    missing: set[str]


@dataclass
class Notes:
    """What is known so far."""

    values: dict[str, Value] = field(default_factory=dict)
    waiting: dict[str, list[Rule]] = field(default_factory=dict)
    """Rules by the variables that they wait for."""

    def take_in(self, text: str) -> Iterator[str]:
        """Note what a document says; returns identifiers that this leads to."""
        for name, value in _fields(text):
            self.values[name] = value
            for rule in self.waiting.pop(name, []):
                rule.missing.discard(name)
                if not rule.missing:
                    yield self._document(rule)
        for rule in _rules(text):
            rule.missing -= self.values.keys()
            for name in rule.missing:
                self.waiting.setdefault(name, []).append(rule)
            if not rule.missing:
                yield self._document(rule)
        yield from (one for one in _ID.findall(text) if not one.endswith("%X"))

    def _document(self, rule: Rule) -> str:
        tree = ast.parse(rule.expression, mode="eval").body
        return f"{rule.target}%{_evaluate(tree, self.values)}"


def solve(tools: Tools, prompt: str) -> None:
    """Read until the variable that the prompt asks for has a value, and submit it."""
    follow(tools, prompt, lambda file_id: read_whole(tools, file_id))


def follow(tools: Tools, prompt: str, read: Callable[[str], str]) -> None:
    """Solve with a way to read: ``read(file_id)`` returns what a document says."""
    asked = re.search(r"value of the variable (v\d+)", " ".join(prompt.split()))
    assert asked, "the prompt asks for no variable"
    notes = Notes()
    queue = deque(one for one in _ID.findall(prompt) if not one.endswith("%X"))
    seen = set(queue)
    while asked[1] not in notes.values:
        for found in notes.take_in(read(queue.popleft())):
            if found not in seen:
                seen.add(found)
                queue.append(found)
    tools.call("submit_answer", "submit_answer", answer=str(notes.values[asked[1]]))


def _fields(text: str) -> Iterator[tuple[str, Value]]:
    for pattern in _FIELDS:
        for found in pattern.finditer(text):
            value = found["value"]
            yield found["name"], int(value) if re.fullmatch(r"-?\d+", value) else value


def _rules(text: str) -> Iterator[Rule]:
    for pattern in _RULES:
        for found in pattern.finditer(text):
            variables = set(re.findall(r"\bv\d+\b", found["expression"]))
            yield Rule(found["target"], found["expression"], variables)


def _evaluate(node: ast.expr, values: dict[str, Value]) -> Value:
    match node:
        case ast.Name(id=name):
            return values[name]
        case ast.Constant(value=int(number)):
            return number
        case ast.BinOp(left=left, op=operation, right=right):
            return _OPERATIONS[type(operation)](_evaluate(left, values), _evaluate(right, values))
        case ast.Call(func=ast.Name(id="reverse"), args=[argument]):
            return str(_evaluate(argument, values))[::-1]
        case ast.Call(func=ast.Name(id="swapcase"), args=[argument]):
            return str(_evaluate(argument, values)).swapcase()
    raise ValueError(f"cannot compute {ast.unparse(node)}")
