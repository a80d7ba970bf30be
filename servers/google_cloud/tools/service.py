"""The google_cloud service, to which the modules beside this one add their tools."""

from __future__ import annotations

from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.services.service import Service

server = Service(
    "google_cloud",
    GoogleCloudStore,
    instructions=(
        "One Google Cloud project: BigQuery (GoogleSQL), Cloud Storage, Compute Engine and Cloud Logging."
        " Tables are found with INFORMATION_SCHEMA.TABLES and INFORMATION_SCHEMA.COLUMNS of a dataset. Files"
        " are those of the workspace. Lists and results come page by page: the last line says how to go on."
    ),
)


def next_page(token: str | None) -> str:
    """The line that says how to get the rest; empty where there is none."""
    return f'\n\nMore follows: call again with page_token="{token}".' if token else ""
