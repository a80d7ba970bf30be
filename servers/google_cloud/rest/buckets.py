"""Buckets of Cloud Storage."""

# ruff: noqa: N803 - the names of parameters are Google's
from __future__ import annotations

from typing import Any

from mesocosm.doors.request import Request
from mesocosm.errors import Invalid
from mesocosm.servers.google_cloud.models import Bucket
from mesocosm.servers.google_cloud.rest.service import (
    api,
    body_of,
    check_project,
    condition,
    etag_of,
    instant,
    read,
    texts,
)
from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.servers.google_cloud.store.part import PreconditionFailed
from mesocosm.servers.google_cloud.store.storage.buckets import location_type
from mesocosm.services.schema import Json

_HOST = "https://www.googleapis.com/storage/v1"


def shown(store: GoogleCloudStore, bucket: Bucket) -> Json:
    """A bucket as the API answers it."""
    view: Json = {
        "kind": "storage#bucket",
        "id": bucket.name,
        "selfLink": f"{_HOST}/b/{bucket.name}",
        "projectNumber": str(store.project.number),
        "name": bucket.name,
        "timeCreated": instant(bucket.created),
        "updated": instant(bucket.updated),
        "metageneration": str(bucket.metageneration),
        "location": bucket.location,
        "locationType": location_type(bucket.location),
        "storageClass": bucket.storage_class,
        "versioning": {"enabled": bucket.versioning},
        "labels": bucket.labels,
    }
    if bucket.lifecycle:
        view["lifecycle"] = {"rule": bucket.lifecycle}
    if bucket.cors:
        view["cors"] = bucket.cors
    return view | {"etag": etag_of(view)}


def _rules(body: Any) -> list[Any] | None:
    if "lifecycle" not in body:
        return None
    return [
        {name: dict(read.inner(rule, name).items()) for name in ("action", "condition")}
        for rule in read.objects(read.inner(body, "lifecycle"), "rule")
    ]


def _cors(body: Any) -> list[Any] | None:
    if "cors" not in body:
        return None
    return [dict(rule.items()) for rule in read.objects(body, "cors")]


def _labels(body: Any, before: dict[str, Any]) -> dict[str, Any] | None:
    """The labels after a patch; ``null`` takes one away."""
    said = texts(body, "labels")
    if said is None:
        return None
    return {name: value for name, value in (before | said).items() if value is not None}


@api.get("/storage/v1/b")
def list_buckets(
    store: GoogleCloudStore,
    project: str | None = None,
    maxResults: int | None = None,
    pageToken: str | None = None,
    prefix: str = "",
) -> Json:
    if project is not None:
        check_project(store, project)
    found, token = store.storage.list_buckets(maxResults, pageToken, prefix)
    page: Json = {"kind": "storage#buckets", "items": [shown(store, one) for one in found]}
    return page | ({"nextPageToken": token} if token else {})


@api.post("/storage/v1/b")
def insert_bucket(store: GoogleCloudStore, request: Request, project: str | None = None) -> Json:
    """A new bucket."""
    if project is not None:
        check_project(store, project)
    body = body_of(request)
    name = read.text(body, "name")
    if not name:
        raise Invalid("Required parameter: name", code="required")
    bucket = store.storage.create(
        name,
        read.text(body, "location"),
        read.text(body, "storageClass"),
        texts(body, "labels"),
        versioning=read.flag(read.inner(body, "versioning"), "enabled"),
        lifecycle=_rules(body) or (),
        cors=_cors(body) or (),
    )
    return shown(store, bucket)


@api.get("/storage/v1/b/{bucket}")
def get_bucket(store: GoogleCloudStore, bucket: str, ifMetagenerationMatch: int | None = None) -> Json:
    found = store.storage.bucket(bucket)
    condition(None, None, ifMetagenerationMatch, None).check(None, found.metageneration)
    return shown(store, found)


def _change(
    store: GoogleCloudStore, request: Request, bucket: str, ifMetagenerationMatch: int | None = None
) -> Json:
    body = body_of(request)
    before = store.storage.bucket(bucket)
    if read.text(body, "name") not in (None, bucket):
        raise Invalid("The name of a bucket cannot be changed.", code="invalid")
    if (read.text(body, "location") or before.location).upper() != before.location:
        raise Invalid("The location of a bucket cannot be changed.", code="invalid")
    changed = store.storage.update(
        bucket,
        versioning=read.flag(read.inner(body, "versioning"), "enabled") if "versioning" in body else None,
        lifecycle=_rules(body),
        cors=_cors(body),
        labels=_labels(body, before.labels if request.method == "PATCH" else {}),
        storage_class=read.text(body, "storageClass"),
        condition=condition(None, None, ifMetagenerationMatch, None),
    )
    return shown(store, changed)


api.patch("/storage/v1/b/{bucket}")(_change)
api.put("/storage/v1/b/{bucket}")(_change)


@api.delete("/storage/v1/b/{bucket}")
def delete_bucket(store: GoogleCloudStore, bucket: str, ifMetagenerationMatch: int | None = None) -> None:
    """Remove an empty bucket."""
    store.storage.delete(bucket, condition(None, None, ifMetagenerationMatch, None))


# -- who may do what with one ------------------------------------------------------------------------------


def _policy(store: GoogleCloudStore, bucket: str) -> Json:
    bindings = store.storage.bindings(bucket)
    view: Json = {
        "kind": "storage#policy",
        "resourceId": f"projects/_/buckets/{bucket}",
        "version": 1,
        "bindings": bindings,
    }
    return view | {"etag": etag_of(bindings)}


@api.get("/storage/v1/b/{bucket}/iam")
def get_bucket_policy(
    store: GoogleCloudStore, bucket: str, optionsRequestedPolicyVersion: int | None = None
) -> Json:
    """The IAM policy of a bucket."""
    return _policy(store, bucket)


@api.put("/storage/v1/b/{bucket}/iam")
def set_bucket_policy(store: GoogleCloudStore, request: Request, bucket: str) -> Json:
    """Another IAM policy for a bucket."""
    body = body_of(request)
    read.text(body, "resourceId")
    if (read.number(body, "version") or 1) not in (1, 2, 3):
        raise Invalid("Invalid policy version.", code="invalid")
    given = read.text(body, "etag")
    if given and given != etag_of(store.storage.bindings(bucket)):
        raise PreconditionFailed("The policy has changed since it was read.", code="conditionNotMet")
    store.storage.set_bindings(bucket, [dict(one.items()) for one in read.objects(body, "bindings")])
    return _policy(store, bucket)


@api.get("/storage/v1/b/{bucket}/iam/testPermissions")
def test_bucket_permissions(store: GoogleCloudStore, request: Request, bucket: str) -> Json:
    """Return the caller's permissions among those asked for: all, as the only caller owns the project."""
    store.storage.bucket(bucket)
    request.asked.get("permissions")
    asked = [value for name, value in request.pairs if name == "permissions"]
    return {"kind": "storage#testIamPermissionsResponse", "permissions": asked}


@api.get("/storage/v1/projects/{projectId}/serviceAccount")
def get_service_account(store: GoogleCloudStore, projectId: str) -> Json:
    """The account under which Cloud Storage acts."""
    check_project(store, projectId)
    address = f"service-{store.project.number}@gs-project-accounts.iam.gserviceaccount.com"
    return {"kind": "storage#serviceAccount", "email_address": address}
