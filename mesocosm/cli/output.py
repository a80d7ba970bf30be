"""Output of the commands: JSON for machines, tables and progress for people."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from rich.box import MARKDOWN
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

from mesocosm.families.quantities import show_length

if TYPE_CHECKING:
    from mesocosm.evaluation.runs import RunResult
    from mesocosm.families.exposure.measurement import Exposure, ExposureEstimate, FamilyExposure
    from mesocosm.families.exposure.sentences import SentenceExposure
    from mesocosm.families.faults import Fault
    from mesocosm.families.proofs import Proof

out = Console(soft_wrap=True)
err = Console(stderr=True, soft_wrap=True)
if not out.is_terminal:
    out.width = 160  # a file or a pipe has no width; tables should not be cut to that of an old terminal


def print_json(data: Any) -> None:
    sys.stdout.buffer.write(orjson.dumps(data) + b"\n")
    sys.stdout.flush()


def show_result(result: RunResult, directory: Path) -> None:
    colour = {"passed": "green", "failed": "yellow", "errored": "red"}[result.verdict]
    out.print(
        f"[bold {colour}]{result.verdict}[/]  reward {'-' if result.reward is None else f'{result.reward:g}'}"
    )
    for check in result.findings:
        mark = "[green]ok  [/]" if check.passed else "[red]FAIL[/]"
        out.print(f"  {mark} {check.name}" + (f"  [dim]{escape(check.detail)}[/]" if check.detail else ""))
    if result.error:
        from mesocosm.evaluation.reasons import reason_of

        kept = directory / "fault.txt"
        more = f"  [dim]({kept} has the whole)[/]" if kept.is_file() else ""
        out.print(f"[red]errored:[/] {escape(reason_of(result.error))}{more}")
    for fault in result.faults:
        out.print(f"[red]fault {fault.fingerprint}[/]  {escape(fault_line(fault))}")
    off = f" (target {result.length:,}: {result.edl / result.length - 1:+.2%})" if result.length else ""
    out.print(f"description length  {result.edl:,} tokens{off}")
    out.print(f"tool calls          {result.tool_calls:,}")
    out.print(f"tokens delivered    {result.delivered_tokens:,}")
    if result.measures:
        out.print(f"measures            {', '.join(f'{n} {v:,}' for n, v in result.measures.items())}")
    if result.steps and result.step_accuracy is not None:
        out.print(
            f"step accuracy       {result.step_accuracy:.1%} ({result.steps.optimal_calls:,} of "
            f"{result.steps.calls:,} calls were among the best)"
        )
    if talk := result.conversation:
        out.print(
            f"conversation        {talk.ended or 'cut off'} after {talk.turns:,} turns, {talk.rounds:,} with "
            f"calls, {talk.failed_rounds:,} of these in vain"
        )
        out.print(f"model tokens        {talk.input_tokens:,} in, {talk.output_tokens:,} out")
    if result.seconds is not None:
        out.print(f"agent time          {result.seconds:.1f} s")
    out.print(f"run directory       {directory}")


def fault_line(fault: Fault) -> str:
    """Describe an internal error: its kind, its place and how often it occurred."""
    times = f", {fault.count:,} times" if fault.count > 1 else ""
    return f"{fault.kind}{times}; first: {fault.first}"


def show_proofs(proofs: list[Proof]) -> None:
    disturbed = any(proof.disturb for proof in proofs)
    kind = "disturbed" if disturbed else "mutants"
    table = Table("task", "length", "seed", "EDL", "error", "ACL", "calls", kind, "build s", "prove s", "")
    for p in proofs:
        mark = f"[{'red' if p.problems else 'green'}]{p.verdict.removeprefix('proven ')}[/]"
        number = p.disturbed if disturbed else p.mutants
        table.add_row(
            p.task, show_length(p.length), str(p.seed), f"{p.edl:,}", f"{p.error:+.2%}", f"{p.adequate:,}",
            f"{p.solver_calls:,}", str(number), f"{p.build_seconds:.1f}", f"{p.prove_seconds:.1f}", mark,
        )  # fmt: skip
    out.print(table)
    bad = [proof for proof in proofs if proof.problems]
    for proof in bad:
        out.print(f"[red]{proof.task} {show_length(proof.length)} seed {proof.seed}[/]")
        for problem in proof.problems:
            out.print(f"  {escape(problem)}")
    for proof in proofs:
        if proof.derivations:
            out.print(
                f"[bold]{proof.task} {show_length(proof.length)} seed {proof.seed}[/]: what must be known"
            )
            for line in proof.derivations:
                out.print(f"  {escape(line)}", highlight=False)
        if proof.near_misses:
            out.print("what does not count, and what tells it apart")
            for line in proof.near_misses:
                out.print(f"  {escape(line)}", highlight=False)
        if proof.derivations and proof.applied:
            out.print(f"near misses that fail ({len(proof.applied)})")
            for line in proof.applied:
                out.print(f"  {escape(line)}", highlight=False)
    for proof in proofs:
        for line in proof.lacking:
            label = f"{proof.task} {show_length(proof.length)} seed {proof.seed}"
            out.print(f"{label}: {line} in this instance", highlight=False)
    ways = sorted({proof.verdict for proof in proofs if not proof.problems})
    how = " and ".join(way.removeprefix("proven ") for way in ways)
    out.print(f"{len(proofs) - len(bad)} of {len(proofs)} instances proven {how}".rstrip())


def show_episode(base: str, id_: str, prompt: str, services: list[str], apis: list[str]) -> None:
    err.print(f"\n[bold]episode[/] {id_}\n[bold]all services[/] {base}/e/{id_}/mcp")
    for name in services:
        err.print(f"  {name}: {base}/e/{id_}/{name}/mcp")
    if apis:
        err.print("[bold]vendors' own APIs[/] (the token is the episode's id)")
    for name in apis:
        err.print(f"  {name}: {base}/e/{id_}/{name}")
    err.print("\n[bold]prompt[/]")
    err.print(escape(prompt))


_FEW = 50
"""Items of one instance of which an AUC is by chance as far from the family's as the targets are from .5."""


def show_exposure(exposure: Exposure, edl: int) -> None:
    """Print what a filter trained on other instances can skip."""
    held = exposure.evidence_tokens
    shown = {
        "items": f"{exposure.items:,}, {exposure.evidence_items:,} with evidence",
        "tokens of the items with evidence": f"{held:,}, {held / edl:.1%}",
        "skippable share": f"{exposure.skippable:.2f}",
        "where evidence is of its kind": f"{exposure.skippable_alike:.2f}",
        "AUC of the text": _auc(exposure.auc_text),
        "AUC of everything but the text": _auc(exposure.auc_without_text),
    }
    if exposure.worst:
        shown["tells most by itself"] = f"{exposure.worst.name} ({exposure.worst.auc:.2f})"
    out.print("[bold]exposure[/] (a filter trained on other seeds, keeping 99 % of the evidence)")
    for name, value in shown.items():
        out.print(f"  {name:<35}{escape(value)}")
    if exposure.beyond:
        out.print("[red]beyond the targets[/]: " + escape("; ".join(exposure.beyond)), highlight=False)
    else:
        out.print("[green]within the targets[/] (skippable .40, AUC without text .60, of one fact .60)")
    if exposure.evidence_items < _FEW:
        few = (
            f"{exposure.evidence_items} items with evidence say little: suite exposure measures several seeds"
        )
        out.print(few, highlight=False)
    if exposure.sentences:
        show_sentences(exposure.sentences)


def show_sentences(exposure: SentenceExposure) -> None:
    """Print which share of the messages can be skipped, sentence by sentence."""
    shown = {
        "sentences": f"{exposure.sentences:,}, {exposure.tokens:,} tokens",
        "a filter of sentences drops": f"{exposure.by_sentence:.2f}",
        "a filter of runs of three drops": f"{exposure.by_run:.2f}",
        "one that knows what is told drops": f"{exposure.by_knowing:.2f}",
    }
    for rule, (drops, loses) in exposure.rules.items():
        shown[f"a reader of {rule}"] = f"drops {drops:.2f}, loses {loses:.2f} of the evidence"
    shown["first names met again"] = f"{exposure.first_names_met_again:.2f}"
    shown["runs of eight words met twice"] = f"{exposure.repeated_runs:.3f}"
    out.print("[bold]exposure by sentence[/] (filters trained on scenes that are not here, keeping 98 %)")
    for name, value in shown.items():
        out.print(f"  {name:<40}{escape(value)}")


def show_exposures(measured: list[tuple[str, int, FamilyExposure]]) -> None:
    """A table in Markdown: a task at a length a row, with the mean of its instances and a 95 % interval."""
    columns = (
        "task",
        "length",
        "instances",
        "skippable",
        "of its kind",
        "AUC of the text",
        "AUC without text",
    )
    told = any(one.sentences for _, _, one in measured)
    table = Table(*columns, "worst single fact", *(_OF_SENTENCES if told else ()), box=MARKDOWN)
    for task, length, one in measured:
        measures = (one.skippable, one.skippable_alike, one.auc_text, one.auc_without_text)
        figures = [_estimate(figure) for figure in measures]
        worst = ""
        if one.worst:
            sure = "" if one.worst_error is None else f" ± {one.worst_error:.2f}"
            worst = escape(f"{one.worst.auc:.2f}{sure} `{one.worst.name}`")
        by_sentence = [""] * len(_OF_SENTENCES) if told else []
        if told and (found := one.sentences):
            shares = (found.by_sentence, found.by_run, found.by_knowing)
            by_sentence = [*(f"{share:.2f}" for share in shares), f"{found.repeated_runs:.3f}"]
        table.add_row(f"`{task}`", show_length(length), str(one.instances), *figures, worst, *by_sentence)
    out.print(table)


_OF_SENTENCES = ("by sentence", "by runs of three", "by knowing", "repeated runs")


def _estimate(figure: ExposureEstimate | None) -> str:
    if figure is None:
        return ""
    return f"{figure.mean:.2f}" + ("" if figure.error is None else f" ± {figure.error:.2f}")


def _auc(value: float | None) -> str:
    return "none: all items hold evidence" if value is None else f"{value:.2f}"


@contextmanager
def spinner() -> Iterator[Callable[[str], None]]:
    """Yield a function that reports progress; silent without a terminal."""
    if not err.is_terminal:
        yield lambda _: None
        return
    with Progress(
        SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), console=err, transient=True
    ) as bar:
        row = bar.add_task("", total=None)
        yield lambda text: bar.update(row, description=escape(text))


@contextmanager
def progress(total: int, what: str) -> Iterator[Callable[[str], None]]:
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
