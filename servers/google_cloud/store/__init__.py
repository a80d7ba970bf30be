"""The rules of the google_cloud service: one part for each product."""

from __future__ import annotations

from mesocosm.servers.google_cloud.models import Base, Project
from mesocosm.servers.google_cloud.store.bigquery import BigQuery
from mesocosm.servers.google_cloud.store.compute import Compute
from mesocosm.servers.google_cloud.store.logs import Logs
from mesocosm.servers.google_cloud.store.part import read_project
from mesocosm.servers.google_cloud.store.storage import Storage
from mesocosm.services.service import Store, Topic

__all__ = ["GoogleCloudStore"]


class GoogleCloudStore(Store):
    """One project: its buckets, logs, machines and datasets."""

    metadata = Base.metadata

    @property
    def project(self) -> Project:
        """The project that everything belongs to."""
        return read_project(self.session)

    storage = Topic(Storage)
    logs = Topic(Logs)
    bigquery = Topic(BigQuery)
    compute = Topic(Compute)
