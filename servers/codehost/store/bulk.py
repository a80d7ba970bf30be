"""Bulk creation for generators: repositories with history, issues and pull requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import delete, insert, select

from mesocosm.errors import Invalid
from mesocosm.servers.codehost.models import (
    Assignee,
    CheckRun,
    Comment,
    Issue,
    IssueLabel,
    Milestone,
    Repository,
    SignIn,
    Status,
    SubIssue,
)
from mesocosm.servers.codehost.store.contents import FILE, valid_path
from mesocosm.servers.codehost.store.history import Signature
from mesocosm.servers.codehost.store.merging import merge
from mesocosm.servers.codehost.store.part import StorePart
from mesocosm.servers.codehost.store.reviews import REVIEW_STATES
from mesocosm.servers.codehost.store.values import (
    MAX_TITLE,
    clean,
    comment_body,
    issue_body,
    moment,
    timestamp,
)
from mesocosm.services.service import Row


@dataclass(frozen=True)
class NewCommit:
    """A commit to be made."""

    message: str
    files: Mapping[str, str | bytes | None]
    """New contents by path; ``None`` removes a file."""
    author: str | Signature
    """A login, or name and e-mail address of somebody without an account."""
    date: datetime | None = None
    """``None``: the world's clock. A commit is never older than its parents."""
    branch: str | None = None
    """``None``: the default branch. A new branch begins at ``start``."""
    start: str | None = None
    """Branch, tag or SHA at which a new branch begins; ``None``: the head of the default branch."""
    merges: str | None = None
    """A branch that this commit merges, which must go without conflicts (``files`` come on top)."""


@dataclass(frozen=True)
class NewComment:
    """A comment on an issue or pull request."""

    author: str
    body: str
    created_at: datetime | None = None


@dataclass(frozen=True)
class NewIssue:
    """An issue to be opened; times default to the world's clock."""

    title: str
    author: str
    body: str = ""
    labels: Sequence[str] = ()
    assignees: Sequence[str] = ()
    comments: Sequence[NewComment] = ()
    state: Literal["open", "closed"] = "open"
    state_reason: str | None = None
    """Of a closed issue; ``None`` means ``completed``."""
    closed_by: str | None = None
    milestone: int | None = None
    """A milestone's number."""
    type: str | None = None
    parent: int | None = None
    """Number of the issue of which this one is a sub-issue."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Values of issue fields by name."""
    created_at: datetime | None = None
    updated_at: datetime | None = None
    closed_at: datetime | None = None


@dataclass(frozen=True)
class NewReview:
    """A review of a pull request."""

    author: str
    event: Literal["APPROVE", "REQUEST_CHANGES", "COMMENT"] | None
    """``None``: the review stays pending."""
    body: str = ""
    comments: Sequence[tuple[str, int, str]] = ()
    """(path, line of the new version, text); the line must be one that the diff shows."""
    at: datetime | None = None


@dataclass(frozen=True)
class NewPull:
    """A pull request to be opened, and what became of it."""

    title: str
    head: str
    """``branch`` or ``owner:branch``."""
    author: str
    base: str | None = None
    """``None``: the default branch."""
    body: str = ""
    draft: bool = False
    labels: Sequence[str] = ()
    assignees: Sequence[str] = ()
    reviewers: Sequence[str] = ()
    comments: Sequence[NewComment] = ()
    reviews: Sequence[NewReview] = ()
    created_at: datetime | None = None
    merged_by: str | None = None
    merge_method: Literal["merge", "squash", "rebase"] = "merge"
    closed_by: str | None = None
    """The user who closed it without merging."""
    ended_at: datetime | None = None
    """When it was merged or closed."""


class Filling(StorePart):
    """Bulk methods for generators."""

    @contextmanager
    def acting_as(self, login: str, at: datetime | None = None) -> Iterator[None]:
        """Act as another account at another time, within the tools' rules."""
        signed_in, now = self.fetch(select(SignIn.account_id)), self.now
        self.store.accounts.sign_in(login)
        if at is not None:
            self.world.set_now(at)
        try:
            yield
        finally:
            self.session.execute(delete(SignIn))
            self.session.expunge_all()
            if signed_in:
                self.session.execute(insert(SignIn), {"id": 1, "account_id": signed_in[0]["account_id"]})
            if at is not None:
                self.world.set_now(now)

    def create_repository(
        self,
        owner: str,
        name: str,
        *,
        description: str = "",
        private: bool = False,
        default_branch: str = "main",
        created_at: datetime | None = None,
        **more: Any,
    ) -> int:
        """An empty repository with the product's default labels; returns its id.

        ``more``: language, topics, stars, homepage, archived.
        """
        new = self.store.repositories.add_repository(
            self.store.accounts.account(owner),
            name,
            description=description,
            private=private,
            default_branch=default_branch,
        )
        self.store.fields.add_default_labels(new)
        if created_at:
            self.update_row(Repository, new, created_at=timestamp(created_at))
        if more:
            self.store.repositories.describe_repository(owner, name, **more)
        return new

    # -- git --------------------------------------------------------------------------------------------

    def add_commits(self, owner: str, name: str, commits: Iterable[NewCommit]) -> list[str]:
        """Commit in the given order; returns the SHAs. Branches move once, at the end."""
        repository = self.store.repositories.any_repository(owner, name)
        heads: dict[str, Row] = {}
        shas = []
        for commit in commits:
            branch = commit.branch or repository["default_branch"]
            head = heads.get(branch) or self._branch_point(repository, branch, commit.start, heads)
            heads[branch] = self._make_commit(repository, heads, head, commit)
            shas.append(str(heads[branch]["sha"]))
        for branch, newest in heads.items():
            self.store.commits.move_branch(repository, branch, newest)
        return shas

    def add_branch(self, owner: str, name: str, branch: str, at: str | None = None) -> None:
        """A branch that begins at a branch, tag or SHA; without ``at`` at the head of the default branch."""
        repository = self.store.repositories.any_repository(owner, name)
        self.store.commits.move_branch(repository, branch, self.store.commits.commit(repository, at))

    def add_tag(
        self,
        owner: str,
        name: str,
        tag: str,
        at: str | None = None,
        *,
        message: str | None = None,
        tagger: str | None = None,
        date: datetime | None = None,
    ) -> str:
        """A tag; with a ``message`` (and a ``tagger``) an annotated one. Returns what its ref points at."""
        repository = self.store.repositories.any_repository(owner, name)
        commit = self.store.commits.commit(repository, at)
        sha = str(commit["sha"])
        if message is not None:
            if tagger is None:
                raise Invalid("An annotated tag needs a tagger.")
            signature = self.store.contents.signature(self.store.accounts.account(tagger))
            sha = self.store.commits.add_annotation(repository, tag, sha, message, signature, date)
        self.store.commits.set_ref(repository, f"refs/tags/{tag}", sha)
        return sha

    def add_statuses(self, owner: str, name: str, statuses: Sequence[Mapping[str, Any]]) -> None:
        """Commit statuses: each ``sha``, ``context``, ``state``; optional ``description``, ``target_url``."""
        self._add_reports(
            Status, owner, name, statuses, {"description": "", "target_url": None}, "created_at"
        )

    def add_check_runs(self, owner: str, name: str, runs: Sequence[Mapping[str, Any]]) -> None:
        """Check runs: each ``sha``, ``name``; optional ``status``, ``conclusion``."""
        done = [{"status": "completed", "conclusion": "success"} | dict(run) for run in runs]
        for run in done:
            finished = run["status"] == "completed"
            run["completed_at"] = self.today if finished else None
            run["conclusion"] = run["conclusion"] if finished else None
        self._add_reports(CheckRun, owner, name, done, {}, "started_at")

    def _add_reports(
        self,
        kind: Any,
        owner: str,
        name: str,
        reports: Sequence[Mapping[str, Any]],
        defaults: Mapping[str, Any],
        time: str,
    ) -> None:
        repository = self.store.repositories.any_repository(owner, name)
        rows = []
        for report in reports:
            sha = self.store.commits.commit(repository, report["sha"])["sha"]
            rows.append(
                {**defaults, time: self.today, "repository_id": repository["id"], **report, "sha": sha}
            )
        if rows:
            self.session.execute(insert(kind), rows)

    def _branch_point(
        self, repository: Row, branch: str, start: str | None, heads: Mapping[str, Row]
    ) -> Row | None:
        existing = self.store.commits.ref(repository, f"refs/heads/{branch}")
        if existing:
            return self.store.commits.commit_by_sha(repository, existing)
        if branch == repository["default_branch"] and start is None:
            return None
        start = start or repository["default_branch"]
        return heads.get(start) or self.store.commits.commit(repository, start)

    def _make_commit(
        self, repository: Row, heads: Mapping[str, Row], head: Row | None, new: NewCommit
    ) -> Row:
        objects = self.store.commits.objects(repository)
        parents = [head] if head else []
        tree = head["tree"] if head else None
        if new.merges is not None:
            other = heads.get(new.merges) or self.store.commits.branch_head(repository, new.merges)
            if head is None:
                raise Invalid("A first commit merges nothing.")
            merged = merge(objects, self.store.commits.merge_bases(head, other), head["sha"], other["sha"])
            if merged.conflicts:
                paths = ", ".join(merged.conflicts)
                raise Invalid(f"Merging {new.merges} conflicts in {paths}.")
            objects.add_objects(merged.objects)
            tree, parents = merged.tree, [head, other]
        date = new.date or self.now
        for parent in parents:
            if moment(parent["committed_at"]) > date + timedelta(seconds=1):
                raise Invalid(f"The commit {new.message!r} is older than its parent.")
        tree = self.store.contents.store_files(objects, tree, _files(new.files))
        author = (
            self.store.contents.signature(self.store.accounts.account(new.author))
            if isinstance(new.author, str)
            else new.author
        )
        return self.store.commits.add_commit(
            repository, tree, parents, new.message, author, authored=date, committed=date
        )

    # -- issues -----------------------------------------------------------------------------------------

    def add_labels(self, owner: str, name: str, labels: Iterable[tuple[str, str, str]]) -> None:
        """Labels: name, colour (six hexadecimal digits), description."""
        repository = self.store.repositories.any_repository(owner, name)
        for label, color, description in labels:
            self.store.fields.add_label(repository, label, color, description)

    def add_issues(self, owner: str, name: str, issues: Iterable[NewIssue]) -> list[int]:
        """Open many issues at once; returns their numbers. Labels that do not exist are made."""
        repository, todo = self.store.repositories.any_repository(owner, name), list(issues)
        first = repository["last_number"] + 1
        numbers = list(range(first, first + len(todo)))
        if not todo:
            return []
        people = self._people_of(todo)
        milestones = self._milestones(repository)
        rows = [
            self._issue_row(repository, number, issue, people, milestones)
            for number, issue in zip(numbers, todo, strict=True)
        ]
        self.session.execute(insert(Issue), rows)
        self.update_row(Repository, repository["id"], last_number=numbers[-1])
        ids = {
            row["number"]: row["id"]
            for row in self.fetch(
                select(Issue.id, Issue.number).where(
                    Issue.repository_id == repository["id"], Issue.number >= first
                )
            )
        }
        self._mark_issues(
            repository, [(ids[n], issue) for n, issue in zip(numbers, todo, strict=True)], people
        )
        return numbers

    def _issue_row(
        self,
        repository: Row,
        number: int,
        issue: NewIssue,
        people: Mapping[str, int],
        milestones: Mapping[int, int],
    ) -> dict[str, Any]:
        created = timestamp(issue.created_at or self.now)
        closed = timestamp(issue.closed_at) if issue.closed_at else created
        last = max([created, *(timestamp(c.created_at) for c in issue.comments if c.created_at)])
        is_closed = issue.state == "closed"
        if issue.type is not None:
            self.store.issues.issue_type(repository, issue.type)
        return {
            "repository_id": repository["id"],
            "number": number,
            "is_pull": False,
            "title": clean(issue.title, "title", limit=MAX_TITLE, blank=False),
            "body": issue_body(issue.body),
            "state": issue.state,
            "state_reason": (issue.state_reason or "completed") if is_closed else None,
            "user_id": people[issue.author.lower()],
            "type": issue.type,
            "milestone_id": milestones[issue.milestone] if issue.milestone is not None else None,
            "comments": len(issue.comments),
            "created_at": created,
            "updated_at": timestamp(issue.updated_at)
            if issue.updated_at
            else max(last, closed if is_closed else last),
            "closed_at": closed if is_closed else None,
            "closed_by_id": people[(issue.closed_by or issue.author).lower()] if is_closed else None,
        }

    def _mark_issues(
        self, repository: Row, issues: Sequence[tuple[int, NewIssue]], people: Mapping[str, int]
    ) -> None:
        """Labels, assignees, comments, parents and fields of new issues."""
        names = dict.fromkeys(label.strip().lower() for _, issue in issues for label in issue.labels)
        given = {label.strip().lower(): label for _, issue in reversed(issues) for label in issue.labels}
        labels = {name: self.store.fields.label_or_new(repository, given[name]) for name in names}
        self._insert_all(
            IssueLabel,
            (
                {"issue_id": issue_id, "label_id": labels[label]}
                for issue_id, issue in issues
                for label in dict.fromkeys(label.strip().lower() for label in issue.labels)
            ),
        )
        self._insert_all(
            Assignee,
            (
                {"issue_id": issue_id, "account_id": people[login]}
                for issue_id, issue in issues
                for login in dict.fromkeys(login.lower() for login in issue.assignees)
            ),
        )
        self._insert_all(
            Comment,
            (self._comment_row(issue_id, c, people) for issue_id, issue in issues for c in issue.comments),
        )
        for issue_id, issue in issues:
            if issue.fields:
                self.store.fields.set_fields(
                    repository, issue_id, [{"field_name": k, "value": v} for k, v in issue.fields.items()]
                )
            if issue.parent is not None:
                parent = self._issue_of(repository, issue.parent)
                order = self.fetch(select(SubIssue.child_id).where(SubIssue.parent_id == parent))
                row = {"child_id": issue_id, "parent_id": parent, "position": len(order) + 1}
                self.session.execute(insert(SubIssue), row)

    def _comment_row(self, issue_id: int, comment: NewComment, people: Mapping[str, int]) -> dict[str, Any]:
        created = timestamp(comment.created_at or self.now)
        return {
            "issue_id": issue_id,
            "user_id": people[comment.author.lower()],
            "body": comment_body(comment.body),
            "created_at": created,
            "updated_at": created,
        }

    def _people_of(self, issues: Iterable[NewIssue]) -> dict[str, int]:
        logins: dict[str, int] = {}
        for issue in issues:
            closers = [issue.closed_by] if issue.closed_by else []
            for login in (issue.author, *issue.assignees, *closers, *(c.author for c in issue.comments)):
                if login.lower() not in logins:
                    logins[login.lower()] = self.store.accounts.account(login)["id"]
        return logins

    def _milestones(self, repository: Row) -> dict[int, int]:
        rows = self.fetch(
            select(Milestone.id, Milestone.number).where(Milestone.repository_id == repository["id"])
        )
        return {row["number"]: row["id"] for row in rows}

    def _issue_of(self, repository: Row, number: int) -> int:
        return int(self.store.issues.issue(repository, number)["id"])

    def _insert_all(self, kind: Any, rows: Iterable[Mapping[str, Any]]) -> None:
        todo = list(rows)
        if todo:
            self.session.execute(insert(kind), todo)

    # -- pull requests ----------------------------------------------------------------------------------

    def add_pull_requests(self, owner: str, name: str, pulls: Iterable[NewPull]) -> list[int]:
        """Open pull requests in the given order, each with its reviews and its end; returns the numbers."""
        return [self._add_pull(owner, name, pull) for pull in pulls]

    def _add_pull(self, owner: str, name: str, new: NewPull) -> int:
        with self.acting_as(new.author, new.created_at):
            repository = self.store.repositories.repository(owner, name)
            pull = self.store.pulls.open_pull(
                repository,
                new.title,
                new.head,
                new.base or repository["default_branch"],
                new.body,
                draft=new.draft,
                reviewers=new.reviewers,
            )
            self.store.issues.set_labels(repository, pull["id"], new.labels)
            self.store.issues.set_assignees(repository, pull["id"], new.assignees)
        for comment in new.comments:
            with self.acting_as(comment.author, comment.created_at or new.created_at):
                self.store.issues.add_comment(repository, pull["number"], comment.body)
        for review in new.reviews:
            with self.acting_as(review.author, review.at or new.created_at):
                self._add_review(repository, pull["number"], review)
        end = new.ended_at or new.created_at
        if new.merged_by:
            with self.acting_as(new.merged_by, end):
                self.store.pulls.merge_pull(repository, pull["number"], new.merge_method)
        elif new.closed_by:
            with self.acting_as(new.closed_by, end):
                self.store.pulls.change_pull(repository, pull["number"], state="closed")
        return int(pull["number"])

    def _add_review(self, repository: Row, number: int, new: NewReview) -> None:
        pull = self.store.reviews.start_review(repository, number, None, new.body)
        for path, line, body in new.comments:
            self.store.reviews.comment_on_line(repository, pull, path, line, "RIGHT", body)
        if new.event is not None:
            assert new.event in REVIEW_STATES
            self.store.reviews.submit_review(repository, number, new.event, new.body)


def _files(files: Mapping[str, str | bytes | None]) -> dict[str, tuple[int, bytes] | None]:
    return {
        valid_path(path): None if data is None else (FILE, data.encode() if isinstance(data, str) else data)
        for path, data in files.items()
    }
