"""Points below the paragraph that says why it failed: what was done otherwise, what was refused, and what the
texts say of those whom the findings name.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any
from urllib.parse import quote

from mesocosm.evaluation.browser.calls import CONTENT, FILES, RowChange, ShownCall
from mesocosm.evaluation.browser.comparison import PASSING, Pair, compared
from mesocosm.evaluation.browser.marks import Marks, plain
from mesocosm.evaluation.browser.subject import BUILT, Subject
from mesocosm.services.views import Item

NAMED = 4
"""Things that are named; of others their number is told."""
_SHORT = 120
"""Letters of a value, at most, that is shown beside the one that was expected."""
_TEXT = 900
"""Letters of a text that decides."""
_LINES = 8
"""Texts that are shown of one whom findings name."""
_MANY, _COMMON = 12, 6
"""Texts up to which a code or an address tells something, and up to which words do: too many have others."""
_FACTORS = {
    0.01: "a hundredth of",
    100: "a hundred times",
    0.001: "a thousandth of",
    1_000: "a thousand times",
}
_FACTORS |= {-1: "the negative of", 60: "sixty times", 1 / 60: "a sixtieth of"}
_GOT = re.compile(r"got '?(-?\d+(?:\.\d+)?)'?, expected '?(-?\d+(?:\.\d+)?)'?(?![\w.])")
_WRITES = 60
"""Writing calls up to which it is looked for which of them made a row."""
_ALIKE = 0.7
"""Likeness from which on a value is taken for a misspelling of another."""
_ADDRESS = re.compile(r"[\w.+-]+@[\w.-]*\w(?![\w…])(?!\.\.)")
_CODE = re.compile(
    r"\b(?=[\w-]*\d)(?=[\w-]*[A-Z])[A-Z0-9][\w-]{3,}\b|(?<![\w.:-])(?!(?:19|20)\d\d\b)\d{4,}(?![\w.:-]\w)"
)
_NAME = re.compile(
    r"\b[^\W\d_a-z][\w'’.-]+(?:(?: (?:de|van|von|da|del|la|di|den|der))* [^\W\d_a-z][\w'’-]+|\ \d{4}\b)+"
)
_ZEROS = re.compile(r"(\d+\.\d*?)0{3,}\b")
_DELETED = re.compile(r"deleted|cancelled|canceled|trashed?|removed", re.IGNORECASE)
_MISSING = {"added": "missing", "changed": "not changed", "removed": "not deleted"}
_UNASKED = {
    "added": "not expected",
    "changed": "changed, which was not asked for",
    "removed": "deleted, which was not asked for",
}


@dataclass(frozen=True)
class WhyPart:
    """A part of what is told; with a path, a link."""

    text: str
    path: str = ""


@dataclass(frozen=True)
class WhyPoint:
    """Something that is told below the paragraph, in lines."""

    title: str
    lines: Sequence[Sequence[WhyPart]]
    path: str = ""


def points(subject: Subject, marks: Marks) -> list[WhyPoint]:
    """List what is told below the paragraph; nothing without a failure of the agent."""
    verdict = subject.verdict
    if verdict is None or verdict.verdict != "failed":
        return []
    wrong = [f"{check.name} {check.detail}" for check in verdict.findings if not check.passed]
    pairs = _pairs(subject)
    found = [*_refused(subject), *_against(subject, marks, pairs)]
    if alike := _alike([check.detail for check in verdict.findings if not check.passed]):
        found.append(WhyPoint("What the wrong values have in common", [[WhyPart(alike)]]))
    elif subject.reading.writes and not subject.misread:
        found += _concerned(subject, marks, [*wrong, *_lines_apart(pairs)], _diverted(pairs))
    return found


def fact(marks: Marks, one: Any) -> Iterator[WhyPart]:
    """Describe an event: where it is told, and whether that was delivered."""
    place = marks.places.get(one.text)
    kind = one.kind.replace("_", " ")
    path = f"derivations#d{marks.derivations.index(one) + 1}"
    yield WhyPart(f"“{kind}” in “{place[1].title}”" if place else f"“{kind}”", path)
    if one.says.strip():
        yield WhyPart(f", “{shown(' '.join(one.says.split()))}”")
    call = marks.told_by(one)
    yield WhyPart(f" (delivered by call {call})" if call else " (never delivered)")


def signed(item: Item, marks: Marks) -> str:
    """Say who wrote something, and when."""
    who = item.who[0] if item.who else ""
    by = f" by {marks.cast.get(who, '') or who}" if who else ""
    return by + (f" of {item.when[:10]}" if item.when else "")


def shown(text: str, longest: int = 300) -> str:
    """A text, cut if it is long."""
    return text if len(text) <= longest else f"{text[:longest]}…"


def _alike(details: Sequence[str]) -> str:
    """Say by which factor all wrong numbers are off, if it is one that a wrong unit or sign explains."""
    pairs = [(float(got), float(expected)) for detail in details for got, expected in _GOT.findall(detail)]
    pairs = [(got, expected) for got, expected in pairs if got != expected]
    for factor, words in _FACTORS.items():
        # What is written with few digits is rounded.
        if len(pairs) > 2 and all(
            abs(got - factor * expected) <= max(0.005 * abs(factor * expected), 0.000_06)
            for got, expected in pairs
        ):
            return f"Each of the {len(pairs)} numbers that the findings show is {words} the one expected."
    return ""


# -- what was refused -----------------------------------------------------------------------------------


def _refused(subject: Subject) -> Iterator[WhyPoint]:
    """Say of the last call, if it was refused, which arguments are unlike those of calls that worked."""
    made = [call for call in subject.calls if call.parent is None]
    if made and made[-1].status not in ("ok", "disturbed") and (lines := unlike(subject, made[-1])):
        yield WhyPoint(f"Call {made[-1].seq} was refused", lines, f"calls/{made[-1].seq}")


def unlike(subject: Subject, call: ShownCall) -> list[list[WhyPart]]:
    """Say which arguments of a call stand in nothing that was delivered before, and what worked instead.

    What is made up, misspelt or of another place explains why a call was refused.
    """
    worked: dict[str, Counter[str]] = defaultdict(Counter)
    delivered = [subject.episode.prompt]
    for one in subject.calls:
        if one.seq >= call.seq:
            break
        if one.status == "ok":
            delivered.append(one.result)
            for name, value in one.arguments.items():
                if one.service == call.service and isinstance(value, str | int):
                    worked[name][str(value)] += 1
    found = []
    for name, value in call.arguments.items():
        if not isinstance(value, str) or not re.fullmatch(r"\S+", value) or value in worked[name]:
            continue  # what was written in words or as a query is seldom repeated
        near = difflib.get_close_matches(value, list(worked[name]), n=1, cutoff=_ALIKE)
        seen = any(re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text) for text in delivered)
        if near and not seen:
            count = worked[name][near[0]]
            times = f"{count:,} call{'' if count == 1 else 's'}"
            found.append(
                [
                    WhyPart(f"{name} “{value}” stands in nothing that was delivered before; "),
                    WhyPart(f"with “{near[0]}”, {times} worked."),
                ]
            )
        elif not seen and worked[name]:
            found.append([WhyPart(f"{name} “{value}” stands in nothing that was delivered before.")])
    return found


# -- what was done otherwise ----------------------------------------------------------------------------


def _pairs(subject: Subject) -> list[tuple[str, list[Pair]]]:
    """The rows that the reference solver changes beside those of the agent, by table."""
    if not subject.is_small or not subject.reading.writes or isinstance(subject.solution, str):
        return []
    return compared(subject.solution, subject.changes, subject.content(BUILT).row)


def _against(subject: Subject, marks: Marks, tables: Sequence[tuple[str, list[Pair]]]) -> Iterator[WhyPoint]:
    """Describe the difference from the reference solver's changes in a few rows."""
    told: dict[str, list[tuple[str, Pair]]] = {}
    seen: set[tuple[str, str, str]] = set()
    for table, pairs in tables:
        for pair in pairs:
            how = how_differs(pair)
            if pair.called and how and (how, table, pair.called) not in seen:
                seen.add((how, table, pair.called))
                told.setdefault(how, []).append((table, pair))
    lines: list[list[WhyPart]] = []
    named: list[str] = []
    labels = {pair.called for rows in told.values() for _, pair in rows}
    bare = [one for rows in told.values() for one in rows if not _is_nameless(*one)]
    for how, rows in told.items():
        # A row that is new and has no name of its own is told where nothing else is.
        rows = [one for one in rows if not bare or not _is_nameless(*one)]
        # What belongs to a row that is named itself goes with it.
        rows = [
            (table, pair)
            for table, pair in rows
            if not any(
                of != pair.called and (f" of {of}" in pair.called or of.startswith(f"{pair.called} / "))
                for of in labels
            )
        ]
        # Rows that say most come first; those that only lead from one row to another say nothing beside them.
        rows.sort(key=lambda one: -one[1].called.count(" / "))
        for table, pair in rows[:NAMED]:
            named.append(table)
            lines.append([WhyPart(f"{how}: {pair.called}"), *_told(subject, marks, pair)])
        if len(rows) > NAMED:
            lines.append([WhyPart(f"{how}: {len(rows) - NAMED:,} more")])
    if lines:
        # Of the tables that one thing fills, one is enough.
        for pairs in [pairs for table, pairs in tables if table == named[0]][:1]:
            right, of = sum(pair.same for pair in pairs), sum(bool(pair.expected) for pair in pairs)
            if right:
                lines.insert(0, [WhyPart(f"{right:,} of {of:,} rows of {named[0]} are as it makes them")])
        yield WhyPoint("Against what the reference solver does", lines, "changes?against=solution")


def _is_nameless(table: str, pair: Pair) -> bool:
    """True for a row that was added, or was to be, and is called after what it belongs to."""
    row = pair.expected or pair.got
    return bool(
        row and row.how == "added" and pair.called.startswith(f"{table.rpartition('.')[2]} of ")
    ) and not (pair.expected and pair.got)


def how_differs(pair: Pair) -> str:
    """Say in which way a row is not as expected; empty if it is."""
    if pair.expected and pair.got:
        return "different" if pair.differing else ""
    row = pair.expected or pair.got
    assert row is not None
    return (_MISSING if pair.expected else _UNASKED)["removed" if _deletes(row) else row.how]


def _deletes(row: RowChange) -> bool:
    """True if a change is a deletion: some services keep what is deleted, and say so."""
    return row.how == "changed" and any(
        _DELETED.fullmatch(str(after)) or (_DELETED.fullmatch(name.removeprefix("is_")) and not before)
        for name, before, after in row.values
        if after
    )


def _told(subject: Subject, marks: Marks, pair: Pair) -> Iterator[WhyPart]:
    """Tell the values in which a row differs, what else it holds, and the call that made it."""
    yield WhyPart(_differing(pair, marks))
    if pair.got and (seq := _made_by(subject, pair.got)):
        yield WhyPart(", ")
        yield WhyPart(f"call {seq}", f"calls/{seq}")
    if rest := _rest(pair):
        yield WhyPart(f"; all else of it is right: “{rest}”")


def _differing(pair: Pair, marks: Marks) -> str:
    """The first value in which rows differ, or that was changed, if it is short; of texts the first line."""
    if pair.expected and pair.got and pair.differing:
        name, *values = pair.differing[0]
        if "" in values:  # of texts, only lines that one side alone has
            lines = next(filter(None, values)).split("\n")
            more = f" and {len(lines) - 2:,} more lines" if len(lines) > 2 else ""
            told = "; ".join(f"“{shown(line, _SHORT)}”" for line in lines[:2])
            return f" ({'lacks' if values[0] else 'has besides'} {told}{more})"
        expected, got = _apart(*(_line(value) for value in values))
        if max(len(expected), len(got)) > _SHORT:
            return ""
        return f" ({_spaced(name)}: “{got}”{_person(got, marks)}, not “{expected}”{_person(expected, marks)})"
    row = pair.expected or pair.got
    if row is None or row.how != "changed":
        return ""
    for name, before, after in row.values:
        before, after = _line(before), _line(after)
        if (
            name in row.after
            and not PASSING.fullmatch(name)
            and max(len(before), len(after)) <= _SHORT
            and not _moment(after)
        ):
            to_be = "should have become" if pair.expected else "became"
            return f" ({_spaced(name)}: “{before}” {to_be} “{after}”)"
    return ""


def _apart(one: str, other: str) -> tuple[str, str]:
    """Of two long texts, the words in which they differ."""
    if max(len(one), len(other)) <= _SHORT:
        return one, other
    mine, theirs = re.split(r"(?<=[\s,;\t])", one), re.split(r"(?<=[\s,;\t])", other)
    start = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(mine, theirs, strict=False)))
    rest = zip(reversed(mine[start:]), reversed(theirs[start:]), strict=False)
    end = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], rest))
    begin = max(0, start - 2)  # with the words before it
    shown_of = ("".join(words[begin : len(words) - end]).strip() for words in (mine, theirs))
    cut_one, cut_other = (f"{'…' if begin else ''}{text}{'…' if end else ''}" for text in shown_of)
    return cut_one, cut_other


def _moment(text: str) -> bool:
    return bool(re.match(r"\d{4}-\d\d-\d\dT", text))


def _line(value: Any) -> str:
    return str(value).split("\n")[0].strip()


def _spaced(name: str) -> str:
    return name.replace("_", " ")


def _person(value: str, marks: Marks) -> str:
    """The name of whoever has an address, in brackets."""
    name = next((name for address, name in marks.cast.items() if address.lower() == value.lower()), "")
    return f" ({name})" if name else ""


def _rest(pair: Pair) -> str:
    """The text of a row that went to a wrong address and is right in all else: it says for whom it was."""
    if not (pair.expected and pair.got and len(pair.differing) == 1):
        return ""
    name, *values = pair.differing[0]
    if not all(_ADDRESS.search(str(value)) and len(str(value)) <= _SHORT for value in values):
        return ""
    same = [
        plain(value)
        for column, value in pair.got.after.items()
        if column != name and isinstance(value, str) and value == pair.expected.after.get(column)
    ]
    text = " ".join(max((one for one in same if " " in one), key=len, default="").split())
    return shown(text, _SHORT)


def _made_by(subject: Subject, row: RowChange) -> int | None:
    """The last call that changed a row."""
    writes = [call.seq for call in subject.calls if call.writes and call.status == "ok"]
    if len(writes) > _WRITES:
        return None
    for seq in reversed(writes):
        if any(one.ref == row.ref for change in subject.changes_of(seq) for one in change.rows):
            return seq
    return None


def _lines_apart(tables: Sequence[tuple[str, list[Pair]]]) -> list[str]:
    """The first lines of written texts that are not as expected: they name what they are about."""
    values = [
        value
        for _, pairs in tables
        for pair in pairs
        for name, *both in pair.differing
        if name == CONTENT
        for value in both
    ]
    return [line for value in values for line in str(value).split("\n")[:NAMED] if line]


def _diverted(tables: Sequence[tuple[str, list[Pair]]]) -> set[str]:
    """The addresses between which something went astray that is right in all else.

    Nothing that was read of them decided it, so nothing is told of them.
    """
    found = set()
    for _, pairs in tables:
        for pair in pairs:
            if _rest(pair):
                for value in pair.differing[0][1:]:
                    found |= {one.lower() for one in _ADDRESS.findall(str(value))}
    return found


# -- what is told of those whom the findings name -------------------------------------------------------


def _concerned(
    subject: Subject, marks: Marks, details: Sequence[str], diverted: Collection[str]
) -> Iterator[WhyPoint]:
    """List the texts that settle the cases named in the findings, and whether they were delivered."""
    found: dict[str, list[list[WhyPart]]] = {}
    about = None if marks.derivations else _Holding(subject, marks)
    for name in [one for detail in details for part in detail.split(";") for one in _named(part, about)]:
        if name.lower() in diverted or name in found or len(found) == NAMED:
            continue
        if about:
            found[name] = about.texts(name) if subject.is_small else []
        else:
            of = [one for one in marks.derivations if name.lower() in _people(one, marks)]
            found[name] = [list(fact(marks, one)) for one in of]
    told: list[list[list[WhyPart]]] = []
    for name, lines in found.items():
        if lines and lines not in told:
            told.append(lines)
            yield WhyPoint(f"What is told of {name}", lines, f"search?q={quote(name)}")


def _named(part: str, about: _Holding | None) -> list[str]:
    """Find whom a part of a finding names: by an address or a code, or as it is named in the fewest texts."""
    exact = [*_ADDRESS.findall(part), *_CODE.findall(part)]
    if about is None:
        return exact
    if exact := [name for name in exact if about.count(name)]:
        return exact
    names = []
    for run in _NAME.findall(part):
        words = run.split()
        # A title may go on after the name: the longest beginning that any text has.
        longest = (" ".join(words[:count]) for count in range(len(words), 1, -1))
        names += [name for name in longest if about.count(name)][:1]
    names = [name for name in names if about.count(name) <= _COMMON]
    return sorted(names, key=about.count)[:1]


class _Holding:
    """Find what holds evidence, by what it says of somebody or something."""

    def __init__(self, subject: Subject, marks: Marks) -> None:
        self._subject, self._marks = subject, marks
        self._found: dict[str, dict[tuple[str, str, str], tuple[str, Item, list[int]]]] = {}

    def count(self, name: str) -> int:
        """Count the texts that say something of it."""
        return len(self._about(name))

    def _about(self, name: str) -> Mapping[tuple[str, str, str], tuple[str, Item, list[int]]]:
        if name not in self._found:
            found = self._found[name] = {}
            subject = self._subject
            for number, holders in self._marks.holders(range(len(subject.evidence))).items():
                for service, item in holders:
                    written = subject.marks.get((service, item.ref))
                    if not (written and written.how == "added") and (said := _said_of(name, item)):
                        key = (service, item.path, said)
                        found.setdefault(key, (service, item, []))[2].append(number)
            if len(found) > _MANY:  # texts say more than the many rows of a log
                self._found[name] = {key: value for key, value in found.items() if value[1].kind != "row"}
        return self._found[name]

    def _with_mails(self, name: str) -> Mapping[tuple[str, str, str], tuple[str, Item, list[int]]]:
        """Also what is written by those who own what is named: of an order, the customer's mails."""
        found = self._about(name)
        owners = [item.who[0] for _, item, _ in found.values() if item.who]
        written = {key: value for who in owners for key, value in self._about(who).items()}
        return {**written, **found} if len(dict.fromkeys(owners)) == 1 else found

    def texts(self, name: str) -> list[list[WhyPart]]:
        """Quote them, with the call that delivered each."""
        found, lines, delivered = self._with_mails(name), [], self._subject.delivered
        if len(found) > _MANY:
            return []
        ordered = sorted(found.items(), key=lambda one: (one[1][1].when, one[1][1].title))
        for (_, _, said), (service, item, numbers) in ordered[:_LINES]:
            calls = sorted({delivered[number] for number in numbers if number in delivered})
            line = [
                WhyPart(f"{item.kind} “{item.title or item.path}”", f"world/now/{service}/{item.path}"),
                WhyPart(f"{signed(item, self._marks)}: “{said}” "),
            ]
            if calls:
                call = WhyPart(f"call {calls[0]}", f"calls/{calls[0]}")
                line += [WhyPart("(delivered by "), call, WhyPart(")")]
            else:
                line.append(WhyPart("(never delivered)"))
            lines.append(line)
        if len(found) > _LINES:
            lines.append([WhyPart(f"and {len(found) - _LINES} more")])
        return lines


def _said_of(name: str, item: Item) -> str:
    """Return what a thing says of somebody: of a mail all, of a list or table the lines with the name."""
    text = plain(item.text)
    if item.who:
        if not (name in text or name in item.title or any(_is_of(name, who) for who in item.who[:1])):
            return ""
        return shown(" ".join(text.split()), _TEXT)
    if name not in text:
        return ""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if len(text) > _TEXT or item.ref.startswith(f"{FILES}:"):
        lines = [line for line in lines if name in line][:3]
    return shown(_ZEROS.sub(lambda found: found[1].rstrip("."), ", ".join(lines)), _TEXT)


def _is_of(name: str, address: str) -> bool:
    """True if an address is somebody's: it is named itself, or has the person's last name and initial."""
    if "@" in name:
        return name.lower() == address.lower()
    words = [_plain_letters(word) for word in name.split()]
    local = _plain_letters(address.partition("@")[0])
    return len(words) > 1 and words[-1] in local and local.startswith((words[0][:1], words[-1]))


def _plain_letters(text: str) -> str:
    folded = unicodedata.normalize("NFKD", text.lower())
    return "".join(letter for letter in folded if letter.isalnum() and letter.isascii())


def _people(derivation: Any, marks: Marks) -> set[str]:
    """The addresses that a derivation is about: those between whom its message went."""
    found = set()
    for step in derivation.people:
        if step.expression == "from":
            found.add(step.sender)
        elif step.expression == "to":
            found.add(step.to)
        else:
            found |= {address for address, name in marks.cast.items() if _means(step.expression, name)}
    return {address.lower() for address in found}


def _means(expression: str, name: str) -> bool:
    """True if an expression can refer to a person, by the full name or a part of it."""
    return expression == name or expression in name.split()
