"""Highlights in texts: evidence, words of derivations, search terms, delivered passages."""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import orjson

from mesocosm.families.family import Evidence
from mesocosm.families.length import EvidenceFinder
from mesocosm.kits.html_text import visible_text
from mesocosm.services.views import Item

if TYPE_CHECKING:
    from mesocosm.evaluation.browser.subject import Subject

_MARKUP = re.compile(
    r"<(p|div|br|ul|ol|li|table|h[1-6]|span|a|b|strong|em|i|html|body|blockquote)\b[^>]*>", re.IGNORECASE
)
_BREAK = re.compile(r"<br\b[^>]*>|</(?:p|div|li|h[1-6]|tr|ul|ol|blockquote|table)>", re.IGNORECASE)
_BLANKS = re.compile(r"\n\s*\n\s*")
_LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"(?=(\s*:)?)|-?\d+(?:\.\d+)?')
_FIELD = re.compile(r"[A-Z_]+: (.+)\n")
"""A column and its value, as a warehouse's tool writes a row."""
_WHOLE = 0.6
"""The share of a text from which on it is evidence as a whole, and nothing in it is marked."""
_LINE = 12
"""Letters from which on a line is looked for among what was delivered."""
_LINES = 60
_SHORT = 60
"""Letters up to which a line may be one that many texts have."""
_CUT = re.compile(r"\n|<[^>]*>")
_EXCERPT, _AROUND = 240, 50
"""Letters of a piece of evidence that are shown, and those around a sentence that decides."""
_WHOLE_EXCERPT = 1_200
"""Letters that are shown of a piece where nobody knows which of its sentences decide."""
_LONG = 20_000
"""Letters up to which what holds a piece is looked through for such sentences."""
_FEW = 60
"""Pieces of evidence that are looked for one by one; of more, each text is looked through for all."""


@dataclass(frozen=True)
class Mark:
    """Highlight of a passage."""

    kind: str
    """evidence, derivation or found."""
    label: str
    path: str = ""
    """Where more is said about it, below the subject."""

    @property
    def told(self) -> str:
        return f"{self.kind} {self.label}".strip()


@dataclass(frozen=True)
class MarkedPiece:
    text: str
    marks: tuple[Mark, ...] = ()
    ends: tuple[Mark, ...] = ()
    """Those of them that end with it, one of each place that says more."""


@dataclass(frozen=True)
class Reached:
    """Share of a text that reached the agent."""

    calls: tuple[int, ...]
    """The calls whose results hold some of it."""
    lines: int
    delivered: int
    listed: tuple[int, ...] = ()
    """The calls whose results hold none of it, and name it in a list."""

    @property
    def whole(self) -> bool:
        """True if the whole text did."""
        return self.lines == self.delivered


def plain(text: str) -> str:
    """Return a text as it is read; HTML as its visible lines."""
    if not _MARKUP.search(text):
        return text
    broken = _BREAK.sub(lambda found: f"{found[0]}\n", text)
    lines = [" ".join(line.split()) for line in visible_text(broken).replace("\xa0", " ").split("\n")]
    return _BLANKS.sub("\n\n", "\n".join(lines)).strip()


def readable_parts(piece: Evidence) -> list[str]:
    """Extract the readable parts of a piece of evidence from its form in a tool's result: values of JSON,
    text of HTML.
    """
    text = piece.contains
    if text[:1] in '"[{':
        try:
            orjson.loads(text)
        except orjson.JSONDecodeError:
            found = [one[0] for one in _LITERAL.finditer(text) if one[1] is None]
            values = [_value(one) for one in found]
            return [value for value in values[:1] if value] or [text]
    if line := _FIELD.fullmatch(text):
        return [line[1]]
    return [plain(html.unescape(text)) if _MARKUP.search(text) else text]


def _value(literal: str) -> str:
    try:
        return str(orjson.loads(literal))
    except orjson.JSONDecodeError:
        return ""


class Marks:
    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._repeats: dict[str, Collection[str]] = {}
        self._texts: dict[str, tuple[str, list[int], list[Item]]] = {}

    @cached_property
    def _finders(self) -> dict[str, EvidenceFinder]:
        needles: dict[str, list[tuple[int, str]]] = defaultdict(list)
        content = self._subject.content("now")
        for number, piece in enumerate(self._subject.evidence):
            needles[content.place_of(piece.service)] += [(number, part) for part in readable_parts(piece)]
        return {service: EvidenceFinder(found) for service, found in needles.items()}

    def holders(self, numbers: Collection[int]) -> dict[int, list[tuple[str, Item]]]:
        """By piece of evidence, of those that are asked for: what holds it."""
        if len(numbers) > _FEW:
            return self._all_holders
        found = {}
        for number in numbers:
            piece = self._subject.evidence[number]
            place = self._subject.content("now").place_of(piece.service)
            if held := list(self._holding(place, readable_parts(piece))):
                found[number] = held
        return found

    def _holding(self, service: str, needles: Sequence[str]) -> Iterator[tuple[str, Item]]:
        """The items of a service that hold one of a few texts."""
        joined, ends, items = self._joined(service)
        for needle in needles:
            last = -1
            for at in _all(joined, needle):
                if (number := bisect_right(ends, at)) != last:
                    yield service, items[number]
                    last = number

    def _joined(self, service: str) -> tuple[str, list[int], list[Item]]:
        """Join all texts of a service, with the end and owner of each."""
        if service not in self._texts:
            content = self._subject.content("now")
            items = content.items(service) if service in content.services else []
            texts = [f"{item.title}\n{plain(item.text)}\0" for item in items]
            self._texts[service] = "".join(texts), list(accumulate(map(len, texts))), items
        return self._texts[service]

    @cached_property
    def _all_holders(self) -> dict[int, list[tuple[str, Item]]]:
        content, found = self._subject.content("now"), defaultdict(list)
        for service, finder in self._finders.items():
            if service not in content.services:
                continue
            for item in content.items(service):
                for number in finder.held_by(f"{item.title}\n{plain(item.text)}"):
                    found[number].append((service, item))
        return dict(found)

    def place_of(self, service: str, words: str) -> tuple[str, Item] | None:
        """Return what holds the words that tell a fact; None if they are too short to be looked for."""
        place = self._subject.content("now").place_of(service)
        return next(iter(self._holding(place, [plain(words)])), None) if len(words) >= _LINE else None

    def evidence_in(self, service: str, text: str) -> tuple[int, ...]:
        """The pieces of evidence that a text holds."""
        finder = self._finders.get(service)
        return finder.held_by(text) if finder else ()

    @cached_property
    def derivations(self) -> list[Any]:
        """The derivations, in order of time; none in families that do not know."""
        found = getattr(self._subject.expected, "derivations", ()) if self._subject.expected else ()
        return sorted(found, key=lambda one: one.written)

    @cached_property
    def cast(self) -> dict[str, str]:
        """Names by address: the lists of an organisation, and whoever wrote or was written to."""
        lists = getattr(self._subject.expected, "lists", None) if self._subject.expected else None
        return {one.email: f"{one.first} {one.last}" for one in lists.people} if lists else {}

    @cached_property
    def _keyed(self) -> dict[str, str]:
        """The keys of messages by their texts."""
        texts = getattr(self._subject.expected, "texts", {}) if self._subject.expected else {}
        return {_even(plain(text.partition("\n")[2])): key for key, text in texts.items()}

    @cached_property
    def _pieces_of_keys(self) -> dict[str, int]:
        """By the key of a message: the piece of evidence that is its text."""
        texts = {_even(plain(piece.contains)): number for number, piece in enumerate(self._subject.evidence)}
        return {key: texts[text] for text, key in self._keyed.items() if text in texts}

    @property
    def leaned(self) -> Collection[int]:
        """The pieces of evidence that derivations lean on."""
        return self._pieces_of_keys.values()

    @property
    def told(self) -> Sequence[tuple[str, str, str]]:
        """The service, the words and the fact that they tell, of all that must be known, if anybody knows."""
        return getattr(self._subject.expected, "told", ())

    @cached_property
    def _deciding(self) -> Mapping[str, Sequence[tuple[str, str]]]:
        """By service: sentences that tell a fact of the goal, and which."""
        found: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for service, sentence, fact in self.told:
            if len(sentence) >= _LINE:
                found[service].append((plain(sentence), fact))
        return found

    def excerpt(self, number: int, holders: Sequence[tuple[str, Item]] = ()) -> list[MarkedPiece]:
        """Return what is shown of a piece of evidence: the sentences that decide with what is around them, or
        where nobody knows which do, all of it, and of a long one its beginning and end.

        A piece is found by some of a text: where these are not in it, they are in the rest of what holds it.
        """
        piece = self._subject.evidence[number]
        sentences = [*self._deciding.get(piece.service, ())]
        for one in self.derivations:
            if self._pieces_of_keys.get(one.text) == number:
                sentences.append((plain(one.says), f"tells {_words(one.kind)}"))
        text = own = plain(piece.contains)
        spans: list[tuple[int, int, Mark]] = []
        for text in (own, *(plain(item.text) for _, item in holders[:1] if len(item.text) <= _LONG)):
            spans = [
                (at, at + len(said), Mark("derivation", fact))
                for said, fact in sentences
                for at in _all(text, said)
            ]
            if spans:
                break
        else:
            text = own
        spans.sort(key=lambda span: span[:2])
        if len(text) <= (_EXCERPT if spans else _WHOLE_EXCERPT):
            return _cut(text, spans)
        windows: list[list[int]] = []
        half = _WHOLE_EXCERPT // 2
        for start, end in [span[:2] for span in spans] or [(0, half), (len(text) - half, len(text))]:
            begin, stop = max(0, start - _AROUND), min(len(text), end + _AROUND)
            if windows and begin <= windows[-1][1]:
                windows[-1][1] = max(stop, windows[-1][1])
            else:
                windows.append([begin, stop])
        found = [] if windows[0][0] == 0 else [MarkedPiece("…")]
        for begin, stop in windows:
            inside = [
                (start - begin, end - begin, mark)
                for start, end, mark in spans
                if begin <= start and end <= stop
            ]
            found += [*_cut(text[begin:stop], inside), *([MarkedPiece("…")] if stop < len(text) else [])]
        return found

    def told_by(self, derivation: Any) -> int | None:
        """The call that first delivered the message of a derivation; None if none did."""
        number = self._pieces_of_keys.get(derivation.text)
        if number is not None and number in self._subject.delivered:
            return self._subject.delivered[number]
        return next(iter(self.reached(derivation.says).calls), None)

    @cached_property
    def places(self) -> dict[str, tuple[str, Item]]:
        """By the key of a message: where it stands."""
        found: dict[str, tuple[str, Item]] = {}
        if self._keyed:
            for service, item in self._subject.content("now").all_items():
                if (key := self._keyed.get(_even(plain(item.text)))) and key not in found:
                    found[key] = service, item
        return found

    @cached_property
    def _expressions(self) -> dict[str, list[tuple[str, Mark]]]:
        """By the key of a message: the words in it that a derivation leans on."""
        found: dict[str, list[tuple[str, Mark]]] = defaultdict(list)
        for number, one in enumerate(self.derivations, 1):
            path = f"derivations#d{number}"
            found[one.text].append(
                (one.says, Mark("derivation", f"{number}: tells {_words(one.kind)}", path))
            )
            steps = [*([one.about] if one.about else []), *one.people, *one.values]
            for step in steps:
                if step.expression and step.expression not in ("from", "to", "owner"):
                    label = f"{number}: {_words(step.field or step.kind)}"
                    found[step.text].append((step.expression, Mark("derivation", label, path)))
        return found

    def pieces(self, service: str, text: str, sought: str = "", *, derived: bool = True) -> list[MarkedPiece]:
        """A text in pieces, each with its marks."""
        spans: list[tuple[int, int, Mark]] = []
        if finder := self._finders.get(service):
            for number in finder.held_by(text):
                for needle in finder.needles([number]):
                    if len(needle) < _WHOLE * len(text):
                        mark = Mark("evidence", f"{number + 1}", f"evidence#e{number + 1}")
                        spans += [(start, start + len(needle), mark) for start in _all(text, needle)]
        key = self._keyed.get(_even(text), "") if derived else ""
        for expression, mark in self._expressions.get(key, ()):
            at = text.lower().find(expression.lower())
            if at >= 0:
                spans.append((at, at + len(expression), mark))
        if sought:
            mark = Mark("found", "")
            spans += [(at, at + len(sought), mark) for at in _all(text.lower(), sought.lower())]
        return _cut(text, spans)

    def result_pieces(self, text: str, evidence: Sequence[int]) -> list[MarkedPiece]:
        """A result of a tool, with the evidence that stands in it as the tool writes it."""
        spans: list[tuple[int, int, Mark]] = []
        for number in evidence:
            piece, mark = (
                self._subject.evidence[number],
                Mark("evidence", f"{number + 1}", f"evidence#e{number + 1}"),
            )
            forms = [piece.contains, orjson.dumps(piece.contains).decode()[1:-1], *piece.also]
            for form in dict.fromkeys([*forms, *readable_parts(piece)]):
                spans += [(at, at + len(form), mark) for at in _all(text, form)]
        return _cut(text, spans)

    def _repeated(self, service: str) -> Collection[str]:
        """Short lines that several things of a service have: greetings and the like."""
        if service not in self._repeats:
            content = self._subject.content("now")
            items = content.items(service) if service in content.services else []
            counts = Counter(
                line
                for item in items
                for line in {one.strip() for one in _CUT.split(item.text)}
                if _LINE <= len(line) <= _SHORT
            )
            self._repeats[service] = {line for line, count in counts.items() if count > 1}
        return self._repeats[service]

    def reached(self, text: str, service: str = "", title: str = "", sender: str = "") -> Reached:
        """Return how much of a text was delivered, by which calls, and which calls only listed its title and
        sender.

        Lines that a list shows, or that other things of the service have too, tell nothing.
        """
        lines = [line.strip() for line in text.split("\n") if len(line.strip()) >= _LINE]
        if service:
            own = [one for one in lines if one != title and one not in sender]
            repeated = self._repeated(service)
            lines = [one for one in own if one not in repeated] or own or lines
        lines = lines[:_LINES] or [text.strip()]
        forms = [orjson.dumps(line).decode()[1:-1] for line in lines if line]
        if not forms:
            return Reached((), 0, 0)
        calls, held, listed = [], set(), []
        for call in self._subject.calls:
            if call.status != "ok" or call.parent is not None:
                continue
            here = {
                n
                for n, form in enumerate(forms)
                if form in call.result or html.escape(lines[n], quote=False) in call.result
            }
            if here:
                calls.append(call.seq)
                held |= here
            elif title and lists(call.result, title, sender):
                listed.append(call.seq)
        return Reached(tuple(calls), len(forms), len(held), tuple(listed))


def lists(result: str, title: str, sender: str) -> bool:
    """Return whether a result names a thing among others: a row of JSON has its title and its sender."""
    if any(orjson.dumps(one).decode()[1:-1] not in result for one in (title, sender)):
        return False
    try:
        waiting: list[Any] = [orjson.loads(result)]
    except orjson.JSONDecodeError:
        return False
    for value in waiting:
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
            rows = (row for row in value if isinstance(row, dict) and title in row.values())
            if any(sender in _strings(row) for row in rows):
                return True
    return False


def _strings(value: Any) -> str:
    """All texts in a value of JSON, one a line."""
    if isinstance(value, dict):
        value = list(value.values())
    return "\n".join(map(_strings, value)) if isinstance(value, list) else str(value)


def _all(text: str, needle: str) -> Iterable[int]:
    at = text.find(needle) if needle else -1
    while at >= 0:
        yield at
        at = text.find(needle, at + len(needle))


def _cut(text: str, spans: Sequence[tuple[int, int, Mark]]) -> list[MarkedPiece]:
    """A text cut wherever a mark begins or ends."""
    edges = sorted({0, len(text), *(edge for start, end, _ in spans for edge in (start, end))})
    found = []
    for start, end in pairwise(edges):
        around = [(last, mark) for first, last, mark in spans if first <= start and end <= last]
        ends = {mark.path: mark for last, mark in around if last == end}
        found.append(
            MarkedPiece(
                text[start:end], tuple(dict.fromkeys(mark for _, mark in around)), tuple(ends.values())
            )
        )
    return found


def _even(text: str) -> str:
    return " ".join(text.split())


def _words(name: str) -> str:
    return name.replace("_", " ")
