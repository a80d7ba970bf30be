"""Issues: reading, opening and changing them, comments, reactions, sub-issues."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import BindParameter, bindparam, delete, func, insert, or_, select, update
from sqlalchemy.orm import aliased

from mesocosm.errors import Conflict, Denied, NotFound
from mesocosm.servers.codehost.models import (
    Account,
    Assignee,
    Comment,
    Issue,
    IssueLabel,
    Label,
    Milestone,
    PullRequest,
    Reaction,
    Repository,
    SubIssue,
)
from mesocosm.servers.codehost.store.part import StorePart
from mesocosm.servers.codehost.store.values import (
    ISSUE,
    Unprocessable,
    comment_body,
    cursor,
    issue_body,
    issue_title,
    known,
    parse_cursor,
    parse_time,
    window,
)
from mesocosm.services.service import Row
from mesocosm.services.values import checked

ISSUE_TYPES = ("Task", "Bug", "Feature")
"""The types that every organisation of the product begins with; personal repositories have none."""
MAX_ASSIGNEES = 10
MAX_SUB_ISSUES = 100
UNCHANGED = "\0unchanged"
"""Stands for an argument that was left out, where ``None`` means something else."""

_USER = aliased(Account, name="author")
_CLOSER = aliased(Account, name="closer")
_OWNER = aliased(Account, name="owner")
ISSUES = (
    select(
        *Issue.__table__.c,
        _USER.login.label("user"),
        _CLOSER.login.label("closed_by"),
        Milestone.title.label("milestone"),
        Milestone.number.label("milestone_number"),
        Repository.name.label("repository"),
        Repository.owner_id,
        _OWNER.login.label("owner"),
        PullRequest.draft,
        PullRequest.merged_at,
    )
    .join(_USER, _USER.id == Issue.user_id)
    .join(Repository, Repository.id == Issue.repository_id)
    .join(_OWNER, _OWNER.id == Repository.owner_id)
    .outerjoin(_CLOSER, _CLOSER.id == Issue.closed_by_id)
    .outerjoin(Milestone, Milestone.id == Issue.milestone_id)
    .outerjoin(PullRequest, PullRequest.issue_id == Issue.id)
)
_BY_NUMBER = ISSUES.where(Issue.repository_id == bindparam("repository"), Issue.number == bindparam("number"))
_BY_ID = ISSUES.where(Issue.id == bindparam("id"))
_COMMENT_COLUMNS = select(*Comment.__table__.c, _USER.login.label("user")).join(
    _USER, _USER.id == Comment.user_id
)
_COMMENTS = (
    _COMMENT_COLUMNS.where(Comment.issue_id == bindparam("issue"))
    .order_by(Comment.id)
    .limit(bindparam("limit"))
    .offset(bindparam("offset"))
)
_COMMENT = _COMMENT_COLUMNS.where(Comment.id == bindparam("id"), Comment.issue_id == bindparam("issue"))
_IDS: BindParameter[Any] = bindparam("ids", expanding=True)
_LABELS = (
    select(IssueLabel.issue_id, *Label.__table__.c)
    .join(Label, Label.id == IssueLabel.label_id)
    .where(IssueLabel.issue_id.in_(_IDS))
    .order_by(IssueLabel.issue_id, Label.name)
)
_ASSIGNEES = (
    select(Assignee.issue_id, Account.id, Account.login)
    .join(Account, Account.id == Assignee.account_id)
    .where(Assignee.issue_id.in_(_IDS))
    .order_by(Assignee.issue_id, Account.login)
)
_REACTIONS = (
    select(Reaction.subject_id, Reaction.content, func.count().label("count"))
    .where(Reaction.subject == bindparam("subject"), Reaction.subject_id.in_(_IDS))
    .group_by(Reaction.subject_id, Reaction.content)
)
_SUB_ISSUES = (
    ISSUES.join(SubIssue, SubIssue.child_id == Issue.id)
    .where(SubIssue.parent_id == bindparam("parent"))
    .order_by(SubIssue.position)
)
_PARENT = ISSUES.join(SubIssue, SubIssue.parent_id == Issue.id).where(SubIssue.child_id == bindparam("child"))
_ORDERS: Mapping[str, tuple[Any, type]] = {
    "CREATED_AT": (Issue.created_at, str),
    "UPDATED_AT": (Issue.updated_at, str),
    "COMMENTS": (Issue.comments, int),
}


class Issues(StorePart):
    """Issues, and the conversations of pull requests."""

    # -- reading ----------------------------------------------------------------------------------------

    def issue(self, repository: Row, number: int, *, pull: bool | None = None) -> Row:
        """An issue or pull request by its number; ``pull`` says which of the two it must be."""
        rows = self.fetch(_BY_NUMBER, repository=repository["id"], number=known(number))
        if not rows or (pull is not None and rows[0]["is_pull"] != pull):
            raise NotFound("Not Found")
        return rows[0]

    def issue_by_id(self, issue_id: int) -> Row:
        return self.one(_BY_ID, id=known(issue_id))

    def listed(
        self,
        repository: Row,
        *,
        state: str | None = None,
        labels: Sequence[str] = (),
        since: str | None = None,
        field_filters: Sequence[tuple[str, str]] = (),
        order_by: str | None = None,
        direction: str | None = None,
        after: str | None = None,
        per_page: int | None = None,
    ) -> tuple[list[Row], int, bool]:
        """Issues after a cursor, how many there are in all, and whether more follow."""
        limit, _ = window(1, per_page)
        column, kind = _ORDERS[order_by or "CREATED_AT"]
        conditions = [Issue.repository_id == repository["id"], Issue.is_pull.is_(False)]
        if state:
            conditions.append(Issue.state == state.lower())
        for label in labels:
            labelled = select(IssueLabel.issue_id).join(Label, Label.id == IssueLabel.label_id)
            conditions.append(
                Issue.id.in_(labelled.where(Label.repository_id == repository["id"], Label.name == label))
            )
        if since:
            conditions.append(Issue.updated_at >= parse_time(since, "since"))
        conditions += [
            self.store.fields.field_condition(repository, name, value) for name, value in field_filters
        ]
        total = self.fetch(select(func.count().label("n")).select_from(Issue).where(*conditions))[0]["n"]
        ascending = direction == "ASC"
        if after:
            value, last = parse_cursor(after, (kind, int))
            beyond = column > value if ascending else column < value
            further = Issue.id > last if ascending else Issue.id < last
            conditions.append(or_(beyond, (column == value) & further))
        order = (column, Issue.id) if ascending else (column.desc(), Issue.id.desc())
        rows = list(self.fetch(ISSUES.where(*conditions).order_by(*order).limit(limit + 1)))
        return rows[:limit], total, len(rows) > limit

    @staticmethod
    def issue_cursor(issue: Row, order_by: str | None) -> str:
        """The position just after an issue in such a list."""
        return cursor([issue[_ORDERS[order_by or "CREATED_AT"][0].key], issue["id"]])

    def labels_of(self, issue_ids: Sequence[int]) -> Mapping[int, list[Row]]:
        """The labels of each of these issues."""
        return self._by(self.fetch(_LABELS, ids=issue_ids) if issue_ids else (), "issue_id")

    def assignees_of(self, issue_ids: Sequence[int]) -> Mapping[int, list[Row]]:
        """The assignees of each of these issues."""
        return self._by(self.fetch(_ASSIGNEES, ids=issue_ids) if issue_ids else (), "issue_id")

    def reactions_of(self, subject: str, ids: Sequence[int]) -> Mapping[int, dict[str, int]]:
        """Count the reactions to each subject by emoji."""
        counts: dict[int, dict[str, int]] = defaultdict(dict)
        for row in self.fetch(_REACTIONS, subject=subject, ids=ids) if ids else ():
            counts[row["subject_id"]][row["content"]] = row["count"]
        return counts

    def comments(self, issue: Row, page: int | None, per_page: int | None) -> tuple[Sequence[Row], int]:
        """One page of the comments of an issue, oldest first, and how many there are."""
        limit, offset = window(page, per_page)
        return self.fetch(_COMMENTS, issue=issue["id"], limit=limit, offset=offset), issue["comments"]

    def sub_issues(self, issue: Row) -> Sequence[Row]:
        """The sub-issues of an issue in their order (there are at most 100)."""
        return self.readable(self.fetch(_SUB_ISSUES, parent=issue["id"]))

    def sub_issue_page(self, issue: Row, page: int | None, per_page: int | None) -> tuple[Sequence[Row], int]:
        """One page of the sub-issues, and how many there are."""
        limit, offset = window(page, per_page)
        rows = self.sub_issues(issue)
        return rows[offset : offset + limit], len(rows)

    def sub_issue_summary(self, issue: Row) -> Row:
        """Count the sub-issues, and those that are closed."""
        states = [child["state"] for child in self.sub_issues(issue)]
        total, done = len(states), states.count("closed")
        percent = done * 100 // total if total else 0
        return {"total": total, "completed": done, "percent_completed": percent}

    def parent_issue(self, issue: Row) -> Row | None:
        """The issue that this one is part of."""
        rows = self.readable(self.fetch(_PARENT, child=issue["id"]))
        return rows[0] if rows else None

    # -- writing ----------------------------------------------------------------------------------------

    def open_issue(
        self,
        repository: Row,
        title: str | None = None,
        body: str | None = None,
        *,
        labels: Sequence[str] | None = None,
        assignees: Sequence[str] | None = None,
        milestone: int | None = None,
        issue_type: str | None = None,
        fields: Sequence[Mapping[str, Any]] = (),
    ) -> Row:
        """A new issue by the signed-in account.

        As in the product, labels, assignees, milestone and type of somebody who may not triage are dropped.
        """
        self.store.repositories.writable(repository)
        if title is None:
            raise Unprocessable("missing required parameter: title")
        issue_id = self.add_issue(repository, title, body or "", is_pull=False)
        if self.store.repositories.may(repository, "triage"):
            self.set_labels(repository, issue_id, labels or ())
            self.set_assignees(repository, issue_id, assignees or ())
            changes = {
                "milestone_id": self._milestone(repository, milestone) if milestone is not None else None,
                "type": self.issue_type(repository, issue_type) if issue_type else None,
            }
            self.update_row(Issue, issue_id, **changes)
            self.store.fields.set_fields(repository, issue_id, fields)
        return self.issue_by_id(issue_id)

    def add_issue(self, repository: Row, title: str, body: str, *, is_pull: bool) -> int:
        """The row of an issue or pull request with the next number; returns its id."""
        number = self.session.execute(
            update(Repository)
            .where(Repository.id == repository["id"])
            .values(last_number=Repository.last_number + 1)
            .returning(Repository.last_number)
        ).scalar_one()
        row = {
            "repository_id": repository["id"],
            "number": number,
            "is_pull": is_pull,
            "title": issue_title(title),
            "body": issue_body(body),
            "user_id": self.me["id"],
            "created_at": self.today,
            "updated_at": self.today,
        }
        return self.insert(Issue, row)

    def change_issue(
        self,
        repository: Row,
        number: int,
        *,
        title: str | None = None,
        body: str | None = None,
        labels: Sequence[str] | None = None,
        assignees: Sequence[str] | None = None,
        milestone: int | None = None,
        issue_type: str | None = UNCHANGED,
        state: str | None = None,
        state_reason: str | None = None,
        duplicate_of: int | None = None,
        fields: Sequence[Mapping[str, Any]] = (),
    ) -> Row:
        """Change the given attributes; requires the author or triage rights."""
        self.store.repositories.writable(repository)
        issue = self.issue(repository, number)
        self.require_author_or(repository, issue, "triage")
        triage = self.store.repositories.may(repository, "triage")
        said = {"title": title, "body": body}
        changes = checked({name: text for name, text in said.items() if text is not None}, ISSUE)
        if triage and milestone is not None:
            changes["milestone_id"] = self._milestone(repository, milestone)
        if triage and issue_type != UNCHANGED:
            changes["type"] = self.issue_type(repository, issue_type) if issue_type else None
        if (title, body) != (None, None) and not self._may_edit(repository, issue):
            raise Denied("Must have write access to edit the issues of others.")
        if state is not None:
            changes |= self._state_changes(repository, issue, state, state_reason, duplicate_of)
        if triage and labels is not None:
            self.set_labels(repository, issue["id"], labels)
        if triage and assignees is not None:
            self.set_assignees(repository, issue["id"], assignees)
        if triage:
            self.store.fields.set_fields(repository, issue["id"], fields)
        self.update_row(Issue, issue["id"], updated_at=self.today, **changes)
        return self.issue_by_id(issue["id"])

    def add_comment(self, repository: Row, number: int, body: str) -> Row:
        """A new comment by the signed-in account."""
        self.store.repositories.writable(repository)
        issue = self.issue(repository, number)
        if issue["locked"] and not self.store.repositories.may(repository, "write"):
            raise Denied("Unable to create comment because issue is locked.")
        row = {
            "issue_id": issue["id"],
            "user_id": self.me["id"],
            "body": comment_body(body),
            "created_at": self.today,
            "updated_at": self.today,
        }
        comment = self.insert(Comment, row)
        self.update_row(Issue, issue["id"], comments=Issue.comments + 1, updated_at=self.today)
        return self.fetch(_COMMENT, id=comment, issue=issue["id"])[0]

    def comment(self, issue: Row, comment_id: int) -> Row:
        return self.one(_COMMENT, id=known(comment_id), issue=issue["id"])

    def react(self, repository: Row, subject: str, subject_id: int, content: str) -> int:
        """Put an emoji to something; doing so again is the same reaction."""
        self.store.repositories.writable(repository)
        me = self.me["id"]
        found = self.fetch(
            select(Reaction.id).where(
                Reaction.subject == subject,
                Reaction.subject_id == subject_id,
                Reaction.user_id == me,
                Reaction.content == content,
            )
        )
        if found:
            return int(found[0]["id"])
        row = {"subject": subject, "subject_id": subject_id, "user_id": me, "content": content}
        row["created_at"] = self.today
        return self.insert(Reaction, row)

    def add_sub_issue(
        self, repository: Row, number: int, child_id: int, *, replace_parent: bool = False
    ) -> Row:
        """Make an issue part of another one; returns the parent."""
        parent, child = self._parent_and_child(repository, number, child_id)
        if parent["id"] == child["id"]:
            raise Unprocessable("Issue cannot be its own sub-issue.")
        above: Row | None = parent
        while above:
            if above["id"] == child["id"]:
                raise Unprocessable("Sub-issue cannot be an ancestor of its parent.")
            rows = self.fetch(_PARENT, child=above["id"])
            above = rows[0] if rows else None
        there = self.fetch(_PARENT, child=child["id"])
        if there and there[0]["id"] == parent["id"]:
            raise Unprocessable("Issue may not contain duplicate sub-issues.")
        if there and not replace_parent:
            raise Unprocessable("Sub-issue may only have one parent.")
        siblings = [row["id"] for row in self.fetch(_SUB_ISSUES, parent=parent["id"])]
        if len(siblings) >= MAX_SUB_ISSUES:
            raise Unprocessable(f"Parent cannot have more than {MAX_SUB_ISSUES} sub-issues.")
        self.session.execute(delete(SubIssue).where(SubIssue.child_id == child["id"]))
        self._order_sub_issues(parent["id"], [*siblings, child["id"]])
        return parent

    def remove_sub_issue(self, repository: Row, number: int, child_id: int) -> Row:
        """Take an issue out of its parent; returns the child."""
        parent, child = self._parent_and_child(repository, number, child_id)
        self._sub_issue_ids(parent, child)
        self.session.execute(delete(SubIssue).where(SubIssue.child_id == child["id"]))
        return child

    def move_sub_issue(
        self,
        repository: Row,
        number: int,
        child_id: int,
        *,
        after_id: int | None = None,
        before_id: int | None = None,
    ) -> Row:
        """Give a sub-issue another place among its siblings; returns the parent."""
        parent, child = self._parent_and_child(repository, number, child_id)
        if (after_id is None) == (before_id is None):
            raise Unprocessable("Either after_id or before_id must be specified, and not both.")
        order = self._sub_issue_ids(parent, child)
        other = after_id if after_id is not None else before_id
        if other not in order or other == child["id"]:
            raise NotFound("Not Found: the other issue is not a sub-issue of the same parent.")
        order.remove(child["id"])
        order.insert(order.index(other) + (after_id is not None), child["id"])
        self._order_sub_issues(parent["id"], order)
        return parent

    # -- parts ------------------------------------------------------------------------------------------

    def require_author_or(self, repository: Row, issue: Row, need: str) -> None:
        """Refuse changes to other people's content without the role ``need``."""
        if issue["user_id"] != self.me["id"]:
            self.store.repositories.require(repository, need)

    def set_labels(self, repository: Row, issue_id: int, names: Iterable[str]) -> None:
        """Have an issue carry exactly these labels; unknown ones are created, as the product does."""
        ids = list(dict.fromkeys(self.store.fields.label_or_new(repository, name) for name in names))
        self.session.execute(delete(IssueLabel).where(IssueLabel.issue_id == issue_id))
        if ids:
            rows = [{"issue_id": issue_id, "label_id": label_id} for label_id in ids]
            self.session.execute(insert(IssueLabel), rows)

    def set_assignees(self, repository: Row, issue_id: int, logins: Iterable[str]) -> None:
        """Have exactly these people assigned; only those who can read the repository can be."""
        people = list(dict.fromkeys(self._assignable(repository, login) for login in logins))
        if len(people) > MAX_ASSIGNEES:
            raise Unprocessable(f"Validation Failed: up to {MAX_ASSIGNEES} users can be assigned.")
        self.session.execute(delete(Assignee).where(Assignee.issue_id == issue_id))
        if people:
            self.session.execute(
                insert(Assignee), [{"issue_id": issue_id, "account_id": account} for account in people]
            )

    def _may_edit(self, repository: Row, issue: Row) -> bool:
        return bool(issue["user_id"] == self.me["id"] or self.store.repositories.may(repository, "write"))

    def _assignable(self, repository: Row, login: str) -> int:
        try:
            account = self.store.accounts.account(login)
        except NotFound:
            account = None
        able = account is not None and account["kind"] == "User"
        if able and account is not None and repository["private"]:
            able = self.store.repositories.role_of_account(repository, account["id"]) != "none"
        if not able or account is None:
            raise Unprocessable(f"Validation Failed: could not resolve the assignee {login!r}.")
        return int(account["id"])

    def _milestone(self, repository: Row, number: int) -> int | None:
        if number == 0:
            return None
        changed = update(Milestone).where(
            Milestone.repository_id == repository["id"], Milestone.number == known(number)
        )
        found = self.session.execute(changed.values(updated_at=self.today).returning(Milestone.id)).scalar()
        if found is None:
            raise Unprocessable(f"Validation Failed: milestone {number} does not exist.")
        return int(found)

    def issue_type(self, repository: Row, name: str) -> str:
        """A type that issues of the repository may have, as the product writes it."""
        if repository["owner_kind"] != "Organization":
            raise Unprocessable("Validation Failed: this repository does not have issue types.")
        for known_type in ISSUE_TYPES:
            if known_type.lower() == name.lower():
                return known_type
        raise Unprocessable(f"Validation Failed: issue type {name!r} is not one of {', '.join(ISSUE_TYPES)}.")

    def _state_changes(
        self,
        repository: Row,
        issue: Row,
        state: str,
        reason: str | None,
        duplicate_of: int | None,
    ) -> dict[str, Any]:
        if issue["is_pull"]:
            raise Conflict("A pull request is closed and reopened with update_pull_request.")
        if duplicate_of is not None and reason != "duplicate":
            raise Unprocessable("duplicate_of can only be used when state_reason is 'duplicate'")
        if state == "open":
            if issue["state"] == "open":
                return {}
            return {
                "state": "open",
                "state_reason": "reopened",
                "duplicate_of": None,
                "closed_at": None,
                "closed_by_id": None,
            }
        if reason == "duplicate":
            if duplicate_of is None:
                raise Unprocessable("duplicate_of must be provided when state_reason is 'duplicate'")
            if self.issue(repository, duplicate_of)["id"] == issue["id"]:
                raise Unprocessable("An issue cannot be a duplicate of itself.")
        changes = {"state": "closed", "state_reason": reason or "completed", "duplicate_of": duplicate_of}
        if issue["state"] == "open":
            changes |= {"closed_at": self.today, "closed_by_id": self.me["id"]}
        return changes

    def _parent_and_child(self, repository: Row, number: int, child_id: int) -> tuple[Row, Row]:
        self.store.repositories.require(repository, "triage")
        parent = self.issue(repository, number, pull=False)
        child = self.issue_by_id(child_id)
        if child["is_pull"] or not self.readable([child]):
            raise NotFound("Not Found")
        if child["owner_id"] != repository["owner_id"]:
            raise Unprocessable("Sub-issue must belong to a repository of the same owner.")
        return parent, child

    def _sub_issue_ids(self, parent: Row, child: Row) -> list[int]:
        order = [row["id"] for row in self.fetch(_SUB_ISSUES, parent=parent["id"])]
        if child["id"] not in order:
            raise NotFound(f"Not Found: the issue is not a sub-issue of #{parent['number']}.")
        return order

    def _order_sub_issues(self, parent_id: int, order: Sequence[int]) -> None:
        for position, child in enumerate(order, start=1):
            self.session.merge(SubIssue(child_id=child, parent_id=parent_id, position=position))
        self.session.flush()

    def readable(self, issues: Sequence[Row]) -> list[Row]:
        """Those that lie in repositories which the signed-in account may read."""
        roles = {
            row["repository_id"]: self.store.repositories.role(
                self.store.repositories.repository_by_id(row["repository_id"])
            )
            for row in issues
        }
        return [row for row in issues if roles[row["repository_id"]] != "none"]

    @staticmethod
    def _by(rows: Iterable[Row], key: str) -> Mapping[int, list[Row]]:
        grouped: dict[int, list[Row]] = defaultdict(list)
        for row in rows:
            grouped[row[key]].append(row)
        return grouped
