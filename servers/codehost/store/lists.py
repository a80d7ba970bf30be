"""Lists that only the REST API has: repositories of an account, issues by page, reactions, milestones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, bindparam, func, or_, select, true
from sqlalchemy.orm import aliased

from mesocosm.servers.codehost.models import (
    Account,
    Assignee,
    Collaborator,
    Comment,
    Commit,
    Issue,
    IssueLabel,
    Label,
    Member,
    Milestone,
    PullRequest,
    Reaction,
    Repository,
    Review,
    ReviewComment,
    ReviewThread,
)
from mesocosm.servers.codehost.store.issues import ISSUES
from mesocosm.servers.codehost.store.part import StorePart
from mesocosm.servers.codehost.store.pulls import PULLS
from mesocosm.servers.codehost.store.queries import Where
from mesocosm.servers.codehost.store.values import (
    Unprocessable,
    clean,
    issue_title,
    known,
    ordered,
    parse_time,
    window,
)
from mesocosm.services.service import Row

_USER = aliased(Account, name="author")
_REPOSITORY_SORTS = {
    "created": "repositories.created_at",
    "updated": "repositories.updated_at",
    "pushed": "repositories.pushed_at",
    "full_name": "lower(accounts.login || '/' || repositories.name)",
}
_MINE = {
    "owner": "repositories.owner_id = {}",
    "collaborator": "repositories.id IN (SELECT repository_id FROM collaborators WHERE account_id = {})",
    "organization_member": "repositories.owner_id IN"
    " (SELECT organization_id FROM members WHERE account_id = {})",
}
_FORKS = "repositories.parent_id = {}"
_ISSUE_SORTS = {"created": Issue.created_at, "updated": Issue.updated_at, "comments": Issue.comments}
_COMMENT = (
    select(*Comment.__table__.c, _USER.login.label("user"))
    .join(_USER, _USER.id == Comment.user_id)
    .join(Issue, Issue.id == Comment.issue_id)
    .where(Comment.id == bindparam("id"), Issue.repository_id == bindparam("repository"))
)
_COMMENT_OF_ALL = (
    select(*Comment.__table__.c, _USER.login.label("user"), Issue.number)
    .join(_USER, _USER.id == Comment.user_id)
    .join(Issue, Issue.id == Comment.issue_id)
)
_REACTIONS = (
    select(*Reaction.__table__.c, _USER.login.label("user"))
    .join(_USER, _USER.id == Reaction.user_id)
    .where(Reaction.subject == bindparam("subject"), Reaction.subject_id == bindparam("id"))
    .order_by(Reaction.id)
)
_REVIEW_COMMENTS = (
    select(
        *ReviewComment.__table__.c,
        ReviewThread.path,
        ReviewThread.line,
        ReviewThread.side,
        ReviewThread.blob_sha,
        Review.commit_sha,
        Review.pull_id,
        _USER.login.label("user"),
    )
    .join(ReviewThread, ReviewThread.id == ReviewComment.thread_id)
    .join(Review, Review.id == ReviewComment.review_id)
    .join(_USER, _USER.id == ReviewComment.user_id)
    .where(or_(Review.state != "PENDING", Review.user_id == bindparam("me")))
    .order_by(ReviewComment.id)
)
_FIRST_OF_THREAD = (
    select(ReviewComment.thread_id, func.min(ReviewComment.id).label("id"))
    .where(ReviewComment.thread_id.in_(bindparam("threads", expanding=True)))
    .group_by(ReviewComment.thread_id)
)
_MILESTONES = select(
    *Milestone.__table__.c,
    *(
        select(func.count())
        .where(Issue.milestone_id == Milestone.id, Issue.state == state)
        .scalar_subquery()
        .label(f"{state}_issues")
        for state in ("open", "closed")
    ),
    select(Account.login).where(Account.id == Milestone.creator_id).scalar_subquery().label("creator"),
).where(Milestone.repository_id == bindparam("repository"))
_FORK = aliased(Repository, name="fork")
_NUMBERS = select(
    select(func.count()).where(_FORK.parent_id == bindparam("repository")).scalar_subquery().label("forks"),
    select(func.count())
    .where(Issue.repository_id == bindparam("repository"), Issue.state == "open")
    .scalar_subquery()
    .label("open_issues"),
)
_ORGANIZATIONS = (
    select(*Account.__table__.c)
    .join(Member, Member.organization_id == Account.id)
    .where(Member.account_id == bindparam("account"))
    .order_by(Account.id)
)
_MEMBERS = (
    select(Account.id, Account.login, Member.role)
    .join(Member, Member.account_id == Account.id)
    .where(Member.organization_id == bindparam("organization"))
    .order_by(func.lower(Account.login))
)
_BROUGHT = (
    PULLS.join(Commit, Commit.sha == PullRequest.head_sha)
    .where(
        Issue.repository_id == bindparam("repository"),
        Commit.network == bindparam("network"),
        or_(Commit.id >= bindparam("commit"), PullRequest.merge_sha == bindparam("sha")),
        or_(Issue.state == "open", PullRequest.merged_at.is_not(None)),
    )
    .order_by(Issue.id.desc())
)


class Listing(StorePart):
    """Lists that only the REST API gives, or gives in its own way."""

    def repositories(
        self,
        *,
        owner: str | None = None,
        fork_of: int | None = None,
        affiliation: Sequence[str] = tuple(_MINE),
        visibility: str = "all",
        sort: str | None = None,
        direction: str | None = None,
        page: int | None = None,
        per_page: int | None = None,
    ) -> tuple[Sequence[Row], int]:
        """Repositories of an owner, forks of a repository, or else those that are the signed-in account's.

        Returns the ``id`` of each on the page, and how many there are.
        """
        limit, offset = window(page, per_page)
        where = self.store.searching.seen()
        if fork_of is not None:
            where.add(_FORKS, fork_of)
        elif owner is not None:
            where.add("repositories.owner_id = {}", self.store.accounts.account(owner)["id"])
        else:
            self._add_affiliation(where, affiliation)
        if visibility != "all":
            where.add("repositories.private", negated=visibility != "private")
        column = _REPOSITORY_SORTS.get(sort or "full_name")
        if column is None:
            raise Unprocessable(
                f"Validation Failed: sort {sort!r} is not one of {', '.join(_REPOSITORY_SORTS)}."
            )
        descending = (direction or ("asc" if (sort or "full_name") == "full_name" else "desc")) == "desc"
        order = f"{column} {'DESC' if descending else 'ASC'}, repositories.id"
        source = "repositories JOIN accounts ON accounts.id = repositories.owner_id"
        return self.store.searching.run(where, source, "repositories.id", order, limit, offset)

    def _add_affiliation(self, where: Where, affiliation: Sequence[str]) -> None:
        unknown = [name for name in affiliation if name not in _MINE]
        if unknown:
            raise Unprocessable(
                f"Validation Failed: affiliation {unknown[0]!r} is not one of {', '.join(_MINE)}."
            )
        where.any_of([(_MINE[name], self.me["id"]) for name in affiliation])

    def repository_numbers(self, repository_id: int) -> Row:
        """Count a repository's forks and open issues, pull requests included."""
        return self.fetch(_NUMBERS, repository=repository_id)[0]

    def organizations(self, account_id: int) -> Sequence[Row]:
        """The organisations that somebody belongs to."""
        return self.fetch(_ORGANIZATIONS, account=account_id)

    def members(self, organization_id: int, role: str) -> Sequence[Row]:
        """List an organisation's members by login; ``role`` is ``all``, ``admin`` or ``member``."""
        rows = self.fetch(_MEMBERS, organization=organization_id)
        return [row for row in rows if role in ("all", row["role"])]

    def pulls_with(self, repository: Row, commit: Row) -> Sequence[Row]:
        """The open and merged pull requests that have a commit, or were merged as it, the newest first."""
        chosen = {"repository": repository["id"], "network": commit["network"]}
        rows = self.fetch(_BROUGHT, **chosen, commit=commit["id"], sha=commit["sha"])
        return [row for row in rows if self._brings(repository, row, commit)]

    def _brings(self, repository: Row, pull: Row, commit: Row) -> bool:
        if pull["merge_sha"] == commit["sha"]:
            return True
        return self.store.commits.is_ancestor(
            commit, self.store.pulls.head_of(repository, pull)
        ) and not self.store.commits.is_ancestor(commit, self.store.pulls.base_of(repository, pull))

    def issue_page(
        self,
        repository: Row,
        *,
        state: str = "open",
        labels: Sequence[str] = (),
        assignee: str | None = None,
        creator: str | None = None,
        milestone: str | None = None,
        kind: str | None = None,
        since: str | None = None,
        mentioned: str | None = None,
        pulls: bool | None = None,
        sort: str = "created",
        direction: str = "desc",
        page: int | None = None,
        per_page: int | None = None,
    ) -> tuple[Sequence[Row], int]:
        """One page of the issues and pull requests (or of the ones alone), and how many there are.

        ``assignee`` and ``milestone`` (a number) may be ``none`` or ``*``.
        """
        limit, offset = window(page, per_page)
        conditions: list[Any] = [Issue.repository_id == repository["id"]]
        conditions += self._filters(state, labels, since, pulls)
        if mentioned is not None:
            conditions.append(Issue.body.icontains(f"@{mentioned}", autoescape=True))
        if assignee is not None:
            conditions.append(self._assigned(assignee))
        if creator is not None:
            by = select(Account.id).where(Account.login == creator)
            conditions.append(Issue.user_id.in_(by))
        if milestone is not None:
            conditions.append(self._in_milestone(repository, milestone))
        if kind is not None:
            conditions.append(func.lower(Issue.type) == kind.lower())
        order = ordered(direction, _ISSUE_SORTS[sort], Issue.id)
        total = self.fetch(select(func.count().label("n")).select_from(Issue).where(*conditions))
        rows = self.fetch(ISSUES.where(*conditions).order_by(*order).limit(limit).offset(offset))
        return rows, int(total[0]["n"])

    def own_issues(
        self,
        concern: str,
        *,
        owner_id: int | None,
        state: str,
        labels: Sequence[str],
        since: str | None,
        pulls: bool | None,
        sort: str,
        direction: str,
        page: int | None,
        per_page: int | None,
    ) -> tuple[Sequence[Row], int]:
        """One page of the issues and pull requests that concern the signed-in account, and their number.

        ``concern`` is ``assigned``, ``created``, ``mentioned``, ``subscribed`` (any of these), ``repos`` or
        ``all`` (whatever lies in a repository that is the account's, personally or by its organisations).
        """
        login = self.me["login"]
        kinds = {
            "assigned": self._assigned(login),
            "created": Issue.user_id == self.me["id"],
            "mentioned": Issue.body.icontains(f"@{login}", autoescape=True),
        }
        if concern in kinds:
            concerned = kinds[concern]
        elif concern == "subscribed":
            concerned = or_(*kinds.values())
        else:
            own = select(Member.organization_id).where(Member.account_id == self.me["id"])
            shared = select(Collaborator.repository_id).where(Collaborator.account_id == self.me["id"])
            concerned = or_(
                Repository.owner_id == self.me["id"], Repository.owner_id.in_(own), Repository.id.in_(shared)
            )
        homes = select(Repository.id)
        if owner_id is not None:
            homes = homes.where(Repository.owner_id == owner_id)
        if concern in ("repos", "all"):
            homes, concerned = homes.where(concerned), true()
        conditions = [Issue.repository_id.in_(homes), concerned]
        conditions += self._filters(state, labels, since, pulls)
        order = ordered(direction, _ISSUE_SORTS[sort], Issue.id)
        rows = self.store.issues.readable(self.fetch(ISSUES.where(*conditions).order_by(*order)))
        limit, offset = window(page, per_page)
        return rows[offset : offset + limit], len(rows)

    def _filters(
        self, state: str, labels: Sequence[str], since: str | None, pulls: bool | None
    ) -> list[ColumnElement[bool]]:
        """Build the filters shared by lists of issues of one and of many repositories."""
        conditions: list[ColumnElement[bool]] = []
        if pulls is not None:
            conditions.append(Issue.is_pull.is_(pulls))
        if state != "all":
            conditions.append(Issue.state == state)
        for label in labels:
            having = select(IssueLabel.issue_id).join(Label, Label.id == IssueLabel.label_id)
            having = having.where(Label.repository_id == Issue.repository_id, Label.name == label)
            conditions.append(Issue.id.in_(having))
        if since is not None:
            conditions.append(Issue.updated_at >= parse_time(since, "since"))
        return conditions

    def _assigned(self, assignee: str) -> Any:
        assigned = select(Assignee.issue_id)
        if assignee == "none":
            return Issue.id.not_in(assigned)
        if assignee != "*":
            assigned = assigned.join(Account, Account.id == Assignee.account_id).where(
                Account.login == assignee
            )
        return Issue.id.in_(assigned)

    def _in_milestone(self, repository: Row, milestone: str) -> Any:
        if milestone in ("none", "*"):
            return Issue.milestone_id.is_(None) if milestone == "none" else Issue.milestone_id.is_not(None)
        if not (milestone.isascii() and milestone.isdecimal()):
            raise Unprocessable(
                f"Validation Failed: milestone {milestone!r} is neither a number, none nor *."
            )
        return Issue.milestone_id == self.milestone(repository, int(milestone))["id"]

    def comment_by_id(self, repository: Row, comment_id: int) -> Row:
        return self.one(_COMMENT, id=known(comment_id), repository=repository["id"])

    def all_comments(self, repository: Row, sort: str, direction: str, since: str | None) -> Sequence[Row]:
        """The comments of all conversations of a repository, each with the number of its issue."""
        found = _COMMENT_OF_ALL.where(Issue.repository_id == repository["id"])
        if since is not None:
            found = found.where(Comment.updated_at >= parse_time(since, "since"))
        column = Comment.updated_at if sort == "updated" else Comment.created_at
        return self.fetch(found.order_by(*ordered(direction, column, Comment.id)).limit(10_000))

    def issue_of_comment(self, comment_id: int) -> Row:
        """The issue or pull request in whose conversation a comment is."""
        found = self.one(select(Comment.issue_id).where(Comment.id == known(comment_id)))
        return self.store.issues.issue_by_id(found["issue_id"])

    def reaction_list(self, subject: str, subject_id: int) -> Sequence[Row]:
        """The reactions to something, oldest first."""
        return self.fetch(_REACTIONS, subject=subject, id=subject_id)

    def review_comments(self, pull: Row, review_id: int | None = None) -> Sequence[Row]:
        """The comments on lines of a pull request, or those of one review, oldest first."""
        found = _REVIEW_COMMENTS.where(Review.pull_id == bindparam("pull"))
        if review_id is not None:
            found = found.where(Review.id == review_id)
        return self._with_replies(self.fetch(found, pull=pull["id"], me=self.me["id"]))

    def all_review_comments(
        self, repository: Row, sort: str, direction: str, since: str | None
    ) -> Sequence[Row]:
        """The comments on lines of all pull requests of a repository, each with the number of its own."""
        found = _REVIEW_COMMENTS.join(Issue, Issue.id == Review.pull_id).add_columns(Issue.number)
        found = found.where(Issue.repository_id == bindparam("repository"))
        if since is not None:
            found = found.where(ReviewComment.updated_at >= parse_time(since, "since"))
        column = ReviewComment.updated_at if sort == "updated" else ReviewComment.created_at
        found = found.order_by(None).order_by(*ordered(direction, column, ReviewComment.id))
        return self._with_replies(self.fetch(found, repository=repository["id"], me=self.me["id"]))

    def review_comment_in_full(self, repository: Row, comment_id: int) -> Row:
        """A comment on a line by its id, with the line."""
        there = self.store.reviews.review_comment(repository, comment_id)
        found = _REVIEW_COMMENTS.where(ReviewComment.id == bindparam("id"))
        return self._with_replies(self.fetch(found, id=there["id"], me=self.me["id"]))[0]

    def _with_replies(self, comments: Sequence[Row]) -> list[Row]:
        """Comments, each with the first one of its thread if that is another one."""
        threads = list(dict.fromkeys(row["thread_id"] for row in comments))
        rows = self.fetch(_FIRST_OF_THREAD, threads=threads) if threads else ()
        first = {row["thread_id"]: row["id"] for row in rows}
        return [
            {**row, "reply_to": first[row["thread_id"]] if first[row["thread_id"]] != row["id"] else None}
            for row in comments
        ]

    def milestones(self, repository: Row, state: str = "open") -> Sequence[Row]:
        """The milestones of a repository by number, each with how many issues it has."""
        found = _MILESTONES if state == "all" else _MILESTONES.where(Milestone.state == state)
        return self.fetch(found.order_by(Milestone.number), repository=repository["id"])

    def milestone(self, repository: Row, number: int) -> Row:
        found = _MILESTONES.where(Milestone.number == known(number))
        return self.one(found, repository=repository["id"])

    def milestones_by_id(self, repository_ids: Sequence[int]) -> dict[int, Row]:
        """All milestones of these repositories by their ids."""
        found = [row for id_ in repository_ids for row in self.fetch(_MILESTONES, repository=id_)]
        return {row["id"]: row for row in found}

    def new_milestone(
        self, repository: Row, title: str, description: str = "", due_on: str | None = None
    ) -> Row:
        """Create a milestone; requires write access."""
        self.store.repositories.require(repository, "write")
        title = issue_title(title)
        if any(row["title"].lower() == title.lower() for row in self.milestones(repository, "all")):
            raise Unprocessable("Validation Failed: the milestone already_exists.")
        number = self.store.fields.add_milestone(
            repository["owner"],
            repository["name"],
            title,
            description=clean(description, "description"),
            due_on=parse_time(due_on, "due_on") if due_on else None,
            by=self.me["id"],
        )
        return self.milestone(repository, number)
