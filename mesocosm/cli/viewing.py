"""Looking at results: view."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from mesocosm.cli.application import app
from mesocosm.cli.options import AsJson
from mesocosm.cli.output import out, print_json, spinner


@app.command()
def view(
    run: Annotated[
        Path, typer.Argument(help="A run directory, a sample's folder beside a log, or an episode.")
    ],
    to: Annotated[
        Path | None, typer.Option("--out", "-o", help="The page (default: view.html in the run directory).")
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    as_json: AsJson = False,
) -> None:
    """Look into one episode: calls, evidence, changes, findings, the context at any turn; one local page."""
    from mesocosm.evaluation.looking import look_at
    from mesocosm.evaluation.report.view import page
    from mesocosm.worlds.workspace import replace_file

    with spinner() as report:
        report("making the calls again to see what each changed")
        look = look_at(run)
    if as_json:
        print_json(look.model_dump())
        return
    path = to or run / "view.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, page(look).encode())
    out.print(str(path))
    if show:
        webbrowser.open(path.resolve().as_uri())
