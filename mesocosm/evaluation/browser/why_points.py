"""Points below the paragraph that says why it failed: what was done otherwise, what was refused, and what the
texts say of those whom the findings name.
"""

from __future__ import annotations

from mesocosm.evaluation.browser.against_solution import against, diverted, lines_apart
from mesocosm.evaluation.browser.marks import Marks
from mesocosm.evaluation.browser.refused_calls import refused
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
