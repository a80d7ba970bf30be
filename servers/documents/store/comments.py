"""Comments on documents: threads, replies, resolving."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import bindparam, func, select
from sqlalchemy.orm import aliased

from mesocosm.errors import Conflict, Denied, Invalid, NotFound
from mesocosm.servers.documents.models import Comment, Document
from mesocosm.servers.documents.store.access import (
    DocumentsPart,
    Listing,
    as_list,
    clean_text,
    derived_id,
    one_of,
    page_bounds,
    storable,
    timestamp,
)
from mesocosm.servers.documents.store.bulk import MAX_COMMENT, comment_text
from mesocosm.services.service import Paging, Row

REPLIES_SHOWN = 10

_Reply = aliased(Comment)
_COUNT = (
    select(func.count())
    .where(_Reply.thread == Comment.number, _Reply.deleted.is_(False))
    .correlate(Comment)
    .scalar_subquery()
)
_ON_DOCUMENT = (
    Comment.document == bindparam("document"),
    Comment.thread.is_(None),
    Comment.deleted.is_(False),
    Comment.resolved_at.is_(None) | bindparam("resolved"),
)
_THREADS = (
    select(*Comment.__table__.c, _COUNT.label("replies"))
    .where(*_ON_DOCUMENT)
    .order_by(Comment.number)
    .limit(bindparam("limit"))
    .offset(bindparam("offset"))
)
_THREAD_TOTAL = select(func.count().label("total")).where(*_ON_DOCUMENT)
_IN_THREAD = (Comment.thread == bindparam("thread"), Comment.deleted.is_(False))
_REPLIES = (
    select(*Comment.__table__.c)
    .where(*_IN_THREAD)
    .order_by(Comment.number)
    .limit(bindparam("limit"))
    .offset(bindparam("offset"))
)
_REPLY_TOTAL = select(func.count().label("total")).where(*_IN_THREAD)
_PLACE = func.row_number().over(partition_by=Comment.thread, order_by=Comment.number).label("place")
_NUMBERED = (
    select(*Comment.__table__.c, _PLACE)
    .where(Comment.thread.in_(one_of("threads")), Comment.deleted.is_(False))
    .subquery()
)
_FIRST_REPLIES = (
    select(_NUMBERED)
    .where(_NUMBERED.c.place <= REPLIES_SHOWN)
    .order_by(_NUMBERED.c.thread, _NUMBERED.c.number)
)
_BY_ID = (
    select(Comment.number, Comment.thread, Comment.document, Document.id.label("file_id"))
    .join(Document, Document.number == Comment.document)
    .where(Comment.id == bindparam("id"), Comment.deleted.is_(False))
)


@dataclass(frozen=True)
class Threads(Listing):
    """One page of threads with the first replies of each, by number of the thread."""

    replies: Mapping[int, Sequence[Row]]


class Comments(DocumentsPart):
    """Comments on documents."""

    def threads(self, file_id: str, paging: Paging, *, resolved: bool) -> Threads:
        """One page of a document's threads, the oldest first, with or without those that are resolved."""
        limit, offset = page_bounds(paging)
        item = self.document(file_id)
        which = {"document": item.number, "resolved": resolved}
        total = int(self.fetch(_THREAD_TOTAL, **which)[0]["total"])
        rows = self.fetch(_THREADS, limit=limit, offset=offset, **which)
        replies: dict[int, list[Row]] = {}
        for reply in self.fetch(_FIRST_REPLIES, threads=as_list([row["number"] for row in rows])):
            replies.setdefault(reply["thread"], []).append(reply)
        return Threads(rows, *paging, total, replies)

    def replies(self, comment_id: str, paging: Paging) -> Listing:
        """One page of the replies of a thread, the oldest first."""
        limit, offset = page_bounds(paging)
        thread = self._comment(comment_id, "viewer")
        number = thread.thread or thread.number
        total = int(self.fetch(_REPLY_TOTAL, thread=number)[0]["total"])
        rows = self.fetch(_REPLIES, thread=number, limit=limit, offset=offset)
        return Listing(rows, *paging, total)

    def add_comment(self, file_id: str, text: str, quote: str | None = None) -> Comment:
        """A comment that begins a thread, on a passage of the document if one is quoted."""
        item = self.document(file_id, "commenter")
        if quote is not None:
            content = self.session.get_one(Document, item.number).content
            if not quote.strip() or clean_text(quote, "quoted_text", MAX_COMMENT) not in content:
                raise Invalid("quoted_text does not occur in the document.")
        return self._insert(item.number, text, None, quote)

    def reply(self, comment_id: str, text: str) -> Comment:
        """A reply in the thread of a comment."""
        comment = self._comment(comment_id, "commenter")
        return self._insert(comment.document, text, comment.thread or comment.number, None)

    def _insert(self, document: int, text: str, thread: int | None, quote: str | None) -> Comment:
        number = self.store.filling.last_number("comments") + 1
        comment = Comment(
            number=number,
            id=derived_id("comment", number),
            document=document,
            thread=thread,
            author=self.me,
            text=comment_text(text),
            quote=quote,
            created_at=timestamp(self.now),
        )
        self.session.add(comment)
        self.session.flush()
        return comment

    def resolve(self, comment_id: str, *, resolved: bool) -> Comment:
        """Mark a thread as settled, or open it again."""
        comment = self._comment(comment_id, "commenter")
        if comment.thread is not None:
            raise Invalid("This is a reply; resolve the comment that began the thread.")
        if (comment.resolved_at is not None) == resolved:
            raise Conflict(f"The comment is {'resolved' if resolved else 'open'} already.")
        comment.resolved_at = timestamp(self.now) if resolved else None
        comment.resolved_by = self.me if resolved else None
        self.session.flush()
        return comment

    def delete_comment(self, comment_id: str) -> None:
        """Delete one's own comment, or any as the document's owner, with its thread."""
        comment = self._comment(comment_id, "viewer")
        file_id = self.session.get_one(Document, comment.document).id
        if comment.author != self.me and self.document(file_id).role != "owner":
            raise Denied("Only its author and the document's owner can delete a comment.")
        comment.deleted = True
        self.session.flush()

    def _comment(self, comment_id: str, role: str) -> Comment:
        rows = self.fetch(_BY_ID, id=comment_id) if storable(comment_id) else []
        if rows:
            try:
                self.document(rows[0]["file_id"], role)
            except NotFound:
                rows = []
        if not rows:
            raise NotFound(f"Comment not found: {comment_id[:200]}")
        comment: Comment = self.session.get_one(Comment, rows[0]["number"])
        if comment.thread is not None and self.session.get_one(Comment, comment.thread).deleted:
            raise NotFound(f"Comment not found: {comment_id[:200]}")
        return comment
