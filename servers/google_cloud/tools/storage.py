"""Tools for Cloud Storage."""

from __future__ import annotations

import orjson

from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.servers.google_cloud.store.storage import NewObject
from mesocosm.servers.google_cloud.store.storage.object_lists import Wanted
from mesocosm.servers.google_cloud.tools.service import BucketName, PageToken, next_page, server


@server.reads
def storage_list_buckets(store: GoogleCloudStore, max_results: int = 100, page_token: PageToken = "") -> str:
    """List the buckets of the project with their locations.

    Args:
        max_results: Buckets of a page, 1 to 1000.
    """
    found, token = store.storage.list_buckets(max_results, page_token)
    lines = [f"- {one.name} (Location: {one.location}, Created: {one.created})" for one in found]
    return "\n".join([f"Found {len(lines)} buckets:", *lines]) + next_page(token)


@server.writes
def storage_create_bucket(store: GoogleCloudStore, bucket_name: str, location: str = "US") -> str:
    """Create a bucket.

    Args:
        bucket_name: 3 to 63 lower-case letters, digits, hyphens, underscores and dots; unique.
        location: US, EU, ASIA or a region such as europe-west1.
    """
    bucket = store.storage.create(bucket_name, location)
    return f"Successfully created bucket '{bucket.name}' in location '{bucket.location}'"


@server.reads
def storage_list_objects(
    store: GoogleCloudStore,
    bucket_name: BucketName,
    prefix: str = "",
    max_results: int = 100,
    page_token: PageToken = "",
) -> str:
    """List the objects of a bucket by name, with their sizes.

    Args:
        prefix: Only objects whose names begin so, such as reports/2025/.
        max_results: Objects of a page, 1 to 1000.
    """
    page = store.storage.listing.page(bucket_name, Wanted(prefix=prefix), max_results, page_token)
    lines = [f"- {one.name}: {one.size} bytes (Updated: {one.updated})" for one in page.items]
    head = f"Found {len(lines)} objects in bucket '{bucket_name}':"
    return "\n".join([head, *lines]) + next_page(page.next_token)


@server.writes(destructive=True)
def storage_upload_file(
    store: GoogleCloudStore, bucket_name: BucketName, source_file_path: str, destination_blob_name: str
) -> str:
    """Upload a file of the workspace as an object, replacing one of that name.

    Args:
        source_file_path: The file in the workspace.
        destination_blob_name: Name of the object, such as reports/june.csv.
    """
    data = store.workspace.read(source_file_path)
    made = store.storage.objects.write(bucket_name, NewObject(destination_blob_name, data))
    return f"Successfully uploaded '{source_file_path}' to '{bucket_name}/{made.name}' ({made.size} bytes)"


@server.writes(destructive=True, idempotent=True)
def storage_download_file(
    store: GoogleCloudStore, bucket_name: BucketName, source_blob_name: str, destination_file_path: str
) -> str:
    """Download an object to a file in the workspace, replacing what was there.

    Args:
        source_blob_name: Name of the object.
        destination_file_path: The file in the workspace.
    """
    objects = store.storage.objects
    found = objects.object(bucket_name, source_blob_name)
    path = store.workspace.write(destination_file_path, objects.data(found), store.now)
    shown = store.workspace.shown(path)
    return f"Successfully downloaded '{bucket_name}/{found.name}' to '{shown}' ({found.size} bytes)"


@server.writes(destructive=True)
def storage_delete_object(store: GoogleCloudStore, bucket_name: BucketName, blob_name: str) -> str:
    """Delete an object; where the bucket keeps versions, it stays as one.

    Args:
        blob_name: Name of the object.
    """
    store.storage.objects.delete(bucket_name, blob_name)
    return f"Successfully deleted object '{blob_name}' from bucket '{bucket_name}'"


@server.reads
def storage_get_bucket_info(store: GoogleCloudStore, bucket_name: BucketName) -> str:
    """Show a bucket: location, storage class, times, versioning, labels and lifecycle rules."""
    bucket = store.storage.bucket(bucket_name)
    lines = [
        f"Bucket Information for '{bucket.name}':",
        f"Location: {bucket.location}",
        f"Storage Class: {bucket.storage_class}",
        f"Created: {bucket.created}",
        f"Updated: {bucket.updated}",
        f"Versioning: {'Enabled' if bucket.versioning else 'Disabled'}",
        f"Labels: {orjson.dumps(bucket.labels).decode()}",
        f"Lifecycle Rules: {orjson.dumps(bucket.lifecycle).decode()}",
    ]
    return "\n".join(lines)


@server.reads
def storage_generate_signed_url(
    store: GoogleCloudStore,
    bucket_name: BucketName,
    blob_name: str,
    expiration_minutes: int = 60,
    method: str = "GET",
) -> str:
    """Make a URL with which whoever has it may read, write or delete one object for a while.

    Args:
        blob_name: Name of the object, which need not exist.
        expiration_minutes: How long it works, 1 to 10080.
        method: GET, PUT, DELETE, HEAD or POST.
    """
    url = store.storage.signing.url(bucket_name, blob_name, expiration_minutes, method)
    return f"Signed URL for '{bucket_name}/{blob_name}' (expires in {expiration_minutes} minutes):\n{url}"


@server.writes(destructive=True)
def storage_copy_object(
    store: GoogleCloudStore, source_bucket: str, source_blob: str, dest_bucket: str, dest_blob: str
) -> str:
    """Copy an object with its metadata, replacing one of that name.

    Args:
        source_bucket: The bucket of the original.
        source_blob: Name of the original.
        dest_bucket: The bucket of the copy.
        dest_blob: Name of the copy.
    """
    store.storage.objects.copy((source_bucket, source_blob), (dest_bucket, dest_blob))
    return f"Successfully copied '{source_bucket}/{source_blob}' to '{dest_bucket}/{dest_blob}'"


@server.writes(destructive=True)
def storage_move_object(
    store: GoogleCloudStore, source_bucket: str, source_blob: str, dest_bucket: str, dest_blob: str
) -> str:
    """Move an object to another name or bucket, replacing one of that name.

    Args:
        source_bucket: The bucket in which it is.
        source_blob: Its name.
        dest_bucket: The bucket to which it goes.
        dest_blob: Its name there.
    """
    store.storage.objects.move((source_bucket, source_blob), (dest_bucket, dest_blob))
    return f"Successfully moved '{source_bucket}/{source_blob}' to '{dest_bucket}/{dest_blob}'"


@server.writes(idempotent=True)
def storage_enable_versioning(store: GoogleCloudStore, bucket_name: BucketName, enabled: bool = True) -> str:
    """Say whether a bucket keeps the versions of objects that are replaced or deleted.

    Args:
        enabled: false: from now on they are lost.
    """
    store.storage.update(bucket_name, versioning=enabled)
    return f"Successfully {'enabled' if enabled else 'disabled'} versioning for bucket '{bucket_name}'"


@server.reads
def storage_get_bucket_size(store: GoogleCloudStore, bucket_name: BucketName) -> str:
    """Show how many objects a bucket holds and how many bytes they have."""
    size = store.storage.size(bucket_name)
    lines = [
        "Bucket Size Statistics for '" + bucket_name + "':",
        f"Total Objects: {size.objects}",
        f"Total Size: {size.bytes} bytes",
        f"Size (MB): {size.bytes / 2**20:.2f} MB",
        f"Size (GB): {size.bytes / 2**30:.2f} GB",
    ]
    if size.noncurrent_objects:
        lines.append(f"Earlier versions: {size.noncurrent_objects} ({size.noncurrent_bytes} bytes)")
    return "\n".join(lines)


@server.writes(destructive=True, idempotent=True)
def storage_set_bucket_lifecycle(
    store: GoogleCloudStore, bucket_name: BucketName, age_days: int = 30, action: str = "Delete"
) -> str:
    """Give a bucket one lifecycle rule, in place of those that it has; carried out once a day.

    Args:
        age_days: Age from which the rule applies to an object, from 0.
        action: Delete, or the storage class to move to: NEARLINE, COLDLINE or ARCHIVE.
    """
    kind = {"type": "Delete"}
    if action.lower() != "delete":
        kind = {"type": "SetStorageClass", "storageClass": action.upper()}
    store.storage.update(bucket_name, lifecycle=[{"action": kind, "condition": {"age": age_days}}])
    verb = "Delete" if kind["type"] == "Delete" else f"move to {kind['storageClass']}"
    return f"Successfully set lifecycle rule for bucket '{bucket_name}': {verb} objects after {age_days} days"
