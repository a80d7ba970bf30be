"""Releases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, func, insert, select

from mesocosm.errors import Invalid, NotFound
from mesocosm.servers.codehost.models import Account, Release
from mesocosm.servers.codehost.store.part import StorePart
from mesocosm.servers.codehost.store.values import known, window
from mesocosm.services.service import Row

_RELEASES = (
    select(*Release.__table__.c, Account.login.label("author"))
    .join(Account, Account.id == Release.author_id)
    .where(Release.repository_id == bindparam("repository"))
)
_NEWEST = (Release.created_at.desc(), Release.id.desc())


class Releases(StorePart):
    """Releases; drafts are for those who can write."""

    def listed(self, repository: Row, page: int | None, per_page: int | None) -> tuple[Sequence[Row], int]:
        """One page of the releases, newest first, and how many there are."""
        limit, offset = window(page, per_page)
        seen = (
            _RELEASES if self.store.repositories.may(repository, "write") else _RELEASES.where(~Release.draft)
        )
        count = seen.with_only_columns(func.count().label("n"), maintain_column_froms=True)
        rows = self.fetch(seen.order_by(*_NEWEST).limit(limit).offset(offset), repository=repository["id"])
        return rows, int(self.fetch(count, repository=repository["id"])[0]["n"])

    def latest_release(self, repository: Row) -> Row:
        """The newest release that is neither a draft nor a prerelease."""
        rows = self.fetch(
            _RELEASES.where(~Release.draft, ~Release.prerelease).order_by(*_NEWEST).limit(1),
            repository=repository["id"],
        )
        if not rows:
            raise NotFound("Not Found")
        return rows[0]

    def release(self, repository: Row, tag: str) -> Row:
        """A published release by its tag."""
        rows = self.fetch(
            _RELEASES.where(~Release.draft, Release.tag_name == tag), repository=repository["id"]
        )
        if not rows:
            raise NotFound("Not Found")
        return rows[0]

    def release_by_id(self, repository: Row, release_id: int) -> Row:
        """A release by its id; a draft only for those who can write."""
        rows = self.fetch(_RELEASES.where(Release.id == known(release_id)), repository=repository["id"])
        if not rows or (rows[0]["draft"] and not self.store.repositories.may(repository, "write")):
            raise NotFound("Not Found")
        return rows[0]

    # -- filling ----------------------------------------------------------------------------------------

    def add_release(
        self,
        owner: str,
        name: str,
        tag: str,
        author: str,
        *,
        title: str = "",
        body: str = "",
        draft: bool = False,
        prerelease: bool = False,
        created_at: str | None = None,
    ) -> int:
        """A release of a tag that exists; returns its id."""
        repository: Any = self.store.repositories.any_repository(owner, name)
        if not draft and self.store.commits.ref(repository, f"refs/tags/{tag}") is None:
            raise Invalid(f"There is no tag {tag} in {owner}/{name}.")
        created = created_at or self.today
        row = {
            "repository_id": repository["id"],
            "tag_name": tag,
            "target": repository["default_branch"],
            "name": title or tag,
            "body": body,
            "draft": draft,
            "prerelease": prerelease,
            "author_id": self.store.accounts.account(author)["id"],
            "created_at": created,
            "published_at": None if draft else created,
        }
        return int(self.session.execute(insert(Release).returning(Release.id), row).scalar_one())
