"""Remarks on files with their answers, and the revisions of a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mesocosm.errors import Denied, Invalid, NotFound

if TYPE_CHECKING:
    from mesocosm.servers.google_sheet.store import SheetStore

MAX_CONTENT = 4_096


@dataclass(frozen=True)
class Remark:
    """A comment, or an answer to one."""

    id: int
    author: str
    content: str
    created: str
    modified: str
    deleted: bool
    anchor: str | None = None
    quoted: str | None = None
    resolved: bool = False
    action: str | None = None
    replies: tuple[Remark, ...] = ()


@dataclass(frozen=True)
class Revised:
    """A revision of a file."""

    id: str
    modified: str
    modified_by: str


class Comments:
    """Comments on files."""

    def __init__(self, store: SheetStore) -> None:
        self.store = store

    def all(self, file_id: str, deleted: bool = False) -> list[Remark]:
        """The comments on a file, the last changed first."""
        file = self.store.drive.file(file_id)
        rows = self.store.rows(
            "SELECT id, author, content, created, modified, deleted, anchor, quoted, resolved FROM comments"
            " WHERE file = ? AND (deleted = 0 OR ?) ORDER BY modified DESC, id DESC",
            (file.number, deleted),
        )
        return [self._remark(row) for row in rows]

    def one(self, file_id: str, comment_id: str, deleted: bool = False) -> Remark:
        """A comment with its answers."""
        for remark in self.all(file_id, deleted):
            if str(remark.id) == comment_id:
                return remark
        raise NotFound(f"Comment not found: {comment_id[:40]}.", code="notFound")

    def add(self, file_id: str, content: str, anchor: str | None = None, quoted: str | None = None) -> Remark:
        """A new comment."""
        file = self.store.drive.file(file_id, "commenter")
        stamp = self.store.stamp
        number = self.store.run(
            "INSERT INTO comments (file, author, content, anchor, quoted, created, modified,"
            " resolved, deleted)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0)",
            (file.number, self.store.drive.me, _checked(content), anchor, quoted, stamp, stamp),
        )
        return self.one(file_id, str(number))

    def change(self, file_id: str, comment_id: str, content: str) -> Remark:
        """Other words; only by who wrote it."""
        remark = self._own(self.one(file_id, comment_id))
        self._set("comments", remark.id, content=_checked(content))
        return self.one(file_id, comment_id)

    def delete(self, file_id: str, comment_id: str) -> None:
        """Take a comment back."""
        remark = self._own(self.one(file_id, comment_id))
        self._set("comments", remark.id, content="", deleted=True)

    def reply(self, file_id: str, comment_id: str, content: str, action: str | None = None) -> Remark:
        """Answer a comment, resolve it or open it again."""
        self.store.drive.file(file_id, "commenter")
        remark = self.one(file_id, comment_id)
        if action not in (None, "resolve", "reopen"):
            raise Invalid("The action of a reply is resolve or reopen.", code="invalid")
        if not content and action is None:
            raise Invalid("A reply needs content or an action.", code="required")
        stamp = self.store.stamp
        number = self.store.run(
            "INSERT INTO replies (comment, author, content, action, created, modified, deleted)"
            " VALUES (?, ?, ?, ?, ?, ?, 0)",
            (remark.id, self.store.drive.me, _checked(content, empty=True), action, stamp, stamp),
        )
        changes: dict[str, Any] = {} if action is None else {"resolved": action == "resolve"}
        self._set("comments", remark.id, **changes)
        return self.answer(file_id, comment_id, str(number))

    def answer(self, file_id: str, comment_id: str, reply_id: str) -> Remark:
        for reply in self.one(file_id, comment_id, deleted=True).replies:
            if str(reply.id) == reply_id and not reply.deleted:
                return reply
        raise NotFound(f"Reply not found: {reply_id[:40]}.", code="notFound")

    def change_answer(self, file_id: str, comment_id: str, reply_id: str, content: str) -> Remark:
        """Other words for an answer."""
        reply = self._own(self.answer(file_id, comment_id, reply_id))
        self._set("replies", reply.id, content=_checked(content))
        return self.answer(file_id, comment_id, reply_id)

    def delete_answer(self, file_id: str, comment_id: str, reply_id: str) -> None:
        """Take an answer back."""
        reply = self._own(self.answer(file_id, comment_id, reply_id))
        self._set("replies", reply.id, content="", deleted=True)

    def revisions(self, file_id: str) -> list[Revised]:
        """The revisions of a file, the first first."""
        file = self.store.drive.file(file_id)
        rows = self.store.rows(
            "SELECT version, modified, modified_by FROM revisions WHERE file = ? ORDER BY version",
            (file.number,),
        )
        return [Revised(str(row[0]), row[1], row[2]) for row in rows]

    def _set(self, table: str, number: int, **values: Any) -> None:
        values["modified"] = self.store.stamp
        names = ", ".join(f"{name} = ?" for name in values)
        self.store.run(f"UPDATE {table} SET {names} WHERE id = ?", (*values.values(), number))

    def _own(self, remark: Remark) -> Remark:
        if remark.author != self.store.drive.me:
            raise Denied("The user does not have sufficient permissions for this comment.", code="forbidden")
        return remark

    def _remark(self, row: tuple[Any, ...]) -> Remark:
        replies = self.store.rows(
            "SELECT id, author, content, created, modified, deleted, action FROM replies WHERE comment = ?"
            " ORDER BY id",
            (row[0],),
        )
        answers = tuple(
            Remark(one[0], one[1], one[2], one[3], one[4], bool(one[5]), action=one[6]) for one in replies
        )
        number, author, content, created, modified, deleted, anchor, quoted, resolved = row
        return Remark(
            number,
            author,
            content,
            created,
            modified,
            bool(deleted),
            anchor,
            quoted,
            bool(resolved),
            None,
            answers,
        )


def _checked(content: str, empty: bool = False) -> str:
    if not content.strip() and not empty:
        raise Invalid("A comment needs content.", code="required")
    if len(content) > MAX_CONTENT or "\0" in content:
        raise Invalid(f"The content has at most {MAX_CONTENT} characters.", code="invalid")
    return content
