"""Workbooks, sheets, rows and columns, looks, tables, pivots and charts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from io import BytesIO
from time import perf_counter
from typing import Any

import openpyxl
import pytest
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.formatting.rule import CellIsRule
from openpyxl.worksheet.datavalidation import DataValidation

from mesocosm.servers.excel.store import save_workbook
from mesocosm.services import apart
from mesocosm.services.calling import ToolError
from mesocosm.services.world import World
from mesocosm.worlds import deadlines


def fill(world: World) -> None:
    workbook = openpyxl.Workbook()
    sheet: Any = workbook.active
    sheet.title = "Data"
    for row in (["City", "Kind", "Amount"], ["Bern", "a", 1], ["Bern", "b", 2], ["Rome", "a", 4]):
        sheet.append(row)
    sheet["E4"] = "=SUM(C2:C4)+$C$3"
    sheet.merge_cells("G2:H3")
    sheet.row_dimensions[4].height = 40
    sheet.column_dimensions["C"].width = 30
    rule = DataValidation(type="list", formula1="$A$2:$A$4")
    rule.add("B2:B4")
    sheet.add_data_validation(rule)
    sheet.conditional_formatting.add("C2:C4", CellIsRule(operator="greaterThan", formula=["C$2"]))
    workbook.create_sheet("Other")["A1"] = "=Data!C4*2"
    sheet.print_area = "A1:C4"
    world.workspace.write("book.xlsx", save_workbook(workbook, world.now), world.now)


@pytest.fixture
def tools(open_tools: Any) -> Any:
    return open_tools(fill, "excel")


def call(tools: Any, tool: str, **arguments: Any) -> Any:
    arguments = {"filepath": "book.xlsx"} | arguments
    schema = tools.world.tool("excel", tool).signature.schema
    if "sheet_name" in schema["required"]:
        arguments.setdefault("sheet_name", "Data")
    return tools.call("excel", tool, **arguments)


def saved(tools: Any, name: str = "book.xlsx") -> Any:
    return openpyxl.load_workbook(BytesIO((tools.world.workspace.root / name).read_bytes()))


# -- workbooks and sheets


def test_a_workbook_is_created_with_one_sheet(tools: Any) -> None:
    text = call(tools, "create_workbook", filepath="new/b.xlsx")

    assert text == "Created workbook at /workspace/new/b.xlsx"
    assert saved(tools, "new/b.xlsx").sheetnames == ["Sheet1"]


def test_the_metadata_tells_sheets_ranges_and_the_worlds_time(tools: Any) -> None:
    result = call(tools, "get_workbook_metadata", include_ranges=True)

    size = (tools.world.workspace.root / "book.xlsx").stat().st_size
    assert result == {
        "filename": "book.xlsx",
        "sheets": ["Data", "Other"],
        "size": size,
        "modified": "2025-01-15T09:00:00Z",
        "used_ranges": {"Data": "A1:E4", "Other": "A1:A1"},
    }
    assert "used_ranges" not in call(tools, "get_workbook_metadata")


def test_sheets_are_created_copied_renamed_and_deleted(tools: Any) -> None:
    assert call(tools, "create_worksheet", sheet_name="New") == "Sheet New created successfully"
    call(tools, "copy_worksheet", source_sheet="Data", target_sheet="Copy")
    call(tools, "rename_worksheet", old_name="Data", new_name="My Data")
    call(tools, "delete_worksheet", sheet_name="New")

    book = saved(tools)
    assert book.sheetnames == ["My Data", "Other", "Copy"]
    assert book["Other"]["A1"].value == "='My Data'!C4*2"
    assert book["Copy"]["A2"].value == "Bern"
    call(tools, "delete_worksheet", sheet_name="My Data")
    assert saved(tools)["Other"]["A1"].value == "=#REF!*2"


# -- rows and columns


def test_a_sheet_is_renamed_to_its_own_name_in_other_capitals(tools: Any) -> None:
    assert call(tools, "rename_worksheet", old_name="Data", new_name="DATA").endswith("to 'DATA'")

    assert saved(tools).sheetnames == ["DATA", "Other"]
    assert saved(tools)["Other"]["A1"].value == "='DATA'!C4*2"


def test_what_is_bold_in_a_cell_stays_bold_when_another_is_written(tools: Any) -> None:
    workbook = openpyxl.Workbook()
    text = CellRichText("plain ", TextBlock(InlineFont(b=True), "bold"))
    workbook.worksheets[0]["A1"] = text
    world = tools.world
    world.workspace.write("rich.xlsx", save_workbook(workbook, world.now), world.now)

    call(tools, "write_data_to_excel", filepath="rich.xlsx", sheet_name="Sheet", data=[[1]], start_cell="C1")

    content = BytesIO((world.workspace.root / "rich.xlsx").read_bytes())
    assert openpyxl.load_workbook(content, rich_text=True)["Sheet"]["A1"].value == text
    arguments = {"filepath": "rich.xlsx", "sheet_name": "Sheet"}
    call(tools, "copy_range", **arguments, source_start="A1", source_end="A1", target_start="A2")
    content = BytesIO((world.workspace.root / "rich.xlsx").read_bytes())
    assert openpyxl.load_workbook(content, rich_text=True)["Sheet"]["A2"].value == text
    call(tools, "write_data_to_excel", **arguments, data=[["n"], [1]], start_cell="B1")
    call(tools, "create_table", **arguments, data_range="A1:B2")


def test_what_refers_to_cells_follows_inserted_rows(tools: Any) -> None:
    text = call(tools, "insert_rows", start_row=3, count=2)

    book = saved(tools)
    sheet = book["Data"]
    assert text == "Inserted 2 row(s) starting at row 3 in sheet 'Data'"
    assert [sheet[f"A{row}"].value for row in range(2, 7)] == ["Bern", None, None, "Bern", "Rome"]
    assert sheet["E6"].value == "=SUM(C2:C6)+$C$5"
    assert book["Other"]["A1"].value == "=Data!C6*2"
    assert str(sheet.merged_cells) == "G2:H5"
    assert sheet.print_area == "'Data'!$A$1:$C$6"
    assert sheet.row_dimensions[6].height == 40
    rule = sheet.data_validations.dataValidation[0]
    assert (str(rule.sqref), rule.formula1) == ("B2:B6", "$A$2:$A$6")
    (format_,) = sheet.conditional_formatting
    assert (str(format_.sqref), format_.rules[0].formula) == ("C2:C6", ["C$2"])


def test_what_refers_to_cells_follows_deleted_rows(tools: Any) -> None:
    call(tools, "delete_sheet_rows", start_row=2, count=2)

    book = saved(tools)
    assert book["Data"]["E2"].value == "=SUM(C2)+#REF!" or book["Data"]["E2"].value == "=SUM(C2:C2)+#REF!"
    assert book["Other"]["A1"].value == "=Data!C2*2"
    assert not book["Data"].merged_cells.ranges


def test_what_refers_to_cells_follows_inserted_and_deleted_columns(tools: Any) -> None:
    call(tools, "insert_columns", start_col=1)
    book = saved(tools)
    assert book["Data"]["F4"].value == "=SUM(D2:D4)+$D$3"
    assert book["Data"].column_dimensions["D"].width == 30
    assert str(book["Data"].merged_cells) == "H2:I3"

    call(tools, "delete_sheet_columns", start_col=4)
    book = saved(tools)
    assert book["Data"]["E4"].value == "=SUM(#REF!)+#REF!"
    assert book["Other"]["A1"].value == "=Data!#REF!*2"


def test_a_table_grows_with_rows_inserted_in_it(tools: Any) -> None:
    call(tools, "create_table", data_range="A1:C4")
    call(tools, "insert_rows", start_row=3)

    assert saved(tools)["Data"].tables["Table1"].ref == "A1:C5"
    with pytest.raises(ToolError, match="header of the table"):
        call(tools, "delete_sheet_rows", start_row=1)


# -- looks


def test_a_range_is_formatted_and_what_is_not_given_stays(tools: Any) -> None:
    call(tools, "format_range", start_cell="A1", end_cell="B1", bold=True, font_color="#ff0000", font_size=14)
    text = call(
        tools,
        "format_range",
        start_cell="A1",
        bg_color="00FF00",
        border_style="thin",
        number_format="0.00",
        alignment="center",
        wrap_text=True,
        protection={"locked": False},
    )

    cell = saved(tools)["Data"]["A1"]
    assert text == "Range formatted successfully"
    assert (cell.font.b, cell.font.sz, cell.font.color.rgb) == (True, 14, "FFFF0000")
    assert (cell.fill.fgColor.rgb, cell.border.top.style, cell.number_format) == ("FF00FF00", "thin", "0.00")
    assert (cell.alignment.horizontal, cell.alignment.wrap_text) == ("center", True)
    assert cell.protection.locked is False


@pytest.mark.parametrize(
    ("kind", "params"),
    [
        ("color_scale", {"start_color": "FF0000", "mid_color": "FFFF00", "end_color": "00FF00"}),
        ("data_bar", {"color": "638EC6", "start_type": "num", "start_value": 0}),
        ("icon_set", {"icon_style": "3Arrows", "type": "percent", "values": [0, 33, 67]}),
        ("formula", {"formula": ["A1>1"], "fill": {"fgColor": "FFC7CE"}}),
        ("cell_is", {"operator": ">", "formula": ["5"], "font": {"bold": True, "color": "FF0000"}}),
        ("cell_is", {"operator": "between", "formula": [1, 2], "border": {"style": "thin"}}),
    ],
)
def test_conditional_formats_of_every_kind_are_added(tools: Any, kind: str, params: dict[str, Any]) -> None:
    settings = {"type": kind, "params": params}

    call(tools, "format_range", start_cell="C2", end_cell="C3", conditional_format=settings)

    assert "C2:C3" in [str(entry.sqref) for entry in saved(tools)["Data"].conditional_formatting]


def test_cells_are_merged_listed_and_unmerged(tools: Any) -> None:
    assert call(tools, "merge_cells", start_cell="J1", end_cell="K2") == (
        "Range 'J1:K2' merged in sheet 'Data'"
    )
    assert call(tools, "get_merged_cells") == ["G2:H3", "J1:K2"]
    call(tools, "unmerge_cells", start_cell="G2", end_cell="H3")
    assert call(tools, "get_merged_cells") == ["J1:K2"]
    with pytest.raises(ToolError, match="K2 is inside the merged range J1:K2"):
        call(tools, "write_data_to_excel", data=[[1]], start_cell="K2")


# -- analysis


def test_a_pivot_summarises_by_rows_and_columns(tools: Any) -> None:
    fields = {"data_range": "A1:C4", "rows": ["City"], "values": ["Amount"], "columns": ["Kind"]}

    text = call(tools, "create_pivot_table", **fields, agg_func="sum")

    assert text == "Summary table created successfully in sheet 'Data_pivot'"
    assert list(saved(tools)["Data_pivot"].values) == [
        ("City", "a - Amount (sum)", "b - Amount (sum)"),
        ("Bern", 1, 2),
        ("Rome", 4, 0),
    ]


def test_a_pivot_takes_the_mean_if_not_told_otherwise_and_replaces_an_earlier_one(tools: Any) -> None:
    for rows in (["Kind"], ["City"]):
        call(tools, "create_pivot_table", data_range="A1:C4", rows=rows, values=["amount"])

    rows = list(saved(tools)["Data_pivot"].values)
    assert rows == [("City", "Amount (mean)"), ("Bern", 1.5), ("Rome", 4)]


def test_a_table_gets_a_free_name(tools: Any) -> None:
    assert call(tools, "create_table", data_range="A1:B4") == (
        "Successfully created table 'Table1' in sheet 'Data'."
    )
    assert saved(tools)["Data"].tables["Table1"].ref == "A1:B4"


@pytest.mark.parametrize("kind", ["line", "bar", "pie", "scatter", "area"])
def test_charts_of_every_kind_are_drawn(tools: Any, kind: str) -> None:
    text = call(
        tools,
        "create_chart",
        sheet_name="Other",
        data_range="Data!A1:C4",
        chart_type=kind,
        target_cell="AB7",
        title="T",
    )

    assert text == f"{kind.capitalize()} chart created successfully"
    (chart,) = saved(tools)["Other"]._charts
    assert (chart.anchor._from.col, chart.anchor._from.row) == (27, 6)
    series = chart.series[0]
    assert (series.yVal if kind == "scatter" else series.val).numRef.f == "'Data'!$B$2:$B$4"


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("create_workbook", {"filepath": "book.xlsx"}, "already exists"),
        ("create_workbook", {"filepath": "new.csv"}, "must end with .xlsx"),
        ("create_workbook", {"filepath": "/tmp/new.xlsx"}, "outside the workspace"),
        ("create_worksheet", {"sheet_name": "data"}, "already exists"),
        ("create_worksheet", {"sheet_name": "x" * 32}, "1 to 31 characters"),
        ("get_workbook_metadata", {"filepath": "no.xlsx"}, "No such file"),
        ("copy_worksheet", {"source_sheet": "No", "target_sheet": "X"}, "not found"),
        ("copy_worksheet", {"source_sheet": "Data", "target_sheet": "Other"}, "already exists"),
        ("delete_worksheet", {"sheet_name": "No"}, "not found"),
        ("rename_worksheet", {"old_name": "Data", "new_name": "OTHER"}, "already exists"),
        ("insert_rows", {"start_row": 0}, "Start row must be 1 or greater"),
        ("insert_rows", {"start_row": 1, "count": 0}, "Count must be 1 or greater"),
        ("insert_rows", {"start_row": 2, "count": 1_048_576}, "off the sheet"),
        ("insert_columns", {"start_col": -1}, "Start column must be 1 or greater"),
        ("insert_columns", {"start_col": 10**15}, "at most 16,384"),
        ("delete_sheet_rows", {"start_row": 99}, "exceeds worksheet bounds"),
        ("delete_sheet_columns", {"start_col": 99}, "exceeds worksheet bounds"),
        ("format_range", {"start_cell": "A1", "font_color": "red"}, "Invalid font color"),
        ("format_range", {"start_cell": "A1", "font_size": 0}, "between 1 and 409"),
        ("format_range", {"start_cell": "A1", "border_style": "wavy"}, "border_style must be one of"),
        ("format_range", {"start_cell": "A1", "alignment": "up"}, "alignment must be one of"),
        ("format_range", {"start_cell": "A1", "protection": {"x": 1}}, "locked and hidden"),
        ("format_range", {"start_cell": "A1", "end_cell": "XFD1048576", "bold": True}, "may touch"),
        ("format_range", {"start_cell": "A1", "conditional_format": {"type": "x"}}, "needs a type"),
        (
            "format_range",
            {"start_cell": "A1", "conditional_format": {"type": "cell_is", "params": {"operator": {}}}},
            "params.operator' must be string",
        ),
        ("merge_cells", {"start_cell": "H1", "end_cell": "I2"}, "overlaps the merged range G2:H3"),
        ("merge_cells", {"start_cell": "A1", "end_cell": "A1"}, "single cell"),
        ("unmerge_cells", {"start_cell": "G2", "end_cell": "H2"}, "is not merged"),
        ("get_merged_cells", {"page": 0}, "page must be between"),
        (
            "create_pivot_table",
            {"data_range": "A1:C4", "rows": ["Town"], "values": ["Amount"]},
            "Invalid row field 'Town'. Available fields: City, Kind, Amount",
        ),
        (
            "create_pivot_table",
            {"data_range": "A1:C4", "rows": ["City"], "values": ["Amount"], "agg_func": "mode"},
            "Invalid aggregation function",
        ),
        ("create_pivot_table", {"data_range": "A1", "rows": ["City"], "values": ["Amount"]}, "'A1:B2'"),
        ("create_table", {"data_range": "A1:D4"}, "D1 must hold the text of a header"),
        ("create_table", {"data_range": "A1:C4", "table_name": "A1"}, "Invalid table name"),
        ("create_table", {"data_range": "A1:C4", "table_style": "Pretty"}, "Unknown table style"),
        (
            "create_chart",
            {"data_range": "A1:C4", "chart_type": "donut", "target_cell": "E1"},
            "Unsupported chart type",
        ),
        (
            "create_chart",
            {"data_range": "A1:C4", "chart_type": "bar", "target_cell": "?"},
            "Invalid target cell",
        ),
    ],
)
def test_bad_arguments_are_refused_and_leave_no_trace(
    tools: Any, tool: str, arguments: dict[str, Any], message: str
) -> None:
    before = {name: path.read_bytes() for name, path in tools.world.workspace.files()}

    with pytest.raises(ToolError, match=message):
        call(tools, tool, **arguments)

    assert {name: path.read_bytes() for name, path in tools.world.workspace.files()} == before


def test_lines_are_inserted_into_a_sheet_whose_cells_lie_far_apart(tools: Any) -> None:
    call(tools, "write_data_to_excel", data=[["far"]], start_cell="XFC1048575")
    call(tools, "insert_rows", start_row=3)
    call(tools, "insert_columns", start_col=1)
    sheet = saved(tools)["Data"]
    assert sheet["XFD1048576"].value == "far"
    assert sheet["B1"].value is not None


def test_a_workbook_that_takes_too_long_to_change_is_left_as_it_was(
    make_world: Callable[..., World], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Time passes with every look at the clock, so that the call is given up at many places.
    clock = itertools.count(perf_counter() + 1)
    monkeypatch.setattr(deadlines, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(apart, "_HERE", math.inf)
    world = make_world(fill, "excel")
    path = world.workspace.root / "book.xlsx"
    before, given_up = path.read_bytes(), 0
    rows = [[f"{row} {column}" for column in range(5)] for row in range(40)]
    change = {"filepath": "book.xlsx", "sheet_name": "Sheet", "data": rows}
    for looks in range(1, 2000, 5):
        monkeypatch.setenv("MESOCOSM_CALL_TIMEOUT", str(looks))
        outcome = world.call("excel", "write_data_to_excel", change)
        if "longer than" not in outcome.text:
            break
        given_up += 1
        assert path.read_bytes() == before
    assert outcome.status == "ok", outcome.text
    assert path.read_bytes() != before
    # Each row is a place where the time may be up, when it is put in and when it is saved.
    assert given_up > 2 * len(rows) / 5
