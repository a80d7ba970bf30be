"""Pages of courses."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, or_, select, update

from mesocosm.errors import Invalid
from mesocosm.servers.canvas.models import User, WikiPage, usual
from mesocosm.servers.canvas.store import values
from mesocosm.servers.canvas.store.access import CourseAccess, CourseRows, StorePart, matching, table_of
from mesocosm.services.service import Page, Paging, Row

_PAGES = CourseRows(
    "page",
    WikiPage,
    WikiPage.title,
    shown=WikiPage.published,
    search=(WikiPage.title,),
    columns=select(*(column for column in WikiPage.__table__.c if column.name != "body")),
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
_FRONT_PAGE = select(WikiPage.url).where(WikiPage.course_id == bindparam("course"), WikiPage.front_page)
_URLS = select(WikiPage.course_id, WikiPage.url).where(
    WikiPage.course_id.in_(bindparam("courses", expanding=True))
)
_SORTS = {"title": WikiPage.title, "created_at": WikiPage.created_at, "updated_at": WikiPage.updated_at}


class Pages(StorePart):
    """Pages, and which of them is the front page."""

    def page(self, access: CourseAccess, url: str) -> Row:
        """A page by the last part of its address."""
        values.text(url, "page_url")
        return self.one(_PAGE, "page", url[:80], course=access.course["id"], url=url, staff=access.staff)

    def front_page(self, access: CourseAccess) -> Row:
        """The front page of a course."""
        url = self.one(_FRONT_PAGE, "front page", "of the course", course=access.course["id"])["url"]
        return self.page(access, url)

    def listed(
        self,
        access: CourseAccess,
        paging: Paging,
        *,
        sort: str = "title",
        order: str = "asc",
        search_term: str | None = None,
        published: bool | None = None,
    ) -> Page:
        """The pages of a course that match, by title unless told otherwise, without their bodies."""
        conditions = () if published is None else (WikiPage.published.is_(published),)
        found = None if search_term is None else matching(search_term, WikiPage.title)
        key: Any = _SORTS[values.choice(sort, "sort", _SORTS)]
        ordered = () if (sort, order) == ("title", "asc") else (key.desc() if order == "desc" else key,)
        wanted = conditions if found is None else (*conditions, found)
        return self.rows(_PAGES, access, paging, *wanted, order=ordered)

    def create_page(self, access: CourseAccess, fields: Mapping[str, Any]) -> Row:
        """Create a page, unpublished unless told otherwise; its address follows from its title."""
        course_id = access.course["id"]
        title = values.title(fields["title"], "title")
        taken = {row["url"] for row in self.fetch(_URLS, courses=[course_id])}
        page = self.insert(
            WikiPage(
                course_id=course_id,
                url=free_url(title, taken),
                title=title,
                body=values.text(fields.get("body", ""), "body"),
                published=fields.get("published", False),
                front_page=False,
                last_edited_by=access.user_id,
                created_at=self.stamp,
                updated_at=self.stamp,
            )
        )
        if fields.get("front_page"):
            self._set_front_page(access, page.id)
        return self.page(access, page.url)

    def update_page(self, access: CourseAccess, url: str, fields: Mapping[str, Any]) -> Row:
        """Change a page; with another title it moves to another address."""
        page = self.page(access, url)
        changes: dict[str, Any] = {"last_edited_by": access.user_id, "updated_at": self.stamp}
        if "title" in fields and fields["title"] != page["title"]:
            changes["title"] = values.title(fields["title"], "title")
            taken = {row["url"] for row in self.fetch(_URLS, courses=[access.course["id"]])} - {url}
            changes["url"] = free_url(changes["title"], taken)
        if "body" in fields:
            changes["body"] = values.text(fields["body"], "body")
        if "published" in fields:
            if page["front_page"] and not fields["published"]:
                raise Invalid("The front page cannot be unpublished", code="published.invalid")
            changes["published"] = fields["published"]
        self.change(WikiPage, page["id"], changes)
        if fields.get("front_page"):
            self._set_front_page(access, page["id"])
        return self.page(access, changes.get("url", url))

    def delete_page(self, access: CourseAccess, url: str) -> Row:
        """Delete a page with the module items that point to it; the front page stays."""
        page = self.page(access, url)
        if page["front_page"]:
            raise Invalid("The front page cannot be deleted")
        self.store.modules.remove_items("Page", page["id"])
        self.remove(WikiPage, page["id"])
        return page

    def _set_front_page(self, access: CourseAccess, page_id: int) -> None:
        pages = table_of(WikiPage)
        others = (pages.c.course_id == access.course["id"]) & pages.c.front_page
        self.session.execute(update(pages).where(others).values(front_page=False))
        self.session.expire_all()
        page = self.session.get_one(WikiPage, page_id)
        if not page.published:
            raise Invalid("The front page must be published", code="front_page.invalid")
        self.change(WikiPage, page_id, {"front_page": True})

    # -- filling ----------------------------------------------------------------------------------------

    def add_pages(self, pages: Sequence[Row]) -> list[int]:
        """Add pages with course, title and body; addresses follow from the titles. Returns their ids."""
        taken: dict[int, set[str]] = defaultdict(set)
        for known in self.fetch(_URLS, courses=sorted({page["course_id"] for page in pages})):
            taken[known["course_id"]].add(known["url"])
        rows: list[dict[str, Any]] = []
        for page in pages:
            row: dict[str, Any] = {**usual(WikiPage), "created_at": self.stamp, **page}
            row["url"] = free_url(row["title"], taken[row["course_id"]])
            row["created_at"] = values.stored_time(row["created_at"])
            row["updated_at"] = values.stored_time(row.get("updated_at") or row["created_at"])
            rows.append(row)
        return self.fill(WikiPage, rows)


def free_url(title: str, taken: set[str]) -> str:
    """The address of a page with this title, which becomes one of those ``taken``."""
    slug = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "page"
    url, number = slug, 1
    while url in taken:
        number += 1
        url = f"{slug}-{number}"
    taken.add(url)
    return url
