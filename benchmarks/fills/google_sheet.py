"""A drive with one large sheet of stock, a small one with sums over it, and some others."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from fills.texts import Call, Texts
from mesocosm.servers.google_sheet.store import SheetStore
from mesocosm.servers.google_sheet.store.filling import NewSheet
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
    return _calls(book, other, many)


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
