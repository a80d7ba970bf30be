"""Google's API client and gspread, unmodified, against an episode's spreadsheets."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any

import gspread
import pytest
import requests
from google.oauth2.credentials import Credentials
from googleapiclient.discovery import build
from googleapiclient.errors import HttpError
from openpyxl import load_workbook
from rest.hosted import HostedWorld

from mesocosm.servers.google_sheet.store import SheetStore
from mesocosm.servers.google_sheet.store.bulk import NewSheet
from mesocosm.services.world import World

ADA, BOB = "ada@example.org", "bob@example.org"


def fill(world: World) -> None:
    store = world.store(SheetStore)
    store.drive.create_account(ADA, "Ada Byron")
    store.drive.create_account(BOB, "Bob")
    store.drive.sign_in(BOB)
    store.filling.spreadsheet("Bob's own", [NewSheet("Sheet1", [["secret"]])])
    store.drive.sign_in(ADA)
    lines = [["Item", "Price", "Units", "Total", "Since"]]
    lines += [[f"Item {n}", n + 0.5, n, f"=B{n + 1}*C{n + 1}", date(2025, 1, n)] for n in range(1, 21)]
    stock = NewSheet("Stock", lines, {1: ("CURRENCY", "$#,##0.00")})
    store.filling.spreadsheet("Budget 2025", [stock, NewSheet("Notes", [["=SUM(Stock!D2:D21)"]])])


@pytest.fixture(scope="module")
def hosted(episode_of: Callable[..., HostedWorld]) -> HostedWorld:
    return episode_of(["google_sheet"], fill)


def service(hosted: HostedWorld, name: str, version: str, path: str, token: str | None = None) -> Any:
    return build(
        name,
        version,
        credentials=Credentials(token=token or hosted.id),  # type: ignore[no-untyped-call]
        client_options={"api_endpoint": hosted.api("google_sheet") + path},
        static_discovery=True,
    )


@pytest.fixture(scope="module")
def sheets(hosted: HostedWorld) -> Iterator[Any]:
    with service(hosted, "sheets", "v4", "/") as found:
        yield found.spreadsheets()


@pytest.fixture(scope="module")
def drive(hosted: HostedWorld) -> Iterator[Any]:
    with service(hosted, "drive", "v3", "/drive/v3/") as found:
        yield found


@pytest.fixture(scope="module")
def budget(drive: Any) -> str:
    found: str = drive.files().list(q="name contains 'budget'").execute()["files"][0]["id"]
    return found


def refusal(request: Any) -> tuple[int, str]:
    with pytest.raises(HttpError) as refused:
        request.execute()
    error = json.loads(refused.value.content)["error"]
    assert error["code"] == refused.value.resp.status
    return error["code"], error["message"]


def test_values_are_read_as_shown_as_numbers_and_as_formulas(sheets: Any, budget: str) -> None:
    get = sheets.values().get
    shown = get(spreadsheetId=budget, range="Stock!B2:E3").execute()
    assert shown["values"] == [["$1.50", "1", "1.5", "2025-01-01"], ["$2.50", "2", "5", "2025-01-02"]]
    assert (shown["range"], shown["majorDimension"]) == ("Stock!B2:E3", "ROWS")
    plain = get(spreadsheetId=budget, range="b2:e2", valueRenderOption="UNFORMATTED_VALUE").execute()
    assert plain["values"] == [[1.5, 1, 1.5, 45658]]
    text = get(
        spreadsheetId=budget, range="E2", valueRenderOption="UNFORMATTED_VALUE",
        dateTimeRenderOption="FORMATTED_STRING",
    ).execute()  # fmt: skip
    assert text["values"] == [["2025-01-01"]]
    columns = get(spreadsheetId=budget, range="C2:D3", valueRenderOption="FORMULA", majorDimension="COLUMNS")
    assert columns.execute()["values"] == [[1, 2], ["=B2*C2", "=B3*C3"]]
    several = sheets.values().batchGet(spreadsheetId=budget, ranges=["Notes", "A1:A2"]).execute()
    assert [one.get("values") for one in several["valueRanges"]] == [
        [["2975"]],
        [["Item"], ["Item 1"]],
    ]


def test_what_is_written_computes_and_the_tools_see_it(sheets: Any, budget: str, hosted: HostedWorld) -> None:
    body = {"values": [["$100", "2"]]}
    done = sheets.values().update(
        spreadsheetId=budget, range="B2:C2", valueInputOption="USER_ENTERED", body=body
    )
    assert done.execute() | {} == {
        "spreadsheetId": budget, "updatedRange": "Stock!B2:C2",
        "updatedRows": 1, "updatedColumns": 2, "updatedCells": 2,
    }  # fmt: skip
    raw = {"valueInputOption": "RAW", "data": [{"range": "Notes!B1", "values": [["=1+1", "1/2/2025"]]}]}
    assert sheets.values().batchUpdate(spreadsheetId=budget, body=raw).execute()["totalUpdatedCells"] == 2
    added = sheets.values().append(
        spreadsheetId=budget, range="Stock!A1", valueInputOption="USER_ENTERED",
        body={"values": [["Item 21", 1, 1, "=B22*C22"]]}, insertDataOption="INSERT_ROWS",
    ).execute()  # fmt: skip
    assert (added["tableRange"], added["updates"]["updatedRange"]) == ("Stock!A1:E21", "Stock!A22:D22")
    with hosted.tools() as tools:
        data = tools.call(
            "google_sheet",
            "get_sheet_data",
            spreadsheet_id=budget,
            sheet="Stock",
            range="A2:D2",
        )
        assert data["valueRanges"][0]["values"] == [["Item 1", "$100.00", "2", "200"]]
        notes = tools.call("google_sheet", "get_sheet_data", spreadsheet_id=budget, sheet="Notes")
        assert notes["valueRanges"][0]["values"][0][1:] == ["=1+1", "1/2/2025"]
    sheets.values().clear(spreadsheetId=budget, range="Notes!B1:C1").execute()
    assert len(sheets.values().get(spreadsheetId=budget, range="Notes").execute()["values"][0]) == 1


def test_refusals_are_in_the_vendors_words(sheets: Any, budget: str, hosted: HostedWorld) -> None:
    get = sheets.values().get
    assert refusal(get(spreadsheetId=budget, range="A0")) == (400, "Unable to parse range: A0")
    assert refusal(get(spreadsheetId=budget, range="Nope!A1")) == (400, "Unable to parse range: Nope!A1")
    status, message = refusal(get(spreadsheetId=budget, range="A5000"))
    assert (status, message[:40]) == (400, "Range (Stock!A5000) exceeds grid limits.")
    assert refusal(get(spreadsheetId="nope", range="A1")) == (404, "Requested entity was not found.")
    write = sheets.values().update
    assert "valueInputOption" in refusal(write(spreadsheetId=budget, range="A1", body={"values": [[1]]}))[1]
    body = {"values": [[1], [2], [3]]}
    status, message = refusal(write(spreadsheetId=budget, range="A1:A2", valueInputOption="RAW", body=body))
    assert message == "Requested writing within range [Stock!A1:A2], but tried writing to row [3]"
    one = {"range": "A1", "values": [[1]], "colour": "blue"}
    for request in (
        write(spreadsheetId=budget, range="A1", valueInputOption="RAW", body=one),
        sheets.values().append(spreadsheetId=budget, range="A1", valueInputOption="RAW", body=one),
        sheets.values().batchUpdate(spreadsheetId=budget, body={"valueInputOption": "RAW", "data": [one]}),
    ):
        status, message = refusal(request)
        assert (status, "colour" in message) == (400, True)
    for flat in ([1, 2], [["a"], 1.5], [None]):
        request = sheets.values().append(
            spreadsheetId=budget, range="A1", valueInputOption="RAW", body={"values": flat}
        )
        assert refusal(request) == (400, "Invalid value at 'data.values': a list of lists is expected.")
    unknown = {"requests": [{"addChart": {}}]}
    assert "addChart" in refusal(sheets.batchUpdate(spreadsheetId=budget, body=unknown))[1]
    with (
        service(hosted, "sheets", "v4", "/", token="wrong") as stranger,
        pytest.raises(Exception, match=r"refresh|401"),
    ):
        stranger.spreadsheets().get(spreadsheetId=budget).execute()


CORNER = {"sheetId": 0, "startRowIndex": 0, "endRowIndex": 1, "startColumnIndex": 0, "endColumnIndex": 1}


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ({"addSheet": {"sheet": {}}}, "Unknown name \"sheet\" at 'requests[0].add_sheet'"),
        (
            {"copyPaste": {"source": {**CORNER, "colour": 1}, "destination": CORNER}},
            "Unknown name \"colour\" at 'requests[0].copy_paste.source'",
        ),
        (
            {
                "repeatCell": {
                    "range": CORNER,
                    "cell": {"userEnteredFormat": {"bold": True}},
                    "fields": "note",
                }
            },
            "Unknown name \"bold\" at 'requests[0].repeat_cell.cell.user_entered_format'",
        ),
        (
            {"updateCells": {"start": {}, "rows": [{"values": [{"notes": "a"}]}], "fields": "*"}},
            "Unknown name \"notes\" at 'requests[0].update_cells.rows[0].values[0]'",
        ),
        ({"updateCells": {"start": {}, "rows": [None], "fields": "*"}}, "rows[0]': an object is expected"),
        ({"sortRange": {"range": CORNER, "sortSpecs": True}}, "sort_specs': a list is expected"),
        ({"deleteRange": {"range": 3, "shiftDimension": "ROWS"}}, "range': an object is expected"),
    ],
)
def test_a_field_that_a_message_lacks_is_refused_where_it_stands(
    sheets: Any, budget: str, request_: dict[str, Any], expected: str
) -> None:
    status, message = refusal(sheets.batchUpdate(spreadsheetId=budget, body={"requests": [request_]}))
    assert (status, expected in message) == (400, True), message


def test_what_no_cell_could_hold_is_refused_before_it_is_made(sheets: Any) -> None:
    budget = sheets.create(body={"properties": {"title": "Long"}}).execute()["spreadsheetId"]
    long = {"valueInputOption": "RAW", "data": [{"range": "A1", "values": [["a" * 50_000]]}]}
    sheets.values().batchUpdate(spreadsheetId=budget, body=long).execute()
    change = {"findReplace": {"find": "a", "replacement": "b" * 1_000_000, "allSheets": True}}
    status, message = refusal(sheets.batchUpdate(spreadsheetId=budget, body={"requests": [change]}))
    assert (status, "maximum of 50000 characters" in message) == (400, True), message


KINDS = (
    *("addSheet", "deleteSheet", "duplicateSheet", "updateSheetProperties", "updateSpreadsheetProperties"),
    *("insertDimension", "appendDimension", "deleteDimension", "updateDimensionProperties"),
    *("autoResizeDimensions", "insertRange", "deleteRange", "addNamedRange", "updateNamedRange"),
    *("deleteNamedRange", "updateCells", "appendCells", "repeatCell", "copyPaste", "findReplace"),
    *("sortRange", "mergeCells", "unmergeCells", "updateBorders"),
)


def test_every_kind_of_request_is_known_by_its_fields(sheets: Any, budget: str) -> None:
    for kind in KINDS:
        body = {"requests": [{kind: {"colour": 1}}]}
        status, message = refusal(sheets.batchUpdate(spreadsheetId=budget, body=body))
        assert (status, 'Unknown name "colour" at \'requests[0].' in message) == (400, True), (kind, message)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"charts": []}, "Unknown name \"charts\" at 'spreadsheet'"),
        ({"properties": {"titel": "a"}}, "Unknown name \"titel\" at 'spreadsheet.properties'"),
        ({"sheets": [None]}, "Invalid value at 'spreadsheet.sheets[0]'"),
        ({"sheets": [{"data": [True]}]}, "Invalid value at 'spreadsheet.sheets[0].data[0]'"),
        ({"sheets": [{"properties": 3}]}, "Invalid value at 'spreadsheet.sheets[0].properties'"),
        ({"sheets": [{"data": [{"startRow": "a"}]}]}, "rowIndex"),
    ],
)
def test_a_new_spreadsheet_is_what_its_message_can_be(sheets: Any, body: Any, expected: str) -> None:
    status, message = refusal(sheets.create(body=body))
    assert (status, expected in message) == (400, True), message


def test_a_batch_changes_sheets_lines_formats_and_names(sheets: Any) -> None:
    made = sheets.create(
        body={"properties": {"title": "Plan"}, "sheets": [{"properties": {"title": "One"}}]}
    ).execute()
    id_, one = made["spreadsheetId"], made["sheets"][0]["properties"]["sheetId"]
    write = sheets.values().update
    lines = [["b", 2], ["a", 1], ["c", "=SUM(B1:B2)"]]
    write(spreadsheetId=id_, range="A1", valueInputOption="USER_ENTERED", body={"values": lines}).execute()
    area = {"sheetId": one, "startRowIndex": 0, "endRowIndex": 2, "startColumnIndex": 0, "endColumnIndex": 2}
    bold = {
        "userEnteredFormat": {
            "textFormat": {"bold": True},
            "numberFormat": {"type": "PERCENT", "pattern": "0%"},
        }
    }
    requests_ = [
        {"sortRange": {"range": area, "sortSpecs": [{"dimensionIndex": 0, "sortOrder": "ASCENDING"}]}},
        {
            "repeatCell": {
                "range": area,
                "cell": bold,
                "fields": "userEnteredFormat(textFormat.bold,numberFormat)",
            }
        },
        {"insertDimension": {"range": {"sheetId": one, "dimension": "ROWS", "startIndex": 1, "endIndex": 3}}},
        {
            "addNamedRange": {
                "namedRange": {"name": "Figures", "range": {**area, "endRowIndex": 4, "startColumnIndex": 1}}
            }
        },
        {"addSheet": {"properties": {"title": "Two", "sheetId": 7}}},
        {
            "updateCells": {
                "start": {"sheetId": 7},
                "rows": [
                    {
                        "values": [
                            {"userEnteredValue": {"formulaValue": "=SUM(Figures)+One!B5"}, "note": "all"}
                        ]
                    }
                ],
                "fields": "userEnteredValue,note",
            }
        },
        {"mergeCells": {"range": {**area, "startRowIndex": 8, "endRowIndex": 10}, "mergeType": "MERGE_ALL"}},
        {
            "updateSheetProperties": {
                "properties": {"sheetId": one, "title": "First one", "gridProperties": {"frozenRowCount": 1}},
                "fields": "title,gridProperties.frozenRowCount",
            }
        },
    ]
    replies = sheets.batchUpdate(spreadsheetId=id_, body={"requests": requests_}).execute()["replies"]
    assert replies[4]["addSheet"]["properties"]["sheetId"] == 7
    book = sheets.get(spreadsheetId=id_, includeGridData=True).execute()
    first, two = book["sheets"]
    assert first["properties"]["gridProperties"]["frozenRowCount"] == 1
    assert first["merges"][0]["endRowIndex"] == 10
    assert book["namedRanges"][0]["name"] == "Figures"
    cell = two["data"][0]["rowData"][0]["values"][0]
    assert cell["userEnteredValue"] == {"formulaValue": "=SUM(Figures)+'First one'!B5"}
    assert (cell["effectiveValue"], cell["note"]) == ({"numberValue": 6}, "all")
    top = first["data"][0]["rowData"][0]["values"]
    assert [one["formattedValue"] for one in top] == ["a", "100%"]
    assert top[0]["userEnteredFormat"]["textFormat"] == {"bold": True}
    formulas = sheets.values().get(spreadsheetId=id_, range="B5", valueRenderOption="FORMULA").execute()
    assert formulas["values"] == [["=SUM(B1:B4)"]]
    broken = {"requests": [{"deleteSheet": {"sheetId": one}}, {"deleteSheet": {"sheetId": 7}}]}
    assert refusal(sheets.batchUpdate(spreadsheetId=id_, body=broken))[1].startswith(
        "Invalid requests[1].deleteSheet"
    )
    assert len(sheets.get(spreadsheetId=id_, fields="sheets.properties.title").execute()["sheets"]) == 2


def test_files_lie_in_folders_are_searched_shared_and_exported(drive: Any, sheets: Any, budget: str) -> None:
    files = drive.files()
    assert [file["name"] for file in files.list(q='name = "Bob\'s own"').execute()["files"]] == []
    folder = files.create(body={"name": "Team", "mimeType": "application/vnd.google-apps.folder"}).execute()[
        "id"
    ]
    copy = files.copy(
        fileId=budget, body={"name": "Budget copy", "parents": [folder]}, fields="id,parents"
    ).execute()
    assert copy["parents"] == [folder]
    query = (
        f"'{folder}' in parents and mimeType = 'application/vnd.google-apps.spreadsheet' and trashed = false"
    )
    assert [one["id"] for one in files.list(q=query).execute()["files"]] == [copy["id"]]
    assert refusal(files.list(q="name ~ 'x'"))[0] == 400
    pages = files.list(pageSize=1, fields="nextPageToken,files(id)").execute()
    assert set(pages["files"][0]) == {"id"}
    assert (
        files.list(pageSize=1, pageToken=pages["nextPageToken"]).execute()["files"][0]["id"]
        != pages["files"][0]["id"]
    )
    body = {"type": "user", "role": "writer", "emailAddress": BOB}
    given = drive.permissions().create(fileId=folder, body=body, sendNotificationEmail=False).execute()
    inherited = files.get(
        fileId=copy["id"], fields="shared,capabilities/canEdit,owners(emailAddress)"
    ).execute()
    assert inherited["owners"] == [{"emailAddress": ADA}]
    drive.permissions().delete(fileId=folder, permissionId=given["id"]).execute()
    text = files.export(fileId=copy["id"], mimeType="text/csv").execute().decode()
    assert text.splitlines()[:2][0] == "Item,Price,Units,Total,Since"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    data = files.export(fileId=copy["id"], mimeType=kind).execute()
    assert load_workbook(io.BytesIO(data))["Stock"]["D3"].value == "=B3*C3"
    assert load_workbook(io.BytesIO(data), data_only=True)["Stock"]["D3"].value == 5
    files.update(fileId=copy["id"], body={"trashed": True}).execute()
    assert files.list(q=query).execute()["files"] == []
    files.delete(fileId=folder).execute()
    assert refusal(sheets.get(spreadsheetId=copy["id"]))[0] == 404


def test_comments_are_answered_and_resolved_and_revisions_are_listed(drive: Any, budget: str) -> None:
    comments = drive.comments()
    made = comments.create(fileId=budget, body={"content": "Is this right?"}, fields="id,author").execute()
    assert made["author"]["displayName"] == "Ada Byron"
    place = {"fileId": budget, "commentId": made["id"]}
    drive.replies().create(**place, body={"content": "Yes", "action": "resolve"}, fields="id").execute()
    shown = comments.get(**place, fields="resolved,replies(content)").execute()
    assert shown == {"resolved": True, "replies": [{"content": "Yes"}]}
    comments.delete(**place).execute()
    assert comments.list(fileId=budget, fields="comments").execute()["comments"] == []
    revisions = drive.revisions().list(fileId=budget).execute()["revisions"]
    assert [one["id"] for one in revisions] == [str(n) for n in range(1, len(revisions) + 1)]


class _ToEpisode(requests.adapters.HTTPAdapter):
    """Sends what is for Google to an episode."""

    def __init__(self, api: str) -> None:
        super().__init__()
        self.api = api

    def send(self, request: Any, *args: Any, **options: Any) -> Any:
        request.url = self.api + "/" + request.url.split("/", 3)[3]
        return super().send(request, *args, **options)


def test_gspread_works_with_spreadsheets(hosted: HostedWorld) -> None:
    session = requests.Session()
    session.headers["Authorization"] = f"Bearer {hosted.id}"
    for host in ("https://sheets.googleapis.com/", "https://www.googleapis.com/"):
        session.mount(host, _ToEpisode(hosted.api("google_sheet")))
    with session:
        client = gspread.Client(auth=None, session=session)  # type: ignore[arg-type]
        assert "Budget 2025" in [one["name"] for one in client.list_spreadsheet_files()]
        book = client.create("By gspread")
        page = book.sheet1
        page.update([["Name", "Points"], ["Ada", 3], ["Bob", 4]], "A1")
        page.append_row(["Sum", "=SUM(B2:B3)"], value_input_option="USER_ENTERED")  # type: ignore[arg-type]
        assert page.get_all_records() == [
            {"Name": "Ada", "Points": 3},
            {"Name": "Bob", "Points": 4},
            {"Name": "Sum", "Points": 7},
        ]
        page.format("A1:B1", {"textFormat": {"bold": True}})
        page.insert_row(["Cy", 5], 2)
        assert page.acell("B5").value == "7"
        assert page.find("Bob").row == 4  # type: ignore[union-attr]
        page.update_acell("B3", 10)
        page.delete_rows(2)
        page.sort((2, "des"), range="A2:B3")
        assert page.col_values(1) == ["Name", "Ada", "Bob", "Sum"]
        other = book.add_worksheet("Other", rows=5, cols=5)
        assert [one.title for one in book.worksheets()] == ["Sheet1", "Other"]
        other.resize(rows=10)
        page.freeze(rows=1)
        page.merge_cells("D1:E2")
        page.update_note("A1", "who")
        assert page.get_note("A1") == "who"
        page.duplicate(new_sheet_name="Again")
        page.batch_update([{"range": "C1:C2", "values": [["x"], ["y"]]}])
        page.batch_clear(["C1:C2"])
        book.del_worksheet(other)
        book.share(BOB, perm_type="user", role="reader", notify=False)
        assert {one["role"] for one in book.list_permissions()} == {"owner", "reader"}
        assert book.export(gspread.utils.ExportFormat.CSV).decode().startswith("Name,Points")
        with pytest.raises(gspread.exceptions.APIError, match="Unable to parse range"):
            page.get("A0")
        copy = client.copy(book.id, title="Copied")
        assert copy.worksheet("Again").acell("B4").value == "14"
        client.del_spreadsheet(copy.id)


def test_everything_can_be_replayed(hosted: HostedWorld) -> None:
    assert hosted.replay().identical
