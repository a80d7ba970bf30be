"""Three-way merges: trees by dulwich's recursive strategy, lines by merge3."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from dulwich.merge import Merger, recursive_merge
from dulwich.objects import Blob, Commit, ObjectID, ShaFile
from merge3 import Merge3

from mesocosm.servers.codehost.store.differences import Matcher, is_binary, lines
from mesocosm.servers.codehost.store.objects import ObjectStore, Scratch

MAX_MERGED_BYTES = 24_000_000
"""Of the three versions of a file; larger ones are in conflict, as binary ones are."""


@dataclass(frozen=True)
class Merged:
    """Result of a merge that has not been stored."""

    tree: str
    conflicts: list[str]
    """Paths that both sides changed in ways that do not fit together."""
    objects: list[tuple[ShaFile, str | None]]
    """New objects, to be stored if the merge is wanted."""


class _LineMerger(Merger):
    """dulwich recognises a conflict by its marker, which a file may contain as text; this asks merge3."""

    def merge_blobs(
        self,
        base_blob: Blob | None,
        ours_blob: Blob | None,
        theirs_blob: Blob | None,
        path: bytes | None = None,
    ) -> tuple[bytes, bool]:
        if base_blob is None or ours_blob is None or theirs_blob is None:
            return super().merge_blobs(base_blob, ours_blob, theirs_blob, path)
        base, ours, theirs = base_blob.data, ours_blob.data, theirs_blob.data
        versions = (base, ours, theirs)
        if any(map(is_binary, versions)) or sum(map(len, versions)) > MAX_MERGED_BYTES:
            return ours, True
        matcher: Any = Matcher
        merging = Merge3(lines(base), lines(ours), lines(theirs), sequence_matcher=matcher)
        groups = list(merging.merge_groups())
        if any(group[0] == "conflict" for group in groups):
            return ours, True
        return b"".join(line for group in groups for line in group[1]), False


def merge(objects: ObjectStore, bases: list[str], ours: str, theirs: str) -> Merged:
    """Merge two commits whose merge bases are known."""
    scratch = Scratch(objects)
    tree, conflicts = recursive_merge(
        scratch,
        [ObjectID(base.encode()) for base in bases],
        _commit(objects, ours),
        _commit(objects, theirs),
        merger=_LineMerger(scratch),
    )
    paths = [path.decode("utf-8", "replace") for path in conflicts]
    return Merged(tree.id.decode(), paths, [*scratch.added(), (tree, None)])


def pick(objects: ObjectStore, commit: str, onto: str) -> Merged:
    """Cherry-pick: apply a commit's change against its first parent to another commit (a step of a
    rebase).
    """
    parents = _commit(objects, commit).parents
    return merge(objects, [parent.decode() for parent in parents[:1]], onto, commit)


def _commit(objects: ObjectStore, sha: str) -> Commit:
    return cast(Commit, objects[ObjectID(sha.encode())])
