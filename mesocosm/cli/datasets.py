"""Writing datasets: dataset lore, dataset longproc, dataset agentlongbench."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from mesocosm.cli.application import app
from mesocosm.cli.options import (
    AsJson,
    Parameter,
    Ray,
    Seed,
    SpreadCommand,
    Workers,
    read_chances,
    read_parameters,
    workers_for,
)
from mesocosm.cli.output import out, print_json, progress
from mesocosm.errors import UsageError
from mesocosm.families.quantities import parse_counts, parse_lengths, parse_seeds, show_length

dataset_app = typer.Typer(
    no_args_is_help=True, help="Write instances as JSON lines, for use without this program."
)
app.add_typer(dataset_app, name="dataset")


@dataset_app.command("lore", cls=SpreadCommand)
def lore(
    domain: Annotated[str, typer.Option(help="documents, multimodal or code.")],
    to: Annotated[Path, typer.Option("--out", help="The file to write (.jsonl); must not exist yet.")],
    n: Annotated[str, typer.Option("--n", help="Operations: 20, 1-350, 10-100:10 (every tenth), 1,5,50.")],
    seeds: Annotated[str, typer.Option(help="Seeds for each N: 0, 0-4 or 1,7.")] = "0",
    hard: Annotated[bool, typer.Option("--hard", help="The hard variant of the domain.")] = False,
    expert: Annotated[
        bool, typer.Option("--expert", help="The expert variant: documents and code, errors are silent.")
    ] = False,
    param: Parameter = None,
    workers: Workers = None,
    ray: Ray = None,
    as_json: AsJson = False,
) -> None:
    """Write dependency-tree tasks: prompt, tools, files, answer, N and height of each.

    A line holds the same instance as `mesocosm build TASK --param operations=N --seed S` builds.
    """
    from mesocosm.kits.weaving.datasets import STANDARD, find_task, write_dataset

    if hard and expert:
        raise UsageError("--hard and --expert are two variants: give one of them")
    family = find_task("lore", domain, "hard" if hard else "expert" if expert else STANDARD)
    operations, wanted, parameters = parse_counts(n), parse_seeds(seeds), read_parameters(param)
    sizes = []
    count = len(set(operations)) * len(set(wanted))
    with workers_for(workers, ray, count) as they, progress(count, "writing") as advance:
        for size in write_dataset(family, operations, wanted, parameters, to, they):
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


@dataset_app.command("longproc", cls=SpreadCommand)
def longproc(
    to: Annotated[
        Path, typer.Option("--out", help="The file to write (.jsonl), or the folder for --format upstream.")
    ],
    procedures: Annotated[
        str,
        typer.Option(
            "--procedure",
            help="Procedures, separated by commas: tables (or html_to_tsv, as the paper says), ...; or all.",
        ),
    ] = "all",
    levels: Annotated[
        str, typer.Option("--level", help="Output tokens, separated by commas: 0.5k,2k,8k, up to 128k.")
    ] = "0.5k,2k,8k",
    seeds: Annotated[str, typer.Option(help="Seeds for each level: 0, 0-99 or 1,7.")] = "0-4",
    prompting: Annotated[
        Literal["full", "pairs", "segments"],
        typer.Option(
            help="full: the procedure with examples; pairs: countdown and travel with examples only; "
            "segments: routes and beliefs in four parts, each with the text before it."
        ),
    ] = "full",
    row_format: Annotated[
        Literal["clean", "upstream"],
        typer.Option("--format", help="One file of our rows, or a folder for the benchmark's own loader."),
    ] = "clean",
    workers: Workers = None,
    ray: Ray = None,
    as_json: AsJson = False,
) -> None:
    """Write long procedures (LongProc): prompt, right answer and what scoring needs, at any output length."""
    from mesocosm.kits.procedures import make_instance, procedure_names, read_procedures
    from mesocosm.kits.procedures.rows import rows, write_rows
    from mesocosm.kits.procedures.upstream import check_levels, readable, write_folder

    names = procedure_names() if procedures == "all" else read_procedures(procedures.split(","))
    if row_format == "upstream" and procedures == "all":
        names.remove("programs")  # which upstream has in C++ only
    if row_format == "upstream" and prompting != "full":
        raise UsageError("upstream's format has no prompts: --prompting goes with --format clean")
    lengths, wanted = list(dict.fromkeys(parse_lengths(levels))), list(dict.fromkeys(parse_seeds(seeds)))
    at = dict.fromkeys(names, lengths)
    if row_format == "upstream":
        at = {name: readable(name, lengths) if procedures == "all" else lengths for name in names}
        for name in names:
            check_levels(name, at[name])
    count, files = sum(map(len, at.values())) * len(wanted), [to]
    if row_format == "clean":
        with workers_for(workers, ray, count) as they, progress(count, "writing") as advance:
            for _ in write_rows(rows(names, lengths, wanted, they, prompting), to):
                advance("")
    else:
        files = []
        for name in filter(at.get, names):
            made = [make_instance(name, level, seed) for level in at[name] for seed in wanted]
            files += write_folder(name, made, to)
    if as_json:
        paths = [str(path) for path in files]
        print_json({"paths": paths, "procedures": names, "levels": lengths, "instances": count})
    else:
        shown = ", ".join(map(show_length, lengths))
        out.print(f"{count:,} instances ({', '.join(names)} at {shown} output tokens) in {to}")
        for name in names:
            if left := [level for level in lengths if level not in at[name]]:
                out.print(
                    f"without {name} at {', '.join(map(show_length, left))}: its loader has no such level"
                )


@dataset_app.command("agentlongbench", cls=SpreadCommand)
def agentlongbench(
    to: Annotated[Path, typer.Option("--out", help="The folder to write; must not exist yet.")],
    lengths: Annotated[
        str, typer.Option(help="Buckets: 32k-4m (32k, 64k and so on to 4m), or a list such as 32k,128k.")
    ] = "32k-4m",
    settings: Annotated[str, typer.Option(help="ki (words), kf (symbols), or both.")] = "ki,kf",
    formats: Annotated[
        str, typer.Option(help="c (concise: one list per call), v (verbose: one per section), or both.")
    ] = "c,v",
    per_type: Annotated[
        int, typer.Option(min=1, help="Questions of each of the eight types per bucket.")
    ] = 25,
    seed: Seed = 0,
    items: Annotated[
        int | None,
        typer.Option(help="Creatures of the encyclopaedia (default: 1,000 concise, 2,000 verbose)."),
    ] = None,
    counts: Annotated[
        Literal["even", "paper"],
        typer.Option(
            help="Number of questions: --per-type of each type, or as in the paper's Tables 3 to 6."
        ),
    ] = "even",
    entities: Annotated[
        Path | None,
        typer.Option(
            help="Creatures of your own for the setting ki: JSON lines or CSV with name, Type, Base Stats, "
            "Generation, Abilities, Evolution, Habitat (several values: a list, or separated by ;)."
        ),
    ] = None,
    behaviour: Annotated[
        list[str] | None,
        typer.Option(
            "--param",
            help="Behaviour of the simulated player, NAME=VALUE: history_window, forget_history_prob, "
            "mask_prob, max_mask_sections, epsilon, min_share, max_share; repeatable.",
        ),
    ] = None,
    upstream: Annotated[
        str,
        typer.Option(
            help="Also write AgentLongBench's own format: none, answers (for its scorer), full (every "
            "row with its whole history)."
        ),
    ] = "none",
    workers: Workers = None,
    ray: Ray = None,
    as_json: AsJson = False,
) -> None:
    """Write rollouts of a guessing game, with questions, answers and evidence."""
    from mesocosm.kits.rollouts.dataset_files import write_dataset
    from mesocosm.kits.rollouts.options import read_plan, read_upstream

    plan = read_plan(
        lengths=lengths,
        settings=settings,
        formats=formats,
        per_type=per_type,
        seed=seed,
        items=items,
        counts=counts,
        entities=str(entities) if entities else None,
        behaviour=read_parameters(behaviour),
    )
    summary = None
    form = read_upstream(upstream)
    count = len(plan.jobs)
    with workers_for(workers, ray, count) as they, progress(count, "writing") as advance:
        for written in write_dataset(plan, to, they, upstream=form):
            summary = written
            advance("")
    assert summary
    if as_json:
        print_json(summary.model_dump())
    else:
        out.print(
            f"{summary.questions:,} questions about {summary.trajectories:,} trajectories in {to} "
            f"({summary.tokens:,} tokens, {summary.bytes:,} bytes)"
        )


@dataset_app.command("lumina", cls=SpreadCommand)
def lumina(
    to: Annotated[Path, typer.Option("--out", help="The file to write (.jsonl); must not exist yet.")],
    tasks: Annotated[
        str, typer.Option("--tasks", help="Worlds, separated by commas.")
    ] = "listworld,treeworld,gridworld",
    horizons: Annotated[
        str, typer.Option(help="Calls that an optimal policy needs: 10, 10-100:10, 10,30,100.")
    ] = "10,30,100",
    seeds: Annotated[str, typer.Option(help="Seeds for each horizon: 0, 0-4 or 1,7.")] = "0",
    players: Annotated[
        str | None,
        typer.Option(help="Add a trajectory of a player for each of these probabilities: 1,0.9,0."),
    ] = None,
    dense: Annotated[
        bool,
        typer.Option(
            "--dense", help="Also reward each optimal step (with its share of 1), not only the end."
        ),
    ] = False,
    workers: Workers = None,
    ray: Ray = None,
    as_json: AsJson = False,
) -> None:
    """Write worlds with known optimal play: prompt, tools, the whole world, and trajectories of scripted
    players.
    """
    from mesocosm.evaluation.trajectories import write_dataset

    names = [name.strip() for name in tasks.split(",")]
    counts, wanted = parse_counts(horizons), parse_seeds(seeds)
    chances = read_chances(players) if players else []
    if dense and not chances:
        raise UsageError("--dense is about the steps of --players, and goes with it")
    sizes = []
    total = len(names) * len(set(counts)) * len(set(wanted))
    with workers_for(workers, ray, total) as they, progress(total, "writing") as advance:
        for size in write_dataset(names, counts, wanted, chances, dense, to, they):
            sizes.append(size)
            advance("")
    if as_json:
        print_json({"path": str(to), "tasks": names, "instances": len(sizes), "bytes": sum(sizes)})
    else:
        out.print(f"{len(sizes):,} instances in {to} ({sum(sizes):,} bytes)")
