"""Labels and milestones: those of a repository, and the labels of an issue."""

from __future__ import annotations

from typing import Any, Literal

from mesocosm.doors.request import Request
from mesocosm.errors import NotFound
from mesocosm.servers.codehost.rest.api import api, cut, paged
from mesocosm.servers.codehost.rest.bodies import body_of, names_in, read
from mesocosm.servers.codehost.rest.history import REPO
from mesocosm.servers.codehost.rest.issues import ISSUE
from mesocosm.servers.codehost.rest.links import Links
from mesocosm.servers.codehost.rest.shapes.issues import label, milestone
from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.servers.codehost.store.fields import NEW_LABEL_COLOR
from mesocosm.services.service import Page, Row


@api.get(f"{REPO}/labels")
def list_labels(store: CodehostStore, request: Request, owner: str, repo: str) -> Page:
    """The labels of a repository by name."""
    repository, links = store.repositories.repository(owner, repo), Links(request)
    rows, total = cut(request, store.fields.labels(repository))
    return paged(request, [label(links, repository, row) for row in rows], total)


@api.post(f"{REPO}/labels", status=201)
def create_label(store: CodehostStore, request: Request, owner: str, repo: str) -> dict[str, Any]:
    """A new label."""
    repository, body = store.repositories.repository(owner, repo, need="write"), body_of(request)
    name = read.required(body, "name")
    store.fields.add_label(
        repository, name, read.text(body, "color") or NEW_LABEL_COLOR, read.text(body, "description") or ""
    )
    return label(Links(request), repository, store.fields.label(repository, name.strip()))


@api.get(f"{REPO}/labels/{{name:path}}")
def get_label(store: CodehostStore, request: Request, owner: str, repo: str, name: str) -> dict[str, Any]:
    repository = store.repositories.repository(owner, repo)
    return label(Links(request), repository, store.fields.label(repository, name))


@api.patch(f"{REPO}/labels/{{name:path}}")
def update_label(store: CodehostStore, request: Request, owner: str, repo: str, name: str) -> dict[str, Any]:
    """Rename a label, or change its colour or description."""
    repository, body = store.repositories.repository(owner, repo, need="write"), body_of(request)
    new_name, older, color, about = (
        read.text(body, one) for one in ("new_name", "name", "color", "description")
    )
    # Older clients say the new name as `name`.
    row = store.fields.change_label(repository, name, new_name or older, color, about)
    return label(Links(request), repository, row)


@api.delete(f"{REPO}/labels/{{name:path}}")
def delete_label(store: CodehostStore, owner: str, repo: str, name: str) -> None:
    """Remove a label from the repository and from all issues."""
    store.fields.remove_label(store.repositories.repository(owner, repo, need="write"), name)


# -- the labels of an issue ---------------------------------------------------------------------------------


@api.get(f"{ISSUE}/labels")
def list_issue_labels(store: CodehostStore, request: Request, owner: str, repo: str, number: int) -> Page:
    repository, links = store.repositories.repository(owner, repo), Links(request)
    rows, total = cut(request, _there(store, store.issues.issue(repository, number)))
    return paged(request, [label(links, repository, row) for row in rows], total)


# The body of these may be an array, so only the request itself is asked for.


@api.post(f"{ISSUE}/labels")
def add_issue_labels(store: CodehostStore, request: Request) -> list[dict[str, Any]]:
    """Put further labels on an issue."""
    repository, issue = _issue(store, request)
    names = [row["name"] for row in _there(store, issue)]
    return _relabel(store, request, repository, issue, [*names, *_named(request)])


@api.put(f"{ISSUE}/labels")
def set_issue_labels(store: CodehostStore, request: Request) -> list[dict[str, Any]]:
    """Have an issue carry exactly these labels."""
    return _relabel(store, request, *_issue(store, request), _named(request))


@api.delete(f"{ISSUE}/labels")
def clear_issue_labels(store: CodehostStore, request: Request) -> None:
    """Take all labels off an issue."""
    _relabel(store, request, *_issue(store, request), [])


@api.delete(f"{ISSUE}/labels/{{name:path}}")
def remove_issue_label(store: CodehostStore, request: Request) -> list[dict[str, Any]]:
    """Take a label off an issue."""
    repository, issue = _issue(store, request)
    names = [row["name"] for row in _there(store, issue)]
    left = [name for name in names if name.lower() != request.params["name"].lower()]
    if len(left) == len(names):
        raise NotFound("Label does not exist")
    return _relabel(store, request, repository, issue, left)


def _issue(store: CodehostStore, request: Request) -> tuple[Row, Row]:
    repository = store.repositories.repository(request.params["owner"], request.params["repo"], need="triage")
    return repository, store.issues.issue(repository, int(request.params["number"]))


def _there(store: CodehostStore, issue: Row) -> list[Row]:
    return store.issues.labels_of([issue["id"]])[issue["id"]]


def _named(request: Request) -> list[str]:
    """The labels that a body names: an array, or an object that has it."""
    if isinstance(request.json, list):
        return names_in(request.json, "labels")
    return read.names(body_of(request)) or []


def _relabel(
    store: CodehostStore, request: Request, repository: Row, issue: Row, names: list[str]
) -> list[dict[str, Any]]:
    store.issues.change_issue(repository, issue["number"], labels=names)
    return [label(Links(request), repository, row) for row in _there(store, issue)]


# -- milestones ---------------------------------------------------------------------------------------------


@api.get(f"{REPO}/milestones")
def list_milestones(
    store: CodehostStore,
    request: Request,
    owner: str,
    repo: str,
    state: Literal["open", "closed", "all"] = "open",
) -> Page:
    """The milestones of a repository."""
    repository, links = store.repositories.repository(owner, repo), Links(request)
    rows, total = cut(request, store.listing.milestones(repository, state))
    return paged(request, [milestone(links, repository, row) for row in rows], total)


@api.post(f"{REPO}/milestones", status=201)
def create_milestone(store: CodehostStore, request: Request, owner: str, repo: str) -> dict[str, Any]:
    """A new milestone."""
    repository, body = store.repositories.repository(owner, repo), body_of(request)
    title, about = read.required(body, "title"), read.text(body, "description") or ""
    row = store.listing.new_milestone(repository, title, about, read.text(body, "due_on"))
    if state := read.choice(body, "state", "open", "closed"):
        row = store.taking_back.change_milestone(repository, row["number"], {"state": state})
    return milestone(Links(request), repository, row)


@api.get(f"{REPO}/milestones/{{number:int}}")
def get_milestone(
    store: CodehostStore, request: Request, owner: str, repo: str, number: int
) -> dict[str, Any]:
    repository = store.repositories.repository(owner, repo)
    return milestone(Links(request), repository, store.listing.milestone(repository, number))


@api.get(f"{REPO}/milestones/{{number:int}}/labels")
def list_milestone_labels(store: CodehostStore, request: Request, owner: str, repo: str, number: int) -> Page:
    """The labels of the issues of a milestone."""
    repository, links = store.repositories.repository(owner, repo), Links(request)
    issues, _ = store.listing.issue_page(repository, state="all", milestone=str(number), per_page=100)
    found = store.issues.labels_of([row["id"] for row in issues])
    once = {row["id"]: row for rows in found.values() for row in rows}
    rows, total = cut(request, sorted(once.values(), key=lambda row: row["name"].lower()))
    return paged(request, [label(links, repository, row) for row in rows], total)


@api.patch(f"{REPO}/milestones/{{number:int}}")
def update_milestone(
    store: CodehostStore, request: Request, owner: str, repo: str, number: int
) -> dict[str, Any]:
    """Change a milestone; ``null`` takes its due date away."""
    repository, body = store.repositories.repository(owner, repo), body_of(request)
    named = [name for name in ("title", "description", "due_on") if name in body]
    changes = {name: read.text(body, name) for name in named}
    if state := read.choice(body, "state", "open", "closed"):
        changes["state"] = state
    return milestone(
        Links(request), repository, store.taking_back.change_milestone(repository, number, changes)
    )


@api.delete(f"{REPO}/milestones/{{number:int}}")
def delete_milestone(store: CodehostStore, owner: str, repo: str, number: int) -> None:
    store.taking_back.remove_milestone(store.repositories.repository(owner, repo), number)
