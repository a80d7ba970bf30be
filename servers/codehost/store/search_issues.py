"""Searching issues and pull requests."""

from __future__ import annotations

from collections.abc import Sequence

from mesocosm.servers.codehost.models import Issue
from mesocosm.servers.codehost.store.issues import ISSUES
from mesocosm.servers.codehost.store.part import StorePart
from mesocosm.servers.codehost.store.queries import Qualifier, Query, Where, parse
from mesocosm.servers.codehost.store.search import ACCOUNT, SCOPE
from mesocosm.servers.codehost.store.values import Unprocessable
from mesocosm.services.service import Row

ISSUE_QUALIFIERS = (
    *SCOPE,
    *("is", "type", "state", "author", "assignee", "mentions", "commenter", "involves", "label", "milestone"),
    *("no", "in", "created", "updated", "closed", "merged", "comments", "reactions", "interactions", "head"),
    *("base", "draft", "review", "reviewed-by", "review-requested", "reason", "archived", "sort"),
)
_REACTIONS = "(SELECT count(*) FROM reactions WHERE subject = 'issue' AND subject_id = issues.id{})"
_EMOJI = {
    "+1": "+1",
    "-1": "-1",
    "smile": "laugh",
    "thinking_face": "confused",
    "heart": "heart",
    "tada": "hooray",
}
_SORTS = {
    "created": "issues.created_at",
    "updated": "issues.updated_at",
    "comments": "issues.comments",
    "reactions": _REACTIONS.format(""),
    "interactions": f"issues.comments + {_REACTIONS.format('')}",
    **{
        f"reactions-{name}": _REACTIONS.format(f" AND content = '{content}'")
        for name, content in _EMOJI.items()
    },
}
_PULL = "EXISTS (SELECT 1 FROM pull_requests WHERE pull_requests.issue_id = issues.id AND {})"
_IS = {
    "issue": "NOT issues.is_pull",
    "pr": "issues.is_pull",
    "pull-request": "issues.is_pull",
    "open": "issues.state = 'open'",
    "closed": "issues.state = 'closed'",
    "locked": "issues.locked",
    "unlocked": "NOT issues.locked",
    "merged": _PULL.format("merged_at IS NOT NULL"),
    "unmerged": _PULL.format("merged_at IS NULL"),
    "draft": _PULL.format("draft"),
    "public": "NOT repositories.private",
    "private": "repositories.private",
    "archived": "repositories.archived",
}
_NO = {
    "label": "issues.id NOT IN (SELECT issue_id FROM issue_labels)",
    "assignee": "issues.id NOT IN (SELECT issue_id FROM assignees)",
    "milestone": "issues.milestone_id IS NULL",
    "type": "issues.type IS NULL",
}
_LATEST_REVIEW = (
    "EXISTS (SELECT 1 FROM reviews WHERE pull_id = issues.id AND state = '{}' AND NOT EXISTS (SELECT 1 FROM"
    " reviews later WHERE later.pull_id = reviews.pull_id AND later.user_id = reviews.user_id"
    " AND later.id > reviews.id AND later.state IN ('APPROVED', 'CHANGES_REQUESTED', 'DISMISSED')))"
)
_DECIDED = "(SELECT pull_id FROM reviews WHERE state IN ('APPROVED', 'CHANGES_REQUESTED'))"
_REVIEW = {
    "none": "issues.id NOT IN (SELECT pull_id FROM reviews WHERE state != 'PENDING')",
    "required": f"issues.id NOT IN {_DECIDED}",
    "approved": f"{_LATEST_REVIEW.format('APPROVED')} AND NOT {_LATEST_REVIEW.format('CHANGES_REQUESTED')}",
    "changes_requested": _LATEST_REVIEW.format("CHANGES_REQUESTED"),
}
_LABELLED = (
    "EXISTS (SELECT 1 FROM issue_labels JOIN labels ON labels.id = label_id"
    " WHERE issue_id = issues.id AND labels.name = {})"
)
_MILESTONE = "EXISTS (SELECT 1 FROM milestones WHERE milestones.id = issues.milestone_id AND title = {})"
_ASSIGNED = f"EXISTS (SELECT 1 FROM assignees WHERE issue_id = issues.id AND account_id = {ACCOUNT})"
_COMMENTED = f"EXISTS (SELECT 1 FROM comments WHERE issue_id = issues.id AND comments.user_id = {ACCOUNT})"
_REVIEWED = (
    "EXISTS (SELECT 1 FROM reviews WHERE pull_id = issues.id AND state != 'PENDING'"
    f" AND reviews.user_id = {ACCOUNT})"
)
_MENTIONED = (
    "instr(lower(issues.body), '@' || lower({})) > 0 OR EXISTS (SELECT 1 FROM comments"
    " WHERE issue_id = issues.id AND instr(lower(comments.body), '@' || lower({})) > 0)"
)
_PEOPLE = {
    "author": f"issues.user_id = {ACCOUNT}",
    "assignee": _ASSIGNED,
    "commenter": _COMMENTED,
    "mentions": _MENTIONED,
    "involves": f"issues.user_id = {ACCOUNT} OR {_ASSIGNED} OR {_COMMENTED} OR {_MENTIONED}",
    "reviewed-by": _REVIEWED,
    "review-requested": (
        f"EXISTS (SELECT 1 FROM review_requests WHERE pull_id = issues.id AND account_id = {ACCOUNT})"
    ),
}
_IN_ISSUES = "SELECT rowid FROM issue_search WHERE issue_search MATCH {}"
_IN_COMMENTS = (
    "SELECT issue_id FROM comments WHERE id IN"
    " (SELECT rowid FROM comment_search WHERE comment_search MATCH {})"
)
_BEST = (
    " LEFT JOIN (SELECT rowid AS found, rank FROM issue_search WHERE issue_search MATCH {}) best"
    " ON best.found = issues.id"
)


class IssueSearch(StorePart):
    """Searches of issues and pull requests."""

    def search_issues(
        self,
        query: str,
        *,
        pulls: bool | None,
        owner: str | None = None,
        repo: str | None = None,
        sort: str | None = None,
        order: str | None = None,
        page: int | None = None,
        per_page: int | None = None,
    ) -> tuple[list[Row], int]:
        """Issues, or pull requests, or (``None``) both, and how many there are."""
        limit, offset = self.store.searching.result_window(page, per_page)
        parsed, where = parse(query, ISSUE_QUALIFIERS), self.store.searching.seen()
        if pulls is not None:
            where.add("issues.is_pull", negated=not pulls)
        if owner and repo:
            parsed.qualifiers.append(Qualifier("repo", f"{owner}/{repo}", negated=False))
        self.store.searching.limit_scope(where, parsed)
        match = self._issue_words(where, parsed)
        for qualifier in parsed.qualifiers:
            self._issue_condition(where, qualifier)
        for qualifier in parsed.values("sort"):
            sort, order = qualifier.value, None
            if sort.endswith(("-asc", "-desc")):
                sort, _, order = sort.rpartition("-")
        if sort and sort not in _SORTS:
            raise Unprocessable(f"Validation Failed: sort {sort!r} is not one of {', '.join(_SORTS)}.")
        direction = "ASC" if order == "asc" else "DESC"
        source = "issues JOIN repositories ON repositories.id = issues.repository_id"
        ordering = f"{_SORTS[sort or 'created']} {direction}, issues.id {direction}"
        if match and not sort:
            source += _BEST.format(where.name(match))
            ordering = "best.rank IS NULL, best.rank, issues.id DESC"
        rows, total = self.store.searching.run(where, source, "issues.id", ordering, limit, offset)
        return self.issues_by_id([row["id"] for row in rows]), total

    def issues_by_id(self, ids: Sequence[int]) -> list[Row]:
        """Issues by their ids, in the given order."""
        rows = {row["id"]: row for row in self.fetch(ISSUES.where(Issue.id.in_(ids)))} if ids else {}
        return [rows[issue_id] for issue_id in ids]

    def _issue_words(self, where: Where, parsed: Query) -> str | None:
        """The condition that the words set; returns what ranks the issues by it."""
        match, mismatch = parsed.match(), parsed.mismatch()
        words = match or mismatch
        if words is None:
            return None
        within = self.store.searching.within(parsed)
        columns = [column for column in ("title", "body") if not within or column in within]
        places, values = [], []
        restricted = None
        if columns:
            restricted = f"{{{' '.join(columns)}}} : ({words})"
            places.append(_IN_ISSUES)
            values.append(restricted)
        if not within or "comments" in within:
            places.append(_IN_COMMENTS)
            values.append(words)
        if not places:
            raise Unprocessable("Validation Failed: in: takes title, body and comments.")
        where.add(f"issues.id IN ({' UNION ALL '.join(places)})", *values, negated=match is None)
        return restricted if match is not None else None

    def _issue_condition(self, where: Where, qualifier: Qualifier) -> None:
        name, value, negated = qualifier.name, qualifier.value, qualifier.negated
        if name in ("is", "state") or (name == "type" and value.lower() in ("issue", "pr")):
            self.store.searching.one_of(where, qualifier, _IS)
        elif name == "type":
            where.add("lower(issues.type) = lower({})", value, negated=negated)
        elif name == "no":
            self.store.searching.one_of(where, qualifier, _NO)
        elif name == "review":
            self.store.searching.one_of(where, qualifier, _REVIEW)
        elif name == "assignee" and value == "*":
            where.add("issues.id IN (SELECT issue_id FROM assignees)", negated=negated)
        elif name in _PEOPLE:
            logins = [self.store.searching.login_of(value)] * _PEOPLE[name].count("{}")
            where.add(_PEOPLE[name], *logins, negated=negated)
        elif name == "label":
            labels = [label.strip(' "') for label in value.split(",")]
            where.add(" OR ".join(_LABELLED for _ in labels), *labels, negated=negated)
        elif name == "milestone":
            where.add(_MILESTONE, value, negated=negated)
        elif name == "reason":
            reason = value.lower().replace(" ", "_").replace("-", "_")
            where.add("issues.state_reason = {}", reason, negated=negated)
        elif name in ("head", "base"):
            where.add(_PULL.format(f"{name}_ref = {{}}"), value, negated=negated)
        elif name in ("draft", "archived"):
            condition = _PULL.format("draft") if name == "draft" else "repositories.archived"
            where.add(condition, negated=not qualifier.flag)
        elif name in ("created", "updated", "closed"):
            where.time(f"issues.{name}_at", qualifier)
        elif name == "merged":
            where.time("(SELECT merged_at FROM pull_requests WHERE issue_id = issues.id)", qualifier)
        elif name in ("comments", "reactions", "interactions"):
            where.number(f"({_SORTS[name]})", qualifier)
