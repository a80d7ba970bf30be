"""Exposure of the suite: how well filters tell evidence from the rest, task by task."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mesocosm.cli.options import (
    AsJson,
    Parameter,
    Ray,
    SpreadCommand,
    SuiteLengths,
    SuitePreset,
    SuiteSeeds,
    SuiteTasks,
    Trust,
    Workers,
    read_parameters,
    trusted,
    workers_for,
)
from mesocosm.cli.output import out, print_json, progress, show_exposures
from mesocosm.cli.prove import suite_app
from mesocosm.errors import UsageError
from mesocosm.families.quantities import show_length


@suite_app.command("exposure", cls=SpreadCommand)
def suite_exposure(
    lengths: SuiteLengths = None,
    seeds: SuiteSeeds = None,
    tasks: SuiteTasks = None,
    preset: SuitePreset = None,
    param: Parameter = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw a bar for each task and length: a file ending in .svg or .png."),
    ] = None,
    workers: Workers = None,
    ray: Ray = None,
    trust: Trust = False,
    as_json: AsJson = False,
) -> None:
    """Measure what filters trained on other seeds could skip (see: mesocosm describe --exposure).

    For each task and length, a filter is tested on each seed's instance and trained on the others (at
    most six). Use at least two seeds, better six. The figures are means with 95 % intervals.
    """
    from mesocosm.families.exposure.figures import draw_families
    from mesocosm.families.exposure.measurement import measure_families
    from mesocosm.families.figures import kind_of
    from mesocosm.families.suite import instances

    trusted(trust, tasks)
    if plot:
        kind_of(plot)
    wanted = instances(tasks, lengths, seeds, preset)
    of: dict[tuple[str, int], list[int]] = {}
    for one in wanted:
        of.setdefault((one.task, one.length), []).append(one.seed)
    jobs = [(task, length, tuple(own)) for (task, length), own in of.items()]
    if any(len(own) < 2 for _, _, own in jobs):
        raise UsageError(
            "a filter is trained on other seeds than it is tested on: give at least two, --seeds 0-5"
        )
    measured = []
    parameters = {**(wanted[0].parameters if wanted else {}), **read_parameters(param)}
    with workers_for(workers, ray, len(jobs)) as they, progress(len(jobs), "measuring") as advance:
        for (task, length, _), found in measure_families(jobs, they, parameters):
            measured.append((task, length, found))
            advance(f"{task} {show_length(length)}")
    measured.sort(key=lambda row: [(task, length) for task, length, _ in jobs].index(row[:2]))
    if plot:
        draw_families([(f"{task} {show_length(length)}", found) for task, length, found in measured], plot)
    if as_json:
        print_json(
            [{"task": task, "length": length, **found.model_dump()} for task, length, found in measured]
        )
        return
    show_exposures(measured)
    if plot:
        out.print(f"drawn in {plot}")
