"""The google_sheet service, to which the modules beside this one add their tools."""

from __future__ import annotations

from typing import Annotated

from mesocosm.servers.google_sheet.store import SheetStore
from mesocosm.services.schema import About
from mesocosm.services.service import Service

server = Service(
    "google_sheet",
    SheetStore,
    instructions=(
        "Spreadsheets of the signed-in account. Ranges are in A1 notation (B2:D10, A:C, 5:9); values that are"
        " written are taken as if typed: texts that look like numbers or dates become such, and =..."
        " is a formula."
    ),
    extra="sheets",
)

SpreadsheetId = Annotated[str, About("The id of the spreadsheet.")]
SheetTitle = Annotated[str, About("The title of the sheet.")]
