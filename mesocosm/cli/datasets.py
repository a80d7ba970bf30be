"""Writing datasets: dataset lore."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mesocosm.cli.application import app
from mesocosm.cli.options import AsJson, Parameter, Workers, read_parameters
from mesocosm.cli.output import out, print_json, progress
from mesocosm.families.quantities import parse_counts, parse_seeds

dataset_app = typer.Typer(
    no_args_is_help=True, help="Write instances as JSON lines, for use without this program."
)
app.add_typer(dataset_app, name="dataset")


@dataset_app.command("lore")
def lore(
    domain: Annotated[str, typer.Option(help="documents, multimodal or code.")],
    to: Annotated[Path, typer.Option("--out", help="The file to write (.jsonl); must not exist yet.")],
    n: Annotated[str, typer.Option("--n", help="Operations: 20, 1-350, 10-100:10 (every tenth), 1,5,50.")],
    seeds: Annotated[str, typer.Option(help="Seeds for each N: 0, 0-4 or 1,7.")] = "0",
    hard: Annotated[bool, typer.Option("--hard", help="The hard variant of the domain.")] = False,
    param: Parameter = None,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Write dependency-tree tasks: prompt, tools, files, answer, N and height of each.

    A line holds the same instance as `mesocosm build TASK --param operations=N --seed S` builds.
    """
    from mesocosm.kits.weaving.datasets import STANDARD, find_task, write_dataset

    family = find_task("lore", domain, "hard" if hard else STANDARD)
    operations, wanted, parameters = parse_counts(n), parse_seeds(seeds), read_parameters(param)
    sizes = []
    with progress(len(set(operations)) * len(set(wanted)), "writing") as advance:
        for size in write_dataset(family, operations, wanted, parameters, to, workers=workers):
            sizes.append(size)
            advance("")
    if as_json:
        print_json(
            {
                "path": str(to),
                "task": family.name,
                "version": family.task.version,
                "instances": len(sizes),
                "bytes": sum(sizes),
            }
        )
    else:
        out.print(f"{len(sizes):,} instances of {family.name} in {to} ({sum(sizes):,} bytes)")
