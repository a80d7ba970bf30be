"""The figures and tables of a paper from logs of `mesocosm eval`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mesocosm.evaluation import procedures, rollouts
from mesocosm.evaluation.papers import agentlongbench, loca, longproc, lore, lumina
from mesocosm.evaluation.papers.plates import Plate
from mesocosm.evaluation.papers.presets import Paper
from mesocosm.evaluation.report.rows import read_samples

TITLES: dict[Paper, str] = {
    "lore": "LORE (TaskWeaver)",
    "lumina": "LUMINA",
    "agentlongbench": "AgentLongBench",
    "longproc": "LongProc",
    "loca": "LOCA-bench",
}


def plates_of(paper: Paper, logs: Sequence[Path]) -> list[Plate]:
    """Every figure and table of a paper that can be drawn of these logs, or files of scores."""
    match paper:
        case "lore":
            return lore.plates(read_samples(logs))
        case "lumina":
            return lumina.plates(read_samples(logs))
        case "agentlongbench":
            return agentlongbench.plates(rollouts.read_scores(logs))
        case "longproc":
            return longproc.plates(procedures.read_scores(logs))
        case _:
            return loca.plates(read_samples(logs))
