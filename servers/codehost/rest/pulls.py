"""Pull requests and their reviews."""

from __future__ import annotations

from typing import Any, Literal

from mesocosm.errors import Conflict, NotFound
from mesocosm.servers.codehost.rest.api import api
from mesocosm.servers.codehost.rest.bodies import read
from mesocosm.servers.codehost.rest.context import REPO, AtRepo, RepositoryContext
from mesocosm.servers.codehost.rest.history import named_commit, patches, text
from mesocosm.servers.codehost.rest.issues import react, reactions
from mesocosm.servers.codehost.rest.shapes import git
from mesocosm.servers.codehost.rest.shapes import pulls as shapes
from mesocosm.servers.codehost.rest.shapes.accounts import user
from mesocosm.servers.codehost.store.differences import hunks, line_at, unified
from mesocosm.servers.codehost.store.values import Unprocessable
from mesocosm.services.fields import Fields
from mesocosm.services.schema import Json
from mesocosm.services.service import Page, Row

PULL = f"{REPO}/pulls/{{number:int}}"
EVENTS = ("APPROVE", "REQUEST_CHANGES", "COMMENT")


@api.get(f"{REPO}/pulls")
def list_pulls(
    at: AtRepo,
    state: Literal["open", "closed", "all"] = "open",
    head: str | None = None,
    base: str | None = None,
    sort: Literal["created", "updated", "popularity", "long-running"] = "created",
    direction: Literal["asc", "desc"] | None = None,
) -> Page:
    """The pull requests of a repository."""
    rows, total = at.store.pulls.listed(
        at.repository,
        state=state,
        head=head,
        base=base,
        sort=sort,
        direction=direction,
        **at.window,
    )
    return at.paged(shapes.pulls(at, at.repository, rows), total)


@api.post(f"{REPO}/pulls", status=201)
def create_pull(at: AtRepo) -> Json:
    """Open a pull request."""
    body = at.body
    title, head, base = read.required(body, "title"), read.required(body, "head"), read.required(body, "base")
    row = at.store.pulls.open_pull(
        at.repository,
        title,
        head,
        base,
        read.text(body, "body") or "",
        draft=read.flag(body, "draft"),
        maintainer_can_modify=read.flag(body, "maintainer_can_modify"),
    )
    return shapes.pull(at, at.repository, row)


@api.get(PULL)
def get_pull(at: AtRepo, number: int) -> Any:
    """A pull request, or its diff (media type ``diff``)."""
    row = at.pull(number)
    if at.accepts("diff"):
        return text(
            unified(
                at.store.commits.objects(at.repository),
                at.store.pulls.compare(at.repository, row).differences,
            ),
            "diff",
        )
    if at.accepts("patch"):
        return text(patches(at, at.store.pulls.compare(at.repository, row).commits), "patch")
    return shapes.pull(at, at.repository, row)


@api.patch(PULL)
def update_pull(at: AtRepo, number: int) -> Json:
    """Change what the body names."""
    body = at.body
    row = at.store.pulls.change_pull(
        at.repository,
        number,
        title=read.text(body, "title"),
        body=(read.text(body, "body") or "") if "body" in body else None,
        state=read.choice(body, "state", "open", "closed"),
        base=read.text(body, "base"),
        draft=read.changed_flag(body, "draft"),
        maintainer_can_modify=read.changed_flag(body, "maintainer_can_modify"),
    )
    return shapes.pull(at, at.repository, row)


@api.get(f"{PULL}/commits")
def list_pull_commits(at: AtRepo, number: int) -> Page:
    """The commits of a pull request, oldest first."""
    rows, total = at.store.pulls.pull_commits(at.repository, at.pull(number), **at.window)
    return at.paged([git.commit(at, at.repository, row) for row in rows], total)


@api.get(f"{REPO}/commits/{{ref}}/pulls")
def list_pulls_of_commit(at: AtRepo, ref: str) -> Page:
    """The pull requests, open or merged, that brought a commit or would bring it."""
    rows, total = at.cut(at.store.listing.pulls_with(at.repository, named_commit(at, ref)))
    return at.paged(shapes.pulls(at, at.repository, rows), total)


@api.get(f"{PULL}/files")
def list_pull_files(at: AtRepo, number: int) -> Page:
    """The files that a pull request changes."""
    row = at.pull(number)
    found, total = at.store.pulls.pull_files(at.repository, row, **at.window)
    sha = row["head_sha"]
    return at.paged([git.changed_file(at, at.repository, sha, item) for item in found], total)


@api.get(f"{PULL}/merge")
def check_merged(at: AtRepo, number: int) -> None:
    """204 if a pull request has been merged, else 404."""
    if at.pull(number)["merged_at"] is None:
        raise NotFound("Not Found")


@api.put(f"{PULL}/merge")
def merge_pull(at: AtRepo, number: int) -> Json:
    body = at.body
    expected = read.text(body, "sha")
    if expected and expected.lower() != at.pull(number)["head_sha"]:
        raise Conflict("Head branch was modified. Review and try the merge again.")
    sha = at.store.pulls.merge_pull(
        at.repository,
        number,
        read.choice(body, "merge_method", "merge", "squash", "rebase") or "merge",
        read.text(body, "commit_title"),
        read.text(body, "commit_message"),
    )
    return {"sha": sha, "merged": True, "message": "Pull Request successfully merged"}


@api.put(f"{PULL}/update-branch", status=202)
def update_branch(at: AtRepo, number: int) -> Json:
    """Merge the base branch into the branch of a pull request."""
    at.store.pulls.update_branch(at.repository, number, read.text(at.body, "expected_head_sha"))
    url = at.page(at.repository, "pull", number)
    return {"message": "Updating pull request branch.", "url": url}


# -- who is asked to review ---------------------------------------------------------------------------------


@api.get(f"{PULL}/requested_reviewers")
def list_requested(at: AtRepo, number: int) -> Json:
    """The people and teams who are asked to review."""
    asked = at.store.pulls.requested([at.pull(number)["id"]])
    people = [row for row in asked if row["login"] is not None]
    teams = [row for row in asked if row["login"] is None]
    return {
        "users": [user(at, row["account_id"], row["login"]) for row in people],
        "teams": [shapes.team(at, at.repository["owner"], row) for row in teams],
    }


@api.post(f"{PULL}/requested_reviewers", status=201)
def request_reviewers(at: AtRepo, number: int) -> Json:
    """Ask further people and teams to review."""
    body = at.body
    row = at.store.pulls.change_pull(at.repository, number, reviewers=_reviewers(at.repository, body))
    return shapes.pull(at, at.repository, row)


@api.delete(f"{PULL}/requested_reviewers")
def withdraw_requests(at: AtRepo, number: int) -> Json:
    """Ask people and teams no longer to review."""
    body = at.body
    row = at.store.pulls.withdraw_requests(at.repository, number, _reviewers(at.repository, body))
    return shapes.pull(at, at.repository, row)


def _reviewers(repository: Row, body: Fields) -> list[str]:
    teams = [f"{repository['owner']}/{slug}" for slug in read.texts(body, "team_reviewers") or []]
    return [*(read.texts(body, "reviewers") or []), *teams]


# -- reviews ------------------------------------------------------------------------------------------------


@api.get(f"{PULL}/reviews")
def list_reviews(at: AtRepo, number: int) -> Page:
    """The reviews of a pull request, oldest first."""
    rows, total = at.store.reviews.listed(at.pull(number), **at.window)
    return at.paged([shapes.review(at, at.repository, number, row) for row in rows], total)


@api.post(f"{PULL}/reviews")
def create_review(at: AtRepo, number: int) -> Json:
    """Review a pull request; without an ``event`` the review stays pending."""
    body = at.body
    event = read.choice(body, "event", *EVENTS, "PENDING")
    content, commit = read.text(body, "body"), read.text(body, "commit_id")
    pull = at.store.reviews.start_review(at.repository, number, None, content, commit)
    for comment in read.objects(body, "comments"):
        path = read.required(comment, "path")
        side, line = _place(at, pull, path, comment)
        at.store.reviews.comment_on_line(
            at.repository, pull, path, line, side, read.required(comment, "body")
        )
    _, review = at.store.reviews.pending_review(at.repository, number)
    if event in EVENTS:
        at.store.reviews.submit_review(at.repository, number, event, content)
    return _review(at, number, review)


def _place(at: RepositoryContext, pull: Row, path: str, comment: Fields) -> tuple[str, int]:
    """Side and line of a comment, which older clients name by its ``position`` in the file's patch."""
    line, position = read.number(comment, "line"), read.number(comment, "position")
    if line is not None:
        return read.choice(comment, "side", "LEFT", "RIGHT") or "RIGHT", line
    if position is None:
        raise read.missing(comment, "line")
    found = next(
        (item for item in at.store.pulls.compare(at.repository, pull).differences if item.path == path), None
    )
    place = line_at(hunks(at.store.commits.objects(at.repository), found) or "", position) if found else None
    if place is None:
        raise Unprocessable(f"Validation Failed: the patch of {path} has no line at position {position}.")
    return place


def _review(at: RepositoryContext, number: int, review: int) -> Json:
    row = at.store.reviews.review(at.pull(number), review)
    return shapes.review(at, at.repository, number, row)


@api.get(f"{PULL}/reviews/{{id:int}}")
def get_review(at: AtRepo, number: int, id: int) -> Json:
    return _review(at, number, id)


def _own(at: RepositoryContext, number: int, review: int) -> None:
    """Refuse unless it is the pending review of the signed-in account."""
    row = at.store.reviews.review(at.pull(number), review)
    if row["state"] != "PENDING":
        raise Unprocessable("Validation Failed: the review has been submitted already.")


@api.post(f"{PULL}/reviews/{{id:int}}/events")
def submit_review(at: AtRepo, number: int, id: int) -> Json:
    """Submit a pending review."""
    body = at.body
    _own(at, number, id)
    event = read.choice(body, "event", *EVENTS)
    at.store.reviews.submit_review(at.repository, number, event, read.text(body, "body"))
    return _review(at, number, id)


@api.delete(f"{PULL}/reviews/{{id:int}}")
def delete_review(at: AtRepo, number: int, id: int) -> Json:
    """Delete a pending review with its comments."""
    _own(at, number, id)
    shape = _review(at, number, id)
    at.store.reviews.discard_review(at.repository, number)
    return shape


# -- comments on lines --------------------------------------------------------------------------------------


@api.get(f"{PULL}/comments")
def list_review_comments(at: AtRepo, number: int) -> Page:
    """The comments on lines of a pull request, oldest first."""
    return _comments(at, number, None)


@api.get(f"{PULL}/reviews/{{id:int}}/comments")
def list_comments_of_review(at: AtRepo, number: int, id: int) -> Page:
    return _comments(at, number, id)


def _comments(at: RepositoryContext, number: int, review: int | None) -> Page:
    rows, total = at.cut(at.store.listing.review_comments(at.pull(number), review))
    return at.paged(shapes.review_comments(at, at.repository, number, rows), total)


def _comment(at: RepositoryContext, comment: int) -> Json:
    row = at.store.listing.review_comment_in_full(at.repository, comment)
    number = at.store.issues.issue_by_id(row["pull_id"])["number"]
    return shapes.review_comments(at, at.repository, number, [row])[0]


@api.get(f"{REPO}/pulls/comments")
def list_all_review_comments(
    at: AtRepo,
    sort: Literal["created", "updated"] = "created",
    direction: Literal["asc", "desc"] | None = None,
    since: str | None = None,
) -> Page:
    """The comments on lines of all pull requests of a repository."""
    rows, total = at.cut(at.store.listing.all_review_comments(at.repository, sort, direction or "asc", since))
    shown = [shapes.review_comments(at, at.repository, row["number"], [row])[0] for row in rows]
    return at.paged(shown, total)


@api.get(f"{REPO}/pulls/comments/{{id:int}}")
def get_review_comment(at: AtRepo, id: int) -> Json:
    """A comment on a line by its id."""
    return _comment(at, id)


@api.post(f"{PULL}/comments", status=201)
def create_review_comment(at: AtRepo, number: int) -> Json:
    """Comment on a line that the diff shows, or (``in_reply_to``) on a comment there."""
    body = at.body
    content, earlier = read.required(body, "body"), read.number(body, "in_reply_to")
    if earlier is not None:
        return _comment(at, at.store.reviews.reply(at.repository, number, earlier, content))
    path = read.required(body, "path")
    side, line = _place(at, at.pull(number), path, body)
    pull = at.store.reviews.start_review(at.repository, number, None, "", read.text(body, "commit_id"))
    made = at.store.reviews.comment_on_line(at.repository, pull, path, line, side, content)
    at.store.reviews.submit_review(at.repository, number, "COMMENT", "")
    return _comment(at, made)


@api.post(f"{PULL}/comments/{{id:int}}/replies", status=201)
def reply_to_review_comment(at: AtRepo, number: int, id: int) -> Json:
    """Reply to a comment on a line."""
    reply = at.store.reviews.reply(at.repository, number, id, read.required(at.body, "body"))
    return _comment(at, reply)


@api.patch(f"{REPO}/pulls/comments/{{id:int}}")
def update_review_comment(at: AtRepo, id: int) -> Json:
    """Write a comment on a line anew."""
    at.store.taking_back.change_review_comment(at.repository, id, read.required(at.body, "body"))
    return _comment(at, id)


@api.delete(f"{REPO}/pulls/comments/{{id:int}}")
def delete_review_comment(at: AtRepo, id: int) -> None:
    """Delete a comment on a line."""
    at.store.taking_back.remove_review_comment(at.repository, id)


@api.delete(f"{REPO}/pulls/comments/{{id:int}}/reactions/{{reaction:int}}")
def take_review_reaction_back(at: AtRepo, id: int, reaction: int) -> None:
    """Take a reaction to a comment on a line back."""
    comment = at.store.reviews.review_comment(at.repository, id)
    at.store.taking_back.remove_reaction(at.repository, "review_comment", comment["id"], reaction)


@api.get(f"{REPO}/pulls/comments/{{id:int}}/reactions")
def list_review_comment_reactions(at: AtRepo, id: int) -> Page:
    """The reactions to a comment on a line."""
    comment = at.store.reviews.review_comment(at.repository, id)
    return reactions(at, "review_comment", comment["id"])


@api.post(f"{REPO}/pulls/comments/{{id:int}}/reactions", status=201)
def react_to_review_comment(at: AtRepo, id: int) -> Json:
    """React to a comment on a line."""
    comment = at.store.reviews.review_comment(at.repository, id)
    return react(at, "review_comment", comment["id"])
