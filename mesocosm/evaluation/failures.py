"""Why an episode failed, as far as its journal, its evidence and its findings tell."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mesocosm.agents.loop import Conversation
from mesocosm.families.reading import Reading
from mesocosm.families.verdict import Verdict

CLASSES = {
    "context": "the context ran out",
    "limits": "a limit of calls, turns or time was reached",
    "tool_errors": "round after round of calls failed",
    "halted_early": "stopped with a lead at hand that it had not followed (LORE, Figure 5 a)",
    "lead_lost": "a lead was never followed though later ones were (LORE, Figure 5 b)",
    "reasoned_wrongly": "all that was told was read, and combined wrongly (LORE, Figure 5 c)",
    "gave_up": "gave up: it ended without having changed anything",
    "source_missed": "a source was never read",
    "stopped_early": "a source was begun and not read to its end",
    "format": "right values in a wrong form",
    "damage": "something else was changed",
    "value_drifted": "all was read, and what was written is wrong",
}
"""The classes of failures of a model; the first that holds is the sample's."""
_FORMAT = re.compile(r"format|header|column|order|workbook|sheet|file_name|schema|parse|layout")
_DAMAGE = re.compile(r"other|untouched|unchanged|collateral|damage|mailbox|extra")


def classify(verdict: Verdict, reading: Reading, conversation: Conversation | None) -> str:
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
    if ended in ("empty", "refused") or not reading.writes:
        return "gave_up"
    if reading.unread:
        return "source_missed"
    if reading.begun:
        return "stopped_early"
    return _by_findings([check.name for check in verdict.findings if not check.passed])


def _by_findings(missed: Sequence[str]) -> str:
    if all(_FORMAT.search(name) for name in missed):
        return "format"
    if all(_DAMAGE.search(name) for name in missed):
        return "damage"
    return "value_drifted"
