"""Check user-provided content: check."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from mesocosm.cli.application import app
from mesocosm.cli.options import AsJson, Trust, trusted
from mesocosm.cli.output import out, print_json, progress
from mesocosm.families.quantities import parse_lengths, parse_seeds


@app.command()
def check(
    path: Annotated[
        Path,
        typer.Argument(
            help="A folder with servers/, generators/, checkers/, solvers/ or tasks/; or a task's YAML."
        ),
    ],
    lengths: Annotated[str, typer.Option(help="Lengths to prove tasks at, separated by commas.")] = "8k,32k",
    seeds: Annotated[str, typer.Option(help="Seeds: 0, 0-4 or 1,7.")] = "0-1",
    calls: Annotated[int, typer.Option(min=0, help="Random calls on every server.")] = 200,
    trust: Trust = False,
    as_json: AsJson = False,
) -> None:
    """Run all contract checks on your own servers and tasks. Exit code 1 if one fails.

    Put the folder into MESOCOSM_PATH to use them with every command. Python in the folder is run; Python
    beside a single file needs --trust.
    """
    from mesocosm.families.contracts import complaints as of_family
    from mesocosm.services.content import add_root
    from mesocosm.services.contracts import complaints as of_service

    proven = {"lengths": parse_lengths(lengths), "seeds": parse_seeds(seeds)}
    jobs: dict[str, Iterator[str]]
    if path.suffix in (".yaml", ".yml"):
        trusted(trust, str(path))
        jobs = {f"task {path.stem}": of_family(str(path), **proven)}
    else:
        root = add_root(path)
        jobs = {
            **{f"server {name}": of_service(name, calls=calls) for name in root.servers()},
            **{f"task {file.stem}": of_family(file.stem, **proven) for file in root.tasks()},
        }
    found: dict[str, list[str]] = {}
    with progress(len(jobs), "checking") as advance:
        for name, complaints in jobs.items():
            found[name] = list(complaints)
            advance(name)
    if as_json:
        print_json(found)
    else:
        for name, lines in found.items():
            out.print(f"{name}: " + ("[red]not in order[/]" if lines else "[green]in order[/]"))
            for line in lines:
                out.print(f"  {escape(line)}")
        if not found:
            out.print(f"{path} has no servers and no tasks")
    raise typer.Exit(1 if any(found.values()) or not found else 0)
