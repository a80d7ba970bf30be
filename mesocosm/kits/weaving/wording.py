"""Wording of nodes as documents.

The phrases are short, because thousands of distractor documents repeat them: between two values that differ
stand fewer than eight words.
"""

from __future__ import annotations

import random
from collections.abc import Iterable

from mesocosm.kits.weaving import Rule, Value

_FIELDS = (
    "{name}: {value}.",
    "{name} = {value}.",
    "{name} has value {value}.",
    "Value of {name} is {value}.",
    "Field {name} contains {value}.",
    "Parameter {name} is set to {value}.",
    "Variable {name} equals {value}.",
    "We note {value} for {name}.",
)
_RULES = (
    "Read the document '{target}%X' next, where X = {expression}.",
    "Continue with '{target}%X'; X is the value of {expression}.",
    "Compute X = {expression}, then read '{target}%X'.",
    "More is said in '{target}%X', X being {expression}.",
    "The document '{target}%X' follows, with {expression} as X.",
)
_NUMBERS = (
    "A negative X keeps its minus sign.",
    "Write no plus sign before X.",
    "X is an integer.",
    "",
)
_STRINGS = (
    "The variables are strings; + concatenates.",
    "Here + joins strings.",
    "X is a string.",
    "",
)
_LISTS = (
    "These documents belong together:",
    "Further documents:",
    "To be read as well:",
    "The following documents are on file:",
)


def field_text(name: str, value: Value, rng: random.Random) -> str:
    """A statement of what a variable's value is."""
    return rng.choice(_FIELDS).format(name=name, value=value)


def rule_text(rule: Rule, rng: random.Random) -> str:
    """A statement of which document to read next."""
    notes = _STRINGS if rule.operator.gives == "string" else _NUMBERS
    sentence = rng.choice(_RULES).format(target=rule.target, expression=rule.expression)
    return f"{sentence} {rng.choice(notes)}".strip()


def list_text(ids: Iterable[str], rng: random.Random) -> str:
    """A list of documents, one a line."""
    return "\n".join([rng.choice(_LISTS), *(f"- {one}" for one in ids)])
