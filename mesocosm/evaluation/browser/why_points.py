"""Points below the paragraph that says why it failed: what was done otherwise, what was refused, and what the
texts say of those whom the findings name.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator

from mesocosm.evaluation.browser.against_solution import against, diverted, lines_apart
from mesocosm.evaluation.browser.calls import ShownCall
from mesocosm.evaluation.browser.marks import Marks
from mesocosm.evaluation.browser.slips import common_factor, slips_in
from mesocosm.evaluation.browser.subject import Subject
from mesocosm.evaluation.browser.texts_about import concerned
from mesocosm.evaluation.browser.why_parts import NAMED, WhyPart, WhyPoint


def points(subject: Subject, marks: Marks) -> list[WhyPoint]:
    """List what is told below the paragraph; nothing without a failure of the agent."""
    verdict = subject.verdict
    if verdict is None or verdict.verdict != "failed":
        return []
    wrong = [check for check in verdict.findings if not check.passed]
    details = [check.detail for check in wrong]
    pairs = subject.pairs
    found = [*refused(subject), *against(subject, marks, pairs)]
    if factor := common_factor(details):
        found.append(WhyPoint("What the wrong values have in common", [[WhyPart(factor)]]))
        return found
    if slips := slips_in(details):
        lines = [[WhyPart(one)] for one in slips[:NAMED]]
        if len(slips) > NAMED:
            lines.append([WhyPart(f"and {len(slips) - NAMED} more")])
        found.append(WhyPoint("The right thing with a wrong value", lines, "#findings"))
    if subject.reading.writes and not subject.misread:
        named = [f"{check.name} {check.detail}" for check in wrong]
        found += concerned(subject, marks, [*named, *lines_apart(pairs)], diverted(pairs))
    return found


_ALIKE = 0.7
"""Likeness from which on a value is taken for a misspelling of another."""


def refused(subject: Subject) -> Iterator[WhyPoint]:
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
