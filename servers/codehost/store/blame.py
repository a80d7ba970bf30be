"""Blame: the commit that wrote each line of a file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, select

from mesocosm.servers.codehost.models import Change
from mesocosm.servers.codehost.store.differences import kept_lines, lines
from mesocosm.services.service import Row

if TYPE_CHECKING:
    from mesocosm.servers.codehost.store.history import Commits

_TOUCHED = select(Change.commit_id, Change.previous_path, Change.old_sha, Change.old_mode).where(
    Change.path == bindparam("path")
)


class Blame:
    """Follows lines back through the history, along every parent that has them, and through renames.

    Most commits do not touch the file: those are stepped over by the table of changes, without a look at
    their trees.
    """

    def __init__(self, commits: Commits, repository: Row) -> None:
        self._commits = commits
        self._objects = commits.objects(repository)
        self._parents: dict[int, list[int]] = defaultdict(list)
        self._touched: dict[str, Mapping[int, Row]] = {}

    def lines(self, commit: Row, path: str, sha: str) -> list[int]:
        """For each line of a version of a file the row of the commit that it comes from."""
        self._parents.clear()
        self._edges = self._commits.edges(commit["id"])
        self._edge = next(self._edges, None)
        count = len(lines(self._objects.data(sha)))
        found = [commit["id"]] * count
        # (commit, path, version, {line in that version: line of the result}); newest commit first, so that
        # what reaches a commit along several ways is complete before the commit is looked at.
        todo = {(commit["id"], path, sha): {line: line for line in range(count)}}
        while todo:
            key = max(todo)
            wanted = todo.pop(key)
            for target, passed in self._pass_on(key, wanted, found):
                if passed:
                    todo.setdefault(target, {}).update(passed)
        return found

    def _pass_on(
        self, key: tuple[int, str, str], wanted: dict[int, int], found: list[int]
    ) -> list[tuple[tuple[int, str, str], dict[int, int]]]:
        """Give the lines to the parents that have them; those left over come from this commit."""
        commit_id, path, sha = key
        parents = self._parents_of(commit_id)
        touched = self._touches(path)
        while commit_id not in touched and len(parents) == 1:
            commit_id = parents[0]
            parents = self._parents_of(commit_id)
        if commit_id != key[0]:
            return [((commit_id, path, sha), wanted)]
        change = touched.get(commit_id)
        passed = []
        versions = [self._version(parent, path, change) for parent in parents[1:]]
        if parents:
            versions.insert(0, _before(path, sha, change))
        for parent, version in zip(parents, versions, strict=True):
            if version and version[1] == sha:
                return [((parent, version[0], sha), wanted)]
        for parent, version in zip(parents, versions, strict=True):
            if version:
                kept = self._kept(version[1], sha, wanted)
                gone = set(kept.values())
                wanted = {line: to for line, to in wanted.items() if to not in gone}
                passed.append(((parent, version[0], version[1]), kept))
        for to in wanted.values():
            found[to] = commit_id
        return passed

    def _parents_of(self, commit_id: int) -> list[int]:
        # Commits are asked for from the newest on, which is how the edges come.
        while self._edge is not None and self._edge[0] >= commit_id:
            self._parents[self._edge[0]].append(self._edge[1])
            self._edge = next(self._edges, None)
        return self._parents.get(commit_id, [])

    def _version(self, parent: int, path: str, change: Row | None) -> tuple[str, str] | None:
        """Path and name of the file in a parent that is not the first."""
        before = change["previous_path"] if change and change["previous_path"] else path
        tree = self._commits.commit_by_id(parent)["tree"]
        entry = self._commits.entry(self._objects, tree, before)
        return (before, entry[1]) if entry and entry[0] & 0o170000 == 0o100000 else None

    def _kept(self, old: str, new: str, wanted: Mapping[int, int]) -> dict[int, int]:
        pairs = kept_lines(self._split(old), self._split(new))
        return {there: wanted[here] for there, here in pairs if here in wanted}

    def _split(self, sha: str) -> Sequence[bytes]:
        return lines(self._objects.data(sha))

    def _touches(self, path: str) -> Mapping[int, Row]:
        if path not in self._touched:
            rows = self._commits.fetch(_TOUCHED, path=path)
            self._touched[path] = {row["commit_id"]: row for row in rows}
        return self._touched[path]


def _before(path: str, sha: str, change: Row | None) -> tuple[str, str] | None:
    """Path and name of the file in a first parent: what the changes are compared with."""
    if change is None:
        return path, sha
    if change["old_sha"] is None or change["old_mode"] & 0o170000 != 0o100000:
        return None
    return change["previous_path"] or path, change["old_sha"]
