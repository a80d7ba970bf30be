"""Folders and files: looking for them, putting them in, taking them out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, or_, select

from mesocosm.errors import Conflict, Invalid
from mesocosm.servers.canvas.models import File, Folder
from mesocosm.servers.canvas.store import values
from mesocosm.servers.canvas.store.access import CourseAccess, Lister, Paging, StorePart, denied, missing
from mesocosm.servers.canvas.store.accounts import matching
from mesocosm.services.service import Page, Row

_FOLDER = select(*Folder.__table__.c).where(Folder.id == bindparam("folder"))
_ROOT = select(*Folder.__table__.c).where(
    Folder.course_id == bindparam("course"), Folder.parent_folder_id.is_(None)
)
_SUB_FOLDERS = Lister(
    select(*Folder.__table__.c)
    .where(Folder.parent_folder_id == bindparam("folder"), or_(Folder.hidden.is_(False), bindparam("staff")))
    .order_by(Folder.name, Folder.id)
)
_CHILDREN = select(Folder.id).where(Folder.parent_folder_id == bindparam("folder"))
_CHILD_FILES = select(File.id).where(File.folder_id == bindparam("folder"))
_OWN_FILES = Lister(
    select(*File.__table__.c)
    .where(File.user_id == bindparam("user"), File.course_id.is_(None))
    .order_by(File.display_name, File.id)
)
FILE_SORTS: dict[str, Any] = {
    "name": File.display_name,
    "size": File.size,
    "created_at": File.created_at,
    "updated_at": File.updated_at,
    "content_type": File.content_type,
}


class Filing(StorePart):
    """The files of courses and of users."""

    def folder(self, folder_id: int) -> Row:
        """A folder of a course that the user may see."""
        folder = self.one(_FOLDER, "folder", folder_id, folder=folder_id)
        access = self.reading(folder["course_id"])
        if folder["hidden"] and not access.staff:
            raise denied()
        return folder

    def root_folder(self, access: CourseAccess) -> Row:
        """The folder that holds all others of a course."""
        return self.one(_ROOT, "folder", "root", course=access.course["id"])

    def sub_folders(self, folder: Row, paging: Paging) -> Page:
        """The folders directly in a folder, by name."""
        staff = self.access(folder["course_id"]).staff
        return self.listing(_SUB_FOLDERS, paging, folder=folder["id"], staff=staff)

    def folder_path(self, access: CourseAccess, path: str) -> list[Row]:
        """The folders from the root to the one of that path."""
        steps = [self.root_folder(access)]
        for name in filter(None, path.split("/")):
            below = self.sub_folders(steps[-1], Paging(1, 100)).items
            steps.append(self._folder_named(below, name))
        return steps

    def _folder_named(self, folders: Sequence[Row], name: str) -> Row:
        found = [folder for folder in folders if folder["name"] == name]
        return found[0] if found else self.one(_FOLDER, "folder", name, folder=-1)

    def create_folder(self, access: CourseAccess, name: str, parent: Row | None, *, hidden: bool) -> Row:
        """Create a folder in another, by default in the course's root."""
        course_id, name = access.course["id"], values.title(name, "name")
        if "/" in name:
            raise Invalid("name must not contain a slash", code="name.invalid")
        known = self.store.pages.known_folders({course_id})
        root = self.root_folder(access) if parent is None else parent
        if root["course_id"] != course_id:
            raise missing("folder of this course", root["id"])
        path = f"{root['full_name']}/{name}"
        if (course_id, path) in known:
            raise Invalid("name has already been taken", code="name.taken")
        return self.folder(self.store.pages.add_folder(known, course_id, path, hidden))

    def update_folder(self, folder_id: int, fields: dict[str, Any]) -> Row:
        """Hide or show a folder."""
        self.editing(self.folder(folder_id)["course_id"])
        self.change(Folder, folder_id, {**fields, "updated_at": self.stamp})
        return self.folder(folder_id)

    def delete_folder(self, folder_id: int, *, force: bool) -> Row:
        """Delete a folder that is empty, or with ``force`` one with files."""
        folder = self.folder(folder_id)
        self.editing(folder["course_id"])
        if folder["parent_folder_id"] is None:
            raise Invalid("Can't delete the root folder")
        if self.ids(_CHILDREN, folder=folder_id):
            raise Conflict("Can't delete a folder with folders in it")
        files = self.ids(_CHILD_FILES, folder=folder_id)
        if files and not force:
            raise Conflict("Can't delete a folder with content")
        for key in files:
            self.store.authoring.remove_items("File", key)
            self.remove(File, key)
        self.remove(Folder, folder_id)
        return folder

    def find_files(
        self,
        access: CourseAccess,
        paging: Paging,
        *,
        folder_id: int | None = None,
        search_term: str | None = None,
        content_types: Sequence[str] | None = None,
        sort: str = "name",
        order: str = "asc",
    ) -> Page:
        """The files of a course or a folder that match."""
        statement = select(*File.__table__.c).where(File.course_id == access.course["id"])
        if folder_id is not None:
            statement = statement.where(File.folder_id == folder_id)
        if not access.staff:
            statement = statement.where(File.hidden.is_(False))
        if search_term is not None:
            statement = statement.where(matching(search_term, File.display_name))
        if content_types:
            kinds = [
                File.content_type == kind if "/" in kind else File.content_type.startswith(f"{kind}/")
                for kind in content_types
            ]
            statement = statement.where(or_(*kinds))
        key = FILE_SORTS[values.choice(sort, "sort", FILE_SORTS)]
        ordered = statement.order_by(key.desc() if order == "desc" else key.asc(), File.id)
        return self.listing(Lister(ordered), paging)

    def own_files(self, paging: Paging) -> Page:
        """The files that the signed-in user uploaded to hand in, by name."""
        return self.listing(_OWN_FILES, paging, user=self.user_id)

    def upload(self, course_id: int | None, folder_id: int | None, name: str, kind: str, size: int) -> Row:
        """Keep the record of a file: in a course, for its staff, or as the signed-in user's own."""
        if course_id is not None:
            self.editing(course_id)
            if folder_id and self.folder(folder_id)["course_id"] != course_id:
                raise denied()
        [file_id] = self.store.pages.add_files(
            [
                {
                    "course_id": course_id,
                    "folder_id": folder_id,
                    "user_id": self.user_id,
                    "display_name": values.title(name, "name"),
                    "content_type": kind,
                    "size": size,
                }
            ]
        )
        return self.store.pages.file(file_id)

    def update_file(self, file_id: int, fields: dict[str, Any]) -> Row:
        """Rename, hide or lock a file."""
        self._own_or_editing(file_id)
        changes = dict(fields)
        if "display_name" in fields:
            changes["display_name"] = values.title(fields["display_name"], "name")
        self.change(File, file_id, changes | {"updated_at": self.stamp})
        return self.store.pages.file(file_id)

    def delete_file(self, file_id: int) -> Row:
        """Delete a file with the module items that point to it."""
        file = self._own_or_editing(file_id)
        self.store.authoring.remove_items("File", file_id)
        self.remove(File, file_id)
        return file

    def _own_or_editing(self, file_id: int) -> Row:
        file = self.store.pages.file(file_id)
        if file["course_id"] is not None:
            self.editing(file["course_id"])
        return file
