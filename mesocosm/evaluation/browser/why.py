"""Explanation of a failure in one paragraph: its class, the first finding, the missed evidence."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

import orjson

from mesocosm.evaluation.browser.comparison import Pair, compared
from mesocosm.evaluation.browser.marks import Marks, readable_parts
from mesocosm.evaluation.browser.subject import BUILT, Subject
from mesocosm.evaluation.browser.unfinished_lists import unfinished_lists
from mesocosm.evaluation.runs import CUT_OFF

_NAMED = 4
"""Things that are named; of others their number is told."""
_SHORT = 120
"""Letters of a value, at most, that is shown beside the one that was expected."""
_TEXT = 800
"""Letters of the text that was not read."""
_WORDS = 240
"""Letters of the last words that are quoted."""
_LOOKED_FOR = 50
"""Pieces of evidence of which it is looked for where they stand."""
_ADDRESS = re.compile(r"[\w.+-]+@[\w.-]+\w")
_ENDED = {
    "submitted": "the agent declared that it was done",
    "stopped": "the model made no further call",
    "calls": "the limit of calls was reached",
    "turns": "the limit of turns was reached",
    "seconds": "the time was up",
    "context": "the context was full",
    "empty": "the model answered nothing",
    "refused": "the model refused",
    "failed_rounds": "every call failed, round after round",
}


@dataclass(frozen=True)
class WhyPart:
    """A part of the paragraph; with a path, a link."""

    text: str
    path: str = ""


def explain(subject: Subject, marks: Marks) -> list[WhyPart]:
    """Write the paragraph; empty without a failure, or if nothing may be revealed."""
    verdict = subject.verdict
    if verdict is None or verdict.verdict == "passed":
        return []
    if CUT_OFF in (verdict.error or ""):
        return [WhyPart("It was interrupted before it was judged.")]
    if verdict.verdict == "errored":
        first = verdict.faults[0] if verdict.faults else None
        about = f"{first.first}" if first else (verdict.error or "").strip().split("\n")[-1]
        return [WhyPart("A fault of the environment, not of the agent: "), WhyPart(about), WhyPart(".")]
    name, meaning = subject.failure
    misread = list(_misread(subject, marks))
    # The class says less than an event that explains everything.
    parts = [*misread, WhyPart(f"{meaning[:1].upper()}{meaning[1:]} ({name}). ")] if name else misread
    parts += _broken_off(subject) if name == "broke_off" else ()
    parts += _in_vain(subject) if name == "tool_errors" else ()
    if subject.calls and not subject.reading.writes:
        parts.append(WhyPart("It changed nothing. "))
    wrong = [check for check in verdict.findings if not check.passed]
    if wrong:
        parts += [WhyPart("First finding: "), WhyPart(wrong[0].name, "#findings")]
        parts.append(WhyPart(f" ({_shown(wrong[0].detail)}). " if wrong[0].detail else ". "))
        if len(wrong) > 1:
            parts.append(WhyPart(f"{_count(len(wrong) - 1, 'further finding')} failed. "))
    parts += _missed(subject, marks)
    for one in unfinished_lists(subject, marks):
        parts.append(WhyPart(f"{one.call.name} was not asked for the rest of a list after {one.read}, "))
        parts.append(WhyPart(f"call {one.call.seq}", f"calls/{one.call.seq}"))
        parts.append(
            WhyPart(f": what holds {one.pieces} of the missed pieces stands on the pages after it. ")
        )
    parts += () if misread else _against(subject)
    parts += _concerned(subject, marks, [check.detail for check in wrong])
    if first_wrong := subject.first_wrong:
        seq, what = first_wrong
        parts += [
            WhyPart("The first wrong call is "),
            WhyPart(f"number {seq}, {_call(subject, seq)}", f"calls/{seq}"),
            WhyPart(f": {what}. " if " " in what else f": after it, {what} no longer holds. "),
        ]
    return [*parts, *_end(subject)]


def _broken_off(subject: Subject) -> Iterator[WhyPart]:
    """The refused call after which nothing more was done."""
    last = [call for call in subject.calls if call.parent is None][-1]
    yield WhyPart("Its last call was ")
    yield WhyPart(f"number {last.seq}, {last.name}", f"calls/{last.seq}")
    yield WhyPart(
        f", refused with “{_quoted(last.result)}”; {_endings(subject) or 'nothing more'} was not called. "
    )


def _endings(subject: Subject) -> str:
    """The tools that declare that the episode is over."""
    return " or ".join(
        f"{service}.{tool}" if service != tool else tool
        for service, held in subject.episode.world.services.items()
        for tool, action in held.tools.items()
        if action.ends_episode
    )


def _in_vain(subject: Subject) -> Iterator[WhyPart]:
    """Describe the final calls if all failed, and the last error."""
    made = [call for call in subject.calls if call.parent is None]
    last = list(takewhile(lambda call: call.status != "ok", reversed(made)))
    if last:
        names = " and ".join(dict.fromkeys(call.name for call in reversed(last)))
        yield WhyPart(f"Its last {_count(len(last), 'call')}, to {names}, failed; ")
        yield WhyPart(f"number {last[0].seq}", f"calls/{last[0].seq}")
        given = orjson.dumps(last[0].arguments).decode()
        yield WhyPart(f", with {_quoted(given)}, was refused with “{_quoted(last[0].result)}”. ")


def _misread(subject: Subject, marks: Marks) -> Iterator[WhyPart]:
    """The one event whose misreading explains all that the agent did."""
    ways: dict[int, list[str]] = defaultdict(list)
    for one, how in subject.misread:
        ways[marks.derivations.index(one)].append(how)
    for place, (number, hows) in enumerate(list(ways.items())[:_NAMED]):
        yield WhyPart("What it did is exactly what follows when " if not place else ", or when ")
        yield from _fact(marks, marks.derivations[number])
        yield WhyPart(f" is {' or '.join(hows)}")
    if ways:
        yield WhyPart(". ")


def _fact(marks: Marks, one: Any) -> Iterator[WhyPart]:
    """Describe an event: where it is told, and whether that was delivered."""
    place = marks.places.get(one.text)
    kind = one.kind.replace("_", " ")
    path = f"derivations#d{marks.derivations.index(one) + 1}"
    yield WhyPart(f"“{kind}” in “{place[1].title}”" if place else f"“{kind}”", path)
    if one.says.strip():
        yield WhyPart(f", “{_shown(' '.join(one.says.split()))}”")
    call = marks.told_by(one)
    yield WhyPart(f" (delivered by call {call})" if call else " (never delivered)")


def _against(subject: Subject) -> Iterator[WhyPart]:
    """Describe the difference from the reference solver's changes in a few rows."""
    if not subject.is_small or not subject.reading.writes or isinstance(subject.solution, str):
        return
    told: dict[str, list[str]] = {"missing": [], "different": [], "not expected": []}
    differ: dict[str, str] = {}
    for _, pairs in compared(subject.solution, subject.changes, subject.content(BUILT).row):
        for pair in pairs:
            how = "missing" if not pair.got else "not expected" if not pair.expected else "different"
            if (how != "different" or pair.differing) and pair.called not in told[how]:
                told[how].append(pair.called)
                differ[pair.called] = _differing(pair)
    for how, labels in told.items():
        # What belongs to a row that is named itself goes with it.
        labels = [one for one in labels if not any(of != one and f" of {of}" in one for of in labels if of)]
        # Rows that say most come first; those that only lead from one row to another say nothing beside them.
        told[how] = sorted(filter(None, labels), key=lambda label: -label.count(" / "))
    if found := {how: labels for how, labels in told.items() if labels}:
        yield WhyPart("Against what the reference solver does", "changes?against=solution")
        for number, (how, labels) in enumerate(found.items()):
            shown = [f"{label}{differ[label]}" for label in labels[:_NAMED]]
            yield WhyPart(f"{': ' if not number else '; '}{how} {', '.join(shown)}")
            yield WhyPart(f" and {len(labels) - _NAMED} more" if len(labels) > _NAMED else "")
        yield WhyPart(". ")


def _differing(pair: Pair) -> str:
    """The first value in which two rows differ, if it is short; of a text, the first line."""
    if not (pair.expected and pair.got and pair.differing):
        return ""
    name, *values = pair.differing[0]
    expected, got = (str(value).split("\n")[0].strip() for value in values)
    if max(len(expected), len(got)) > _SHORT:
        return ""
    return f" ({name.replace('_', ' ')}: “{got}”, not “{expected}”)"


def _missed(subject: Subject, marks: Marks) -> Iterator[WhyPart]:
    """The evidence that no result held, named and linked."""
    if not subject.evidence:
        return
    missed = subject.missed
    if not missed:
        yield WhyPart("All evidence was delivered. ")
        return
    yield WhyPart(
        f"{len(missed)} of {_count(len(subject.evidence), 'piece')} of evidence ", "evidence?only=missed"
    )
    yield WhyPart(f"{'was' if len(missed) == 1 else 'were'} never delivered")
    # Of very many, those that are looked for first say enough.
    holders = marks.holders(_leading(subject, marks, missed))
    places = [
        (*place, number) for number in holders for place in holders[number][:1] if number in set(missed)
    ]
    named = list(
        {(item.kind, item.title): (service, item, number) for service, item, number in places}.values()
    )
    # What derivations lean on says more than rows of lists and lines of logs.
    leaned = {(service, item.path) for service, item in marks.places.values()}
    named.sort(key=lambda place: (place[0], place[1].path) not in leaned)
    for place, (service, item, number) in enumerate(named[:_NAMED]):
        yield WhyPart(", " if place else ": ")
        yield WhyPart(f"{item.kind} “{item.title or item.path}”", f"world/now/{service}/{item.path}")
        if len(missed) <= _NAMED:
            said = [one.text for one in marks.excerpt(number, holders[number]) if one.marks]
            if not said and len(missed) == 1:
                said = readable_parts(subject.evidence[number])
            yield WhyPart(f", “{_shown(' '.join(' '.join(said).split()), _TEXT)}”" if said else "")
    if named and len(missed) > min(len(named), _NAMED):
        yield WhyPart(f" and {len(missed) - min(len(named), _NAMED)} more")
    yield WhyPart(". ")


def _leading(subject: Subject, marks: Marks, missed: Sequence[int]) -> Sequence[int]:
    """Of the pieces of evidence that were missed, those that are named if there are too many to look for."""
    leaned = set(marks.leaned) & set(missed)
    return [*sorted(leaned), *(number for number in missed if number not in leaned)][:_LOOKED_FOR]


def _concerned(subject: Subject, marks: Marks, details: Sequence[str]) -> Iterator[WhyPart]:
    """Name the texts that settle the cases named in the findings, and whether they were delivered."""
    if len(subject.missed) == len(subject.evidence):
        return  # nothing was read at all
    named = list(dict.fromkeys(found.lower() for detail in details for found in _ADDRESS.findall(detail)))
    told = 0
    for address in named:
        about = [one for one in marks.derivations if address in _people(one, marks)]
        if not about:
            continue
        if told == _NAMED:
            yield WhyPart("… ")
            return
        told += 1
        yield WhyPart(f"About {address}: ")
        for number, one in enumerate(about):
            yield WhyPart("; " if number else "")
            yield from _fact(marks, one)
        yield WhyPart(". ")


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


def _end(subject: Subject) -> Iterator[WhyPart]:
    talk = subject.conversation
    ended = _ENDED.get(talk.ended or "", talk.ended) if talk else None
    if ended:
        yield WhyPart(f"It ended after {_count(len(subject.calls), 'call')}: {ended}")
        if talk and talk.ended == "stopped" and subject.reading.undeclared:
            yield WhyPart(f", and {_endings(subject)} was not called")
        if subject.turns and (words := _quoted(subject.turns[-1].text)):
            yield WhyPart("; its last words were ")
            yield WhyPart(f"“{words}”", f"turns/{subject.turns[-1].number}")
        yield WhyPart(".")
    elif subject.calls:
        last = subject.calls[-1]
        yield WhyPart(f"It ended after {_count(len(subject.calls), 'call')}; the last was ")
        yield WhyPart(last.name, f"calls/{last.seq}")
        yield WhyPart("." if last.status == "ok" else f" ({last.status}).")
    else:
        yield WhyPart("No call was made.")


def _call(subject: Subject, seq: int) -> str:
    return next((call.name for call in subject.calls if call.seq == seq), "")


def _quoted(text: str) -> str:
    words = " ".join(text.split())
    return f"{words[:_WORDS]}{'…' if len(words) > _WORDS else ''}"


def _shown(detail: str, longest: int = 300) -> str:
    return detail if len(detail) <= longest else f"{detail[:longest]}…"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def summary(path: Path, *, answers: bool = True) -> dict[str, Any]:
    """Return the data of the first page."""
    subject = Subject(path, answers=answers)
    try:
        marks = Marks(subject)
        holders = marks.holders(subject.missed)
        return {
            "task": subject.name,
            "verdict": subject.verdict.verdict if subject.verdict else None,
            "failure": subject.failure[0],
            "why": "".join(part.text for part in explain(subject, marks)),
            "findings": [check.model_dump() for check in subject.verdict.findings] if subject.verdict else [],
            "first_wrong": subject.first_wrong[0] if subject.first_wrong else None,
            "calls": len(subject.calls),
            "evidence": len(subject.evidence),
            "missed": [
                {
                    "evidence": number + 1,
                    "service": subject.evidence[number].service,
                    "stands_in": [item.title or item.path for _, item in holders.get(number, ())[:3]],
                }
                for number in subject.missed
            ],
        }
    finally:
        subject.close()
