"""Further operations of owners and API clients: settings, releases, locks, statuses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, FromClause, delete, func, select, update

from mesocosm.errors import NotFound
from mesocosm.servers.codehost.models import (
    Base,
    File,
    Issue,
    PullRequest,
    Reaction,
    Release,
    Repository,
    Status,
)
from mesocosm.servers.codehost.store.part import StorePart
from mesocosm.servers.codehost.store.values import Unprocessable, clean, pages
from mesocosm.services.service import Row

STATES = ("error", "failure", "pending", "success")
LANGUAGES = {
    "c": "C",
    "cpp": "C++",
    "cs": "C#",
    "css": "CSS",
    "go": "Go",
    "html": "HTML",
    "java": "Java",
    "js": "JavaScript",
    "kt": "Kotlin",
    "php": "PHP",
    "py": "Python",
    "rb": "Ruby",
    "rs": "Rust",
    "sh": "Shell",
    "sql": "SQL",
    "swift": "Swift",
    "ts": "TypeScript",
}
"""Languages by how the names of files end."""

MAX_PINNED = 3
_CHUNK = 500
_SUBJECTS = {"issues": "issue", "comments": "comment", "review_comments": "review_comment"}
"""The names of these tables' things in reactions."""


class Administering(StorePart):
    """Settings, releases, locks and statuses."""

    # -- repositories -----------------------------------------------------------------------------------

    def remove_repository(self, repository: Row) -> None:
        """Delete a repository with all that is in it; its forks go on without it."""
        self._administer(repository)
        id_ = repository["id"]
        elsewhere = (
            select(PullRequest.issue_id)
            .join(Issue, Issue.id == PullRequest.issue_id)
            .where(PullRequest.head_repository_id == id_, Issue.repository_id != id_)
        )
        if self.session.scalars(elsewhere.limit(1)).first() is not None:
            raise Unprocessable(
                "Validation Failed: pull requests of other repositories come from this one, so it cannot be"
                " deleted here."
            )
        self.session.execute(update(Repository).where(Repository.parent_id == id_).values(parent_id=None))
        self._remove(Repository.__table__, Repository.__table__.c.id, [id_])
        self.session.expire_all()

    def _administer(self, repository: Row) -> None:
        """Refuse who is no administrator; an archive, too, can be deleted and taken out again."""
        self.store.repositories.require({**repository, "archived": False}, "admin")

    def _remove(self, table: FromClause, column: ColumnElement[Any], ids: Sequence[int]) -> None:
        """Remove rows of a table by values in a column, and first all that belong to them."""
        for start in range(0, len(ids), _CHUNK):
            chosen = column.in_(ids[start : start + _CHUNK])
            key = list(table.primary_key)
            if len(key) == 1:
                own = list(self.session.scalars(select(key[0]).where(chosen)))
                for child in Base.metadata.sorted_tables:
                    for link in sorted(child.foreign_keys, key=lambda one: one.parent.name):
                        if link.column is key[0] and own:
                            self._remove(child, link.parent, own)
                if subject := _SUBJECTS.get(str(table)):
                    is_theirs = (Reaction.subject == subject) & Reaction.subject_id.in_(own)
                    self.session.execute(delete(Reaction).where(is_theirs))
            self.session.execute(delete(table).where(chosen))  # type: ignore[arg-type]

    def change_repository(self, repository: Row, changes: Mapping[str, Any]) -> Row:
        """Set what is given: a new ``name``, ``description``, ``homepage``, ``private``, ``archived``."""
        self._administer(repository)
        values = dict(changes)
        if repository["archived"] and values.get("archived") is not False:
            self.store.repositories.writable(repository)
        if values.get("name") == repository["name"]:
            del values["name"]
        elif "name" in values:
            self.store.repositories.check_name(repository["owner_id"], values["name"], repository["id"])
        branch = values.get("default_branch")
        if branch is not None and self.store.commits.ref(repository, f"refs/heads/{branch}") is None:
            raise Unprocessable(f"Validation Failed: The branch {branch} was not found.")
        if branch is not None and branch != repository["default_branch"]:
            raise Unprocessable("Validation Failed: default_branch cannot be changed here.")
        for name in ("description", "homepage"):
            if values.get(name) is not None:
                values[name] = clean(values[name], name)
        if values:
            values["updated_at"] = self.today
            self.update_row(Repository, repository["id"], **values)
        return self.store.repositories.repository_by_id(repository["id"])

    def set_topics(self, repository: Row, topics: list[str]) -> None:
        """Replace the topics of a repository."""
        self.store.repositories.require(repository, "admin")
        for topic in topics:
            if not topic or len(topic) > 50 or not all(one.isalnum() or one == "-" for one in topic):
                raise Unprocessable(
                    f"Validation Failed: topic {topic[:60]!r} has other characters than a-z, 0-9, -."
                )
        self.update_row(Repository, repository["id"], topics=" ".join(topic.lower() for topic in topics))

    def languages(self, repository: Row) -> dict[str, int]:
        """Bytes of each language at the head of the default branch, most first."""
        size: Counter[str] = Counter()
        found = select(func.lower(File.extension).label("extension"), func.sum(File.size).label("size"))
        for row in self.fetch(found.where(File.repository_id == repository["id"]).group_by("extension")):
            if name := LANGUAGES.get(row["extension"].lstrip(".")):
                size[name] += row["size"]
        return dict(sorted(size.items(), key=lambda pair: (-pair[1], pair[0])))

    def contributors(self, repository: Row) -> list[tuple[int, str, int]]:
        """Accounts with commits on the default branch: id, login and how many, most first."""
        head = self.store.commits.find_commit(repository, None)
        if head is None:
            return []
        log = partial(self.store.commits.log, repository, head["sha"], per_page=100)
        read = pages(lambda page: log(page=page))
        counts = Counter(
            (row["author_id"], row["author_login"]) for rows in read for row in rows if row["author_id"]
        )
        ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0][1]))
        return [(account, login, count) for (account, login), count in ordered]

    # -- issues -----------------------------------------------------------------------------------------

    def lock(self, repository: Row, number: int, *, locked: bool) -> None:
        """Restrict comments on an issue to those with write access, or open them again."""
        self.store.repositories.require(repository, "triage")
        issue = self.store.issues.issue(repository, number)
        self.update_row(Issue, issue["id"], locked=locked)

    def pin(self, repository: Row, number: int, *, pinned: bool) -> None:
        """Show an issue above the others, or no more."""
        self.store.repositories.require(repository, "write")
        issue = self.store.issues.issue(repository, number)
        if pinned and len(self.pinned(repository)) >= MAX_PINNED:
            raise Unprocessable(f"Maximum {MAX_PINNED} pinned issues per repository")
        self.update_row(Issue, issue["id"], pinned=pinned)

    def pinned(self, repository: Row) -> list[Row]:
        """The issues that are shown above the others."""
        found = select(Issue.id).where(Issue.repository_id == repository["id"], Issue.pinned)
        return [self.store.issues.issue_by_id(row["id"]) for row in self.fetch(found.order_by(Issue.number))]

    def remove_issue(self, repository: Row, number: int) -> None:
        """Delete an issue with all that is in it."""
        self.store.repositories.require(repository, "admin")
        issue = self.store.issues.issue(repository, number)
        self._remove(Issue.__table__, Issue.__table__.c.id, [issue["id"]])
        self.session.expire_all()

    # -- commits ----------------------------------------------------------------------------------------

    def add_status(
        self, repository: Row, sha: str, state: str, context: str, description: str, target_url: str | None
    ) -> Row:
        """Add a commit status of an external service."""
        self.store.repositories.require(repository, "write")
        commit = self.store.commits.find_commit(repository, sha)
        if commit is None or commit["sha"] != sha:
            raise Unprocessable(f"No commit found for SHA: {sha[:60]}")
        row = {
            "repository_id": repository["id"],
            "sha": sha,
            "context": clean(context, "context"),
            "state": state,
            "description": clean(description, "description"),
            "target_url": target_url,
            "created_at": self.today,
        }
        made = self.insert(Status, row)
        return self.fetch(select(*Status.__table__.c).where(Status.id == made))[0]

    # -- releases ---------------------------------------------------------------------------------------

    def create_release(self, repository: Row, values: Mapping[str, Any]) -> Row:
        """A new release; its tag is made at the target (the default branch), if there is none."""
        self.store.repositories.require(repository, "write")
        tag, target = values["tag_name"], values.get("target") or repository["default_branch"]
        taken = select(Release.id).where(Release.repository_id == repository["id"], Release.tag_name == tag)
        if self.fetch(taken):
            raise Unprocessable("Validation Failed: the release's tag_name already_exists.")
        if not values.get("draft"):
            self._tag(repository, tag, target)
        row = {
            "repository_id": repository["id"],
            "target": target,
            "name": values.get("name") or tag,
            "body": values.get("body") or "",
            "draft": bool(values.get("draft")),
            "prerelease": bool(values.get("prerelease")),
            "tag_name": tag,
            "author_id": self.me["id"],
            "created_at": self.today,
            "published_at": None if values.get("draft") else self.today,
        }
        made = self.insert(Release, row)
        return self.store.releases.release_by_id(repository, made)

    def change_release(self, repository: Row, release_id: int, changes: Mapping[str, Any]) -> Row:
        """Change fields of a release; one that is no draft any more is published."""
        self.store.repositories.require(repository, "write")
        before = self.store.releases.release_by_id(repository, release_id)
        values = dict(changes)
        if before["draft"] and values.get("draft") is False:
            self._tag(repository, values.get("tag_name") or before["tag_name"], before["target"])
            values["published_at"] = self.today
        if values:
            self.update_row(Release, release_id, **values)
        return self.store.releases.release_by_id(repository, release_id)

    def remove_release(self, repository: Row, release_id: int) -> None:
        """Delete a release; its tag stays."""
        self.store.repositories.require(repository, "write")
        self.store.releases.release_by_id(repository, release_id)
        self._remove(Release.__table__, Release.__table__.c.id, [release_id])

    def _tag(self, repository: Row, tag: str, target: str) -> None:
        if self.store.commits.ref(repository, f"refs/tags/{tag}") is not None:
            return
        commit = self.store.commits.find_commit(repository, target)
        if commit is None:
            raise NotFound(f"Branch {target} not found")
        self.store.commits.check_ref_name(f"refs/tags/{tag}")
        self.store.commits.set_ref(repository, f"refs/tags/{tag}", commit["sha"])
