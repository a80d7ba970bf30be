"""The rules of BigQuery.

What runs statements needs the extra ``warehouses`` and is imported when one is run; datasets, tables and jobs
do not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mesocosm.errors import MissingExtra
from mesocosm.servers.google_cloud.store.bigquery.datasets import Datasets
from mesocosm.servers.google_cloud.store.bigquery.information import Information
from mesocosm.servers.google_cloud.store.bigquery.jobs import Jobs
from mesocosm.servers.google_cloud.store.bigquery.load_jobs import Loading
from mesocosm.servers.google_cloud.store.bigquery.log_tables import LogTables
from mesocosm.servers.google_cloud.store.bigquery.names import Names
from mesocosm.servers.google_cloud.store.bigquery.query_jobs import Asking
from mesocosm.servers.google_cloud.store.bigquery.sizes import Sizes
from mesocosm.servers.google_cloud.store.bigquery.tables import WarehouseTables
from mesocosm.servers.google_cloud.store.part import PartOf, StorePart

if TYPE_CHECKING:
    from mesocosm.servers.google_cloud.store.bigquery.queries import Queries

__all__ = ["BigQuery", "Datasets", "Jobs", "WarehouseTables"]


class BigQuery(StorePart):
    """Datasets, tables, statements and jobs."""

    datasets = PartOf(Datasets)
    tables = PartOf(WarehouseTables)
    jobs = PartOf(Jobs)
    information = PartOf(Information)
    names = PartOf(Names)
    sizes = PartOf(Sizes)
    asking = PartOf(Asking)
    loading = PartOf(Loading)
    log_tables = PartOf(LogTables)

    @property
    def queries(self) -> Queries:
        """Statements in GoogleSQL. Raises ``MissingExtra`` without what runs them."""
        try:
            from mesocosm.servers.google_cloud.store.bigquery.queries import Queries
        except ImportError as error:
            raise MissingExtra("running SQL", "warehouses") from error
        return Queries(self.store)
