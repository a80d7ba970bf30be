"""Tools about issues and labels."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict, Unpack

from mesocosm.errors import Invalid
from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.servers.codehost.store.fields import NEW_LABEL_COLOR
from mesocosm.servers.codehost.store.issues import UNCHANGED
from mesocosm.servers.codehost.tools import shapes
from mesocosm.servers.codehost.tools.server import (
    Cursor,
    LabelName,
    PageSize,
    Readable,
    Results,
    Writable,
    server,
)
from mesocosm.services.schema import About, Extra, Number

IssueListField = Literal[
    "number",
    "title",
    "body",
    "state",
    "user",
    "labels",
    "assignees",
    "comments",
    "created_at",
    "updated_at",
    "field_values",
]
Reaction = Annotated[
    Literal["+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"],
    About("Emoji to react with; needed unless body is given."),
]
Text = Annotated[str, Extra(minLength=1)]
FieldContent = str | float | bool
IssueType = Annotated[Any, Extra(anyOf=[{"minLength": 1, "type": "string"}, {"type": "null"}])]


class FieldFilter(TypedDict):
    """A value that a field of the issue must have."""

    field_name: str
    value: str


class FieldChange(TypedDict):
    """A field of an issue to set or clear."""

    field_name: str
    value: NotRequired[FieldContent]
    field_option_name: NotRequired[str]
    delete: NotRequired[bool]


class IssueSaid(TypedDict, total=False):
    """What may be said of an issue, new or not."""

    title: str
    body: str
    assignees: list[str]
    labels: list[str]
    milestone: Number


@server.reads(long=True)
def list_issues(
    store: CodehostStore,
    repository: Readable,
    state: Literal["OPEN", "CLOSED"] | None = None,
    labels: list[str] | None = None,
    since: str | None = None,
    field_filters: list[FieldFilter] | None = None,
    orderBy: Literal["CREATED_AT", "UPDATED_AT", "COMMENTS"] | None = None,  # noqa: N803
    direction: Literal["ASC", "DESC"] | None = None,
    fields: list[IssueListField] | None = None,
    perPage: PageSize | None = None,  # noqa: N803 - the product's spelling
    after: Cursor | None = None,
) -> dict[str, Any]:
    """List the issues of a repository (no pull requests), the newest first unless asked otherwise.

    For the next page pass the endCursor of pageInfo as after.

    Args:
        state: Only open or only closed issues; both if left out.
        labels: Only issues that carry all of these labels.
        since: Only issues changed since this time: 2025-01-15T09:00:00Z or 2025-01-15.
        field_filters: Only issues whose custom fields have these values.
        orderBy: What to order by (default CREATED_AT).
        direction: In which direction (default DESC).
        fields: Return only these fields of each issue; leaving out body shortens the answer most.
        perPage: Issues per page, 1 to 100 (default 30).
    """
    rows, total, more = store.issues.listed(
        repository,
        state=state,
        labels=labels or (),
        since=since,
        field_filters=[(item["field_name"], item["value"]) for item in field_filters or ()],
        order_by=orderBy,
        direction=direction,
        after=after,
        per_page=perPage,
    )
    ends = [store.issues.issue_cursor(row, orderBy) for row in (rows[0], rows[-1])] if rows else [None, None]
    listed = [issue | {"state": issue["state"].upper()} for issue in shapes.issues(store, rows)]
    return {
        "issues": shapes.picked(listed, fields),
        "totalCount": total,
        "pageInfo": shapes.page_info(more, after is not None, ends[0], ends[1]),
    }


@server.reads
def issue_read(
    store: CodehostStore,
    method: Literal["get", "get_comments", "get_sub_issues", "get_parent", "get_labels"],
    repository: Readable,
    issue_number: Number,
    paging: Results,
) -> Any:
    """Read an issue: the issue itself, its comments, sub-issues, parent or labels.

    Args:
        method: get: the issue; get_comments: its comments, oldest first; get_sub_issues: the issues that are
            part of it; get_parent: the issue that it is part of; get_labels: its labels.
        issue_number: Number of the issue.
        page: Page number of comments or sub-issues, from 1.
        perPage: Comments or sub-issues per page, 1 to 100 (default 30).
    """
    issue = store.issues.issue(repository, issue_number)
    if method == "get_comments":
        rows, total = store.issues.comments(issue, *paging)
        return paging.of(shapes.comments(store, issue, rows), total)
    if method == "get_sub_issues":
        rows, total = store.issues.sub_issue_page(issue, *paging)
        return paging.of(shapes.issues(store, rows), total)
    if method == "get_parent":
        parent = store.issues.parent_issue(issue)
        return {"parent": shapes.issue_reference(parent) if parent else None}
    if method == "get_labels":
        labels = store.issues.labels_of([issue["id"]])[issue["id"]]
        return {"labels": [shapes.label(label) for label in labels], "totalCount": len(labels)}
    return _issue(store, issue)


def _issue(store: CodehostStore, issue: Any) -> dict[str, Any]:
    """An issue with its place among others."""
    summary, parent = store.issues.sub_issue_summary(issue), store.issues.parent_issue(issue)
    shape = shapes.issues(store, [issue])[0]
    shape |= {"has_parent": parent is not None, "has_children": summary["total"] > 0}
    if parent:
        shape["parent"] = shapes.issue_reference(parent)
    return shape | ({"sub_issues_summary": summary} if summary["total"] else {})


@server.writes
def issue_write(
    store: CodehostStore,
    method: Literal["create", "update"],
    repository: Readable,
    issue_number: Number | None = None,
    type: IssueType = UNCHANGED,
    state: Literal["open", "closed"] | None = None,
    state_reason: Literal["completed", "not_planned", "duplicate"] | None = None,
    duplicate_of: Number | None = None,
    issue_fields: list[Annotated[FieldChange, Extra(additionalProperties=False)]] | None = None,
    **said: Unpack[IssueSaid],
) -> dict[str, Any]:
    """Open an issue, or change one; what is left out stays as it is.

    Args:
        method: create: open a new issue (needs title); update: change issue_number.
        owner: Owner of the repository.
        repo: Name of the repository.
        issue_number: Number of the issue to change.
        title: Title of the issue.
        body: Text of the issue, in Markdown.
        assignees: Logins of those who are to work on it; replaces the present ones.
        labels: Names of its labels; replaces the present ones.
        milestone: Number of its milestone; 0 takes it out of its milestone.
        type: Type of the issue, in repositories of organisations: Task, Bug or Feature; null removes it.
        state: Close or reopen it (update only).
        state_reason: Why it is closed (default completed).
        duplicate_of: Number of the issue that it repeats, with state_reason duplicate.
        issue_fields: Custom fields to set (value or field_option_name) or to clear (delete).
    """
    fields = issue_fields or ()
    if method == "create":
        new_type = None if type == UNCHANGED else type
        issue = store.issues.open_issue(repository, issue_type=new_type, fields=fields, **said)
        return shapes.created(issue["id"], shapes.issue_url(issue))
    if issue_number is None:
        raise Invalid("missing required parameter: issue_number")
    issue = store.issues.change_issue(
        repository,
        issue_number,
        issue_type=type,
        state=state,
        state_reason=state_reason,
        duplicate_of=duplicate_of,
        fields=fields,
        **said,
    )
    return shapes.created(issue["id"], shapes.issue_url(issue))


# "Leave the type as it is" is the default, which nobody can write: it is no part of what callers see.
server.tools["issue_write"].signature.schema["properties"]["type"].pop("default")


@server.writes
def add_issue_comment(
    store: CodehostStore,
    repository: Readable,
    issue_number: Number,
    body: Text | None = None,
    comment_id: Annotated[int, Extra(minimum=1)] | None = None,
    reaction: Reaction | None = None,
) -> dict[str, Any]:
    """Comment on an issue or in the conversation of a pull request, or react with an emoji, or both.

    Args:
        issue_number: Number of the issue or pull request.
        body: Text of the comment, in Markdown; needed unless reaction is given.
        comment_id: Id of the comment to react to; without it the reaction is to the issue itself.
    """
    issue = store.issues.issue(repository, issue_number)
    if body is None and reaction is None:
        raise Invalid("At least one of body or reaction is required.")
    answer: dict[str, Any] = {}
    if reaction is not None:
        comment_row = store.issues.comment(issue, comment_id) if comment_id is not None else None
        subject = ("comment", comment_row["id"]) if comment_row else ("issue", issue["id"])
        reacted = store.issues.react(repository, *subject, reaction)
        answer = {"reaction": {"id": reacted, "content": reaction}}
    if body is not None:
        comment = store.issues.add_comment(repository, issue_number, body)
        url = f"{shapes.issue_url(issue)}#issuecomment-{comment['id']}"
        answer = shapes.created(comment["id"], url) | answer
    return answer


@server.writes
def sub_issue_write(
    store: CodehostStore,
    method: str,
    repository: Readable,
    issue_number: Number,
    sub_issue_id: Number,
    replace_parent: bool | None = None,
    after_id: Number | None = None,
    before_id: Number | None = None,
) -> dict[str, Any]:
    """Make an issue part of another one, take it out, or move it among its siblings.

    Args:
        method: add, remove or reprioritize.
        owner: Owner of the repository of the parent issue.
        repo: Name of that repository.
        issue_number: Number of the parent issue.
        sub_issue_id: Id (not number) of the issue that is or becomes part of it.
        replace_parent: With add: take the issue away from the parent that it has.
        after_id: With reprioritize: id of the sub-issue to come after.
        before_id: With reprioritize: id of the sub-issue to come before.
    """
    if method == "add":
        issue = store.issues.add_sub_issue(
            repository, issue_number, sub_issue_id, replace_parent=bool(replace_parent)
        )
    elif method == "remove":
        issue = store.issues.remove_sub_issue(repository, issue_number, sub_issue_id)
    elif method == "reprioritize":
        issue = store.issues.move_sub_issue(
            repository, issue_number, sub_issue_id, after_id=after_id, before_id=before_id
        )
    else:
        raise Invalid(f"unknown method: {method}. It is one of add, remove, reprioritize.")
    return {"method": method, "issue": _issue(store, issue)}


# -- labels --------------------------------------------------------------------------------------------------


@server.reads
def get_label(store: CodehostStore, repository: Readable, name: LabelName) -> dict[str, Any]:
    """Show a label of a repository."""
    return shapes.label(store.fields.label(repository, name))


@server.reads
def list_label(store: CodehostStore, repository: Readable) -> dict[str, Any]:
    """List the labels of a repository by name."""
    labels = store.fields.labels(repository)
    return {"labels": [shapes.label(label) for label in labels], "totalCount": len(labels)}


@server.writes(destructive=True)
def label_write(
    store: CodehostStore,
    method: Literal["create", "update", "delete"],
    repository: Writable,
    name: LabelName,
    new_name: str | None = None,
    color: str | None = None,
    description: str | None = None,
) -> str:
    """Create, change or delete a label of a repository; deleting takes it from all issues.

    Args:
        method: What to do with the label.
        new_name: Its new name, for update.
        color: Its colour as six hexadecimal digits without #.
        description: What it stands for.
    """
    if method == "create":
        store.fields.add_label(
            repository, name, NEW_LABEL_COLOR if color is None else color, description or ""
        )
    elif method == "update":
        store.fields.change_label(repository, name, new_name, color, description)
    else:
        store.fields.remove_label(repository, name)
    return f"label '{name}' {method}d successfully"
