"""Folders and files of courses and users. A file is a record: its name, type and size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, or_, select

from mesocosm.errors import Conflict, Invalid
from mesocosm.servers.canvas.models import File, Folder, usual
from mesocosm.servers.canvas.store import values
from mesocosm.servers.canvas.store.access import (
    CourseAccess,
    CourseRows,
    Lister,
    StorePart,
    denied,
    matching,
    missing,
)
from mesocosm.services.service import Page, Paging, Row

ROOT_FOLDER = "course files"

_FILES = CourseRows(
    "file", File, File.display_name, shown=File.hidden.is_(False), search=(File.display_name,)
)
_FILE = select(*File.__table__.c).where(File.id == bindparam("file"))
_FOLDERS = CourseRows("folder", Folder, Folder.full_name, shown=Folder.hidden.is_(False))
_SUB_FOLDERS = CourseRows(
    "folder", Folder, Folder.name, shown=Folder.hidden.is_(False), inside=Folder.parent_folder_id
)
_ALL_FOLDERS = select(Folder.id, Folder.course_id, Folder.full_name).where(
    Folder.course_id.in_(bindparam("courses", expanding=True))
)
_FOLDER = select(*Folder.__table__.c).where(Folder.id == bindparam("folder"))
_ROOT = select(*Folder.__table__.c).where(
    Folder.course_id == bindparam("course"), Folder.parent_folder_id.is_(None)
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


class Files(StorePart):
    """The files of courses and of users."""

    def file(self, file_id: int) -> Row:
        """A file of a course that the user may see, or one of the user's own."""
        file = self.one(_FILE, "file", file_id, file=file_id)
        if file["course_id"] is None:
            if file["user_id"] != self.user_id:
                raise denied()
        else:
            access = self.reading(file["course_id"])
            if file["hidden"] and not access.staff:
                raise missing("file", file_id)
        return file

    def folders(self, access: CourseAccess, paging: Paging) -> Page:
        """The folders of a course by path."""
        return self.rows(_FOLDERS, access, paging)

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
        return self.rows(_SUB_FOLDERS, self.access(folder["course_id"]), paging, inside=folder["id"])

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
        known = self.known_folders({course_id})
        root = self.root_folder(access) if parent is None else parent
        if root["course_id"] != course_id:
            raise missing("folder of this course", root["id"])
        path = f"{root['full_name']}/{name}"
        if (course_id, path) in known:
            raise Invalid("name has already been taken", code="name.taken")
        return self.folder(self.add_folder(known, course_id, path, hidden))

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
            self.store.modules.remove_items("File", key)
            self.remove(File, key)
        self.remove(Folder, folder_id)
        return folder

    def listed(
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
        """The files of a course, or of one of its folders, that match, by name unless told otherwise."""
        conditions: list[Any] = []
        if folder_id is not None:
            self.row(_FOLDERS, access, folder_id)
            conditions.append(File.folder_id == folder_id)
        if content_types:
            kinds = [
                File.content_type == kind if "/" in kind else File.content_type.startswith(f"{kind}/")
                for kind in content_types
            ]
            conditions.append(or_(*kinds))
        if search_term is not None:
            conditions.append(matching(search_term, File.display_name))
        key = FILE_SORTS[values.choice(sort, "sort", FILE_SORTS)]
        ordered = () if (sort, order) == ("name", "asc") else (key.desc() if order == "desc" else key,)
        return self.rows(_FILES, access, paging, *conditions, order=ordered)

    def own_files(self, paging: Paging) -> Page:
        """The files that the signed-in user uploaded to hand in, by name."""
        return self.listing(_OWN_FILES, paging, user=self.user_id)

    def upload(self, course_id: int | None, folder_id: int | None, name: str, kind: str, size: int) -> Row:
        """Keep the record of a file: in a course, for its staff, or as the signed-in user's own."""
        if course_id is not None:
            self.editing(course_id)
            if folder_id and self.folder(folder_id)["course_id"] != course_id:
                raise denied()
        [file_id] = self.add_files(
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
        return self.file(file_id)

    def update_file(self, file_id: int, fields: dict[str, Any]) -> Row:
        """Rename, hide or lock a file."""
        self._own_or_editing(file_id)
        changes = dict(fields)
        if "display_name" in fields:
            changes["display_name"] = values.title(fields["display_name"], "name")
        self.change(File, file_id, changes | {"updated_at": self.stamp})
        return self.file(file_id)

    def delete_file(self, file_id: int) -> Row:
        """Delete a file with the module items that point to it."""
        file = self._own_or_editing(file_id)
        self.store.modules.remove_items("File", file_id)
        self.remove(File, file_id)
        return file

    def _own_or_editing(self, file_id: int) -> Row:
        file = self.file(file_id)
        if file["course_id"] is not None:
            self.editing(file["course_id"])
        return file

    # -- filling ----------------------------------------------------------------------------------------

    def add_folders(self, folders: Sequence[Row]) -> list[int]:
        """Add folders of courses by ``path`` (``week 1/slides``), parents before children; each course's root
        folder comes by itself.
        """
        known = self.known_folders({folder["course_id"] for folder in folders})
        ids = []
        for folder in folders:
            path = f"{ROOT_FOLDER}/{folder['path'].strip('/')}"
            ids.append(self.add_folder(known, folder["course_id"], path, folder.get("hidden", False)))
        return ids

    def add_files(self, files: Sequence[Row]) -> list[int]:
        """Add records of files; returns their ids.

        ``display_name`` and ``size`` are required. One of a course has ``course_id`` (and ``folder_id``,
        without which it lies in the course's root folder); one that a user uploaded to hand in has
        ``user_id`` only.
        """
        known = self.known_folders({course for file in files if (course := file.get("course_id"))})
        rows = []
        for file in files:
            row: dict[str, Any] = {**usual(File), "created_at": self.stamp, **file}
            course_id = row["course_id"]
            if course_id is None and row["user_id"] is None:
                raise Invalid(f"file {row['display_name']!r} belongs to no course and no user")
            if course_id is not None and row["folder_id"] is None:
                row["folder_id"] = known[course_id, ROOT_FOLDER]
            row["created_at"] = row["updated_at"] = values.stored_time(row["created_at"])
            rows.append(row)
        return self.fill(File, rows)

    def known_folders(self, courses: set[int]) -> dict[tuple[int, str], int]:
        """Folders by course and path; every one of the courses has its root."""
        rows = self.fetch(_ALL_FOLDERS, courses=sorted(courses))
        known = {(row["course_id"], row["full_name"]): int(row["id"]) for row in rows}
        for course_id in sorted(courses):
            if (course_id, ROOT_FOLDER) not in known:
                self.add_folder(known, course_id, ROOT_FOLDER, hidden=False)
        return known

    def add_folder(self, known: dict[tuple[int, str], int], course_id: int, path: str, hidden: bool) -> int:
        """Add one folder to those ``known``; returns its id."""
        parent, _, name = path.rpartition("/")
        folder = Folder(
            course_id=course_id,
            parent_folder_id=known[course_id, parent] if parent else None,
            name=name,
            full_name=path,
            hidden=hidden,
            created_at=self.stamp,
            updated_at=self.stamp,
        )
        known[course_id, path] = self.insert(folder).id
        return folder.id
