"""The command line. Exit codes: 0 passed (or done), 1 failed, 2 wrong usage, 3 errored (a fault of ours)."""

from __future__ import annotations

import os
import sys

from rich.markup import escape

from mesocosm.cli import (
    building,
    checking,
    code_running,
    datasets,
    diagnosing,
    evaluating,
    proving,
    reports,
    running,
    scoring,
    serving,
    viewing,
    writing,
)
from mesocosm.cli.application import app
from mesocosm.cli.output import err
from mesocosm.errors import UsageError

__all__ = [
    "building",
    "checking",
    "code_running",
    "datasets",
    "diagnosing",
    "evaluating",
    "main",
    "proving",
    "reports",
    "running",
    "scoring",
    "serving",
    "viewing",
    "writing",
]


def main() -> None:
    """Run the command line; turns refusals of ours into exit code 2 and faults into 3."""
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
        err.print_exception(width=110, max_frames=12)
        sys.exit(3)
