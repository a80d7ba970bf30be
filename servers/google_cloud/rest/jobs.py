"""BigQuery's jobs: queries, loads, exports and copies, which are done when the answer comes."""

# ruff: noqa: N803 - the names of parameters are Google's
from __future__ import annotations

from typing import Any

import orjson

from mesocosm.doors.request import Request
from mesocosm.errors import Invalid, NotFound
from mesocosm.servers.google_cloud.models import Job, StorageObject
from mesocosm.servers.google_cloud.rest.datasets import ROOT
from mesocosm.servers.google_cloud.rest.media import begun, continued, noticed, related, resource
from mesocosm.servers.google_cloud.rest.queries import asked_of, destination, dml_counts, reference, run
from mesocosm.servers.google_cloud.rest.service import api, body_of, check_project, etag_of, read, texts
from mesocosm.servers.google_cloud.rest.tables import fields_in
from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.servers.google_cloud.store.bigquery.load_jobs import Format
from mesocosm.servers.google_cloud.store.part import milliseconds
from mesocosm.services.fields import Fields, remembering
from mesocosm.services.schema import Json
from mesocosm.services.service import Reply

_MOST_TOGETHER = 128 * 2**20
"""Bytes of the files of one load."""
_UPLOAD = "/upload/bigquery/v2/projects/{project}/jobs"


def shown(store: GoogleCloudStore, job: Job) -> Json:
    """A job as the API answers it."""
    time = str(milliseconds(job.created))
    said = job.statistics
    statistics: Json = {"creationTime": time, "startTime": time, "endTime": time}
    if job.kind == "QUERY":
        size = str(said.get("totalBytesProcessed", 0))
        statistics["totalBytesProcessed"] = size
        statistics["query"] = {
            "statementType": said.get("statementType"),
            "totalBytesProcessed": size,
            "totalBytesBilled": size,
            "cacheHit": False,
            "schema": {"fields": []},
        }
        target = destination(store, job)
        if str(said.get("statementType", "")).startswith(("CREATE_", "DROP_", "ALTER_")) and target:
            statistics["query"]["ddlTargetTable"] = target
        statistics["query"] |= dml_counts(job)
    else:
        statistics |= said
    configuration: Json = {"jobType": job.kind, **job.configuration}
    target = destination(store, job)
    if target is not None:
        configuration["query"] = {**configuration["query"], "destinationTable": target}
    view: Json = {
        "kind": "bigquery#job",
        "id": f"{store.project.id}:{job.location}.{job.id}",
        "jobReference": reference(store, job),
        "configuration": configuration,
        "status": {"state": "DONE"},
        "statistics": statistics,
        "user_email": store.project.service_account,
    }
    return view | {"etag": etag_of(view)}


@api.get(ROOT + "/{project}/jobs")
def list_jobs(
    store: GoogleCloudStore,
    request: Request,
    maxResults: int | None = None,
    pageToken: str | None = None,
    allUsers: bool = False,
    stateFilter: str = "",
) -> Json:
    """The jobs of the project, the latest first."""
    found, token = store.bigquery.jobs.list_jobs(stateFilter, maxResults, pageToken)
    view: Json = {"kind": "bigquery#jobList", "jobs": [shown(store, job) for job in found]}
    return view | ({"nextPageToken": token} if token else {})


@api.get(ROOT + "/{project}/jobs/{job}")
def get_job(store: GoogleCloudStore, job: str) -> Json:
    return shown(store, store.bigquery.jobs.job(job))


@api.post(ROOT + "/{project}/jobs/{job}/cancel")
def cancel_job(store: GoogleCloudStore, job: str) -> Json:
    """A job that is done stays as it is."""
    return {"kind": "bigquery#jobCancelResponse", "job": shown(store, store.bigquery.jobs.job(job))}


@api.delete(ROOT + "/{project}/jobs/{job}/delete")
def delete_job(store: GoogleCloudStore, job: str) -> None:
    """Forget a job."""
    store.bigquery.jobs.delete(job)


@api.post(ROOT + "/{project}/jobs")
def insert_job(store: GoogleCloudStore, request: Request, project: str) -> Json:
    """Run a job; one that fails is refused at once, and leaves no trace."""
    return _insert(store, body_of(request), None)


def _said(store: GoogleCloudStore, body: Fields) -> tuple[str | None, Fields]:
    """The id that a client gives a job, and what it shall do."""
    named = read.inner(body, "jobReference")
    if read.text(named, "projectId"):
        check_project(store, read.text(named, "projectId") or "")
    read.text(named, "location")
    id_ = read.text(named, "jobId")
    store.bigquery.jobs.check_id(id_)
    configuration = read.inner(body, "configuration")
    texts(configuration, "labels")
    for name in ("jobTimeoutMs", "jobType", "reservation"):
        configuration.get(name)
    return id_, configuration


def _insert(store: GoogleCloudStore, body: Fields, data: bytes | None) -> Json:
    id_, configuration = _said(store, body)
    dry_run = read.flag(configuration, "dryRun")
    if configuration.get("query"):
        return _query(store, read.inner(configuration, "query"), id_, dry_run)
    if dry_run:
        raise Invalid("Only queries can be run dry.", code="invalid")
    if configuration.get("load"):
        return shown(store, _load(store, read.inner(configuration, "load"), id_, data))
    if configuration.get("extract"):
        return shown(store, _extract(store, read.inner(configuration, "extract"), id_))
    if configuration.get("copy"):
        return shown(store, _copy(store, read.inner(configuration, "copy"), id_))
    raise Invalid("Required parameter is missing: query, load, extract or copy", code="required")


def _query(store: GoogleCloudStore, said: Fields, id_: str | None, dry_run: bool) -> Json:
    answer, job = run(store, asked_of(store, said, dry_run), id_, said)
    if job is not None:
        return shown(store, job)
    size = str(answer.bytes)
    return {
        "kind": "bigquery#job",
        "jobReference": {"projectId": store.project.id, "jobId": id_, "location": "US"},
        "configuration": {"jobType": "QUERY", "dryRun": True, "query": {"query": read.text(said, "query")}},
        "status": {"state": "DONE"},
        "statistics": {
            "totalBytesProcessed": size,
            "query": {"totalBytesProcessed": size, "statementType": answer.kind, "cacheHit": False},
        },
    }


def _place(store: GoogleCloudStore, named: Fields) -> tuple[str, str]:
    check_project(store, read.text(named, "projectId") or store.project.id)
    return read.text(named, "datasetId") or "", read.text(named, "tableId") or ""


def _load(store: GoogleCloudStore, said: Fields, id_: str | None, data: bytes | None) -> Job:
    asked = _asked(store, said)
    if data is not None:
        files = [data]
    else:
        found = [one for uri in asked["sources"] for one in _objects(store, uri)]
        if sum(one.size for one in found) > _MOST_TOGETHER:
            words = f"The files have more than {_MOST_TOGETHER:,} bytes together; load them in parts."
            raise Invalid(words, code="invalid")
        files = [store.storage.objects.data(one) for one in found]
    if not files:
        raise Invalid("Required parameter is missing: sourceUris", code="required")
    return store.bigquery.loading.load(files=files, job_id=id_, **asked).job


def _asked(store: GoogleCloudStore, said: Fields) -> dict[str, Any]:
    """Parse the configuration of a load."""
    dataset, table = _place(store, read.inner(said, "destinationTable"))
    kind = read.text(said, "sourceFormat") or "CSV"
    skip = read.number(said, "skipLeadingRows") or 0
    guess = read.flag(said, "autodetect")
    by_name = guess and kind == "CSV"
    for name in (
        "encoding",
        "allowQuotedNewlines",
        "schemaUpdateOptions",
        "maxBadRecords",
        "createDisposition",
    ):
        said.get(name)
    for name in ("parquetOptions", "decimalTargetTypes", "useAvroLogicalTypes"):
        value = said.get(name)
        if isinstance(value, Fields):
            dict(value.items())
    if read.number(said, "maxBadRecords"):
        raise Invalid("maxBadRecords is not offered here: a load is all or nothing.", code="invalid")
    fields = fields_in(said)
    format_ = Format(
        kind,
        header=by_name or skip > 0,
        skip=max(0, skip - 1),
        named=by_name,
        delimiter=read.text(said, "fieldDelimiter") or ",",
        quote=str(said.get("quote") if said.get("quote") is not None else '"'),
        null=read.text(said, "nullMarker") or "",
        jagged=read.flag(said, "allowJaggedRows"),
        fields=fields or (),
        ignore_unknown=read.flag(said, "ignoreUnknownValues"),
    )
    return {
        "dataset": dataset,
        "id_": table,
        "format_": format_,
        "mode": read.text(said, "writeDisposition") or "WRITE_APPEND",
        "sources": [str(uri) for uri in read.items(said, "sourceUris")],
        "create": read.text(said, "createDisposition") != "CREATE_NEVER",
    }


def _objects(store: GoogleCloudStore, uri: str) -> list[StorageObject]:
    """An object, or those that a URI with one asterisk stands for."""
    bucket, name = _uri(uri)
    objects = store.storage.objects
    if "*" not in name:
        return [objects.object(bucket, name)]
    before, _, after = name.partition("*")
    if "*" in after:
        raise Invalid(f"Invalid URI {uri[:100]!r}: it may have one asterisk.", code="invalid")
    found = [one for one in store.storage.listing.all_of(bucket, before) if _fits(one.name, before, after)]
    if not found:
        raise NotFound(f"Not found: URI {uri[:100]}", code="notFound")
    return found


def _fits(name: str, before: str, after: str) -> bool:
    return name.endswith(after) and len(name) >= len(before) + len(after)


def _uri(uri: str) -> tuple[str, str]:
    bucket, slash, name = uri.removeprefix("gs://").partition("/")
    if not uri.startswith("gs://") or not slash or not name:
        raise Invalid(f"Invalid URI {uri[:100]!r}: write gs://bucket/object.", code="invalid")
    return bucket, name


def _extract(store: GoogleCloudStore, said: Fields, id_: str | None) -> Job:
    dataset, table = _place(store, read.inner(said, "sourceTable"))
    uris = [str(uri) for uri in read.items(said, "destinationUris")]
    if len(uris) != 1:
        raise Invalid("One destination URI is needed.", code="invalid")
    packed = (read.text(said, "compression") or "NONE").upper()
    if packed not in ("NONE", "GZIP"):
        raise Invalid(f"Invalid compression {packed[:50]!r}; there are NONE and GZIP.", code="invalid")
    done = store.bigquery.loading.export(
        dataset,
        table,
        *_uri(uris[0]),
        read.text(said, "destinationFormat") or "CSV",
        header=read.flag(said, "printHeader", True),
        delimiter=read.text(said, "fieldDelimiter") or ",",
        compressed=packed == "GZIP",
        job_id=id_,
    )
    return done.job


def _copy(store: GoogleCloudStore, said: Fields, id_: str | None) -> Job:
    sources = read.objects(said, "sourceTables") or [read.inner(said, "sourceTable")]
    said.get("createDisposition")
    dataset, table = _place(store, read.inner(said, "destinationTable"))
    mode = read.text(said, "writeDisposition") or "WRITE_EMPTY"
    places = [_place(store, one) for one in sources]
    query = " UNION ALL ".join(f"SELECT * FROM `{place}`.`{id_}`" for place, id_ in places)
    for place, name in places:
        store.bigquery.tables.table(place, name)
    answer = store.bigquery.queries.into(query, dataset, table, mode)
    configuration = {
        "copy": {
            "sourceTables": [dict(one.items()) for one in sources],
            "destinationTable": dict(read.inner(said, "destinationTable").items()),
        }
    }
    return store.bigquery.jobs.add("COPY", configuration, {}, id_=id_, total_rows=answer.total)


# -- data that comes with the job ---------------------------------------------------------------------------


@api.post(_UPLOAD, raw=True)
def upload_job(
    store: GoogleCloudStore,
    request: Request,
    uploadType: str = "multipart",
    upload_id: str | None = None,
) -> Json | Reply:
    """A load of data that come with it, or the beginning of an upload in pieces."""
    if upload_id:
        return upload_job_piece(store, request, upload_id)
    if uploadType == "multipart":
        body, _, data = related(request)
        return _insert(store, body, data)
    if uploadType != "resumable":
        raise Invalid(f"Invalid upload type: {uploadType[:50]!r}", code="invalid")
    # Read to the end, so that what is wrong with it is said before anything is sent.
    _, configuration = _said(store, noticed(request, resource(request.body)))
    if not configuration.get("load"):
        raise Invalid("Required parameter is missing: load", code="required")
    _asked(store, read.inner(configuration, "load"))
    return begun(store, request, "job", {"resource": orjson.loads(request.body or b"{}")})


@api.put(_UPLOAD, raw=True)
def upload_job_piece(store: GoogleCloudStore, request: Request, upload_id: str) -> Json | Reply:
    """A piece of the data of a load."""
    done: Any = continued(store, request, "job", upload_id)
    if isinstance(done, Reply):
        return done
    upload, data = done
    return _insert(store, noticed(request, remembering(upload.request["resource"])), data)
