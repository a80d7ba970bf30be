"""Writing of a node as a Python module, with unrelated content."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mesocosm.generators.lore_code.expected import ROOT
from mesocosm.generators.lore_code.params import Params
from mesocosm.kits.prose import Prose
from mesocosm.kits.weaving import Node, Register, Rule
from mesocosm.kits.weaving.program import Identifiers, Program

_TOPICS = ("technical_doc", "market_report", "meeting_minutes", "policy_document", "product_description")
_CACHED_SHARE = 0.1
"""Share of modules that cache their result though only one other asks for it."""
_WIDTH = 100
VARIABLE = re.compile(r"\bv\d+\b")
_RETURN = re.compile(r"^( *)return (.+)$", re.MULTILINE)
_GUARD = 'if __name__ == "__main__":\n    print(main(), end="")'

# A function that nobody calls: f is its name, a to c are other names, m to p numbers.
_FUNCTIONS = (
    "def {f}({a}, {b}={m}):\n{doc}    return {a} * {n} + {b}",
    "def {f}({a}):\n{doc}    {b} = {a} * {m} - {n}\n    return {b} % {p}",
    "def {f}({a}, {b}):\n{doc}    if {a} > {b} + {m}:\n        return {a} - {n}\n    return {b} * {p}",
    "def {f}({a}):\n{doc}    {b} = {m}\n    for {c} in {a}:\n        {b} += {c} % {n}\n    return {b} - {p}",
    "def {f}({a}, {b}={m}):\n{doc}    {c} = max({a}, {n}) - {b}\n    return {c} * {p}",
    "def {f}({a}):\n{doc}    return [{b} + {m} for {b} in {a} if {b} < {n}]",
)
# One that leads to a module v.
_REFERENCES = (
    "def {f}():\n{doc}    return {v}.main() * {m} + {n}",
    "def {f}({a}, {b}={m}):\n{doc}    return {v}.main() - {a} * {b}",
    "def {f}({a}):\n{doc}    if {a} > {m}:\n        return {v}.main()\n    return {a} + {n}",
    "def {f}():\n{doc}    {a} = {v}.main()\n    return {a} % {m} - {n}",
)
# One that assigns to a number t that modules share.
_ASSIGNMENTS = (
    "def {f}({a}):\n{doc}    {t} = {a} * {m}",
    "def {f}():\n{doc}    {t} = {n}\n    return {t} + {m}",
    "def {f}({a}, {b}):\n{doc}    {t} += {a} - {b}",
)
# What docstrings say, in which v is a verb and n are nouns.
_REMARKS = (
    "To {v} the {n} of each {n}, count the {n} first.",
    "Used by the {n} {n} until the {n} was replaced by a {n}.",
    "A {n} without its {n} is treated like an empty {n}.",
    "How we {v} a {n} when its {n} is late; see the {n} handbook.",
    "The {n} team asked to {v} every {n} before the {n} opens.",
    "Figures for the {n} and the {n}, agreed with the {n} office.",
    "Nobody may {v} the {n} while the {n} report is open.",
    "Kept for the {n} {n}, which still expects the old {n}.",
    "Each {n} has one {n}; the {n} has two.",
    "Estimates what it takes to {v} one {n} per {n} {n}.",
    "The {n} comes from the {n} sheet, the {n} from the {n}.",
    "Rules for any {n} that leaves the {n} by the {n} gate.",
    "It would be better to {v} the {n} together with the {n}.",
    "Do not {v} this before the {n} has a {n} and a {n}.",
    "Replaces the {n} routine that lost a {n} in the {n} tests.",
    "Half a {n} is rounded down, as on the {n} of the {n}.",
    "Same units as the {n} table: {n} first, then {n}, then {n}.",
    "After the {n} audit: {v} the {n}, keep the {n}.",
)


@dataclass
class Module:
    """A module while it is written."""

    name: str
    words: Identifiers
    main: str
    """The function ``main``, with what it needs above it."""
    imports: tuple[str, ...] = ()
    """From the standard library, as statements."""
    modules: list[str] = field(default_factory=list)
    remark: str = ""
    constants: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    """Before ``main``, and after it from ``position`` on."""
    position: int = 0
    generation: int = 0
    """So many modules import each other on the way to this one, at most."""

    @property
    def id(self) -> str:
        """Name of the file."""
        return f"{self.name}.py"

    def refer(self, function: str, module: str) -> None:
        """Add a function that leads to another module."""
        self.functions.append(function)
        self.modules.append(module)

    def text(self, preamble: str = "") -> str:
        """The file."""
        own = "\n".join(f"import {name}" for name in sorted(self.modules, key=_by_number))
        head = [f"# {self.id}\n{self.remark}".strip(), "\n".join(self.imports), preamble, own]
        head.append("\n".join(self.constants))
        main = [self.main] if self.main else []
        blocks = [*self.functions[: self.position], *main, *self.functions[self.position :]]
        if self.name == ROOT:
            blocks.append(_GUARD)
        return "\n\n\n".join(["\n\n".join(part for part in head if part), *blocks]) + "\n"


def _by_number(name: str) -> int:
    return int(name[1:])


@dataclass
class Author:
    """Writes modules.

    Args:
        rng: For everything but passages.
        avoid: A number that must not occur.
    """

    rng: random.Random
    prose: Prose
    params: Params
    avoid: int

    def module(self, node: Node, generation: int, *, shared: bool = False) -> Module:
        """The module of a node, with things in it that nobody needs; a shared one keeps its result."""
        words = Identifiers(self.rng)
        program = node.rule.operator.program(node.rule.expression, words) if node.rule else None
        program = program or Program(f"return {node.value}")
        cached = shared or self.rng.random() < _CACHED_SHARE
        imports = [f"import {name}" for name in program.imports]
        module = Module(
            name=node.id,
            words=words,
            main=_main(program, node.rule, cached=cached),
            imports=(*imports, *(["from functools import cache"] if cached else [])),
            modules=_imported(node.rule) if node.rule else [],
            generation=generation,
        )
        if self.rng.random() < self.params.remark_share:
            module.remark = docstring(self.remark(words))
        for _ in range(self.rng.randint(0, self.params.distractor_fields)):
            module.constants.append(f"{words.noun().upper()} = {self.number()}")
        for _ in range(self.rng.randint(0, self.params.distractor_functions)):
            module.functions.append(self.function(words))
        module.position = self.rng.randint(0, len(module.functions))
        return module

    def register(self, register: Register, generation: int) -> Module:
        """The module of a number that others share, with things in it that nobody needs."""
        words = Identifiers(self.rng, {register.attribute})
        module = Module(name=register.name, words=words, main="", generation=generation)
        if self.rng.random() < self.params.remark_share:
            module.remark = docstring(self.remark(words))
        module.constants.append(f"{register.attribute} = {register.value}")
        module.functions += [self.function(words) for _ in range(self.params.distractor_functions)]
        return module

    def assignment(self, words: Identifiers, register: Register) -> str:
        """A function that nobody calls, which assigns to a shared number."""
        return self._fill(_ASSIGNMENTS, words, "", t=f"{register.name}.{register.attribute}")

    def function(self, words: Identifiers) -> str:
        """A function that nobody calls."""
        return self._fill(_FUNCTIONS, words, "")

    def reference(self, words: Identifiers, module: str) -> str:
        """A function that nobody calls, which calls a module's ``main``."""
        return self._fill(_REFERENCES, words, module)

    def remark(self, words: Identifiers) -> str:
        """A sentence about something else."""
        return words.sentence(self.rng.choice(_REMARKS))

    def passage(self, size: int) -> str:
        """A text about something else, of so many tokens, that does not tell the number to avoid."""
        told = re.compile(rf"\b{self.avoid}\b")
        while told.search(text := self.prose.text(self.rng.choice(_TOPICS), size)):
            pass
        return text

    def number(self) -> int:
        """A number as leaves return them."""
        while (number := 2 + int(self.rng.random() * (self.params.largest_value - 1))) == self.avoid:
            pass
        return number

    def _fill(self, forms: Sequence[str], words: Identifiers, module: str, **given: str) -> str:
        doc = f"    {docstring(self.remark(words))}\n" if self.rng.random() < self.params.remark_share else ""
        return self.rng.choice(forms).format_map(_Blanks(self, words, {"doc": doc, "v": module, **given}))


class _Blanks(dict[str, str]):
    """Lazily drawn values for a form's letters."""

    def __init__(self, author: Author, words: Identifiers, given: Mapping[str, str]) -> None:
        super().__init__(given)
        self._author, self._words = author, words

    def __missing__(self, letter: str) -> str:
        if letter == "f":
            drawn = self._words.function()
        else:
            drawn = self._words.noun() if letter in "abc" else str(self._author.number())
        return self.setdefault(letter, drawn)


def docstring(text: str) -> str:
    """A text as a string between three quotes."""
    return f'"""{text}"""' if len(text) < _WIDTH else f'"""{wrapped(text)}\n"""'


def wrapped(text: str, start: str = "") -> str:
    """A text in lines, each with the same start."""
    lines = []
    for paragraph in text.splitlines():
        rest = paragraph
        # By hand: textwrap would take longer than everything else about a module.
        while len(rest) > _WIDTH and (cut := rest.rfind(" ", 0, _WIDTH)) > 0:
            lines.append(start + rest[:cut])
            rest = rest[cut + 1 :]
        lines.append(start + rest)
    return "\n".join(lines)


def _imported(rule: Rule) -> list[str]:
    return list(dict.fromkeys([*rule.variables, *([rule.writes.name] if rule.writes else [])]))


def _main(program: Program, rule: Rule | None, *, cached: bool) -> str:
    shared = rule.reads if rule else None

    def asked(found: re.Match[str]) -> str:
        return f"{found[0]}.{shared.attribute if shared and found[0] == shared.name else 'main()'}"

    body = VARIABLE.sub(asked, program.body)
    if rule and rule.writes:
        place = f"{rule.writes.name}.{rule.writes.attribute}"
        body = _RETURN.sub(rf"\g<1>{place} = \g<2>\n\g<1>return {place}", body)
    body = "    " + body.replace("\n", "\n    ")
    decorator = "@cache\n" if cached else ""
    function = f"{decorator}def main():\n{body}"
    return f"{program.definitions}\n\n\n{function}" if program.definitions else function
