"""Settings of each paper's experiments: tasks, sizes, instances, temperature, limits, configurations.

Where a paper does not say a number it is ours, and the guide of the paper says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from mesocosm.errors import UsageError
from mesocosm.evaluation.evaluation import Evaluation
from mesocosm.families.configurations import PRESET, configuration
from mesocosm.families.quantities import parse_length, parse_lengths
from mesocosm.kits.procedures import read_procedures

Paper = Literal["lore", "lumina", "agentlongbench", "longproc", "loca"]
NO_LIMIT = 0
"""Tokens of an answer: what the provider allows."""
WORLDS = ["listworld", "treeworld", "gridworld"]
ORACLES = ["none", *(f"oracle:give={given}" for given in ("S", "P", "SP", "SH", "SPH"))]
"""The six configurations of LUMINA."""
_CONTEXT = [
    "clear_tool_results", "clear_thinking", "summarise", "awareness", "memory", "programmatic_tool_calling",
]  # fmt: skip
"""The context engineering of LOCA-bench's Table 2, in its order."""

_LORE = {
    "temperature": 0.0,
    "window": "none",
    "max_tokens": NO_LIMIT,
    "max_failed_rounds": 3,
}
_LONGPROC = {"tasks": ["longproc"], "temperature": 0.0, "seeds": "0-99"}
_ALL_PROCEDURES = "html_to_tsv,pseudo_to_code,path_traversal,tom_tracking,countdown,travel_planning"


def _longproc(length: str, procedures: str, **others: str) -> dict[str, Any]:
    return {
        **_LONGPROC,
        "length": length,
        "parameters": {"procedures": procedures, "rule": "paper", **others},
    }


def _parts(paper: Paper) -> Sequence[Mapping[str, Any]]:
    if paper == "lore":
        return [
            {
                "tasks": ["lore_documents", "lore_multimodal", "lore_code"],
                "n": "1-350",
                "seeds": "0",
                **_LORE,
            },
            {"tasks": ["lore_multimodal_hard", "lore_code_hard"], "n": "1-40", "seeds": "0-4", **_LORE},
        ]
    if paper == "lumina":
        shared = {"temperature": 0.7, "window": "none", "parallel": False, "strategies": ORACLES}
        return [{"tasks": WORLDS, "n": "10,20,30,50,75,100", "seeds": "0-19", **shared}]
    if paper == "agentlongbench":
        return [
            {
                "tasks": ["agentlongbench"],
                "length": length,
                "seeds": "0-49",
                "temperature": 0.7,
                "parameters": {"counts": "paper", "messages": True},
            }
            for length in ("32k", "64k", "128k", "256k", "512k", "1m", "2m", "4m")
        ]
    if paper == "longproc":
        return [
            _longproc("0.5k", _ALL_PROCEDURES.removesuffix(",travel_planning")),
            _longproc("2k", _ALL_PROCEDURES),
            _longproc("8k", _ALL_PROCEDURES.replace("pseudo_to_code,", "")),
            _longproc("8k", "path_traversal,tom_tracking", prompting="segments"),
            _longproc("2k,8k", "countdown,travel_planning", prompting="pairs"),
            _longproc("1k,4k", "path_traversal,tom_tracking"),
        ]
    released = configuration("loca")
    shared = {
        "tasks": loca_tasks(),
        "seeds": ",".join(map(str, released.seeds)),
        "temperature": 1.0,
        "max_calls": 500,
        "parameters": {PRESET: "loca"},
    }
    lengths = "8k,16k,32k,64k,96k,128k,256k"
    return [{**shared, "length": lengths}, {**shared, "length": "128k", "strategies": _CONTEXT}]


def evaluations(paper: Paper, tasks: Sequence[str], given: Mapping[str, Any]) -> list[Evaluation]:
    """Build the evaluations of a paper, one for each part.

    Args:
        paper: Which.
        tasks: Those of its tasks that are wanted; none: all.
        given: What is to be otherwise. Of lengths and procedures those count that a part has, of sizes all
            where a part has any; parameters are added.

    Raises ``UsageError`` where nothing of the paper is left.
    """
    parts = _parts(paper)
    known = list(dict.fromkeys(task for part in parts for task in part["tasks"]))
    if unknown := [task for task in tasks if task not in known]:
        raise UsageError(f"--paper {paper} has no task {unknown[0]!r}; it has {', '.join(known)}")
    found = [part for part in parts if not tasks or set(tasks) & set(part["tasks"])]
    return [Evaluation(**part) for part in _with_some(paper, [_with(part, tasks, given) for part in found])]


def _with(part: Mapping[str, Any], tasks: Sequence[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """Apply overrides to a part. An empty length or procedure means that it has none."""
    own, wanted = part.get("parameters", {}), given.get("parameters", {})
    changed = {key: value for key, value in given.items() if key not in ("n", "length") or key in part}
    parameters = {**own, **wanted}
    if "length" in part and "length" in given:
        lengths = set(parse_lengths(given["length"]))
        kept = [one for one in part["length"].split(",") if parse_length(one) in lengths]
        changed["length"] = ",".join(kept)
    if "procedures" in own and "procedures" in wanted:
        chosen = read_procedures(str(wanted["procedures"]).split(","))
        of = read_procedures(own["procedures"].split(","))
        parameters["procedures"] = ",".join(name for name in of if name in chosen)
    names = [task for task in part["tasks"] if not tasks or task in tasks]
    return {**part, **changed, "tasks": names, "parameters": parameters}


def _with_some(paper: Paper, parts: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    left = [part for part in parts if part.get("length") != "" and part["parameters"].get("procedures") != ""]
    if not left:
        lengths = [part["length"] for part in _parts(paper) if "length" in part]
        known = ", ".join(dict.fromkeys(",".join(lengths).split(",")))
        raise UsageError(f"--paper {paper} has nothing of that; its lengths are {known}")
    return left


def loca_tasks() -> list[str]:
    return sorted(configuration("loca").tasks)
