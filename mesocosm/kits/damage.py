"""What an agent touched besides what it was asked for: tables of services, and files."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from mesocosm.worlds.changes import Changes, TableChanges


def touched_tables(changes: Changes, service: str, apart_from: Collection[str] = ()) -> Iterator[str]:
    """Tables of a service that differ from what was built, with how much.

    Who is signed in is no content: an agent may sign in again.
    """
    for (owner, table), difference in changes.tables.items():
        if owner != service or table in apart_from or table == "sign_in":
            continue
        if not _only_signed_in(difference):
            counts = (len(difference.added), len(difference.changed), len(difference.removed))
            yield f"{table}: {counts[0]} added, {counts[1]} changed, {counts[2]} removed"


def _only_signed_in(difference: TableChanges) -> bool:
    """Whether nothing but the time of the last login differs."""
    if difference.added or difference.removed:
        return False
    return all({**old, "last_login": ""} == {**new, "last_login": ""} for old, new in difference.changed)


def touched_files(changes: Changes, made: Collection[str] = (), folder: str | None = None) -> Iterator[str]:
    """Files of the workspace that differ from what was built.

    Apart from those that were to be ``made``, whether they were there before or not, and from new ones in a
    ``folder`` that is there for them.
    """
    for name in changes.files_added:
        if name not in made and not (folder and name.startswith(f"{folder}/")):
            yield f"{name} was added"
    yield from (f"{name} was removed" for name in changes.files_removed)
    yield from (f"{name} was changed" for name in changes.files_changed if name not in made)
