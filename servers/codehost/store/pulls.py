"""Pull requests: opening, changing, comparing and merging them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, delete, func, insert, select, update
from sqlalchemy.orm import aliased

from mesocosm.errors import Conflict, Denied, NotFound
from mesocosm.servers.codehost.models import (
    Account,
    CheckRun,
    Issue,
    PullRequest,
    Repository,
    Review,
    ReviewRequest,
    Status,
    Team,
)
from mesocosm.servers.codehost.store.differences import Difference, differences, statistics
from mesocosm.servers.codehost.store.history import GITHUB
from mesocosm.servers.codehost.store.merging import Merged, merge, pick
from mesocosm.servers.codehost.store.part import StorePart
from mesocosm.servers.codehost.store.values import (
    ISSUE,
    MAX_BODY,
    NotMergeable,
    Unprocessable,
    clean,
    known,
    moment,
    window,
)
from mesocosm.services.service import Row
from mesocosm.services.values import checked

CLOSES = re.compile(r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\b:?\s+#(\d{1,9})\b", re.IGNORECASE)
"""The words with which a pull request or a commit closes an issue."""

_USER = aliased(Account, name="author")
_MERGER = aliased(Account, name="merger")
_HEAD = aliased(Repository, name="head")
_HEAD_OWNER = aliased(Account, name="head_owner")
PULLS = (
    select(
        *Issue.__table__.c,
        *[column for column in PullRequest.__table__.c if column.name != "issue_id"],
        _USER.login.label("user"),
        _MERGER.login.label("merged_by"),
        _HEAD.name.label("head_name"),
        _HEAD.description.label("head_description"),
        _HEAD_OWNER.login.label("head_owner"),
    )
    .join(PullRequest, PullRequest.issue_id == Issue.id)
    .join(_USER, _USER.id == Issue.user_id)
    .join(_HEAD, _HEAD.id == PullRequest.head_repository_id)
    .join(_HEAD_OWNER, _HEAD_OWNER.id == _HEAD.owner_id)
    .outerjoin(_MERGER, _MERGER.id == PullRequest.merged_by_id)
)
_PULL = PULLS.where(Issue.repository_id == bindparam("repository"), Issue.number == bindparam("number"))
_REQUESTED = (
    select(
        ReviewRequest.pull_id,
        Account.login,
        Team.slug,
        Team.name,
        ReviewRequest.account_id,
        ReviewRequest.team_id,
    )
    .outerjoin(Account, Account.id == ReviewRequest.account_id)
    .outerjoin(Team, Team.id == ReviewRequest.team_id)
    .where(ReviewRequest.pull_id.in_(bindparam("ids", expanding=True)))
    .order_by(ReviewRequest.pull_id, ReviewRequest.id)
)
_STATUSES = (
    select(*Status.__table__.c)
    .where(Status.repository_id == bindparam("repository"), Status.sha == bindparam("sha"))
    .order_by(Status.id)
)
_CHECKS = (
    select(*CheckRun.__table__.c)
    .where(CheckRun.repository_id == bindparam("repository"), CheckRun.sha == bindparam("sha"))
    .order_by(CheckRun.id)
)
_REVIEW_STATES = (
    select(Review.user_id, Review.state)
    .where(
        Review.pull_id == bindparam("pull"), Review.state.in_(("APPROVED", "CHANGES_REQUESTED", "DISMISSED"))
    )
    .order_by(Review.id)
)
_SORTS: dict[str, Any] = {
    "created": Issue.created_at,
    "updated": Issue.updated_at,
    "popularity": Issue.comments,
    "long-running": Issue.created_at,
}


@dataclass(frozen=True)
class Comparison:
    """Changes that a pull request would bring."""

    bases: list[str]
    commits: list[int]
    """Rows of the commits, oldest first."""
    differences: list[Difference]


class Pulls(StorePart):
    """Pull requests."""

    # -- reading ----------------------------------------------------------------------------------------

    def pull(self, repository: Row, number: int) -> Row:
        """A pull request by its number."""
        return self.one(_PULL, repository=repository["id"], number=known(number))

    def listed(
        self,
        repository: Row,
        *,
        state: str | None,
        head: str | None,
        base: str | None,
        sort: str | None,
        direction: str | None,
        page: int | None,
        per_page: int | None,
    ) -> tuple[Sequence[Row], int]:
        """One page of pull requests, the newest first unless asked otherwise, and how many there are."""
        limit, offset = window(page, per_page)
        conditions = [Issue.repository_id == repository["id"], Issue.is_pull]
        if state in ("merged", "unmerged"):
            conditions += [Issue.state == "closed", PullRequest.merged_at.is_not(None) == (state == "merged")]
        elif state != "all":
            conditions.append(Issue.state == (state or "open"))
        if base:
            conditions.append(PullRequest.base_ref == base)
        if head:
            owner, _, branch = head.rpartition(":")
            conditions.append(PullRequest.head_ref == branch)
            if owner:
                conditions.append(_HEAD_OWNER.login == owner)
        count = PULLS.where(*conditions).with_only_columns(
            func.count().label("n"), maintain_column_froms=True
        )
        column = _SORTS[sort or "created"]
        # As in the product: the newest first only when that is the order asked for.
        descending = (direction or ("desc" if (sort or "created") == "created" else "asc")) == "desc"
        order = (column.desc(), Issue.id.desc()) if descending else (column, Issue.id)
        rows = self.fetch(PULLS.where(*conditions).order_by(*order).limit(limit).offset(offset))
        return rows, int(self.fetch(count)[0]["n"])

    def requested(self, pull_ids: Sequence[int]) -> Sequence[Row]:
        """List the requested reviewers of pull requests."""
        return self.fetch(_REQUESTED, ids=pull_ids) if pull_ids else ()

    def compare(self, repository: Row, pull: Row) -> Comparison:
        """The commits and the changes of a pull request, from where its branch left the base."""
        head, base = self.head_of(repository, pull), self.base_of(repository, pull)
        bases = self.store.commits.merge_bases(base, head)
        old = self.store.commits.commit_by_sha(repository, bases[0])["tree"] if bases else None
        found = differences(self.store.commits.objects(repository), old, head["tree"])
        return Comparison(bases, self.store.commits.commits_between(base, head), found)

    def numbers(self, repository: Row, pull: Row) -> Row:
        """Count the commits, files and lines of a pull request."""
        found, objects = self.compare(repository, pull), self.store.commits.objects(repository)
        counts = [statistics(objects, difference) for difference in found.differences]
        return {
            "commits": len(found.commits),
            "additions": sum(added for added, _ in counts),
            "deletions": sum(removed for _, removed in counts),
            "changed_files": len(counts),
        }

    def mergeable(self, repository: Row, pull: Row) -> bool:
        """True if the branch merges without conflict."""
        return not self._merged(
            repository, self.base_of(repository, pull), self.head_of(repository, pull)
        ).conflicts

    def mergeable_state(self, repository: Row, pull: Row) -> str:
        """``clean``, ``dirty`` (conflicts), ``draft``, ``blocked``, ``unstable``; ``unknown`` once closed."""
        if pull["state"] == "closed":
            return "unknown"
        if not self.mergeable(repository, pull):
            return "dirty"
        if pull["draft"]:
            return "draft"
        if self._missing_approvals(repository, pull):
            return "blocked"
        states = [row["state"] for row in self.statuses(repository, pull["head_sha"])]
        runs = [row["conclusion"] for row in self.check_runs(repository, pull["head_sha"])]
        fine = all(state == "success" for state in states) and all(
            run in ("success", "neutral", "skipped") for run in runs
        )
        return "clean" if fine else "unstable"

    def statuses(self, repository: Row, sha: str) -> list[Row]:
        """The newest status of each context of a commit."""
        newest = {row["context"]: row for row in self.fetch(_STATUSES, repository=repository["id"], sha=sha)}
        return [newest[context] for context in sorted(newest)]

    @staticmethod
    def combined_state(statuses: Sequence[Row]) -> str:
        """``failure``, ``success`` or ``pending``: what statuses say together."""
        states = {row["state"] for row in statuses}
        if states & {"error", "failure"}:
            return "failure"
        return "success" if states == {"success"} else "pending"

    def check_runs(self, repository: Row, sha: str) -> Sequence[Row]:
        """The check runs of a commit."""
        return self.fetch(_CHECKS, repository=repository["id"], sha=sha)

    def pull_files(
        self, repository: Row, pull: Row, page: int | None, per_page: int | None
    ) -> tuple[list[Difference], int]:
        """One page of the files that a pull request changes, and how many there are."""
        limit, offset = window(page, per_page)
        found = self.compare(repository, pull).differences
        return found[offset : offset + limit], len(found)

    def pull_commits(
        self, repository: Row, pull: Row, page: int | None, per_page: int | None
    ) -> tuple[list[Row], int]:
        """One page of the commits of a pull request, oldest first, and how many there are."""
        limit, offset = window(page, per_page)
        ids = self.compare(repository, pull).commits
        return self.store.commits.commits_by_id(ids[offset : offset + limit]), len(ids)

    def check_run_page(
        self, repository: Row, sha: str, page: int | None, per_page: int | None
    ) -> tuple[Sequence[Row], int]:
        """One page of the check runs of a commit, and how many there are."""
        limit, offset = window(page, per_page)
        rows = self.check_runs(repository, sha)
        return rows[offset : offset + limit], len(rows)

    def source(self, repository: Row, head: str) -> tuple[Row, str]:
        """The repository and the branch that ``branch``, ``owner:branch`` or ``owner:repo:branch`` names."""
        *where, branch = head.split(":")
        if not where or where[0].lower() == repository["owner"].lower():
            return repository, branch
        forks = self.fetch(
            select(Repository.id)
            .join(Account, Account.id == Repository.owner_id)
            .where(Account.login == where[0], Repository.network == repository["network"])
            .order_by(Repository.id)
        )
        for row in forks:
            fork = self.store.repositories.repository_by_id(row["id"])
            if self.store.repositories.role(fork) != "none" and (
                len(where) == 1 or fork["name"].lower() == where[1].lower()
            ):
                return fork, branch
        raise Unprocessable(f"Validation Failed: head {head!r} is invalid")

    # -- writing ----------------------------------------------------------------------------------------

    def open_pull(
        self,
        repository: Row,
        title: str,
        head: str,
        base: str,
        body: str = "",
        *,
        draft: bool = False,
        maintainer_can_modify: bool = False,
        reviewers: Sequence[str] = (),
    ) -> Row:
        """A new pull request by the signed-in account, from a branch of the repository or of a fork."""
        self.store.repositories.writable(repository)
        source, branch = self.source(repository, head)
        base_commit = self._branch_or_refused(repository, base, "base")
        head_commit = self._branch_or_refused(source, branch, "head")
        if source["id"] == repository["id"]:
            self.store.repositories.require(repository, "write")
        there = self._open_from(repository, source["id"], branch, base)
        if there:
            raise Unprocessable(
                f"Validation Failed: A pull request already exists for {source['owner']}:{branch}."
            )
        if not self.store.commits.commits_between(base_commit, head_commit):
            raise Unprocessable(f"Validation Failed: No commits between {base} and {branch}")
        issue_id = self.store.issues.add_issue(repository, title, body, is_pull=True)
        row = {
            "issue_id": issue_id,
            "head_repository_id": source["id"],
            "head_ref": branch,
            "head_sha": head_commit["sha"],
            "base_ref": base,
            "base_sha": base_commit["sha"],
            "draft": draft,
            "maintainer_can_modify": maintainer_can_modify,
        }
        self.session.execute(insert(PullRequest), row)
        number = self.store.issues.issue_by_id(issue_id)["number"]
        self.store.commits.set_pull_ref(repository["id"], number, head_commit["sha"])
        pull = self.pull(repository, number)
        self.request_reviews(repository, pull, reviewers)
        return pull

    def change_pull(
        self,
        repository: Row,
        number: int,
        *,
        title: str | None = None,
        body: str | None = None,
        state: str | None = None,
        base: str | None = None,
        draft: bool | None = None,
        maintainer_can_modify: bool | None = None,
        reviewers: Sequence[str] | None = None,
    ) -> Row:
        """Change what is given."""
        self.store.repositories.writable(repository)
        pull = self.pull(repository, number)
        self.store.issues.require_author_or(
            repository, pull, "triage" if (title, body, base) == (None, None, None) else "write"
        )
        said = {"title": title, "body": body}
        changes = checked({name: text for name, text in said.items() if text is not None}, ISSUE)
        more: dict[str, Any] = {}
        if draft is not None:
            more["draft"] = draft
        if maintainer_can_modify is not None:
            more["maintainer_can_modify"] = maintainer_can_modify
        if base is not None and base != pull["base_ref"]:
            more |= self._new_base(repository, pull, base)
        if state is not None and state != pull["state"]:
            set_issue, set_pull = self._new_state(repository, pull, state)
            changes, more = changes | set_issue, more | set_pull
        self.set_pull(pull, changes, more)
        if reviewers is not None:
            self.request_reviews(repository, pull, reviewers)
        return self.pull(repository, number)

    def request_reviews(self, repository: Row, pull: Row, reviewers: Iterable[str]) -> None:
        """Ask people, or teams (``ORG/slug``), to review; who has been asked already stays so."""
        there = {(row["account_id"], row["team_id"]) for row in self.requested([pull["id"]])}
        for reviewer in reviewers:
            account_id, team_id = self._reviewer(repository, pull, reviewer)
            if (account_id, team_id) not in there:
                there.add((account_id, team_id))
                row = {"pull_id": pull["id"], "account_id": account_id, "team_id": team_id}
                self.session.execute(insert(ReviewRequest), row)

    def withdraw_requests(self, repository: Row, number: int, reviewers: Iterable[str]) -> Row:
        """Ask people, or teams (``ORG/slug``), no longer to review; who was not asked does not matter."""
        self.store.repositories.require(repository, "write")
        pull = self.pull(repository, number)
        for reviewer in reviewers:
            organization, slash, slug = reviewer.partition("/")
            column = ReviewRequest.team_id if slash else ReviewRequest.account_id
            named = (
                self.store.accounts.team(organization, slug)
                if slash
                else self.store.accounts.account(reviewer)
            )
            found = ReviewRequest.pull_id == pull["id"], column == named["id"]
            self.session.execute(delete(ReviewRequest).where(*found))
        return pull

    def merge_branch(self, repository: Row, base: str, head: str, message: str | None) -> Row | None:
        """Merge a branch, or any commit, into a branch; ``None`` where that has it already."""
        self.store.repositories.require(repository, "write")
        ours = self.store.contents.head_for_writing(repository, base)
        theirs = self.store.commits.find_commit(repository, head)
        if ours is None or theirs is None:
            raise NotFound("Not Found")
        if self.store.commits.is_ancestor(theirs, ours):
            return None
        merged = self._merged(repository, ours, theirs)
        if merged.conflicts:
            raise Conflict("Merge conflict")
        text = clean(message or f"Merge {head} into {base}", "commit_message", limit=MAX_BODY)
        commit = self._merge_commit(repository, ours, theirs, merged, text)
        self.store.commits.move_branch(repository, base, commit)
        return commit

    def merge_pull(
        self,
        repository: Row,
        number: int,
        method: str = "merge",
        title: str | None = None,
        message: str | None = None,
    ) -> str:
        """Merge a pull request; returns the name of the commit that the base branch then ends at."""
        self.store.repositories.require(repository, "write")
        pull = self.pull(repository, number)
        if pull["state"] == "closed" or pull["draft"]:
            raise NotMergeable(
                "Pull Request is not mergeable" if not pull["draft"] else "Pull Request is still a draft"
            )
        if missing := self._missing_approvals(repository, pull):
            raise NotMergeable(missing)
        base, head = self.base_of(repository, pull), self.head_of(repository, pull)
        merged = self._merged(repository, base, head)
        if merged.conflicts:
            raise NotMergeable("Pull Request is not mergeable")
        commits = self.store.commits.commits_between(base, head)
        for text in (title, message):
            clean(text or "", "commit message", limit=MAX_BODY)
        if method == "rebase":
            result = self._rebase(repository, base, commits)
        else:
            squash = method == "squash"
            text = self._merge_message(repository, pull, commits, squash, title, message)
            result = self._merge_commit(repository, base, None if squash else head, merged, text)
        self._finish_merge(repository, pull, base, result, commits)
        return str(result["sha"])

    def update_branch(self, repository: Row, number: int, expected: str | None = None) -> None:
        """Merge the base branch into the branch of a pull request."""
        self.store.repositories.writable(repository)
        pull = self.pull(repository, number)
        if pull["state"] == "closed":
            raise Unprocessable("Pull request is closed.")
        source = self.store.repositories.repository_by_id(pull["head_repository_id"])
        if not (
            self.store.repositories.may(source, "write")
            or (pull["maintainer_can_modify"] and self.store.repositories.may(repository, "write"))
        ):
            raise Denied(f"Must have write access to {source['owner']}/{source['name']}.")
        if expected and expected.lower() != pull["head_sha"]:
            raise Unprocessable(f"expected head sha didn't match current head ref: {pull['head_sha']}.")
        base, head = self.base_of(repository, pull), self.head_of(repository, pull)
        if self.store.commits.is_ancestor(base, head):
            raise Unprocessable("There are no new commits on the base branch.")
        merged = self._merged(repository, head, base)
        if merged.conflicts:
            raise Unprocessable("merge conflict between base and head")
        text = f"Merge branch '{pull['base_ref']}' into {pull['head_ref']}"
        commit = self._merge_commit(source, head, base, merged, text)
        self.store.commits.move_branch(source, pull["head_ref"], commit)

    def close_by_words(self, repository: Row, text: str) -> None:
        """Close the issues that a merged text says it closes."""
        for number in dict.fromkeys(int(found) for found in CLOSES.findall(text)):
            self.session.execute(
                update(Issue)
                .where(
                    Issue.repository_id == repository["id"],
                    Issue.number == number,
                    Issue.state == "open",
                    Issue.is_pull.is_(False),
                )
                .values(
                    state="closed",
                    state_reason="completed",
                    closed_at=self.today,
                    updated_at=self.today,
                    closed_by_id=self.me["id"],
                )
            )

    # -- parts ------------------------------------------------------------------------------------------

    def head_of(self, repository: Row, pull: Row) -> Row:
        """The commit that the pull request would bring in."""
        return self.store.commits.commit_by_sha(repository, pull["head_sha"])

    def base_of(self, repository: Row, pull: Row) -> Row:
        """The commit that the pull request is compared with: the tip of the base branch while it is open."""
        tip = (
            self.store.commits.ref(repository, f"refs/heads/{pull['base_ref']}")
            if pull["state"] == "open"
            else None
        )
        return self.store.commits.commit_by_sha(repository, tip or pull["base_sha"])

    def _merged(self, repository: Row, ours: Row, theirs: Row) -> Merged:
        bases = self.store.commits.merge_bases(ours, theirs)
        return merge(self.store.commits.objects(repository), bases, ours["sha"], theirs["sha"])

    def _branch_or_refused(self, repository: Row, branch: str, what: str) -> Row:
        sha = self.store.commits.ref(repository, f"refs/heads/{branch}")
        if sha is None:
            raise Unprocessable(f"Validation Failed: {what} {branch!r} is invalid: there is no such branch.")
        return self.store.commits.commit_by_sha(repository, sha)

    def _open_from(self, repository: Row, source_id: int, branch: str, base: str) -> bool:
        return bool(
            self.fetch(
                select(Issue.id)
                .join(PullRequest, PullRequest.issue_id == Issue.id)
                .where(
                    Issue.repository_id == repository["id"],
                    Issue.state == "open",
                    PullRequest.head_repository_id == source_id,
                    PullRequest.head_ref == branch,
                    PullRequest.base_ref == base,
                )
            )
        )

    def _reviewer(self, repository: Row, pull: Row, reviewer: str) -> tuple[int | None, int | None]:
        organization, slash, slug = reviewer.partition("/")
        if slash:
            if organization.lower() != repository["owner"].lower():
                raise Unprocessable(f"Reviews may only be requested from teams of {repository['owner']}.")
            return None, int(self.store.accounts.team(organization, slug)["id"])
        try:
            account = self.store.accounts.account(reviewer)
        except NotFound:
            raise Unprocessable(f"Could not resolve to a User with the login of {reviewer!r}.") from None
        if account["id"] == pull["user_id"]:
            raise Unprocessable("Review cannot be requested from pull request author.")
        role = self.store.repositories.role_of_account(repository, account["id"])
        if account["kind"] != "User" or (repository["private"] and role == "none"):
            raise Unprocessable(
                "Reviews may only be requested from collaborators. One or more of the users or teams you"
                f" specified is not a collaborator of {repository['owner']}/{repository['name']}."
            )
        return int(account["id"]), None

    def _new_base(self, repository: Row, pull: Row, base: str) -> dict[str, Any]:
        if pull["state"] == "closed":
            raise Unprocessable("Cannot change the base branch of a closed pull request.")
        commit = self._branch_or_refused(repository, base, "base")
        if not self.store.commits.commits_between(commit, self.head_of(repository, pull)):
            raise Unprocessable(
                f"Validation Failed: There are no new commits between base branch '{base}' and head branch"
                f" '{pull['head_ref']}'"
            )
        if self._open_from(repository, pull["head_repository_id"], pull["head_ref"], base):
            raise Unprocessable(
                f"Validation Failed: A pull request already exists for base branch '{base}' and head branch"
                f" '{pull['head_ref']}'"
            )
        return {"base_ref": base, "base_sha": commit["sha"]}

    def _new_state(self, repository: Row, pull: Row, state: str) -> tuple[dict[str, Any], dict[str, Any]]:
        if state == "closed":
            closed = {"state": "closed", "closed_at": self.today, "closed_by_id": self.me["id"]}
            return closed, {"base_sha": self.base_of(repository, pull)["sha"]}
        if pull["merged_at"]:
            raise Unprocessable("Validation Failed: state cannot be changed. The pull request is merged.")
        if self._open_from(repository, pull["head_repository_id"], pull["head_ref"], pull["base_ref"]):
            raise Unprocessable(
                "Validation Failed: state cannot be changed. There is already an open pull request."
            )
        source = self.store.repositories.repository_by_id(pull["head_repository_id"])
        head = self.store.commits.ref(source, f"refs/heads/{pull['head_ref']}")
        base = self.store.commits.ref(repository, f"refs/heads/{pull['base_ref']}")
        if head is None or base is None:
            raise Unprocessable("Validation Failed: state cannot be changed. A branch has been deleted.")
        return {"state": "open", "closed_at": None, "closed_by_id": None}, {
            "head_sha": head,
            "base_sha": base,
        }

    def set_pull(self, pull: Row, issue: dict[str, Any], more: dict[str, Any]) -> None:
        """Change columns of the issue that the pull request is, and of what it has more than an issue."""
        self.update_row(Issue, pull["id"], updated_at=self.today, **issue)
        if more:
            self.session.execute(update(PullRequest).where(PullRequest.issue_id == pull["id"]).values(**more))

    def _missing_approvals(self, repository: Row, pull: Row) -> str | None:
        """Return why branch protection blocks the merge; ``None`` if it does not."""
        needed = self.store.repositories.protected_branches(repository["id"]).get(pull["base_ref"])
        if needed is None:
            return None
        latest = {row["user_id"]: row["state"] for row in self.fetch(_REVIEW_STATES, pull=pull["id"])}
        able = {
            user: state
            for user, state in latest.items()
            if self.store.repositories.role_of_account(repository, user) in ("write", "maintain", "admin")
        }
        if "CHANGES_REQUESTED" in able.values():
            return "Changes have been requested by reviewers with write access."
        if list(able.values()).count("APPROVED") < needed:
            reviews = f"{needed} approving review{'s are' if needed > 1 else ' is'}"
            return f"At least {reviews} required by reviewers with write access."
        return None

    def _merge_message(
        self,
        repository: Row,
        pull: Row,
        commits: Sequence[int],
        squash: bool,
        title: str | None,
        message: str | None,
    ) -> str:
        rows = self.store.commits.commits_by_id(commits)
        if squash:
            single = rows[0]["message"].partition("\n") if len(rows) == 1 else None
            title = title or f"{single[0] if single else pull['title']} (#{pull['number']})"
            default = (
                single[2].strip() if single else "\n\n".join(f"* {row['message'].strip()}" for row in rows)
            )
        else:
            title = (
                title or f"Merge pull request #{pull['number']} from {pull['head_owner']}/{pull['head_ref']}"
            )
            default = pull["title"]
        body = default if message is None else message
        return f"{title}\n\n{body}" if body else title

    def _merge_commit(self, repository: Row, ours: Row, theirs: Row | None, merged: Merged, text: str) -> Row:
        self.store.commits.objects(repository).add_objects(merged.objects)
        parents = [ours, theirs] if theirs else [ours]
        return self.store.commits.add_commit(
            repository, merged.tree, parents, text, self.store.contents.signature(self.me), GITHUB
        )

    def _rebase(self, repository: Row, base: Row, commits: Sequence[int]) -> Row:
        """The commits, but for merges, done again one by one on top of the base."""
        objects = self.store.commits.objects(repository)
        for row in self.store.commits.commits_by_id(commits):
            if len(self.store.commits.parents(row["id"])) > 1:
                continue
            step = pick(objects, row["sha"], base["sha"])
            if step.conflicts:
                raise NotMergeable("This branch can't be rebased")
            if step.tree == base["tree"]:
                continue
            objects.add_objects(step.objects)
            base = self.store.commits.add_commit(
                repository,
                step.tree,
                [base],
                row["message"],
                (row["author_name"], row["author_email"]),
                self.store.contents.signature(self.me),
                authored=moment(row["authored_at"]),
                committed=self.now,
            )
        return base

    def _finish_merge(
        self,
        repository: Row,
        pull: Row,
        base: Row,
        result: Row,
        commits: Sequence[int],
    ) -> None:
        self.store.commits.move_branch(repository, pull["base_ref"], result)
        me = self.me["id"]
        self.set_pull(
            pull,
            {"state": "closed", "closed_at": self.today, "closed_by_id": me},
            {
                "base_sha": base["sha"],
                "merged_at": self.today,
                "merged_by_id": me,
                "merge_sha": result["sha"],
            },
        )
        if pull["base_ref"] == repository["default_branch"]:
            words = [
                pull["title"],
                pull["body"],
                *(row["message"] for row in self.store.commits.commits_by_id(commits)),
            ]
            self.close_by_words(repository, "\n".join(words))

    def is_outdated(self, repository: Row, pull: Row, thread: Row) -> bool:
        """True if the file changed after the comment on its line."""
        tree = (self.base_of if thread["side"] == "LEFT" else self.head_of)(repository, pull)["tree"]
        entry = self.store.commits.entry(self.store.commits.objects(repository), tree, thread["path"])
        return entry is None or entry[1] != thread["blob_sha"]
