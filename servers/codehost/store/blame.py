"""Which commit wrote each line of a file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sqlalchemy import text

from mesocosm.servers.codehost.store.differences import kept_lines, lines
from mesocosm.service import Row

if TYPE_CHECKING:
    from mesocosm.servers.codehost.store.history import Commits

_PARENTS = text(
    """WITH RECURSIVE reach(id) AS (
        SELECT :head UNION
        SELECT parent_id FROM commit_parents JOIN reach ON commit_parents.commit_id = reach.id)
    SELECT commit_id, parent_id FROM commit_parents WHERE commit_id IN (SELECT id FROM reach)
    ORDER BY commit_id, position"""
)
_TOUCHED = text("SELECT commit_id, previous_path, old_sha, own FROM changes WHERE path = :path")


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
        for row in self._commits.fetch(_PARENTS, head=commit["id"]):
            self._parents[row["commit_id"]].append(row["parent_id"])
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
        parents = self._parents.get(commit_id, [])
        change = self._touches(path).get(commit_id)
        if change is None and len(parents) == 1:
            return [((parents[0], path, sha), wanted)]
        passed = []
        versions = [self._version(parent, path, change) for parent in parents]
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

    def _version(self, parent: int, path: str, change: Row | None) -> tuple[str, str] | None:
        """Path and name of the file in a parent."""
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
