"""Sharing: roles on items, granting and revoking them."""

from __future__ import annotations

from sqlalchemy import bindparam, delete, func, select

from mesocosm.errors import Denied, Invalid, NotFound
from mesocosm.servers.documents.models import Share, User
from mesocosm.servers.documents.store.access import (
    ANYONE,
    RANKS,
    DocumentsPart,
    Item,
    Listing,
    address,
    as_list,
    one_of,
    page_bounds,
)
from mesocosm.services.service import Paging

_SHARES = (
    select(Share.item, Share.principal, Share.rank, User.name)
    .outerjoin(User, User.email == Share.principal)
    .where(Share.item.in_(one_of("items")))
    .order_by(Share.rank.desc(), Share.number)
    .limit(bindparam("limit"))
    .offset(bindparam("offset"))
)
_TOTAL = select(func.count().label("total")).where(Share.item.in_(one_of("items")))


class Sharing(DocumentsPart):
    """Giving and taking roles."""

    def permissions(self, item_id: str, paging: Paging) -> tuple[Item, Listing]:
        """Return a page of the roles on an item, direct and inherited."""
        limit, offset = page_bounds(paging)
        item = self.item(item_id)
        items = as_list([item.key, f"s{item.space}", *(f"f{number}" for number in item.folders)])
        total = int(self.fetch(_TOTAL, items=items)[0]["total"])
        return item, Listing(self.fetch(_SHARES, items=items, limit=limit, offset=offset), *paging, total)

    def share(self, item_id: str, principal: str, role: str) -> Item:
        """Give a user (or ``anyone``) a role on an item; it replaces the role given on it before."""
        item = self.item(item_id, "owner")
        self.set_role(item, principal, role)
        return item

    def give(self, item_id: str, principal: str, role: str) -> None:
        """Grant a role without access checks, for generators."""
        found = self.find("document", item_id, anybody=True)
        self.set_role(found or self.store.filling.place(item_id), principal, role)

    def set_role(self, item: Item, principal: str, role: str) -> None:
        """Set a role on an item without asking who does it."""
        if role not in RANKS:
            raise Invalid(f"role must be one of {', '.join(RANKS)}, got {role[:40]!r}.")
        principal = self._principal(principal)
        if principal == ANYONE and role == "owner":
            raise Invalid("Not everybody can be the owner.")
        if principal == item.owner and role != "owner":
            raise Denied(f"{principal} owns {item.name!r} and keeps the role owner.")
        found = self._share(item, principal)
        if found is None:
            self.session.add(Share(item=item.key, principal=principal, rank=RANKS[role]))
        else:
            found.rank = RANKS[role]
        self.session.flush()

    def unshare(self, item_id: str, principal: str) -> Item:
        """Take back the role that was given on this item."""
        item, principal = self.item(item_id, "owner"), self._principal(principal)
        if principal == item.owner:
            raise Denied(f"{principal} owns {item.name!r} and keeps the role owner.")
        if self._share(item, principal) is None:
            raise NotFound(
                f"{principal} was given no role on {item.name!r} itself; an inherited role is taken back"
                " where it was given."
            )
        self.session.execute(delete(Share).where(Share.item == item.key, Share.principal == principal))
        return item

    def _share(self, item: Item, principal: str) -> Share | None:
        wanted = select(Share).where(Share.item == item.key, Share.principal == principal)
        return self.session.execute(wanted).scalar_one_or_none()

    def _principal(self, text: str) -> str:
        return ANYONE if text == ANYONE else self.user(address(text)).email
