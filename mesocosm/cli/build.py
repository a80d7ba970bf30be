"""Building and looking: build, describe, list, schema."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from mesocosm.cli.application import app
from mesocosm.cli.options import (
    AsJson,
    Length,
    Parameter,
    Seed,
    TaskName,
    Trust,
    read_parameters,
    read_target,
    trusted,
    trusted_in,
)
from mesocosm.cli.output import out, print_json, show_exposure, spinner
from mesocosm.errors import UsageError


class ListChoice(StrEnum):
    """Things that can be listed."""

    servers = "servers"
    tasks = "tasks"
    tools = "tools"
    clients = "clients"
    strategies = "strategies"
    questions = "questions"


_NO_DERIVATIONS = (
    "how values are derived is known of tasks in YAML with a solution (not of an instance on disk) or a "
    "domain; "
    "others are proven by a solver that reads"
)


@app.command()
def build(
    task: TaskName,
    to: Annotated[Path, typer.Option("--out", help="Directory of the instance; must not exist yet.")],
    length: Length = None,
    seed: Seed = 0,
    param: Parameter = None,
    trust: Trust = False,
    as_json: AsJson = False,
) -> None:
    """Build an instance: its world, its prompt, and, kept apart, the data of its checker."""
    from mesocosm.families.family import TASK, known_as, load_family
    from mesocosm.families.instances import build_instance

    trusted(trust, task)
    family = load_family(task)
    parameters = read_parameters(param)
    target = read_target(length, parameters, family.task.lengths[0])
    with spinner() as report:
        instance = build_instance(family, seed, to, target=target, parameters=parameters, progress=report)
    if (own := known_as(family)) != family.name:
        (to / TASK).write_text(own, encoding="utf-8")
    summary = {
        "task": family.name,
        "seed": seed,
        "length": target,
        "edl": instance.survey.tokens,
        "path": str(to),
        "world": str(to / "world"),
    }
    if as_json:
        print_json(summary)
    else:
        out.print(f"built {family.name}, seed {seed}: {instance.survey.tokens:,} tokens in {to}")


@app.command()
def describe(
    task: Annotated[
        str, typer.Argument(help="Name of a task, path of its YAML, or directory of an instance or run.")
    ],
    length: Length = None,
    seed: Seed = 0,
    param: Parameter = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw where the evidence lies: a file ending in .svg or .png.")
    ] = None,
    exposure: Annotated[
        bool,
        typer.Option("--exposure", help="Also measure what a filter trained on other seeds can skip."),
    ] = False,
    derivations: Annotated[
        bool, typer.Option("--derivations", help="Also show how each fact follows from delivered texts.")
    ] = False,
    trust: Trust = False,
    as_json: AsJson = False,
) -> None:
    """Describe an instance: its length, its composition, and where its evidence lies."""
    from mesocosm.families.description import describe_instance, draw_evidence

    trusted(trust, task)
    if Path(task).is_dir():
        trusted_in(trust, Path(task))
    with spinner() as report:
        described = describe_instance(
            task,
            length=length,
            seed=seed,
            parameters=read_parameters(param),
            exposure=exposure,
            report=report,
        )
    if plot:
        draw_evidence(described, plot)
    if as_json:
        print_json(described.model_dump())
        return
    target = f", target {described.target:,} ({described.error:+.2%})" if described.target else ""
    out.print(
        f"[bold]{described.task}[/], seed {described.seed}: [bold]{described.edl:,}[/] tokens "
        f"({described.tokenizer}){target}"
    )
    out.print(
        f"adequate context length {described.adequate:,} tokens, of which {described.evidence_tokens:,} "
        f"({described.evidence_tokens / max(described.edl, 1):.0%} of all) in items that hold one of "
        f"{described.evidence} pieces of evidence; {described.calls} calls to read everything"
    )
    table = Table("service", "tool", "calls", "tokens", "share", "with evidence")
    for part in described.parts:
        share = part.tokens / max(described.edl, 1)
        table.add_row(
            part.service,
            part.tool,
            f"{part.calls:,}",
            f"{part.tokens:,}",
            f"{share:.1%}",
            f"{part.adequate:,}",
        )
    out.print(table)
    if described.exposure:
        show_exposure(described.exposure, described.edl)
    if derivations:
        for text in described.derivations or [_NO_DERIVATIONS]:
            out.print(escape(text), highlight=False)
    if plot:
        out.print(f"evidence drawn in {plot}")


@app.command(name="list")
def list_(
    what: Annotated[ListChoice, typer.Argument(help="What to list.")] = ListChoice.tasks,
    service: Annotated[
        str | None, typer.Argument(help="With tools: only those of this service, with their arguments.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List servers, tasks, tools, clients for mcp-config, context strategies, sets of questions."""
    if service is not None and what is not ListChoice.tools:
        raise UsageError(f"only tools are listed for a service: mesocosm list tools {service}")
    rows = (
        _tools_of(service)
        if service is not None
        else {
            ListChoice.servers: _servers,
            ListChoice.tasks: _tasks,
            ListChoice.tools: _tools,
            ListChoice.clients: _clients,
            ListChoice.strategies: _strategies,
            ListChoice.questions: _questions,
        }[what]()
    )
    if as_json:
        print_json(rows)
        return
    table = Table(*[key for key in rows[0] if key not in ("inputSchema", "annotations")]) if rows else Table()
    for row in rows:
        table.add_row(
            *[escape(str(value)) for key, value in row.items() if key not in ("inputSchema", "annotations")]
        )
    out.print(table)


@app.command()
def schema() -> None:
    """Print the JSON schema of task files, for editors."""
    from mesocosm.families.task import Task
    from mesocosm.kits.yaml_tasks.schema import schema as written

    print_json(written(Task.model_json_schema()))


def _servers() -> list[dict[str, Any]]:
    from mesocosm.services.service import load_services

    return [
        {"name": s.name, "tools": len(s.tools), "description": s.instructions}
        for s in load_services().values()
    ]


def _tasks() -> list[dict[str, Any]]:
    from mesocosm.families.family import family_names, load_family

    rows = []
    for name in family_names():
        task = load_family(name).task
        rows.append(
            {"name": name, "version": task.version, "title": task.title, "servers": ", ".join(task.servers)}
        )
    return rows


def _strategies() -> list[dict[str, Any]]:
    from mesocosm.agents.strategies.registry import parameters, strategies

    return [
        {
            "name": name,
            "parameters": parameters(kind),
            "description": " ".join((kind.__doc__ or "").partition("\n\n")[0].split()),
        }
        for name, kind in strategies().items()
    ]


def _questions() -> list[dict[str, Any]]:
    from mesocosm.evaluation.questions import question_sets

    return [
        {"name": name, "options": ", ".join(one.Options.model_fields), "title": one.title}
        for name, one in question_sets().items()
    ]


def _tools() -> list[dict[str, Any]]:
    from mesocosm.services.service import load_services

    return [
        {
            "service": service.name,
            "name": tool.name,
            "description": tool.description.partition("\n")[0],
            "inputSchema": tool.signature.schema,
            "annotations": tool.annotations,
        }
        for service in load_services().values()
        for tool in service.tools.values()
    ]


def _tools_of(name: str) -> list[dict[str, Any]]:
    """The tools of one service, each with its arguments: those that may be left out end in ``?``."""
    from mesocosm.services.content import service_names
    from mesocosm.services.service import load_service

    if name not in service_names():
        raise UsageError(f"no such service: {name!r}; there are {', '.join(service_names())}")
    return [
        {
            "name": tool.name,
            "arguments": _arguments(tool.signature.schema),
            "description": tool.description.partition("\n")[0],
            "inputSchema": tool.signature.schema,
            "annotations": tool.annotations,
        }
        for tool in load_service(name).tools.values()
    ]


def _arguments(schema: dict[str, Any]) -> str:
    required = schema.get("required", ())
    return ", ".join(name if name in required else f"{name}?" for name in schema["properties"])


def _clients() -> list[dict[str, Any]]:
    from mesocosm.doors.client_configurations import DIALECTS

    return [{"client": name} for name in DIALECTS]
