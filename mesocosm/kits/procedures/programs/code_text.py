"""Writing programs down: in words, line by line, and in Python and C++."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from mesocosm.kits.procedures.programs.grammar import (
    Assign,
    Atom,
    For,
    Function,
    Halve,
    If,
    ProgramValue,
    Statement,
    Test,
)

LANGUAGES = ("python", "cpp")
_SIGNS = {"<": "is less than", "<=": "is at most", "==": "is equal to", "!=": "is not equal to"}
_WORDS = {
    "+": ("{} plus {}", "the sum of {} and {}"),
    "*": ("{} times {}", "the product of {} and {}"),
    "distance": ("the absolute difference of {} and {}", "the distance between {} and {}"),
    "larger": ("the larger of {} and {}", "the maximum of {} and {}"),
    "smaller": ("the smaller of {} and {}", "the minimum of {} and {}"),
}
_CODE = {
    "+": "{} + {}",
    "*": "{} * {}",
    "distance": "abs({} - {})",
    "larger": "max({}, {})",
    "smaller": "min({}, {})",
}


# -- in words ----------------------------------------------------------------------------------------------


def in_words(rng: random.Random, functions: Sequence[Function]) -> list[str]:
    lines: list[str] = []
    for function in functions:
        of = "the list data and the number k" if function.takes_list else "the number k"
        lines.append(
            rng.choice(("define the function {} of {}", "function {}, which takes {}")).format(
                function.name, of
            )
        )
        lines += _said(rng, function.body, "  ")
        lines.append(rng.choice((f"  return {function.returns}", f"  the result is {function.returns}")))
        lines.append("end of the function")
    lines += ["define the main program", "  read the number n from the first line"]
    lines.append("  read the n numbers of the list data from the second line")
    for function in functions:
        with_ = f"data and {function.argument}" if function.takes_list else f"{function.argument}"
        lines.append(
            rng.choice(("  print the result of {} for {}", "  write a line with {} of {}")).format(
                function.name, with_
            )
        )
    return [*lines, "end of the main program"]


def _said(rng: random.Random, body: Sequence[Statement], indent: str) -> Iterator[str]:
    for statement in body:
        match statement:
            case Assign(variable, value, True):
                yield indent + rng.choice(("let {} be {}", "start with {} as {}")).format(
                    variable, _say(rng, value)
                )
            case Assign(variable, value, _):
                yield indent + rng.choice(("set {} to {}", "{} becomes {}")).format(
                    variable, _say(rng, value)
                )
            case If(test, first, other):
                yield indent + f"if {_say_test(rng, test)}"
                yield from _said(rng, first, indent + "  ")
                if other:
                    yield indent + "otherwise"
                    yield from _said(rng, other, indent + "  ")
                yield indent + "end of the condition"
            case For(variable, below, inner):
                if below is None:
                    heads = (
                        "for each position {} of data, from 0",
                        "for {} from 0 to the last position of data",
                    )
                    yield indent + rng.choice(heads).format(variable)
                else:
                    heads = ("for {} from 0 to {}", "repeat with {} = 0 up to {} inclusive")
                    yield indent + rng.choice(heads).format(variable, below - 1)
                yield from _said(rng, inner, indent + "  ")
                yield indent + "end of the loop"
            case Halve(variable, above, inner):
                yield indent + rng.choice(
                    ("while {} is greater than {}", "as long as {} is above {}")
                ).format(variable, above)
                yield from _said(rng, inner, indent + "  ")
                yield indent + rng.choice(
                    ("  halve {}, rounding down", "  set {} to its half, rounded down")
                ).format(variable)
                yield indent + "end of the loop"


def _say_atom(rng: random.Random, atom: Atom) -> str:
    if atom.number is not None:
        return str(atom.number)
    if atom.of_list:
        return rng.choice(("data[{}]", "element {} of data")).format(atom.variable)
    return atom.variable


def _say(rng: random.Random, value: ProgramValue) -> str:
    text = _say_atom(rng, value.left)
    if value.right is not None:
        text = rng.choice(_WORDS[value.sign]).format(text, _say_atom(rng, value.right))
    if value.modulus:
        text = rng.choice(("({}) modulo {}", "the remainder of ({}) divided by {}")).format(
            text, value.modulus
        )
    return text


def _say_test(rng: random.Random, test: Test) -> str:
    left = _say_atom(rng, test.left)
    if test.modulus:
        left = rng.choice(("{} modulo {}", "the remainder of {} divided by {}")).format(left, test.modulus)
    return f"{left} {_SIGNS[test.sign]} {_say_atom(rng, test.right)}"


# -- in code -----------------------------------------------------------------------------------------------


def in_code(language: str, functions: Sequence[Function]) -> list[str]:
    """The program in a language, line by line."""
    return _python(functions) if language == "python" else _cpp(functions)


def _atom(atom: Atom) -> str:
    if atom.number is not None:
        return str(atom.number)
    return f"data[{atom.variable}]" if atom.of_list else atom.variable


def _code(value: ProgramValue) -> str:
    text = _atom(value.left)
    if value.right is not None:
        text = _CODE[value.sign].format(text, _atom(value.right))
    return f"({text}) % {value.modulus}" if value.modulus else text


def _test(test: Test) -> str:
    left = f"{_atom(test.left)} % {test.modulus}" if test.modulus else _atom(test.left)
    return f"{left} {test.sign} {_atom(test.right)}"


def _python(functions: Sequence[Function]) -> list[str]:
    lines: list[str] = []
    for function in functions:
        lines.append(f"def {function.name}({'data, ' if function.takes_list else ''}k):")
        lines += _python_body(function.body, "    ")
        lines.append(f"    return {function.returns}")
    lines += ["n = int(input())", "data = list(map(int, input().split()))"]
    for function in functions:
        lines.append(f"print({function.name}({'data, ' if function.takes_list else ''}{function.argument}))")
    return lines


def _python_body(body: Sequence[Statement], indent: str) -> Iterator[str]:
    for statement in body:
        match statement:
            case Assign(variable, value, _):
                yield f"{indent}{variable} = {_code(value)}"
            case If(test, first, other):
                yield f"{indent}if {_test(test)}:"
                yield from _python_body(first, indent + "    ")
                if other:
                    yield f"{indent}else:"
                    yield from _python_body(other, indent + "    ")
            case For(variable, below, inner):
                yield f"{indent}for {variable} in range({'len(data)' if below is None else below}):"
                yield from _python_body(inner, indent + "    ")
            case Halve(variable, above, inner):
                yield f"{indent}while {variable} > {above}:"
                yield from _python_body(inner, indent + "    ")
                yield f"{indent}    {variable} //= 2"


def _cpp(functions: Sequence[Function]) -> list[str]:
    lines: list[str] = []
    for function in functions:
        lines.append(
            f"int {function.name}({'const vector<int>& data, ' if function.takes_list else ''}int k) {{"
        )
        lines += _cpp_body(function.body, "    ")
        lines += [f"    return {function.returns};", "}"]
    lines += ["int main() {", "    int n;", "    cin >> n;", "    vector<int> data(n);"]
    lines.append("    for (int i = 0; i < n; i++) cin >> data[i];")
    for function in functions:
        call = f"{function.name}({'data, ' if function.takes_list else ''}{function.argument})"
        lines.append(f"    cout << {call} << endl;")
    return [*lines, "    return 0;", "}"]


def _cpp_body(body: Sequence[Statement], indent: str) -> Iterator[str]:
    for statement in body:
        match statement:
            case Assign(variable, value, new):
                yield f"{indent}{'int ' if new else ''}{variable} = {_code(value)};"
            case If(test, first, other):
                yield f"{indent}if ({_test(test)}) {{"
                yield from _cpp_body(first, indent + "    ")
                if other:
                    yield f"{indent}}} else {{"
                    yield from _cpp_body(other, indent + "    ")
                yield f"{indent}}}"
            case For(variable, below, inner):
                bound = "(int) data.size()" if below is None else str(below)
                yield f"{indent}for (int {variable} = 0; {variable} < {bound}; {variable}++) {{"
                yield from _cpp_body(inner, indent + "    ")
                yield f"{indent}}}"
            case Halve(variable, above, inner):
                yield f"{indent}while ({variable} > {above}) {{"
                yield from _cpp_body(inner, indent + "    ")
                yield f"{indent}    {variable} /= 2;"
                yield f"{indent}}}"
