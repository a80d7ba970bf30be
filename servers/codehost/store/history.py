"""Commits and refs: resolving names, adding commits, moving branches, walking history."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

from dulwich.objects import Commit as GitCommit
from dulwich.objects import ObjectID, Tag
from dulwich.refs import Ref as RefName
from dulwich.refs import check_ref_format
from sqlalchemy import bindparam, func, insert, select, text, update

from mesocosm.errors import Conflict, NotFound
from mesocosm.servers.codehost.models import (
    Account,
    Change,
    Commit,
    CommitParent,
    File,
    History,
    Issue,
    Object,
    PullRequest,
    Ref,
    Repository,
)
from mesocosm.servers.codehost.store.differences import Difference, differences, is_binary, statistics
from mesocosm.servers.codehost.store.objects import DIRECTORY, ObjectStore, RefTable
from mesocosm.servers.codehost.store.part import StorePart
from mesocosm.servers.codehost.store.values import Unprocessable, parse_time, timestamp, window
from mesocosm.services.service import Row

Signature = tuple[str, str]
"""Name and e-mail address of an author or committer."""

GITHUB: Signature = ("GitHub", "noreply@github.com")
"""The committer of what the product itself commits: merges."""
MAX_SEARCHABLE = 384 * 1024
"""Code search knows no larger files."""

_SHA = re.compile(r"[0-9a-f]{4,40}")

_AUTHOR = Account.__table__.alias("author")
_COMMITTER = Account.__table__.alias("committer")
COMMIT_COLUMNS = (
    *Commit.__table__.c,
    _AUTHOR.c.login.label("author_login"),
    _COMMITTER.c.login.label("committer_login"),
)
COMMITS = (
    select(*COMMIT_COLUMNS)
    .outerjoin(_AUTHOR, _AUTHOR.c.id == Commit.author_id)
    .outerjoin(_COMMITTER, _COMMITTER.c.id == Commit.committer_id)
)
_BY_SHA = COMMITS.where(Commit.network == bindparam("network"), Commit.sha == bindparam("sha"))
_BY_ID = COMMITS.where(Commit.id == bindparam("id"))
_BY_PREFIX = COMMITS.where(
    Commit.network == bindparam("network"), Commit.sha >= bindparam("first"), Commit.sha < bindparam("last")
).limit(2)
_REF = select(Ref.sha).where(Ref.repository_id == bindparam("repository"), Ref.name == bindparam("name"))
_REFS = (
    select(Ref.name, Ref.sha)
    .where(
        Ref.repository_id == bindparam("repository"),
        Ref.name >= bindparam("first"),
        Ref.name < bindparam("last"),
    )
    .order_by(Ref.name)
)
_OBJECT_TYPE = select(Object.type).where(
    Object.network == bindparam("network"), Object.sha == bindparam("sha")
)
_BY_EMAIL = select(Account.id).where(Account.email == bindparam("email"))
_CHANGES = select(*Change.__table__.c).where(Change.commit_id == bindparam("commit")).order_by(Change.path)
_PARENTS = (
    select(Commit.id, Commit.sha, Commit.tree, Commit.committed_at)
    .join(CommitParent, CommitParent.parent_id == Commit.id)
    .where(CommitParent.commit_id == bindparam("commit"))
    .order_by(CommitParent.position)
)

_DIFFERENCE = tuple(field.name for field in fields(Difference))

_EDGES = (
    select(CommitParent.commit_id, CommitParent.parent_id)
    .where(CommitParent.commit_id <= bindparam("newest"))
    .order_by(CommitParent.commit_id.desc(), CommitParent.position)
    .limit(bindparam("many"))
)
_NEWEST_IN_HISTORY = select(func.max(History.commit_id).label("id")).where(
    History.repository_id == bindparam("repository")
)
_FIRST_EDGES, _MOST_EDGES = 256, 4096

_REACH = """WITH RECURSIVE reach(id) AS (
    SELECT :head UNION
    SELECT parent_id FROM commit_parents JOIN reach ON commit_parents.commit_id = reach.id)"""
# The default branch's is written down.
_REACH_OF_DEFAULT = "WITH reach(id) AS (SELECT commit_id FROM history WHERE repository_id = :head)"
_TOUCHING = " UNION ALL ".join(
    f"SELECT commit_id FROM changes WHERE own AND {condition}"
    for column in ("path", "previous_path")
    for condition in (f"{column} = :path", f"{column} > :path || '/' AND {column} < :path || '0'")
)
_OURS, _THEIRS, _COMMON, _PAST = 1, 2, 3, 4
_EXTEND_HISTORY = text(
    """WITH RECURSIVE new(id) AS (
        SELECT :head WHERE :head NOT IN (SELECT commit_id FROM history WHERE repository_id = :repository)
        UNION
        SELECT parent_id FROM commit_parents JOIN new ON commit_parents.commit_id = new.id
        WHERE parent_id NOT IN (SELECT commit_id FROM history WHERE repository_id = :repository))
    INSERT INTO history (repository_id, commit_id) SELECT :repository, id FROM new"""
)
_IS_ANCESTOR = text(
    "SELECT EXISTS (WITH RECURSIVE reach(id) AS (SELECT :head UNION SELECT parent_id FROM commit_parents"
    " JOIN reach ON commit_id = reach.id WHERE parent_id >= :old) SELECT 1 FROM reach WHERE id = :old)"
)


class Commits(StorePart):
    """Git's side of a repository."""

    def objects(self, repository: Row) -> ObjectStore:
        """The git objects that a repository shares with its forks."""
        return ObjectStore(self.session, repository["network"])

    # -- names ------------------------------------------------------------------------------------------

    def ref(self, repository: Row, name: str) -> str | None:
        """Resolve a full ref name."""
        rows = self.fetch(_REF, repository=repository["id"], name=name)
        return str(rows[0]["sha"]) if rows else None

    def refs(self, repository: Row) -> Sequence[Row]:
        """Every ref, by its full name."""
        return self.fetch(_REFS, repository=repository["id"], first="refs/", last="refs0")

    def branch_head(self, repository: Row, branch: str) -> Row:
        """The newest commit of a branch."""
        sha = self.ref(repository, f"refs/heads/{branch.removeprefix('refs/heads/')}")
        if sha is None:
            raise NotFound(f"Branch {branch} not found")
        return self.fetch(_BY_SHA, network=repository["network"], sha=sha)[0]

    def commit(self, repository: Row, name: str | None) -> Row:
        """The commit that a name stands for: a branch, tag, full or short SHA; none is the default branch."""
        found = self.find_commit(repository, name)
        if found is not None:
            return found
        if not self.fetch(_REFS, repository=repository["id"], first="refs/heads/", last="refs/heads0"):
            raise Conflict("Git Repository is empty.")
        raise NotFound(f"No commit found for SHA: {name or repository['default_branch']}")

    def find_commit(self, repository: Row, name: str | None) -> Row | None:
        """The commit that a name stands for, or ``None``."""
        name = name or repository["default_branch"]
        name = repository["default_branch"] if name == "HEAD" else name
        full = name.startswith("refs/")
        candidates = [name] if full else [f"refs/heads/{name}", f"refs/tags/{name}", f"refs/{name}"]
        for candidate in candidates:
            if sha := self.ref(repository, candidate):
                return self._peeled(repository, sha)
        if not _SHA.fullmatch(name.lower()):
            return None
        rows = self.fetch(
            _BY_PREFIX, network=repository["network"], first=name.lower(), last=name.lower() + "g"
        )
        return rows[0] if len(rows) == 1 else None

    def commit_by_id(self, commit_id: int) -> Row:
        return self.fetch(_BY_ID, id=commit_id)[0]

    def commit_by_sha(self, repository: Row, sha: str) -> Row:
        """A commit by its full name, which must exist."""
        return self.fetch(_BY_SHA, network=repository["network"], sha=sha)[0]

    def tree(self, repository: Row, name: str | None) -> str:
        """The tree that a name stands for: that of a commit, or a tree by its own SHA."""
        if name and len(name) == 40 and _SHA.fullmatch(name.lower()):
            rows = self.fetch(_OBJECT_TYPE, network=repository["network"], sha=name.lower())
            if rows and rows[0]["type"] == 2:
                return name.lower()
        return str(self.commit(repository, name)["tree"])

    def branches(
        self, repository: Row, page: int | None, per_page: int | None
    ) -> tuple[list[dict[str, str]], int]:
        """One page of the branches by name, and how many there are."""
        return self._refs(repository, "refs/heads/", page, per_page)

    def tags(
        self, repository: Row, page: int | None, per_page: int | None
    ) -> tuple[list[dict[str, str]], int]:
        """One page of the tags, newest name first as the product sorts them, each with its commit."""
        rows, total = self._refs(repository, "refs/tags/", page, per_page, newest=True)
        return [
            {"name": row["name"], "sha": str(self._peeled(repository, row["sha"])["sha"])} for row in rows
        ], total

    def tag_details(self, repository: Row, name: str) -> dict[str, Any]:
        """A tag: what its ref points at, its annotation if it has one, and its commit."""
        name = name.removeprefix("refs/tags/")
        sha = self.ref(repository, f"refs/tags/{name}")
        if sha is None:
            raise NotFound("Not Found")
        there = self.objects(repository)[ObjectID(sha.encode())]
        target = {"type": "commit", "sha": str(self._peeled(repository, sha)["sha"])}
        if not isinstance(there, Tag):
            return {"tag": name, "sha": sha, "object": target}
        return self.annotation(there) | {"tag": name, "sha": sha, "object": target}

    @staticmethod
    def annotation(tag: Tag) -> dict[str, Any]:
        """Return an annotated tag's data."""
        tagger = _signature(tag.tagger) if tag.tagger else ("", "")
        date = timestamp(datetime.fromtimestamp(tag.tag_time or 0, tz=UTC))
        kind, sha = tag.object
        return {
            "tag": tag.name.decode("utf-8", "replace"),
            "message": (tag.message or b"").decode("utf-8", "replace"),
            "tagger": {"name": tagger[0], "email": tagger[1], "date": date},
            "object": {"type": kind.type_name.decode(), "sha": sha.decode()},
        }

    def add_annotation(
        self,
        repository: Row,
        name: str,
        sha: str,
        message: str,
        tagger: Signature,
        date: datetime | None = None,
    ) -> str:
        """Store an annotated tag of a commit; returns its name. No ref points at it."""
        tag = Tag()
        tag.name = name.encode()
        tag.object = (GitCommit, ObjectID(sha.encode()))
        tag.tagger = _person(tagger)
        tag.tag_time = int((date or self.now).timestamp())
        tag.tag_timezone = 0
        tag.message = message.encode()
        self.objects(repository).add_object(tag)
        return tag.id.decode()

    def create_branch(self, repository: Row, branch: str, source: str | None) -> Row:
        """A new branch at the head of another one, or of the default branch."""
        self.check_ref_name(f"refs/heads/{branch}")
        if self.ref(repository, f"refs/heads/{branch}"):
            raise Unprocessable("Reference already exists")
        commit = self.branch_head(repository, source) if source is not None else self.commit(repository, None)
        self.check_room(repository, f"refs/heads/{branch}")
        self.move_branch(repository, branch, commit)
        return commit

    def check_room(self, repository: Row, name: str) -> None:
        """Refuse a new ref whose name begins with that of another one, or the other way round."""
        for other in (row["name"] for row in self.refs(repository)):
            if other.startswith(name + "/") or name.startswith(other + "/"):
                kind, _, short = other.removeprefix("refs/").partition("/")
                kind = {"heads": "branch", "tags": "tag"}.get(kind, "ref")
                raise Unprocessable(f"Reference update failed: there is a {kind} {short}.")

    def _refs(
        self,
        repository: Row,
        prefix: str,
        page: int | None,
        per_page: int | None,
        *,
        newest: bool = False,
    ) -> tuple[list[dict[str, str]], int]:
        limit, offset = window(page, per_page)
        last = prefix[:-1] + "0"
        rows = self.fetch(_REFS, repository=repository["id"], first=prefix, last=last)
        ordered = list(reversed(rows)) if newest else list(rows)
        chosen = ordered[offset : offset + limit]
        return [{"name": row["name"].removeprefix(prefix), "sha": row["sha"]} for row in chosen], len(rows)

    def _peeled(self, repository: Row, sha: str) -> Row:
        rows = self.fetch(_BY_SHA, network=repository["network"], sha=sha)
        if rows:
            return rows[0]
        tag = self.objects(repository)[ObjectID(sha.encode())]
        assert isinstance(tag, Tag)
        return self._peeled(repository, tag.object[1].decode())

    # -- lists ------------------------------------------------------------------------------------------

    def log(
        self,
        repository: Row,
        name: str | None,
        *,
        path: str | None = None,
        author: str | None = None,
        since: str | None = None,
        until: str | None = None,
        page: int | None = None,
        per_page: int | None = None,
    ) -> tuple[Sequence[Row], int]:
        """One page of the commits that a name reaches, and how many there are.

        The newest come first, but none before its children, whatever dates clients gave them.
        """
        limit, offset = window(page, per_page)
        conditions = ["commits.id IN (SELECT id FROM reach)"]
        reach, parameters = self._reach(repository, name)
        if path is not None and path.strip("/"):
            conditions.append(f"commits.id IN ({_TOUCHING})")
            parameters["path"] = path.strip("/")
        if author:
            conditions.append(
                "(commits.author_email = :author OR commits.author_id ="
                " (SELECT id FROM accounts WHERE login = :author))"
            )
            parameters["author"] = author
        if since:
            conditions.append("commits.committed_at >= :since")
            parameters["since"] = parse_time(since, "since")
        if until:
            conditions.append("commits.committed_at <= :until")
            parameters["until"] = parse_time(until, "until", end=True)
        where = " AND ".join(conditions)
        rows = self.fetch(
            text(
                f"{reach} SELECT id, count(*) OVER () AS n FROM commits WHERE {where}"
                " ORDER BY corrected_at DESC, id DESC LIMIT :limit OFFSET :offset"
            ),
            **parameters,
            limit=limit,
            offset=offset,
        )
        if rows or not offset:
            return self.commits_by_id([row["id"] for row in rows]), int(rows[0]["n"]) if rows else 0
        total = self.fetch(text(f"{reach} SELECT count(*) AS n FROM commits WHERE {where}"), **parameters)
        return [], int(total[0]["n"])

    def _reach(self, repository: Row, name: str | None) -> tuple[str, dict[str, Any]]:
        """Build the query for commits reachable from a name, with its parameters."""
        head = self.commit(repository, name)
        # A parent has the smaller id: what ends with this commit is all that it reaches, and nothing else.
        if self.fetch(_NEWEST_IN_HISTORY, repository=repository["id"])[0]["id"] == head["id"]:
            return _REACH_OF_DEFAULT, {"head": repository["id"]}
        return _REACH, {"head": head["id"]}

    def commits_by_id(self, ids: Sequence[int]) -> list[Row]:
        """Commits by their rows, in the given order."""
        rows = {row["id"]: row for row in self.fetch(COMMITS.where(Commit.id.in_(ids)))} if ids else {}
        return [rows[commit_id] for commit_id in ids]

    def changes(self, commit_id: int) -> Sequence[Row]:
        """The files that a commit changed, by path."""
        return self.fetch(_CHANGES, commit=commit_id)

    def commit_details(
        self, repository: Row, name: str, page: int | None, per_page: int | None
    ) -> tuple[Row, dict[str, int], list[tuple[Difference, tuple[int, int]]]]:
        """A commit, how many lines it changed, and one page of its files, each with its numbers of lines."""
        limit, offset = window(page, per_page)
        commit = self.commit(repository, name)
        rows = self.changes(commit["id"])
        additions, deletions = sum(row["additions"] for row in rows), sum(row["deletions"] for row in rows)
        stats = {"additions": additions, "deletions": deletions, "total": additions + deletions}
        return (
            commit,
            stats,
            [(_recorded(row), (row["additions"], row["deletions"])) for row in rows[offset : offset + limit]],
        )

    def parents(self, commit_id: int) -> Sequence[Row]:
        return self.fetch(_PARENTS, commit=commit_id)

    def merge_bases(self, ours: Row, theirs: Row) -> list[str]:
        """The best common ancestors of two commits."""
        common, _ = self._apart(ours["id"], theirs["id"])
        return [str(row["sha"]) for row in self.commits_by_id(sorted(common, reverse=True))]

    def commits_between(self, base: Row, head: Row) -> list[int]:
        """Rows of the commits that ``head`` reaches and ``base`` does not, oldest first."""
        return sorted(self._apart(base["id"], head["id"])[1])

    def edges(self, newest: int) -> Iterator[tuple[int, int]]:
        """Commits and their parents, from this commit on back: each comes after all of its children."""
        many = _FIRST_EDGES
        while rows := self.fetch(_EDGES, newest=newest, many=many):
            last = rows[-1]["commit_id"]
            # The parents of the last one may not all be there.
            whole = len(rows) < many
            for row in rows:
                if whole or row["commit_id"] != last:
                    yield row["commit_id"], row["parent_id"]
            if whole:
                return
            newest, many = last, min(2 * many, _MOST_EDGES)

    def _apart(self, ours: int, theirs: int) -> tuple[list[int], list[int]]:
        """The best common ancestors of two commits, and the commits that only the second reaches.

        Each commit passes on who reaches it; what lies behind a common one is past. Done when nothing else
        is left to be passed on.
        """
        reached = {ours: _OURS}
        reached[theirs] = reached.get(theirs, 0) | _THEIRS
        waiting = {commit for commit, by in reached.items() if by != _COMMON}
        previous = 0
        for commit, parent in self.edges(max(ours, theirs)) if waiting else ():
            if commit != previous:
                waiting.discard(previous)
                if not waiting or commit < min(waiting):
                    break
                previous = commit
            if by := reached.get(commit, 0):
                reached[parent] = reached.get(parent, 0) | (by | _PAST if by & _COMMON == _COMMON else by)
                if reached[parent] & _PAST:
                    waiting.discard(parent)
                else:
                    waiting.add(parent)
        common = [commit for commit, by in reached.items() if by == _COMMON]
        return common, [commit for commit, by in reached.items() if by == _THEIRS]

    def is_ancestor(self, old: Row, head: Row) -> bool:
        rows = self.fetch(_IS_ANCESTOR, old=old["id"], head=head["id"])
        return bool(next(iter(rows[0].values())))

    # -- adding -----------------------------------------------------------------------------------------

    def add_commit(
        self,
        repository: Row,
        tree: str,
        parents: Sequence[Row],
        message: str,
        author: Signature,
        committer: Signature | None = None,
        *,
        authored: datetime | None = None,
        committed: datetime | None = None,
    ) -> Row:
        """Add a commit; no branch moves."""
        commit = GitCommit()
        commit.tree = ObjectID(tree.encode())
        commit.parents = [ObjectID(parent["sha"].encode()) for parent in parents]
        commit.author = _person(author)
        commit.committer = _person(committer or author)
        commit.commit_time = int((committed or self.now).timestamp())
        commit.author_time = int((authored or committed or self.now).timestamp())
        commit.commit_timezone = commit.author_timezone = 0
        commit.encoding = b"UTF-8"
        commit.message = message.encode()
        objects = self.objects(repository)
        objects.add_object(commit)
        return self.index_commit(repository, objects, commit)

    def index_commit(self, repository: Row, objects: ObjectStore, commit: GitCommit) -> Row:
        """Index a stored commit for listing; its parents must be indexed."""
        sha = commit.id.decode()
        if rows := self.fetch(_BY_SHA, network=repository["network"], sha=sha):
            return rows[0]
        author, committer = _signature(commit.author), _signature(commit.committer)
        parents = [self.commit_by_sha(repository, parent.decode()) for parent in commit.parents]
        committed = timestamp(datetime.fromtimestamp(commit.commit_time, tz=UTC))
        row = {
            "network": repository["network"],
            "sha": sha,
            "tree": commit.tree.decode(),
            "author_name": author[0],
            "author_email": author[1],
            "author_id": self._account_of(author[1]),
            "authored_at": timestamp(datetime.fromtimestamp(commit.author_time, tz=UTC)),
            "committer_name": committer[0],
            "committer_email": committer[1],
            "committer_id": self._account_of(committer[1]),
            "committed_at": committed,
            "corrected_at": max([committed, *(parent["corrected_at"] for parent in parents)]),
            "message": commit.message.decode("utf-8", "replace"),
        }
        new = self.insert(Commit, row)
        if parents:
            edges = [
                {"commit_id": new, "position": position, "parent_id": parent["id"]}
                for position, parent in enumerate(parents)
            ]
            self.session.execute(insert(CommitParent), edges)
        self._add_changes(objects, new, row["tree"], [parent["tree"] for parent in parents])
        return self.commit_by_id(new)

    def learn_commits(self, repository: Row, sha: str) -> Row:
        """Index a pushed commit and its new ancestors."""
        objects = self.objects(repository)
        todo = [ObjectID(sha.encode())]
        while todo:
            commit = objects[todo[-1]]
            assert isinstance(commit, GitCommit)
            parents = [parent.decode() for parent in commit.parents]
            unknown = [p for p in parents if not self.fetch(_BY_SHA, network=repository["network"], sha=p)]
            if unknown:
                todo.append(ObjectID(unknown[0].encode()))
            else:
                self.index_commit(repository, objects, commit)
                todo.pop()
        return self.commit_by_sha(repository, sha)

    def move_branch(self, repository: Row, branch: str, commit: Row) -> None:
        """Have a branch, new or not, end at a commit, and everything that follows from it."""
        name = f"refs/heads/{branch}"
        self.check_ref_name(name)
        before = self.ref(repository, name)
        RefTable(self.session, repository["id"])[RefName(name.encode())] = ObjectID(commit["sha"].encode())
        moved = {"pushed_at": self.today, "updated_at": self.today}
        self.update_row(Repository, repository["id"], **moved)
        if branch == repository["default_branch"]:
            self._move_default(repository, before, commit)
        self._move_pull_heads(repository, branch, commit["sha"])

    def set_ref(self, repository: Row, name: str, sha: str) -> None:
        """Set a ref that is not a branch."""
        self.check_ref_name(name)
        RefTable(self.session, repository["id"])[RefName(name.encode())] = ObjectID(sha.encode())

    def check_ref_name(self, name: str) -> None:
        """Refuse a name that git would not take for a ref."""
        if (
            "\0" in name
            or len(name) > 255
            or name.startswith("refs/heads/-")
            or not check_ref_format(RefName(name.removeprefix("refs/").encode()))
        ):
            raise Unprocessable(f"Reference name {name!r} is not valid.")

    def _account_of(self, email: str) -> int | None:
        rows = self.fetch(_BY_EMAIL, email=email)
        return int(rows[0]["id"]) if rows else None

    def _add_changes(self, objects: ObjectStore, commit_id: int, tree: str, parents: Sequence[str]) -> None:
        found = differences(objects, parents[0] if parents else None, tree)
        own = {difference.path for difference in found}
        for other in parents[1:]:
            own &= {difference.path for difference in differences(objects, other, tree)}
        rows = [_change(objects, commit_id, difference, difference.path in own) for difference in found]
        if rows:
            self.session.execute(insert(Change), rows)

    def _move_default(self, repository: Row, before: str | None, commit: Row) -> None:
        old = self.commit_by_sha(repository, before) if before else None
        if old is not None and not self.is_ancestor(old, commit):
            self.session.execute(
                text("DELETE FROM history WHERE repository_id = :repository"),
                {"repository": repository["id"]},
            )
        parameters = {"repository": repository["id"], "head": commit["id"]}
        self.session.execute(_EXTEND_HISTORY, parameters)
        # As in the product, what forks contain is not found by code search.
        if repository["parent_id"] is None:
            self._move_files(repository, self.objects(repository), self._step(repository, old, commit))

    def _step(self, repository: Row, old: Row | None, commit: Row) -> list[Difference]:
        """Return the changes between two commits; cached for consecutive ones."""
        if old is not None and [row["id"] for row in self.parents(commit["id"])][:1] == [old["id"]]:
            return [_recorded(row) for row in self.changes(commit["id"])]
        return differences(self.objects(repository), old["tree"] if old else None, commit["tree"])

    def _move_files(self, repository: Row, objects: ObjectStore, found: Iterable[Difference]) -> None:
        gone: list[str] = []
        new: list[dict[str, Any]] = []
        for difference in found:
            if difference.old_sha:
                gone.append(difference.previous_path or difference.path)
            if difference.new_sha and difference.new_mode != 0o160000:
                new.append(_file(repository, difference, objects.data(difference.new_sha)))
        if gone:
            self.session.execute(
                text("DELETE FROM files WHERE repository_id = :repository AND path = :path"),
                [{"repository": repository["id"], "path": path} for path in gone],
            )
        if new:
            self.session.execute(insert(File), new)

    def _move_pull_heads(self, repository: Row, branch: str, sha: str) -> None:
        """Open pull requests follow their branch."""
        pulls = self.fetch(
            select(PullRequest.issue_id, Issue.number, Issue.repository_id)
            .join(Issue, Issue.id == PullRequest.issue_id)
            .where(
                PullRequest.head_repository_id == repository["id"],
                PullRequest.head_ref == branch,
                Issue.state == "open",
            )
        )
        for pull in pulls:
            self.session.execute(
                update(PullRequest).where(PullRequest.issue_id == pull["issue_id"]).values(head_sha=sha)
            )
            self.update_row(Issue, pull["issue_id"], updated_at=self.today)
            self.set_pull_ref(pull["repository_id"], pull["number"], sha)

    def set_pull_ref(self, repository_id: int, number: int, sha: str) -> None:
        """Keep ``refs/pull/<number>/head``, by which a pull request's commits can be fetched."""
        refs = RefTable(self.session, repository_id)
        refs[RefName(f"refs/pull/{number}/head".encode())] = ObjectID(sha.encode())

    # -- trees ------------------------------------------------------------------------------------------

    def entry(self, objects: ObjectStore, tree: str, path: str) -> tuple[int, str] | None:
        """Mode and name of what lies at a path of a tree, or ``None``."""
        mode, sha = DIRECTORY, tree
        for part in path.split("/") if path else []:
            if mode != DIRECTORY:
                return None
            folder, key = objects.tree(sha), part.encode()
            if key not in folder:
                return None
            mode, name = folder[key]
            sha = name.decode()
        return mode, sha


def _recorded(row: Row) -> Difference:
    return Difference(*(row[name] for name in _DIFFERENCE))


def _person(signature: Signature) -> bytes:
    """A name and an address as git writes them: without the characters that would end them."""
    name, email = (re.sub(r"[<>\n\0]", "", part).strip() for part in signature)
    return f"{name or email} <{email}>".encode()


def _signature(person: bytes) -> Signature:
    name, _, email = person.decode("utf-8", "replace").partition("<")
    return name.strip(), email.rstrip("> ")


def _change(objects: ObjectStore, commit_id: int, difference: Difference, own: bool) -> dict[str, Any]:
    additions, deletions = statistics(objects, difference)
    return {
        "commit_id": commit_id,
        "path": difference.path,
        "previous_path": difference.previous_path,
        "status": difference.status,
        "old_sha": difference.old_sha,
        "new_sha": difference.new_sha,
        "old_mode": difference.old_mode,
        "new_mode": difference.new_mode,
        "additions": additions,
        "deletions": deletions,
        "own": own,
    }


def _file(repository: Row, difference: Difference, data: bytes) -> dict[str, Any]:
    name = difference.path.rpartition("/")[2]
    return {
        "repository_id": repository["id"],
        "network": repository["network"],
        "path": difference.path,
        "name": name,
        "extension": name.rpartition(".")[2] if "." in name[1:] else "",
        "mode": difference.new_mode,
        "sha": difference.new_sha,
        "size": len(data),
        "searchable": len(data) <= MAX_SEARCHABLE and not is_binary(data) and _is_utf8(data),
    }


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
