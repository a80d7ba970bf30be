"""Sheets as other clients than Google's ask for them: by filters, and with a slash more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest
from google.oauth2.credentials import Credentials
from patience import PATIENCE
from rest.hosted import HostedWorld

from mesocosm.servers.google_sheet.store import SheetStore
from mesocosm.services.world import World

ADA = "ada@example.org"


def fill(world: World) -> None:
    store = world.store(SheetStore)
    store.drive.create_account(ADA, "Ada")
    store.drive.sign_in(ADA)


@pytest.fixture
def http(episode_of: Callable[..., HostedWorld]) -> Iterator[httpx2.Client]:
    hosted = episode_of(["google_sheet"], fill)
    headers = {"Authorization": f"Bearer {hosted.id}"}
    with httpx2.Client(base_url=hosted.api("google_sheet"), headers=headers, timeout=PATIENCE) as client:
        yield client


@pytest.fixture
def book(http: httpx2.Client) -> str:
    made = said(http.post("/v4/spreadsheets", json={"properties": {"title": "Points"}}))
    path = f"/v4/spreadsheets/{made['spreadsheetId']}"
    body = {"values": [["Ada", 3], ["Bob", 4]]}
    said(http.put(f"{path}/values/A1:B2?valueInputOption=RAW", json=body))
    return path


def said(answer: httpx2.Response) -> Any:
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_spreadsheet_is_there_behind_a_slash(http: httpx2.Client, book: str) -> None:
    shown = said(http.get(f"{book}/?includeGridData=false&fields=properties,sheets.properties"))
    assert shown == said(http.get(f"{book}?fields=properties,sheets.properties"))
    assert shown["properties"]["defaultFormat"]["textFormat"]["fontSize"] == 10
    change = {"updateSheetProperties": {"properties": {"sheetId": 0, "title": "New"}, "fields": "title"}}
    said(http.post(f"{book}/:batchUpdate", json={"requests": [change]}))
    assert said(http.get(book))["sheets"][0]["properties"]["title"] == "New"


def test_cells_are_read_written_and_emptied_by_filters(http: httpx2.Client, book: str) -> None:
    grid = {"sheetId": 0, "startRowIndex": 0, "endRowIndex": 1, "startColumnIndex": 0, "endColumnIndex": 2}
    filters = [{"gridRange": grid}, {"a1Range": "B2"}]
    found = said(http.post(f"{book}/values:batchGetByDataFilter", json={"dataFilters": filters}))
    assert [one["valueRange"]["values"] for one in found["valueRanges"]] == [[["Ada", "3"]], [["4"]]]
    assert [one["dataFilters"] for one in found["valueRanges"]] == [[one] for one in filters]
    data = [{"dataFilter": {"a1Range": "B2"}, "values": [["=B1*2"]], "majorDimension": "ROWS"}]
    body = {"valueInputOption": "USER_ENTERED", "data": data}
    written = said(http.post(f"{book}/values:batchUpdateByDataFilter", json=body))
    assert written["responses"][0]["dataFilter"] == {"a1Range": "B2"}
    shown = said(
        http.post(
            f"{book}:getByDataFilter", json={"dataFilters": [{"a1Range": "B2"}], "includeGridData": True}
        )
    )
    assert shown["sheets"][0]["data"][0]["rowData"][0]["values"][0]["formattedValue"] == "6"
    wide = {"range": {"sheetId": 0, "dimension": "COLUMNS", "startIndex": 1, "endIndex": 2}}
    wide |= {"properties": {"pixelSize": 300}, "fields": "pixelSize"}
    said(http.post(f"{book}:batchUpdate", json={"requests": [{"updateDimensionProperties": wide}]}))
    whole = said(http.get(f"{book}?includeGridData=true"))["sheets"][0]
    metadata = whole["data"][0]["columnMetadata"]
    assert [one["pixelSize"] for one in metadata[:3]] == [100, 300, 100]
    assert len(metadata) == whole["properties"]["gridProperties"]["columnCount"]
    said(http.post(f"{book}/values:batchClearByDataFilter", json={"dataFilters": filters}))
    assert said(http.get(f"{book}/values/A1:B2"))["values"] == [[], ["Bob"]]
    wrong = {"dataFilters": [{"developerMetadataLookup": {}}]}
    assert http.post(f"{book}:getByDataFilter", json=wrong).status_code == 400


def test_pygsheets_does_a_day_of_work(episode_of: Callable[..., HostedWorld]) -> None:
    pygsheets = pytest.importorskip("pygsheets")
    httplib2 = pytest.importorskip("httplib2")
    hosted = episode_of(["google_sheet"], fill)

    class ToEpisode(httplib2.Http):  # type: ignore[misc]
        def request(self, uri: str, *args: Any, **options: Any) -> Any:
            headers = dict(options.pop("headers", None) or {}) | {"Authorization": f"Bearer {hosted.id}"}
            uri = hosted.api("google_sheet") + "/" + uri.split("/", 3)[3]
            return super().request(uri, *args, headers=headers, **options)

    client = pygsheets.authorize(custom_credentials=Credentials(hosted.id), http=ToEpisode())
    book = client.create("Points")
    page = book.sheet1
    page.update_values("A1", [["Name", "Points"], ["Ada", 3], ["Bob", 4]])
    page.update_value("B4", "=SUM(B2:B3)")
    assert page.get_value("B4") == "7"
    assert page.cell("A2").value == "Ada"
    assert page.get_all_records(head=1)[0] == {"Name": "Ada", "Points": 3}
    other = book.add_worksheet("Other", rows=20, cols=5)
    page.append_table([["Di", 6]])
    assert [one.title for one in book.worksheets()] == ["Sheet1", "Other"]
    page.insert_rows(1, values=["Cy", 5])
    page.delete_rows(2)
    page.clear("A1")
    book.del_worksheet(other)
    assert client.open("Points").title == "Points"
