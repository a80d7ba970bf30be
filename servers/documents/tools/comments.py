"""Tools for comments."""

from __future__ import annotations

from typing import Annotated, Any

from mesocosm.servers.documents.models import Comment
from mesocosm.servers.documents.store import DocumentsStore
from mesocosm.servers.documents.tools.service import CommentId, FileId, given, page_view, server
from mesocosm.services.schema import Json
from mesocosm.services.service import Paging, paged


@server.reads
def list_comments(
    store: DocumentsStore,
    file_id: FileId,
    include_resolved: bool = True,
    *,
    paging: Annotated[Paging, paged("Comments", 20)],
) -> Json:
    """List the comments on a document, the oldest first, each with its first 10 replies (see list_replies).

    Args:
        include_resolved: Also those that are settled.
    """
    threads = store.comments.threads(file_id, paging, resolved=include_resolved)

    def thread(row: Any) -> Json:
        replies = [_row(reply) for reply in threads.replies.get(row["number"], ())]
        return (
            _row(row)
            | {"resolved": row["resolved_at"] is not None, "reply_count": row["replies"]}
            | {"replies": replies}
        )

    return page_view(threads, "comments", thread)


@server.reads
def list_replies(
    store: DocumentsStore, comment_id: CommentId, paging: Annotated[Paging, paged("Replies", 20)]
) -> Json:
    """List the replies to a comment, the oldest first."""
    return page_view(store.comments.replies(comment_id, paging), "replies", _row)


@server.writes
def add_comment(store: DocumentsStore, file_id: FileId, text: str, quoted_text: str | None = None) -> Json:
    """Comment on a document, or on a passage of it.

    Args:
        text: What to say.
        quoted_text: The passage, exactly as it stands in the document.
    """
    return _made(store.comments.add_comment(file_id, text, quoted_text))


@server.writes
def reply_to_comment(store: DocumentsStore, comment_id: CommentId, text: str) -> Json:
    """Reply to a comment.

    Args:
        text: What to say.
    """
    return _made(store.comments.reply(comment_id, text))


@server.writes
def resolve_comment(store: DocumentsStore, comment_id: str, resolved: bool = True) -> Json:
    """Mark a comment as settled, or open it again.

    Args:
        comment_id: The id of the comment that began the thread.
        resolved: false opens it again.
    """
    comment = store.comments.resolve(comment_id, resolved=resolved)
    return {"id": comment.id, "resolved": comment.resolved_at is not None}


@server.writes(destructive=True)
def delete_comment(store: DocumentsStore, comment_id: CommentId) -> str:
    """Delete a comment of yours; if it began a thread, its replies go with it."""
    store.comments.delete_comment(comment_id)
    return f"Deleted the comment {comment_id}."


def _row(row: Any) -> Json:
    return given(
        id=row["id"],
        author=row["author"],
        text=row["text"],
        quoted_text=row["quote"],
        created_at=row["created_at"],
        resolved_by=row["resolved_by"],
    )


def _made(comment: Comment) -> Json:
    names = ("id", "author", "text", "quote", "created_at", "resolved_by")
    return _row({name: getattr(comment, name) for name in names})
