"""Follows a chain of documents: reads what is named, computes what comes next, up to the value asked for."""

from __future__ import annotations

import ast
import operator
import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

from mesocosm.kits.paging import read_whole
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
_DAY = r"\d+ [A-Z][a-z]+ \d{4}"
_RESTRICTED = [
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^(?P<name>v\d+) is (?P<first>-?\w+) until .+, and (?P<second>-?\w+) from (?P<day>DAY) on\.$",
        r"^From (?P<day>DAY) on (?P<name>v\d+) equals (?P<second>-?\w+); "
        r"before that it equals (?P<first>-?\w+)\.$",
        r"^(?P<name>v\d+): (?P<first>-?\w+) up to and including (?P<last>DAY), "
        r"(?P<second>-?\w+) thereafter\.$",
        r"^On (?P<day>DAY) (?P<name>v\d+) changes from (?P<first>-?\w+) to (?P<second>-?\w+)\.$",
        r"^(?P<name>v\d+) is (?P<first>-?\w+) if (?P<given>v\d+) is below (?P<limit>-?\d+), "
        r"and (?P<second>-?\w+) otherwise\.$",
        r"^If (?P<given>v\d+) is below (?P<limit>-?\d+), (?P<name>v\d+) equals (?P<first>-?\w+); "
        r"otherwise it equals (?P<second>-?\w+)\.$",
        r"^(?P<name>v\d+): (?P<second>-?\w+), unless (?P<given>v\d+) is below (?P<limit>-?\d+); "
        r"then (?P<first>-?\w+)\.$",
        r"^As long as (?P<given>v\d+) is below (?P<limit>-?\d+), (?P<name>v\d+) has value (?P<first>-?\w+), "
        r"else (?P<second>-?\w+)\.$",
    )
    for pattern in [pattern.replace("DAY", _DAY)]
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


@dataclass(frozen=True)
class Restricted:
    """Two values of a variable, of which the first holds where another variable is below a limit."""

    name: str
    first: Value
    second: Value
    given: str
    limit: int


@dataclass
class Notes:
    """Facts known so far."""

    today: date = date.max
    values: dict[str, Value] = field(default_factory=dict)
    undecided: dict[str, list[Restricted]] = field(default_factory=dict)
    """By the variables that decide."""
    waiting: dict[str, list[Rule]] = field(default_factory=dict)
    """Rules by the variables that they wait for."""

    def take_in(self, text: str) -> Iterator[str]:
        """Note what a document says; returns identifiers that this leads to."""
        for name, value in _fields(text):
            yield from self._settle(name, value)
        yield from self._weigh(text)
        for rule in _rules(text):
            rule.missing -= self.values.keys()
            for name in rule.missing:
                self.waiting.setdefault(name, []).append(rule)
            if not rule.missing:
                yield self._document(rule)
        yield from (one for one in _ID.findall(text) if not one.endswith("%X"))

    def _settle(self, name: str, value: Value) -> Iterator[str]:
        """Note a value, and all that follows."""
        settled = [(name, value)]
        for name, value in settled:  # which grows meanwhile
            self.values[name] = value
            for rule in self.waiting.pop(name, []):
                rule.missing.discard(name)
                if not rule.missing:
                    yield self._document(rule)
            settled += [(one.name, self._decide(one)) for one in self.undecided.pop(name, [])]

    def _weigh(self, text: str) -> Iterator[str]:
        """Note values that hold for a time, or as another value is."""
        for pattern in _RESTRICTED:
            for found in pattern.finditer(text):
                first, second = (_value(found[part]) for part in ("first", "second"))
                parts = found.groupdict()
                if "given" in parts:
                    one = Restricted(found["name"], first, second, found["given"], int(found["limit"]))
                    if one.given in self.values:
                        yield from self._settle(one.name, self._decide(one))
                    else:
                        self.undecided.setdefault(one.given, []).append(one)
                else:
                    day = (
                        day_of(parts["day"]) if "day" in parts else day_of(parts["last"]) + timedelta(days=1)
                    )
                    holds = self._holds(found["name"], self.today < day)
                    yield from self._settle(found["name"], first if holds else second)

    def _decide(self, one: Restricted) -> Value:
        """Choose the valid one of two values by the value of another variable."""
        return one.first if self._holds(one.name, int(self.values[one.given]) < one.limit) else one.second

    def _holds(self, name: str, below: bool) -> bool:
        """True if the first of two values of a variable is valid."""
        return below

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
    today = re.search(rf"Today is ({_DAY})", " ".join(prompt.split()))
    notes = Notes(day_of(today[1]) if today else date.max)
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
            yield found["name"], _value(found["value"])


def _value(text: str) -> Value:
    return int(text) if re.fullmatch(r"-?\d+", text) else text


def day_of(text: str) -> date:
    return datetime.strptime(text, "%d %B %Y").replace(tzinfo=UTC).date()


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
