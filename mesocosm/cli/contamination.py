"""Contamination: whether a model knew what it was asked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from mesocosm.cli.application import app
from mesocosm.cli.options import AsJson
from mesocosm.cli.output import out, print_json
from mesocosm.families.quantities import show_length


@app.command()
def contamination(
    logs: Annotated[
        list[Path], typer.Argument(help="Logs of `mesocosm eval`, folders of them, or run directories.")
    ],
    canary: Annotated[
        list[str] | None,
        typer.Option(help="A further canary: a text that nobody writes without having seen it; repeatable."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Search logs for signs that a model knew the instances: canaries in its output, and right answers
    without any evidence read. Exit code 1 if there are some.
    """
    from mesocosm.evaluation.contamination import look_for_contamination

    found = look_for_contamination(logs, canary or ())
    if as_json:
        print_json(found.model_dump())
    else:
        for sign in found.signs:
            length = show_length(sign.length) if sign.length else ""
            where = f"{sign.task} {length} seed {sign.seed}, {sign.model}: {sign.detail}"
            out.print(f"[red]{sign.kind}[/] {escape(where)}  [dim]{escape(sign.log)}[/]")
        out.print(
            f"{len(found.signs)} signs in {found.samples} samples, of which {found.passed} passed; of "
            f"{found.judged} of these it is known what was read"
        )
    raise typer.Exit(1 if found.signs else 0)
