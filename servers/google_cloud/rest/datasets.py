"""BigQuery's projects and datasets."""

# ruff: noqa: N803 - the names of parameters are Google's
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mesocosm.doors.request import Request
from mesocosm.servers.google_cloud.models import Dataset
from mesocosm.servers.google_cloud.rest.service import api, body_of, check_project, etag_of, read, texts
from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.servers.google_cloud.store.part import milliseconds
from mesocosm.services.fields import Fields
from mesocosm.services.schema import Json

ROOT = "/bigquery/v2/projects"
_SET: dict[str, tuple[str, Callable[[Fields, str], Any]]] = {
    "description": ("description", read.text),
    "friendlyName": ("friendly_name", read.text),
    "defaultTableExpirationMs": ("default_expiration", read.number),
}
"""Fields of a dataset that clients set, each with its column and how it is read; labels are merged."""


def shown(store: GoogleCloudStore, dataset: Dataset) -> Json:
    """A dataset as the API answers it."""
    project = store.project.id
    view: Json = {
        "kind": "bigquery#dataset",
        "id": f"{project}:{dataset.id}",
        "selfLink": f"https://bigquery.googleapis.com{ROOT}/{project}/datasets/{dataset.id}",
        "datasetReference": {"datasetId": dataset.id, "projectId": project},
        "labels": dataset.labels,
        "creationTime": str(milliseconds(dataset.created)),
        "lastModifiedTime": str(milliseconds(dataset.modified)),
        "location": dataset.location,
        "type": "DEFAULT",
    }
    if dataset.friendly_name is not None:
        view["friendlyName"] = dataset.friendly_name
    if dataset.description is not None:
        view["description"] = dataset.description
    if dataset.default_expiration is not None:
        view["defaultTableExpirationMs"] = str(dataset.default_expiration)
    return view | {"etag": etag_of(view)}


@api.get(ROOT)
def list_projects(
    store: GoogleCloudStore, maxResults: int | None = None, pageToken: str | None = None
) -> Json:
    project = store.project
    one = {
        "kind": "bigquery#project",
        "id": project.id,
        "numericId": str(project.number),
        "projectReference": {"projectId": project.id},
        "friendlyName": project.id,
    }
    return {"kind": "bigquery#projectList", "projects": [one], "totalItems": 1}


@api.get(ROOT + "/{project}/serviceAccount")
def get_bigquery_account(store: GoogleCloudStore) -> Json:
    """The account under which BigQuery acts."""
    address = f"bq-{store.project.number}@bigquery-encryption.iam.gserviceaccount.com"
    return {"kind": "bigquery#getServiceAccountResponse", "email": address}


@api.get(ROOT + "/{project}/datasets")
def list_datasets(
    store: GoogleCloudStore,
    maxResults: int | None = None,
    pageToken: str | None = None,
    all: bool = False,
) -> Json:
    found, token = store.bigquery.datasets.list_datasets(maxResults, pageToken)
    keys = ("kind", "id", "datasetReference", "labels", "friendlyName", "location")
    listed = [{key: value for key, value in shown(store, one).items() if key in keys} for one in found]
    for one in listed:
        one["kind"] = "bigquery#dataset"
    view: Json = {"kind": "bigquery#datasetList", "datasets": listed}
    return view | ({"nextPageToken": token} if token else {})


@api.post(ROOT + "/{project}/datasets")
def insert_dataset(store: GoogleCloudStore, request: Request, project: str) -> Json:
    """A new dataset."""
    body = body_of(request)
    reference = read.inner(body, "datasetReference")
    check_project(store, read.text(reference, "projectId") or project)
    made = store.bigquery.datasets.create(
        read.text(reference, "datasetId") or "",
        read.text(body, "location") or "US",
        labels=texts(body, "labels"),
        **{column: take(body, name) for name, (column, take) in _SET.items()},
    )
    return shown(store, made)


@api.get(ROOT + "/{project}/datasets/{dataset}")
def get_dataset(
    store: GoogleCloudStore,
    dataset: str,
    datasetView: str | None = None,
    accessPolicyVersion: int | None = None,
) -> Json:
    return shown(store, store.bigquery.datasets.dataset(dataset))


def _change(
    store: GoogleCloudStore,
    request: Request,
    dataset: str,
    accessPolicyVersion: int | None = None,
    updateMode: str | None = None,
) -> Json:
    body = body_of(request)
    before = store.bigquery.datasets.dataset(dataset)
    whole = request.method == "PUT"
    changes = {column: take(body, name) for name, (column, take) in _SET.items() if whole or name in body}
    if whole or "labels" in body:
        said = ({} if whole else before.labels) | (texts(body, "labels") or {})
        changes["labels"] = {name: value for name, value in said.items() if value is not None}
    return shown(store, store.bigquery.datasets.update(dataset, changes))


api.patch(ROOT + "/{project}/datasets/{dataset}")(_change)
api.put(ROOT + "/{project}/datasets/{dataset}")(_change)


@api.delete(ROOT + "/{project}/datasets/{dataset}")
def delete_dataset(store: GoogleCloudStore, dataset: str, deleteContents: bool = False) -> None:
    """Remove a dataset; one that holds tables only with ``deleteContents``."""
    store.bigquery.datasets.delete(dataset, with_tables=deleteContents)
