"""Texts about those whom the findings name, and whether they were delivered."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from mesocosm.evaluation.browser.calls import FILES
from mesocosm.evaluation.browser.marks import Marks, plain
from mesocosm.evaluation.browser.subject import Subject
from mesocosm.evaluation.browser.why_parts import ADDRESS, NAMED, WhyPart, WhyPoint, fact, shown, signed
from mesocosm.services.views import Item

_TEXT = 900
"""Letters of a text that decides."""
_LINES = 8
"""Texts that are shown of one whom findings name."""
_MANY, _COMMON = 12, 6
"""Texts up to which a code or an address tells something, and up to which words do: too many have others."""
_CODE = re.compile(
    r"\b(?=[\w-]*\d)(?=[\w-]*[A-Z])[A-Z0-9][\w-]{3,}\b|(?<![\w.:-])(?!(?:19|20)\d\d\b)\d{4,}(?![\w.:-]\w)"
)
_NAME = re.compile(
    r"\b[^\W\d_a-z][\w'’.-]+(?:(?: (?:de|van|von|da|del|la|di|den|der))* [^\W\d_a-z][\w'’-]+|\ \d{4}\b)+"
)
_ZEROS = re.compile(r"(\d+\.\d*?)0{3,}\b")


def concerned(
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
    exact = [*ADDRESS.findall(part), *_CODE.findall(part)]
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
