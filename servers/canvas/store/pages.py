"""Pages and files of courses."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any, TypedDict

from sqlalchemy import bindparam, or_, select

from mesocosm.errors import Invalid
from mesocosm.servers.canvas.models import File, Folder, User, WikiPage
from mesocosm.servers.canvas.store import values
from mesocosm.servers.canvas.store.access import CourseAccess, Lister, Paging, StorePart, denied, missing
from mesocosm.services.service import Page, Row

ROOT_FOLDER = "course files"

_PAGES = Lister(
    select(*(column for column in WikiPage.__table__.c if column.name != "body"))
    .where(WikiPage.course_id == bindparam("course"), or_(WikiPage.published, bindparam("staff")))
    .order_by(WikiPage.title, WikiPage.id)
)
_PAGE = (
    select(*WikiPage.__table__.c, User.name.label("editor_name"))
    .outerjoin(User, User.id == WikiPage.last_edited_by)
    .where(
        WikiPage.course_id == bindparam("course"),
        WikiPage.url == bindparam("url"),
        or_(WikiPage.published, bindparam("staff")),
    )
)
_URLS = select(WikiPage.course_id, WikiPage.url).where(
    WikiPage.course_id.in_(bindparam("courses", expanding=True))
)
_FILE_SHOWN = or_(File.hidden.is_(False), bindparam("staff"))
_FILES = Lister(
    select(*File.__table__.c)
    .where(File.course_id == bindparam("course"), _FILE_SHOWN)
    .order_by(File.display_name, File.id)
)
_FOLDER_FILES = Lister(
    select(*File.__table__.c)
    .where(File.folder_id == bindparam("folder"), _FILE_SHOWN)
    .order_by(File.display_name, File.id)
)
_FILE = select(*File.__table__.c).where(File.id == bindparam("file"))
_FOLDER_SHOWN = or_(Folder.hidden.is_(False), bindparam("staff"))
_FOLDERS = Lister(
    select(*Folder.__table__.c)
    .where(Folder.course_id == bindparam("course"), _FOLDER_SHOWN)
    .order_by(Folder.full_name, Folder.id)
)
_FOLDER = select(Folder.id).where(
    Folder.id == bindparam("folder"), Folder.course_id == bindparam("course"), _FOLDER_SHOWN
)
_ALL_FOLDERS = select(Folder.id, Folder.course_id, Folder.full_name).where(
    Folder.course_id.in_(bindparam("courses", expanding=True))
)


class NewPage(TypedDict, total=False):
    """A page for ``add_pages``; course, title and body are required; published by default."""

    course_id: int
    title: str
    body: str
    published: bool
    front_page: bool
    last_edited_by: int | None
    created_at: str
    updated_at: str


class NewFolder(TypedDict, total=False):
    """A folder for ``add_folders``: its course and its path, as in ``week 1/slides``."""

    course_id: int
    path: str
    hidden: bool


class NewFile(TypedDict, total=False):
    """A file for ``add_files``; ``display_name`` and ``size`` are required.

    One of a course has ``course_id`` (and ``folder_id``, without which it lies in the course's root folder);
    one that a user uploaded to hand in has ``user_id`` only.
    """

    course_id: int | None
    folder_id: int | None
    user_id: int | None
    display_name: str
    content_type: str
    size: int
    hidden: bool
    locked: bool
    created_at: str


class Pages(StorePart):
    """Pages and files."""

    def listed(self, access: CourseAccess, paging: Paging) -> Page:
        """The pages of a course by title, without their bodies."""
        return self.listing(_PAGES, paging, course=access.course["id"], staff=access.staff)

    def page(self, access: CourseAccess, url: str) -> Row:
        """A page by the last part of its address."""
        values.text(url, "page_url")
        return self.one(_PAGE, "page", url[:80], course=access.course["id"], url=url, staff=access.staff)

    def files(self, access: CourseAccess, folder_id: int | None, paging: Paging) -> Page:
        """The files of a course, or of one of its folders, by name."""
        course_id = access.course["id"]
        if folder_id is None:
            return self.listing(_FILES, paging, course=course_id, staff=access.staff)
        self.one(_FOLDER, "folder", folder_id, folder=folder_id, course=course_id, staff=access.staff)
        return self.listing(_FOLDER_FILES, paging, folder=folder_id, staff=access.staff)

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
        return self.listing(_FOLDERS, paging, course=access.course["id"], staff=access.staff)

    # -- filling ----------------------------------------------------------------------------------------

    def add_pages(self, pages: list[NewPage]) -> list[int]:
        """Add pages; their addresses follow from their titles. Returns their ids."""
        taken: dict[int, set[str]] = defaultdict(set)
        for known in self.fetch(_URLS, courses=sorted({page["course_id"] for page in pages})):
            taken[known["course_id"]].add(known["url"])
        rows: list[dict[str, Any]] = []
        for page in pages:
            row: dict[str, Any] = {**_NEW_PAGE, "created_at": self.stamp, **page}
            row["url"] = free_url(row["title"], taken[row["course_id"]])
            row["created_at"] = values.stored_time(row["created_at"])
            row["updated_at"] = values.stored_time(row.get("updated_at") or row["created_at"])
            rows.append(row)
        return self.fill(WikiPage, rows)

    def add_folders(self, folders: list[NewFolder]) -> list[int]:
        """Add folders, parents before children; each course's root folder comes by itself."""
        known = self.known_folders({folder["course_id"] for folder in folders})
        ids = []
        for folder in folders:
            path = f"{ROOT_FOLDER}/{folder['path'].strip('/')}"
            ids.append(self.add_folder(known, folder["course_id"], path, folder.get("hidden", False)))
        return ids

    def add_files(self, files: list[NewFile]) -> list[int]:
        """Add records of files; returns their ids."""
        known = self.known_folders({course for file in files if (course := file.get("course_id"))})
        rows = []
        for file in files:
            row: dict[str, Any] = {**_NEW_FILE, "created_at": self.stamp, **file}
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


_NEW_PAGE: dict[str, Any] = {"published": True, "front_page": False, "last_edited_by": None}
_NEW_FILE: dict[str, Any] = {
    "course_id": None,
    "folder_id": None,
    "user_id": None,
    "content_type": "application/octet-stream",
    "hidden": False,
    "locked": False,
}


def free_url(title: str, taken: set[str]) -> str:
    """The address of a page with this title, which becomes one of those ``taken``."""
    slug = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "page"
    url, number = slug, 1
    while url in taken:
        number += 1
        url = f"{slug}-{number}"
    taken.add(url)
    return url
