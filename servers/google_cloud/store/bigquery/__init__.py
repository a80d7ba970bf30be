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
from mesocosm.servers.google_cloud.store.part import StorePart

if TYPE_CHECKING:
    from mesocosm.servers.google_cloud.store.bigquery.queries import Queries

__all__ = ["BigQuery", "Datasets", "Jobs", "WarehouseTables"]


class BigQuery(StorePart):
    """Datasets, tables, statements and jobs."""

    @property
    def datasets(self) -> Datasets:
        """Operations on datasets."""
        return Datasets(self.store)

    @property
    def tables(self) -> WarehouseTables:
        """Tables and views."""
        return WarehouseTables(self.store)

    @property
    def jobs(self) -> Jobs:
        """Operations on jobs."""
        return Jobs(self.store)

    @property
    def information(self) -> Information:
        """The views of INFORMATION_SCHEMA."""
        return Information(self.store)

    @property
    def names(self) -> Names:
        """Resolution of names in statements."""
        return Names(self.store)

    @property
    def sizes(self) -> Sizes:
        """Sizes of tables."""
        return Sizes(self.store)

    @property
    def asking(self) -> Asking:
        """Statements as jobs."""
        return Asking(self.store)

    @property
    def loading(self) -> Loading:
        """Files that become tables, and tables that become files."""
        return Loading(self.store)

    @property
    def log_tables(self) -> LogTables:
        """Tables that sinks of Cloud Logging fill."""
        return LogTables(self.store)

    @property
    def queries(self) -> Queries:
        """Statements in GoogleSQL. Raises ``MissingExtra`` without what runs them."""
        try:
            from mesocosm.servers.google_cloud.store.bigquery.queries import Queries
        except ImportError as error:
            raise MissingExtra("running SQL", "warehouses") from error
        return Queries(self.store)
