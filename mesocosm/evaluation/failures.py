"""Classes of failures, derived from journal, evidence and findings."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mesocosm.agents.loop import Conversation
from mesocosm.families.evidence_coverage import EvidenceCoverage
from mesocosm.families.verdict import Verdict

CLASSES = {
    "context": "the context ran out",
    "limits": "a limit of calls, turns or time was reached",
    "tool_errors": "round after round of calls failed",
    "halted_early": "stopped with a lead at hand that it had not followed (LORE, Figure 5 a)",
    "lead_lost": "a lead was never followed though later ones were (LORE, Figure 5 b)",
    "reasoned_wrongly": "all that was told was read, and combined wrongly (LORE, Figure 5 c)",
    "gave_up": "gave up: it read none of the evidence and did nothing, or answered nothing",
    "broke_off": "stopped after a call that was refused, without declaring that it was done",
    "source_missed": "a source was never read",
    "stopped_early": "some evidence was read, and not all of a source",
    "undone": "all was read, and nothing was done with it",
    "unfinished": "all was read, and it stopped amid what was to be done, without declaring that it was done",
    "left_out": "all was read, and something that was to be done was left out; what was done is right",
    "format": "right values in a wrong form",
    "overdone": "all was read, and more was made than was asked for; the rest is right",
    "damage": "something else was changed",
    "value_drifted": "all was read, and what was written is wrong",
}
"""The classes of failures of a model; the first that holds is the sample's."""
_FORMAT = re.compile(r"format|header|column|order|workbook|sheet|file_name|schema|parse|layout")
_MISSING = re.compile(r"(?:^|_)missing$")
_EXTRA = re.compile(r"(?:^|_)extra$")
_DAMAGE = re.compile(r"other|untouched|unchanged|collateral|damage|mailbox|extra")


def classify(verdict: Verdict, reading: EvidenceCoverage, conversation: Conversation | None) -> str:
    """The class of a failed episode; empty for one that did not fail."""
    if verdict.verdict != "failed":
        return ""
    ended = conversation.ended if conversation else None
    if ended == "context":
        return "context"
    if ended in ("calls", "turns", "seconds"):
        return "limits"
    if ended == "failed_rounds":
        return "tool_errors"
    if ended not in ("empty", "refused") and reading.lapse:
        return reading.lapse
    if ended in ("empty", "refused"):
        return "gave_up"
    if reading.broke_off and ended in (None, "stopped") and (reading.writes or reading.delivered):
        return "broke_off"
    if not reading.writes:
        if not reading.delivered:
            return "gave_up"
        return "stopped_early" if reading.unread or reading.begun else "undone"
    if reading.unread:
        return "source_missed"
    if reading.begun:
        return "stopped_early"
    missed = [check.name for check in verdict.findings if not check.passed]
    if reading.undeclared and ended in (None, "stopped") and any(map(_MISSING.search, missed)):
        return "unfinished"
    return _by_findings(missed)


def classify_answer(verdict: Verdict, ended: str) -> str:
    """Classify a failed answer to a question whose text is in the prompt."""
    if verdict.verdict != "failed":
        return ""
    if ended in ("empty", "refused"):
        return "gave_up"
    missed = [check.name for check in verdict.findings if not check.passed]
    if ended == "context":
        return "context"
    return "format" if "answered" in missed else "value_drifted"


def is_damage(finding: str) -> bool:
    """True if a finding is about a side effect on what should have stayed unchanged."""
    return bool(_DAMAGE.search(finding))


def _by_findings(missed: Sequence[str]) -> str:
    if all(_FORMAT.search(name) for name in missed):
        return "format"
    if all(map(_MISSING.search, missed)):
        return "left_out"
    if all(map(_EXTRA.search, missed)):
        return "overdone"
    if all(map(is_damage, missed)):
        return "damage"
    return "value_drifted"
