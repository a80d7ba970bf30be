"""The rules of the google_sheet service: a drive, spreadsheets, values, formats and formulas."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from mesocosm.servers.google_sheet.models import Base
from mesocosm.servers.google_sheet.store.batches import Batches
from mesocosm.servers.google_sheet.store.bulk import Filling
from mesocosm.servers.google_sheet.store.comments import Comments
from mesocosm.servers.google_sheet.store.dimensions import Dimensions
from mesocosm.servers.google_sheet.store.drive import Drive
from mesocosm.servers.google_sheet.store.formats import Formats
from mesocosm.servers.google_sheet.store.names import Names
from mesocosm.servers.google_sheet.store.recalculation import Computing
from mesocosm.servers.google_sheet.store.sheets import Sheets
from mesocosm.servers.google_sheet.store.values import Values
from mesocosm.services.service import Store, Topic
from mesocosm.worlds import database, deadlines

__all__ = ["SheetStore"]


class SheetStore(Store):
    """The drive of the account that is signed in, with its spreadsheets."""

    metadata = Base.metadata

    # -- parts ------------------------------------------------------------------------------------------

    drive = Topic(Drive)
    comments = Topic(Comments)
    sheets = Topic(Sheets)
    names = Topic(Names)
    values = Topic(Values)
    formats = Topic(Formats)
    dimensions = Topic(Dimensions)
    computing = Topic(Computing)
    batches = Topic(Batches)
    filling = Topic(Filling)

    # -- statements -------------------------------------------------------------------------------------

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Rows of a statement of SQL."""
        deadlines.check()
        driver = database.driver_connection(self.session)
        found: list[tuple[Any, ...]] = driver.execute(statement, values).fetchall()
        return found

    def run(self, statement: str, values: Sequence[Any] = ()) -> int:
        """Run a statement of SQL; returns the number of the row that it inserted."""
        return int(self._writing.execute(statement, values).lastrowid or 0)

    def run_many(self, statement: str, values: Iterable[Sequence[Any]]) -> None:
        """Run a statement of SQL for each of several rows of values."""
        self._writing.executemany(statement, values)

    @property
    def _writing(self) -> Any:
        driver = database.driver_connection(self.session)
        if not driver.in_transaction:  # as while a world is filled: else each statement were one by itself
            driver.execute("BEGIN")
        return driver

    @property
    def stamp(self) -> str:
        """The world's clock as the vendor writes instants."""
        return self.now.strftime("%Y-%m-%dT%H:%M:%S.000Z")
