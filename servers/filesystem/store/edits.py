"""Replacing passages of a text, and showing what changed as a git-style diff."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TypedDict

from mesocosm.errors import Invalid
from mesocosm.worlds import deadlines

CONTEXT_LINES = 4
MAX_COMPARED_LINES = 2_000
MAX_COMPARED_PAIRS = 50_000
"""Changed regions of more lines, or pairs of equal lines, are shown as replaced whole: comparing takes
time in proportion to these pairs, again for each change."""
_COMPARING = 2.0
"""Seconds that the longest comparison takes, about."""

_SHOWN = 2_000
"""Characters of a passage that a refusal repeats."""

Opcode = tuple[str, int, int, int, int]


class Edit(TypedDict):
    """One replacement."""

    oldText: str
    newText: str


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """The text after all edits, in their order; ``Invalid`` if the passage of one is not there."""
    for edit in edits:
        deadlines.check()
        old, new = unix_lines(edit["oldText"]), unix_lines(edit["newText"])
        if not old:
            raise Invalid("oldText must not be empty: it names the passage to replace.")
        if old in text:
            text = text.replace(old, new, 1)
        else:
            text = _replace_by_lines(text, old, new)
    return text


def unix_lines(text: str) -> str:
    """The text with line feeds as the ends of its lines."""
    return text.replace("\r\n", "\n")


def _replace_by_lines(text: str, old: str, new: str) -> str:
    """Replace the first run of lines that equals ``old`` but for white space around its lines."""
    lines, wanted = text.split("\n"), old.split("\n")
    stripped, pattern = [line.strip() for line in lines], [line.strip() for line in wanted]
    searched = "\n".join(("", *stripped, ""))
    found = searched.find("\n".join(("", *pattern, "")))
    if found < 0:
        raise Invalid(f"Could not find exact match for edit:\n{old[:_SHOWN]}")
    start = searched.count("\n", 0, found)
    lines[start : start + len(wanted)] = _indented(new.split("\n"), wanted, _indent(lines[start]))
    return "\n".join(lines)


def _indented(new: list[str], old: list[str], indent: str) -> list[str]:
    """New lines with the indentation that the replaced lines have in the file."""
    result = [indent + new[0].lstrip()]
    for index, line in enumerate(new[1:], start=1):
        before, after = _indent(old[index]) if index < len(old) else "", _indent(line)
        if before and after:
            line = indent + " " * max(0, len(after) - len(before)) + line.lstrip()
        result.append(line)
    return result


def _indent(line: str) -> str:
    found = re.match(r"\s*", line)
    return found[0] if found else ""


def fenced_diff(old: str, new: str, name: str) -> str:
    """The difference as a unified diff in a code fence that nothing in it can close."""
    diff = unified_diff(old, new, name)
    longest = max((len(run) for run in re.findall(r"`+", diff)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}diff\n{diff}{fence}\n\n"


def unified_diff(old: str, new: str, name: str) -> str:
    """The difference between two texts with ``\\n`` line ends."""
    before, after = _lines(old), _lines(new)
    out = [f"Index: {name}", "=" * 67, f"--- {name}\toriginal", f"+++ {name}\tmodified"]
    for group in _groups(_opcodes(before, after)):
        first, last = group[0], group[-1]
        out.append(f"@@ -{_span(first[1], last[2])} +{_span(first[3], last[4])} @@")
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                out += _marked(" ", before[i1:i2])
            else:
                out += _marked("-", before[i1:i2]) + _marked("+", after[j1:j2])
    return "\n".join(out) + "\n"


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _marked(mark: str, lines: Sequence[str]) -> list[str]:
    out = []
    for line in lines:
        out.append(mark + line.removesuffix("\n"))
        if not line.endswith("\n"):
            out.append("\\ No newline at end of file")
    return out


def _span(start: int, stop: int) -> str:
    length = stop - start
    return f"{start + (length > 0)},{length}"


def _opcodes(before: list[str], after: list[str]) -> list[Opcode]:
    """Compute the edits from ``before`` to ``after``; only the region between equal ends is compared in
    detail.
    """
    head = 0
    while head < min(len(before), len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    i, j = len(before) - tail, len(after) - tail
    opcodes: list[Opcode] = [("equal", 0, head, 0, head)] if head else []
    old, new = before[head:i], after[head:j]
    if max(len(old), len(new)) > MAX_COMPARED_LINES or _pairs(old, new) > MAX_COMPARED_PAIRS:
        opcodes.append(("replace", head, i, head, j))
    else:
        matcher = _Matcher(None, old, new, autojunk=False)
        opcodes += [
            (tag, a + head, b + head, c + head, d + head) for tag, a, b, c, d in matcher.get_opcodes()
        ]
    return opcodes + ([("equal", i, len(before), j, len(after))] if tail else [])


class _Matcher(difflib.SequenceMatcher[str]):
    """Compares until the time of the call is up."""

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> difflib.Match:
        deadlines.check()
        return super().find_longest_match(alo, ahi, blo, bhi)


def _pairs(old: list[str], new: list[str]) -> int:
    """Count the pairs of equal lines. Many of them make the comparison slow."""
    counts = Counter(old)
    pairs = sum(counts[line] for line in new)
    if pairs > MAX_COMPARED_LINES:
        deadlines.expect(_COMPARING)
    return pairs


def _groups(opcodes: list[Opcode]) -> Iterator[list[Opcode]]:
    """The changes with a few equal lines around them, those close to each other together."""
    group: list[Opcode] = []
    for index, (tag, i1, i2, j1, j2) in enumerate(opcodes):
        if tag != "equal":
            group.append((tag, i1, i2, j1, j2))
            continue
        if group:
            length = CONTEXT_LINES * (1 if index == len(opcodes) - 1 else 2)
            if i2 - i1 <= length and index < len(opcodes) - 1:
                group.append((tag, i1, i2, j1, j2))
                continue
            shown = min(CONTEXT_LINES, i2 - i1)
            yield [*group, (tag, i1, i1 + shown, j1, j1 + shown)]
        shown = min(CONTEXT_LINES, i2 - i1)
        group = [(tag, i2 - shown, i2, j2 - shown, j2)]
    if any(tag != "equal" for tag, *_ in group):
        yield group
