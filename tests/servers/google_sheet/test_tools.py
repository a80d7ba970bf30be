"""The tools of a drive with spreadsheets."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from mesocosm.servers.google_sheet.store import SheetStore
from mesocosm.servers.google_sheet.store.bulk import NewSheet
from mesocosm.servers.google_sheet.store.rendering import rendered
from mesocosm.services.world import World

ADA, BOB = "ada@example.org", "bob@example.org"


def fill(world: World) -> None:
    store = world.store(SheetStore)
    store.drive.create_account(ADA, "Ada")
    store.drive.create_account(BOB, "Bob")
    store.drive.sign_in(ADA)
    lines = [["Item", "Price", "Sum"], ["Pen", 2, "=SUM(B2:B$4)"], ["Ink", 3, "=B3*2"], ["Pad", 5, None]]
    store.filling.spreadsheet("Small", [NewSheet("Data", lines), NewSheet("P", []), NewSheet("P_x", [["x"]])])
    store.filling.spreadsheet("Long", [NewSheet("Rows", [[n, f"row {n}"] for n in range(1200)])])


class Drive:
    """The tools by name, for the spreadsheet ``Small``."""

    def __init__(self, tools: Any) -> None:
        self.tools = tools
        self.ids = {one["title"]: one["id"] for one in self.call("list_spreadsheets")}

    def call(self, tool: str, **arguments: Any) -> Any:
        return self.tools.call("google_sheet", tool, **arguments)

    def __call__(self, tool: str, sheet: str = "Data", **arguments: Any) -> Any:
        return self.call(tool, spreadsheet_id=self.ids["Small"], sheet=sheet, **arguments)

    def shown(self, range: str, sheet: str = "Data") -> Any:
        return self("get_sheet_data", sheet, range=range)["valueRanges"][0]["values"]

    def formulas(self, range: str) -> Any:
        return self("get_sheet_formulas", range=range)


@pytest.fixture
def drive(open_tools: Callable[..., Any]) -> Drive:
    return Drive(open_tools(fill, "google_sheet"))


def test_a_range_is_read_from_its_own_first_cell(drive: Drive) -> None:
    assert drive.shown("B2:C3") == [["2", "10"], ["3", "6"]]
    assert drive.shown("C3:B2") == [["2", "10"], ["3", "6"]]
    assert drive.shown("Z900:Z1000") == []
    assert drive("get_sheet_data", "P")["valueRanges"][0]["values"] == []


def test_a_long_sheet_comes_in_parts(drive: Drive) -> None:
    where = {"spreadsheet_id": drive.ids["Long"], "sheet": "Rows"}
    first = drive.call("get_sheet_data", **where)
    second = drive.call("get_sheet_data", **where, range=first["nextRange"])
    third = drive.call("get_sheet_data", **where, range=second["nextRange"])
    read = [row for part in (first, second, third) for row in part["valueRanges"][0]["values"]]
    assert read == [[str(n), f"row {n}"] for n in range(1200)]
    assert "nextRange" not in third


def test_a_long_sheet_has_room_for_some_more_rows(drive: Drive) -> None:
    where = {"spreadsheet_id": drive.ids["Long"], "sheet": "Rows", "range": "A1201"}
    drive.call("update_cells", **where, data=[[n] for n in range(100)])
    read = drive.call("get_sheet_data", **where | {"range": "A1299:A1300"})
    assert read["valueRanges"][0]["values"] == [["98"], ["99"]]


def test_lines_are_inserted_and_references_follow(drive: Drive) -> None:
    drive("add_rows", count=2, start_row=2)
    assert drive.formulas("A1:C6") == [
        ["Item", "Price", "Sum"], ["Pen", 2, "=SUM(B2:B$6)"], [], [], ["Ink", 3, "=B5*2"], ["Pad", 5],
    ]  # fmt: skip
    drive("add_columns", count=1)
    assert drive.shown("B2:D5") == [["Pen", "2", "10"], [], [], ["Ink", "3", "6"]]
    assert drive.formulas("D2") == [["=SUM(C2:C$6)"]]


def test_what_is_typed_becomes_a_value_with_a_format(drive: Drive) -> None:
    typed = ["1,234.5", "$12", "45%", "3/9/2025", "TRUE", "'007", "6:30 PM", "plain", "=A1"]
    drive("update_cells", "P", range="A1:I1", data=[typed])
    assert drive.shown("A1:I1", "P") == [
        ["1,234.50", "$12", "45%", "3/9/2025", "TRUE", "007", "6:30 PM", "plain", "1234.5"]
    ]
    drive("update_cells", "P", range="A1:C1", data=[["", None, "50"]])
    assert drive.shown("A1:C1", "P") == [["", "$12", "5000%"]]


@pytest.mark.parametrize(
    ("formula", "shown"),
    [
        ("=C4", [[]]),
        ("=Data!$C$4", [[]]),
        ("=C4+1", [["1"]]),
        ('=IFERROR(IF(TRUE,C4),"x")', [[]]),
        ("=IF(TRUE,C4)", [[]]),
        ("=INDEX(A2:C4,3,3)", [[]]),
        ('=VLOOKUP("Pad",A2:C4,3,FALSE)', [[]]),
        ('=XLOOKUP("Pad",A2:A4,C2:C4)', [[]]),
        ('=FILTER({C2:C4,A2:A4},B2:B4>2)', [["6", "Ink"], ["", "Pad"]]),
        ("=TRANSPOSE(SORT(C2:C4))", [["6", "10"]]),
        ('={C4,B4,"end"}', [["", "5", "end"]]),
        ("={1-1,C4,B4-5}", [["0", "", "0"]]),
    ],
)  # fmt: skip
def test_what_is_empty_stays_empty_where_it_is_only_shown(drive: Drive, formula: str, shown: Any) -> None:
    drive("update_cells", range="E20", data=[[formula]])
    assert (drive.shown("E20:G24") or [[]]) == shown


def test_what_repeats_a_cell_is_empty_as_long_as_that_is(drive: Drive) -> None:
    drive("update_cells", range="E20", data=[["=C4", "=E20", "=TRANSPOSE(C3:C4)"]])
    assert drive.shown("E20:H20") == [["", "", "6"]]
    drive("update_cells", range="C4", data=[[0]])
    assert drive.shown("E20:H20") == [["0", "0", "6", "0"]]
    drive("update_cells", range="C4", data=[[""]])
    assert drive.shown("E20:H20") == [["", "", "6"]]


def test_a_formula_in_the_place_of_one_that_showed_nothing_shows_its_own(drive: Drive) -> None:
    drive("update_cells", range="E20", data=[["=IF(TRUE,C4)"]])
    assert drive.shown("E20") in ([], [[""]])
    drive("update_cells", range="E20", data=[["=B4-5"]])
    assert drive.shown("E20") == [["0"]]


def test_an_array_reaches_over_cells_that_were_cleared(drive: Drive) -> None:
    for before in (1, "", "=B2"):
        drive("update_cells", range="E20:F20", data=[["x", before]])
        drive("update_cells", range="E20:F20", data=[["=TRANSPOSE(B2:B4)", ""]])
        assert drive.shown("E20:G20") == [["2", "3", "5"]]
    drive("update_cells", range="E21:G21", data=[[7, 8, "=F21+1"]])
    drive("update_cells", range="F21", data=[[""]])
    drive("update_cells", range="E21", data=[["=TRANSPOSE(B2:B3)"]])
    assert drive.shown("E21:G21") == [["2", "3", "4"]]


def test_a_sheet_may_have_quotation_marks_in_its_name(drive: Drive) -> None:
    drive.call("create_sheet", spreadsheet_id=drive.ids["Small"], title='the "old" ones')
    formulas = [["=IF(TRUE,A9)", "=RANDBETWEEN(7,7)", "=TRANSPOSE(Data!C2:C4)"]]
    drive("update_cells", 'the "old" ones', range="A1:C1", data=formulas)
    assert drive.shown("A1:E1", 'the "old" ones') == [["", "7", "10", "6"]]


def test_a_renamed_sheet_keeps_its_name_in_formulas(drive: Drive) -> None:
    drive("update_cells", "P_x", range="B1", data=[["=Data!C2+1"]])
    drive.call("rename_sheet", spreadsheet=drive.ids["Small"], sheet="data", new_name="Prices, old")
    assert drive("get_sheet_formulas", "P_x") == [["x", "='Prices, old'!C2+1"]]
    assert drive.shown("B1", "P_x") == [["11"]]


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("get_sheet_data", {"range": "A0"}, "Unable to parse range: A0"),
        ("get_sheet_data", {"range": "zzz!!"}, "Unable to parse range"),
        ("get_sheet_data", {"range": "P!A1"}, "lies in 'P'"),
        ("get_sheet_data", {"range": "A1:AZ2"}, "exceeds grid limits. Max rows: 1000, max columns: 26"),
        ("get_sheet_data", {"sheet": "Nope"}, "The spreadsheet has 'Data', 'P', 'P_x'"),
        ("update_cells", {"range": "A1:B1", "data": [[1, 2, 3]]}, "tried writing to column"),
        (
            "update_cells",
            {"range": "A1", "data": [[{"a": 1}]]},
            "must be string or number or boolean or null",
        ),
        ("update_cells", {"range": "A1", "data": [["x" * 50_001]]}, "maximum of 50000 characters"),
        ("batch_update_cells", {"ranges": {"A9": [[1]], "B0": [[1]]}}, "Unable to parse range: B0"),
        ("add_rows", {"count": -1}, "at least 1"),
        ("add_rows", {"count": 10**8}, "above the limit of 10000000 cells"),
        ("add_columns", {"count": 1, "start_column": 99}, "Cannot insert columns at 99"),
    ],
    ids=str,
)
def test_a_refusal_is_in_the_vendors_words_and_leaves_no_trace(
    drive: Drive, tool: str, arguments: dict[str, Any], words: str
) -> None:
    before = (drive.tools.world.path / "google_sheet.db").read_bytes()
    with pytest.raises(Exception, match=r"(?s).*") as refused:
        drive(tool, **arguments)
    assert words in str(refused.value)
    assert (drive.tools.world.path / "google_sheet.db").read_bytes() == before


def test_titles_are_unique_and_what_others_own_is_not_found(drive: Drive) -> None:
    with pytest.raises(Exception, match="already exists"):
        drive.call("create_sheet", spreadsheet_id=drive.ids["Small"], title="data")
    recipients = [{"email_address": BOB, "role": "reader"}, {"email_address": "nobody", "role": "reader"}]
    shared = drive.call("share_spreadsheet", spreadsheet_id=drive.ids["Small"], recipients=recipients)
    assert ([one["role"] for one in shared["successes"]], len(shared["failures"])) == (["reader"], 1)
    with drive.tools.world.editing() as world:
        world.store(SheetStore).drive.sign_in(BOB)
    assert [one["title"] for one in drive.call("list_spreadsheets")] == ["Small"]
    with pytest.raises(Exception, match="does not have permission"):
        drive("update_cells", range="A1", data=[["mine"]])
    with pytest.raises(Exception, match="not found"):
        drive.call("list_sheets", spreadsheet_id=drive.ids["Long"])


def test_forks_go_their_own_ways(drive: Drive, tmp_path: Any) -> None:
    world = drive.tools.world
    drive("update_cells", range="B2", data=[[10]])
    world.copy_to(tmp_path / "fork")
    place = {"spreadsheet_id": drive.ids["Small"], "sheet": "Data", "range": "B3"}
    with World(tmp_path / "fork") as fork:
        fork.call("google_sheet", "update_cells", {**place, "data": [[100]]})
        drive("update_cells", range="B3", data=[[7]])
        store = fork.store(SheetStore)
        sheet = store.sheets.titled(store.sheets.book(drive.ids["Small"]), "Data")
        assert store.values.grid(sheet, sheet.area)[1][2] == "115"
    assert drive.shown("C2") == [["22"]]


@pytest.mark.parametrize(
    ("value", "pattern", "shown"),
    [
        (1234.567, "#,##0.00", "1,234.57"),
        (-5, "$#,##0.00;($#,##0.00)", "($5.00)"),
        (0.256, "0.0%", "25.6%"),
        (1234567, "#,##0,", "1,235"),
        (5, '000" pcs"', "005 pcs"),
        (12345678, "0.00E+00", "1.23E+07"),
        (1.25, "# ?/?", "1 1/4"),
        (45725.5, "m/d/yyyy h:mm:ss", "3/9/2025 12:00:00"),
        (45725.75, "ddd, mmm d yyyy h:mm AM/PM", "Sun, Mar 9 2025 6:00 PM"),
        (1.5, "[h]:mm:ss", "36:00:00"),
        (0, '0;-0;"none"', "none"),
        (2 / 3, "", "0.6666666667"),
        (1e20, "", "1E+20"),
        (float((date(2025, 1, 1) - date(1899, 12, 30)).days), "yyyy-mm-dd", "2025-01-01"),
    ],
)
def test_a_number_is_shown_by_its_pattern(value: float, pattern: str, shown: str) -> None:
    assert rendered(value, pattern) == shown
