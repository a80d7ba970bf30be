"""Lists that came in pages and were not read to their end, and what missed evidence lay on the rest."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mesocosm.evaluation.browser.calls import ShownCall
from mesocosm.evaluation.browser.marks import Marks, lists
from mesocosm.evaluation.browser.subject import Subject
from mesocosm.services.views import Item

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
    """Which page that is."""
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
