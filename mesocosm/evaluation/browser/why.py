"""Explanation of a failure: a paragraph with its class, the first finding and the missed evidence, and points
with what was done otherwise, what was refused, and the texts that decide.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from mesocosm.evaluation.browser.against_solution import only_missing
from mesocosm.evaluation.browser.calls import ShownCall
from mesocosm.evaluation.browser.marks import Marks, lists, readable_parts
from mesocosm.evaluation.browser.subject import Subject
from mesocosm.evaluation.browser.why_parts import NAMED, WhyPart, fact, shown, signed
from mesocosm.evaluation.browser.why_points import points
from mesocosm.evaluation.runs import CUT_OFF
from mesocosm.families.verdict import named_values
from mesocosm.services.views import Item

_TEXT = 800
"""Letters of the text that was not read."""
_WORDS = 240
"""Letters of the last words that are quoted."""
_LOOKED_FOR = 50
"""Pieces of evidence of which it is looked for where they stand."""
_ENDED = {
    "submitted": "the agent declared that it was done",
    "stopped": "the model made no further call",
    "calls": "the limit of {calls} calls was reached",
    "turns": "the limit of {turns} turns was reached",
    "seconds": "the time was up",
    "context": "the context was full",
    "empty": "the model answered nothing",
    "refused": "the model refused",
    "failed_rounds": "every call failed, round after round",
}


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
    parts += _spent(subject) if name in ("limits", "context") else ()
    if subject.calls and not subject.reading.writes:
        parts.append(WhyPart("It changed nothing. "))
    wrong = [check for check in verdict.findings if not check.passed]
    if wrong:
        parts += [WhyPart("First finding: "), WhyPart(wrong[0].name, "#findings")]
        parts.append(WhyPart(f" ({shown(wrong[0].detail)}). " if wrong[0].detail else ". "))
        if len(wrong) > 1:
            parts.append(WhyPart(f"{_count(len(wrong) - 1, 'further finding')} failed. "))
    parts += _missed(subject, marks)
    for one in unfinished_lists(subject, marks):
        parts.append(WhyPart(f"{one.call.name} was not asked for the rest of a list after {one.read}, "))
        parts.append(WhyPart(f"call {one.call.seq}", f"calls/{one.call.seq}"))
        parts.append(
            WhyPart(f": what holds {one.pieces} of the missed pieces stands on the pages after it. ")
        )
    if first_wrong := subject.first_wrong:
        seq, what = first_wrong
        parts += [
            WhyPart("The first wrong call is "),
            WhyPart(f"number {seq}, {_call(subject, seq)}", f"calls/{seq}"),
            WhyPart(f": {what}. " if " " in what else f": from it on, {what} fails. "),
        ]
        if words := _quoted(said_at(subject, seq)):
            parts.append(WhyPart(f"The model said there: “{words}”. "))
    elif missing := only_missing(subject.pairs):
        parts += _nothing_wrong(subject, missing)
    return [*parts, *_end(subject)]


def _nothing_wrong(subject: Subject, missing: Sequence[str]) -> Iterator[WhyPart]:
    """Say what is missing where all that was done is right, and the call after which it was to follow."""
    more = f" and {len(missing) - NAMED:,} more" if len(missing) > NAMED else ""
    verb = "is" if len(missing) == 1 else "are"
    yield WhyPart(f"Nothing wrong was done; {', '.join(missing[:NAMED])}{more} {verb} missing. ")
    if right := subject.right_calls:
        yield WhyPart("The last right call is ")
        yield WhyPart(f"number {right[-1]}, {_call(subject, right[-1])}", f"calls/{right[-1]}")
        yield WhyPart(". ")


def _broken_off(subject: Subject) -> Iterator[WhyPart]:
    """The refused call after which nothing more was done."""
    last = [call for call in subject.calls if call.parent is None][-1]
    yield WhyPart("Its last call was ")
    yield WhyPart(f"number {last.seq}, {last.name}", f"calls/{last.seq}")
    yield WhyPart(
        f", refused with “{_quoted(last.result)}”; {_endings(subject) or 'nothing more'} was not called. "
    )


def _spent(subject: Subject) -> Iterator[WhyPart]:
    """Describe what the calls were spent on, and what was never looked at."""
    names = Counter(call.name for call in subject.calls if call.parent is None)
    for place, (name, count) in enumerate(names.most_common(2)):
        yield WhyPart(f"{', ' if place else 'Of its calls, '}{count:,} were {name}")
    yield WhyPart(". " if names else "")
    missed = dict.fromkeys(subject.evidence[number].service for number in subject.missed)
    if never := [one for one in missed if one not in {call.service for call in subject.calls}]:
        yield WhyPart(f"It never called {', '.join(never)}. ")


def said_at(subject: Subject, seq: int) -> str:
    """Return what the model said in the turn in which it made a call."""
    turn = next((call.turn for call in subject.calls if call.seq == seq), None)
    return next((one.text for one in subject.turns if one.number == turn), "") if turn is not None else ""


def _listed(subject: Subject, item: Item) -> Iterator[WhyPart]:
    """Say which call listed something that was never opened."""
    sender = item.who[0] if item.who else ""
    for call in subject.calls if item.title else ():
        if call.status == "ok" and lists(call.result, item.title, sender):
            yield WhyPart(", listed by ")
            yield WhyPart(f"call {call.seq}", f"calls/{call.seq}")
            yield WhyPart(" and never opened")
            return


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
        given = named_values(last[0].arguments)
        yield WhyPart(f", with {_quoted(given)}, was refused with “{_quoted(last[0].result)}”. ")


def _misread(subject: Subject, marks: Marks) -> Iterator[WhyPart]:
    """The one event whose misreading explains all that the agent did."""
    ways: dict[str, list[str]] = defaultdict(list)
    told = {one.event: one for one, _ in subject.misread}
    for one, how in subject.misread:
        ways[one.event].append(how)
    for place, (event, hows) in enumerate(list(ways.items())[:NAMED]):
        yield WhyPart("What it did is exactly what follows when " if not place else ", or when ")
        yield from fact(marks, told[event])
        yield WhyPart(f" is {' or '.join(hows)}")
    if ways:
        yield WhyPart(". ")


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
    for place, (service, item, number) in enumerate(named[:NAMED]):
        yield WhyPart(", " if place else ": ")
        yield WhyPart(f"{item.kind} “{item.title or item.path}”", f"world/now/{service}/{item.path}")
        yield WhyPart(signed(item, marks))
        if len(missed) <= NAMED:
            yield from _listed(subject, item)
            said = [one.text for one in marks.excerpt(number, holders[number]) if one.marks]
            if not said and len(missed) == 1:
                said = readable_parts(subject.evidence[number])
            yield WhyPart(f", “{shown(' '.join(' '.join(said).split()), _TEXT)}”" if said else "")
    if named and len(missed) > min(len(named), NAMED):
        yield WhyPart(f" and {len(missed) - min(len(named), NAMED)} more")
    yield WhyPart(". ")


def _leading(subject: Subject, marks: Marks, missed: Sequence[int]) -> Sequence[int]:
    """Of the pieces of evidence that were missed, those that are named if there are too many to look for."""
    leaned = set(marks.leaned) & set(missed)
    return [*sorted(leaned), *(number for number in missed if number not in leaned)][:_LOOKED_FOR]


def _end(subject: Subject) -> Iterator[WhyPart]:
    talk = subject.conversation
    ended = _ENDED.get(talk.ended or "", talk.ended) if talk else None
    if ended and talk:
        ended = ended.format(calls=f"{len(subject.calls):,}", turns=f"{talk.turns:,}")
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
            "points": [
                {
                    "about": point.title,
                    "says": ["".join(part.text for part in line) for line in point.lines],
                }
                for point in points(subject, marks)
            ],
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


_PAGE, _TOKEN = "page", "pageToken"
_SAID = re.compile(r'"(page|total_pages|next_page)":\s*(\d+)|"(nextPageToken)":\s*"([^"]+)"')
_END = 400
"""Letters at the end of a result among which it says which page it is."""
_PAGES = 20
"""Further pages of a list that are looked through."""
_MISSED = 60


@dataclass(frozen=True)
class Unfinished:
    """A list of which not all pages were asked for."""

    call: ShownCall
    """The one that asked for the last page that was."""
    read: str
    """Name of that page."""
    pieces: int
    """Of the missed pieces of evidence, those whose things stand on the rest and were listed nowhere."""


def unfinished_lists(subject: Subject, marks: Marks) -> Iterator[Unfinished]:
    """The lists whose rest would have led to evidence that was missed."""
    holders = marks.holders(subject.missed[:_MISSED])
    left = {
        (service, item.title, item.who[0] if item.who else ""): number
        for number in subject.missed[:_MISSED]
        for service, item in holders.get(number, ())
        if item.title and not _was_listed(subject, item)
    }
    groups: dict[tuple[str, str, str], list[ShownCall]] = defaultdict(list)
    for call in subject.calls if left else ():
        if call.status == "ok" and not call.writes:
            rest = {name: value for name, value in call.arguments.items() if name not in (_PAGE, _TOKEN)}
            groups[call.service, call.tool, repr(sorted(rest.items()))].append(call)
    for (service, _, _), calls in groups.items():
        if not all(_following(call.arguments, call.result) for call in calls):
            continue
        last = max(calls, key=lambda call: int(_said(call.result).get(_PAGE, call.arguments.get(_PAGE) or 1)))
        rest_of_it = list(_rest(subject, last))
        found = {
            number
            for (place, title, sender), number in left.items()
            if place == service and any(lists(text, title, sender) for text in rest_of_it)
        }
        if found:
            said = _said(last.result)
            read = f"page {said.get(_PAGE, 1)} of {said['total_pages']}" if "total_pages" in said else ""
            yield Unfinished(last, read or f"{len(calls)} of its pages", len(found))


def _was_listed(subject: Subject, item: Item) -> bool:
    sender = item.who[0] if item.who else ""
    return any(call.status == "ok" and lists(call.result, item.title, sender) for call in subject.calls)


def _said(result: str) -> dict[str, str]:
    """Read what the end of a result says about paging."""
    found = _SAID.finditer(result[-_END:])
    return {one[1] or one[3]: one[2] or one[4] for one in found}


def _following(arguments: Mapping[str, Any], result: str) -> dict[str, Any] | None:
    """Return the arguments for the next page; ``None`` if there is none."""
    said = _said(result)
    if "nextPageToken" in said:
        return {**arguments, _TOKEN: said["nextPageToken"]}
    if "next_page" in said:
        return {**arguments, _PAGE: int(said["next_page"])}
    if int(said.get(_PAGE, 1)) < int(said.get("total_pages", 1)):
        return {**arguments, _PAGE: int(said.get(_PAGE, 1)) + 1}
    return None


def _rest(subject: Subject, call: ShownCall) -> Iterator[str]:
    """Yield the following pages as they would have been delivered, without side effects."""
    arguments = _following(call.arguments, call.result)
    for _ in range(_PAGES):
        if arguments is None:
            return
        outcome = subject.episode.world.calls.peek(call.service, call.tool, arguments)
        if outcome.is_error:
            return
        yield outcome.text
        arguments = _following(arguments, outcome.text)
