"""Base of the store's parts: the tables, the clock and the signed-in account."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from mesocosm.errors import Denied
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


class StorePart(View):
    """One topic of the store; the others are reached through ``store``."""

    def __init__(self, store: CodehostStore) -> None:
        super().__init__(store.world, store.session)
        self.store = store
