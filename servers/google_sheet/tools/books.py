"""Tools for spreadsheets and the sheets in them."""

from __future__ import annotations

from typing import Literal, TypedDict

from mesocosm.errors import Invalid, Refusal
from mesocosm.servers.google_sheet.store import SheetStore
from mesocosm.servers.google_sheet.store.ranges import Area
from mesocosm.servers.google_sheet.tools.service import SheetTitle, SpreadsheetId, server
from mesocosm.services.schema import Json

MAX_LISTED = 1_000
MAX_SUMMARIES = 20
MAX_SUMMARY_ROWS = 100
MAX_SUMMARY_COLUMNS = 100
MAX_SUMMARY_SHEETS = 50
MAX_RECIPIENTS = 100


class Recipient(TypedDict):
    """Somebody whom a spreadsheet is shared with."""

    email_address: str
    role: Literal["reader", "commenter", "writer"]


@server.reads
def list_spreadsheets(store: SheetStore) -> list[Json]:
    """List the spreadsheets that you own or that are shared with you, the last changed first.

    At most 1000 are shown.
    """
    found = []
    for file in store.drive.visible():
        if file.kind == "spreadsheet" and not file.trashed:
            found.append({"id": file.id, "title": file.name})
            if len(found) == MAX_LISTED:
                break
    return found


@server.writes
def create_spreadsheet(store: SheetStore, title: str) -> Json:
    """Create a spreadsheet with one empty sheet, named Sheet1.

    Args:
        title: The title of the spreadsheet.
    """
    book = store.sheets.create(title)
    return {"spreadsheetId": book.id, "title": book.file.name, "folder": "root"}


@server.reads
def list_sheets(store: SheetStore, spreadsheet_id: SpreadsheetId) -> list[str]:
    """List the titles of the sheets of a spreadsheet, in their order."""
    return [sheet.title for sheet in store.sheets.all(store.sheets.book(spreadsheet_id))]


@server.writes
def create_sheet(store: SheetStore, spreadsheet_id: SpreadsheetId, title: str) -> Json:
    """Add an empty sheet behind the others.

    Args:
        title: The title of the sheet, which no other sheet of the spreadsheet may have.
    """
    book = store.sheets.book(spreadsheet_id, "writer")
    (reply,) = store.batches.apply(book, [{"addSheet": {"properties": {"title": title}}}])
    made = reply["addSheet"]["properties"]
    return {name: made[name] for name in ("sheetId", "title", "index")} | {"spreadsheetId": book.id}


@server.writes
def copy_sheet(
    store: SheetStore, src_spreadsheet: str, src_sheet: str, dst_spreadsheet: str, dst_sheet: str
) -> Json:
    """Copy a sheet with its values, formulas and formats into the same or another spreadsheet.

    Args:
        src_spreadsheet: The id of the spreadsheet to copy from.
        src_sheet: The title of the sheet to copy.
        dst_spreadsheet: The id of the spreadsheet to copy to.
        dst_sheet: The title of the copy.
    """
    source, target = store.sheets.book(src_spreadsheet), store.sheets.book(dst_spreadsheet, "writer")
    made = store.sheets.copy(source, store.sheets.titled(source, src_sheet), target, dst_sheet)
    store.computing.restart(target, ["copy", source.id, source.state, src_sheet, dst_sheet])
    store.drive.touch(target.number)
    return {"sheetId": made.sheet_id, "title": made.title}


@server.writes(idempotent=True)
def rename_sheet(store: SheetStore, spreadsheet: str, sheet: SheetTitle, new_name: str) -> Json:
    """Give a sheet another title; formulas that name it follow.

    Args:
        spreadsheet: The id of the spreadsheet.
        new_name: The new title, which no other sheet of the spreadsheet may have.
    """
    book = store.sheets.book(spreadsheet, "writer")
    grid = store.sheets.titled(book, sheet)
    properties = {"sheetId": grid.sheet_id, "title": new_name}
    request = {"updateSheetProperties": {"properties": properties, "fields": "title"}}
    store.batches.apply(book, [request])
    return {"spreadsheetId": book.id, "replies": [request]}


@server.reads
def get_multiple_spreadsheet_summary(
    store: SheetStore, spreadsheet_ids: list[str], rows_to_fetch: int = 5
) -> list[Json]:
    """Look at several spreadsheets: their sheets, each with its headers and first rows.

    What is wrong with one of them is told in its place and does not hold up the others.

    Args:
        spreadsheet_ids: Up to 20 ids of spreadsheets.
        rows_to_fetch: How many rows of each sheet, the headers included; at most 100.
    """
    if len(spreadsheet_ids) > MAX_SUMMARIES:
        raise Invalid(f"At most {MAX_SUMMARIES} spreadsheets at once.", code="INVALID_ARGUMENT")
    if not 1 <= rows_to_fetch <= MAX_SUMMARY_ROWS:
        raise Invalid(
            f"Argument 'rows_to_fetch' must be from 1 to {MAX_SUMMARY_ROWS}, got {rows_to_fetch}.",
            code="INVALID_ARGUMENT",
        )
    return [_summary(store, one, rows_to_fetch) for one in spreadsheet_ids]


def _summary(store: SheetStore, spreadsheet_id: str, rows: int) -> Json:
    try:
        book = store.sheets.book(spreadsheet_id)
    except Refusal as refusal:
        return {"spreadsheet_id": spreadsheet_id, "title": None, "sheets": [], "error": refusal.message}
    sheets = []
    for sheet in store.sheets.all(book)[:MAX_SUMMARY_SHEETS]:
        lines = store.values.grid(sheet, Area(0, 0, rows, MAX_SUMMARY_COLUMNS))
        sheets.append(
            {"title": sheet.title, "sheet_id": sheet.sheet_id, "headers": lines[0] if lines else [],
             "first_rows": lines[1:], "error": None}
        )  # fmt: skip
    return {"spreadsheet_id": book.id, "title": book.file.name, "sheets": sheets, "error": None}


@server.writes(idempotent=True)
def share_spreadsheet(
    store: SheetStore,
    spreadsheet_id: SpreadsheetId,
    recipients: list[Recipient],
    send_notification: bool = True,
) -> Json:
    """Share a spreadsheet with people; who has a role already gets the new one.

    An address that is none is told among the failures; the others are shared with.

    Args:
        recipients: Whom to share with, each with email_address and role (reader, commenter or writer).
        send_notification: Whether the people are told by mail; no mail leaves this server.
    """
    if len(recipients) > MAX_RECIPIENTS:
        raise Invalid(f"At most {MAX_RECIPIENTS} recipients at once.", code="INVALID_ARGUMENT")
    file = store.sheets.book(spreadsheet_id, "writer").file
    successes, failures = [], []
    for one in recipients:
        try:
            granted = store.drive.share(file.id, "user", one["email_address"], one["role"])
        except Refusal as refusal:
            failures.append({"email_address": one["email_address"], "error": refusal.message})
            continue
        successes.append({"email_address": granted.value, "role": granted.role, "permissionId": granted.id})
    return {"successes": successes, "failures": failures}
