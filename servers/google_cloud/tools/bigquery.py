"""Tools for BigQuery."""

from __future__ import annotations

import orjson

from mesocosm.servers.google_cloud.models import Job
from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.servers.google_cloud.store.bigquery.load_jobs import Format
from mesocosm.servers.google_cloud.store.bigquery.query_jobs import Asked
from mesocosm.servers.google_cloud.tools.service import DatasetId, PageToken, next_page, server


@server.writes(destructive=True, long=True)
def bigquery_run_query(
    store: GoogleCloudStore,
    query: str,
    dry_run: bool = False,
    max_results: int = 1000,
    page_token: str = "",
) -> str:
    """Run statements in GoogleSQL: queries, INSERT, UPDATE, DELETE, MERGE, and CREATE, ALTER and DROP.

    Names are dataset.table or `project.dataset.table`. What there is, dataset.INFORMATION_SCHEMA.TABLES and
    dataset.INFORMATION_SCHEMA.COLUMNS tell.

    Args:
        query: The statement, or several with semicolons between them; the result is that of the last.
        dry_run: Only check it, and say how many bytes it would read.
        max_results: Rows of a page, 1 to 10000.
        page_token: Where to go on with the result of the same query, from the last line of the page before.
    """
    return _told(store.bigquery.asking.ask(query, dry_run=dry_run, limit=max_results, token=page_token))


@server.reads
def bigquery_list_datasets(
    store: GoogleCloudStore, max_results: int = 100, page_token: PageToken = ""
) -> str:
    """List the datasets of the project.

    Args:
        max_results: Datasets of a page, 1 to 1000.
    """
    found, token = store.bigquery.datasets.list_datasets(max_results, page_token)
    project = store.project.id
    lines = [f"- {one.id} (Project: {project}, Location: {one.location})" for one in found]
    return "\n".join([f"Found {len(lines)} datasets:", *lines]) + next_page(token)


@server.writes
def bigquery_create_dataset(
    store: GoogleCloudStore, dataset_id: str, description: str = "", location: str = "US"
) -> str:
    """Create a dataset.

    Args:
        dataset_id: Letters, digits and underscores.
        description: What it is for.
        location: US, EU or a region such as europe-west1.
    """
    dataset = store.bigquery.datasets.create(dataset_id, location, description)
    return f"Successfully created dataset '{dataset.id}' in location '{dataset.location}'"


@server.reads
def bigquery_get_dataset_info(store: GoogleCloudStore, dataset_id: DatasetId) -> str:
    """Show a dataset: location, description, times, labels, and how many tables and views it has."""
    dataset = store.bigquery.datasets.dataset(dataset_id)
    tables, views = store.bigquery.datasets.count(dataset)
    lines = [
        f"Dataset Information for '{dataset.id}':",
        f"Full Name: {store.project.id}.{dataset.id}",
        f"Location: {dataset.location}",
        f"Description: {dataset.description or 'No description'}",
        f"Created: {dataset.created}",
        f"Modified: {dataset.modified}",
        f"Tables: {tables}, Views: {views}",
        f"Labels: {orjson.dumps(dataset.labels).decode()}",
    ]
    return "\n".join(lines)


@server.writes(destructive=True)
def bigquery_load_csv_data(
    store: GoogleCloudStore,
    dataset_id: DatasetId,
    table_id: str,
    csv_file_path: str,
    skip_header: bool = True,
    write_mode: str = "WRITE_TRUNCATE",
) -> str:
    """Load a CSV file of the workspace into a table; if a line does not fit, nothing is changed.

    Where there is no table of that name, one is made whose types follow from the values.

    Args:
        table_id: The table.
        csv_file_path: The file in the workspace.
        skip_header: Whether the first line has the names of the columns; else values are in their order.
        write_mode: WRITE_TRUNCATE replaces the rows, WRITE_APPEND adds to them, WRITE_EMPTY takes only a
            table without rows.
    """
    data = store.workspace.read(csv_file_path)
    done = store.bigquery.loading.load(
        dataset_id, table_id, [data], Format(header=skip_header), mode=write_mode, sources=[csv_file_path]
    )
    return (
        f"Successfully loaded {done.rows} rows from '{csv_file_path}' into '{dataset_id}.{table_id}'"
        f"\nJob: {done.job.id}"
    )


@server.writes(destructive=True)
def bigquery_export_table(
    store: GoogleCloudStore,
    dataset_id: DatasetId,
    table_id: str,
    destination_bucket: str,
    destination_path: str,
    file_format: str = "CSV",
) -> str:
    """Export the rows of a table as an object in a bucket, replacing one of that name.

    Args:
        table_id: The table.
        destination_bucket: The bucket.
        destination_path: Name of the object, such as exports/orders.csv.
        file_format: CSV or NEWLINE_DELIMITED_JSON.
    """
    done = store.bigquery.loading.export(
        dataset_id, table_id, destination_bucket, destination_path, file_format
    )
    return (
        f"Successfully exported table '{dataset_id}.{table_id}' to"
        f" 'gs://{destination_bucket}/{destination_path}' ({done.rows} rows)\nJob: {done.job.id}"
    )


@server.reads
def bigquery_list_jobs(
    store: GoogleCloudStore, max_results: int = 50, state_filter: str = "", page_token: PageToken = ""
) -> str:
    """List the jobs that were run (queries, loads, exports), the latest first.

    Args:
        max_results: Jobs of a page, 1 to 1000.
        state_filter: Only those that are done, running or pending; all if empty.
    """
    found, token = store.bigquery.jobs.list_jobs(state_filter, max_results, page_token)
    if not found:
        return "No BigQuery jobs found"
    return "\n".join([f"Found {len(found)} jobs:", *map(_job, found)]) + next_page(token)


@server.reads
def bigquery_cancel_job(store: GoogleCloudStore, job_id: str) -> str:
    """Ask that a job be cancelled; one that is done stays as it is.

    Args:
        job_id: The job.
    """
    job = store.bigquery.jobs.job(job_id)
    return f"Job '{job.id}' is DONE already: there is nothing to cancel, and what it did stays."


def _job(job: Job) -> str:
    what = job.statistics.get("statementType") or job.kind
    query = " ".join(str(job.configuration.get("query", {}).get("query", "")).split())
    shown = f": {query[:120]}{'...' if len(query) > 120 else ''}" if query else ""
    return f"- {job.id} ({what}, State: DONE, Created: {job.created}){shown}"


def _told(asked: Asked) -> str:
    answer = asked.answer
    if answer.dry_run:
        size = f"This query will process {answer.bytes:,} bytes when run."
        return f"Query is valid\nStatement: {answer.kind}\n{size}"
    head = ["Query executed successfully"]
    if answer.kind != "SELECT":
        done = asked.done
        return "\n".join([*head, f"Statement: {answer.kind}", *([done] if done else []), f"Job: {asked.job}"])
    head += [f"Total rows: {answer.total}", f"Bytes processed: {answer.bytes}", f"Job: {asked.job}"]
    names = [field["name"] for field in answer.fields]
    rows = [orjson.dumps(dict(zip(names, row, strict=True))).decode() for row in answer.rows]
    body = "[\n" + ",\n".join(rows) + "\n]" if rows else "[]"
    first = f" from row {asked.start + 1} on" if asked.start else ""
    told = "\n".join([*head, "", f"Results (showing {len(rows)} rows{first}):", body])
    return told + next_page(asked.next_token)
