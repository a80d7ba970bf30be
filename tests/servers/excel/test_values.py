"""Values, formulas and ranges of workbooks."""

from __future__ import annotations

import zipfile
from datetime import datetime
from io import BytesIO
from typing import Any

import openpyxl
import pytest
from openpyxl.worksheet.datavalidation import DataValidation

from mesocosm.servers.excel.store import save_workbook
from mesocosm.services.calling import ToolError
from mesocosm.services.world import World

# Spreadsheets know no time zones.
TIME = datetime(2025, 3, 1, 12, 30)  # noqa: DTZ001


def fill(world: World) -> None:
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    assert sheet is not None
    sheet.title = "Data"
    for row in (["City", "Kind", "Amount"], ["Bern", "a", 1], ["Bern", "b", 2.5], ["Rome", "a", True]):
        sheet.append(row)
    sheet["E1"] = "=SUM(C2:C4)"
    sheet["E2"] = TIME
    rule = DataValidation(type="list", formula1='"a,b"', allow_blank=True)
    rule.add("B2:B4")
    other = DataValidation(type="list", formula1="$A$2:$A$4")
    other.add("D2")
    sheet.add_data_validation(rule)
    sheet.add_data_validation(other)
    workbook.create_sheet("Empty")
    world.workspace.write("book.xlsx", save_workbook(workbook, world.now), world.now)


@pytest.fixture
def tools(open_tools: Any) -> Any:
    return open_tools(fill, "excel")


def call(tools: Any, tool: str, **arguments: Any) -> Any:
    return tools.call("excel", tool, **{"filepath": "book.xlsx", "sheet_name": "Data"} | arguments)


def saved(tools: Any, name: str = "book.xlsx") -> Any:
    return openpyxl.load_workbook(BytesIO((tools.world.workspace.root / name).read_bytes()))


def values(result: dict[str, Any]) -> dict[str, Any]:
    return {cell["address"]: cell["value"] for cell in result["cells"]}


def test_cells_are_read_with_addresses_and_rules_and_without_empty_ones(tools: Any) -> None:
    result = call(tools, "read_data_from_excel")

    assert (result["range"], result["sheet_name"]) == ("A1:E4", "Data")
    assert result["cells"][0] == {"address": "A1", "value": "City", "row": 1, "column": 1}
    assert values(result)["E1"] == "=SUM(C2:C4)"
    assert values(result)["E2"] == "2025-03-01 12:30:00"
    assert values(result)["C4"] is True
    kind = next(cell for cell in result["cells"] if cell["address"] == "B2")
    assert kind["validation"] == {"has_validation": True, "rule": 0}
    assert result["validation_rules"][0] == {
        "ranges": "B2:B4",
        "validation_type": "list",
        "allow_blank": True,
        "allowed_values": ["a", "b"],
    }


@pytest.mark.parametrize(
    ("part", "addresses"),
    [
        ({"start_cell": "B2", "end_cell": "C3"}, "B2 C2 B3 C3"),
        ({"start_cell": "B2:C2"}, "B2 C2"),
        ({"start_cell": "C4"}, "C4"),
        ({"start_cell": "$a$4", "end_cell": "B9"}, "A4 B4"),
    ],
)
def test_a_range_is_read_alone(tools: Any, part: dict[str, str], addresses: str) -> None:
    assert " ".join(values(call(tools, "read_data_from_excel", **part))) == addresses


@pytest.mark.parametrize("part", [{"sheet_name": "Empty"}, {"start_cell": "Z99"}, {"start_cell": "D3:D4"}])
def test_a_range_without_data_says_so(tools: Any, part: dict[str, str]) -> None:
    assert call(tools, "read_data_from_excel", **part) == "No data found in specified range"


def test_a_large_range_comes_in_pages_that_miss_nothing(tools: Any) -> None:
    rows = [[f"{row}/{column}" for column in range(7)] for row in range(1_000)]
    call(tools, "write_data_to_excel", sheet_name="Big", data=rows, start_cell="B2")

    found: dict[str, Any] = {}
    start, pages = "A1", 0
    while start:
        page = call(tools, "read_data_from_excel", sheet_name="Big", start_cell=start)
        assert len(page["cells"]) <= 2_000
        found |= values(page)
        start, pages = page.get("next_start_cell"), pages + 1

    assert len(found) == 7_000
    assert found["H1001"] == "999/6"
    assert pages >= 4


def test_a_preview_ends_after_ten_rows(tools: Any) -> None:
    call(tools, "write_data_to_excel", sheet_name="Big", data=[[n] for n in range(30)])

    page = call(tools, "read_data_from_excel", sheet_name="Big", preview_only=True)

    assert (page["range"], page["next_start_cell"], len(page["cells"])) == ("A1:A10", "A11", 10)


def test_a_row_wider_than_a_result_is_refused_with_advice(tools: Any) -> None:
    call(tools, "write_data_to_excel", sheet_name="Wide", data=[list(range(3_000))])

    with pytest.raises(ToolError, match="Narrow the range, for example with end_cell"):
        call(tools, "read_data_from_excel", sheet_name="Wide")


def test_values_that_the_file_has_for_formulas_are_shown(tools: Any) -> None:
    data = (tools.world.workspace.root / "book.xlsx").read_bytes()
    cached = data.replace(b"<f>SUM(C2:C4)</f><v />", b"<f>SUM(C2:C4)</f><v>3</v>")
    assert cached != data
    tools.world.workspace.write("cached.xlsx", _repacked(cached))

    page = call(tools, "read_data_from_excel", filepath="cached.xlsx", start_cell="E1:E1")

    assert page["cells"] == [
        {"address": "E1", "value": "=SUM(C2:C4)", "row": 1, "column": 5, "computed_value": 3}
    ]


def _repacked(data: bytes) -> bytes:
    """The stored parts as a new archive, since a changed part no longer has the size that is written."""
    start = data.index(b"<worksheet")
    end = data.index(b"</worksheet>") + len(b"</worksheet>")
    workbook = openpyxl.Workbook()
    assert workbook.active is not None
    workbook.active.title = "Data"
    target = BytesIO()
    source = zipfile.ZipFile(BytesIO(save_workbook(workbook, datetime(2025, 1, 1).astimezone())))
    with zipfile.ZipFile(target, "w") as archive:
        for name in source.namelist():
            sheet = name == "xl/worksheets/sheet1.xml"
            archive.writestr(name, data[start:end] if sheet else source.read(name))
    return target.getvalue()


def test_values_are_written_and_a_missing_sheet_is_made(tools: Any) -> None:
    data = [["x", 1, 2.5], [None, True, "=A1"]]

    assert call(tools, "write_data_to_excel", sheet_name="New", data=data) == "Data written to New"
    call(tools, "write_data_to_excel", data=[[None]], start_cell="C2")

    assert list(saved(tools)["New"].values) == [("x", 1, 2.5), (None, True, "=A1")]
    assert saved(tools)["Data"]["C2"].value is None


def test_a_formula_is_applied_after_its_syntax_was_checked(tools: Any) -> None:
    text = call(tools, "apply_formula", cell="F1", formula='IF(C2>1,"a",-C3%)')

    assert text == "Applied formula '=IF(C2>1,\"a\",-C3%)' to cell F1"
    assert saved(tools)["Data"]["F1"].value == '=IF(C2>1,"a",-C3%)'


@pytest.mark.parametrize(
    ("cell", "formula", "answer"),
    [
        ("A1", "=1+1", "Formula is valid but cell contains no formula"),
        ("E1", "=SUM(C2:C4)", "Formula is valid and matches cell content"),
        ("E1", "=SUM(C2:C3)", "Formula is valid but doesn't match cell content"),
        ("A1", "=Table1[Amount]*{1,2;3,4}", "Formula is valid but cell contains no formula"),
        ("A1", "='My Sheet'!A1 & \"[x|y]\"", "Formula is valid but cell contains no formula"),
    ],
)
def test_formulas_are_compared_with_the_cell(tools: Any, cell: str, formula: str, answer: str) -> None:
    assert call(tools, "validate_formula_syntax", cell=cell, formula=formula) == answer


@pytest.mark.parametrize(
    "formula",
    [
        "=SUM(A1",
        "=1+",
        "=A1)",
        "=",
        "A1",
        "=1 2",
        "=(1}",
        '="a',
        "=*2",
        "=[1]Sheet1!A1",
        "='[other.xlsx]S'!A1",
        "='C:\\x\\[o.xlsx]S'!A1",
        "=cmd|'/c calc'!A0",
        '=WEBSERVICE("http://x")',
        '=_xlfn.WEBSERVICE("http://x")',
        "=SUM(RTD(1))",
    ],
)
def test_bad_formulas_and_links_to_the_outside_are_refused(tools: Any, formula: str) -> None:
    with pytest.raises(ToolError, match=r"Invalid formula syntax|not allowed|Unsafe function"):
        call(tools, "validate_formula_syntax", cell="A1", formula=formula)


@pytest.mark.parametrize("formula", ["=[1]Sheet1!A1", "=cmd|'/c calc'!A0", '=webservice("http://x")'])
def test_links_to_the_outside_cannot_be_written_as_data(tools: Any, formula: str) -> None:
    with pytest.raises(ToolError):
        call(tools, "write_data_to_excel", data=[["fine"], [formula]])
    assert saved(tools)["Data"]["A1"].value == "City"


def test_a_range_is_copied_with_formulas_that_follow(tools: Any) -> None:
    assert call(tools, "copy_range", source_start="E1", source_end="E2", target_start="F3") == (
        "Range copied successfully"
    )
    call(tools, "copy_range", source_start="A1", source_end="B2", target_start="B2", target_sheet="Empty")

    book = saved(tools)
    assert book["Data"]["F3"].value == "=SUM(D4:D6)"
    assert book["Data"]["F4"].value == TIME
    assert book["Data"]["F4"].number_format == book["Data"]["E2"].number_format
    assert [book["Empty"][cell].value for cell in ("B2", "C3")] == ["City", "a"]


def test_ranges_that_overlap_are_copied_from_what_was_there(tools: Any) -> None:
    call(tools, "copy_range", source_start="A1", source_end="A3", target_start="A2")

    assert [saved(tools)["Data"][f"A{row}"].value for row in range(1, 5)] == ["City", "City", "Bern", "Bern"]


def test_deleting_a_range_moves_only_the_cells_below_it(tools: Any) -> None:
    assert call(tools, "delete_range", start_cell="C2", end_cell="C2") == "Range C2:C2 deleted successfully"

    sheet = saved(tools)["Data"]
    assert [sheet[f"C{row}"].value for row in range(1, 5)] == ["Amount", 2.5, True, None]
    assert [sheet[f"A{row}"].value for row in range(1, 5)] == ["City", "Bern", "Bern", "Rome"]
    assert sheet["E1"].value == "=SUM(C2:C3)"


def test_deleting_a_range_to_the_left_moves_only_its_rows(tools: Any) -> None:
    call(tools, "delete_range", start_cell="A2", end_cell="B3", shift_direction="left")

    sheet = saved(tools)["Data"]
    assert [cell.value for cell in sheet[2]][:3] == [1, None, TIME]
    assert [cell.value for cell in sheet[4]][:3] == ["Rome", "a", True]


def test_a_range_is_checked_against_the_data(tools: Any) -> None:
    assert call(tools, "validate_excel_range", start_cell="A1", end_cell="C4") == (
        "Range 'A1:C4' is valid. Sheet contains data in range 'A1:E4'"
    )
    assert "Range 'B2' is valid" in call(tools, "validate_excel_range", start_cell="B2")


def test_validation_rules_are_listed(tools: Any) -> None:
    result = call(tools, "get_data_validation_info")

    assert result["validation_rules"] == [
        {"ranges": "B2:B4", "validation_type": "list", "allow_blank": True, "allowed_values": ["a", "b"]},
        {
            "ranges": "D2",
            "validation_type": "list",
            "allow_blank": False,
            "allowed_values": ["Bern", "Bern", "Rome"],
        },
    ]
    none = call(tools, "get_data_validation_info", sheet_name="Empty")
    assert none == "No data validation rules found in this worksheet"


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("read_data_from_excel", {"filepath": "nope.xlsx"}, "No such file: /workspace/nope.xlsx"),
        ("read_data_from_excel", {"filepath": "../x.xlsx"}, "outside the workspace"),
        ("read_data_from_excel", {"filepath": "a.csv"}, "not an Excel workbook"),
        ("read_data_from_excel", {"sheet_name": "Nope"}, "'Nope' not found; the workbook has Data, Empty"),
        ("read_data_from_excel", {"start_cell": "1A"}, "Invalid start cell"),
        ("read_data_from_excel", {"start_cell": "A0"}, "rows count from 1"),
        ("read_data_from_excel", {"start_cell": "XFE1"}, "16,384 columns"),
        ("read_data_from_excel", {"start_cell": "A1048577"}, "1,048,576 rows"),
        ("read_data_from_excel", {"start_cell": "B2", "end_cell": "A1"}, "before start"),
        ("write_data_to_excel", {"data": []}, "No data provided"),
        ("write_data_to_excel", {"data": [[]]}, "No data provided"),
        ("write_data_to_excel", {"data": [[1], [{"a": 1}]]}, r"data\[1\]\[0\]' must be string or number"),
        ("write_data_to_excel", {"data": [["x" * 32_768]]}, "at most 32,767 characters"),
        ("write_data_to_excel", {"data": [["a\x01"]]}, "cannot hold"),
        ("write_data_to_excel", {"data": [[1, 2]], "start_cell": "XFD1"}, "columns"),
        ("write_data_to_excel", {"data": [[1]], "sheet_name": "a/b"}, "Invalid sheet name"),
        ("write_data_to_excel", {"data": [[1]], "sheet_name": ""}, "1 to 31 characters"),
        ("apply_formula", {"cell": "A1", "formula": "=SUM("}, "Unclosed parenthesis"),
        ("apply_formula", {"cell": "zz", "formula": "=1"}, "Invalid cell reference"),
        ("validate_formula_syntax", {"cell": "A1", "formula": "=1", "sheet_name": "N"}, "not found"),
        (
            "copy_range",
            {"source_start": "A1", "source_end": "B2", "target_start": "XFD1"},
            "16,384 columns",
        ),
        (
            "copy_range",
            {"source_start": "A1", "source_end": "A1", "target_start": "A1", "target_sheet": "N"},
            "not found",
        ),
        (
            "copy_range",
            {"source_start": "A1", "source_end": "XFD1000", "target_start": "A2"},
            "one call may touch",
        ),
        ("delete_range", {"start_cell": "A1", "end_cell": "A9"}, "out of bounds"),
        ("delete_range", {"start_cell": "A1", "end_cell": "A2", "shift_direction": "x"}, "'up' or 'left'"),
        ("validate_excel_range", {"start_cell": "A1", "end_cell": "A9"}, r"End row 9 out of bounds \(1-4\)"),
        ("validate_excel_range", {"start_cell": "Z1"}, "out of bounds"),
        ("get_data_validation_info", {"page": 2}, "page must be between 1 and 1"),
    ],
)
def test_bad_arguments_are_refused_and_leave_no_trace(
    tools: Any, tool: str, arguments: dict[str, Any], message: str
) -> None:
    before = {name: path.read_bytes() for name, path in tools.world.workspace.files()}

    with pytest.raises(ToolError, match=message):
        call(tools, tool, **arguments)

    assert {name: path.read_bytes() for name, path in tools.world.workspace.files()} == before


def test_newer_functions_are_stored_with_their_prefix_and_shown_without(tools: Any) -> None:
    formula = '=CONCAT(A2,"CONCAT(",IFS(C2>1,stdev.s(C2:C4),TRUE,SUM(C2:C4)))'
    call(tools, "apply_formula", cell="F1", formula=formula)
    call(tools, "write_data_to_excel", data=[["=SORT(A2:A4)"]], start_cell="F2")
    stored = openpyxl.load_workbook(BytesIO(tools.world.workspace.read("book.xlsx")))["Data"]
    assert stored["F1"].value == (
        '=_xlfn.CONCAT(A2,"CONCAT(",_xlfn.IFS(C2>1,_xlfn.stdev.s(C2:C4),TRUE,SUM(C2:C4)))'
    )
    assert stored["F2"].value == "=_xlfn._xlws.SORT(A2:A4)"
    shown = call(tools, "validate_formula_syntax", cell="F1", formula=formula)
    assert "matches" in shown, shown
