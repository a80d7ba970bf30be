"""What an agent sees of the google_cloud service."""

from mesocosm.servers.google_cloud.tools import bigquery, compute, logs, storage
from mesocosm.servers.google_cloud.tools.service import server

__all__ = ["bigquery", "compute", "logs", "server", "storage"]
