"""By every door: what is the same passes however it was done, and what no goal explains is damage."""

from __future__ import annotations

import imaplib
import io
import sqlite3
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from campus import fill_campus
from openpyxl import Workbook, load_workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.styles import Font, PatternFill
from patience import PATIENCE
from rest.hosted import host_world
from samples import every, sampled

from mesocosm.doors.mail.ports import MailServers
from mesocosm.doors.mcp import McpTools, world_server
from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance
from mesocosm.generators.excel_market_research.expected import RESULT
from mesocosm.hosting.application import Hosting
from mesocosm.hosting.server import listen, serving
from mesocosm.kits.damage import touched_tables
from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.services.calling import Tools
from mesocosm.services.contents import Concealed, Grid
from mesocosm.services.world import World

SIZES: dict[str, dict[str, Any]] = {
    "bug_triage": {"size": 5},
    "canvas_arrange_exam": {"num_courses": 5},
    "canvas_list_test": {"num_courses": 4},
    "excel_market_research": {},
    "machine_operating": {"total_machines": 8},
    "nhl_b2b_analysis": {"num_games": 30},
    "payable_invoice_checker": {"num_invoices": 8},
    "price_notices": {"size": 6},
    "recall_campaign": {"num_customers": 16},
    "refund_list": {"size": 6},
    "set_conf_cr_ddl": {"num_target": 8},
    "stock_take": {"size": 6},
    "visit_calendar": {"size": 6},
    "woocommerce_stock_alert": {"num_low_stock": 5},
}


class Done:
    """An episode of a family that was solved, on a server with all its doors."""

    def __init__(self, app: Hosting, base: str, id_: str) -> None:
        self.app, self.id, self.url = app, id_, f"{base}/e/{id_}"
        self.tools: Tools

    def call(self, service: str, tool: str, **arguments: Any) -> Any:
        """What a tool answers."""
        return self.tools.call(service, tool, **arguments)

    def rest(self, method: str, path: str, **said: Any) -> Any:
        """What a vendor's API answers."""
        headers = {"Authorization": f"Bearer {self.id}"}
        answer = httpx.request(method, f"{self.url}/{path}", headers=headers, timeout=PATIENCE, **said)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    @contextmanager
    def imap(self) -> Iterator[imaplib.IMAP4]:
        """A client of the owner's mailbox."""
        with imaplib.IMAP4("127.0.0.1", self.app.pool.mail_ports["imap"], timeout=PATIENCE) as client:
            client.login(self.me, self.id)
            yield client

    def rows(self, service: str, query: str) -> list[Any]:
        """Rows of a service's database."""
        path = self.app.pool.path(self.id) / "world" / f"{service}.db"
        with closing(sqlite3.connect(path)) as database:
            return database.execute(query).fetchall()

    @property
    def me(self) -> str:
        """The owner's address."""
        return str(self.rows("email", "SELECT email FROM sign_in")[0][0])

    def book(self, title: str) -> str:
        """The id of a spreadsheet."""
        listed = self.call("google_sheet", "list_spreadsheets")
        return str(next(one["id"] for one in listed if one["title"] == title))

    def failures(self) -> set[str]:
        """Names of the findings that fail now."""
        verdict = self.app.pool.get(self.id).episode.grade()
        assert verdict.verdict != "errored", verdict.error
        return {check.name for check in verdict.findings if not check.passed}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Hosting, str]]:
    """A server with mail ports."""
    app = Hosting(tmp_path_factory.mktemp("doors") / "state", admin_token="admin-token-of-the-tests")
    ports = {name: listen("127.0.0.1", 0) for name in ("imap", "smtp")}
    with serving(app, MailServers.of(app.pool, imap=ports["imap"], smtp=ports["smtp"])) as base:
        yield app, base


@pytest.fixture(scope="module")
def solved(server: tuple[Hosting, str], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Done]:
    """``solved("stock_take")``: a fresh episode of the family in which all is done, and not claimed."""
    app, base = server
    first: dict[str, str] = {}

    def make(name: str) -> Done:
        if name not in first:
            family = load_family(name)
            folder: Path = tmp_path_factory.mktemp(name) / "instance"
            built = build_instance(family, 0, folder, parameters=SIZES[name])
            first[name] = app.pool.adopt(built.path, family)
            with McpTools(f"{base}/e/{first[name]}/mcp") as tools:
                family.solve(_Unclaimed(tools), built.prompt, built.expected)
        return Done(app, base, app.pool.fork(app.pool.get(first[name]).episode))

    return make


class _Unclaimed(Tools):
    """Tools with which a task cannot be declared done."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def look(self, service: str, tool: str, arguments: dict[str, Any]) -> Any:
        return ["{}"] if service == "claim_done" else self._tools.look(service, tool, arguments)


Deed = Callable[[Done], object]

# -- the same ---------------------------------------------------------------------------------------------


def _rows_of_alerts(done: Done) -> tuple[str, str, list[list[Any]], int]:
    book, sheet = done.book("WooCommerce Stock Alert"), "Stock Alert"
    read = done.rest("GET", f"google_sheet/v4/spreadsheets/{book}")
    [one] = [one["properties"] for one in read["sheets"] if one["properties"]["title"] == sheet]
    values = done.rest("GET", f"google_sheet/v4/spreadsheets/{book}/values/{sheet}")["values"]
    return book, sheet, values, one["sheetId"]


def _rows_deleted(done: Done) -> None:
    """The last row is written once more, and deleted with its place; an empty row goes, too."""
    book, sheet, values, number = _rows_of_alerts(done)
    url, last = f"google_sheet/v4/spreadsheets/{book}", len(values)
    body = {"values": [values[-1]]}
    place = f"{sheet}!A{last + 1}"
    done.rest("PUT", f"{url}/values/{place}?valueInputOption=USER_ENTERED", json=body)
    assert done.failures() == {"alerts_rows_extra"}
    area = {"sheetId": number, "dimension": "ROWS", "startIndex": last, "endIndex": last + 2}
    done.rest("POST", f"{url}:batchUpdate", json={"requests": [{"deleteDimension": {"range": area}}]})


def _rows_inserted(done: Done) -> None:
    """The last row is cleared, and appended with a row inserted for it."""
    book, sheet, values, _ = _rows_of_alerts(done)
    url = f"google_sheet/v4/spreadsheets/{book}/values"
    done.rest("POST", f"{url}/{sheet}!A{len(values)}:Z:clear", json={})
    assert done.failures() == {"alerts_rows_missing"}
    how = "valueInputOption=USER_ENTERED&insertDataOption=INSERT_ROWS"
    done.rest("POST", f"{url}/{sheet}!A1:append?{how}", json={"values": [values[-1]]})


def _rows_added(done: Done) -> None:
    book, sheet, values, _ = _rows_of_alerts(done)
    done.call("google_sheet", "add_rows", spreadsheet_id=book, sheet=sheet, count=3, start_row=len(values))


def _mails_fetched(done: Done) -> None:
    with done.imap() as client:
        client.select("INBOX")
        assert client.fetch("1:*", "(BODY[])")[0] == "OK"
    query = (
        "SELECT min(is_read) FROM emails JOIN folders ON folder_id = folders.id WHERE folders.name = 'INBOX'"
    )
    assert done.rows("email", f"{query} AND account = '{done.me}'") == [(1,)]


def _mail_moved_and_back(done: Done) -> None:
    """IMAP makes another mail of one that is moved."""
    with done.imap() as client:
        client.select("INBOX")
        client.uid("MOVE", client.uid("SEARCH", "1")[1][0].decode(), "Archive")
    assert done.failures()
    with done.imap() as client:
        client.select("Archive")
        last = client.uid("SEARCH", "ALL")[1][0].split()[-1].decode()
        client.uid("MOVE", last, "INBOX")


def _first_event(done: Done) -> tuple[str, str]:
    query = "SELECT calendars.id, events.id FROM events JOIN calendars ON calendar = calendars.number"
    return done.rows("calendar", f"{query} WHERE status != 'cancelled' ORDER BY events.number")[0]


def _event_saved(done: Done) -> None:
    calendar, event = _first_event(done)
    path = f"calendar/calendar/v3/calendars/{calendar}/events/{event}"
    done.rest("PUT", path, json=done.rest("GET", path))


def _event_renamed_and_back(done: Done) -> None:
    calendar, event = _first_event(done)
    path = f"calendar/calendar/v3/calendars/{calendar}/events/{event}"
    title = done.rest("GET", path)["summary"]
    done.rest("PATCH", path, json={"summary": "Something else"})
    assert done.failures()
    done.rest("PATCH", path, json={"summary": title})


def _calendar_made_and_deleted(done: Done) -> None:
    made = done.rest("POST", "calendar/calendar/v3/calendars", json={"summary": "Mine"})
    event = {"start": {"date": "2025-03-03"}, "end": {"date": "2025-03-04"}, "summary": "Nothing"}
    done.rest("POST", f"calendar/calendar/v3/calendars/{made['id']}/events", json=event)
    assert done.failures()
    done.rest("DELETE", f"calendar/calendar/v3/calendars/{made['id']}")


def _remembered_again(done: Done) -> None:
    query = "SELECT entities.name, content FROM observations JOIN entities ON entity_id = entities.id LIMIT 1"
    [(name, fact)] = done.rows("memory", query)
    forget = {"entityName": name, "observations": [fact]}
    done.call("memory", "delete_observations", deletions=[forget])
    assert done.failures()
    done.call("memory", "add_observations", observations=[{"entityName": name, "contents": [fact]}])


def _price_set_back(done: Done) -> None:
    [(number, price)] = done.rows("woocommerce", "SELECT id, regular_price FROM products ORDER BY id LIMIT 1")
    for value in ("0.01", price):
        done.call(
            "woocommerce", "woo_products_update", productId=number, productData={"regular_price": value}
        )


def _product_thrown_away(done: Done) -> None:
    """A product that was made by mistake, with a variation, an image and a field of its own."""
    api, known = f"{done.url}/woocommerce/wp-json/wc/v3/products", {"auth": (done.id, done.id)}
    said = {"name": "x", "type": "variable", "meta_data": [{"key": "a", "value": "b"}]}
    made = httpx.post(api, json=said, timeout=PATIENCE, **known).json()
    httpx.post(f"{api}/{made['id']}/variations", json={}, timeout=PATIENCE, **known).raise_for_status()
    assert done.failures()
    httpx.delete(f"{api}/{made['id']}", timeout=PATIENCE, **known).raise_for_status()


def _draft_thrown_away(done: Done) -> None:
    made = done.call("email", "save_draft", subject="x", body="x", to=done.me)
    assert done.failures()
    done.call("email", "delete_emails", email_ids=[made["id"]])


def _sheet_added(title: str) -> Deed:
    def deed(done: Done) -> None:
        request = {"addSheet": {"properties": {"title": "Empty"}}}
        url = f"google_sheet/v4/spreadsheets/{done.book(title)}:batchUpdate"
        done.rest("POST", url, json={"requests": [request]})

    return deed


def _issues_closed_and_opened(done: Done) -> None:
    """One that was to be labelled, and one that was not."""
    pull = _own_pull(done)
    numbers = done.rows(
        "codehost",
        "SELECT number FROM issues LEFT JOIN issue_labels ON issue_id = issues.id WHERE state = 'open'"
        " AND NOT EXISTS (SELECT 1 FROM pull_requests WHERE issue_id = issues.id)"
        " GROUP BY number ORDER BY count(issue_id), number",
    )
    for (number,) in (numbers[0], numbers[-1]):
        issue = f"codehost/api/v3/repos/{pull['owner']}/{pull['repo']}/issues/{number}"
        done.rest("PATCH", issue, json={"state": "closed"})
        assert done.failures()
        done.rest("PATCH", issue, json={"state": "open"})


def _line_ends_of_windows(done: Done) -> None:
    """The file of the pull request is written anew, with other line ends."""
    pull = _own_pull(done)
    [(branch,)] = done.rows("codehost", "SELECT head_ref FROM pull_requests ORDER BY issue_id DESC LIMIT 1")
    api = f"codehost/api/v3/repos/{pull['owner']}/{pull['repo']}/contents/triage"
    [file] = done.rest("GET", f"{api}?ref={branch}")
    text = b64decode(done.rest("GET", f"codehost/{file['url'].partition('/codehost/')[2]}")["content"])
    said = {"message": "x", "branch": branch, "sha": file["sha"],
            "content": b64encode(text.replace(b"\n", b"\r\n")).decode()}  # fmt: skip
    done.rest("PUT", f"{api}/{file['name']}", json=said)


def _stray_sheet(done: Done) -> None:
    """A spreadsheet that was made by mistake and thrown away."""
    made = done.call("google_sheet", "create_spreadsheet", title="Draft")
    done.rest("PATCH", f"google_sheet/drive/v3/files/{made['spreadsheetId']}", json={"trashed": True})


_PAYMENTS = "PURCHASE_INVOICE.PUBLIC.INVOICE_PAYMENTS"


def _statements(*statements: str) -> Deed:
    """Statements on the account of Snowflake."""

    def deed(done: Done) -> None:
        for one in statements:
            done.call("snowflake", "write_query", query=one)

    return deed


def _made_anew(kind: str, *statements: str) -> Deed:
    """The table is made anew, with its rows and comments, by way of a copy."""
    copied = f"{_PAYMENTS}_COPY"
    return _statements(
        f"create table {copied} clone {_PAYMENTS}",
        f"create or replace {kind} {_PAYMENTS} clone {copied}",
        f"drop table {copied}",
        *statements,
    )


def _set_on_a_table(*options: str) -> Deed:
    def deed(done: Done) -> None:
        tables = "google_cloud/bigquery/v2/projects/local-project/datasets/{}/tables"
        [dataset] = done.rest("GET", tables.removesuffix("/{}/tables"))["datasets"]
        listed = done.rest("GET", tables.format(dataset["datasetReference"]["datasetId"]))["tables"]
        name = listed[0]["id"].rpartition(":")[2]
        for one in options:
            query = f"ALTER TABLE {name} SET OPTIONS({one})"
            done.call("google_cloud", "bigquery_run_query", query=query)

    return deed


def _written_otherwise(path: str, change: Callable[[str], str]) -> Deed:
    def deed(done: Done) -> None:
        text = str(done.call("filesystem", "read_text_file", path=path))
        done.call("filesystem", "write_file", path=path, content=change(text))

    return deed


def _in_workbook(tool: str, **said: Any) -> Deed:
    def deed(done: Done) -> None:
        done.call("excel", tool, filepath="final.xlsx", **said)

    return deed


def _as_texts(done: Done) -> None:
    """Numbers are written as texts."""
    read = done.call("excel", "read_data_from_excel", filepath="final.xlsx", sheet_name="Final")
    for cell in read["cells"]:
        if isinstance(cell["value"], int):
            done.call("excel", "write_data_to_excel", filepath="final.xlsx", sheet_name="Final",
                      start_cell=cell["address"], data=[[str(cell["value"])]])  # fmt: skip


def _padded(done: Done) -> None:
    """There are blanks around the text of each cell."""
    read = done.call("excel", "read_data_from_excel", filepath="final.xlsx", sheet_name="Final")
    for cell in read["cells"]:
        if isinstance(cell["value"], str):
            done.call("excel", "write_data_to_excel", filepath="final.xlsx", sheet_name="Final",
                      start_cell=cell["address"], data=[[f" {cell['value']} "]])  # fmt: skip


def _numbers_written(write: Callable[[int], Any]) -> Deed:
    """The number in the second row is written in another way."""

    def deed(done: Done) -> None:
        read = done.call("excel", "read_data_from_excel", filepath="final.xlsx", sheet_name="Final")
        [number] = [cell["value"] for cell in read["cells"] if cell["address"] == "C2"]
        done.call("excel", "write_data_to_excel", filepath="final.xlsx", sheet_name="Final", start_cell="C2",
                  data=[[write(number)]])  # fmt: skip

    return deed


def _in_bold(done: Done) -> None:
    book = done.book("nhl_b2b_analysis")
    read = done.rest("GET", f"google_sheet/v4/spreadsheets/{book}")
    area = {"sheetId": read["sheets"][0]["properties"]["sheetId"], "startRowIndex": 0, "endRowIndex": 2}
    cell = {"userEnteredFormat": {"textFormat": {"bold": True}}}
    request = {"repeatCell": {"range": area, "cell": cell, "fields": "userEnteredFormat.textFormat.bold"}}
    done.rest("POST", f"google_sheet/v4/spreadsheets/{book}:batchUpdate", json={"requests": [request]})


def _labelled_and_not(done: Done) -> None:
    pull = _own_pull(done)
    issue = f"codehost/api/v3/repos/{pull['owner']}/{pull['repo']}/issues/{pull['number']}"
    done.rest("POST", f"{issue}/labels", json={"labels": ["bug"]})
    assert done.failures()
    done.rest("DELETE", f"{issue}/labels/bug")


def _event_put_in_and_deleted(done: Done) -> None:
    calendar, _ = _first_event(done)
    path = f"calendar/calendar/v3/calendars/{calendar}/events"
    event = {"start": {"date": "2025-03-03"}, "end": {"date": "2025-03-04"}, "summary": "Nothing"}
    made = done.rest("POST", path, json=event)
    assert done.failures()
    done.rest("DELETE", f"{path}/{made['id']}")


def _visit_changed(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Deed:
    """The last event, which is one that was asked for, is changed."""

    def deed(done: Done) -> None:
        query = "SELECT calendars.id, events.id FROM events JOIN calendars ON calendar = calendars.number"
        [(calendar, event)] = done.rows("calendar", f"{query} ORDER BY events.number DESC LIMIT 1")
        path = f"calendar/calendar/v3/calendars/{calendar}/events/{event}"
        done.rest("PATCH", path, json=change(done.rest("GET", path)))

    return deed


def _from_second(second: str) -> Deed:
    """The visit begins at so many seconds."""

    def change(event: dict[str, Any]) -> dict[str, Any]:
        moment = event["start"]["dateTime"]
        return {"start": {**event["start"], "dateTime": f"{moment[:17]}{second}{moment[19:]}"}}

    return _visit_changed(change)


def _requested(title: str, **request: Any) -> Deed:
    """A change of a spreadsheet's first sheet by the vendor's ``batchUpdate``."""

    def deed(done: Done) -> None:
        book = done.book(title)
        read = done.rest("GET", f"google_sheet/v4/spreadsheets/{book}")
        number = read["sheets"][0]["properties"]["sheetId"]
        [(kind, said)] = request.items()
        where = "properties" if kind == "updateSheetProperties" else "range"
        filled = {**said, where: {**said[where], "sheetId": number}}
        path = f"google_sheet/v4/spreadsheets/{book}:batchUpdate"
        done.rest("POST", path, json={"requests": [{kind: filled}]})

    return deed


def _cells_shown(fields: str, shown: dict[str, Any]) -> dict[str, Any]:
    area = {"startRowIndex": 1, "endRowIndex": 2, "startColumnIndex": 1, "endColumnIndex": 3}
    return {"repeatCell": {"range": area, "cell": {"userEnteredFormat": shown}, "fields": fields}}


def _line_shown(axis: str, **shown: Any) -> dict[str, Any]:
    line = {"dimension": axis, "startIndex": 1, "endIndex": 2}
    return {"updateDimensionProperties": {"range": line, "properties": shown, "fields": ",".join(shown)}}


def _sheet_shown(fields: str, shown: dict[str, Any]) -> dict[str, Any]:
    return {"updateSheetProperties": {"properties": shown, "fields": fields}}


_BOOKS = [("nhl_b2b_analysis", "nhl_b2b_analysis"), ("woocommerce_stock_alert", "WooCommerce Stock Alert")]
"""One spreadsheet that is made, and one that was there."""
_BOLD = _cells_shown("userEnteredFormat.textFormat.bold", {"textFormat": {"bold": True}})
_STRUCK = _cells_shown("userEnteredFormat.textFormat", {"textFormat": {"strikethrough": True}})
_BLANK = _cells_shown(
    "userEnteredFormat.numberFormat", {"numberFormat": {"type": "NUMBER", "pattern": ";;;"}}
)
_RED = {"red": 1.0}
_RED_ON_RED = _cells_shown(
    "userEnteredFormat", {"textFormat": {"foregroundColor": _RED}, "backgroundColor": _RED}
)
_WHITE = _cells_shown(
    "userEnteredFormat.textFormat", {"textFormat": {"foregroundColor": {"red": 1, "green": 1, "blue": 1}}}
)
_ON_BLACK = _cells_shown("userEnteredFormat.backgroundColor", {"backgroundColor": {"red": 0}})
_WIDE = _line_shown("COLUMNS", pixelSize=240)
_FROZEN = _sheet_shown("gridProperties.frozenRowCount", {"gridProperties": {"frozenRowCount": 1}})
_TAB = _sheet_shown("tabColor", {"tabColor": {"red": 1.0}})
_HIDDEN_ROW = _line_shown("ROWS", hiddenByUser=True)
_HIDDEN_COLUMN = _line_shown("COLUMNS", hiddenByUser=True)
_HIDDEN_SHEET = _sheet_shown("hidden", {"hidden": True})
_MERGED = {
    "mergeCells": {
        "range": {"startRowIndex": 40, "endRowIndex": 42, "startColumnIndex": 0, "endColumnIndex": 2},
        "mergeType": "MERGE_ALL",
    }
}


def _saved_with(path: str, change: Callable[[Workbook], object]) -> Deed:
    """The workbook was saved by a program other than the service's tools."""

    def deed(done: Done) -> None:
        workspace = done.app.pool.get(done.id).episode.world.workspace
        book = load_workbook(io.BytesIO(workspace.read(path)))
        change(book)
        saved = io.BytesIO()
        book.save(saved)
        workspace.write(path, saved.getvalue())

    return deed


def _row_hidden(book: Workbook) -> None:
    book.worksheets[0].row_dimensions[2].hidden = True


def _row_filtered(book: Workbook) -> None:
    """A filter leaves a row out, as programs save it."""
    sheet = book.worksheets[0]
    sheet.auto_filter.ref = sheet.dimensions
    sheet.auto_filter.add_filter_column(0, ["x"])
    sheet.row_dimensions[2].hidden = True


def _column_hidden(book: Workbook) -> None:
    book.worksheets[0].column_dimensions["B"].hidden = True


def _sheet_hidden(book: Workbook) -> None:
    book.worksheets[0].sheet_state = "hidden"
    book.active = book.create_sheet("Shown")


def _cell_struck(book: Workbook) -> None:
    book.worksheets[0]["B2"].font = Font(strike=True)


def _part_struck(book: Workbook) -> None:
    cell = book.worksheets[0]["A2"]
    text = str(cell.value)
    cell.value = CellRichText(TextBlock(InlineFont(strike=True), text[:1]), text[1:])


def _cell_blank(book: Workbook) -> None:
    book.worksheets[0]["B2"].number_format = ";;;"


def _cell_colourless(book: Workbook) -> None:
    cell = book.worksheets[0]["B2"]
    cell.font, cell.fill = Font(color="FFFFFF"), PatternFill("solid", "00FFFFFF")


def _cell_white(book: Workbook) -> None:
    """In white letters, on the background that a sheet has by itself."""
    book.worksheets[0]["B2"].font = Font(color="FFFFFF")


def _cell_black(book: Workbook) -> None:
    """In the letters that a sheet has by itself, on black."""
    book.worksheets[0]["B2"].fill = PatternFill("solid", "FF000000")


def _row_flat(book: Workbook) -> None:
    book.worksheets[0].row_dimensions[2].height = 0.2


def _looks_of_all_kinds(book: Workbook) -> None:
    """A heading in white on blue, wide columns, a filter that leaves nothing out, a frozen row."""
    sheet = book.worksheets[0]
    for cell in sheet[1]:
        cell.font, cell.fill = Font(bold=True, color="FFFFFF"), PatternFill("solid", "FF1F4E78")
    sheet.column_dimensions["A"].width = 40
    sheet.auto_filter.ref = sheet.dimensions
    sheet.freeze_panes = "A2"
    sheet.row_dimensions[90].hidden = True


_CONCEALINGS = [
    _row_hidden,
    _row_filtered,
    _column_hidden,
    _sheet_hidden,
    _cell_struck,
    _cell_blank,
    _cell_colourless,
    _cell_white,
    _cell_black,
    _row_flat,
]


@pytest.mark.parametrize(
    ("family", "deed"),
    sampled(
        [
            ("refund_list", _written_otherwise("refunds.csv", lambda text: "\ufeff" + text)),
            ("refund_list", _written_otherwise("refunds.csv", lambda text: text.replace("\n", "\r\n"))),
            ("refund_list", _written_otherwise("refunds.csv", lambda text: text.replace(",", " , "))),
            ("refund_list", _written_otherwise("refunds.csv", lambda text: text + "\n\n")),
            (
                "refund_list",
                _written_otherwise(
                    "refunds.csv",
                    lambda text: "".join(
                        ",".join(f'"{cell}"' for cell in line.split(",")) + "\n" for line in text.splitlines()
                    ),
                ),
            ),
            ("stock_take", _in_workbook("create_worksheet", sheet_name="Empty")),
            ("stock_take", _in_workbook("format_range", sheet_name="Final", start_cell="A1", bold=True)),
            ("stock_take", _as_texts),
            ("stock_take", _padded),
            ("stock_take", _numbers_written(lambda number: f"{number}.0")),
            ("nhl_b2b_analysis", _in_bold),
            ("bug_triage", _labelled_and_not),
            ("bug_triage", _issues_closed_and_opened),
            ("bug_triage", _line_ends_of_windows),
            ("price_notices", _product_thrown_away),
            ("price_notices", _draft_thrown_away),
            ("woocommerce_stock_alert", _sheet_added("WooCommerce Stock Alert")),
            ("nhl_b2b_analysis", _sheet_added("nhl_b2b_analysis")),
            ("visit_calendar", _event_put_in_and_deleted),
            ("woocommerce_stock_alert", _rows_deleted),
            ("woocommerce_stock_alert", _rows_inserted),
            ("woocommerce_stock_alert", _rows_added),
            ("woocommerce_stock_alert", _stray_sheet),
            ("woocommerce_stock_alert", _price_set_back),
            ("payable_invoice_checker", _mails_fetched),
            ("payable_invoice_checker", _mail_moved_and_back),
            ("payable_invoice_checker", _made_anew("table")),
            ("recall_campaign", _mails_fetched),
            ("recall_campaign", _event_saved),
            ("recall_campaign", _event_renamed_and_back),
            ("recall_campaign", _calendar_made_and_deleted),
            ("visit_calendar", _event_saved),
            ("visit_calendar", _event_renamed_and_back),
            ("visit_calendar", _calendar_made_and_deleted),
            ("set_conf_cr_ddl", _event_saved),
            ("set_conf_cr_ddl", _event_renamed_and_back),
            ("set_conf_cr_ddl", _calendar_made_and_deleted),
            ("machine_operating", _set_on_a_table("friendly_name = 'x'", "friendly_name = NULL")),
            ("canvas_list_test", _remembered_again),
            ("stock_take", _remembered_again),
            *(
                (family, _requested(title, **look))
                for family, title in _BOOKS
                for look in (_BOLD, _WIDE, _FROZEN, _TAB, _MERGED)
            ),
            ("canvas_arrange_exam", _saved_with("exam_schedule.xlsx", _looks_of_all_kinds)),
            ("stock_take", _saved_with("final.xlsx", _looks_of_all_kinds)),
            ("excel_market_research", _saved_with(RESULT, _looks_of_all_kinds)),
        ],
        every(2),
    ),
)
def test_what_is_the_same_passes(solved: Callable[[str], Done], family: str, deed: Deed) -> None:
    done = solved(family)
    with McpTools(f"{done.url}/mcp") as done.tools:
        assert done.failures() == set()
        deed(done)
        assert done.failures() == set()


def test_a_conversation_may_be_read(server: tuple[Hosting, str], tmp_path: Path) -> None:
    app, base = server
    hosted = host_world(app, base, tmp_path, ["canvas"], fill_campus)
    with World(hosted.path / "world", base=hosted.path / "base", read_only=True) as world:
        asked = (
            "SELECT conversation_id, user_id FROM conversation_participants WHERE workflow_state = 'unread'"
        )
        unread = world.store(CanvasStore).session.connection().exec_driver_sql(asked).all()
        reader = world.store(CanvasStore).user_id
    [number] = [conversation for conversation, user in unread if user == reader][:1]
    done = Done(app, base, hosted.id)
    done.rest("GET", f"canvas/api/v1/conversations/{number}")
    with World(hosted.path / "world", base=hosted.path / "base", read_only=True) as world:
        changes = world.changes()
        assert changes.table("canvas", "conversation_participants").changed
        assert list(touched_tables(world, changes, "canvas")) == []


@pytest.mark.parametrize("name", ["lore_documents", "set_conf_cr_ddl"])
def test_what_an_added_service_remembers_is_nobodys_damage(tmp_path: Path, name: str) -> None:
    family = load_family(name)
    built = build_instance(family, 0, tmp_path / "instance", target=8_000)
    episode = Episode.create(tmp_path / "episode", built.path, family, services=["memory_tool"])
    with McpTools(world_server(episode.world)) as tools:
        tools.call("memory_tool", "create", path="/memories/notes.txt", file_text="Begun.")
        family.solve(_Unclaimed(tools), built.prompt, built.expected)
    verdict = episode.grade()
    assert [check for check in verdict.findings if not check.passed] == []
    episode.close()


# -- not the same -----------------------------------------------------------------------------------------


def _from_another_account(done: Done) -> None:
    """The recipient of the first mail signs in, and the mail is sent from there in the owner's stead."""
    sent = done.call("email", "get_emails", folder="Sent")["emails"][0]
    mail = done.call("email", "read_email", email_id=sent["id"])
    done.call("email", "delete_emails", email_ids=[sent["id"]])
    done.call("email", "login", email=mail["to"], password=f"{mail['to']}!")
    done.call("email", "send_email", to=mail["to"], subject=mail["subject"], body=mail["body"])


def _put_into_the_inbox(done: Done) -> None:
    sent = done.call("email", "get_emails", folder="Sent")["emails"][0]
    mail = done.call("email", "read_email", email_id=sent["id"])
    text = f"From: {done.me}\r\nMessage-ID: {mail['message_id']}\r\nSubject: x\r\n\r\nx\r\n"
    with done.imap() as client:
        assert client.append("INBOX", "", None, text.encode())[0] == "OK"  # type: ignore[arg-type]


def _said_out_of_stock(done: Done) -> None:
    query = "SELECT max(id) FROM products WHERE stock_status = 'instock' AND date_modified = "
    [(number,)] = done.rows("woocommerce", f"{query} (SELECT max(date_modified) FROM products)")
    done.call(
        "woocommerce", "woo_products_update", productId=number, productData={"stock_status": "outofstock"}
    )


def _grafted(mode: str) -> Deed:
    """Something more in the branch of the pull request."""

    def deed(done: Done) -> None:
        me = done.call("codehost", "get_me")["login"]
        [(repo, branch)] = done.rows(
            "codehost",
            "SELECT repositories.name, head_ref FROM pull_requests"
            " JOIN repositories ON repositories.id = head_repository_id ORDER BY issue_id DESC LIMIT 1",
        )
        api = f"codehost/api/v3/repos/{me}/{repo}"
        head = done.rest("GET", f"{api}/commits/{branch}")
        [readme] = [one for one in done.rest("GET", f"{api}/git/trees/{branch}")["tree"]
                    if one["path"] == "README.md"]  # fmt: skip
        path = "README.md" if mode == "100755" else "latest"
        sha = head["sha"] if mode == "160000" else readme["sha"]
        kind = "commit" if mode == "160000" else "blob"
        entry = {"path": path, "mode": mode, "type": kind, "sha": sha}
        tree = done.rest("POST", f"{api}/git/trees", json={
            "base_tree": head["commit"]["tree"]["sha"], "tree": [entry]})  # fmt: skip
        commit = {"message": "More", "tree": tree["sha"], "parents": [head["sha"]]}
        made = done.rest("POST", f"{api}/git/commits", json=commit)
        done.rest("PATCH", f"{api}/git/refs/heads/{branch}", json={"sha": made["sha"]})

    return deed


def _own_pull(done: Done) -> dict[str, Any]:
    me = done.call("codehost", "get_me")["login"]
    [(repo, number)] = done.rows(
        "codehost",
        "SELECT repositories.name, issues.number FROM pull_requests JOIN issues ON issues.id = issue_id"
        " JOIN repositories ON repositories.id = head_repository_id ORDER BY issue_id DESC LIMIT 1",
    )
    return {"owner": me, "repo": repo, "number": number}


def _drafted(done: Done) -> None:
    pull = _own_pull(done)
    pull["pullNumber"] = pull.pop("number")
    done.call("codehost", "update_pull_request", **pull, draft=True)


def _marked(path: str, said: dict[str, Any]) -> Deed:
    """The pull request is given something that nobody asked for."""

    def deed(done: Done) -> None:
        pull = _own_pull(done)
        issue = f"codehost/api/v3/repos/{pull['owner']}/{pull['repo']}/issues/{pull['number']}"
        done.rest("POST", f"{issue}/{path}", json=said or {"assignees": [pull["owner"]]})

    return deed


def _copy_thrown_away(done: Done) -> None:
    """The owner's copy of a mail that was sent is put into the trash."""
    sent = done.call("email", "get_emails", folder="Sent")["emails"][0]
    done.call("email", "delete_emails", email_ids=[sent["id"]])


def _line_added(done: Done) -> None:
    """A sheet that was added has something in it."""
    _sheet_added("WooCommerce Stock Alert")(done)
    book = done.book("WooCommerce Stock Alert")
    url = f"google_sheet/v4/spreadsheets/{book}/values/Empty!A1?valueInputOption=RAW"
    done.rest("PUT", url, json={"values": [["x"]]})


def _flagged(done: Done) -> None:
    with done.imap() as client:
        client.select("INBOX")
        assert client.store("1", "+FLAGS", r"(\Flagged)")[0] == "OK"


def _drafted_mail(done: Done) -> None:
    done.call("email", "save_draft", subject="x", body="x", to=done.me)


def _thrown_away(done: Done) -> None:
    book = done.book("nhl_b2b_analysis")
    done.rest("PATCH", f"google_sheet/drive/v3/files/{book}", json={"trashed": True})


def _shown_in_percent(done: Done) -> None:
    book = done.book("nhl_b2b_analysis")
    read = done.rest("GET", f"google_sheet/v4/spreadsheets/{book}")
    area = {"sheetId": read["sheets"][0]["properties"]["sheetId"], "startRowIndex": 1, "endRowIndex": 2,
            "startColumnIndex": 1, "endColumnIndex": 6}  # fmt: skip
    shown = {"userEnteredFormat": {"numberFormat": {"type": "PERCENT", "pattern": "0%"}}}
    request = {"repeatCell": {"range": area, "cell": shown, "fields": "userEnteredFormat.numberFormat"}}
    done.rest("POST", f"google_sheet/v4/spreadsheets/{book}:batchUpdate", json={"requests": [request]})


def _noted(done: Done) -> None:
    book = done.book("nhl_b2b_analysis")
    read = done.rest("GET", f"google_sheet/v4/spreadsheets/{book}")
    area = {"sheetId": read["sheets"][0]["properties"]["sheetId"], "startRowIndex": 1, "endRowIndex": 2,
            "startColumnIndex": 1, "endColumnIndex": 2}  # fmt: skip
    request = {"repeatCell": {"range": area, "cell": {"note": "Not sure"}, "fields": "note"}}
    done.rest("POST", f"google_sheet/v4/spreadsheets/{book}:batchUpdate", json={"requests": [request]})


def _in_csv(path: str, change: Callable[[list[str]], list[str]]) -> Deed:
    def deed(done: Done) -> None:
        text = str(done.call("filesystem", "read_text_file", path=path))
        lines = change(text.rstrip("\n").split("\n"))
        done.call("filesystem", "write_file", path=path, content="\n".join(lines) + "\n")

    return deed


def _uploaded(done: Done) -> None:
    """The object has something more at all lines but the first two."""
    text = str(done.call("filesystem", "read_text_file", path="anomaly_report.csv"))
    lines = text.rstrip("\n").split("\n")
    odd = "\n".join([*lines[:2], *(f"{line},EXTRA" for line in lines[2:])]) + "\n"
    bucket = "iot_anomaly_reports"
    path = f"google_cloud/upload/storage/v1/b/{bucket}/o?uploadType=media&name=anomaly_report.csv"
    done.rest("POST", path, content=odd.encode())


def _in_final(*writes: tuple[str, list[list[Any]]]) -> Deed:
    def deed(done: Done) -> None:
        for start, data in writes:
            done.call("excel", "write_data_to_excel", filepath="final.xlsx", sheet_name="Final", data=data,
                      start_cell=start)  # fmt: skip

    return deed


def _lowered(done: Done) -> None:
    """The table begins in the third row."""
    done.call("excel", "insert_rows", filepath="final.xlsx", sheet_name="Final", start_row=1, count=2)


@pytest.mark.parametrize(
    ("family", "deed"),
    sampled(
        [
            ("payable_invoice_checker", _made_anew("transient table")),
            ("payable_invoice_checker", _made_anew("table", f"comment on table {_PAYMENTS} is 'mine'")),
            ("payable_invoice_checker", _from_another_account),
            ("payable_invoice_checker", _put_into_the_inbox),
            ("recall_campaign", _from_another_account),
            ("recall_campaign", _put_into_the_inbox),
            ("price_notices", _said_out_of_stock),
            ("bug_triage", _grafted("120000")),
            ("bug_triage", _grafted("160000")),
            ("bug_triage", _grafted("100755")),
            ("bug_triage", _drafted),
            ("bug_triage", _marked("assignees", {})),
            ("bug_triage", _marked("labels", {"labels": ["bug"]})),
            ("nhl_b2b_analysis", _thrown_away),
            ("nhl_b2b_analysis", _shown_in_percent),
            ("nhl_b2b_analysis", _noted),
            (
                "refund_list",
                _in_csv("refunds.csv", lambda lines: [lines[0], *(f"{one},x" for one in lines[1:])]),
            ),
            (
                "refund_list",
                _in_csv("refunds.csv", lambda lines: [*lines[:2], *(f"{one},x" for one in lines[2:])]),
            ),
            (
                "refund_list",
                _in_csv(
                    "refunds.csv", lambda lines: [f"{lines[0]},amount", *(f"{one},1" for one in lines[1:])]
                ),
            ),
            (
                "refund_list",
                _in_csv(
                    "refunds.csv", lambda lines: [f"amount,{lines[0]}", *(f"1,{one}" for one in lines[1:])]
                ),
            ),
            ("refund_list", _in_csv("refunds.csv", lambda lines: ["Refunds", *lines])),
            (
                "refund_list",
                _in_csv("refunds.csv", lambda lines: [lines[0], lines[1][:-1] + "\uff10", *lines[2:]]),
            ),
            ("machine_operating", _uploaded),
            ("machine_operating", _set_on_a_table("friendly_name = 'x'")),
            ("machine_operating", _set_on_a_table("expiration_timestamp = TIMESTAMP '2099-01-01'")),
            ("stock_take", _in_final(("D3", [["checked"]]))),
            ("stock_take", _in_final(("D1", [["Pieces"]]))),
            ("stock_take", _in_final(("D1", [["SKU", "Shelf", "Pieces"]]))),
            ("stock_take", _in_final(("A1", [["", "SKU", "Shelf"]]))),
            ("stock_take", _lowered),
            ("stock_take", _numbers_written(lambda number: f"={number}")),
            ("stock_take", _numbers_written(lambda number: f"{number // 10}_{number % 10}")),
            ("stock_take", _numbers_written(lambda number: f"{number:,}.0 %")),
            (
                "stock_take",
                _numbers_written(lambda number: "".join(chr(0xFEE0 + ord(one)) for one in str(number))),
            ),
            ("stock_take", _in_workbook("insert_rows", sheet_name="Final", start_row=3)),
            ("refund_list", lambda done: done.call("filesystem", "create_directory", path="left")),
            ("refund_list", _in_csv("refunds.csv", lambda lines: [*lines[:2], "", *lines[2:]])),
            ("visit_calendar", _from_second("30")),
            ("visit_calendar", _visit_changed(lambda event: {"summary": f"{event['summary']} (new)"})),
            ("visit_calendar", _visit_changed(lambda event: {"transparency": "transparent"})),
            ("recall_campaign", _flagged),
            ("recall_campaign", _drafted_mail),
            ("price_notices", _copy_thrown_away),
            ("woocommerce_stock_alert", _line_added),
            *(
                (family, _requested(title, **look))
                for family, title in _BOOKS
                for look in (
                    _STRUCK,
                    _BLANK,
                    _RED_ON_RED,
                    _WHITE,
                    _ON_BLACK,
                    _HIDDEN_ROW,
                    _HIDDEN_COLUMN,
                    _HIDDEN_SHEET,
                )
            ),
            *(
                (family, _saved_with(path, conceal))
                for family, path in (
                    ("canvas_arrange_exam", "exam_schedule.xlsx"),
                    ("stock_take", "final.xlsx"),
                    ("excel_market_research", RESULT),
                )
                for conceal in _CONCEALINGS
            ),
            ("canvas_arrange_exam", _saved_with("exam_schedule.xlsx", _part_struck)),
        ],
        every(2),
    ),
)
def test_what_is_not_the_same_fails(solved: Callable[[str], Done], family: str, deed: Deed) -> None:
    done = solved(family)
    with McpTools(f"{done.url}/mcp") as done.tools:
        deed(done)
        assert done.failures()


def _workbook_with_a_struck_heading(world: Path) -> None:
    path = world / "workspace" / "exam_schedule.xlsx"
    book = load_workbook(path)
    sheet = book.worksheets[0]
    sheet["B1"].font = Font(strike=True)
    sheet.column_dimensions["C"].hidden = True
    book.save(path)


def _spreadsheet_with_a_hidden_row(world: Path) -> None:
    """Of the sheet of alerts the second row is hidden, and a cell of the first is struck out."""
    with closing(sqlite3.connect(world / "google_sheet.db")) as database, database:
        [(sheet, book)] = database.execute(
            "SELECT number, spreadsheet FROM sheets WHERE title = 'Stock Alert'"
        ).fetchall()
        database.execute("INSERT INTO lines VALUES (?, 'ROWS', 1, 21, 1)", (sheet,))
        made = database.execute(
            "INSERT INTO formats (spreadsheet, content, type, pattern) VALUES (?, ?, '', '')",
            (book, '{"textFormat":{"strikethrough":true}}'),
        )
        struck = (made.lastrowid, sheet)
        database.execute("UPDATE cells SET format = ? WHERE sheet = ? AND row = 0 AND col = 1", struck)


@pytest.mark.parametrize(
    ("family", "conceal"),
    [
        ("canvas_arrange_exam", _workbook_with_a_struck_heading),
        ("woocommerce_stock_alert", _spreadsheet_with_a_hidden_row),
    ],
)
def test_what_the_world_delivered_concealed_is_no_fault_of_the_agent(
    server: tuple[Hosting, str], tmp_path: Path, family: str, conceal: Callable[[Path], None]
) -> None:
    app, base = server
    loaded = load_family(family)
    built = build_instance(loaded, 0, tmp_path / "instance", parameters=SIZES[family])
    conceal(built.path / "world")
    id_ = app.pool.adopt(built.path, loaded)
    done = Done(app, base, id_)
    with McpTools(f"{base}/e/{id_}/mcp") as done.tools:
        loaded.solve(_Unclaimed(done.tools), built.prompt, built.expected)
        assert done.failures() == set()


def test_what_was_concealed_is_known_where_rows_have_moved() -> None:
    before = Grid([], [], concealed=(Concealed("row 5 is hidden", "(1, 'a')"),))
    now = Grid(
        ["a"], [], concealed=(Concealed("row 4 is hidden", "(1, 'a')"), Concealed("row 7 is hidden", "b"))
    )
    assert now.since(before).defects() == ["row 7 is hidden"]
    assert now.since(None).defects() == ["row 4 is hidden", "row 7 is hidden"]


@pytest.fixture(scope="module")
def prices(server: tuple[Hosting, str], tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str, str]:
    """An episode in which nothing was done; whom the mail goes to that is asked for, and what it says."""
    app, _ = server
    family = load_family("price_notices")
    folder = tmp_path_factory.mktemp("prices") / "instance"
    built = build_instance(family, 0, folder, parameters=SIZES["price_notices"])
    sent: dict[str, Any] = {}

    class Sending(_Unclaimed):
        def look(self, service: str, tool: str, arguments: dict[str, Any]) -> Any:
            if tool == "send_email":
                sent.update(arguments)
            return super().look(service, tool, arguments)

    id_ = app.pool.adopt(built.path, family)
    episode = Episode.create(folder.parent / "episode", built.path, family)
    with McpTools(world_server(episode.world)) as tools:
        family.solve(Sending(tools), built.prompt, built.expected)
    episode.close()
    return id_, sent["to"], sent["body"]


@pytest.mark.parametrize(
    ("plain", "html", "is_said"),
    [
        ("{}", None, True),
        ("Hello,\n\n{}\n\nBest", None, True),
        ("{}", "<p>{}</p>", True),
        ("{}", "<p><del>{}</del></p>", False),
        ("{}", "<p><s>{}</s></p>", False),
        ("{}", '<p style="text-decoration: line-through">{}</p>', False),
        ("{}", '<p style="display: none">{}</p>', False),
        ("> {}", None, False),
        ("{}\n{}9", None, False),  # one line more of the form that is reserved
    ],
)
def test_what_a_mail_says_is_what_a_reader_sees(
    server: tuple[Hosting, str], prices: tuple[str, str, str], plain: str, html: str | None, is_said: bool
) -> None:
    app, base = server
    first, to, body = prices
    done = Done(app, base, app.pool.fork(app.pool.get(first).episode))
    with McpTools(f"{done.url}/mcp") as done.tools:
        before = done.failures()
        text = plain.format(body.replace("\n", "\n> ") if plain.startswith(">") else body, body)
        more = {} if html is None else {"html_body": html.format(body.replace("\n", "<br>"))}
        done.call("email", "send_email", to=to, subject="Prices", body=text, **more)
        failing = {name for name in done.failures() if "mail" in name}
        assert {name for name in before if "mail" in name}
        assert (failing == set()) == is_said


def test_blanks_make_no_other_subject(server: tuple[Hosting, str], prices: tuple[str, str, str]) -> None:
    app, base = server
    first, to, body = prices
    done = Done(app, base, app.pool.fork(app.pool.get(first).episode))
    with McpTools(f"{done.url}/mcp") as done.tools:
        done.call("email", "send_email", to=to, subject="  Prices ", body=body)
        assert not [name for name in done.failures() if "mail" in name]


# -- what findings say ------------------------------------------------------------------------------------


def _imitated(lines: list[str]) -> list[str]:
    return [lines[0].replace("o", "\u043e"), *lines[1:]]


def _moved(source: str, destination: str) -> Deed:
    return lambda done: done.call("filesystem", "move_file", source=source, destination=destination)


@pytest.mark.parametrize(
    ("family", "deed", "says"),
    [
        ("refund_list", _in_csv("refunds.csv", _imitated), "\\u043erder"),
        ("refund_list", _in_csv("refunds.csv", lambda lines: ["\u200b" + lines[0], *lines[1:]]), "\\u200b"),
        ("refund_list", _moved("refunds.csv", "r\u0435funds.csv"), "r\\u0435funds.csv"),
        (
            "stock_take",
            _in_workbook("rename_worksheet", old_name="Final", new_name="Fin\u0430l"),
            "Fin\\u0430l",
        ),
        ("stock_take", _in_final(("A1", [["Item\xa0"]])), "Item\\xa0"),
        (
            "payable_invoice_checker",
            _statements(f'alter table {_PAYMENTS} rename to PURCHASE_INVOICE.PUBLIC."INVOICE_PAYM\u0415NTS"'),
            "INVOICE_PAYM\\u0415NTS",
        ),
        (
            "payable_invoice_checker",
            _statements(f'alter table {_PAYMENTS} add column "T\u041eTAL" int'),
            "T\\u041eTAL",
        ),
        (
            "recall_campaign",
            lambda done: done.call("email", "create_folder", folder_name="\u0421\u041e"),
            "\\u0421\\u041e",
        ),
    ],
)
def test_a_finding_tells_names_apart_that_look_the_same(
    solved: Callable[[str], Done], family: str, deed: Deed, says: str
) -> None:
    done = solved(family)
    with McpTools(f"{done.url}/mcp") as done.tools:
        deed(done)
        verdict = done.app.pool.get(done.id).episode.grade()
        assert says in "; ".join(one.detail for one in verdict.findings if not one.passed)


@pytest.mark.parametrize(
    ("subject", "html", "says"),
    [("Prices", "<p>{}!</p>", "!"), ("Prices\u200b", None, r"\u200b"), ("Pric\u0435s", None, r"\u0435")],
)
def test_a_finding_names_what_a_reader_would_not_see(
    server: tuple[Hosting, str], prices: tuple[str, str, str], subject: str, html: str | None, says: str
) -> None:
    app, base = server
    first, to, body = prices
    done = Done(app, base, app.pool.fork(app.pool.get(first).episode))
    with McpTools(f"{done.url}/mcp") as done.tools:
        more = {} if html is None else {"html_body": html.format(body.strip())}
        text = body if html is None else ""
        done.call("email", "send_email", to=to, subject=subject, body=text, **more)
        verdict = app.pool.get(done.id).episode.grade()
        [wrong] = [one for one in verdict.findings if one.name.startswith("email_mail") and not one.passed]
        assert says in wrong.detail
