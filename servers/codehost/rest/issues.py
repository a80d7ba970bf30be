"""Issues, their comments, labels and milestones."""

from __future__ import annotations

from typing import Annotated, Literal

from mesocosm.doors.request import Request
from mesocosm.errors import NotFound
from mesocosm.servers.codehost.rest.api import api
from mesocosm.servers.codehost.rest.bodies import body_of, read
from mesocosm.servers.codehost.rest.context import REPO, AtRepo, Context, RepositoryContext
from mesocosm.servers.codehost.rest.shapes import issues as shapes
from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.servers.codehost.store.issues import UNCHANGED
from mesocosm.services.fields import Fields
from mesocosm.services.schema import Depends, Json
from mesocosm.services.service import Page

ISSUE = f"{REPO}/issues/{{number:int}}"
State = Literal["open", "closed", "all"]
_REASONS = ("completed", "not_planned", "duplicate", "reopened")


@api.get(f"{REPO}/issues")
def list_issues(
    at: AtRepo,
    state: State = "open",
    labels: str = "",
    assignee: str | None = None,
    creator: str | None = None,
    milestone: str | None = None,
    mentioned: str | None = None,
    type: str | None = None,
    since: str | None = None,
    sort: Literal["created", "updated", "comments"] = "created",
    direction: Literal["asc", "desc"] = "desc",
) -> Page:
    """The issues of a repository and, as in the product, its pull requests."""
    rows, total = at.store.listing.issue_page(
        at.repository,
        state=state,
        labels=[label.strip() for label in labels.split(",") if label.strip()],
        assignee=assignee,
        creator=creator,
        milestone=milestone,
        mentioned=mentioned,
        kind=type,
        since=since,
        sort=sort,
        direction=direction,
        **at.window,
    )
    return at.paged(shapes.issues(at, rows), total)


@api.post(f"{REPO}/issues", status=201)
def create_issue(at: AtRepo) -> Json:
    """Open an issue."""
    body = at.body
    issue = at.store.issues.open_issue(
        at.repository,
        read.required(body, "title"),
        read.text(body, "body"),
        labels=read.names(body),
        assignees=_assignees(body),
        milestone=read.number(body, "milestone"),
        issue_type=read.text(body, "type"),
    )
    return shapes.issue(at, issue)


@api.get(ISSUE)
def get_issue(at: AtRepo, number: int) -> Json:
    """An issue, or the conversation of a pull request."""
    return shapes.issue(at, at.issue(number))


@api.patch(ISSUE)
def update_issue(at: AtRepo, number: int) -> Json:
    """Change what the body names; ``null`` takes a milestone or a type away."""
    body = at.body
    state = read.choice(body, "state", "open", "closed")
    reason = read.choice(body, "state_reason", *_REASONS)
    if state is not None and at.issue(number)["is_pull"]:
        at.store.pulls.change_pull(at.repository, number, state=state)
        state = None
    # Clients that cannot write null send an empty text.
    none = "milestone" in body and body["milestone"] in (None, "")
    at.store.issues.change_issue(
        at.repository,
        number,
        title=read.text(body, "title"),
        body=(read.text(body, "body") or "") if "body" in body else None,
        labels=read.names(body),
        assignees=_assignees(body),
        milestone=0 if none else read.number(body, "milestone"),
        issue_type=read.text(body, "type") if "type" in body else UNCHANGED,
        state=state,
        state_reason=None if reason == "reopened" else reason,
        duplicate_of=read.number(body, "duplicate_of"),
    )
    return shapes.issue(at, at.issue(number))


def _assignees(body: Fields) -> list[str] | None:
    """Return the wanted assignees; the older ``assignee`` names one."""
    if (logins := read.texts(body, "assignees")) is not None or "assignee" not in body:
        return logins
    return [login] if (login := read.text(body, "assignee")) else []


@api.post(f"{ISSUE}/assignees", status=201)
def add_assignees(at: AtRepo, number: int) -> Json:
    """Assign further people."""
    return _assign(at, number, add=True)


@api.delete(f"{ISSUE}/assignees")
def remove_assignees(at: AtRepo, number: int) -> Json:
    """Take people off an issue."""
    return _assign(at, number, add=False)


def _assign(at: RepositoryContext, number: int, *, add: bool) -> Json:
    issue = at.issue(number)
    there = [row["login"] for row in at.store.issues.assignees_of([issue["id"]])[issue["id"]]]
    named = read.texts(at.body, "assignees") or []
    gone = {login.lower() for login in named}
    logins = [*there, *named] if add else [login for login in there if login.lower() not in gone]
    changed = at.store.issues.change_issue(at.repository, number, assignees=logins)
    return shapes.issue(at, changed)


# -- comments and reactions ---------------------------------------------------------------------------------


@api.get(f"{ISSUE}/comments")
def list_comments(at: AtRepo, number: int) -> Page:
    """The comments of a conversation, oldest first."""
    rows, total = at.store.issues.comments(at.issue(number), **at.window)
    return at.paged(shapes.comments(at, at.repository, number, rows), total)


@api.post(f"{ISSUE}/comments", status=201)
def create_comment(at: AtRepo, number: int) -> Json:
    row = at.store.issues.add_comment(at.repository, number, read.required(at.body, "body"))
    return shapes.comments(at, at.repository, number, [row])[0]


@api.get(f"{REPO}/issues/comments/{{id:int}}")
def get_comment(at: AtRepo, id: int) -> Json:
    row = at.store.listing.comment_by_id(at.repository, id)
    number = at.store.issues.issue_by_id(row["issue_id"])["number"]
    return shapes.comments(at, at.repository, number, [row])[0]


@api.patch(f"{REPO}/issues/comments/{{id:int}}")
def update_comment(at: AtRepo, id: int) -> Json:
    """Write a comment anew."""
    row = at.store.taking_back.change_comment(at.repository, id, read.required(at.body, "body"))
    number = at.store.issues.issue_by_id(row["issue_id"])["number"]
    return shapes.comments(at, at.repository, number, [row])[0]


@api.delete(f"{REPO}/issues/comments/{{id:int}}")
def delete_comment(at: AtRepo, id: int) -> None:
    at.store.taking_back.remove_comment(at.repository, id)


@api.get(f"{ISSUE}/reactions")
def list_issue_reactions(at: AtRepo, number: int) -> Page:
    issue = at.issue(number)
    return reactions(at, "issue", issue["id"])


@api.post(f"{ISSUE}/reactions", status=201)
def react_to_issue(at: AtRepo, number: int) -> Json:
    return react(at, "issue", at.issue(number)["id"])


@api.delete(f"{ISSUE}/reactions/{{reaction:int}}")
def take_issue_reaction_back(at: AtRepo, number: int, reaction: int) -> None:
    at.store.taking_back.remove_reaction(at.repository, "issue", at.issue(number)["id"], reaction)


@api.get(f"{REPO}/issues/comments/{{id:int}}/reactions")
def list_comment_reactions(at: AtRepo, id: int) -> Page:
    comment = at.store.listing.comment_by_id(at.repository, id)
    return reactions(at, "comment", comment["id"])


@api.post(f"{REPO}/issues/comments/{{id:int}}/reactions", status=201)
def react_to_comment(at: AtRepo, id: int) -> Json:
    return react(at, "comment", at.store.listing.comment_by_id(at.repository, id)["id"])


@api.delete(f"{REPO}/issues/comments/{{id:int}}/reactions/{{reaction:int}}")
def take_comment_reaction_back(at: AtRepo, id: int, reaction: int) -> None:
    at.store.taking_back.remove_reaction(
        at.repository, "comment", at.store.listing.comment_by_id(at.repository, id)["id"], reaction
    )


def reactions(at: Context, subject: str, subject_id: int) -> Page:
    """One page of the reactions to something."""
    return at.listed(
        at.store.listing.reaction_list(subject, subject_id), lambda row: shapes.reaction(at, row)
    )


def react(at: RepositoryContext, subject: str, subject_id: int) -> Json:
    """Put an emoji to something."""
    content = read.choice(at.body, "content", *shapes.REACTIONS)
    if content is None:
        raise read.missing(at.body, "content")
    made = at.store.issues.react(at.repository, subject, subject_id, content)
    row = next(row for row in at.store.listing.reaction_list(subject, subject_id) if row["id"] == made)
    return shapes.reaction(at, row)


# -- sub-issues ---------------------------------------------------------------------------------------------


@api.get(f"{ISSUE}/sub_issues")
def list_sub_issues(at: AtRepo, number: int) -> Page:
    """The issues that are part of an issue, in their order."""
    issue = at.issue(number)
    rows, total = at.store.issues.sub_issue_page(issue, **at.window)
    return at.paged(shapes.issues(at, rows), total)


@api.get(f"{ISSUE}/parent")
def get_parent(at: AtRepo, number: int) -> Json:
    """The issue that an issue is part of."""
    parent = at.store.issues.parent_issue(at.issue(number))
    if parent is None:
        raise NotFound("Not Found")
    return shapes.issue(at, parent)


def _sub_issue(store: CodehostStore, request: Request) -> int:
    child = read.number(body_of(request), "sub_issue_id")
    if child is None:
        raise read.missing(body_of(request), "sub_issue_id")
    return child


SubIssue = Annotated[int, Depends(_sub_issue)]
"""The id of an issue that a body names."""


@api.post(f"{ISSUE}/sub_issues", status=201)
def add_sub_issue(child: SubIssue, at: AtRepo, number: int) -> Json:
    """Make an issue (by its id) part of another one."""
    replace = read.flag(at.body, "replace_parent")
    at.store.issues.add_sub_issue(at.repository, number, child, replace_parent=replace)
    return shapes.issue(at, at.store.issues.issue_by_id(child))


@api.delete(f"{ISSUE}/sub_issue")
def remove_sub_issue(child: SubIssue, at: AtRepo, number: int) -> Json:
    """Take an issue out of its parent."""
    return shapes.issue(at, at.store.issues.remove_sub_issue(at.repository, number, child))


@api.patch(f"{ISSUE}/sub_issues/priority")
def move_sub_issue(child: SubIssue, at: AtRepo, number: int) -> Json:
    """Move a sub-issue after or before another one."""
    after, before = read.number(at.body, "after_id"), read.number(at.body, "before_id")
    at.store.issues.move_sub_issue(at.repository, number, child, after_id=after, before_id=before)
    return shapes.issue(at, at.store.issues.issue_by_id(child))
