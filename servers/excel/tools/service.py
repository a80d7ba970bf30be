"""The service that the tools register with."""

from __future__ import annotations

from mesocosm.servers.excel.store import ExcelStore
from mesocosm.services.service import Service

server = Service(
    "excel",
    ExcelStore,
    instructions=(
        "Excel workbooks in the workspace. Paths may be absolute (/workspace/...) or relative to it."
        " Formulas are stored as written; they are not computed here."
    ),
    threaded=True,
)
