"""The command line. Exit codes: 0 passed (or done), 1 failed, 2 wrong usage, 3 errored (a fault of ours),
130 interrupted."""

from __future__ import annotations

import os
import sys
from importlib import import_module

from rich.markup import escape

from mesocosm.cli.application import app
from mesocosm.cli.output import err
from mesocosm.errors import UsageError

_ALONE = {"lint": "task_files", "new": "task_files"}
"""Commands that are used again and again while a file is written, and the modules that add them: they start
in half the time when the others are not loaded."""


def main() -> None:
    """Run the command line; turns refusals of ours into exit code 2 and faults into 3."""
    try:
        import_module(f"mesocosm.cli.{_ALONE.get(sys.argv[1] if sys.argv[1:] else '', 'commands')}")
        app()
    except UsageError as error:
        err.print(f"[red]error:[/] {escape(str(error))}")
        sys.exit(2)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        err.print("[yellow]interrupted[/]")
        sys.exit(130)
    except Exception as fault:  # noqa: BLE001 - the outermost boundary: whatever got here is our fault
        _say(fault)
        sys.exit(3)


def _say(fault: Exception) -> None:
    """One line on a fault of ours; a file has the traceback."""
    import tempfile
    import traceback

    from mesocosm.evaluation.reasons import explain
    from mesocosm.worlds.error_mapping import is_no_room

    if is_no_room(fault):
        err.print(f"[red]error:[/] {escape(explain(fault))}")
        return
    line = f"[red]a fault of Mesocosm's:[/] {escape(explain(fault))}"
    try:
        with tempfile.NamedTemporaryFile("w", prefix="mesocosm-fault-", suffix=".txt", delete=False) as file:
            file.write("".join(traceback.format_exception(fault)))
    except OSError:
        err.print(line)
        return
    err.print(f"{line}\nPlease report it with {file.name}, which has the traceback")
