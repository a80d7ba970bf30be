"""Running code for servers: code-runner."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from mesocosm.cli.application import app
from mesocosm.cli.output import err


class Walls(StrEnum):
    """Isolation of jobs."""

    auto = "auto"
    bubblewrap = "bubblewrap"
    slots = "slots"


@app.command(name="code-runner")
def code_runner(
    listen: Annotated[
        str, typer.Option(envvar="MESOCOSM_CODE_RUNNER_LISTEN", help="HOST:PORT, or unix:PATH.")
    ] = "127.0.0.1:8322",
    token_file: Annotated[
        Path | None, typer.Option(help="File with the token (or set MESOCOSM_CODE_RUNNER_TOKEN).")
    ] = None,
    walls: Annotated[
        Walls,
        typer.Option(help="Isolation of jobs: bubblewrap, slots, or the first of them that works."),
    ] = Walls.auto,
) -> None:
    """Run code for servers that have MESOCOSM_CODE_RUNNER set, in a container that holds no worlds."""
    import signal
    import sys
    import tempfile

    from mesocosm.sandbox.levels import runner_token
    from mesocosm.sandbox.runner import CodeRunner, choose, listen_at, serve
    from mesocosm.worlds.log_format import report_with_time

    # So that what it made is removed; uvicorn passes the signal on when it has shut down.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    report_with_time()
    token = runner_token(str(token_file) if token_file else None)
    with listen_at(listen) as listener, tempfile.TemporaryDirectory(prefix="mesocosm-runner-") as folder:
        rooms = choose(walls.value, Path(folder))
        runner = CodeRunner(rooms, Path(folder), token)
        err.print(f"code runner on {listen}; jobs are kept apart by: {rooms.name}; at once: {runner.jobs}")
        serve(runner.app, listener)
