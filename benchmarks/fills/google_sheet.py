"""A drive with one large sheet of stock, a small one with sums over it, and some others."""

from __future__ import annotations

import json
from datetime import date, timedelta
from typing import Any

from fills.texts import Call, Texts
from mesocosm.servers.google_sheet.store import SheetStore
from mesocosm.servers.google_sheet.store.bulk import NewSheet
from mesocosm.services.world import World

ME = "ada@example.org"
_PER_ROW = 25
_HEAD = ["Item", "Region", "Units", "Price", "Total", "Since", "Note"]
_REGIONS = ("North", "East", "South", "West")


def fill(world: World, texts: Texts, size: int) -> list[Call]:
    """The spreadsheets."""
    store, many = world.store(SheetStore), size // _PER_ROW
    store.drive.create_account(ME, "Ada")
    store.drive.create_account("bob@example.org", "Bob")
    store.drive.sign_in(ME)
    lines: list[list[Any]] = [_HEAD, *(_line(texts, number) for number in range(many))]
    sums = [
        [region, f"=SUMIF(Stock!B2:B{many + 1},A{n},Stock!E2:E{many + 1})"]
        for n, region in enumerate(_REGIONS, 1)
    ]
    sums += [["All", "=SUM(B1:B4)"], ["Regions", "=UNIQUE(Stock!B2:B6)"]]
    stock = NewSheet("Stock", lines, {3: ("CURRENCY", "$#,##0.00")})
    book = store.filling.spreadsheet("Stock 2025", [stock, NewSheet("Sums", sums)]).id
    team = store.drive.create("folder", "Team").id
    other = store.filling.spreadsheet("Plan", [NewSheet("Sheet1", [["x", 1], ["y", "=B1*2"]])], team).id
    remark = store.comments.add(other, "Is this right?")
    store.comments.reply(other, str(remark.id), "Yes.")
    return _calls(book, other, many)


def requests(world: World) -> list[Call]:
    """Requests to the vendor's API that are known to be answered: routes, and what is said to them."""
    listed = json.loads(world.call("google_sheet", "list_spreadsheets", {}).text)
    books = listed if isinstance(listed, list) else listed["spreadsheets"]
    book = next(one["id"] for one in books if one["title"] == "Plan")
    file, sheet = {"fileId": book}, {"spreadsheetId": book}
    values, entered = "/v4/spreadsheets/{spreadsheetId}/values", {"valueInputOption": "USER_ENTERED"}
    drive, cells = "/drive/v3/files/{fileId}", {"values": [["a", 1], ["=B1", True]]}
    told = world.store(SheetStore).comments.all(book)[0]
    first, answer = str(told.id), str(told.replies[0].id)
    comment, remark = {**file, "content": "Why?"}, {"commentId": first}
    batch = "POST /v4/spreadsheets/{spreadsheetId}:batchUpdate"
    area = {"sheetId": 0, "startRowIndex": 0, "endRowIndex": 2, "startColumnIndex": 0, "endColumnIndex": 2}
    edits: list[dict[str, Any]] = [
        {"repeatCell": {"range": area, "cell": {"userEnteredFormat": {"textFormat": {"bold": True}}},
                        "fields": "userEnteredFormat.textFormat.bold"}},
        {"addSheet": {"properties": {"title": "Fresh"}}},
        {"sortRange": {"range": area, "sortSpecs": [{"dimensionIndex": 0, "sortOrder": "ASCENDING"}]}},
        {"mergeCells": {"range": area, "mergeType": "MERGE_ALL"}},
        {"insertDimension": {"range": {"sheetId": 0, "dimension": "ROWS", "startIndex": 1, "endIndex": 3}}},
        {"findReplace": {"find": "x", "replacement": "y", "allSheets": True}},
        {"updateCells": {"rows": [{"values": [{"userEnteredValue": {"numberValue": 3}}]}], "range": area,
                         "fields": "userEnteredValue"}},
        {"updateSheetProperties": {"properties": {"sheetId": 0, "title": "Sheet1"}, "fields": "title"}},
        {"addNamedRange": {"namedRange": {"name": "here", "range": area}}},
        {"copyPaste": {"source": area, "destination": {**area, "startColumnIndex": 3, "endColumnIndex": 5}}},
    ]  # fmt: skip
    return [
        ("POST " + drive + "/comments", comment),
        ("GET " + drive + "/comments", file),
        *((f"{method} {drive}/comments/{{commentId}}", {**file, **remark, **said})
          for method, said in (("GET", {}), ("PATCH", {"content": "So."}))),
        ("POST " + drive + "/comments/{commentId}/replies", {**comment, **remark}),
        ("GET " + drive + "/comments/{commentId}/replies", {**file, **remark}),
        *((f"{method} {drive}/comments/{{commentId}}/replies/{{replyId}}",
           {**file, **remark, "replyId": answer, **said})
          for method, said in (("GET", {}), ("PATCH", {"content": "So."}))),
        ("POST " + drive + "/permissions",
         {**file, "role": "reader", "type": "user", "emailAddress": "bob@example.org"}),
        ("GET " + drive + "/permissions", file),
        ("GET " + drive + "/export", {**file, "mimeType": "text/csv"}),
        ("POST " + drive + "/copy", {**file, "name": "Other"}),
        ("PATCH " + drive, {**file, "name": "Plan B"}),
        ("POST /drive/v3/files", {"name": "x", "mimeType": "application/vnd.google-apps.spreadsheet"}),
        ("POST /v4/spreadsheets", {"properties": {"title": "y"}}),
        *((batch, {**sheet, "requests": [one]}) for one in edits),
        (batch, {**sheet, "requests": edits[:1] + edits[4:6]}),
        ("POST /v4/spreadsheets/{spreadsheetId}/sheets/{sheetId}:copyTo",
         {**sheet, "sheetId": 0, "destinationSpreadsheetId": book}),
        (f"PUT {values}/{{range}}", {**sheet, **entered, **cells, "range": "Sheet1!A1:B2"}),
        (f"POST {values}/{{range}}:append", {**sheet, **entered, **cells, "range": "Sheet1!A1"}),
        (f"POST {values}:batchUpdate", {**sheet, **entered, "data": [{"range": "Sheet1!C1:D2", **cells}]}),
        (f"POST {values}:batchClear", {**sheet, "ranges": ["Sheet1!G1:H2"]}),
        (f"GET {values}:batchGet", {**sheet, "ranges": "Sheet1!A1:C4"}),
    ]  # fmt: skip


def _line(texts: Texts, number: int) -> list[Any]:
    row = number + 2
    price = 1 + number % 90 / 4
    # A formula in one of ten lines: a sheet of figures with some sums.
    total = f"=C{row}*D{row}" if number % 10 == 0 else number % 50 * price
    day = date(2024, 1, 1) + timedelta(number % 365)
    return [
        f"Item {number}",
        _REGIONS[number % 4],
        number % 50,
        price,
        total,
        day,
        texts.title() if number % 3 == 0 else None,
    ]


def _calls(book: str, other: str, many: int) -> list[Call]:
    last = many + 1
    stock = {"spreadsheet_id": book, "sheet": "Stock"}
    plan = {"spreadsheet_id": other, "sheet": "Sheet1"}
    return [
        ("list_spreadsheets", {}),
        ("list_sheets", {"spreadsheet_id": book}),
        ("get_sheet_data", stock),
        ("get_sheet_data", {**stock, "range": "A1:G50"}),
        ("get_sheet_data", {**stock, "range": f"A{last - 49}:G{last}"}),
        ("get_sheet_data", {**stock, "range": "B2:D9", "include_grid_data": True}),
        ("get_sheet_formulas", {**stock, "range": "E1:E100"}),
        ("get_multiple_sheet_data", {"queries": [{**stock, "range": "A2:B3"}, {**plan, "range": "A1:B2"}]}),
        ("get_multiple_spreadsheet_summary", {"spreadsheet_ids": [book, other]}),
        ("update_cells", {**plan, "range": "A1:B1", "data": [["z", "=B2"]]}),
        ("batch_update_cells", {**plan, "ranges": {"C1": [["=SUM(B1:B2)"]], "D1:D2": [[1], ["2025-03-01"]]}}),
        ("add_rows", {**plan, "count": 2, "start_row": 1}),
        ("add_columns", {**plan, "count": 1}),
        ("create_sheet", {"spreadsheet_id": other, "title": "More"}),
        (
            "copy_sheet",
            {"src_spreadsheet": other, "src_sheet": "Sheet1", "dst_spreadsheet": other, "dst_sheet": "Again"},
        ),
        ("rename_sheet", {"spreadsheet": other, "sheet": "Again", "new_name": "Once more"}),
        (
            "share_spreadsheet",
            {"spreadsheet_id": other, "recipients": [{"email_address": "bob@example.org", "role": "reader"}]},
        ),
        ("create_spreadsheet", {"title": "Mine"}),
    ]
