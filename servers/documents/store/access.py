"""Authorisation: users, their rights, and resolution of ids."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

import orjson
from sqlalchemy import ColumnElement, Select, bindparam, func, or_, select, text

from mesocosm.errors import Conflict, Denied, Invalid, NotFound
from mesocosm.servers.documents.models import Document, Folder, Share, SignIn, Space, User
from mesocosm.services.service import Paging, Row, Rules

if TYPE_CHECKING:
    from mesocosm.servers.documents.store import DocumentsStore

Kind = Literal["space", "folder", "document"]

RANKS = {"viewer": 1, "commenter": 2, "editor": 3, "owner": 4}
ROLES = {rank: role for role, rank in RANKS.items()}
ANYONE = "anyone"
MAX_NAME = 255
MAX_PAGE_SIZE = 100
LARGEST = 2**62

_EMAIL = re.compile(r"[^@\s<>,;:\"()\[\]\\\x00-\x1f]{1,64}@(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z0-9-]{2,63}")
_BAD_TEXT = re.compile("[\x00\ud800-\udfff]")
_BAD_NAME = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def one_of(name: str) -> Select[tuple[Any]]:
    """The values of a list parameter that is given as JSON: one statement for lists of any length."""
    return select(func.json_each(bindparam(name)).table_valued("value").c.value)


def as_list(values: Sequence[Any]) -> str:
    """A value for a parameter of ``one_of``."""
    return orjson.dumps(values).decode()


_ME = select(SignIn.email)
_BY_ID = {
    "document": select(
        Document.number,
        Document.id,
        Document.title.label("name"),
        Document.space,
        Document.owner,
        Document.trashed_at,
        Document.folder.label("parent"),
        Folder.trail,
    )
    .outerjoin(Folder, Folder.number == Document.folder)
    .where(Document.id == bindparam("id")),
    "folder": select(
        Folder.number,
        Folder.id,
        Folder.name,
        Folder.space,
        Folder.owner,
        Folder.trashed_at,
        Folder.parent,
        Folder.trail,
    ).where(Folder.id == bindparam("id")),
    "space": select(Space.number, Space.id, Space.name, Space.number.label("space"), Space.owner).where(
        Space.id == bindparam("id")
    ),
}
_RANK = select(func.max(Share.rank).label("rank")).where(
    Share.item.in_(one_of("items")), Share.principal.in_(one_of("principals"))
)
_USERS = (
    select(User.email, User.name).order_by(User.email).limit(bindparam("limit")).offset(bindparam("offset"))
)
_USER_TOTAL = select(func.count().label("total")).select_from(User)


_SHARED = select(Share.item).where(Share.principal.in_(one_of("principals"))).order_by(Share.item)
_FOLDERS_BELOW = text(
    "SELECT DISTINCT folders.number FROM folders, json_each(:folders) AS shared"
    " WHERE instr(folders.trail, '/' || shared.value || '/') > 0 ORDER BY folders.number"
)


def within_reach(table: type[Document] | type[Folder], folder: Any) -> ColumnElement[bool]:
    """Build a condition for what the user may see; its parameters come from ``reach``."""
    seen = or_(
        table.owner == bindparam("me"),
        table.space.in_(one_of("spaces")),
        folder.in_(one_of("folders")),
    )
    return or_(seen, table.number.in_(one_of("documents"))) if table is Document else seen


@dataclass(frozen=True)
class Item:
    """A space, folder or document as the signed-in user may use it."""

    kind: Kind
    number: int
    id: str
    name: str
    space: int
    folders: tuple[int, ...]
    """The folders around it, from the root; a folder is among its own."""
    owner: str
    trashed: bool
    rank: int

    @property
    def key(self) -> str:
        """Key of the item in shares and the trash."""
        return f"{self.kind[0]}{self.number}"

    @property
    def role(self) -> str:
        """The role of the signed-in user."""
        return ROLES[self.rank]

    @property
    def folder(self) -> int | None:
        """The folder that holds it or (for a folder) that it is; ``None`` at the root of a space."""
        return self.folders[-1] if self.folders else None


@dataclass(frozen=True)
class Listing:
    """One page of something."""

    rows: Sequence[Row]
    page: int
    per_page: int
    total: int


def timestamp(moment: datetime) -> str:
    """A moment as the tables keep it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def instant(text: str, name: str) -> str:
    """A moment as the tables keep it, from RFC 3339 with an offset or a date (midnight UTC)."""
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00").replace("z", "+00:00"))
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        if 1900 <= moment.year <= 2200:
            return timestamp(moment.astimezone(UTC))
    except ValueError:
        pass
    raise Invalid(f"{name} must be a time such as 2025-01-15T09:00:00Z or a date, got {text[:60]!r}.")


def derived_id(kind: str, number: int) -> str:
    """The opaque id of the row with this number."""
    value = int.from_bytes(hashlib.sha256(f"{kind}:{number}".encode()).digest()[:15], "big")
    digits = ""
    for _ in range(19):
        value, digit = divmod(value, 62)
        digits += _DIGITS[digit]
    return f"1{digits}"


def storable(text: str) -> bool:
    """True if the database can hold the text, so that it may be an id."""
    return _BAD_TEXT.search(text) is None


def clean_text(text: str, name: str, longest: int) -> str:
    """Text that the tables can keep."""
    if not storable(text):
        raise Invalid(f"{name} contains characters that text cannot hold (NUL or lone surrogates).")
    if len(text) > longest:
        raise Invalid(f"{name} is too long: {len(text)} characters, at most {longest}.")
    return text


def clean_name(text: str, name: str = "name") -> str:
    """A title or name: one line that is not empty."""
    text = text.strip()
    if not text or len(text) > MAX_NAME or _BAD_NAME.search(text):
        raise Invalid(f"{name} must be one line of 1 to {MAX_NAME} characters.")
    return text


def address(text: str) -> str:
    """An e-mail address in lower case, which is how users are compared."""
    if len(text) > 254 or not _EMAIL.fullmatch(text):
        raise Invalid(f"Not an e-mail address: {text[:80]!r}.")
    return text.lower()


def page_bounds(paging: Paging) -> tuple[int, int]:
    """(limit, offset) of a page, checked."""
    page, per_page = paging
    if not 1 <= page <= LARGEST // MAX_PAGE_SIZE:
        raise Invalid(f"page must be 1 or more, got {page}.")
    if not 1 <= per_page <= MAX_PAGE_SIZE:
        raise Invalid(f"per_page must be between 1 and {MAX_PAGE_SIZE}, got {per_page}.")
    return per_page, (page - 1) * per_page


class Access(Rules):
    """Users and their rights: the base of the store and its parts."""

    # -- users ------------------------------------------------------------------------------------------

    @property
    def me(self) -> str:
        """Address of the signed-in user; ``Denied`` if nobody is signed in."""
        rows = self.fetch(_ME)
        if not rows:
            raise Denied("You are not signed in.")
        return str(rows[0]["email"])

    def sign_in(self, email: str) -> None:
        """Make this the user that the tools act for."""
        if self.session.get(User, email) is None:
            raise NotFound(f"User not found: {email}")
        self.session.merge(SignIn(id=1, email=email))
        self.session.flush()

    def user(self, email: str) -> User:
        """A user by address."""
        found = self.session.get(User, address(email))
        if found is None:
            raise NotFound(f"User not found: {email}")
        return found

    def users(self, paging: Paging) -> Listing:
        """One page of all users, by address."""
        limit, offset = page_bounds(paging)
        _ = self.me
        total = int(self.fetch(_USER_TOTAL)[0]["total"])
        return Listing(self.fetch(_USERS, limit=limit, offset=offset), *paging, total)

    # -- items ------------------------------------------------------------------------------------------

    def item(self, item_id: str, role: str = "viewer", *, trashed: bool = False) -> Item:
        """A space, folder or document by id, on which the user has at least this role."""
        for kind in _BY_ID:
            found = self.find(kind, item_id)  # type: ignore[arg-type]
            if found is not None:
                return self._require(found, role, trashed=trashed)
        raise NotFound(f"Item not found: {item_id[:200]}")

    def document(self, file_id: str, role: str = "viewer", *, trashed: bool = False) -> Item:
        """A document by id, on which the user has at least this role."""
        found = self.find("document", file_id)
        if found is None:
            raise NotFound(f"File not found: {file_id[:200]}")
        return self._require(found, role, trashed=trashed)

    def container(self, item_id: str | None, role: str = "viewer") -> Item:
        """A folder or space by id, on which the user has at least this role; ``None``: the personal space."""
        if item_id is None:
            return self.personal_space(self.me)
        found = self.find("folder", item_id) or self.find("space", item_id)
        if found is None:
            raise NotFound(f"Folder not found: {item_id[:200]}")
        return self._require(found, role)

    def personal_space(self, email: str) -> Item:
        """The space that a user got with the account."""
        wanted = select(Space.number, Space.id, Space.name).where(Space.owner == email, Space.personal)
        row = self.session.execute(wanted).one()
        return Item("space", row.number, row.id, row.name, row.number, (), email, False, RANKS["owner"])

    def find(self, kind: Kind, item_id: str, *, anybody: bool = False) -> Item | None:
        """An item of a kind by id if the user may see it, or (``anybody``) if there is one."""
        rows = self.fetch(_BY_ID[kind], id=item_id) if storable(item_id) else []
        if not rows:
            return None
        row = rows[0]
        folders = folder_numbers(row.get("trail"))
        trashed = row.get("trashed_at") is not None
        item = Item(
            kind, row["number"], row["id"], row["name"], row["space"], folders, row["owner"], trashed, 0
        )
        rank = RANKS["owner"] if anybody else self.rank(item)
        return None if rank == 0 else replace(item, rank=rank)

    def rank(self, item: Item) -> int:
        """The rank of the user's role on an item: the greatest of what is given on it and around it."""
        me = self.me
        if item.owner == me:
            return RANKS["owner"]
        items = {item.key, f"s{item.space}", *(f"f{number}" for number in item.folders)}
        found = self.fetch(_RANK, items=as_list(sorted(items)), principals=as_list([me, ANYONE]))
        return int(found[0]["rank"] or 0)

    def reach(self) -> dict[str, str]:
        """Return the parameters of ``within_reach`` for the user."""
        me = self.me
        items = [row["item"] for row in self.fetch(_SHARED, principals=as_list([me, ANYONE]))]
        spaces, folders, documents = ([int(i[1:]) for i in items if i[0] == kind] for kind in "sfd")
        folders = self.folders_below(folders) if folders else []
        found = {"spaces": spaces, "folders": folders, "documents": documents}
        return {"me": me} | {name: as_list(numbers) for name, numbers in found.items()}

    def folders_below(self, folders: Sequence[int]) -> list[int]:
        """Folders and all folders in them."""
        return [row["number"] for row in self.fetch(_FOLDERS_BELOW, folders=as_list(folders))]

    def _require(self, item: Item, role: str, *, trashed: bool = False) -> Item:
        if item.trashed and not trashed:
            what = "File" if item.kind == "document" else "Folder"
            raise NotFound(f"{what} not found: {item.id} (it is in the trash; restore_item brings it back)")
        if item.rank < RANKS[role]:
            raise Denied(f"You need the role {role} on {item.name!r} for this; you are {item.role}.")
        return item

    # -- ids --------------------------------------------------------------------------------------------

    def check_new_ids(self, ids: Sequence[str]) -> None:
        """Refuse ids that could not be written down, or that something has already."""
        if len(set(ids)) < len(ids):
            raise Conflict("Two new items have the same id.")
        for new in ids:
            if not new.strip() or len(new) > MAX_NAME or _BAD_NAME.search(new):
                raise Invalid(f"An id must be one line of 1 to {MAX_NAME} characters, got {new[:80]!r}.")
        for table in (Document, Folder, Space):
            known = select(table.id).where(table.id.in_(one_of("ids"))).limit(1)
            for row in self.fetch(known, ids=as_list(ids)):
                raise Conflict(f"The id {row['id']!r} is in use already.")


class DocumentsPart(Access):
    """One topic of the store; the others are reached through ``store``."""

    def __init__(self, store: DocumentsStore) -> None:
        super().__init__(store.world, store.session)
        self.store = store


def folder_numbers(trail: str | None) -> tuple[int, ...]:
    """The numbers in a folder's trail."""
    return tuple(int(number) for number in trail.strip("/").split("/")) if trail else ()
