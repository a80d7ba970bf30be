"""Statements: run at once (``jobs.query``) or as a job, and the pages of their results."""

# ruff: noqa: N803 - the names of parameters are Google's
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mesocosm.doors.request import Request
from mesocosm.errors import Invalid
from mesocosm.servers.google_cloud.models import Job
from mesocosm.servers.google_cloud.rest.datasets import ROOT
from mesocosm.servers.google_cloud.rest.service import api, body_of, check_project, plain, read, texts
from mesocosm.servers.google_cloud.rest.tables import result_rows, rows_as_shown
from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.servers.google_cloud.store.bigquery.schema import shown_fields
from mesocosm.servers.google_cloud.store.part import page_token, read_token
from mesocosm.services.fields import Fields
from mesocosm.services.schema import Json

if TYPE_CHECKING:
    from mesocosm.servers.google_cloud.store.bigquery.answers import Answer

_PAGE = 10_000


@dataclass(frozen=True)
class QueryRequest:
    """A statement as a client asks for it."""

    text: str
    default: str | None
    parameters: Mapping[str, Any] | list[Any]
    dry_run: bool
    configuration: Json


def asked_of(store: GoogleCloudStore, said: Fields, dry_run: bool) -> QueryRequest:
    """The statement of a body or of the configuration of a job."""
    query = read.text(said, "query")
    if not query:
        raise Invalid("Required parameter is missing: query", code="required")
    if read.flag(said, "useLegacySql"):
        raise Invalid("Legacy SQL is not offered here: set useLegacySql to false.", code="invalid")
    place = read.inner(said, "defaultDataset")
    if read.text(place, "projectId"):
        check_project(store, read.text(place, "projectId") or "")
    read.flag(said, "useQueryCache", True)
    for name in (
        *("priority", "parameterMode", "createDisposition", "maximumBytesBilled", "jobCreationMode"),
        "allowLargeResults",
    ):
        said.get(name)
    configuration: Json = {"query": query, "useLegacySql": False}
    if read.text(place, "datasetId"):
        configuration["defaultDataset"] = dict(place.items())
    return QueryRequest(query, read.text(place, "datasetId"), _parameters(said), dry_run, configuration)


def _parameters(said: Fields) -> Mapping[str, Any] | list[Any]:
    given = read.objects(said, "queryParameters")
    if not given:
        return {}
    from mesocosm.servers.google_cloud.store.bigquery.parameters import value_of

    try:
        values = [
            value_of(plain(one.get("parameterType")) or {}, plain(one.get("parameterValue")) or {})
            for one in given
        ]
    except (
        AttributeError,
        KeyError,
        TypeError,
        ValueError,
    ):  # something else where an object or a list should be
        raise Invalid("Invalid query parameter: type and value do not fit.", code="invalidQuery") from None
    names = [read.text(one, "name") for one in given]
    return {str(name): value for name, value in zip(names, values, strict=True)} if names[0] else values


def run(
    store: GoogleCloudStore, asked: QueryRequest, id_: str | None = None, said: Fields | None = None
) -> tuple[Answer, Job | None]:
    """Run a statement as a job, whose rows are kept; a dry run leaves none."""
    store.bigquery.jobs.check_id(id_)
    queries = store.bigquery.queries
    target = read.inner(said, "destinationTable") if said is not None else Fields({})
    mode = read.text(said, "writeDisposition") if said is not None else None
    if asked.dry_run or not target:
        answer = queries.run(
            asked.text, default=asked.default, parameters=asked.parameters, dry_run=asked.dry_run
        )
    else:
        dataset, table = read.text(target, "datasetId") or "", read.text(target, "tableId") or ""
        check_project(store, read.text(target, "projectId") or store.project.id)
        answer = queries.into(
            asked.text,
            dataset,
            table,
            mode or "WRITE_EMPTY",
            default=asked.default,
            parameters=asked.parameters,
        )
    if asked.dry_run:
        return answer, None
    configuration = dict(asked.configuration)
    if target:
        configuration["destinationTable"] = dict(target.items())
    job = store.bigquery.asking.record(
        asked.text, answer, id_=id_, configuration={"jobType": "QUERY", "query": configuration}, keep=True
    )
    return answer, job


def destination(store: GoogleCloudStore, job: Job) -> Json | None:
    """The table that a query's rows are in: the one that is named, what a statement made or changed, or an
    anonymous one of the job's own."""
    if job.kind != "QUERY":
        return None
    said = job.configuration["query"].get("destinationTable")
    if said is not None:
        return dict(said)
    target = job.statistics.get("target", "")
    if job.statistics.get("statementType") == "SELECT":
        target = f"{store.bigquery.jobs.anonymous_dataset}.{store.bigquery.jobs.anonymous_table(job)}"
    dataset, dot, table = target.rpartition(".")
    if not dot:
        return None
    return {"projectId": store.project.id, "datasetId": dataset, "tableId": table}


def reference(store: GoogleCloudStore, job: Job) -> Json:
    """The name of a job."""
    return {"projectId": store.project.id, "jobId": job.id, "location": job.location}


def dml_counts(job: Job) -> Json:
    """Numbers of rows that a statement changed, as the API has them."""
    found: Json = {}
    for name in ("numDmlAffectedRows", "dmlStats"):
        if (said := job.statistics.get(name)) is not None:
            is_one = not isinstance(said, dict)
            found[name] = str(said) if is_one else {key: str(value) for key, value in said.items()}
    return found


def _page(store: GoogleCloudStore, request: Request, job: Job, start: int, limit: int | None) -> Json:
    size = min(limit, _PAGE) if limit is not None and limit >= 0 else _PAGE
    rows = result_rows(store, job, start, size)
    view: Json = {
        "jobReference": reference(store, job),
        "jobComplete": True,
        "totalRows": str(job.total_rows),
        "totalBytesProcessed": str(job.statistics.get("totalBytesProcessed", 0)),
        "cacheHit": False,
        "schema": {"fields": shown_fields(job.fields)},
    }
    if rows:
        view["rows"] = rows_as_shown(request, job.fields, rows)
    view |= dml_counts(job)
    after = start + len(rows)
    if rows and after < job.total_rows:
        view["pageToken"] = page_token(after)
    return view


@api.post(ROOT + "/{project}/queries")
def query(store: GoogleCloudStore, request: Request, project: str) -> Json:
    """Run a statement, and answer with the first page of its result."""
    body = body_of(request)
    asked = asked_of(store, body, read.flag(body, "dryRun"))
    for name in ("requestId", "timeoutMs", "location", "formatOptions", "kind"):
        value = body.get(name)
        if isinstance(value, Fields):
            dict(value.items())
    texts(body, "labels")
    limit = read.number(body, "maxResults")
    answer, job = run(store, asked)
    if job is None:
        return {
            "kind": "bigquery#queryResponse",
            "jobComplete": True,
            "totalBytesProcessed": str(answer.bytes),
            "schema": {"fields": shown_fields(answer.fields)},
            "jobReference": {"projectId": store.project.id, "location": "US"},
        }
    options = body.get("formatOptions")
    whole = isinstance(options, Fields) and read.flag(options, "useInt64Timestamp")
    if whole:
        request.pairs.append(("formatOptions.useInt64Timestamp", "true"))
    return {"kind": "bigquery#queryResponse", **_page(store, request, job, 0, limit)}


@api.get(ROOT + "/{project}/queries/{job}")
def get_query_results(
    store: GoogleCloudStore,
    request: Request,
    job: str,
    maxResults: int | None = None,
    pageToken: str | None = None,
    startIndex: int = 0,
) -> Json:
    found = store.bigquery.jobs.job(job)
    if found.kind != "QUERY":
        raise Invalid(f"Job {job[:100]} is not a query job.", code="invalid")
    position = read_token(pageToken, int)
    start = position[0] if position else max(0, startIndex)
    return {"kind": "bigquery#getQueryResultsResponse", **_page(store, request, found, start, maxResults)}
