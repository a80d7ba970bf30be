"""Changing and removing what was made: comments, reactions and milestones."""

from __future__ import annotations

from typing import Any

from sqlalchemy import delete, func, select, text, update

from mesocosm.errors import Denied, NotFound
from mesocosm.servers.codehost.models import (
    Comment,
    Issue,
    Milestone,
    Reaction,
    ReviewComment,
    ReviewThread,
)
from mesocosm.servers.codehost.store.part import StorePart
from mesocosm.servers.codehost.store.values import (
    Unprocessable,
    clean,
    comment_body,
    issue_title,
    known,
    parse_time,
)
from mesocosm.services.service import Row

_UNINDEXED = text("INSERT INTO comment_search (comment_search, rowid, body) VALUES ('delete', :id, :body)")
_INDEXED = text("INSERT INTO comment_search (rowid, body) VALUES (:id, :body)")


class Edits(StorePart):
    """Changing and removing what was said, which only the REST API does."""

    def change_comment(self, repository: Row, comment_id: int, body: str) -> Row:
        """Edit a comment: one's own, or any in a repository with write access."""
        comment = self.store.listing.comment_by_id(repository, comment_id)
        self._may_touch(repository, comment["user_id"])
        body = comment_body(body)
        self.session.execute(_UNINDEXED, {"id": comment["id"], "body": comment["body"]})
        self.update_row(Comment, comment["id"], body=body, updated_at=self.today)
        self.session.execute(_INDEXED, {"id": comment["id"], "body": body})
        return self.store.listing.comment_by_id(repository, comment_id)

    def remove_comment(self, repository: Row, comment_id: int) -> None:
        """Delete a comment with its reactions."""
        comment = self.store.listing.comment_by_id(repository, comment_id)
        self._may_touch(repository, comment["user_id"])
        self.session.execute(_UNINDEXED, {"id": comment["id"], "body": comment["body"]})
        self._remove_reactions("comment", comment["id"])
        self.session.execute(delete(Comment).where(Comment.id == comment["id"]))
        self.update_row(Issue, comment["issue_id"], comments=Issue.comments - 1, updated_at=self.today)

    def change_review_comment(self, repository: Row, comment_id: int, body: str) -> None:
        """Write a comment on a line anew."""
        comment = self.store.reviews.review_comment(repository, comment_id)
        self._may_touch(repository, self._author(comment["id"]))
        body = comment_body(body)
        self.update_row(ReviewComment, comment["id"], body=body, updated_at=self.today)

    def remove_review_comment(self, repository: Row, comment_id: int) -> None:
        """Delete a comment on a line with its reactions; the last one of a thread takes the thread along."""
        comment = self.store.reviews.review_comment(repository, comment_id)
        self._may_touch(repository, self._author(comment["id"]))
        thread = comment["thread_id"]
        self._remove_reactions("review_comment", comment["id"])
        self.session.execute(delete(ReviewComment).where(ReviewComment.id == comment["id"]))
        left = select(func.count().label("n")).where(ReviewComment.thread_id == thread)
        if self.fetch(left)[0]["n"] == 0:
            self.session.execute(delete(ReviewThread).where(ReviewThread.id == thread))

    def remove_reaction(self, repository: Row, subject: str, subject_id: int, reaction_id: int) -> None:
        """Take a reaction of one's own back."""
        self.store.repositories.writable(repository)
        mine = delete(Reaction).where(
            Reaction.id == known(reaction_id),
            Reaction.subject == subject,
            Reaction.subject_id == subject_id,
            Reaction.user_id == self.me["id"],
        )
        if not self.session.execute(mine.returning(Reaction.id)).all():
            raise NotFound("Not Found")

    def change_milestone(self, repository: Row, number: int, changes: dict[str, str | None]) -> Row:
        """Change a milestone's ``title``, ``description``, ``due_on`` and ``state``, those that are named."""
        self.store.repositories.require(repository, "write")
        found = self.store.listing.milestone(repository, number)
        values: dict[str, Any] = dict(changes)
        if "title" in changes:
            title = issue_title(changes["title"] or "")
            others = (
                row for row in self.store.listing.milestones(repository, "all") if row["id"] != found["id"]
            )
            if any(row["title"].lower() == title.lower() for row in others):
                raise Unprocessable("Validation Failed: the milestone already_exists.")
            values["title"] = title
        if "description" in changes:
            values["description"] = clean(changes["description"] or "", "description")
        if changes.get("due_on"):
            values["due_on"] = parse_time(changes["due_on"] or "", "due_on")
        if values:
            values["updated_at"] = self.today
            if values.get("state", found["state"]) != found["state"]:
                values["closed_at"] = self.today if values["state"] == "closed" else None
            self.update_row(Milestone, found["id"], **values)
        return self.store.listing.milestone(repository, number)

    def remove_milestone(self, repository: Row, number: int) -> None:
        """Delete a milestone; its issues have none from then on."""
        self.store.repositories.require(repository, "write")
        found = self.store.listing.milestone(repository, number)
        self.session.execute(update(Issue).where(Issue.milestone_id == found["id"]).values(milestone_id=None))
        self.session.execute(delete(Milestone).where(Milestone.id == found["id"]))

    def _author(self, comment_id: int) -> int:
        found = self.fetch(select(ReviewComment.user_id).where(ReviewComment.id == comment_id))
        return int(found[0]["user_id"])

    def _may_touch(self, repository: Row, author: int) -> None:
        self.store.repositories.writable(repository)
        if author != self.me["id"] and not self.store.repositories.may(repository, "write"):
            raise Denied("Must have admin rights to Repository.")

    def _remove_reactions(self, subject: str, subject_id: int) -> None:
        self.session.execute(
            delete(Reaction).where(Reaction.subject == subject, Reaction.subject_id == subject_id)
        )
