"""Pull requests and their reviews."""

from __future__ import annotations

from typing import Any, Literal

from mesocosm.doors.request import Request
from mesocosm.errors import Conflict, NotFound
from mesocosm.servers.codehost.rest.api import accepts, api, cut, paged, window_of
from mesocosm.servers.codehost.rest.bodies import body_of, read
from mesocosm.servers.codehost.rest.history import REPO, named_commit, text
from mesocosm.servers.codehost.rest.issues import react, reactions
from mesocosm.servers.codehost.rest.links import Links
from mesocosm.servers.codehost.rest.patches import patches
from mesocosm.servers.codehost.rest.shapes import git
from mesocosm.servers.codehost.rest.shapes import pulls as shapes
from mesocosm.servers.codehost.rest.shapes.accounts import user
from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.servers.codehost.store.differences import hunks, line_at, unified
from mesocosm.servers.codehost.store.refusals import Unprocessable
from mesocosm.services.fields import Fields
from mesocosm.services.service import Page, Row

PULL = f"{REPO}/pulls/{{number:int}}"
EVENTS = ("APPROVE", "REQUEST_CHANGES", "COMMENT")


@api.get(f"{REPO}/pulls")
def list_pulls(
    store: CodehostStore,
    request: Request,
    owner: str,
    repo: str,
    state: Literal["open", "closed", "all"] = "open",
    head: str | None = None,
    base: str | None = None,
    sort: Literal["created", "updated", "popularity", "long-running"] = "created",
    direction: Literal["asc", "desc"] | None = None,
) -> Page:
    """The pull requests of a repository."""
    repository = store.repositories.repository(owner, repo)
    page, per_page = window_of(request)
    rows, total = store.pulls.listed(
        repository,
        state=state,
        head=head,
        base=base,
        sort=sort,
        direction=direction,
        page=page,
        per_page=per_page,
    )
    return paged(request, shapes.pulls(Links(request), store, repository, rows), total)


@api.post(f"{REPO}/pulls", status=201)
def create_pull(store: CodehostStore, request: Request, owner: str, repo: str) -> dict[str, Any]:
    """Open a pull request."""
    repository, body = store.repositories.repository(owner, repo), body_of(request)
    title, head, base = read.required(body, "title"), read.required(body, "head"), read.required(body, "base")
    row = store.pulls.open_pull(
        repository,
        title,
        head,
        base,
        read.text(body, "body") or "",
        draft=read.flag(body, "draft"),
        maintainer_can_modify=read.flag(body, "maintainer_can_modify"),
    )
    return shapes.pull(Links(request), store, repository, row)


@api.get(PULL)
def get_pull(store: CodehostStore, request: Request, owner: str, repo: str, number: int) -> Any:
    """A pull request, or its diff (media type ``diff``)."""
    repository = store.repositories.repository(owner, repo)
    row = store.pulls.pull(repository, number)
    if accepts(request, "diff"):
        return text(
            unified(store.commits.objects(repository), store.pulls.compare(repository, row).differences),
            "diff",
        )
    if accepts(request, "patch"):
        return text(patches(store, repository, store.pulls.compare(repository, row).commits), "patch")
    return shapes.pull(Links(request), store, repository, row)


@api.patch(PULL)
def update_pull(store: CodehostStore, request: Request, owner: str, repo: str, number: int) -> dict[str, Any]:
    """Change what the body names."""
    repository, body = store.repositories.repository(owner, repo), body_of(request)
    row = store.pulls.change_pull(
        repository,
        number,
        title=read.text(body, "title"),
        body=(read.text(body, "body") or "") if "body" in body else None,
        state=read.choice(body, "state", "open", "closed"),
        base=read.text(body, "base"),
        draft=read.changed_flag(body, "draft"),
        maintainer_can_modify=read.changed_flag(body, "maintainer_can_modify"),
    )
    return shapes.pull(Links(request), store, repository, row)


@api.get(f"{PULL}/commits")
def list_pull_commits(store: CodehostStore, request: Request, owner: str, repo: str, number: int) -> Page:
    """The commits of a pull request, oldest first."""
    repository, links = store.repositories.repository(owner, repo), Links(request)
    page, per_page = window_of(request)
    rows, total = store.pulls.pull_commits(repository, store.pulls.pull(repository, number), page, per_page)
    return paged(request, [git.commit(links, store, repository, row) for row in rows], total)


@api.get(f"{REPO}/commits/{{ref}}/pulls")
def list_pulls_of_commit(store: CodehostStore, request: Request, owner: str, repo: str, ref: str) -> Page:
    """The pull requests, open or merged, that brought a commit or would bring it."""
    repository = store.repositories.repository(owner, repo)
    rows, total = cut(request, store.listing.pulls_with(repository, named_commit(store, repository, ref)))
    return paged(request, shapes.pulls(Links(request), store, repository, rows), total)


@api.get(f"{PULL}/files")
def list_pull_files(store: CodehostStore, request: Request, owner: str, repo: str, number: int) -> Page:
    """The files that a pull request changes."""
    repository, links = store.repositories.repository(owner, repo), Links(request)
    row = store.pulls.pull(repository, number)
    page, per_page = window_of(request)
    found, total = store.pulls.pull_files(repository, row, page, per_page)
    sha = row["head_sha"]
    return paged(request, [git.changed_file(links, store, repository, sha, item) for item in found], total)


@api.get(f"{PULL}/merge")
def check_merged(store: CodehostStore, owner: str, repo: str, number: int) -> None:
    """204 if a pull request has been merged, else 404."""
    if store.pulls.pull(store.repositories.repository(owner, repo), number)["merged_at"] is None:
        raise NotFound("Not Found")


@api.put(f"{PULL}/merge")
def merge_pull(store: CodehostStore, request: Request, owner: str, repo: str, number: int) -> dict[str, Any]:
    repository, body = store.repositories.repository(owner, repo), body_of(request)
    expected = read.text(body, "sha")
    if expected and expected.lower() != store.pulls.pull(repository, number)["head_sha"]:
        raise Conflict("Head branch was modified. Review and try the merge again.")
    sha = store.pulls.merge_pull(
        repository,
        number,
        read.choice(body, "merge_method", "merge", "squash", "rebase") or "merge",
        read.text(body, "commit_title"),
        read.text(body, "commit_message"),
    )
    return {"sha": sha, "merged": True, "message": "Pull Request successfully merged"}


@api.put(f"{PULL}/update-branch", status=202)
def update_branch(
    store: CodehostStore, request: Request, owner: str, repo: str, number: int
) -> dict[str, Any]:
    """Merge the base branch into the branch of a pull request."""
    repository = store.repositories.repository(owner, repo)
    store.pulls.update_branch(repository, number, read.text(body_of(request), "expected_head_sha"))
    url = Links(request).page(repository, "pull", number)
    return {"message": "Updating pull request branch.", "url": url}


# -- who is asked to review ---------------------------------------------------------------------------------


@api.get(f"{PULL}/requested_reviewers")
def list_requested(
    store: CodehostStore, request: Request, owner: str, repo: str, number: int
) -> dict[str, Any]:
    """The people and teams who are asked to review."""
    repository, links = store.repositories.repository(owner, repo), Links(request)
    asked = store.pulls.requested([store.pulls.pull(repository, number)["id"]])
    people = [row for row in asked if row["login"] is not None]
    teams = [row for row in asked if row["login"] is None]
    return {
        "users": [user(links, row["account_id"], row["login"]) for row in people],
        "teams": [shapes.team(links, repository["owner"], row) for row in teams],
    }


@api.post(f"{PULL}/requested_reviewers", status=201)
def request_reviewers(
    store: CodehostStore, request: Request, owner: str, repo: str, number: int
) -> dict[str, Any]:
    """Ask further people and teams to review."""
    repository, body = store.repositories.repository(owner, repo), body_of(request)
    row = store.pulls.change_pull(repository, number, reviewers=_reviewers(repository, body))
    return shapes.pull(Links(request), store, repository, row)


@api.delete(f"{PULL}/requested_reviewers")
def withdraw_requests(
    store: CodehostStore, request: Request, owner: str, repo: str, number: int
) -> dict[str, Any]:
    """Ask people and teams no longer to review."""
    repository, body = store.repositories.repository(owner, repo), body_of(request)
    row = store.pulls.withdraw_requests(repository, number, _reviewers(repository, body))
    return shapes.pull(Links(request), store, repository, row)


def _reviewers(repository: Row, body: Fields) -> list[str]:
    teams = [f"{repository['owner']}/{slug}" for slug in read.texts(body, "team_reviewers") or []]
    return [*(read.texts(body, "reviewers") or []), *teams]


# -- reviews ------------------------------------------------------------------------------------------------


@api.get(f"{PULL}/reviews")
def list_reviews(store: CodehostStore, request: Request, owner: str, repo: str, number: int) -> Page:
    """The reviews of a pull request, oldest first."""
    repository, links = store.repositories.repository(owner, repo), Links(request)
    page, per_page = window_of(request)
    rows, total = store.reviews.listed(store.pulls.pull(repository, number), page, per_page)
    return paged(request, [shapes.review(links, repository, number, row) for row in rows], total)


@api.post(f"{PULL}/reviews")
def create_review(
    store: CodehostStore, request: Request, owner: str, repo: str, number: int
) -> dict[str, Any]:
    """Review a pull request; without an ``event`` the review stays pending."""
    repository, body = store.repositories.repository(owner, repo), body_of(request)
    event = read.choice(body, "event", *EVENTS, "PENDING")
    content, commit = read.text(body, "body"), read.text(body, "commit_id")
    pull = store.reviews.start_review(repository, number, None, content, commit)
    for comment in read.objects(body, "comments"):
        path = read.required(comment, "path")
        side, line = _place(store, repository, pull, path, comment)
        store.reviews.comment_on_line(repository, pull, path, line, side, read.required(comment, "body"))
    _, review = store.reviews.pending_review(repository, number)
    if event in EVENTS:
        store.reviews.submit_review(repository, number, event, content)
    return _review(store, request, repository, number, review)


def _place(store: CodehostStore, repository: Row, pull: Row, path: str, comment: Fields) -> tuple[str, int]:
    """Side and line of a comment, which older clients name by its ``position`` in the file's patch."""
    line, position = read.number(comment, "line"), read.number(comment, "position")
    if line is not None:
        return read.choice(comment, "side", "LEFT", "RIGHT") or "RIGHT", line
    if position is None:
        raise read.missing(comment, "line")
    found = next(
        (item for item in store.pulls.compare(repository, pull).differences if item.path == path), None
    )
    place = line_at(hunks(store.commits.objects(repository), found) or "", position) if found else None
    if place is None:
        raise Unprocessable(f"Validation Failed: the patch of {path} has no line at position {position}.")
    return place


def _review(
    store: CodehostStore, request: Request, repository: Row, number: int, review: int
) -> dict[str, Any]:
    row = store.reviews.review(store.pulls.pull(repository, number), review)
    return shapes.review(Links(request), repository, number, row)


@api.get(f"{PULL}/reviews/{{id:int}}")
def get_review(
    store: CodehostStore, request: Request, owner: str, repo: str, number: int, id: int
) -> dict[str, Any]:
    return _review(store, request, store.repositories.repository(owner, repo), number, id)


def _own(store: CodehostStore, repository: Row, number: int, review: int) -> None:
    """Refuse unless it is the pending review of the signed-in account."""
    row = store.reviews.review(store.pulls.pull(repository, number), review)
    if row["state"] != "PENDING":
        raise Unprocessable("Validation Failed: the review has been submitted already.")


@api.post(f"{PULL}/reviews/{{id:int}}/events")
def submit_review(
    store: CodehostStore, request: Request, owner: str, repo: str, number: int, id: int
) -> dict[str, Any]:
    """Submit a pending review."""
    repository, body = store.repositories.repository(owner, repo), body_of(request)
    _own(store, repository, number, id)
    event = read.choice(body, "event", *EVENTS)
    store.reviews.submit_review(repository, number, event, read.text(body, "body"))
    return _review(store, request, repository, number, id)


@api.delete(f"{PULL}/reviews/{{id:int}}")
def delete_review(
    store: CodehostStore, request: Request, owner: str, repo: str, number: int, id: int
) -> dict[str, Any]:
    """Delete a pending review with its comments."""
    repository = store.repositories.repository(owner, repo)
    _own(store, repository, number, id)
    shape = _review(store, request, repository, number, id)
    store.reviews.discard_review(repository, number)
    return shape


# -- comments on lines --------------------------------------------------------------------------------------


@api.get(f"{PULL}/comments")
def list_review_comments(store: CodehostStore, request: Request, owner: str, repo: str, number: int) -> Page:
    """The comments on lines of a pull request, oldest first."""
    return _comments(store, request, store.repositories.repository(owner, repo), number, None)


@api.get(f"{PULL}/reviews/{{id:int}}/comments")
def list_comments_of_review(
    store: CodehostStore, request: Request, owner: str, repo: str, number: int, id: int
) -> Page:
    return _comments(store, request, store.repositories.repository(owner, repo), number, id)


def _comments(
    store: CodehostStore, request: Request, repository: Row, number: int, review: int | None
) -> Page:
    rows, total = cut(request, store.listing.review_comments(store.pulls.pull(repository, number), review))
    return paged(request, shapes.review_comments(Links(request), store, repository, number, rows), total)


def _comment(store: CodehostStore, request: Request, repository: Row, comment: int) -> dict[str, Any]:
    row = store.listing.review_comment_in_full(repository, comment)
    number = store.issues.issue_by_id(row["pull_id"])["number"]
    return shapes.review_comments(Links(request), store, repository, number, [row])[0]


@api.get(f"{REPO}/pulls/comments")
def list_all_review_comments(
    store: CodehostStore,
    request: Request,
    owner: str,
    repo: str,
    sort: Literal["created", "updated"] = "created",
    direction: Literal["asc", "desc"] | None = None,
    since: str | None = None,
) -> Page:
    """The comments on lines of all pull requests of a repository."""
    repository, links = store.repositories.repository(owner, repo), Links(request)
    rows, total = cut(request, store.listing.all_review_comments(repository, sort, direction or "asc", since))
    shown = [shapes.review_comments(links, store, repository, row["number"], [row])[0] for row in rows]
    return paged(request, shown, total)


@api.get(f"{REPO}/pulls/comments/{{id:int}}")
def get_review_comment(
    store: CodehostStore, request: Request, owner: str, repo: str, id: int
) -> dict[str, Any]:
    """A comment on a line by its id."""
    return _comment(store, request, store.repositories.repository(owner, repo), id)


@api.post(f"{PULL}/comments", status=201)
def create_review_comment(
    store: CodehostStore, request: Request, owner: str, repo: str, number: int
) -> dict[str, Any]:
    """Comment on a line that the diff shows, or (``in_reply_to``) on a comment there."""
    repository, body = store.repositories.repository(owner, repo), body_of(request)
    content, earlier = read.required(body, "body"), read.number(body, "in_reply_to")
    if earlier is not None:
        return _comment(store, request, repository, store.reviews.reply(repository, number, earlier, content))
    path = read.required(body, "path")
    side, line = _place(store, repository, store.pulls.pull(repository, number), path, body)
    pull = store.reviews.start_review(repository, number, None, "", read.text(body, "commit_id"))
    made = store.reviews.comment_on_line(repository, pull, path, line, side, content)
    store.reviews.submit_review(repository, number, "COMMENT", "")
    return _comment(store, request, repository, made)


@api.post(f"{PULL}/comments/{{id:int}}/replies", status=201)
def reply_to_review_comment(
    store: CodehostStore, request: Request, owner: str, repo: str, number: int, id: int
) -> dict[str, Any]:
    """Reply to a comment on a line."""
    repository = store.repositories.repository(owner, repo)
    reply = store.reviews.reply(repository, number, id, read.required(body_of(request), "body"))
    return _comment(store, request, repository, reply)


@api.patch(f"{REPO}/pulls/comments/{{id:int}}")
def update_review_comment(
    store: CodehostStore, request: Request, owner: str, repo: str, id: int
) -> dict[str, Any]:
    """Write a comment on a line anew."""
    repository = store.repositories.repository(owner, repo)
    store.taking_back.change_review_comment(repository, id, read.required(body_of(request), "body"))
    return get_review_comment(store, request, owner, repo, id)


@api.delete(f"{REPO}/pulls/comments/{{id:int}}")
def delete_review_comment(store: CodehostStore, owner: str, repo: str, id: int) -> None:
    """Delete a comment on a line."""
    store.taking_back.remove_review_comment(store.repositories.repository(owner, repo), id)


@api.delete(f"{REPO}/pulls/comments/{{id:int}}/reactions/{{reaction:int}}")
def take_review_reaction_back(store: CodehostStore, owner: str, repo: str, id: int, reaction: int) -> None:
    """Take a reaction to a comment on a line back."""
    repository = store.repositories.repository(owner, repo)
    comment = store.reviews.review_comment(repository, id)
    store.taking_back.remove_reaction(repository, "review_comment", comment["id"], reaction)


@api.get(f"{REPO}/pulls/comments/{{id:int}}/reactions")
def list_review_comment_reactions(
    store: CodehostStore, request: Request, owner: str, repo: str, id: int
) -> Page:
    """The reactions to a comment on a line."""
    comment = store.reviews.review_comment(store.repositories.repository(owner, repo), id)
    return reactions(store, request, "review_comment", comment["id"])


@api.post(f"{REPO}/pulls/comments/{{id:int}}/reactions", status=201)
def react_to_review_comment(
    store: CodehostStore, request: Request, owner: str, repo: str, id: int
) -> dict[str, Any]:
    """React to a comment on a line."""
    repository = store.repositories.repository(owner, repo)
    return react(
        store, request, repository, "review_comment", store.reviews.review_comment(repository, id)["id"]
    )
