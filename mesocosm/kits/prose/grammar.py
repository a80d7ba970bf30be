"""A tiny template grammar: data files in, linked choice trees out.

A grammar file holds two kinds of rules::

    colour = red pale_blue green        # a pool of words; "_" stands for a space
    greet:                              # a rule; one template on each indented line
        hello [there|again|], {name}
        <wave|nod> at {name}

A rule of the same name as one of the parent grammar replaces it; ``greet+:`` adds to it. ``{name}`` is a
slot, filled from the rule of that name. ``[a|b|]`` chooses one alternative, perhaps the empty one.
``<wave|nod>`` is a verb in base form; ``{greet.ed}`` asks for the same rule with its verbs in the past tense
(``s``, ``ed``, ``en`` and ``ing``, see `mesocosm.kits.prose.inflect`). Slots named in `BOUND` are not rules:
they are the facts of the message being written, so that its sentences speak of one matter.

Linked, a list is a choice, a tuple a sequence, a string itself and an integer the index of a bound fact. That
is all the expansion has to look at, which is what makes it fast.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from mesocosm.kits.prose.inflect import FORMS, Form, inflect

BOUND: tuple[str, ...] = (
    "M",  # the matter, with its article: "the north stairwell boiler"
    "m",  # the same, short: "the boiler"
    "Mb",  # without the article
    "mb",
    "MOD",  # what the long name has before the short one: "north stairwell"
    "X",  # what the sentences of one message have in common beside the matter, each of a topic's rule of
    "Y",  # the name "fact_x", "fact_y", "fact_z": a machine, goods, an office
    "Z",
    "P",  # people of the scenario, by the name the writer uses for them
    "Q",
    "R",
    "PF",  # the same people, full names
    "QF",
    "RF",
    "PLACE",  # where it happens
    "ORG",  # an outside company
    "DAY",  # a weekday
    "ASK",  # the request of this message, base form: "check the gauge"
    "ASKED",  # past participle
    "PREV",  # first name of the writer of the message answered
    "PREVASKED",  # what that message asked for, past participle
    "PREVASK",
    "PREVASKDID",  # the same, past tense
    "TO",  # whom a greeting addresses
    "COURSE",  # "CS 412"
    "TITLE",  # "Distributed Systems"
    "T",  # three topics of that course
    "U",
    "V",
)
BOUND_INDEX = {name: index for index, name in enumerate(BOUND)}


class _Ref(str):
    """A slot that names a rule and has not been linked yet."""

    __slots__ = ()


Node = str | int | tuple["Node", ...] | list["Node"]
"""A linked part of a grammar."""

_TOKEN = re.compile(r"\{([A-Za-z_]\w*(?:\.(?:s|ed|en|ing|mark))?)\}|([\[\]|])|<([^>]+)>|([^\[\]{}|<>]+)")


def parse_template(text: str, form: Form) -> Node:
    """One template as a tree of strings, slots, sequences and choices."""
    tokens = list(_TOKEN.finditer(text))
    if "".join(token.group() for token in tokens) != text:
        raise ValueError(f"malformed template: {text!r}")
    node, end = _sequence(tokens, 0, form)
    if end != len(tokens):
        raise ValueError(f"unbalanced brackets: {text!r}")
    return node


def _sequence(tokens: list[re.Match[str]], at: int, form: Form) -> tuple[Node, int]:
    parts: list[Node] = []
    while at < len(tokens):
        slot, bracket, verbs, literal = tokens[at].groups()
        if bracket == "[":
            choice, at = _choice(tokens, at + 1, form)
            parts.append(choice)
            continue
        if bracket:
            break
        if slot:
            parts.append(_Ref(slot))
        elif verbs:
            parts.append([inflect(verb, form) for verb in verbs.split("|")])
        else:
            parts.append(literal)
        at += 1
    return (parts[0] if len(parts) == 1 else tuple(parts) if parts else ""), at


def _choice(tokens: list[re.Match[str]], at: int, form: Form) -> tuple[Node, int]:
    alternatives: list[Node] = []
    while True:
        node, at = _sequence(tokens, at, form)
        alternatives.append(node)
        if at >= len(tokens):
            raise ValueError("a bracket is never closed")
        if tokens[at].group() == "]":
            return alternatives, at + 1
        at += 1


def read_rules(source: str) -> dict[str, list[str]]:
    """The rules of a grammar file as lists of template texts."""
    rules: dict[str, list[str]] = {}
    current: list[str] = []
    words = False
    for line in source.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line[0] != " ":
            name, separator, rest = line.partition(" = ") if " = " in line else line.partition(":")
            if not separator or not name.removesuffix("+").isidentifier():
                raise ValueError(f"neither a rule nor a pool: {line!r}")
            words = separator == " = "
            current = rules.setdefault(name, [])
            line = rest
        if words:
            current.extend(word.replace("_", " ") for word in line.split())
        elif line.strip():
            current.append(line.strip())
    return rules


class Grammar:
    """The rules of one file over those of another, linked on first use."""

    def __init__(
        self, rules: dict[str, list[str]], parent: Grammar | None = None,
        pools: dict[str, list[Node]] | None = None,
    ) -> None:  # fmt: skip
        """``pools``: rules that are there already, which the grammars over this one share."""
        self._rules = rules
        self._parent = parent
        self._pools = pools or {}
        self._parsed: dict[str, list[Node]] = {}
        self._linked: dict[str, list[Node]] = {}

    def __contains__(self, name: str) -> bool:
        return name in self.names()

    def names(self) -> set[str]:
        """Every rule that can be asked for."""
        own = {name.removesuffix("+") for name in self._rules}
        return own | self._pools.keys() | (self._parent.names() if self._parent else set())

    def rule(self, name: str) -> list[Node]:
        """The linked alternatives of a rule; ``name`` may end in a verb form, as in ``act.ed``."""
        found = self._linked.get(name)
        if found is None and (found := self._pool(name)) is None:
            found = self._linked[name] = []  # registered before it is filled, so that rules may be recursive
            found.extend(self._link(node) for node in self._alternatives(name))
        return found

    def _pool(self, name: str) -> list[Node] | None:
        return self._pools.get(name) or (self._parent._pool(name) if self._parent else None)

    def _alternatives(self, name: str) -> list[Node]:
        base, _, form = name.partition(".")
        own = self._rules.get(base) or self._rules.get(base + "+")
        if own is None:
            if self._parent is None:
                raise KeyError(f"no rule named {base!r}")
            return self._parent._alternatives(name)
        parsed = self._parsed.get(name)
        if parsed is None:
            assert form in FORMS
            parsed = [text if text.isalpha() else parse_template(text, form) for text in own]
            if base not in self._rules and self._parent is not None:
                parsed += self._parent._alternatives(name)
            self._parsed[name] = parsed
        return parsed

    def _link(self, node: Node) -> Node:
        if isinstance(node, _Ref):
            index = BOUND_INDEX.get(node)
            return self.rule(str(node)) if index is None else index
        if isinstance(node, tuple):
            return tuple(self._link(part) for part in node)
        if isinstance(node, list):
            return [self._link(part) for part in node]
        return node


def expand(
    node: Node, bound: Sequence[str], uniform: Callable[[], float], emit: Callable[[str], object]
) -> None:
    """Emit the strings of one random derivation of ``node``."""
    while node.__class__ is list:
        node = node[int(uniform() * len(node))]
    if node.__class__ is str:
        emit(node)
    elif node.__class__ is int:
        emit(bound[node])
    else:
        for part in node:  # type: ignore[union-attr]  # a tuple: ``__class__`` is compared for speed
            while part.__class__ is list:
                part = part[int(uniform() * len(part))]
            if part.__class__ is str:
                emit(part)
            elif part.__class__ is int:
                emit(bound[part])
            else:
                expand(part, bound, uniform, emit)


def check(grammar: Grammar) -> None:
    """Link every rule, so that a slot without a rule is found by a test and not by a reader."""
    for name in sorted(grammar.names()):
        grammar.rule(name)
