"""Changing the material of a course: modules with their items, and pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, select, update

from mesocosm.errors import Invalid
from mesocosm.servers.canvas.models import (
    ItemCompletion,
    Module,
    ModuleItem,
    WikiPage,
)
from mesocosm.servers.canvas.store import values
from mesocosm.servers.canvas.store.access import CourseAccess, Lister, Paging, StorePart, denied, table_of
from mesocosm.servers.canvas.store.accounts import matching
from mesocosm.servers.canvas.store.modules import EXTERNAL, ITEM, MODULE
from mesocosm.servers.canvas.store.pages import free_url
from mesocosm.services.service import Page, Row
from mesocosm.services.values import checked

_MODULES = (
    select(Module.id).where(Module.course_id == bindparam("course")).order_by(Module.position, Module.id)
)
_MODULE_ITEMS = (
    select(ModuleItem.id)
    .where(ModuleItem.module_id == bindparam("module"))
    .order_by(ModuleItem.position, ModuleItem.id)
)
_PREREQUISITES = select(Module.id, Module.prerequisite_module_ids).where(
    Module.course_id == bindparam("course")
)
_URLS = select(WikiPage.url).where(WikiPage.course_id == bindparam("course"))
_FRONT_PAGE = select(WikiPage.url).where(WikiPage.course_id == bindparam("course"), WikiPage.front_page)


class Authoring(StorePart):
    """Changes by a course's staff to its material."""

    # -- modules ----------------------------------------------------------------------------------------

    def find_modules(self, access: CourseAccess, paging: Paging, *, search_term: str | None = None) -> Page:
        """The modules of a course whose names match."""
        if search_term is None:
            return self.store.modules.listed(access, paging)
        statement = select(*Module.__table__.c).where(
            Module.course_id == access.course["id"], matching(search_term, Module.name)
        )
        if not access.staff:
            statement = statement.where(Module.published)
        return self.listing(Lister(statement.order_by(Module.position, Module.id)), paging)

    def update_module(self, access: CourseAccess, module_id: int, fields: Mapping[str, Any]) -> Row:
        """Change a module; with ``position`` it moves."""
        self.store.modules.module(access, module_id)
        changes = checked(fields, MODULE)
        order = self.ids(_MODULES, course=access.course["id"])
        if "prerequisite_module_ids" in fields:
            before = order[: order.index(module_id)]
            for key in fields["prerequisite_module_ids"]:
                if key not in before:
                    raise Invalid(f"prerequisite_module_ids: {key} is not a module before this one")
        position = changes.pop("position", None)
        self.change(Module, module_id, changes)
        if position is not None:
            self._move(Module, order, module_id, position)
        return self.store.modules.module(access, module_id)

    def delete_module(self, access: CourseAccess, module_id: int) -> Row:
        """Delete a module with its items; it is no prerequisite of others any more."""
        module = self.store.modules.module(access, module_id)
        for row in self.fetch(_PREREQUISITES, course=access.course["id"]):
            if module_id in row["prerequisite_module_ids"]:
                kept = [key for key in row["prerequisite_module_ids"] if key != module_id]
                self.change(Module, row["id"], {"prerequisite_module_ids": kept})
        self.remove(Module, module_id)
        self._renumber(Module, self.ids(_MODULES, course=access.course["id"]))
        return module

    def update_item(
        self, access: CourseAccess, module_id: int, item_id: int, fields: Mapping[str, Any]
    ) -> Row:
        """Change an item of a module; with ``position`` it moves, with ``module_id`` to another module."""
        item = self.store.modules.item(access, module_id, item_id)
        changes = checked(fields, ITEM)
        if address := changes.pop("external_url", None):
            if item["type"] not in EXTERNAL:
                raise Invalid(f"external_url is not for an item of type {item['type']}")
            changes["external_url"] = values.web_address(address, "external_url")
        position, target = changes.pop("position", None), changes.get("module_id", module_id)
        self.store.modules.module(access, target)
        if target != module_id:
            last = len(self.ids(_MODULE_ITEMS, module=target))
            changes["position"] = last + 1
        self.change(ModuleItem, item_id, changes)
        if target != module_id:
            self._renumber(ModuleItem, self.ids(_MODULE_ITEMS, module=module_id))
        if position is not None:
            self._move(ModuleItem, self.ids(_MODULE_ITEMS, module=target), item_id, position)
        return self.store.modules.item(access, target, item_id)

    def delete_item(self, access: CourseAccess, module_id: int, item_id: int) -> Row:
        """Take an item out of a module."""
        item = self.store.modules.item(access, module_id, item_id)
        self.remove(ModuleItem, item_id)
        self._renumber(ModuleItem, self.ids(_MODULE_ITEMS, module=module_id))
        return item

    def uncomplete(self, access: CourseAccess, module_id: int, item_id: int) -> Row:
        """Take back that the signed-in user has done an item."""
        item = self.store.modules.item(access, module_id, item_id)
        if access.ended or not (access.active or access.admin):
            raise denied()
        if item["completed"]:
            self.session.delete(self.session.get_one(ItemCompletion, (item_id, access.user_id)))
            self.session.flush()
        return self.store.modules.item(access, module_id, item_id)

    # -- pages ------------------------------------------------------------------------------------------

    def front_page(self, access: CourseAccess) -> Row:
        """The front page of a course."""
        url = self.one(_FRONT_PAGE, "front page", "of the course", course=access.course["id"])["url"]
        return self.store.pages.page(access, url)

    def find_pages(
        self,
        access: CourseAccess,
        paging: Paging,
        *,
        sort: str = "title",
        order: str = "asc",
        search_term: str | None = None,
        published: bool | None = None,
    ) -> Page:
        """The pages of a course that match, without their bodies."""
        columns = [column for column in WikiPage.__table__.c if column.name != "body"]
        statement = select(*columns).where(WikiPage.course_id == access.course["id"])
        if not access.staff:
            statement = statement.where(WikiPage.published)
        if published is not None:
            statement = statement.where(WikiPage.published.is_(published))
        if search_term is not None:
            statement = statement.where(matching(search_term, WikiPage.title))
        keys = {"title": WikiPage.title, "created_at": WikiPage.created_at, "updated_at": WikiPage.updated_at}
        key: Any = keys[values.choice(sort, "sort", keys)]
        ordered = statement.order_by(key.desc() if order == "desc" else key.asc(), WikiPage.id)
        return self.listing(Lister(ordered), paging)

    def create_page(self, access: CourseAccess, fields: Mapping[str, Any]) -> Row:
        """Create a page, unpublished unless told otherwise; its address follows from its title."""
        course_id = access.course["id"]
        title = values.title(fields["title"], "title")
        taken = {row["url"] for row in self.fetch(_URLS, course=course_id)}
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
        return self.store.pages.page(access, page.url)

    def update_page(self, access: CourseAccess, url: str, fields: Mapping[str, Any]) -> Row:
        """Change a page; with another title it moves to another address."""
        page = self.store.pages.page(access, url)
        changes: dict[str, Any] = {"last_edited_by": access.user_id, "updated_at": self.stamp}
        if "title" in fields and fields["title"] != page["title"]:
            changes["title"] = values.title(fields["title"], "title")
            taken = {row["url"] for row in self.fetch(_URLS, course=access.course["id"])} - {url}
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
        return self.store.pages.page(access, changes.get("url", url))

    def delete_page(self, access: CourseAccess, url: str) -> Row:
        """Delete a page with the module items that point to it; the front page stays."""
        page = self.store.pages.page(access, url)
        if page["front_page"]:
            raise Invalid("The front page cannot be deleted")
        self.remove_items("Page", page["id"])
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

    # -- rows -------------------------------------------------------------------------------------------

    def remove_items(self, kind: str, content_id: int) -> None:
        """Take what is deleted out of the modules."""
        statement = select(ModuleItem.id).where(ModuleItem.type == kind, ModuleItem.content_id == content_id)
        for key in self.ids(statement):
            self.remove(ModuleItem, key)

    def _move(self, table: type[Module | ModuleItem], order: list[int], key: int, position: int) -> None:
        order.remove(key)
        order.insert(values.whole(position, "position", 1) - 1, key)
        self._renumber(table, order)

    def _renumber(self, table: type[Module | ModuleItem], order: Sequence[int]) -> None:
        for position, key in enumerate(order, 1):
            self.change(table, key, {"position": position})
