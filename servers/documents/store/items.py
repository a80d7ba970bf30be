"""Spaces and folders: listing and making them; renaming, moving and deleting what they hold."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import String, bindparam, cast, func, literal, select, union_all, update

from mesocosm.errors import Conflict, Invalid
from mesocosm.servers.documents.models import Document, Folder, Share, Space, User
from mesocosm.servers.documents.store.access import (
    ANYONE,
    RANKS,
    DocumentsPart,
    Item,
    Listing,
    address,
    as_list,
    clean_name,
    clean_text,
    derived_id,
    one_of,
    page_bounds,
    timestamp,
    within_reach,
)
from mesocosm.services.service import Paging, Row

MAX_DEPTH = 20
MAX_DESCRIPTION = 2000
PERSONAL = "My documents"

_SHARED_SPACES = (
    select(Space.number, func.max(Share.rank).label("rank"))
    .join(Share, Share.item == literal("s").concat(cast(Space.number, String)))
    .where(Share.principal.in_(one_of("principals")))
    .group_by(Space.number)
    .subquery()
)
_SPACES = (
    select(
        Space.id,
        Space.name,
        Space.description,
        Space.personal,
        Space.owner,
        Space.created_at,
        _SHARED_SPACES.c.rank,
    )
    .join(_SHARED_SPACES, _SHARED_SPACES.c.number == Space.number)
    .order_by(Space.personal.desc(), func.lower(Space.name), Space.number)
    .limit(bindparam("limit"))
    .offset(bindparam("offset"))
)
_SPACE_TOTAL = select(func.count().label("total")).select_from(_SHARED_SPACES)
_HERE = union_all(
    select(literal(0).label("rank"), func.lower(Folder.name).label("name"), Folder.number).where(
        Folder.space == bindparam("space"),
        Folder.parent.is_(bindparam("folder")),
        Folder.trashed_at.is_(None),
    ),
    select(literal(1), func.lower(Document.title), Document.number).where(
        Document.space == bindparam("space"),
        Document.folder.is_(bindparam("folder")),
        Document.trashed_at.is_(None),
    ),
).subquery()
_PAGE_HERE = (
    select(_HERE)
    .order_by(_HERE.c.rank, _HERE.c.name, _HERE.c.number)
    .limit(bindparam("limit"))
    .offset(bindparam("offset"))
    .subquery()
)
_CONTENTS = (
    select(
        func.coalesce(Folder.id, Document.id).label("id"),
        func.coalesce(Folder.name, Document.title).label("name"),
        func.coalesce(Document.type, "folder").label("type"),
        func.coalesce(Folder.owner, Document.owner).label("owner"),
        Document.characters,
        func.coalesce(Folder.created_at, Document.updated_at).label("updated_at"),
    )
    .select_from(_PAGE_HERE)
    .outerjoin(Folder, (_PAGE_HERE.c.rank == 0) & (Folder.number == _PAGE_HERE.c.number))
    .outerjoin(Document, (_PAGE_HERE.c.rank == 1) & (Document.number == _PAGE_HERE.c.number))
    .order_by(_PAGE_HERE.c.rank, _PAGE_HERE.c.name, _PAGE_HERE.c.number)
)
_CONTENTS_TOTAL = select(func.count().label("total")).select_from(_HERE)
_TRASHED_DOCUMENTS = select(
    Document.trashed_at, Document.id, Document.title.label("name"), Document.type, Document.owner
).where(
    Document.trashed_at.is_not(None),
    Document.trashed_with == literal("d").concat(cast(Document.number, String)),
    within_reach(Document, Document.folder),
)
_TRASHED_FOLDERS = select(Folder.trashed_at, Folder.id, Folder.name, literal("folder"), Folder.owner).where(
    Folder.trashed_with == literal("f").concat(cast(Folder.number, String)),
    within_reach(Folder, Folder.number),
)
_TRASHED = union_all(_TRASHED_DOCUMENTS, _TRASHED_FOLDERS).subquery()
_TRASH = (
    select(_TRASHED)
    .order_by(_TRASHED.c.trashed_at.desc(), _TRASHED.c.id)
    .limit(bindparam("limit"))
    .offset(bindparam("offset"))
)
_TRASH_TOTAL = select(func.count().label("total")).select_from(_TRASHED)
_NAMES = select(Folder.number, Folder.id, Folder.name).where(Folder.number.in_(one_of("numbers")))
_SPACE_NAME = select(Space.id, Space.name).where(Space.number == bindparam("number"))


class Items(DocumentsPart):
    """Spaces and folders, and what is in them."""

    # -- users and spaces -------------------------------------------------------------------------------

    def create_user(self, email: str, name: str) -> str:
        """A new user with a personal space; returns the id of the space."""
        email = address(email)
        if self.session.get(User, email):
            raise Conflict(f"The user {email} already exists.")
        self.session.add(User(email=email, name=clean_name(name)))
        self.session.flush()
        return self._add_space(PERSONAL, email, None, None, personal=True)

    def create_space(
        self,
        name: str,
        description: str | None = None,
        *,
        owner: str | None = None,
        space_id: str | None = None,
    ) -> str:
        """A new space, of the signed-in user unless another is named; returns its id."""
        return self._add_space(name, owner or self.me, description, space_id, personal=False)

    def _add_space(
        self, name: str, owner: str, description: str | None, space_id: str | None, *, personal: bool
    ) -> str:
        if space_id is not None:
            self.check_new_ids([space_id])
        space = Space(
            id=space_id or "",
            name=clean_name(name),
            description=clean_text(description or "", "description", MAX_DESCRIPTION) or None,
            owner=self.user(owner).email,
            personal=personal,
            created_at=timestamp(self.now),
        )
        self.session.add(space)
        self.session.flush()
        space.id = space_id or derived_id("space", space.number)
        self.session.add(Share(item=f"s{space.number}", principal=space.owner, rank=RANKS["owner"]))
        self.session.flush()
        return space.id

    def spaces(self, paging: Paging) -> Listing:
        """One page of the spaces that the user has a role on, the personal one first."""
        limit, offset = page_bounds(paging)
        principals = as_list([self.me, ANYONE])
        total = int(self.fetch(_SPACE_TOTAL, principals=principals)[0]["total"])
        rows = self.fetch(_SPACES, principals=principals, limit=limit, offset=offset)
        return Listing(rows, *paging, total)

    # -- folders ----------------------------------------------------------------------------------------

    def contents(self, item_id: str | None, paging: Paging) -> tuple[Item, Listing]:
        """One page of what is in a folder or at the root of a space: folders first, by name."""
        limit, offset = page_bounds(paging)
        here = self.container(item_id)
        where = {"space": here.space, "folder": here.folder}
        total = int(self.fetch(_CONTENTS_TOTAL, **where)[0]["total"])
        return here, Listing(self.fetch(_CONTENTS, limit=limit, offset=offset, **where), *paging, total)

    def path(self, item: Item) -> str:
        """Return the path of an item by names: ``Space/Folder/Title``."""
        names = [row["name"] for row in self.whereabouts(item)]
        return "/".join([*names, item.name] if item.kind == "document" else names)

    def whereabouts(self, item: Item) -> list[Row]:
        """The space and the folders (id and name) around an item, from the root."""
        rows = {row["number"]: row for row in self.fetch(_NAMES, numbers=as_list(item.folders))}
        return [self.fetch(_SPACE_NAME, number=item.space)[0], *(rows[number] for number in item.folders)]

    def create_folder(
        self,
        name: str,
        parent_id: str | None = None,
        *,
        folder_id: str | None = None,
        owner: str | None = None,
    ) -> str:
        """A new folder in a folder or space (``None``: the personal space); returns its id."""
        parent = self.container(parent_id, "editor")
        return self.add_folder(parent, name, owner or self.me, folder_id)

    def add_folder(self, parent: Item, name: str, owner: str, folder_id: str | None = None) -> str:
        """A new folder, without asking who makes it."""
        if len(parent.folders) >= MAX_DEPTH:
            raise Invalid(f"Folders can be nested {MAX_DEPTH} deep at most.")
        if folder_id is not None:
            self.check_new_ids([folder_id])
        folder = Folder(
            id=folder_id or "",
            space=parent.space,
            parent=parent.folder,
            trail="",
            name=clean_name(name),
            owner=owner,
            created_at=timestamp(self.now),
        )
        self.session.add(folder)
        self.session.flush()
        folder.id = folder_id or derived_id("folder", folder.number)
        folder.trail = "/" + "".join(f"{number}/" for number in (*parent.folders, folder.number))
        self.session.flush()
        return folder.id

    # -- renaming and moving ----------------------------------------------------------------------------

    def rename(self, item_id: str, name: str) -> Item:
        """Give an item another name."""
        item = self.item(item_id, "owner" if self._is_space(item_id) else "editor")
        setattr(self._row(item), "title" if item.kind == "document" else "name", clean_name(name))
        self.session.flush()
        return self.item(item.id)

    def _is_space(self, item_id: str) -> bool:
        return self.item(item_id).kind == "space"

    def _row(self, item: Item) -> Document | Folder | Space:
        tables: dict[str, type[Document | Folder | Space]] = {
            "document": Document,
            "folder": Folder,
            "space": Space,
        }
        found = self.session.get_one(tables[item.kind], item.number)
        assert isinstance(found, Document | Folder | Space)
        return found

    def move(self, item_id: str, destination_id: str) -> Item:
        """Put a document or folder into another folder or space."""
        item, target = self.item(item_id, "editor"), self.container(destination_id, "editor")
        row = self._row(item)
        if isinstance(row, Space):
            raise Invalid("A space cannot be moved.")
        if isinstance(row, Document):
            row.space, row.folder = target.space, target.folder
        else:
            self._move_folder(row, item, target)
        self.session.flush()
        return self.item(item.id)

    def _move_folder(self, folder: Folder, item: Item, target: Item) -> None:
        if folder.number in target.folders:
            raise Conflict("A folder cannot be moved into itself.")
        below = self._folders_below(folder)
        deepest = max(one.trail.count("/") for one in below) - folder.trail.count("/")
        if len(target.folders) + 1 + deepest > MAX_DEPTH:
            raise Invalid(f"Folders can be nested {MAX_DEPTH} deep at most.")
        before, folder.parent = folder.trail, target.folder
        after = "/" + "".join(f"{number}/" for number in (*target.folders, folder.number))
        for one in below:
            one.trail, one.space = after + one.trail.removeprefix(before), target.space
        numbers = [one.number for one in below]
        moved = update(Document).where(Document.folder.in_(numbers)).values(space=target.space)
        self.session.execute(moved)

    def _folders_below(self, folder: Folder) -> Sequence[Folder]:
        below = select(Folder).where(Folder.trail.startswith(folder.trail)).order_by(Folder.number)
        return self.session.execute(below).scalars().all()

    # -- the trash --------------------------------------------------------------------------------------

    def delete(self, item_id: str) -> Item:
        """Move a document, or a folder with all that is in it, to the trash."""
        item = self.item(item_id, "editor")
        row = self._row(item)
        if isinstance(row, Space):
            raise Invalid("A space cannot be deleted.")
        if isinstance(row, Document):
            row.trashed_at, row.trashed_with = timestamp(self.now), item.key
        else:
            self._set_trashed(row, Folder.trashed_at.is_(None), Document.trashed_at.is_(None), item.key)
        self.session.flush()
        return item

    def restore(self, item_id: str) -> Item:
        """Take a document or folder, with what was deleted with it, out of the trash."""
        item = self.item(item_id, "editor", trashed=True)
        row = self._row(item)
        if isinstance(row, Space) or row.trashed_at is None:
            raise Conflict(f"{item.name!r} is not in the trash.")
        if row.trashed_with != item.key:
            raise Conflict(f"{item.name!r} was deleted with a folder around it; restore that folder.")
        around = row.folder if isinstance(row, Document) else row.parent
        if around is not None and self.session.get_one(Folder, around).trashed_at is not None:
            raise Conflict(f"The folder around {item.name!r} is in the trash; restore that folder first.")
        if isinstance(row, Document):
            row.trashed_at = row.trashed_with = None
        else:
            self._set_trashed(row, Folder.trashed_with == item.key, Document.trashed_with == item.key, None)
        self.session.flush()
        return self.item(item.id)

    def trash(self, paging: Paging) -> Listing:
        """Return a page of deleted items, latest first; a folder represents its content."""
        limit, offset = page_bounds(paging)
        reach = self.reach()
        total = int(self.fetch(_TRASH_TOTAL, **reach)[0]["total"])
        return Listing(self.fetch(_TRASH, limit=limit, offset=offset, **reach), *paging, total)

    def _set_trashed(self, folder: Folder, folders: object, documents: object, key: str | None) -> None:
        """Delete (with a key) or restore a folder and what is in it."""
        values = {"trashed_at": timestamp(self.now) if key else None, "trashed_with": key}
        numbers = [one.number for one in self._folders_below(folder)]
        for table, inside, condition in (
            (Document, Document.folder.in_(numbers), documents),
            (Folder, Folder.number.in_(numbers), folders),
        ):
            self.session.execute(update(table).where(inside, condition).values(values))  # type: ignore[arg-type]
        self.session.flush()
        self.session.refresh(folder)
