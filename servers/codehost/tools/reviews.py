"""Tools about reviews of pull requests."""

from __future__ import annotations

from typing import Any, Literal

from mesocosm.errors import Invalid
from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.servers.codehost.tools import shapes
from mesocosm.servers.codehost.tools.issues import Reaction
from mesocosm.servers.codehost.tools.server import LineNumber, PullNumber, Readable, server
from mesocosm.services.schema import Number


@server.writes
def pull_request_review_write(
    store: CodehostStore,
    method: Literal["create", "submit_pending", "delete_pending", "resolve_thread", "unresolve_thread"],
    repository: Readable,
    pullNumber: PullNumber,  # noqa: N803 - the product's spelling
    body: str | None = None,
    event: Literal["APPROVE", "REQUEST_CHANGES", "COMMENT"] | None = None,
    commitID: str | None = None,  # noqa: N803
    threadId: str | None = None,  # noqa: N803
) -> str:
    """Review a pull request, or mark a thread of its review as resolved.

    Args:
        method: create: a new review, submitted if event is given, else pending; submit_pending: submit your
            pending review with event; delete_pending: delete it; resolve_thread, unresolve_thread: mark the
            thread threadId.
        body: Text of the review; needed with REQUEST_CHANGES and COMMENT.
        event: What the review says.
        commitID: SHA of the commit that is reviewed; the newest one if left out.
        threadId: Id of the thread, as pull_request_read tells it with get_review_comments.
    """
    if method == "create":
        store.reviews.start_review(repository, pullNumber, event, body, commitID)
        return "pull request review submitted successfully" if event else "pending pull request created"
    if method == "submit_pending":
        store.reviews.submit_review(repository, pullNumber, event, body)
        return "pending pull request review successfully submitted"
    if method == "delete_pending":
        store.reviews.discard_review(repository, pullNumber)
        return "pending pull request review successfully deleted"
    if not threadId:
        raise Invalid("threadId is required for resolve_thread and unresolve_thread methods")
    store.reviews.resolve_thread(repository, pullNumber, threadId, resolved=method == "resolve_thread")
    return f"review thread {method.removesuffix('_thread')}d successfully"


@server.writes
def add_reply_to_pull_request_comment(
    store: CodehostStore,
    repository: Readable,
    commentId: LineNumber,  # noqa: N803 - the product's spelling
    pullNumber: Number | None = None,  # noqa: N803
    body: str | None = None,
    reaction: Reaction | None = None,
) -> dict[str, Any]:
    """Reply to a comment on a line of a pull request, or react to it with an emoji, or both.

    Args:
        commentId: Id of the comment: the number at the end of its html_url, after discussion_r.
        pullNumber: Number of the pull request; needed with body.
        body: Text of the reply; needed unless reaction is given.
    """
    if body is None and reaction is None:
        raise Invalid("At least one of body or reaction is required.")
    answer: dict[str, Any] = {}
    if reaction is not None:
        comment = store.reviews.review_comment(repository, commentId)
        reacted = store.issues.react(repository, "review_comment", comment["id"], reaction)
        answer = {"reaction": {"id": reacted, "content": reaction}}
    if body is not None:
        if pullNumber is None:
            raise Invalid("pullNumber is required when body is provided.")
        reply = store.reviews.reply(repository, pullNumber, commentId, body)
        url = f"{shapes.web(repository, 'pull', pullNumber)}#discussion_r{reply}"
        answer = shapes.created(reply, url) | answer
    return answer
