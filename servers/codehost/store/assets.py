"""The files of releases."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from sqlalchemy import bindparam, delete, func, insert, select, update

from mesocosm.errors import NotFound
from mesocosm.servers.codehost.models import Account, Release, ReleaseAsset
from mesocosm.servers.codehost.store.part import StorePart
from mesocosm.servers.codehost.store.refusals import Unprocessable
from mesocosm.servers.codehost.store.values import clean, known
from mesocosm.services.service import Row

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
        made = self.session.execute(insert(ReleaseAsset).returning(ReleaseAsset.id), row).scalar_one()
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
        changed = update(ReleaseAsset).where(ReleaseAsset.id == asset["id"])
        self.session.execute(changed.values(updated_at=self.today, **values))
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
