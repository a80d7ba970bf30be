"""Issues, their comments, labels and milestones."""

from __future__ import annotations

from typing import Any, Literal

from mesocosm.doors.request import Request
from mesocosm.errors import NotFound
from mesocosm.servers.codehost.rest.api import api, cut, paged, window_of
from mesocosm.servers.codehost.rest.bodies import body_of, read
from mesocosm.servers.codehost.rest.history import REPO
from mesocosm.servers.codehost.rest.links import Links
from mesocosm.servers.codehost.rest.shapes import issues as shapes
from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.servers.codehost.store.issues import UNCHANGED
from mesocosm.services.fields import Fields
from mesocosm.services.service import Page, Row

ISSUE = f"{REPO}/issues/{{number:int}}"
State = Literal["open", "closed", "all"]
_REASONS = ("completed", "not_planned", "duplicate", "reopened")


@api.get(f"{REPO}/issues")
def list_issues(
    store: CodehostStore,
    request: Request,
    owner: str,
    repo: str,
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
    page, per_page = window_of(request)
    rows, total = store.listing.issue_page(
        store.repositories.repository(owner, repo),
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
        page=page,
        per_page=per_page,
    )
    return paged(request, shapes.issues(Links(request), store, rows), total)


@api.post(f"{REPO}/issues", status=201)
def create_issue(store: CodehostStore, request: Request, owner: str, repo: str) -> dict[str, Any]:
    """Open an issue."""
    body = body_of(request)
    issue = store.issues.open_issue(
        store.repositories.repository(owner, repo),
        read.required(body, "title"),
        read.text(body, "body"),
        labels=read.names(body),
        assignees=_assignees(body),
        milestone=read.number(body, "milestone"),
        issue_type=read.text(body, "type"),
    )
    return shapes.issue(Links(request), store, issue)


@api.get(ISSUE)
def get_issue(store: CodehostStore, request: Request, owner: str, repo: str, number: int) -> dict[str, Any]:
    """An issue, or the conversation of a pull request."""
    return shapes.issue(
        Links(request), store, store.issues.issue(store.repositories.repository(owner, repo), number)
    )


@api.patch(ISSUE)
def update_issue(
    store: CodehostStore, request: Request, owner: str, repo: str, number: int
) -> dict[str, Any]:
    """Change what the body names; ``null`` takes a milestone or a type away."""
    repository, body = store.repositories.repository(owner, repo), body_of(request)
    state = read.choice(body, "state", "open", "closed")
    reason = read.choice(body, "state_reason", *_REASONS)
    if state is not None and store.issues.issue(repository, number)["is_pull"]:
        store.pulls.change_pull(repository, number, state=state)
        state = None
    # Clients that cannot write null send an empty text.
    none = "milestone" in body and body["milestone"] in (None, "")
    store.issues.change_issue(
        repository,
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
    return shapes.issue(Links(request), store, store.issues.issue(repository, number))


def _assignees(body: Fields) -> list[str] | None:
    """Return the wanted assignees; the older ``assignee`` names one."""
    if (logins := read.texts(body, "assignees")) is not None or "assignee" not in body:
        return logins
    return [login] if (login := read.text(body, "assignee")) else []


@api.post(f"{ISSUE}/assignees", status=201)
def add_assignees(
    store: CodehostStore, request: Request, owner: str, repo: str, number: int
) -> dict[str, Any]:
    """Assign further people."""
    return _assign(store, request, store.repositories.repository(owner, repo), number, add=True)


@api.delete(f"{ISSUE}/assignees")
def remove_assignees(
    store: CodehostStore, request: Request, owner: str, repo: str, number: int
) -> dict[str, Any]:
    """Take people off an issue."""
    return _assign(store, request, store.repositories.repository(owner, repo), number, add=False)


def _assign(
    store: CodehostStore, request: Request, repository: Row, number: int, *, add: bool
) -> dict[str, Any]:
    issue = store.issues.issue(repository, number)
    there = [row["login"] for row in store.issues.assignees_of([issue["id"]])[issue["id"]]]
    named = read.texts(body_of(request), "assignees") or []
    gone = {login.lower() for login in named}
    logins = [*there, *named] if add else [login for login in there if login.lower() not in gone]
    changed = store.issues.change_issue(repository, number, assignees=logins)
    return shapes.issue(Links(request), store, changed)


# -- comments and reactions ---------------------------------------------------------------------------------


@api.get(f"{ISSUE}/comments")
def list_comments(store: CodehostStore, request: Request, owner: str, repo: str, number: int) -> Page:
    """The comments of a conversation, oldest first."""
    repository = store.repositories.repository(owner, repo)
    page, per_page = window_of(request)
    rows, total = store.issues.comments(store.issues.issue(repository, number), page, per_page)
    return paged(request, shapes.comments(Links(request), store, repository, number, rows), total)


@api.post(f"{ISSUE}/comments", status=201)
def create_comment(
    store: CodehostStore, request: Request, owner: str, repo: str, number: int
) -> dict[str, Any]:
    repository = store.repositories.repository(owner, repo)
    row = store.issues.add_comment(repository, number, read.required(body_of(request), "body"))
    return shapes.comments(Links(request), store, repository, number, [row])[0]


@api.get(f"{REPO}/issues/comments/{{id:int}}")
def get_comment(store: CodehostStore, request: Request, owner: str, repo: str, id: int) -> dict[str, Any]:
    repository = store.repositories.repository(owner, repo)
    row = store.listing.comment_by_id(repository, id)
    number = store.issues.issue_by_id(row["issue_id"])["number"]
    return shapes.comments(Links(request), store, repository, number, [row])[0]


@api.patch(f"{REPO}/issues/comments/{{id:int}}")
def update_comment(store: CodehostStore, request: Request, owner: str, repo: str, id: int) -> dict[str, Any]:
    """Write a comment anew."""
    repository = store.repositories.repository(owner, repo)
    row = store.taking_back.change_comment(repository, id, read.required(body_of(request), "body"))
    number = store.issues.issue_by_id(row["issue_id"])["number"]
    return shapes.comments(Links(request), store, repository, number, [row])[0]


@api.delete(f"{REPO}/issues/comments/{{id:int}}")
def delete_comment(store: CodehostStore, owner: str, repo: str, id: int) -> None:
    store.taking_back.remove_comment(store.repositories.repository(owner, repo), id)


@api.get(f"{ISSUE}/reactions")
def list_issue_reactions(store: CodehostStore, request: Request, owner: str, repo: str, number: int) -> Page:
    issue = store.issues.issue(store.repositories.repository(owner, repo), number)
    return reactions(store, request, "issue", issue["id"])


@api.post(f"{ISSUE}/reactions", status=201)
def react_to_issue(
    store: CodehostStore, request: Request, owner: str, repo: str, number: int
) -> dict[str, Any]:
    repository = store.repositories.repository(owner, repo)
    return react(store, request, repository, "issue", store.issues.issue(repository, number)["id"])


@api.delete(f"{ISSUE}/reactions/{{reaction:int}}")
def take_issue_reaction_back(store: CodehostStore, owner: str, repo: str, number: int, reaction: int) -> None:
    repository = store.repositories.repository(owner, repo)
    store.taking_back.remove_reaction(
        repository, "issue", store.issues.issue(repository, number)["id"], reaction
    )


@api.get(f"{REPO}/issues/comments/{{id:int}}/reactions")
def list_comment_reactions(store: CodehostStore, request: Request, owner: str, repo: str, id: int) -> Page:
    comment = store.listing.comment_by_id(store.repositories.repository(owner, repo), id)
    return reactions(store, request, "comment", comment["id"])


@api.post(f"{REPO}/issues/comments/{{id:int}}/reactions", status=201)
def react_to_comment(
    store: CodehostStore, request: Request, owner: str, repo: str, id: int
) -> dict[str, Any]:
    repository = store.repositories.repository(owner, repo)
    return react(store, request, repository, "comment", store.listing.comment_by_id(repository, id)["id"])


@api.delete(f"{REPO}/issues/comments/{{id:int}}/reactions/{{reaction:int}}")
def take_comment_reaction_back(store: CodehostStore, owner: str, repo: str, id: int, reaction: int) -> None:
    repository = store.repositories.repository(owner, repo)
    store.taking_back.remove_reaction(
        repository, "comment", store.listing.comment_by_id(repository, id)["id"], reaction
    )


def reactions(store: CodehostStore, request: Request, subject: str, subject_id: int) -> Page:
    """One page of the reactions to something."""
    rows, total = cut(request, store.listing.reaction_list(subject, subject_id))
    return paged(request, [shapes.reaction(Links(request), row) for row in rows], total)


def react(
    store: CodehostStore, request: Request, repository: Row, subject: str, subject_id: int
) -> dict[str, Any]:
    """Put an emoji to something."""
    content = read.choice(body_of(request), "content", *shapes.REACTIONS)
    if content is None:
        raise read.missing(body_of(request), "content")
    made = store.issues.react(repository, subject, subject_id, content)
    row = next(row for row in store.listing.reaction_list(subject, subject_id) if row["id"] == made)
    return shapes.reaction(Links(request), row)


# -- sub-issues ---------------------------------------------------------------------------------------------


@api.get(f"{ISSUE}/sub_issues")
def list_sub_issues(store: CodehostStore, request: Request, owner: str, repo: str, number: int) -> Page:
    """The issues that are part of an issue, in their order."""
    issue = store.issues.issue(store.repositories.repository(owner, repo), number)
    page, per_page = window_of(request)
    rows, total = store.issues.sub_issue_page(issue, page, per_page)
    return paged(request, shapes.issues(Links(request), store, rows), total)


@api.get(f"{ISSUE}/parent")
def get_parent(store: CodehostStore, request: Request, owner: str, repo: str, number: int) -> dict[str, Any]:
    """The issue that an issue is part of."""
    parent = store.issues.parent_issue(store.issues.issue(store.repositories.repository(owner, repo), number))
    if parent is None:
        raise NotFound("Not Found")
    return shapes.issue(Links(request), store, parent)


def _sub_issue(body: Fields) -> int:
    child = read.number(body, "sub_issue_id")
    if child is None:
        raise read.missing(body, "sub_issue_id")
    return child


@api.post(f"{ISSUE}/sub_issues", status=201)
def add_sub_issue(
    store: CodehostStore, request: Request, owner: str, repo: str, number: int
) -> dict[str, Any]:
    """Make an issue (by its id) part of another one."""
    body = body_of(request)
    replace = read.flag(body, "replace_parent")
    child = _sub_issue(body)
    store.issues.add_sub_issue(
        store.repositories.repository(owner, repo), number, child, replace_parent=replace
    )
    return shapes.issue(Links(request), store, store.issues.issue_by_id(child))


@api.delete(f"{ISSUE}/sub_issue")
def remove_sub_issue(
    store: CodehostStore, request: Request, owner: str, repo: str, number: int
) -> dict[str, Any]:
    """Take an issue out of its parent."""
    child = _sub_issue(body_of(request))
    row = store.issues.remove_sub_issue(store.repositories.repository(owner, repo), number, child)
    return shapes.issue(Links(request), store, row)


@api.patch(f"{ISSUE}/sub_issues/priority")
def move_sub_issue(
    store: CodehostStore, request: Request, owner: str, repo: str, number: int
) -> dict[str, Any]:
    """Move a sub-issue after or before another one."""
    body = body_of(request)
    child = _sub_issue(body)
    store.issues.move_sub_issue(
        store.repositories.repository(owner, repo),
        number,
        child,
        after_id=read.number(body, "after_id"),
        before_id=read.number(body, "before_id"),
    )
    return shapes.issue(Links(request), store, store.issues.issue_by_id(child))
