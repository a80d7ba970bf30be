"""Tools about labels."""

from __future__ import annotations

from typing import Any, Literal

from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.servers.codehost.store.fields import NEW_LABEL_COLOR
from mesocosm.servers.codehost.tools import shapes
from mesocosm.servers.codehost.tools.server import Readable, Writable, server


@server.reads
def get_label(store: CodehostStore, repository: Readable, name: str) -> dict[str, Any]:
    """Show a label of a repository.

    Args:
        name: Name of the label.
    """
    return shapes.label(store.fields.label(repository, name))


@server.reads
def list_label(store: CodehostStore, repository: Readable) -> dict[str, Any]:
    """List the labels of a repository by name."""
    labels = store.fields.labels(repository)
    return {"labels": [shapes.label(label) for label in labels], "totalCount": len(labels)}


@server.writes(destructive=True)
def label_write(
    store: CodehostStore,
    method: Literal["create", "update", "delete"],
    repository: Writable,
    name: str,
    new_name: str | None = None,
    color: str | None = None,
    description: str | None = None,
) -> str:
    """Create, change or delete a label of a repository; deleting takes it from all issues.

    Args:
        method: What to do with the label.
        name: Name of the label.
        new_name: Its new name, for update.
        color: Its colour as six hexadecimal digits without #.
        description: What it stands for.
    """
    if method == "create":
        store.fields.add_label(
            repository, name, NEW_LABEL_COLOR if color is None else color, description or ""
        )
    elif method == "update":
        store.fields.change_label(repository, name, new_name, color, description)
    else:
        store.fields.remove_label(repository, name)
    return f"label '{name}' {method}d successfully"
