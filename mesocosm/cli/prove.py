"""Proving: prove, the suite of all tasks, and suites that are held out: key, seal, seeds, reveal, verify."""

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
    trusted_in,
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


KeyFile = Annotated[Path, typer.Option("--key", help="File with the key (see: mesocosm suite key).")]
Manifest = Annotated[Path, typer.Argument(help="The manifest that suite seal wrote.")]


@suite_app.command("key")
def suite_key(file: Annotated[Path, typer.Argument(help="The file to write; must not exist yet.")]) -> None:
    """Make a secret key for held-out suites."""
    from mesocosm.families.sealed_suites import make_key

    make_key(file)
    out.print(f"{file}: a new key. Who has it can build what is sealed with it: keep it to yourself.")


@suite_app.command("seal", cls=SpreadCommand)
def suite_seal(
    suite: Annotated[str, typer.Argument(help="A name; each name is a different suite of the key.")],
    key: KeyFile,
    to: Annotated[Path, typer.Option("--out", help="The manifest to write, which may be published.")],
    count: Annotated[int, typer.Option(min=1, max=10_000, help="Instances of each task and length.")] = 5,
    lengths: SuiteLengths = None,
    tasks: SuiteTasks = None,
    workers: Workers = None,
    ray: Ray = None,
    trust: Trust = False,
    as_json: AsJson = False,
) -> None:
    """Seal a suite: derive its seeds from a key, and write a manifest with only a digest of each instance."""
    from mesocosm.families.sealed_suites import digests, seal, secret_of, seed_of
    from mesocosm.families.suite import instances

    trusted(trust, tasks)
    secret = secret_of(key, suite)
    seeds = ",".join(str(seed_of(secret, number)) for number in range(count))
    wanted = instances(tasks, lengths, seeds)
    built = []
    with workers_for(workers, ray, len(wanted)) as they, progress(len(wanted), "sealing") as advance:
        for one, digest, version in digests(wanted, they):
            built.append((one, digest, version))
            advance(f"{one.task} {show_length(one.length)}")
    manifest = seal(suite, secret, built, count)
    to.write_text(manifest.model_dump_json(indent=1) + "\n", encoding="utf-8")
    if as_json:
        print_json(manifest.model_dump())
    else:
        out.print(
            f"{to}: {len(built)} instances; evaluate with the seeds of: mesocosm suite seeds {to} --key {key}"
        )


@suite_app.command("seeds")
def suite_seeds(manifest: Manifest, key: KeyFile, as_json: AsJson = False) -> None:
    """Print the seeds of a sealed suite, in the format of --seeds. They are secret."""
    from mesocosm.families.sealed_suites import Sealed, instances_of, read, secret_of

    found = read(manifest, Sealed)
    seeds = sorted({one.seed for one in instances_of(found, secret_of(key, found.suite))})
    if as_json:
        print_json(seeds)
    else:
        print(",".join(map(str, seeds)))


@suite_app.command("reveal")
def suite_reveal(
    manifest: Manifest, key: KeyFile, to: Annotated[Path, typer.Option("--out", help="The file to publish.")]
) -> None:
    """Write the secret of one sealed suite, so that anybody can verify it; the key stays secret."""
    from mesocosm.families.sealed_suites import Revealed, Sealed, read, secret_of

    found = read(manifest, Sealed)
    secret = secret_of(key, found.suite)
    found.check(secret)
    to.write_text(Revealed(suite=found.suite, secret=secret.hex()).model_dump_json() + "\n", encoding="utf-8")
    out.print(f"{to}: the secret of {found.suite}; verify with: mesocosm suite verify {manifest} {to}")


@suite_app.command("verify", cls=SpreadCommand)
def suite_verify(
    manifest: Manifest,
    revealed: Annotated[Path, typer.Argument(help="The file that suite reveal wrote.")],
    sample: Annotated[
        int | None, typer.Option(min=1, help="Number of instances to check, spread over all.")
    ] = None,
    workers: Workers = None,
    ray: Ray = None,
    trust: Trust = False,
    as_json: AsJson = False,
) -> None:
    """Rebuild a revealed suite and compare it with the published manifest."""
    from mesocosm.families.sealed_suites import Revealed, Sealed, digests, instances_of, read

    trusted_in(trust, manifest)
    sealed = instances_of(read(manifest, Sealed), bytes.fromhex(read(revealed, Revealed).secret))
    wanted = list(sealed)
    if sample and sample < len(wanted):
        wanted = [wanted[len(wanted) * place // sample] for place in range(sample)]
    rows = []
    with workers_for(workers, ray, len(wanted)) as they, progress(len(wanted), "verifying") as advance:
        for one, digest, version in digests(wanted, they):
            told = sealed[one]
            verdict = "same" if digest == told.digest else "differs"
            if version != told.version:
                verdict = f"version {version} here, sealed with {told.version}"
            rows.append({"task": one.task, "length": one.length, "seed": one.seed, "result": verdict})
            advance(f"{one.task} {show_length(one.length)}")
    rows.sort(key=lambda row: (str(row["task"]), row["length"], row["seed"]))
    if as_json:
        print_json(rows)
    else:
        table = Table("task", "length", "seed", "result")
        for row in rows:
            table.add_row(
                str(row["task"]), show_length(int(str(row["length"]))), str(row["seed"]), str(row["result"])
            )
        out.print(table)
    raise typer.Exit(0 if all(row["result"] == "same" for row in rows) else 1)
