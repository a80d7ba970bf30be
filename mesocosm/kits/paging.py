"""Reading services from the first page to the last, as surveys and reference solvers do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import orjson

from mesocosm.services.calling import Tools, decode
from mesocosm.services.service import Image

SURVEYED = ("INBOX", "Archive", "Spam", "Sent", "Trash")
"""Folders that a survey of a whole mailbox reads."""


def found(pattern: str, text: str) -> str:
    """The first group of a pattern that a text, its white space made single blanks, must match somewhere."""
    match = re.search(pattern, " ".join(text.split()))
    assert match, f"no {pattern!r}"
    return match[1]


# -- email ----------------------------------------------------------------------------------------------


def mail_folders(tools: Tools) -> list[str]:
    return re.findall(r"^\s*\d+\. (.+?) \(", tools.call("email", "get_folders"), re.MULTILINE)


def listed_mails(tools: Tools, *folders: str, page_size: int = 100) -> Iterator[dict[str, Any]]:
    """The entries of mails as these folders (default: the inbox) list them."""
    for folder in folders or ("INBOX",):
        page, pages = 1, 1
        while page <= pages:
            listed = tools.call("email", "get_emails", folder=folder, page=page, page_size=page_size)
            pages = listed["total_pages"]
            yield from listed["emails"]
            page += 1


def mails(tools: Tools, *folders: str, page_size: int = 100) -> Iterator[dict[str, Any]]:
    """The mails of these folders (default: the inbox), each read."""
    for entry in listed_mails(tools, *folders, page_size=page_size):
        yield tools.call("email", "read_email", email_id=entry["id"])


def mails_in_order(tools: Tools, *folders: str) -> list[dict[str, Any]]:
    """The mails of these folders, each read, oldest first."""
    return sorted(mails(tools, *folders), key=lambda mail: (mail["date"], int(mail["id"])))


# -- calendar -------------------------------------------------------------------------------------------


def events(tools: Tools, **window: Any) -> Iterator[dict[str, Any]]:
    """The events that ``list_events`` gives for these arguments, over all its pages."""
    token: str | None = ""
    while token is not None:
        page = tools.call("calendar", "list_events", **window, **({"pageToken": token} if token else {}))
        yield from page["items"]
        token = page.get("nextPageToken")


# -- excel ----------------------------------------------------------------------------------------------


def sheet_cells(tools: Tools, filepath: str, sheet: str, start: str = "A1") -> Iterator[dict[str, Any]]:
    cell: str | None = start
    while cell:
        read = tools.call(
            "excel", "read_data_from_excel", filepath=filepath, sheet_name=sheet, start_cell=cell
        )
        yield from read["cells"]
        cell = read.get("next_start_cell")


def sheet_rows(tools: Tools, filepath: str, sheet: str, start: str = "A1") -> list[list[Any]]:
    """The rows of a sheet from one cell on, all as long as the longest; ``None`` stands for an empty cell."""
    rows: dict[int, dict[int, Any]] = {}
    for cell in sheet_cells(tools, filepath, sheet, start):
        rows.setdefault(cell["row"], {})[cell["column"]] = cell["value"]
    width = max((max(row) for row in rows.values()), default=0)
    return [[rows[number].get(column) for column in range(1, width + 1)] for number in sorted(rows)]


# -- google_sheet ---------------------------------------------------------------------------------------


def spreadsheet(tools: Tools, title: str) -> str:
    return next(
        str(one["id"]) for one in tools.call("google_sheet", "list_spreadsheets") if one["title"] == title
    )


def spreadsheet_rows(tools: Tools, book: str, sheet: str) -> Iterator[dict[str, str]]:
    """Yield the rows of a sheet as mappings by its first row."""
    head: list[str] = []
    asked: dict[str, str] = {}
    while True:
        read = tools.call("google_sheet", "get_sheet_data", spreadsheet_id=book, sheet=sheet, **asked)
        for line in read["valueRanges"][0]["values"]:
            if head:
                yield dict(zip(head, [*line, *[""] * (len(head) - len(line))], strict=True))
            else:
                head = line
        if "nextRange" not in read:
            return
        asked = {"range": read["nextRange"]}


# -- documents ------------------------------------------------------------------------------------------


def listed_documents(tools: Tools) -> Iterator[dict[str, Any]]:
    """The entries of all documents, the latest first."""
    page: int | None = 1
    while page:
        listed = tools.call("documents", "list_recent_documents", page=page, per_page=100)
        yield from listed["documents"]
        page = listed["next_page"]


# -- filesystem -----------------------------------------------------------------------------------------


def folder_texts(tools: Tools, folder: str) -> Iterator[str]:
    """The texts of the files in a folder of the workspace, by their names."""
    names: set[str] = set()
    page, more = 1, True
    while more:
        listed = tools.call("filesystem", "list_directory_with_sizes", path=folder, page=page)
        names |= set(re.findall(r"^\[FILE\] (\S+)", listed, re.MULTILINE))
        page += 1
        more = f"the next are on page {page}" in listed
    for name in sorted(names):
        yield str(tools.call("filesystem", "read_text_file", path=f"{folder}/{name}"))


# -- google_cloud ---------------------------------------------------------------------------------------


def query_rows(tools: Tools, query: str) -> Iterator[dict[str, Any]]:
    """The rows that a query of BigQuery gives, over all its pages."""
    token = ""
    while True:
        asked = {"query": query, "max_results": 5000, "page_token": token}
        text = str(tools.call("google_cloud", "bigquery_run_query", **asked))
        yield from (orjson.loads(row) for row in re.findall(r"^\{.*\}", text, re.MULTILINE))
        more = re.search(r'page_token="([^"]+)"', text[-300:])
        if more is None:
            return
        token = more[1]


def read_whole(tools: Tools, file_id: str) -> str:
    """The text of a document; where it is long, in stretches of whole lines, so that no identifier is cut."""
    return read_pictured(tools, file_id)[0]


def read_pictured(tools: Tools, file_id: str) -> tuple[str, Image | None]:
    """The text of a document in the same way, and its image if it has one."""
    stretches: list[str] = []
    image: Image | None = None
    offset: int | None = 0
    while offset is not None:
        arguments = {"file_id": file_id, "offset": offset, "unit": "lines"}
        blocks = tools.look("documents", "read_document", arguments)
        texts = [block for block in blocks if isinstance(block, str)]
        image = next((block for block in blocks if isinstance(block, Image)), None)
        stretches.append(texts[0])
        offset = decode(texts[1])["next_offset"] if len(texts) > 1 else None
    return "\n".join(stretches), image
