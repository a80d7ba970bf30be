"""Prompt checks: it must state exact texts and what stays empty, and have no placeholder left."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mesocosm.kits.yaml_tasks.braces import parts_of
from mesocosm.kits.yaml_tasks.complaints import Gap
from mesocosm.kits.yaml_tasks.definition import Definition, Goal
from mesocosm.kits.yaml_tasks.derivation import flat, shortened, spelt
from mesocosm.kits.yaml_tasks.draws import Choice, Draw, Hooked, drawn
from mesocosm.kits.yaml_tasks.expressions import Expression
from mesocosm.kits.yaml_tasks.grading import WAYS, Wanted

_UNFILLED = re.compile(r"<<[^<>\n]{1,80}>>")
_DOLLAR = re.compile(r"\$\{[^{}\n]{1,80}\}")
_DOLLAR_BEFORE_TEXT = re.compile(r"(?<!\w)\$[^\W\d_][^\n.,;]{0,30}")
_ATTACHED = re.compile(r"[\w-]+")
_ATTACHED_BEFORE = re.compile(r"[\w-]+$")
_NOT_SAID = ("for", "cases", "where", "sort", "each", "within", "matches", "only")
"""Parts of a goal whose texts nobody has to write."""
_EMPTY = r"(?:empty|blank)"
_ENDED = r"(?=$|[,;.):]| (?:and|or|if|where|when|for|unless|in|of)\b)"
_LEFT = re.compile(
    rf"\b(?:leave|leaves|left|keep|keeps|kept|stay|stays|remain|remains|be|is|are)\b.*\b{_EMPTY}\b"
)
_CONDITION = re.compile(r"\b(?:if|where|when|whenever|unless|except|whose|who|otherwise|for|of which)\b")
_ROUNDS = re.compile(r"\.round\(\s*\d*\s*(?:,\s*'(\w+)')?")
_ROUNDING = {
    "down": re.compile(r"\bround\w*\b(?:(?!half)[^.;]){0,40}\bdown\b|\btruncat"),
    "up": re.compile(r"\bround\w*\b(?:(?!half)[^.;]){0,40}\bup\b"),
    "half_even": re.compile(r"\bhalf to even\b|\bbankers?\b.{0,20}\bround"),
}
"""Wordings in rules of other than commercial rounding."""
_SYNONYMS = {
    "location": ("location", "place", "room", "venue"),
    "description": ("description", "note", "notes"),
    "attendees": ("attendees", "guests", "invitees", "participants"),
    "body": ("body", "text"),
    "content": ("content", "text", "body"),
    "summary": ("summary", "title"),
    "cc": ("cc", "copy"),
}


def asked_otherwise(
    definition: Definition, source: str, prompt: str, rules: str, wanted: Sequence[Wanted]
) -> Iterator[Gap]:
    """Yield where the prompt says something else than the goal, or nothing of what it judges to the letter.

    Args:
        source: The prompt as the file has it.
        prompt: As the agent reads it.
        rules: With it, what is told once.
    """
    yield from unfilled(source, prompt)
    yield from unsaid_texts(definition, rules)
    yield from _said_to_be_empty(definition, prompt, wanted)
    yield from _rounded_otherwise(definition, rules)


def unfilled(source: str, prompt: str) -> Iterator[Gap]:
    """Places of a prompt that nothing fills, and values with a dollar sign that are no amounts."""
    if name := _UNFILLED.search(source):
        yield Gap(("prompt",), f"{name[0]} stays as it is; what varies is written {{me.name}}")
    if (name := _DOLLAR.search(source)) and (found := _DOLLAR_BEFORE_TEXT.search(prompt)):
        yield Gap(("prompt",), f"{found[0]!r} has a dollar sign; write {name[0][1:]} without one")


def unsaid_texts(definition: Definition, rules: str) -> Iterator[Gap]:
    """Yield exactly judged texts that are neither in the prompt nor in documents."""
    said = flat(rules)
    told = flat("\n".join(text for one in definition.evidence for text in spelt(one.fields)))
    for index, goal in enumerate(definition.goal):
        for name, value in goal.fields.items():
            for text in _exact_texts(value):
                pattern, shown = _pattern(text, told)
                if pattern is None or re.search(pattern, said):
                    continue
                message = f"the prompt does not say {shown!r}, which is judged"
                if near := _near(shown, rules):
                    message += f"; nearest: {near!r}"
                yield Gap(("goal", index, goal.what, name), message)


def _exact_texts(value: Any) -> Iterator[str]:
    """Yield the texts in what is judged, and column names."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key in _NOT_SAID:
                continue
            if key in ("columns", "footer") and isinstance(inner, Mapping) and "columns" in value:
                yield from map(str, inner)
                yield from (cell for cell in inner.values() if isinstance(cell, str))
            elif key in WAYS or isinstance(inner, (str, Mapping, list)):
                yield from _exact_texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _exact_texts(inner)
    elif isinstance(value, str):
        yield from value.splitlines()


def _pattern(text: str, told: str) -> tuple[str | None, str]:
    """Make a pattern that matches a text for any values, and its display form; ``None`` for a text without
    words.
    """
    found = parts_of(text)
    if any(part.kind == "block" for part in found):
        return None, text
    parts = [""]
    for one in found:
        if one.kind == "value":
            parts.append("")
        else:
            parts[-1] += one.text
    shown = shortened("...".join(parts))
    if not any(letter.isalpha() for part in parts for letter in part):
        return None, shown
    pattern = r"\S.{0,80}?".join(
        _part(part, told, before=number > 0, after=number < len(parts) - 1)
        for number, part in enumerate(re.sub(r"\s+", " ", part).lower() for part in parts)
    )
    return pattern.strip().removeprefix("\\ ").removesuffix("\\ "), shown


def _part(part: str, told: str, *, before: bool, after: bool) -> str:
    """Make a pattern for the text between values; a text containing a value may be stated as a form:
    SUP-{code}.
    """
    head = _ATTACHED.match(part) if before else None
    start = head.end() if head else 0
    tail = _ATTACHED_BEFORE.search(part, start) if after else None
    end = tail.start() if tail else len(part)
    return _attached(part[:start], told) + re.escape(part[start:end]) + _attached(part[end:], told)


def _attached(run: str, told: str) -> str:
    return f"(?:{re.escape(run)})?" if run and run in told else re.escape(run)


def _near(text: str, rules: str) -> str:
    """Return what stands in place of a text's first word."""
    words = re.findall(r"\w{3,}", text)
    line = " ".join(rules.split())
    found = re.search(rf"\b{re.escape(words[0])}\b.{{0,40}}", line, re.IGNORECASE) if words else None
    return found[0].strip() if found else ""


def _said_to_be_empty(definition: Definition, prompt: str, wanted: Sequence[Wanted]) -> Iterator[Gap]:
    """Yield fields that the prompt says stay empty but the goal fills."""
    for sentence in re.split(r"[.;:!?]\s|\n\s*\n", prompt):
        line = flat(sentence)
        for index, goal in enumerate(definition.goal):
            for name in goal.fields:
                rows = [one for one in wanted if one.goal is goal]
                filled = [one for one in rows if one.fields.get(name) not in (None, "", [], {})]
                if not filled or not _says_empty(line, name):
                    continue
                if not _CONDITION.search(line) or _is_never_empty(definition, goal, name):
                    value = shortened(str(filled[0].fields[name]))
                    message = f"the prompt says {shortened(sentence)!r}, and the goal fills {name}: {value!r}"
                    yield Gap(("goal", index, goal.what, name), f"{message} ({filled[0].shown})")


def _rounded_otherwise(definition: Definition, rules: str) -> Iterator[Gap]:
    """Rounding that the rules ask for and no formula does, or the other way round."""
    places: dict[str, tuple[Any, ...]] = {}
    for name, it in definition.entities.items():
        parts: dict[tuple[Any, ...], Mapping[str, Any]] = {("entities", name): it.fields}
        parts |= {("entities", name, "cases", case): one.fields for case, one in it.cases.items()}
        for keys, fields in parts.items():
            for field, source in fields.items():
                for found in (found for text in _sources(source) for found in _ROUNDS.finditer(text)):
                    places.setdefault(found[1] or "half_up", (*keys, "fields", field))
    for index, goal in enumerate(definition.goal):
        for text in spelt(goal.fields):
            for found in _ROUNDS.finditer(text):
                places.setdefault(found[1] or "half_up", ("goal", index, goal.what))
    if not places:
        return
    sentences = [flat(one) for one in re.split(r"(?<=[.;])\s|\n\s*\n", rules)]
    asked = {way: one for one in sentences for way, words in _ROUNDING.items() if words.search(one)}
    for way, sentence in asked.items():
        if way not in places and "half_up" in places:
            message = f"{shortened(sentence)!r} is said, and it rounds half up: round(2, {way!r})"
            yield Gap(places["half_up"], message)
    for way in sorted(places.keys() - asked.keys() - {"half_up"}):
        yield Gap(places[way], f"it rounds by {way!r}, and neither the prompt nor a rule says so")


def _sources(source: Any) -> Iterator[str]:
    if isinstance(source, Expression):
        yield source.source
    elif isinstance(source, list):
        for inner in source:
            yield from _sources(inner)


def _is_never_empty(definition: Definition, goal: Goal, name: str) -> bool:
    """True if a field of a goal always has a value."""
    source = drawn(goal.fields[name]) if isinstance(goal.fields[name], str) else goal.fields[name]
    if not isinstance(source, Expression):
        return bool(source)
    fact = definition.entities.get(goal.for_ or "")
    if not source.native or source.source.strip("{} ") not in (fact.own_fields if fact else {}):
        return not source.native and not source.decides
    assert fact is not None
    own = source.source.strip("{} ")
    sources = [fact.fields.get(own), *(fields[own] for fields in fact.special_fields if own in fields)]
    return all(isinstance(one, Draw) and not _may_be_nothing(one) for one in sources)


def _may_be_nothing(draw: Draw) -> bool:
    return isinstance(draw, Hooked) or (isinstance(draw, Choice) and not all(draw.choice))


def _says_empty(line: str, name: str) -> bool:
    words = "|".join(_SYNONYMS.get(name.lower(), (re.escape(name.lower()).replace("_", "[ _]"),)))
    if re.search(rf"\b(?:no|without an?|without any|without|not any|neither) (?:{words})\b{_ENDED}", line):
        return True
    found = _LEFT.search(line)
    return found is not None and re.search(rf"\b(?:{words})\b", line) is not None
