"""The command-line application, to which the modules beside this one add their commands."""

from __future__ import annotations

from typing import Annotated

import typer

import mesocosm

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Mock tool servers, worlds of any length, tasks and checkers for tool-using agents.\n\n"
    "Start with: mesocosm run canvas_arrange_exam --length 32k --seed 0 --agent reference",
)


def _version(value: bool) -> None:
    if value:
        print(f"mesocosm {mesocosm.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Options of the program as a whole."""
