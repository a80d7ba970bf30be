"""From a description, line by line, to a program in Python or C++."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_ATOM = r"(?:\d+|data\[\w+\]|element \w+ of data|\w+)"
_VALUES: list[tuple[str, str]] = [
    (rf"({_ATOM}) plus ({_ATOM})|the sum of ({_ATOM}) and ({_ATOM})", "{} + {}"),
    (rf"({_ATOM}) times ({_ATOM})|the product of ({_ATOM}) and ({_ATOM})", "{} * {}"),
    (
        rf"the absolute difference of ({_ATOM}) and ({_ATOM})|the distance between ({_ATOM}) and ({_ATOM})",
        "abs({} - {})",
    ),
    (rf"the larger of ({_ATOM}) and ({_ATOM})|the maximum of ({_ATOM}) and ({_ATOM})", "max({}, {})"),
    (rf"the smaller of ({_ATOM}) and ({_ATOM})|the minimum of ({_ATOM}) and ({_ATOM})", "min({}, {})"),
    (rf"({_ATOM})", "{}"),
]
_SIGNS = {
    "is less than": "<",
    "is at most": "<=",
    "is equal to": "==",
    "is not equal to": "!=",
}


def program(question: str, given: Sequence[str]) -> str:
    """The program, in a fence."""
    if "in Python 3" in question:
        return "```python\n" + "\n".join(_written(given, _python, end=None)) + "\n```"
    return "```cpp\n" + "\n".join(_written(given, _cpp, end="}")) + "\n```"


def _written(given: Sequence[str], write: Callable[[str, str], str], end: str | None) -> list[str]:
    lines: list[str] = []
    for line in given:
        text, level = line.strip(), (len(line) - len(line.lstrip())) // 2
        if text.startswith("end of"):
            if text == "end of the main program" and end:
                lines.append("    return 0;")
            if end:
                lines.append("    " * level + end)
            continue
        kind, *parts = _read(text)
        if end is None and kind == "main":
            continue
        made = write(kind, "|".join(parts))
        indent = "    " * (level - (end is None and kind in ("number", "list", "print")))
        lines += [indent + one for one in made.split("\n")]
    return lines


def _read(text: str) -> tuple[str, ...]:
    """Parse a line into its kind and parts."""
    for kind, pattern in _LINES.items():
        if found := re.fullmatch(pattern, text):
            return kind, *(part or "" for part in found.groups() if part is not None)
    raise ValueError(f"a line that is not understood: {text!r}")


_LINES = {
    "list function": r"(?:define the )?function (\w+),?(?: of| which takes) the list data and the number k",
    "function": r"(?:define the )?function (\w+),?(?: of| which takes) the number k",
    "return": r"(?:return|the result is) (\w+)",
    "main": r"define the main program",
    "number": r"read the number n from the first line",
    "list": r"read the n numbers of the list data from the second line",
    "print": r"(?:print the result of|write a line with) (\w+) (?:for|of) ((?:data and )?\d+)",
    "let": r"(?:let (?=\w+ be )|start with (?=\w+ as ))(\w+) (?:be|as) (.+)",
    "halved": r"(?:halve (\w+), rounding down|set (\w+) to its half, rounded down)",
    "set": r"(?:set (?=\w+ to )|(?=\w+ becomes ))(\w+) (?:to|becomes) (.+)",
    "if": r"if (.+)",
    "else": r"otherwise",
    "each": r"(?:for each position (\w+) of data, from 0|for (\w+) from 0 to the last position of data)",
    "count": r"(?:for|repeat with) (\w+) (?:from 0 to|= 0 up to) (\d+)(?: inclusive)?",
    "while": r"(?:while|as long as) (\w+) is (?:greater than|above) (\d+)",
}


def _atom(text: str) -> str:
    found = re.fullmatch(r"element (\w+) of data", text)
    return f"data[{found[1]}]" if found else text


def _value(text: str) -> str:
    if reduced := re.fullmatch(r"\((.+)\) modulo (\d+)|the remainder of \((.+)\) divided by (\d+)", text):
        inner, modulus = [part for part in reduced.groups() if part]
        return f"({_value(inner)}) % {modulus}"
    for pattern, code in _VALUES:
        if found := re.fullmatch(pattern, text):
            return code.format(*(_atom(part) for part in found.groups() if part))
    raise ValueError(f"a value that is not understood: {text!r}")


def _test(text: str) -> str:
    sign = next(words for words in sorted(_SIGNS, key=len, reverse=True) if f" {words} " in text)
    left, _, right = text.partition(f" {sign} ")
    if reduced := re.fullmatch(r"(.+) modulo (\d+)|the remainder of (.+) divided by (\d+)", left):
        inner, modulus = [part for part in reduced.groups() if part]
        left = f"{_atom(inner)} % {modulus}"
    return f"{_atom(left)} {_SIGNS[sign]} {_atom(right)}"


def _python(kind: str, parts: str) -> str:
    first, _, second = parts.partition("|")
    made: dict[str, Callable[[], str]] = {
        "list function": lambda: f"def {first}(data, k):",
        "function": lambda: f"def {first}(k):",
        "return": lambda: f"return {first}",
        "number": lambda: "n = int(input())",
        "list": lambda: "data = list(map(int, input().split()))",
        "print": lambda: f"print({first}({second.replace('data and', 'data,')}))",
        "let": lambda: f"{first} = {_value(second)}",
        "set": lambda: f"{first} = {_value(second)}",
        "halved": lambda: f"{first} //= 2",
        "if": lambda: f"if {_test(first)}:",
        "else": lambda: "else:",
        "each": lambda: f"for {first} in range(len(data)):",
        "count": lambda: f"for {first} in range({int(second or 0) + 1}):",
        "while": lambda: f"while {first} > {second}:",
    }
    return made[kind]()


def _cpp(kind: str, parts: str) -> str:
    first, _, second = parts.partition("|")
    made: dict[str, Callable[[], str]] = {
        "list function": lambda: f"int {first}(const vector<int>& data, int k) {{",
        "function": lambda: f"int {first}(int k) {{",
        "return": lambda: f"return {first};",
        "main": lambda: "int main() {",
        "number": lambda: "int n;\ncin >> n;",
        "list": lambda: "vector<int> data(n);\nfor (auto& one : data) cin >> one;",
        "print": lambda: f"cout << {first}({second.replace('data and', 'data,')}) << endl;",
        "let": lambda: f"int {first} = {_value(second)};",
        "set": lambda: f"{first} = {_value(second)};",
        "halved": lambda: f"{first} /= 2;",
        "if": lambda: f"if ({_test(first)}) {{",
        "else": lambda: "} else {",
        "each": lambda: f"for (int {first} = 0; {first} < (int) data.size(); {first}++) {{",
        "count": lambda: f"for (int {first} = 0; {first} <= {second}; {first}++) {{",
        "while": lambda: f"while ({first} > {second}) {{",
    }
    return made[kind]()
