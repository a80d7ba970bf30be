"""Google's JSON APIs of Cloud Storage, BigQuery and Cloud Logging, over what the tools use."""

from mesocosm.servers.google_cloud.rest import buckets, datasets, jobs, logs, media, objects, queries, tables
from mesocosm.servers.google_cloud.rest.service import api

__all__ = [
    "api",
    "buckets",
    "datasets",
    "jobs",
    "logs",
    "media",
    "objects",
    "operations",
    "queries",
    "tables",
]

operations = api.operations
