"""Releases and their files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, delete, func, select

from mesocosm.errors import Invalid, NotFound
from mesocosm.servers.codehost.models import Account, Release, ReleaseAsset
from mesocosm.servers.codehost.store.part import StorePart
from mesocosm.servers.codehost.store.values import Unprocessable, clean, known, window
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
        return self.insert(Release, row)


# The files of releases.

MAX_ASSETS = 1000
"""Files of a release, as in the product."""

_SPECIAL = re.compile(r"[^A-Za-z0-9.@_+-]+")
_SHOWN = (
    select(
        *(column for column in ReleaseAsset.__table__.c if column.name != "data"),
        func.length(ReleaseAsset.data).label("size"),
        Account.login.label("uploader"),
        Release.tag_name,
        Release.repository_id,
    )
    .join(Account, Account.id == ReleaseAsset.uploader_id)
    .join(Release, Release.id == ReleaseAsset.release_id)
    .order_by(ReleaseAsset.id)
)
_OF_RELEASES = _SHOWN.where(ReleaseAsset.release_id.in_(bindparam("releases", expanding=True)))
_BY_ID = _SHOWN.where(ReleaseAsset.id == bindparam("id"))
_DATA = select(ReleaseAsset.data).where(ReleaseAsset.id == bindparam("id"))


class Assets(StorePart):
    """Files that are kept with releases."""

    def of_releases(self, releases: Sequence[Row]) -> dict[int, list[Row]]:
        """The files of each of these releases."""
        found: dict[int, list[Row]] = {row["id"]: [] for row in releases}
        for row in self.fetch(_OF_RELEASES, releases=list(found)) if found else ():
            found[row["release_id"]].append(row)
        return found

    def asset(self, repository: Row, asset_id: int) -> Row:
        """A file of a release by its id."""
        rows = self.fetch(_BY_ID, id=known(asset_id))
        if not rows or rows[0]["repository_id"] != repository["id"]:
            raise NotFound("Not Found")
        self.store.releases.release_by_id(repository, rows[0]["release_id"])
        return rows[0]

    def data(self, asset: Row) -> bytes:
        """Return the content of a file."""
        return bytes(self.fetch(_DATA, id=asset["id"])[0]["data"])

    def add(
        self, repository: Row, release_id: int, name: str, label: str | None, content_type: str, data: bytes
    ) -> Row:
        """A new file of a release."""
        self.store.repositories.require(repository, "write")
        release = self.store.releases.release_by_id(repository, release_id)
        there = self.of_releases([release])[release["id"]]
        if len(there) >= MAX_ASSETS:
            raise Unprocessable(f"Validation Failed: a release has at most {MAX_ASSETS} files.")
        row = {
            "release_id": release["id"],
            "name": self._free_name(there, name),
            "label": clean(label or "", "label") or None,
            "content_type": clean(content_type, "content type"),
            "data": data,
            "uploader_id": self.me["id"],
            "created_at": self.today,
            "updated_at": self.today,
        }
        made = self.insert(ReleaseAsset, row)
        return self.asset(repository, int(made))

    def change(self, repository: Row, asset_id: int, changes: Mapping[str, str | None]) -> Row:
        """Give a file another ``name`` or ``label``."""
        self.store.repositories.require(repository, "write")
        asset = self.asset(repository, asset_id)
        values = dict(changes)
        if name := values.pop("name", None):
            others = self.of_releases([{"id": asset["release_id"]}])[asset["release_id"]]
            values["name"] = self._free_name([row for row in others if row["id"] != asset["id"]], name)
        if "label" in values:
            values["label"] = clean(values["label"] or "", "label") or None
        self.update_row(ReleaseAsset, asset["id"], updated_at=self.today, **values)
        return self.asset(repository, asset_id)

    def remove(self, repository: Row, asset_id: int) -> None:
        """Delete a file of a release."""
        self.store.repositories.require(repository, "write")
        asset = self.asset(repository, asset_id)
        self.session.execute(delete(ReleaseAsset).where(ReleaseAsset.id == asset["id"]))

    def _free_name(self, there: Sequence[Row], name: str) -> str:
        """The name as the product writes it, with dots for what is not of a plain name."""
        plain = _SPECIAL.sub(".", clean(name, "name", limit=255)).strip(".")
        if any(row["name"] == plain for row in there):
            raise Unprocessable("Validation Failed: the asset's name already_exists.")
        return clean(plain, "name", blank=False)
