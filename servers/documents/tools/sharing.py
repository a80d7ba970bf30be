"""Tools for users and for sharing."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from mesocosm.servers.documents.store import DocumentsStore
from mesocosm.servers.documents.store.access import ROLES
from mesocosm.servers.documents.tools.service import ItemId, given, item_view, page_view, server
from mesocosm.services.schema import Json
from mesocosm.services.service import Paging, paged

Role = Literal["viewer", "commenter", "editor", "owner"]


@server.reads
def get_current_user(store: DocumentsStore) -> Json:
    """Tell who you are signed in as, and the id of your personal space."""
    user = store.user(store.me)
    return {"email": user.email, "name": user.name, "personal_space_id": store.personal_space(user.email).id}


@server.reads
def list_users(store: DocumentsStore, paging: Annotated[Paging, paged("People", 50)]) -> Json:
    """List the people who use the document store, by address."""
    return page_view(store.users(paging), "users", lambda row: {"email": row["email"], "name": row["name"]})


@server.reads
def list_permissions(
    store: DocumentsStore, item_id: ItemId, paging: Annotated[Paging, paged("Roles", 50)]
) -> Json:
    """List who has a role on a document, folder or space, and whether it is inherited from around it."""
    item, listing = store.sharing.permissions(item_id, paging)

    def role(row: Any) -> Json:
        inherited = row["item"] != item.key
        return given(email=row["principal"], name=row["name"], role=ROLES[row["rank"]], inherited=inherited)

    return {"id": item.id, "owner": item.owner} | page_view(listing, "permissions", role)


@server.writes(idempotent=True)
def share_item(store: DocumentsStore, item_id: ItemId, email: str, role: Role) -> Json:
    """Give somebody a role on a document, folder or space that you own, and on all that is in it.

    Args:
        email: The address of a user, or 'anyone' for all users.
        role: viewer reads, commenter also comments, editor also changes, owner also shares.
    """
    item = store.sharing.share(item_id, email, role)
    return item_view(item) | {"shared_with": email, "role": role}


@server.writes(destructive=True)
def unshare_item(store: DocumentsStore, item_id: ItemId, email: str) -> str:
    """Take back the role that somebody was given on a document, folder or space that you own.

    Args:
        email: The address of the user, or 'anyone'.
    """
    item = store.sharing.unshare(item_id, email)
    return f"{email} no longer has a role of their own on {item.name!r}."
