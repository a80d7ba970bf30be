"""Suites that are held out: key, seal, seeds, reveal, verify."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from mesocosm.cli.options import (
    AsJson,
    Ray,
    SpreadCommand,
    SuiteLengths,
    SuiteTasks,
    Trust,
    Workers,
    trusted,
    trusted_in,
    workers_for,
)
from mesocosm.cli.output import out, print_json, progress
from mesocosm.cli.prove import suite_app
from mesocosm.families.quantities import show_length

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
