"""Datasets: what tables lie in."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import select

from mesocosm.errors import Conflict, Invalid, NotFound
from mesocosm.servers.google_cloud.models import Dataset, WarehouseTable
from mesocosm.servers.google_cloud.store.part import (
    StorePart,
    moment,
    quoted,
    suggestion,
)
from mesocosm.servers.google_cloud.store.storage.buckets import MULTI_REGIONS, REGIONS, checked_labels

_ID = re.compile(r"\w{1,1024}", re.ASCII)
_CHANGEABLE = ("description", "friendly_name", "default_expiration")


class Datasets(StorePart):
    """The datasets of the project."""

    def dataset(self, id_: str) -> Dataset:
        """The dataset of that id, which may be given with the project (``project.id`` or ``project:id``)."""
        found = self.find(id_)
        if found is None:
            project = self.project.id
            for sign in (".", ":"):
                id_ = id_.removeprefix(project + sign)
            found = self.find(id_)
            if found is None:
                near = suggestion(id_, self.ids())
                raise NotFound(f"Not found: Dataset {project}:{id_[:200]}{near}", code="notFound")
        return found

    def find(self, id_: str) -> Dataset | None:
        """The dataset of that id, if there is one."""
        return self.session.scalars(select(Dataset).where(Dataset.id == id_)).first()

    def ids(self) -> Sequence[str]:
        return self.session.scalars(select(Dataset.id).order_by(Dataset.id).limit(1000)).all()

    def list_datasets(
        self, limit: int | None = None, token: str | None = None
    ) -> tuple[Sequence[Dataset], str | None]:
        """A page of the datasets by id, and the token of the next."""
        return self.page_of(select(Dataset), Dataset.id, asked=limit, token=token)

    def create(
        self,
        id_: str,
        location: str = "US",
        description: str | None = None,
        *,
        friendly_name: str | None = None,
        labels: Mapping[str, Any] | None = None,
        default_expiration: int | None = None,
    ) -> Dataset:
        """A new dataset; ``Conflict`` if there is one of that id."""
        if not _ID.fullmatch(id_):
            raise Invalid(
                f"Invalid dataset ID {quoted(id_)}. Dataset IDs must be alphanumeric (plus underscores) and"
                " must be at most 1024 characters long.",
                code="invalid",
            )
        if self.session.scalars(select(Dataset.number).where(Dataset.id == id_)).first() is not None:
            raise Conflict(f"Already Exists: Dataset {self.project.id}:{id_}", code="duplicate")
        now = moment(self.now)
        dataset = Dataset(
            id=id_,
            location=checked_location(location),
            friendly_name=friendly_name,
            description=description or None,
            labels=checked_labels(labels or {}),
            default_expiration=default_expiration,
            created=now,
            modified=now,
        )
        return self.added(dataset)

    def update(self, id_: str, changes: Mapping[str, Any]) -> Dataset:
        """Change ``description``, ``friendly_name``, ``labels`` or ``default_expiration``."""
        dataset = self.dataset(id_)
        for name in _CHANGEABLE:
            if name in changes:
                setattr(dataset, name, changes[name])
        if "labels" in changes:
            dataset.labels = checked_labels(changes["labels"])
        dataset.modified = moment(self.now)
        self.session.flush()
        return dataset

    def delete(self, id_: str, *, with_tables: bool = False) -> None:
        """Remove a dataset; one that holds something only ``with_tables``."""
        dataset = self.dataset(id_)
        held = select(WarehouseTable).where(WarehouseTable.dataset == dataset.number)
        tables = self.session.scalars(held.order_by(WarehouseTable.number)).all()
        if tables and not with_tables:
            raise Invalid(f"Dataset {self.project.id}:{dataset.id} is still in use", code="resourceInUse")
        for table in tables:
            self.store.bigquery.tables.remove(table)
        self.removed(dataset)

    def count(self, dataset: Dataset) -> tuple[int, int]:
        """Count a dataset's tables and views."""
        kinds = self.session.scalars(
            select(WarehouseTable.kind).where(WarehouseTable.dataset == dataset.number)
        ).all()
        return kinds.count("TABLE"), kinds.count("VIEW")


def checked_location(name: str) -> str:
    """A location as BigQuery writes it: ``US``, ``EU`` or a region in lower case."""
    if name.upper() in MULTI_REGIONS[:2]:
        return name.upper()
    if name.upper() not in REGIONS:
        known = ("US", "EU", *(region.lower() for region in REGIONS))
        raise Invalid(f"Invalid location {quoted(name)}.{suggestion(name, known)}", code="invalid")
    return name.lower()
