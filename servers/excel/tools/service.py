"""The service that the tools register with."""

from __future__ import annotations

from typing import Annotated

from mesocosm.servers.excel.store import ExcelStore
from mesocosm.services.schema import About
from mesocosm.services.service import Service

server = Service(
    "excel",
    ExcelStore,
    instructions=(
        "Excel workbooks in the workspace. Paths may be absolute (/workspace/...) or relative to it."
        " Formulas are stored as written; they are not computed here."
    ),
)

Filepath = Annotated[str, About("The workbook.")]
SheetName = Annotated[str, About("The worksheet.")]
StartCell = Annotated[str, About("First cell of the range.")]
