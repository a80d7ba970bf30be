"""Base of the store's parts: the tables, the clock and the signed-in account."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sqlalchemy import Executable, insert, select, update

from mesocosm.errors import Denied, NotFound
from mesocosm.servers.codehost.models import Account, SignIn
from mesocosm.servers.codehost.store.values import timestamp
from mesocosm.services.service import Row, Rules

if TYPE_CHECKING:
    from mesocosm.servers.codehost.store import CodehostStore

_ME = select(*Account.__table__.c).join(SignIn, SignIn.account_id == Account.id)


class View(Rules):
    """The code host as the account that is signed in sees it."""

    @property
    def me(self) -> Row:
        """The account that is signed in; ``Denied`` if nobody is."""
        rows = self.fetch(_ME)
        if not rows:
            raise Denied("Requires authentication")
        return rows[0]

    @property
    def today(self) -> str:
        """The world's clock as the tables keep it."""
        return timestamp(self.now)

    def one(self, statement: Executable, **parameters: Any) -> Row:
        """The only row of a statement; ``NotFound`` if there is none."""
        rows = self.fetch(statement, **parameters)
        if not rows:
            raise NotFound("Not Found")
        return rows[0]

    def insert(self, table: Any, row: Mapping[str, Any]) -> int:
        """Add a row; returns its id."""
        return int(self.session.execute(insert(table).returning(table.id), row).scalar_one())

    def update_row(self, table: Any, number: int, **values: Any) -> None:
        """Set columns of the row with an id."""
        self.session.execute(update(table).where(table.id == number).values(**values))


class StorePart(View):
    """One topic of the store; the others are reached through ``store``."""

    def __init__(self, store: CodehostStore) -> None:
        super().__init__(store.world, store.session)
        self.store = store
