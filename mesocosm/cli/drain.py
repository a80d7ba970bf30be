"""Draining a server: drain."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer

from mesocosm.cli.application import app
from mesocosm.cli.options import AdminToken, AsJson
from mesocosm.cli.output import out, print_json
from mesocosm.errors import UsageError

_LOOKED_EVERY = 1.0
STILL_BUSY = 3
"""Exit code where calls or episodes still went on when the time was over."""


@app.command()
def drain(
    url: Annotated[
        str, typer.Option(envvar="MESOCOSM_URL", help="URL of the server.")
    ] = "http://127.0.0.1:8321",
    admin_token: AdminToken = None,
    wait: Annotated[
        str | None,
        typer.Option(help="Wait until nothing runs, at most this long (90s, 2h); else exit code 3."),
    ] = None,
    quiet: Annotated[
        str, typer.Option(help="An episode without a call for this long counts as idle.")
    ] = "10m",
    undo: Annotated[bool, typer.Option("--undo", help="End the draining.")] = False,
    as_json: AsJson = False,
) -> None:
    """Stop a server from making new episodes while existing ones continue, and report what still runs."""
    import mesocosm
    from mesocosm.hosting.expiry import read_age

    if undo and wait:
        raise UsageError("--wait is for draining, not for --undo")
    within, until = read_age(quiet), time.monotonic() + (read_age(wait) if wait else 0)
    with mesocosm.connect_sync(url, token=admin_token, wait=0) as server:
        state = server.drain(not undo, within)
        while wait and _goes_on(state) and time.monotonic() < until:
            time.sleep(_LOOKED_EVERY)
            state = server.drain(None, within)
            if not state["draining"]:
                raise UsageError(f"{url} no longer drains: it was told to stop, or restarted")
    if as_json:
        print_json(state)
    else:
        word = "makes no further episodes" if state["draining"] else "makes episodes"
        requests, active = state["requests"], state["active"]
        out.print(f"the server {word}; requests being answered: {requests}, active episodes: {active}")
    if wait and _goes_on(state):
        raise typer.Exit(STILL_BUSY)


def _goes_on(state: dict[str, Any]) -> bool:
    return bool(state["requests"] or state["active"])
