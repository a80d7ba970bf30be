"""Remove unused data: gc."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mesocosm.cli.application import app
from mesocosm.cli.options import AsJson
from mesocosm.cli.output import out, print_json


@app.command()
def gc(
    state: Annotated[
        Path, typer.Option(envvar="MESOCOSM_STATE", help="State directory; no server may be using it.")
    ] = Path(".mesocosm"),
    older_than: Annotated[
        str, typer.Option(help="Age since the last call, or since an instance was last used: 12h, 7d.")
    ] = "7d",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be removed.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remove episodes and built instances that were not used for long."""
    from mesocosm.hosting.expiry import alone, old_episodes, old_instances, read_age, remove_instance
    from mesocosm.worlds.removal import remove

    seconds = read_age(older_than)
    with alone(state):
        episodes, instances = old_episodes(state, seconds), old_instances(state, seconds)
        if not dry_run:
            for path in episodes:
                remove(path)
            for path in instances:
                remove_instance(path)
    if as_json:
        print_json({"episodes": len(episodes), "instances": len(instances), "removed": not dry_run})
        return
    word = "would be removed" if dry_run else "removed"
    out.print(f"{len(episodes)} episodes and {len(instances)} instances {word}")
