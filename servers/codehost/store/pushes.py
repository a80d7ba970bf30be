"""Refs that are set from outside: by git clients, and by those who work on refs and objects one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dulwich.objects import Commit as GitCommit
from dulwich.objects import ObjectID, ShaFile, Tag
from dulwich.refs import Ref as RefName
from sqlalchemy import select, text

from mesocosm.errors import Conflict, Refusal
from mesocosm.servers.codehost.models import Issue, PullRequest, Repository
from mesocosm.servers.codehost.store.objects import RefTable
from mesocosm.servers.codehost.store.packs import check_objects, read_pack
from mesocosm.servers.codehost.store.part import StorePart
from mesocosm.servers.codehost.store.values import Unprocessable
from mesocosm.services.service import Row

NOTHING = "0" * 40
"""In git's protocol the name of no object."""
_HEADS, _TAGS, _NOTES = "refs/heads/", "refs/tags/", "refs/notes/"


@dataclass(frozen=True)
class RefUpdate:
    """Update of a ref, requested by a git client."""

    name: str
    before: str
    """Expected old value of the ref; ``NOTHING`` if it is new."""
    after: str
    """New value of the ref; ``NOTHING`` to remove it."""


class Pushes(StorePart):
    def receive(self, repository: Row, updates: Sequence[RefUpdate], pack: bytes) -> list[str | None]:
        """Store the objects of a pack and update refs; returns for each why it was refused, or ``None``."""
        if pack or any(update.after != NOTHING for update in updates):
            received = read_pack(self.session, repository["network"], pack)
            check_objects(self.store.commits.objects(repository), received)
            self.store.commits.objects(repository).add_objects([(obj, None) for obj in received.values()])
        return [self._try_update(repository, update) for update in updates]

    def _try_update(self, repository: Row, update: RefUpdate) -> str | None:
        before, after = ("" if sha == NOTHING else sha for sha in (update.before, update.after))
        self.session.execute(text("SAVEPOINT ref"))
        try:
            current = self.store.repositories.repository_by_id(repository["id"])
            self.update_ref(current, update.name, after or None, before=before)
        except Refusal as refusal:
            self.session.execute(text("ROLLBACK TO ref"))
            return refusal.message
        self.session.execute(text("RELEASE ref"))
        return None

    def add_objects(self, repository: Row, objects: Sequence[ShaFile]) -> None:
        """Store objects that need nothing which is not there."""
        check_objects(self.store.commits.objects(repository), {obj.id.decode(): obj for obj in objects})
        self.store.commits.objects(repository).add_objects([(obj, None) for obj in objects])

    def update_ref(
        self,
        repository: Row,
        name: str,
        sha: str | None,
        *,
        before: str | None = None,
        force: bool = True,
    ) -> None:
        """Have a branch or tag, new or not, point at a stored object, or remove it (``None``).

        Args:
            repository: The repository.
            name: Full name of the ref.
            sha: Name of a commit, or of a tag object of one.
            before: What the ref is believed to point at: nothing for ``""``, anything for ``None``.
            force: Whether a branch may lose commits.
        """
        self.store.commits.check_ref_name(name)
        if not name.startswith((_HEADS, _TAGS, _NOTES)):
            raise Unprocessable(
                f"Reference {name} cannot be changed: only refs/heads/, refs/tags/ and refs/notes/ can."
            )
        there = self.store.commits.ref(repository, name)
        if before is not None and before != (there or ""):
            raise Conflict(f"{name} is at {there or 'nothing'} but expected {before or 'nothing'}")
        branch = name.removeprefix(_HEADS) if name.startswith(_HEADS) else None
        if branch in self.store.repositories.protected_branches(repository["id"]):
            raise Conflict("Could not update the branch: Changes must be made through a pull request.")
        if sha is None:
            self._remove_ref(repository, name, branch, there)
            return
        commit = self._target(repository, sha, annotated=branch is None)
        if there is None:
            self.store.commits.check_room(repository, name)
        if branch is None:
            if there is not None and there != sha and not force:
                raise Unprocessable("Update is not a fast forward")
            self.store.commits.set_ref(repository, name, sha)
        else:
            self._push_branch(repository, branch, there, commit, force)

    def _target(self, repository: Row, sha: str, *, annotated: bool) -> Row:
        """The commit that an object is, or that a tag object marks, which is then known."""
        objects = self.store.commits.objects(repository)
        name = ObjectID(sha.encode())
        if name not in objects:
            raise Unprocessable("Object does not exist")
        found = objects[name]
        while annotated and isinstance(found, Tag):
            found = objects[found.object[1]]
        if not isinstance(found, GitCommit):
            raise Unprocessable("Object is not a commit")
        return self.store.commits.learn_commits(repository, found.id.decode())

    def _push_branch(
        self, repository: Row, branch: str, before: str | None, commit: Row, force: bool
    ) -> None:
        old = self.store.commits.commit_by_sha(repository, before) if before else None
        if old and not force and not self.store.commits.is_ancestor(old, commit):
            raise Unprocessable("Update is not a fast forward")
        if not self.store.commits.branches(repository, 1, 1)[1] and branch != repository["default_branch"]:
            # As in the product, what is pushed first is the default branch.
            self.update_row(Repository, repository["id"], default_branch=branch)
            repository = self.store.repositories.repository_by_id(repository["id"])
        self.store.commits.move_branch(repository, branch, commit)
        self._mark_merged(repository, branch, old, commit)
        if old and branch == repository["default_branch"]:
            new = self.store.commits.commits_by_id(self.store.commits.commits_between(old, commit))
            self.store.pulls.close_by_words(repository, "\n".join(row["message"] for row in new))

    def _mark_merged(self, repository: Row, branch: str, old: Row | None, commit: Row) -> None:
        """Pull requests whose commits a push has brought into their base branch are merged."""
        for pull in self._open_pulls(Issue.repository_id == repository["id"], PullRequest.base_ref == branch):
            if not self.store.commits.is_ancestor(
                self.store.commits.commit_by_sha(repository, pull["head_sha"]), commit
            ):
                continue
            merged = {"merged_at": self.today, "merged_by_id": self.me["id"], "merge_sha": commit["sha"]}
            if old:
                merged["base_sha"] = old["sha"]
            self._close(pull, merged)

    def _remove_ref(self, repository: Row, name: str, branch: str | None, there: str | None) -> None:
        if there is None:
            raise Unprocessable("Reference does not exist")
        if branch == repository["default_branch"]:
            raise Unprocessable(f"Cannot delete the default branch {branch}")
        if branch is not None:
            # As in the product, this closes the pull requests from this branch and those into it.
            here = PullRequest.head_repository_id == repository["id"]
            for pull in self._open_pulls(here, PullRequest.head_ref == branch):
                home = self.store.repositories.repository_by_id(pull["repository_id"])
                tip = self.store.commits.ref(home, f"{_HEADS}{pull['base_ref']}")
                self._close(pull, {"base_sha": tip} if tip else {})
            into = PullRequest.base_ref == branch
            for pull in self._open_pulls(Issue.repository_id == repository["id"], into):
                self._close(pull, {"base_sha": there})
        del RefTable(self.session, repository["id"])[RefName(name.encode())]
        moved = {"pushed_at": self.today, "updated_at": self.today}
        self.update_row(Repository, repository["id"], **moved)

    def _open_pulls(self, *conditions: Any) -> Sequence[Row]:
        columns = (
            Issue.id,
            Issue.repository_id,
            PullRequest.head_sha,
            PullRequest.base_ref,
        )
        found = select(*columns).join(PullRequest, PullRequest.issue_id == Issue.id)
        return self.fetch(found.where(Issue.state == "open", *conditions).order_by(Issue.id))

    def _close(self, pull: Row, more: dict[str, Any]) -> None:
        self.store.pulls.set_pull(
            pull, {"state": "closed", "closed_at": self.today, "closed_by_id": self.me["id"]}, more
        )
