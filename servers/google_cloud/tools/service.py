"""The google_cloud service, to which the modules beside this one add their tools."""

from __future__ import annotations

from typing import Annotated

from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.services.schema import About
from mesocosm.services.service import Service

server = Service(
    "google_cloud",
    GoogleCloudStore,
    instructions=(
        "One Google Cloud project: BigQuery (GoogleSQL), Cloud Storage, Compute Engine and Cloud Logging."
        " Tables are found with INFORMATION_SCHEMA.TABLES and INFORMATION_SCHEMA.COLUMNS of a dataset. Files"
        " are those of the workspace. Lists and results come page by page: the last line says how to go on."
    ),
    extra="warehouses",
)


def next_page(token: str | None) -> str:
    """The line that says how to get the rest; empty where there is none."""
    return f'\n\nMore follows: call again with page_token="{token}".' if token else ""


PageToken = Annotated[str, About("Where to go on, from the last line of the page before.")]
DatasetId = Annotated[str, About("The dataset.")]
InstanceName = Annotated[str, About("The machine.")]
ZoneName = Annotated[str, About("Where it is.")]
BucketName = Annotated[str, About("The bucket.")]
