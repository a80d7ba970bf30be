"""Labels and milestones: those of a repository, and the labels of an issue."""

from __future__ import annotations

from typing import Annotated, Literal

from mesocosm.doors.request import Request
from mesocosm.errors import NotFound
from mesocosm.servers.codehost.rest.api import api
from mesocosm.servers.codehost.rest.bodies import body_of, names_in, read
from mesocosm.servers.codehost.rest.context import REPO, AtRepo, AtWritable, Context, RepositoryContext
from mesocosm.servers.codehost.rest.issues import ISSUE
from mesocosm.servers.codehost.rest.shapes.issues import label, milestone
from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.servers.codehost.store.fields import NEW_LABEL_COLOR
from mesocosm.services.schema import Depends, Json
from mesocosm.services.service import Page, Row


@api.get(f"{REPO}/labels")
def list_labels(at: AtRepo) -> Page:
    """The labels of a repository by name."""
    return at.listed(at.store.fields.labels(at.repository), lambda row: label(at, at.repository, row))


@api.post(f"{REPO}/labels", status=201)
def create_label(at: AtWritable) -> Json:
    """A new label."""
    body = at.body
    name = read.required(body, "name")
    at.store.fields.add_label(
        at.repository, name, read.text(body, "color") or NEW_LABEL_COLOR, read.text(body, "description") or ""
    )
    return label(at, at.repository, at.store.fields.label(at.repository, name.strip()))


@api.get(f"{REPO}/labels/{{name:path}}")
def get_label(at: AtRepo, name: str) -> Json:
    return label(at, at.repository, at.store.fields.label(at.repository, name))


@api.patch(f"{REPO}/labels/{{name:path}}")
def update_label(at: AtWritable, name: str) -> Json:
    """Rename a label, or change its colour or description."""
    body = at.body
    new_name, older, color, about = (
        read.text(body, one) for one in ("new_name", "name", "color", "description")
    )
    # Older clients say the new name as `name`.
    row = at.store.fields.change_label(at.repository, name, new_name or older, color, about)
    return label(at, at.repository, row)


@api.delete(f"{REPO}/labels/{{name:path}}")
def delete_label(at: AtWritable, name: str) -> None:
    """Remove a label from the repository and from all issues."""
    at.store.fields.remove_label(at.repository, name)


# -- the labels of an issue ---------------------------------------------------------------------------------


@api.get(f"{ISSUE}/labels")
def list_issue_labels(at: AtRepo, number: int) -> Page:
    return at.listed(_labels(at, at.issue(number)), lambda row: label(at, at.repository, row))


class IssueContext(RepositoryContext):
    """A request about the labels of an issue, of which the signed-in account may change them."""

    def __init__(self, store: CodehostStore, request: Request) -> None:
        # The body may be an array, so only the path is looked at.
        named = request.params
        found = store.repositories.repository(named["owner"], named["repo"], need="triage")
        super().__init__(store, request, found)
        self.row = self.issue(int(named["number"]))

    @property
    def labels(self) -> list[Row]:
        """The labels that the issue has."""
        return _labels(self, self.row)

    def relabel(self, names: list[str]) -> list[Json]:
        """Have the issue carry exactly these labels."""
        self.store.issues.change_issue(self.repository, self.row["number"], labels=names)
        return [label(self, self.repository, row) for row in self.labels]


def _issue(store: CodehostStore, request: Request) -> IssueContext:
    return IssueContext(store, request)


AtIssue = Annotated[IssueContext, Depends(_issue)]


@api.post(f"{ISSUE}/labels")
def add_issue_labels(at: AtIssue) -> list[Json]:
    """Put further labels on an issue."""
    return at.relabel([*(row["name"] for row in at.labels), *_named(at.request)])


@api.put(f"{ISSUE}/labels")
def set_issue_labels(at: AtIssue) -> list[Json]:
    """Have an issue carry exactly these labels."""
    return at.relabel(_named(at.request))


@api.delete(f"{ISSUE}/labels")
def clear_issue_labels(at: AtIssue) -> None:
    """Take all labels off an issue."""
    at.relabel([])


@api.delete(f"{ISSUE}/labels/{{name:path}}")
def remove_issue_label(at: AtIssue) -> list[Json]:
    """Take a label off an issue."""
    names = [row["name"] for row in at.labels]
    left = [name for name in names if name.lower() != at.request.params["name"].lower()]
    if len(left) == len(names):
        raise NotFound("Label does not exist")
    return at.relabel(left)


def _labels(at: Context, issue: Row) -> list[Row]:
    return at.store.issues.labels_of([issue["id"]])[issue["id"]]


def _named(request: Request) -> list[str]:
    """The labels that a body names: an array, or an object that has it."""
    if isinstance(request.json, list):
        return names_in(request.json, "labels")
    return read.names(body_of(request)) or []


# -- milestones ---------------------------------------------------------------------------------------------


@api.get(f"{REPO}/milestones")
def list_milestones(at: AtRepo, state: Literal["open", "closed", "all"] = "open") -> Page:
    """The milestones of a repository."""
    return at.listed(
        at.store.listing.milestones(at.repository, state), lambda row: milestone(at, at.repository, row)
    )


@api.post(f"{REPO}/milestones", status=201)
def create_milestone(at: AtRepo) -> Json:
    """A new milestone."""
    body = at.body
    title, about = read.required(body, "title"), read.text(body, "description") or ""
    row = at.store.listing.new_milestone(at.repository, title, about, read.text(body, "due_on"))
    if state := read.choice(body, "state", "open", "closed"):
        row = at.store.taking_back.change_milestone(at.repository, row["number"], {"state": state})
    return milestone(at, at.repository, row)


@api.get(f"{REPO}/milestones/{{number:int}}")
def get_milestone(at: AtRepo, number: int) -> Json:
    return milestone(at, at.repository, at.store.listing.milestone(at.repository, number))


@api.get(f"{REPO}/milestones/{{number:int}}/labels")
def list_milestone_labels(at: AtRepo, number: int) -> Page:
    """The labels of the issues of a milestone."""
    issues, _ = at.store.listing.issue_page(at.repository, state="all", milestone=str(number), per_page=100)
    found = at.store.issues.labels_of([row["id"] for row in issues])
    once = {row["id"]: row for rows in found.values() for row in rows}
    return at.listed(
        sorted(once.values(), key=lambda row: row["name"].lower()), lambda row: label(at, at.repository, row)
    )


@api.patch(f"{REPO}/milestones/{{number:int}}")
def update_milestone(at: AtRepo, number: int) -> Json:
    """Change a milestone; ``null`` takes its due date away."""
    body = at.body
    named = [name for name in ("title", "description", "due_on") if name in body]
    changes = {name: read.text(body, name) for name in named}
    if state := read.choice(body, "state", "open", "closed"):
        changes["state"] = state
    return milestone(at, at.repository, at.store.taking_back.change_milestone(at.repository, number, changes))


@api.delete(f"{REPO}/milestones/{{number:int}}")
def delete_milestone(at: AtRepo, number: int) -> None:
    at.store.taking_back.remove_milestone(at.repository, number)
