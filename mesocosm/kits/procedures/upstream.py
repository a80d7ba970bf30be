"""Datasets in the row format of the benchmark that these procedures come from, which its own loader reads.

One folder per procedure: ``prompts.yaml`` with a template, one JSON file per level, and pages as files. The
wording of the templates is ours.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, cast

import orjson
import yaml

from mesocosm.errors import UsageError
from mesocosm.kits.procedures.answers import last_block
from mesocosm.kits.procedures.beliefs import BeliefCase
from mesocosm.kits.procedures.countdown import CountdownCase
from mesocosm.kits.procedures.instance import ProcedureInstance, procedure, rules_of
from mesocosm.kits.procedures.programs import ProgramCase
from mesocosm.kits.procedures.routes import RouteCase
from mesocosm.kits.procedures.tables import TableCase
from mesocosm.kits.procedures.travel import TravelCase, TripSearch

_INPUTS = {
    "tables": "{html_str}\n\n{task_topic}\n{task_description}\nHeader: {tsv_header}\n{filtering_instruction}",
    "programs_cpp": "{pseudocode}\n\nWrite this program in C++.",
    "routes": "{city_context}\n\nFind the route from {src_city} to {dst_city}.",
    "beliefs": "{story_components}\n\n{story}\n\n{question}",
    "countdown": "Numbers: {nums}\nTarget: {target}",
    "travel": "{problem}",
}
_TRIPS = range(2_048), range(4_096, 8_192)
"""Output tokens of the trips that the loader reads as its levels 2K and 8K."""
_FORMATTED_TWICE = ("countdown", "travel")
"""Procedures whose templates the loader fills in two goes."""


def write_folder(name: str, instances: Sequence[ProcedureInstance], folder: Path) -> list[Path]:
    """Write the instances of one procedure below ``folder``; ``UsageError`` if they are there already."""
    check_levels(name, {made.level for made in instances})
    task = procedure(name).UPSTREAM
    here = folder / task
    written = []
    by_level: dict[int, list[dict[str, Any]]] = {}
    pages: dict[str, str] = {}
    for made in instances:
        row = _ROWS[name](made)
        if isinstance(made.case, TableCase):
            pages[row["html_path"]] = made.case.page
        by_level.setdefault(made.level, []).append(row)
    files = {f"{task}_{level / 1000:g}k.json": found for level, found in by_level.items()}
    if name == "travel":
        files = {"travel_planning_all.json": [row for found in by_level.values() for row in found]}
    try:
        here.mkdir(parents=True, exist_ok=True)
        for file, found in files.items():
            written.append(_write(here / file, orjson.dumps(found, option=orjson.OPT_INDENT_2)))
        for file, text in pages.items():
            (here / file).parent.mkdir(exist_ok=True)
            _write(here / file, text.encode())
        template = yaml.safe_dump({"USER_PROMPT": _template(name)}, allow_unicode=True, width=110)
        (here / "prompts.yaml").write_text(template, encoding="utf-8")
        if name == "travel":  # which the loader reads, whether the template shows them or not
            (here / "travel_planning_icl_examples.json").write_bytes(b"[]")
    except FileExistsError as error:
        raise UsageError(f"{error.filename} exists already") from None
    except OSError as error:
        raise UsageError(f"cannot write {error.filename}: {error.strerror}") from None
    return written


def readable(name: str, levels: Iterable[int]) -> list[int]:
    """Those of the levels that the loader reads and tells apart, the longest of each of its windows."""
    if name != "travel":
        return list(levels)
    by_window = {window: level for level in sorted(levels) for window in _TRIPS if level in window}
    return sorted(by_window.values())


def check_levels(name: str, levels: Collection[int]) -> None:
    """Raise ``UsageError`` where the loader does not read a procedure, or not at these levels together."""
    if name not in _INPUTS:
        raise UsageError(f"{name} has no upstream format; there are {', '.join(_INPUTS)}")
    if name == "travel":
        _check_windows(levels)


def _check_windows(levels: Collection[int]) -> None:
    """The loader takes the trips of a level out of one file, by their length."""
    read: dict[range, int] = {}
    for level in sorted(levels):
        window = next((one for one in _TRIPS if level in one), None)
        if window is None or window in read:
            shown = " and ".join(f"{one.start:,} to {one.stop - 1:,}" for one in _TRIPS)
            other = f" with {read[window]:,}" if window else ""
            raise UsageError(
                f"travel: upstream's loader tells levels apart by output tokens, from {shown}: it would read "
                f"{level:,}{other} as one level, or not at all; write such levels to folders of their own"
            )
        read[window] = level


def _write(path: Path, data: bytes) -> Path:
    with path.open("xb") as file:
        file.write(data)
    return path


def _template(name: str) -> str:
    rules = rules_of(procedure(name), 0)
    times = 2 if name in _FORMATTED_TWICE else 1
    for _ in range(times):
        rules = rules.replace("{", "{{").replace("}", "}}")
    return f"{rules}\n\n# The case\n\n{_INPUTS[name]}\n"


def _tables(made: ProcedureInstance) -> dict[str, Any]:
    case = cast(TableCase, made.case)
    wanted = "; ".join(f"({number}) {name}" for number, name in enumerate(case.columns, 1))
    return {
        "output_length_group": f"{made.level / 1000:g}k",
        "task_id": made.id,
        "website_id": made.id,
        "html_path": f"webpage/{made.id}.html",
        "task_topic": f'{case.subject}: the {case.items} under the heading "{case.heading}".',
        "task_description": f"Properties: {wanted}.",
        "gt": "\n".join(made.gold.split("\n")[1:-1]),
        "tsv_header": "\t".join(case.columns),
        "filtering_instruction": case.filter.sentence(case.items) if case.filter else "",
    }


def _programs(made: ProcedureInstance) -> dict[str, Any]:
    case = cast(ProgramCase, made.case)
    return {
        "problem_id": made.id,
        "pseudocode_lines": case.words,
        "code_lines": case.code,
        "testcases": [[given.splitlines(), wanted.splitlines()] for given, wanted in case.tests],
    }


def _routes(made: ProcedureInstance) -> dict[str, Any]:
    case = cast(RouteCase, made.case)
    onwards = {source: (target, means) for source, target, means in case.links}
    steps, at = [], case.start
    while at != case.end:
        target, means = onwards[at]
        steps.append({"src": at, "dst": target, "transit": means})
        at = target
    return {
        "problem_description": "Follow one-way connections from one city to another.",
        "context_repr": [{"src": a, "dst": b, "transit": means} for a, b, means in case.links],
        "question_repr": [case.start, case.end],
        "answer_repr": steps,
        "context_nl": "\n".join(made.procedure.given(case)),
        "question_nl": made.procedure.question(case),
        "answer_nl": (last_block(made.gold, "Route") or "").strip(),
    }


def _beliefs(made: ProcedureInstance) -> dict[str, Any]:
    case = cast(BeliefCase, made.case)
    story = made.procedure.given(case)
    return {
        "story_components": f"People: {', '.join(case.agents)}. Objects: {', '.join(case.things)}. "
        f"Rooms: {', '.join(case.rooms)}. Containers in each: {', '.join(case.containers)}.",
        "story": "\n".join(story),
        "question": made.procedure.question(case),
        "solution": made.gold,
        "answer": (last_block(made.gold, "Belief") or "").strip(),
    }


def _countdown(made: ProcedureInstance) -> dict[str, Any]:
    case = cast(CountdownCase, made.case)
    equations = (last_block(made.gold, "Solution") or "").strip().split("\n")
    return {
        "nums": case.numbers,
        "target": case.target,
        "solution": equations,
        "search_steps": made.gold.count("\n"),
        "demonstration": made.gold,
        "solution_text": "\n".join(equations),
        "num_search_tokens": made.output_tokens,
    }


def _travel(made: ProcedureInstance) -> dict[str, Any]:
    case = cast(TravelCase, made.case)
    constraints: list[dict[str, Any]] = []
    for stay in case.stays:
        constraints.append({"type": "duration", "city": stay.city, "num_days": stay.days})
        if stay.start is not None:
            last = stay.start + stay.days - 1
            constraints.append({"type": "fixed", "city": stay.city, "start_day": stay.start, "end_day": last})
    plan = next(TripSearch(case, 1 << 40).plans())
    lines, day = [], 1
    for at, stay in enumerate(plan):
        last = day + stay.days - 1
        arriving = f"Arriving in {stay.city} and visit" if at == 0 else "Visit"
        lines.append(f"**Day {day}-{last}:** {arriving} {stay.city} for {stay.days} days.")
        if at + 1 < len(plan):
            lines.append(f"**Day {last}:** Fly from {stay.city} to {plan[at + 1].city}.")
        day = last
    problem = "\n".join([*made.procedure.given(case), "", made.procedure.question(case)])
    return {
        "id": made.id,
        "num_cities": len(case.stays),
        "total_days": case.total_days,
        "constraints": constraints,
        "connected_cities": [list(pair) for pair in case.flights],
        "question_text": problem,
        "disambig_question_text": problem,
        "ground_truth_plan": "The plan:\n\n" + "\n".join(lines),
        "ground_truth_cities": "**".join(stay.city for stay in plan),
        "ground_truth_durations": "**".join(str(stay.days) for stay in plan),
        "estimated_output_tokens": made.level,
    }


_ROWS = {
    "tables": _tables,
    "programs_cpp": _programs,
    "routes": _routes,
    "beliefs": _beliefs,
    "countdown": _countdown,
    "travel": _travel,
}
