"""Instances for other people's tools: export harbor, export huggingface."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

import typer

from mesocosm.cli.application import app
from mesocosm.cli.options import (
    AsJson,
    Parameter,
    TaskName,
    Tools,
    Trust,
    read_parameters,
    trusted,
)
from mesocosm.cli.output import out, print_json, progress
from mesocosm.errors import UsageError
from mesocosm.families.quantities import parse_lengths, parse_seeds

export_app = typer.Typer(
    no_args_is_help=True, help="Write instances as other people's harnesses and trainers take them."
)
app.add_typer(export_app, name="export")


@export_app.command("harbor")
def harbor(
    task: TaskName,
    to: Annotated[Path, typer.Option("--out", help="The folder that gets a folder for each instance.")],
    lengths: Annotated[str, typer.Option("--length", help="Lengths, separated by commas: 8k,64k.")] = "8k",
    seeds: Annotated[str, typer.Option(help="Seeds: 0, 0-4 or 1,7.")] = "0",
    param: Parameter = None,
    tools: Tools = "needed",
    image: Annotated[
        str, typer.Option(help="The image of the server (docker compose build servers).")
    ] = "mesocosm",
    agent_image: Annotated[
        str, typer.Option(help="Image of the agent's container; it needs Python for the verifier.")
    ] = "python:3.12-slim",
    trust: Trust = False,
    as_json: AsJson = False,
) -> None:
    """Write Harbor tasks: a folder for each instance, with its world in a container of its own."""
    from mesocosm.families.family import load_family
    from mesocosm.training.harbor import Images, write_tasks

    trusted(trust, task)
    family, wanted, numbers = load_family(task), parse_lengths(lengths), parse_seeds(seeds)
    wanted, numbers = list(dict.fromkeys(wanted)), list(dict.fromkeys(numbers))
    written = []
    with progress(len(wanted) * len(numbers), "writing") as advance:
        for path in write_tasks(
            family,
            wanted,
            numbers,
            to,
            parameters=read_parameters(param),
            tools=tools,
            images=Images(image, agent_image),
        ):
            written.append(str(path))
            advance("")
    if as_json:
        print_json({"paths": written, "task": family.name, "version": family.task.version})
    else:
        out.print(f"{len(written):,} Harbor tasks of {family.name} in {to}")


@export_app.command("huggingface")
def huggingface(
    tasks: Annotated[str, typer.Argument(help="Tasks, separated by commas; or all.")],
    to: Annotated[Path, typer.Option("--out", help="The folder to write; must not exist yet.")],
    lengths: Annotated[
        str | None, typer.Option("--length", help="Lengths, separated by commas (default: each task's own).")
    ] = None,
    seeds: Annotated[str, typer.Option(help="Seeds: 0, 0-4 or 1,7.")] = "0",
    split: Annotated[str, typer.Option(help="Name of the split.")] = "train",
    kind: Annotated[
        Literal["jsonl", "parquet"], typer.Option("--format", help="Format of the rows.")
    ] = "jsonl",
    param: Parameter = None,
    tools: Tools = "needed",
    trust: Trust = False,
    as_json: AsJson = False,
) -> None:
    """Write a Hugging Face data set: a card, and a row for each instance with its prompt and tools."""
    from mesocosm.families.family import family_names, load_family
    from mesocosm.training.huggingface import write_dataset

    trusted(trust, tasks)
    if not re.fullmatch(r"\w+", split):
        raise UsageError(f"--split {split!r}: letters, digits and underscores")
    names = family_names() if tasks == "all" else list(dict.fromkeys(tasks.split(",")))
    families, numbers = [load_family(name) for name in names], list(dict.fromkeys(parse_seeds(seeds)))
    wanted = list(dict.fromkeys(parse_lengths(lengths))) if lengths else None
    total = sum(len(wanted or family.task.lengths) for family in families) * len(numbers)
    rows = []
    with progress(total, "building") as advance:
        for row in write_dataset(
            families,
            wanted,
            numbers,
            to,
            parameters=read_parameters(param),
            tools=tools,
            split=split,
            kind=kind,
        ):
            rows.append(row)
            advance(row)
    if as_json:
        print_json({"path": str(to), "rows": rows})
    else:
        out.print(f"{len(rows):,} instances in {to}")
