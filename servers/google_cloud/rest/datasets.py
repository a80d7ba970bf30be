"""BigQuery's projects and datasets."""

# ruff: noqa: N803 - the names of parameters are Google's
from __future__ import annotations

from typing import Any

from mesocosm.doors.request import Request
from mesocosm.servers.google_cloud.models import Dataset
from mesocosm.servers.google_cloud.rest.service import api, body_of, check_project, etag_of, read, texts
from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.servers.google_cloud.store.part import milliseconds
from mesocosm.services.schema import Json

ROOT = "/bigquery/v2/projects"


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
def get_bigquery_account(store: GoogleCloudStore, project: str) -> Json:
    """The account under which BigQuery acts."""
    check_project(store, project)
    address = f"bq-{store.project.number}@bigquery-encryption.iam.gserviceaccount.com"
    return {"kind": "bigquery#getServiceAccountResponse", "email": address}


@api.get(ROOT + "/{project}/datasets")
def list_datasets(
    store: GoogleCloudStore,
    project: str,
    maxResults: int | None = None,
    pageToken: str | None = None,
    all: bool = False,
) -> Json:
    check_project(store, project)
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
    check_project(store, project)
    body = body_of(request)
    reference = read.inner(body, "datasetReference")
    check_project(store, read.text(reference, "projectId") or project)
    made = store.bigquery.datasets.create(
        read.text(reference, "datasetId") or "",
        read.text(body, "location") or "US",
        read.text(body, "description"),
        friendly_name=read.text(body, "friendlyName"),
        labels=texts(body, "labels"),
        default_expiration=read.number(body, "defaultTableExpirationMs"),
    )
    return shown(store, made)


@api.get(ROOT + "/{project}/datasets/{dataset}")
def get_dataset(
    store: GoogleCloudStore,
    project: str,
    dataset: str,
    datasetView: str | None = None,
    accessPolicyVersion: int | None = None,
) -> Json:
    check_project(store, project)
    return shown(store, store.bigquery.datasets.dataset(dataset))


def _change(
    store: GoogleCloudStore,
    request: Request,
    project: str,
    dataset: str,
    accessPolicyVersion: int | None = None,
    updateMode: str | None = None,
) -> Json:
    check_project(store, project)
    body = body_of(request)
    before = store.bigquery.datasets.dataset(dataset)
    changes: dict[str, Any] = {}
    whole = request.method == "PUT"
    if whole or "description" in body:
        changes["description"] = read.text(body, "description")
    if whole or "friendlyName" in body:
        changes["friendly_name"] = read.text(body, "friendlyName")
    if whole or "defaultTableExpirationMs" in body:
        changes["default_expiration"] = read.number(body, "defaultTableExpirationMs")
    if whole or "labels" in body:
        said = ({} if whole else before.labels) | (texts(body, "labels") or {})
        changes["labels"] = {name: value for name, value in said.items() if value is not None}
    return shown(store, store.bigquery.datasets.update(dataset, changes))


api.patch(ROOT + "/{project}/datasets/{dataset}")(_change)
api.put(ROOT + "/{project}/datasets/{dataset}")(_change)


@api.delete(ROOT + "/{project}/datasets/{dataset}")
def delete_dataset(store: GoogleCloudStore, project: str, dataset: str, deleteContents: bool = False) -> None:
    """Remove a dataset; one that holds tables only with ``deleteContents``."""
    check_project(store, project)
    store.bigquery.datasets.delete(dataset, with_tables=deleteContents)
