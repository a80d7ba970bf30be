"""Pages of the code host: repositories with files, commits, issues, pull requests and reviews."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import sqlalchemy as sql

from mesocosm.errors import NotFound
from mesocosm.servers.codehost.models import (
    Account,
    Change,
    Comment,
    Commit,
    File,
    History,
    Issue,
    IssueLabel,
    Label,
    PullRequest,
    Ref,
    Release,
    Repository,
    Review,
    ReviewComment,
    ReviewThread,
)
from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.services.previews import preview
from mesocosm.services.views import (
    Asked,
    Block,
    Cell,
    Columns,
    Fields,
    Item,
    Link,
    Message,
    Page,
    Row,
    Table,
    View,
    count_of,
    found_in,
    minute_of,
    table_of,
)

view = View()


def _people(store: CodehostStore) -> dict[int | None, str]:
    return dict(store.session.execute(sql.select(Account.id, Account.login)).all())


@view.page("")
def repositories(store: CodehostStore, asked: Asked) -> Page:
    owners = _people(store)
    columns: Columns = {
        "Repository": lambda one: Link(f"{owners.get(one.owner_id)}/{one.name}", f"repository/{one.id}"),
        "": lambda one: "private" if one.private else "public",
        "Language": lambda one: one.language,
        "Description": lambda one: one.description,
        "Pushed": lambda one: minute_of(one.pushed_at),
    }
    return Page("Repositories", [table_of(store, asked, Repository, columns)])


def _repository(store: CodehostStore, id: str) -> tuple[Repository, list[Link], Link]:
    found = found_in(store, Repository, id, "repository")
    here = f"repository/{found.id}"

    def count(kind: Any, *chosen: Any) -> int:
        return count_of(store, kind, kind.repository_id == found.id, *chosen)

    places = [
        Link("Files", here, count(File)),
        Link("Commits", f"{here}/commits", count(History)),
        Link("Issues", f"{here}/issues", count(Issue, ~Issue.is_pull)),
        Link("Pull requests", f"{here}/pulls", count(Issue, Issue.is_pull)),
        Link("Branches and tags", f"{here}/refs", count(Ref)),
        Link("Releases", f"{here}/releases", count(Release)),
    ]
    return found, [one for one in places if one.count], Link("All repositories", "")


@view.page("repository/{id}")
def repository(store: CodehostStore, asked: Asked, id: str) -> Page:
    """The files of the default branch."""
    found, places, up = _repository(store, id)
    facts: dict[str, Cell] = {
        "Description": found.description,
        "Topics": found.topics,
        "Default branch": found.default_branch,
        "Created": minute_of(found.created_at),
    }
    columns: Columns = {
        "File": lambda one: Link(one.path, f"repository/{found.id}/file/{quote(one.path)}"),
        "Bytes": lambda one: one.size,
    }
    table = table_of(store, asked, File, columns, File.repository_id == found.id, order=[File.path])
    return Page(found.name, [Fields(facts, ref=f"repositories:{found.id}"), table], places, up)


@view.page("repository/{id}/file/{path:path}")
def file(store: CodehostStore, asked: Asked, id: str, path: str) -> Page:
    """A file of the default branch."""
    found, places, _ = _repository(store, id)
    one = store.session.scalar(sql.select(File).where(File.repository_id == found.id, File.path == path))
    if one is None:
        raise NotFound("there is no such file")
    text = store.contents.file_text({"network": one.network, "sha": one.sha})
    shown = preview(path, text.encode(), asked)
    return Page(
        path,
        [Fields({"Bytes": one.size}, ref=f"files:{one.id}"), *shown],
        places,
        Link("Files", f"repository/{found.id}"),
    )


@view.page("repository/{id}/commits")
def commits(store: CodehostStore, asked: Asked, id: str) -> Page:
    """The commits of a repository, the latest first."""
    found, places, up = _repository(store, id)
    within = sql.select(History.commit_id).where(History.repository_id == found.id)
    newest = (Commit.committed_at.desc(), Commit.id.desc())
    columns: Columns = {
        "Commit": lambda one: Link(one.sha[:8], f"commit/{one.id}"),
        "Message": lambda one: one.message.partition("\n")[0],
        "By": lambda one: one.author_name,
        "At": lambda one: minute_of(one.committed_at),
    }
    table = table_of(store, asked, Commit, columns, Commit.id.in_(within), order=newest)
    return Page("Commits", [table], places, up)


@view.page("commit/{id}")
def commit(store: CodehostStore, asked: Asked, id: str) -> Page:
    """A commit with the files that it changed."""
    found = found_in(store, Commit, id, "commit")
    changes = store.session.scalars(
        sql.select(Change).where(Change.commit_id == found.id).order_by(Change.path)
    )
    rows = [
        Row(
            [one.status, one.path, f"+{one.additions} −{one.deletions}"],
            ref=f"changes:{one.commit_id},{one.path}",
        )
        for one in changes
    ]
    said = Message(
        f"{found.author_name} <{found.author_email}>",
        found.message,
        minute_of(found.committed_at),
        ref=f"commits:{found.id}",
    )
    of = store.session.scalar(sql.select(History.repository_id).where(History.commit_id == found.id))
    up = Link("Commits", f"repository/{of}/commits") if of else None
    return Page(found.sha, [said, Table(["", "File", "Lines"], rows)], up=up)


def _issues(store: CodehostStore, asked: Asked, id: str, *, pulls: bool) -> Page:
    found, places, up = _repository(store, id)
    of = (Issue.repository_id == found.id, Issue.is_pull if pulls else ~Issue.is_pull)
    people = _people(store)
    issues = store.session.scalars(
        sql.select(Issue).where(*of).order_by(Issue.number.desc()).offset(asked.start).limit(asked.size)
    ).all()
    labels: dict[int, list[str]] = {}
    for issue, name in store.session.execute(
        sql.select(IssueLabel.issue_id, Label.name)
        .join(Label, Label.id == IssueLabel.label_id)
        .where(IssueLabel.issue_id.in_([one.id for one in issues]))
    ):
        labels.setdefault(issue, []).append(name)
    rows = [
        Row(
            [
                f"#{one.number}",
                Link(one.title, f"issue/{one.id}"),
                one.state,
                ", ".join(labels.get(one.id, ())),
                people.get(one.user_id),
                one.comments,
                minute_of(one.updated_at),
            ],
            ref=f"issues:{one.id}",
        )
        for one in issues
    ]
    head = ["", "Title", "State", "Labels", "By", "Comments", "Changed"]
    table = Table(head, rows, count_of(store, Issue, *of))
    return Page("Pull requests" if pulls else "Issues", [table], places, up)


@view.page("repository/{id}/issues")
def issues(store: CodehostStore, asked: Asked, id: str) -> Page:
    """The issues of a repository."""
    return _issues(store, asked, id, pulls=False)


@view.page("repository/{id}/pulls")
def pulls(store: CodehostStore, asked: Asked, id: str) -> Page:
    """The pull requests of a repository."""
    return _issues(store, asked, id, pulls=True)


@view.page("issue/{id}")
def issue(store: CodehostStore, asked: Asked, id: str) -> Page:
    """An issue or a pull request with all that was said about it."""
    found = found_in(store, Issue, id, "issue")
    people = _people(store)
    labels = store.session.scalars(
        sql.select(Label.name)
        .join(IssueLabel, IssueLabel.label_id == Label.id)
        .where(IssueLabel.issue_id == found.id)
    )
    facts: dict[str, Cell] = {
        "State": " ".join(filter(None, [found.state, found.state_reason])),
        "Labels": ", ".join(labels),
        "Type": found.type,
        "Closed": minute_of(found.closed_at),
    }
    pull = store.session.get(PullRequest, found.id)
    if pull is not None:
        facts |= {
            "From": pull.head_ref,
            "Into": pull.base_ref,
            "Merged": minute_of(pull.merged_at),
            "Draft": "yes" if pull.draft else "",
        }
    first = Message(
        people.get(found.user_id, ""),
        found.body,
        minute_of(found.created_at),
        title=found.title,
        ref=f"issues:{found.id}",
    )
    comments = store.session.scalars(
        sql.select(Comment).where(Comment.issue_id == found.id).order_by(Comment.created_at, Comment.id)
    )
    said = [
        Message(people.get(one.user_id, ""), one.body, minute_of(one.created_at), ref=f"comments:{one.id}")
        for one in comments
    ]
    said += [
        Message(
            people.get(one.user_id, ""),
            one.body,
            minute_of(one.submitted_at),
            title=f"Review: {one.state.lower()}",
            ref=f"reviews:{one.id}",
        )
        for one in store.session.scalars(
            sql.select(Review).where(Review.pull_id == found.id).order_by(Review.id)
        )
    ]
    threads = store.session.execute(
        sql.select(ReviewComment, ReviewThread.path, ReviewThread.line)
        .join(ReviewThread, ReviewThread.id == ReviewComment.thread_id)
        .where(ReviewThread.pull_id == found.id)
        .order_by(ReviewThread.id, ReviewComment.id)
    )
    said += [
        Message(
            people.get(one.user_id, ""),
            one.body,
            minute_of(one.created_at),
            title=f"{path}, line {line}",
            ref=f"review_comments:{one.id}",
        )
        for one, path, line in threads
    ]
    kind = "pulls" if found.is_pull else "issues"
    up = Link("Pull requests" if found.is_pull else "Issues", f"repository/{found.repository_id}/{kind}")
    _, places, _ = _repository(store, str(found.repository_id))
    blocks: list[Block] = [Fields(facts), first, *said]
    return Page(f"#{found.number} {found.title}", blocks, places, up)


@view.page("repository/{id}/refs")
def refs(store: CodehostStore, asked: Asked, id: str) -> Page:
    """Branches and tags."""
    found, places, up = _repository(store, id)
    of = Ref.repository_id == found.id
    rows = [
        Row([one.name, one.sha[:8]], ref=f"refs:{one.repository_id},{one.name}")
        for one in store.session.scalars(
            sql.select(Ref).where(of).order_by(Ref.name).offset(asked.start).limit(asked.size)
        )
    ]
    return Page("Branches and tags", [Table(["Name", "Commit"], rows, count_of(store, Ref, of))], places, up)


@view.page("repository/{id}/releases")
def releases(store: CodehostStore, asked: Asked, id: str) -> Page:
    """Releases with their notes."""
    found, places, up = _repository(store, id)
    people = _people(store)
    shown = [
        Message(
            people.get(one.author_id, ""),
            one.body,
            minute_of(one.published_at),
            title=f"{one.tag_name} {one.name}",
            ref=f"releases:{one.id}",
        )
        for one in store.session.scalars(
            sql.select(Release).where(Release.repository_id == found.id).order_by(Release.id.desc())
        )
    ]
    return Page("Releases", shown, places, up)


@view.items
def items(store: CodehostStore) -> Iterator[Item]:
    """Files, issues, comments, reviews and commits."""
    address = dict(
        store.session.execute(sql.select(Account.id, sql.func.coalesce(Account.email, Account.login))).all()
    )
    for one in store.session.scalars(sql.select(File).where(File.searchable).order_by(File.id)):
        text = store.contents.file_text({"network": one.network, "sha": one.sha})
        yield Item(
            "file",
            one.path,
            text,
            f"repository/{one.repository_id}/file/{quote(one.path)}",
            f"files:{one.id}",
        )
    titles: dict[int, str] = {}
    for issue in store.session.scalars(sql.select(Issue).order_by(Issue.id)):
        titles[issue.id] = issue.title
        kind = "pull request" if issue.is_pull else "issue"
        yield Item(
            kind,
            f"#{issue.number} {issue.title}",
            issue.body,
            f"issue/{issue.id}",
            f"issues:{issue.id}",
            issue.created_at,
            [address.get(issue.user_id, "")],
        )
    for said in store.session.scalars(sql.select(Comment).order_by(Comment.id)):
        yield Item(
            "comment",
            titles.get(said.issue_id, ""),
            said.body,
            f"issue/{said.issue_id}",
            f"comments:{said.id}",
            said.created_at,
            [address.get(said.user_id, "")],
        )
    for review in store.session.scalars(sql.select(Review).order_by(Review.id)):
        yield Item(
            "review",
            titles.get(review.pull_id, ""),
            review.body,
            f"issue/{review.pull_id}",
            f"reviews:{review.id}",
            review.submitted_at or "",
            [address.get(review.user_id, "")],
        )
    for commit in store.session.scalars(sql.select(Commit).order_by(Commit.id)):
        yield Item(
            "commit",
            commit.sha[:8],
            commit.message,
            f"commit/{commit.id}",
            f"commits:{commit.id}",
            commit.committed_at,
            [commit.author_email],
        )
