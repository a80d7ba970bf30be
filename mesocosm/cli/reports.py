"""Reports: report lore on runs, report longproc on scored answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from typer.core import TyperGroup

from mesocosm.cli.application import app
from mesocosm.cli.options import (
    AsJson,
    PaperName,
    Ray,
    SpreadCommand,
    Workers,
    read_chances,
    workers_for,
)
from mesocosm.cli.output import err, fault_line, out, print_json, spinner
from mesocosm.errors import UsageError

_PRINTED = ("summary", "by-length", "pairs", "errors")
"""Tables of a report that are printed, too."""


class _WithDefault(TyperGroup):
    """`mesocosm report LOGS` is `mesocosm report evaluation LOGS`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help"):
            args = ["evaluation", *args]
        return super().parse_args(ctx, args)


report_app = typer.Typer(
    cls=_WithDefault, no_args_is_help=True, help="Report on many runs: `mesocosm report LOGS -o out/`."
)
app.add_typer(report_app, name="report")


@report_app.command("evaluation", cls=SpreadCommand)
def evaluation(
    logs: Annotated[
        list[Path], typer.Argument(help="Logs of `mesocosm eval`, folders of them, or run directories.")
    ],
    to: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Folder for the page, tables and figures; existing files are replaced."
        ),
    ] = None,
    paper: Annotated[
        PaperName | None,
        typer.Option(
            help="Draw the figures and tables of this paper, under their original numbers; see `eval "
            "--paper`."
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            help="Columns to group rows by, instead of model and settings: fields of samples, "
            "settings, parameters (model,task; window; log), separated by commas."
        ),
    ] = None,
    title: Annotated[str, typer.Option(help="Title of the page.")] = "Evaluation",
    episodes: Annotated[
        int, typer.Option(min=0, help="Maximum number of failed episodes that get pages (as of `look`).")
    ] = 10,
    workers: Workers = None,
    ray: Ray = None,
    as_json: AsJson = False,
) -> None:
    """Models and strategies against length: one page with figures, tables as CSV and Markdown (the
    default)."""
    from mesocosm.evaluation.browser.export import write_files
    from mesocosm.evaluation.report.page import all_tables, write_report
    from mesocosm.evaluation.report.rows import read_samples
    from mesocosm.evaluation.report.tables import UNLIKE, half_shown, halves_of, unlike
    from mesocosm.evaluation.table_files import printed

    if paper and by:
        raise UsageError("--by is for reports of one's own: a paper's figures have their own rows")
    if paper:
        _draw_paper(paper, logs, to, as_json=as_json)
        return
    samples = read_samples(logs, [name.strip() for name in (by or "").split(",") if name.strip()])
    written = []
    if to:
        with workers_for(workers, ray, episodes) as they, spinner() as report:
            links = write_files(samples, to, episodes, they, report)
        written = write_report(samples, to, title, links)
    if as_json:
        print_json(
            {
                "samples": [one.model_dump() for one in samples],
                "l50": [
                    {"who": who, "task": task, "n": runs, "shown": half_shown(half), **half._asdict()}
                    for who, task, runs, half in halves_of(samples)
                ],
                "files": [str(path) for path in written],
            }
        )
        return
    for shown in all_tables(samples):
        if shown.name not in _PRINTED:
            continue
        out.print(printed(shown.head, shown.rows, title=escape(shown.title), title_justify="left"))
    if unlike(samples):
        err.print(f"[yellow]{UNLIKE}[/]")
    if to:
        out.print(f"written to {to}: {to / 'index.html'}")


def _draw_paper(paper: PaperName, logs: list[Path], to: Path | None, *, as_json: bool) -> None:
    """The plates of a paper: written to a folder, and printed."""
    from mesocosm.evaluation.papers.plate_data import TITLES, plates_of
    from mesocosm.evaluation.papers.plates import write_plates
    from mesocosm.evaluation.table_files import printed

    plates = plates_of(paper, logs)
    written = write_plates(TITLES[paper], plates, to) if to else []
    if as_json:
        shown = [
            {"name": one.name, "title": one.title, "head": one.head, "rows": one.rows, "note": one.note}
            for one in plates
        ]
        print_json({"paper": paper, "plates": shown, "files": [str(path) for path in written]})
        return
    for plate in plates:
        about = {"title": escape(plate.title), "title_justify": "left", "caption": escape(plate.note)}
        out.print(printed(plate.head, plate.rows, **about))
    if to:
        out.print(f"written to {to}: {to / 'index.md'}")


@report_app.command("lore")
def lore(
    runs: Annotated[
        list[Path],
        typer.Argument(help="Run directories, folders of them, or files of what `run --json` printed."),
    ],
    to: Annotated[
        Path | None,
        typer.Option("--out", help="Folder for the table and the plots; existing files are replaced."),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(help="What to report against: operations, height (default: both); repeatable."),
    ] = None,
    bins: Annotated[int, typer.Option(min=1, help="Maximum number of points of a curve.")] = 12,
    as_json: AsJson = False,
) -> None:
    """Accuracy of dependency-tree tasks against operations and tree height, per model, domain and variant."""
    from mesocosm.evaluation.reports import HEAD, faults_among, measure, read_results, row, write_report
    from mesocosm.evaluation.table_files import printed

    found = read_results(runs)
    results = [result for result in found if "operations" in result.measures]
    if not results:
        raise UsageError("there are no runs of dependency-tree tasks among these")
    if len(found) > len(results):
        others = sorted({result.task for result in found if "operations" not in result.measures})
        err.print(f"left out: {len(found) - len(results)} runs of {escape(', '.join(others))}")
    bars = [bar for one in by or ["operations", "height"] for bar in measure(results, one, bins)]
    written = write_report(bars, to) if to else []
    faults = faults_among(found)
    if as_json:
        print_json(
            {
                "bars": [bar.model_dump() for bar in bars],
                "files": [str(path) for path in written],
                "faults": [fault.model_dump() for fault in faults],
            }
        )
        return
    out.print(printed(HEAD, map(row, bars)))
    for fault in faults:
        out.print(f"[red]fault {fault.fingerprint}[/]  {escape(fault_line(fault))}")
    if written:
        out.print(f"written to {to}: {', '.join(path.name for path in written)}")


@report_app.command("longproc")
def longproc(
    scores: Annotated[
        list[Path],
        typer.Argument(help="Files that `score longproc --out` wrote, or run directories of longproc tasks."),
    ],
    to: Annotated[
        Path | None,
        typer.Option("--out", help="Folder for the tables and the curves; existing files are replaced."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Long procedures: tables by procedure and level, and curves of how far into the output answers stay
    right.
    """
    from mesocosm.evaluation.procedures import (
        HEAD,
        read_scores,
        rows_of,
        survival,
        tabulate,
        write_procedure_report,
    )
    from mesocosm.evaluation.table_files import printed

    found = read_scores(scores)
    cells = tabulate(found)
    written = write_procedure_report(found, to) if to else []
    if as_json:
        curves = [point.model_dump() for point in survival(found)]
        files = [str(path) for path in written]
        print_json({"cells": [cell.model_dump() for cell in cells], "survival": curves, "files": files})
        return
    out.print(printed(HEAD, rows_of(cells)))
    if written:
        out.print(f"written to {to}: {', '.join(path.name for path in written)}")


@report_app.command("agentlongbench")
def agentlongbench(
    scores: Annotated[
        list[Path],
        typer.Argument(help="Files that `score agentlongbench --out` wrote, or logs of `mesocosm eval`."),
    ],
    by: Annotated[
        str,
        typer.Option(
            help="Columns to group by: how, type (or category), length, setting, format, separated by commas."
        ),
    ] = "how,type,length,setting,format",
    to: Annotated[
        Path | None, typer.Option("--out", help="Folder for the tables; existing files are replaced.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Questions about rollouts: accuracy by type, length, setting and format, with intervals; if both were
    run, the history in the prompt against the history served to tools.
    """
    from mesocosm.evaluation.rollouts import (
        BY,
        COMPARED,
        HEAD,
        compare,
        compared_rows,
        read_scores,
        rows_of,
        tabulate,
        write_cells,
    )
    from mesocosm.evaluation.table_files import printed

    chosen = [one.strip() for one in by.split(",")]
    if wrong := [one for one in chosen if one not in BY]:
        raise UsageError(f"--by {by!r}: {wrong[0]!r} is none of {', '.join(BY)}")
    found = read_scores(scores)
    cells, comparisons = tabulate(found, chosen), compare(found, chosen)
    written = write_cells(cells, to, comparisons) if to else []
    if as_json:
        print_json(
            {
                "cells": [cell.model_dump() for cell in cells],
                "comparisons": [one.model_dump() for one in comparisons],
                "files": [str(path) for path in written],
            }
        )
        return
    out.print(printed(HEAD, rows_of(cells)))
    if comparisons:
        out.print(printed(COMPARED, compared_rows(comparisons)))
    if written:
        out.print(f"written to {to}: {', '.join(path.name for path in written)}")


@report_app.command("lumina", cls=SpreadCommand)
def lumina(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(help="Run directories, folders of them, or files of what `run --json` printed."),
    ] = None,
    calibrate: Annotated[
        str | None,
        typer.Option(help="Let noisy players act, on listworld, treeworld or gridworld, and report on them."),
    ] = None,
    p: Annotated[
        str, typer.Option("--p", help="With --calibrate: probability that players make an optimal call.")
    ] = "0.9,0.99,0.999",
    horizons: Annotated[
        str, typer.Option(help="With --calibrate: calls of an optimal policy.")
    ] = "10,30,100,300",
    episodes: Annotated[
        int, typer.Option(min=1, help="With --calibrate: episodes of each player at each horizon.")
    ] = 20,
    to: Annotated[
        Path | None,
        typer.Option("--out", help="Folder for the table and the plot; existing files are replaced."),
    ] = None,
    bins: Annotated[int, typer.Option(min=1, help="Maximum number of points of a curve.")] = 12,
    workers: Workers = None,
    ray: Ray = None,
    as_json: AsJson = False,
) -> None:
    """Success and step accuracy against the horizon, beside the expected values of noisy players."""
    from mesocosm.evaluation.horizons import HEAD, points, row, write_report
    from mesocosm.evaluation.reports import read_results
    from mesocosm.evaluation.table_files import printed
    from mesocosm.evaluation.trajectories import calibrate as play
    from mesocosm.families.quantities import parse_counts

    if not runs and not calibrate:
        raise UsageError("give run directories, or --calibrate listworld")
    results = read_results(runs) if runs else []
    if calibrate:
        counts, chances = parse_counts(horizons), read_chances(p)
        with workers_for(workers, ray, len(counts) * episodes) as they, spinner() as report:
            results += play(calibrate, counts, chances, episodes, they, report)
    found = points(results, bins)
    written = write_report(found, to) if to else []
    if as_json:
        print_json(
            {"points": [point.model_dump() for point in found], "files": [str(path) for path in written]}
        )
        return
    out.print(printed(HEAD, map(row, found)))
    if written:
        out.print(f"written to {to}: {', '.join(path.name for path in written)}")
