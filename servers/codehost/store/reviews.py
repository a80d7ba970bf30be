"""Reviews of pull requests: pending and submitted, their threads and comments."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, delete, func, or_, select
from sqlalchemy.orm import aliased

from mesocosm.errors import NotFound
from mesocosm.servers.codehost.models import (
    Account,
    Issue,
    Review,
    ReviewComment,
    ReviewRequest,
    ReviewThread,
)
from mesocosm.servers.codehost.store.differences import commented_lines
from mesocosm.servers.codehost.store.part import StorePart
from mesocosm.servers.codehost.store.values import (
    Unprocessable,
    comment_body,
    cursor,
    issue_body,
    known,
    parse_cursor,
    window,
)
from mesocosm.services.service import Row

REVIEW_STATES = {"APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "COMMENT": "COMMENTED"}
MAX_THREAD_COMMENTS = 100

_THREAD_PREFIX = "PRRT_kwDO"
_USER = aliased(Account, name="author")
_PENDING = select(Review.id).where(
    Review.pull_id == bindparam("pull"), Review.user_id == bindparam("me"), Review.state == "PENDING"
)
# What is pending only its author sees.
_SEEN = or_(Review.state != "PENDING", Review.user_id == bindparam("me"))
_REVIEWS = (
    select(*Review.__table__.c, _USER.login.label("user"))
    .join(_USER, _USER.id == Review.user_id)
    .where(Review.pull_id == bindparam("pull"), _SEEN)
)
_THREADS = (
    select(*ReviewThread.__table__.c)
    .where(
        ReviewThread.pull_id == bindparam("pull"),
        ReviewThread.id > bindparam("after"),
        ReviewThread.id.in_(
            select(ReviewComment.thread_id).join(Review, Review.id == ReviewComment.review_id).where(_SEEN)
        ),
    )
    .order_by(ReviewThread.id)
)
_COMMENTS = (
    select(*ReviewComment.__table__.c, _USER.login.label("user"))
    .join(_USER, _USER.id == ReviewComment.user_id)
    .join(Review, Review.id == ReviewComment.review_id)
    .where(ReviewComment.thread_id.in_(bindparam("threads", expanding=True)), _SEEN)
    .order_by(ReviewComment.thread_id, ReviewComment.id)
)
_COMMENT = (
    select(
        *ReviewComment.__table__.c,
        Review.state,
        Issue.number,
        Issue.repository_id,
        ReviewThread.pull_id,
    )
    .join(Review, Review.id == ReviewComment.review_id)
    .join(ReviewThread, ReviewThread.id == ReviewComment.thread_id)
    .join(Issue, Issue.id == ReviewThread.pull_id)
    .where(ReviewComment.id == bindparam("id"), Issue.repository_id == bindparam("repository"), _SEEN)
)


def thread_name(thread_id: int) -> str:
    """The node id by which a thread is known outside."""
    return _THREAD_PREFIX + base64.urlsafe_b64encode(thread_id.to_bytes(6, "big")).decode()


def _thread_id(name: str) -> int:
    try:
        data = base64.urlsafe_b64decode(name.removeprefix(_THREAD_PREFIX).encode("ascii"))
    except (ValueError, binascii.Error):
        data = b""
    if not name.startswith(_THREAD_PREFIX) or len(data) != 6:
        raise NotFound(f"Could not resolve to a node with the global id of '{name}'.")
    return int.from_bytes(data, "big")


class Reviews(StorePart):
    # -- reading ----------------------------------------------------------------------------------------

    def listed(self, pull: Row, page: int | None, per_page: int | None) -> tuple[Sequence[Row], int]:
        """One page of the reviews of a pull request, oldest first, and how many there are."""
        limit, offset = window(page, per_page)
        parameters = {"pull": pull["id"], "me": self.me["id"]}
        total = self.fetch(
            _REVIEWS.with_only_columns(func.count().label("n"), maintain_column_froms=True), **parameters
        )
        rows = self.fetch(_REVIEWS.order_by(Review.id).limit(limit).offset(offset), **parameters)
        return rows, int(total[0]["n"])

    def threads(
        self, pull: Row, after: str | None, per_page: int | None
    ) -> tuple[Sequence[Row], Sequence[Row], int, bool]:
        """Threads after a cursor, their comments, how many threads there are, and whether more follow."""
        limit, _ = window(1, per_page)
        parameters = {"pull": pull["id"], "me": self.me["id"]}
        last = parse_cursor(after, (int,))[0] if after else 0
        rows = self.fetch(_THREADS.limit(limit + 1), after=last, **parameters)
        count = select(func.count().label("n")).select_from(_THREADS.order_by(None).subquery())
        total = int(self.fetch(count, after=0, **parameters)[0]["n"])
        ids = [row["id"] for row in rows[:limit]]
        comments = self.fetch(_COMMENTS, threads=ids, me=parameters["me"]) if ids else ()
        return rows[:limit], comments, total, len(rows) > limit

    @staticmethod
    def thread_cursor(thread: Row) -> str:
        """The position just after a thread."""
        return cursor([thread["id"]])

    # -- writing ----------------------------------------------------------------------------------------

    def start_review(
        self,
        repository: Row,
        number: int,
        event: str | None,
        body: str | None,
        commit_sha: str | None = None,
    ) -> Row:
        """A new review: submitted with an ``event`` (APPROVE, REQUEST_CHANGES, COMMENT), else pending."""
        self.store.repositories.writable(repository)
        pull = self.store.pulls.pull(repository, number)
        if self.fetch(_PENDING, pull=pull["id"], me=self.me["id"]):
            raise Unprocessable("User can only have one pending review per pull request")
        sha = pull["head_sha"]
        if commit_sha:
            commit = self.store.commits.find_commit(repository, commit_sha)
            inside = {
                row["sha"]
                for row in self.store.commits.commits_by_id(
                    self.store.pulls.compare(repository, pull).commits
                )
            }
            if commit is None or commit["sha"] not in inside:
                raise Unprocessable(f"commitID {commit_sha!r} is not a commit of pull request #{number}.")
            sha = commit["sha"]
        row = {
            "pull_id": pull["id"],
            "user_id": self.me["id"],
            "state": "PENDING",
            "body": issue_body(body or ""),
            "commit_sha": sha,
        }
        review = self.insert(Review, row)
        if event is not None:
            self._submit(repository, pull, review, event, body or "")
        return pull

    def submit_review(self, repository: Row, number: int, event: str | None, body: str | None) -> Row:
        """Submit the pending review of the signed-in account."""
        pull, review = self.pending_review(repository, number)
        if event is None:
            raise Unprocessable(
                "event is required to submit a pending review: APPROVE, REQUEST_CHANGES or COMMENT"
            )
        self._submit(repository, pull, review, event, body)
        return pull

    def discard_review(self, repository: Row, number: int) -> None:
        """Delete the pending review of the signed-in account with its comments."""
        _, review = self.pending_review(repository, number)
        threads = [
            row["thread_id"]
            for row in self.fetch(select(ReviewComment.thread_id).where(ReviewComment.review_id == review))
        ]
        self.session.execute(delete(ReviewComment).where(ReviewComment.review_id == review))
        left = select(ReviewComment.thread_id)
        self.session.execute(
            delete(ReviewThread).where(ReviewThread.id.in_(threads), ReviewThread.id.not_in(left))
        )
        self.session.execute(delete(Review).where(Review.id == review))

    def resolve_thread(self, repository: Row, number: int, name: str, *, resolved: bool) -> None:
        """Mark a thread as resolved or not; marking it so again changes nothing."""
        pull = self.store.pulls.pull(repository, number)
        me = self.me["id"]
        rows = self.fetch(_THREADS, pull=pull["id"], me=me, after=_thread_id(name) - 1)
        if not rows or rows[0]["id"] != _thread_id(name):
            raise NotFound(f"Could not resolve to a node with the global id of '{name}'.")
        self.store.repositories.writable(repository)
        self.store.issues.require_author_or(repository, pull, "write")
        self.update_row(ReviewThread, rows[0]["id"], resolved=resolved)

    def pending_review(self, repository: Row, number: int) -> tuple[Row, int]:
        """A pull request and the pending review that the signed-in account has of it."""
        self.store.repositories.writable(repository)
        pull = self.store.pulls.pull(repository, number)
        rows = self.fetch(_PENDING, pull=pull["id"], me=self.me["id"])
        if not rows:
            raise NotFound("No pending review found for the viewer")
        return pull, int(rows[0]["id"])

    def review(self, pull: Row, review_id: int) -> Row:
        """A review of a pull request by its id."""
        found = _REVIEWS.where(Review.id == known(review_id))
        return self.one(found, pull=pull["id"], me=self.me["id"])

    def comment_on_line(self, repository: Row, pull: Row, path: str, line: int, side: str, body: str) -> int:
        """Add a comment on a line that the diff shows to one's pending review; returns its id."""
        _, review = self.pending_review(repository, pull["number"])
        shown = {found.path: found for found in self.store.pulls.compare(repository, pull).differences}
        objects = self.store.commits.objects(repository)
        if path not in shown or (side, line) not in commented_lines(objects, shown[path]):
            raise Unprocessable(
                f"The diff of pull request #{pull['number']} does not show line {line} of {path}."
            )
        found = shown[path]
        thread = self._insert(
            ReviewThread,
            pull_id=pull["id"],
            path=path,
            line=line,
            side=side,
            blob_sha=found.old_sha if side == "LEFT" else found.new_sha,
        )
        return self._insert(
            ReviewComment,
            thread_id=thread,
            review_id=review,
            user_id=self.me["id"],
            body=comment_body(body),
            created_at=self.today,
            updated_at=self.today,
        )

    def review_comment(self, repository: Row, comment_id: int) -> Row:
        return self.one(_COMMENT, id=known(comment_id), repository=repository["id"], me=self.me["id"])

    def reply(self, repository: Row, number: int, comment_id: int, body: str) -> int:
        """Reply to a review comment of a pull request; returns the id of the reply."""
        self.store.repositories.writable(repository)
        pull = self.store.pulls.pull(repository, number)
        comment = self.review_comment(repository, comment_id)
        if comment["pull_id"] != pull["id"]:
            raise NotFound("Not Found")
        if comment["state"] == "PENDING":
            raise Unprocessable("A comment of a pending review cannot be replied to before it is submitted.")
        count = self.fetch(
            select(func.count().label("n")).where(ReviewComment.thread_id == comment["thread_id"])
        )[0]["n"]
        if count >= MAX_THREAD_COMMENTS:
            raise Unprocessable(f"A thread has at most {MAX_THREAD_COMMENTS} comments.")
        comment_body(body)
        # As in the product, a reply is a review of its own, of one comment and without a text.
        review = self._insert(
            Review,
            pull_id=pull["id"],
            user_id=self.me["id"],
            state="COMMENTED",
            body="",
            commit_sha=pull["head_sha"],
            submitted_at=self.today,
        )
        reply = self._insert(
            ReviewComment,
            thread_id=comment["thread_id"],
            review_id=review,
            user_id=self.me["id"],
            body=body,
            created_at=self.today,
            updated_at=self.today,
        )
        self._touch(pull)
        return reply

    # -- parts ------------------------------------------------------------------------------------------

    def _submit(self, repository: Row, pull: Row, review: int, event: str, body: str | None) -> None:
        me = self.me["id"]
        if event != "COMMENT" and pull["user_id"] == me:
            verb = "approve" if event == "APPROVE" else "request changes on"
            raise Unprocessable(f"Can not {verb} your own pull request")
        there = self.fetch(select(Review.body).where(Review.id == review))[0]["body"]
        text = issue_body(body if body is not None else there)
        has_comments = self.fetch(select(ReviewComment.id).where(ReviewComment.review_id == review).limit(1))
        if event != "APPROVE" and not text.strip() and not has_comments:
            raise Unprocessable(f"You need to leave a comment indicating the {_REASONS[event]}.")
        self.update_row(Review, review, state=REVIEW_STATES[event], body=text, submitted_at=self.today)
        self.session.execute(
            delete(ReviewRequest).where(ReviewRequest.pull_id == pull["id"], ReviewRequest.account_id == me)
        )
        self._touch(pull)

    def _touch(self, pull: Row) -> None:
        self.update_row(Issue, pull["id"], updated_at=self.today)

    def _insert(self, kind: Any, **row: Any) -> int:
        return self.insert(kind, row)


_REASONS = {"REQUEST_CHANGES": "requested changes", "COMMENT": "reason for this review"}
