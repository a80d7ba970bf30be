"""Proving: prove, and the suite of all tasks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from rich.markup import escape
from rich.table import Table

from mesocosm.cli.application import app
from mesocosm.cli.options import (
    AsJson,
    Disturb,
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
from mesocosm.cli.output import out, print_json, progress, show_proofs
from mesocosm.families.quantities import parse_lengths, parse_seeds, show_length

if TYPE_CHECKING:
    from mesocosm.families.workers.workers import Workers as WorkersThemselves

suite_app = typer.Typer(no_args_is_help=True, help="Work on all tasks at their preset lengths and seeds.")
app.add_typer(suite_app, name="suite")


Resume = Annotated[
    Path | None, typer.Option(help="A file of proofs (JSON lines): its proofs are kept, new ones are added.")
]


@app.command(cls=SpreadCommand)
def prove(
    task: Annotated[list[str], typer.Argument(help="Names of tasks, or paths of their YAML files.")],
    lengths: Annotated[str, typer.Option(help="Lengths, separated by commas.")] = "8k",
    seeds: Annotated[str, typer.Option(help="Seeds: 0, 0-4 or 1,7.")] = "0",
    param: Parameter = None,
    disturb: Disturb = "",
    workers: Workers = None,
    ray: Ray = None,
    resume: Resume = None,
    report: Annotated[
        bool,
        typer.Option(
            "--report",
            help="Also list what an agent must know and where it is written, the near misses and what "
            "distinguishes them, and the mistakes that were tried.",
        ),
    ] = False,
    trust: Trust = False,
    as_json: AsJson = False,
) -> None:
    """Prove instances: the length is right, the same seed gives the same bytes, the reference solver scores
    1, doing nothing and every mutant score 0, and the answer can be found: by a solver that reads, or by
    tracing each needed value to a text. With --disturb: a solver with retries still passes.
    """
    from mesocosm.families.disturbances import read_disturb
    from mesocosm.families.family import load_family

    trusted(trust, *task)
    for name in task:
        load_family(name)
    jobs = [
        (name, length, seed)
        for length in parse_lengths(lengths)
        for name in task
        for seed in parse_seeds(seeds)
    ]
    they = workers_for(workers, ray, len(jobs))
    parameters, how = read_parameters(param), read_disturb(disturb)
    _prove_jobs(jobs, they, as_json, resume=resume, parameters=parameters, disturb=how, report=report)


@suite_app.command("list")
def suite_list(
    lengths: SuiteLengths = None,
    seeds: SuiteSeeds = None,
    tasks: SuiteTasks = None,
    preset: SuitePreset = None,
    as_json: AsJson = False,
) -> None:
    """List the instances of the suite."""
    from mesocosm.families.suite import instances

    rows = [
        {"task": i.task, "length": show_length(i.length), "seed": i.seed}
        for i in instances(tasks, lengths, seeds, preset)
    ]
    if as_json:
        print_json(rows)
        return
    table = Table("task", "length", "seed")
    for row in rows:
        table.add_row(*map(str, row.values()))
    out.print(table)


@suite_app.command("build", cls=SpreadCommand)
def suite_build(
    to: Annotated[Path, typer.Option("--out", help="Directory for the instances; existing ones are kept.")],
    lengths: SuiteLengths = None,
    seeds: SuiteSeeds = None,
    tasks: SuiteTasks = None,
    preset: SuitePreset = None,
    workers: Workers = None,
    ray: Ray = None,
    trust: Trust = False,
    as_json: AsJson = False,
) -> None:
    """Build all missing instances, on all cores or on a cluster."""
    from mesocosm.families.suite import build_all, instances

    trusted(trust, tasks)
    wanted = instances(tasks, lengths, seeds, preset)
    done = []
    with workers_for(workers, ray, len(wanted)) as they, progress(len(wanted), "building") as advance:
        for built in build_all(wanted, to, they):
            done.append(built)
            advance(f"{built.task} {show_length(built.length)} seed {built.seed}")
    failed = [built for built in done if built.problem]
    if as_json:
        print_json([built.model_dump() for built in done])
    else:
        out.print(f"{len(done) - len(failed)} of {len(done)} instances in {to}")
        for built in failed:
            out.print(
                f"[red]{built.task} {show_length(built.length)} seed {built.seed}[/]: {escape(built.problem)}"
            )
    raise typer.Exit(3 if failed else 0)


@suite_app.command("prove", cls=SpreadCommand)
def suite_prove(
    lengths: SuiteLengths = None,
    seeds: SuiteSeeds = None,
    tasks: SuiteTasks = None,
    preset: SuitePreset = None,
    disturb: Disturb = "",
    workers: Workers = None,
    ray: Ray = None,
    resume: Resume = None,
    trust: Trust = False,
    as_json: AsJson = False,
) -> None:
    """Prove all instances (see: mesocosm prove)."""
    from mesocosm.families.disturbances import read_disturb
    from mesocosm.families.suite import instances

    trusted(trust, tasks)
    how = read_disturb(disturb)
    wanted = instances(tasks, lengths, seeds, preset)
    parameters = dict(wanted[0].parameters) if wanted else {}
    they = workers_for(workers, ray, len(wanted))
    jobs = [(i.task, i.length, i.seed) for i in wanted]
    _prove_jobs(jobs, they, as_json, resume=resume, parameters=parameters, disturb=how)


def _prove_jobs(
    jobs: list[tuple[str, int, int]],
    workers: WorkersThemselves,
    as_json: bool,
    *,
    resume: Path | None = None,
    parameters: dict[str, Any] | None = None,
    disturb: str = "",
    report: bool = False,
) -> NoReturn:
    from mesocosm.families.proofs import Proof, prove_jobs

    proofs: list[Proof] = []
    if resume and resume.exists():
        proofs = [Proof.model_validate_json(line) for line in _whole_lines(resume) if line.strip()]
        alike = [p for p in proofs if (p.parameters, p.disturb) == (parameters or {}, disturb)]
        proofs = [p for p in alike if not p.problems and (p.task, p.length, p.seed) in jobs]
    done = {(proof.task, proof.length, proof.seed) for proof in proofs}
    with workers, progress(len(jobs), "proving") as advance:
        for _ in proofs:
            advance("")
        missing = [job for job in jobs if job not in done]
        for proof in prove_jobs(missing, workers, parameters, disturb, report=report):
            proofs.append(proof)
            advance(f"{proof.task} {show_length(proof.length)} seed {proof.seed}")
            if resume:
                with resume.open("ab") as file:
                    file.write(proof.model_dump_json().encode() + b"\n")
    proofs.sort(key=lambda proof: (proof.task, proof.length, proof.seed))
    if as_json:
        print_json(
            [proof.model_dump() | {"error": proof.error, "verdict": proof.verdict} for proof in proofs]
        )
    else:
        show_proofs(proofs)
    raise typer.Exit(1 if any(proof.problems for proof in proofs) else 0)


def _whole_lines(path: Path) -> list[bytes]:
    """The lines of a file; one that was cut off while it was written is taken away."""
    data = path.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if whole != data:
        from mesocosm.worlds.workspace import replace_file

        replace_file(path, whole)
    return whole.splitlines()
