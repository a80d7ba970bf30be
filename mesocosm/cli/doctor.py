"""Diagnosing: doctor."""

from __future__ import annotations

import typer
from rich.markup import escape

from mesocosm.cli.application import app
from mesocosm.cli.options import AsJson
from mesocosm.cli.output import out, print_json


@app.command()
def doctor(as_json: AsJson = False) -> None:
    """Test the sandboxes for agents' code on this machine. Exit code 1 if none is sound."""
    from pydantic import ByteSize

    from mesocosm.sandbox.diagnosis import diagnose

    found = diagnose()
    if as_json:
        print_json(found.model_dump() | {"sound": found.sound})
        raise typer.Exit(0 if found.sound else 1)
    active = found.active or "[red]none: no code is run[/]"
    out.print(f"code of agents runs in: [bold]{active}[/] (asked for: {found.chosen})")
    for level in found.levels:
        mark = "[green]active[/]" if level.active else "works" if level.works else "[dim]no[/]"
        detail = escape(level.problem or level.uses or "")
        out.print(f"  {level.name:<12} {mark}  {detail}".rstrip(), soft_wrap=True)
        for lack in level.lacks:
            out.print(f"               [dim]lacks: {escape(lack)}[/]")
    out.print(f"python {found.python}; missing libraries: {', '.join(found.missing_libraries) or 'none'}")
    out.print(f"missing commands: {', '.join(found.missing_commands) or 'none'}")
    for name, value in found.settings:
        out.print(
            f"  {name:<20} {value}" + (f" ({value.human_readable()})" if isinstance(value, ByteSize) else "")
        )
    for check in found.checks:
        mark = "[green]ok  [/]" if check.passed else "[red]FAIL[/]"
        out.print(f"  {mark} {check.name}  [dim]{escape(check.detail)}[/]")
    raise typer.Exit(0 if found.sound else 1)
