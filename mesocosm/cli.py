"""The command line. Exit codes: 0 passed (or done), 1 failed, 2 wrong usage, 3 errored (a fault of ours)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import orjson
import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table

import mesocosm
from mesocosm.errors import UsageError
from mesocosm.quantities import parse_length, parse_lengths, parse_seeds, show_length

if TYPE_CHECKING:
    from mesocosm.evaluation import RunResult
    from mesocosm.proving import Proof

EXIT_CODES = {"passed": 0, "failed": 1, "errored": 3}

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Mock tool servers, worlds of any length, tasks and checkers for tool-using agents.\n\n"
    "Start with: mesocosm run canvas_arrange_exam --length 32k --seed 0 --agent reference",
)
suite_app = typer.Typer(no_args_is_help=True, help="Work on all tasks at their preset lengths and seeds.")
app.add_typer(suite_app, name="suite")

out = Console(soft_wrap=True)
err = Console(stderr=True, soft_wrap=True)

TaskName = Annotated[
    str, typer.Argument(help="Name of a task (see: mesocosm list tasks), or the path of its YAML.")
]
Length = Annotated[str | None, typer.Option("--length", help="Description length in tokens: 8k, 64000, 1m.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the instance.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
Parameter = Annotated[
    list[str] | None,
    typer.Option("--param", help="A generator parameter, NAME=VALUE (VALUE as JSON or text); repeatable."),
]


class AgentChoice(StrEnum):
    """Who acts."""

    reference = "reference"
    none = "none"
    command = "command"


class EraChoice(StrEnum):
    """Which MCP revision the reference agent speaks: the newest, or the 2025 handshake."""

    auto = "auto"
    legacy = "legacy"


class Listing(StrEnum):
    """What to list."""

    servers = "servers"
    tasks = "tasks"
    tools = "tools"
    clients = "clients"


def _json(data: Any) -> None:
    sys.stdout.buffer.write(orjson.dumps(data) + b"\n")
    sys.stdout.flush()


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


@app.command()
def run(
    task: TaskName,
    length: Length = None,
    seed: Seed = 0,
    agent: Annotated[AgentChoice, typer.Option(help="Who acts.")] = AgentChoice.reference,
    agent_command: Annotated[
        str | None,
        typer.Option(
            help="With --agent command: a shell command. It finds its task in $MESOCOSM_PROMPT and "
            "$MESOCOSM_PROMPT_FILE, its MCP servers in $MESOCOSM_MCP_CONFIG (a file) and $MESOCOSM_MCP_URL."
        ),
    ] = None,
    param: Parameter = None,
    to: Annotated[
        Path | None, typer.Option("--out", help="Run directory (default: the next below runs/).")
    ] = None,
    era: Annotated[
        EraChoice, typer.Option(help="MCP revision that the reference agent speaks.")
    ] = EraChoice.auto,
    as_json: AsJson = False,
) -> None:
    """Build a world, serve it, let an agent act over MCP, and grade the final state."""
    from mesocosm import evaluation
    from mesocosm.family import load_family

    family = load_family(task)
    parameters = _parameters(param)
    target = _target(length, parameters, family.task.lengths[0])
    directory = to or evaluation.default_run_directory(family, target, seed, agent.value)
    with _spinner() as report:
        result = evaluation.run_task(
            family,
            target=target,
            seed=seed,
            agent=agent.value,
            command=agent_command,
            parameters=parameters,
            out=directory,
            era=era.value,
            report=report,
        )
    if as_json:
        _json(result.model_dump())
    else:
        _show_result(result, directory)
    raise typer.Exit(EXIT_CODES[result.verdict])


@app.command()
def grade(
    run: Annotated[Path, typer.Argument(help="A run directory, or the directory of an episode.")],
    as_json: AsJson = False,
) -> None:
    """Judge the final state of a run again."""
    from mesocosm.episode import Episode
    from mesocosm.evaluation import RunResult, grade_run

    folder = run / "episode" if (run / "episode").is_dir() else run
    episode = Episode(folder)
    before = run / "run.json"
    earlier = RunResult.model_validate_json(before.read_bytes()) if before.is_file() else None
    result = grade_run(
        episode, agent=earlier.agent if earlier else "", seconds=earlier.seconds if earlier else None
    )
    episode.close()
    if as_json:
        _json(result.model_dump())
    else:
        _show_result(result, run)
    raise typer.Exit(EXIT_CODES[result.verdict])


@app.command()
def build(
    task: TaskName,
    to: Annotated[Path, typer.Option("--out", help="Directory of the instance; must not exist yet.")],
    length: Length = None,
    seed: Seed = 0,
    param: Parameter = None,
    as_json: AsJson = False,
) -> None:
    """Build an instance: its world, its prompt, and apart from them what its checker expects."""
    from mesocosm.family import load_family
    from mesocosm.instance import build_instance

    family = load_family(task)
    parameters = _parameters(param)
    target = _target(length, parameters, family.task.lengths[0])
    with _spinner() as report:
        instance = build_instance(family, seed, to, target=target, parameters=parameters, progress=report)
    summary = {
        "task": family.name,
        "seed": seed,
        "length": target,
        "edl": instance.survey.tokens,
        "path": str(to),
        "world": str(to / "world"),
    }
    if as_json:
        _json(summary)
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
    as_json: AsJson = False,
) -> None:
    """Say how long an environment description is, what it consists of, and where its evidence lies."""
    from mesocosm.describing import describe_instance, draw_evidence

    with _spinner() as report:
        described = describe_instance(
            task, length=length, seed=seed, parameters=_parameters(param), report=report
        )
    if plot:
        draw_evidence(described, plot)
    if as_json:
        _json(described.model_dump())
        return
    target = f", target {described.target:,} ({described.error:+.2%})" if described.target else ""
    out.print(
        f"[bold]{described.task}[/], seed {described.seed}: [bold]{described.edl:,}[/] tokens "
        f"({described.tokenizer}){target}"
    )
    out.print(
        f"adequate context length {described.adequate:,} tokens; {described.evidence} pieces of evidence; "
        f"{described.calls} calls to read everything"
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
    if plot:
        out.print(f"evidence drawn in {plot}")


@app.command()
def prove(
    task: Annotated[list[str], typer.Argument(help="Names of tasks, or paths of their YAML files.")],
    lengths: Annotated[str, typer.Option(help="Lengths, separated by commas.")] = "8k",
    seeds: Annotated[str, typer.Option(help="Seeds: 0, 0-4 or 1,7.")] = "0",
    workers: Annotated[int | None, typer.Option(min=1, help="Processes (default: one per core).")] = None,
    as_json: AsJson = False,
) -> None:
    """Prove instances: the length holds, the same seed gives the same bytes, the reference solver scores 1,
    doing nothing scores 0, and so does every mutant."""
    _prove(task, parse_lengths(lengths), parse_seeds(seeds), workers, as_json, None)


@app.command()
def serve(
    stdio: Annotated[
        str | None, typer.Option(help="Serve this service (or `all`) of --world over stdin and stdout.")
    ] = None,
    world: Annotated[
        Path | None, typer.Option(help="With --stdio: directory of a world or an instance.")
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; others than loopback need an admin token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on.")] = 8321,
    state: Annotated[
        Path,
        typer.Option(envvar="MESOCOSM_STATE", help="Directory of the episodes; a restart serves them again."),
    ] = Path(".mesocosm"),
    admin_token: Annotated[
        str | None, typer.Option(envvar="MESOCOSM_ADMIN_TOKEN", help="Token of the control plane.")
    ] = None,
    allowed_host: Annotated[
        list[str] | None,
        typer.Option(help="Host header to accept besides loopback, such as mesocosm:8321; repeatable."),
    ] = None,
    task: Annotated[str | None, typer.Option(help="Open an episode of this task and print its URLs.")] = None,
    length: Length = None,
    seed: Seed = 0,
) -> None:
    """Serve one world over stdio, or many episodes over HTTP."""
    if stdio:
        _serve_stdio(stdio, world)
        return
    if world:
        raise UsageError("--world goes with --stdio; over HTTP, episodes are created by the control plane")
    from mesocosm.family import load_family
    from mesocosm.hosting import Hosting
    from mesocosm.serving import admin_token as choose_token
    from mesocosm.serving import serve as serve_http

    token = choose_token(state, host, admin_token)
    hosting = Hosting(state, admin_token=token, allowed_hosts=allowed_host)
    base = f"http://{host}:{port}"
    err.print(f"serving on {base}; control plane: {base}/docs")
    if not admin_token:
        err.print(f"admin token: {state / 'admin-token'}")
    if task:
        family = load_family(task)
        target = parse_length(length) if length else family.task.lengths[0]
        with _spinner() as report:
            report(f"building {family.name}")
            id_ = hosting.pool.create(task, seed, target, {})
        _show_episode(base, id_, hosting.pool.get(id_).episode.prompt, list(family.task.servers))
    serve_http(hosting, host, port)


@app.command(name="list")
def list_(
    what: Annotated[Listing, typer.Argument(help="What to list.")] = Listing.tasks,
    as_json: AsJson = False,
) -> None:
    """List servers, tasks, tools, or the clients that mcp-config knows."""
    rows = {
        Listing.servers: _servers,
        Listing.tasks: _tasks,
        Listing.tools: _tools,
        Listing.clients: _clients,
    }[what]()
    if as_json:
        _json(rows)
        return
    table = Table(*[key for key in rows[0] if key not in ("inputSchema", "annotations")]) if rows else Table()
    for row in rows:
        table.add_row(
            *[escape(str(value)) for key, value in row.items() if key not in ("inputSchema", "annotations")]
        )
    out.print(table)


@app.command(name="mcp-config")
def mcp_config(
    client: Annotated[str, typer.Option(help="Which client (see: mesocosm list clients).")],
    url: Annotated[str, typer.Option(help="URL of the episode, as in http://127.0.0.1:8321/e/<episode>.")],
    services: Annotated[
        str | None, typer.Option(help="One entry per service, separated by commas (default: one for all).")
    ] = None,
) -> None:
    """Print the MCP configuration of an episode in a client's own dialect."""
    from mesocosm.clients import client_config
    from mesocosm.service import load_service

    base = url.rstrip("/").removesuffix("/mcp")
    names = [name.strip() for name in services.split(",")] if services else []
    for name in names:
        load_service(name)
    servers = {name: f"{base}/{name}/mcp" for name in names} or {"mesocosm": f"{base}/mcp"}
    print(client_config(client, servers))


@app.command()
def schema() -> None:
    """Print the JSON schema of task files, for editors."""
    from mesocosm.task import Task

    _json({"$schema": "https://json-schema.org/draft/2020-12/schema", **Task.model_json_schema()})


@app.command()
def replay(
    run: Annotated[Path, typer.Argument(help="A run directory, or the directory of an episode.")],
    as_json: AsJson = False,
) -> None:
    """Make the calls of a run again on a fresh copy of its world; results and databases must be the same."""
    from mesocosm.replaying import replay_episode

    report = replay_episode(run / "episode" if (run / "episode").is_dir() else run)
    if as_json:
        _json(report.model_dump())
    else:
        out.print(
            f"{report.calls} calls made again: "
            + ("[green]identical[/]" if report.identical else "[red]different[/]")
        )
        for difference in report.differences:
            out.print(f"  {escape(difference)}")
    raise typer.Exit(0 if report.identical else 1)


@app.command()
def bridge(url: Annotated[str, typer.Argument(help="URL of an MCP endpoint.")]) -> None:
    """Be a stdio MCP server that passes everything on to an HTTP endpoint."""
    from mesocosm.bridge import main as run_bridge

    run_bridge(url)


# -- suite ----------------------------------------------------------------------------------------------

SuiteLengths = Annotated[str | None, typer.Option("--lengths", help="Lengths (default: each task's own).")]
SuiteSeeds = Annotated[str | None, typer.Option("--seeds", help="Seeds (default: each task's own).")]
SuiteTasks = Annotated[str | None, typer.Option("--tasks", help="Tasks, separated by commas (default: all).")]


@suite_app.command("list")
def suite_list(
    lengths: SuiteLengths = None, seeds: SuiteSeeds = None, tasks: SuiteTasks = None, as_json: AsJson = False
) -> None:
    """List the instances of the suite."""
    from mesocosm.suite import instances

    rows = [
        {"task": i.task, "length": show_length(i.length), "seed": i.seed}
        for i in instances(tasks, lengths, seeds)
    ]
    if as_json:
        _json(rows)
        return
    table = Table("task", "length", "seed")
    for row in rows:
        table.add_row(*map(str, row.values()))
    out.print(table)


@suite_app.command("build")
def suite_build(
    to: Annotated[Path, typer.Option("--out", help="Directory for the instances; what is there is kept.")],
    lengths: SuiteLengths = None,
    seeds: SuiteSeeds = None,
    tasks: SuiteTasks = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes (default: one per core).")] = None,
    as_json: AsJson = False,
) -> None:
    """Build all instances that are not there yet, on all cores."""
    from mesocosm.suite import build_all, instances

    wanted = instances(tasks, lengths, seeds)
    done = []
    with _progress(len(wanted), "building") as advance:
        for built in build_all(wanted, to, workers):
            done.append(built)
            advance(f"{built.task} {show_length(built.length)} seed {built.seed}")
    failed = [built for built in done if built.problem]
    if as_json:
        _json([built.model_dump() for built in done])
    else:
        out.print(f"{len(done) - len(failed)} of {len(done)} instances in {to}")
        for built in failed:
            out.print(
                f"[red]{built.task} {show_length(built.length)} seed {built.seed}[/]: {escape(built.problem)}"
            )
    raise typer.Exit(3 if failed else 0)


@suite_app.command("prove")
def suite_prove(
    lengths: SuiteLengths = None,
    seeds: SuiteSeeds = None,
    tasks: SuiteTasks = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes (default: one per core).")] = None,
    resume: Annotated[
        Path | None,
        typer.Option(help="A file of proofs (JSON lines): proofs in it are kept, new ones added."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Prove all instances (see: mesocosm prove)."""
    from mesocosm.suite import instances

    wanted = instances(tasks, lengths, seeds)
    _prove_jobs([(i.task, i.length, i.seed) for i in wanted], workers, as_json, resume)


# -- what the commands share ----------------------------------------------------------------------------


def _parameters(pairs: list[str] | None) -> dict[str, Any]:
    parameters: dict[str, Any] = {}
    for pair in pairs or []:
        name, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"--param {pair!r}: write NAME=VALUE")
        try:
            parameters[name] = orjson.loads(value)
        except orjson.JSONDecodeError:
            parameters[name] = value
    return parameters


def _target(length: str | None, parameters: dict[str, Any], default: int) -> int | None:
    if length is not None:
        return parse_length(length)
    return None if parameters else default


def _serve_stdio(service: str, world: Path | None) -> None:
    import anyio

    from mesocosm.protocol import serve_stdio
    from mesocosm.world import World

    if world is None:
        raise UsageError("--stdio needs --world DIR")
    folder = world / "world" if (world / "world").is_dir() else world
    with World(folder) as opened:
        if service != "all" and service not in opened.services:
            raise UsageError(f"the world has no service {service!r}; it has {', '.join(opened.services)}")
        anyio.run(serve_stdio, opened, None if service == "all" else service)


def _show_episode(base: str, id_: str, prompt: str, services: list[str]) -> None:
    err.print(f"\n[bold]episode[/] {id_}\n[bold]all services[/] {base}/e/{id_}/mcp")
    for name in services:
        err.print(f"  {name}: {base}/e/{id_}/{name}/mcp")
    err.print("\n[bold]prompt[/]")
    err.print(escape(prompt))


def _show_result(result: RunResult, directory: Path) -> None:
    colour = {"passed": "green", "failed": "yellow", "errored": "red"}[result.verdict]
    out.print(
        f"[bold {colour}]{result.verdict}[/]  reward {'-' if result.reward is None else f'{result.reward:g}'}"
    )
    for check in result.findings:
        mark = "[green]ok  [/]" if check.passed else "[red]FAIL[/]"
        out.print(f"  {mark} {check.name}" + (f"  [dim]{escape(check.detail)}[/]" if check.detail else ""))
    if result.error:
        out.print(f"[red]{escape(result.error)}[/]")
    off = f" (target {result.length:,}: {result.edl / result.length - 1:+.2%})" if result.length else ""
    out.print(f"description length  {result.edl:,} tokens{off}")
    out.print(f"tool calls          {result.tool_calls:,}")
    out.print(f"tokens delivered    {result.delivered_tokens:,}")
    if result.seconds is not None:
        out.print(f"agent time          {result.seconds:.1f} s")
    out.print(f"run directory       {directory}")


def _prove(
    tasks: list[str],
    lengths: list[int],
    seeds: list[int],
    workers: int | None,
    as_json: bool,
    resume: Path | None,
) -> NoReturn:
    from mesocosm.family import load_family

    for task in tasks:
        load_family(task)
    _prove_jobs(
        [(task, length, seed) for length in lengths for task in tasks for seed in seeds],
        workers,
        as_json,
        resume,
    )


def _prove_jobs(
    jobs: list[tuple[str, int, int]], workers: int | None, as_json: bool, resume: Path | None
) -> NoReturn:
    from mesocosm.proving import Proof, prove_jobs

    proofs: list[Proof] = []
    if resume and resume.exists():
        proofs = [
            Proof.model_validate_json(line) for line in resume.read_bytes().splitlines() if line.strip()
        ]
        proofs = [p for p in proofs if (p.task, p.length, p.seed) in jobs and not p.problems]
    done = {(proof.task, proof.length, proof.seed) for proof in proofs}
    with _progress(len(jobs), "proving") as advance:
        for _ in proofs:
            advance("")
        for proof in prove_jobs([job for job in jobs if job not in done], workers=workers):
            proofs.append(proof)
            advance(f"{proof.task} {show_length(proof.length)} seed {proof.seed}")
            if resume:
                with resume.open("ab") as file:
                    file.write(proof.model_dump_json().encode() + b"\n")
    proofs.sort(key=lambda proof: (proof.task, proof.length, proof.seed))
    if as_json:
        _json([proof.model_dump() | {"error": proof.error} for proof in proofs])
    else:
        _show_proofs(proofs)
    raise typer.Exit(1 if any(proof.problems for proof in proofs) else 0)


def _show_proofs(proofs: list[Proof]) -> None:
    table = Table(
        "task", "length", "seed", "EDL", "error", "ACL", "calls", "mutants", "build s", "prove s", ""
    )
    for p in proofs:
        mark = "[red]FAIL[/]" if p.problems else "[green]ok[/]"
        table.add_row(
            p.task, show_length(p.length), str(p.seed), f"{p.edl:,}", f"{p.error:+.2%}", f"{p.adequate:,}",
            f"{p.solver_calls:,}", str(p.mutants), f"{p.build_seconds:.1f}", f"{p.prove_seconds:.1f}", mark,
        )  # fmt: skip
    out.print(table)
    bad = [proof for proof in proofs if proof.problems]
    for proof in bad:
        out.print(f"[red]{proof.task} {show_length(proof.length)} seed {proof.seed}[/]")
        for problem in proof.problems:
            out.print(f"  {escape(problem)}")
    out.print(f"{len(proofs) - len(bad)} of {len(proofs)} instances proven")


def _servers() -> list[dict[str, Any]]:
    from mesocosm.service import load_services

    return [
        {"name": s.name, "tools": len(s.tools), "description": s.instructions}
        for s in load_services().values()
    ]


def _tasks() -> list[dict[str, Any]]:
    from mesocosm.family import family_names, load_family

    rows = []
    for name in family_names():
        task = load_family(name).task
        rows.append(
            {"name": name, "version": task.version, "title": task.title, "servers": ", ".join(task.servers)}
        )
    return rows


def _tools() -> list[dict[str, Any]]:
    from mesocosm.service import load_services

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


def _clients() -> list[dict[str, Any]]:
    from mesocosm.clients import DIALECTS

    return [{"client": name} for name in DIALECTS]


@contextmanager
def _spinner() -> Iterator[Any]:
    """Yields a function that says what is going on; silent where nobody watches."""
    if not err.is_terminal:
        yield lambda _: None
        return
    with Progress(
        SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), console=err, transient=True
    ) as bar:
        row = bar.add_task("", total=None)
        yield lambda text: bar.update(row, description=escape(text))


@contextmanager
def _progress(total: int, what: str) -> Iterator[Any]:
    """Yields a function that advances a progress bar by one; silent where nobody watches."""
    columns = (
        TextColumn(what),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=err, disable=not err.is_terminal, transient=True) as bar:
        row = bar.add_task("", total=total)
        yield lambda text: bar.update(row, advance=1, description=escape(text))


def main() -> None:
    """Run the command line; turns refusals of ours into exit code 2 and faults into 3."""
    if len(sys.argv) == 3 and sys.argv[1] == "bridge":
        # Many clients start one bridge each: not even the option parser is loaded for it.
        from mesocosm.bridge import main as run_bridge

        run_bridge(sys.argv[2])
        return
    try:
        app()
    except UsageError as error:
        err.print(f"[red]error:[/] {escape(str(error))}")
        sys.exit(2)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception:  # noqa: BLE001 - the outermost boundary: whatever got here is our fault
        err.print_exception()
        sys.exit(3)
