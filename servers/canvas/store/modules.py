"""Modules: the steps of a course, what is in them, and how far a student has come."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Integer, Select, bindparam, func, or_, select, update

from mesocosm.errors import Denied, Invalid
from mesocosm.servers.canvas.models import (
    Assignment,
    DiscussionTopic,
    File,
    ItemCompletion,
    Module,
    ModuleItem,
    Quiz,
    WikiPage,
    usual,
)
from mesocosm.servers.canvas.store import values
from mesocosm.servers.canvas.store.access import Clock, CourseAccess, CourseRows, StorePart, denied, table_of
from mesocosm.services.service import Page, Paging, Row
from mesocosm.services.values import Checks, checked

CONTENT: dict[str, Any] = {
    "Assignment": Assignment,
    "Quiz": Quiz,
    "File": File,
    "Page": WikiPage,
    "Discussion": DiscussionTopic,
}
EXTERNAL = ("ExternalUrl", "ExternalTool")
ITEM_TYPES = (*CONTENT, *EXTERNAL, "SubHeader")
MAX_INDENT = 5

_MODULES = CourseRows("module", Module, Module.position, shown=Module.published, search=(Module.name,))
_MODULE_IDS = select(Module.id, Module.position).where(Module.course_id == bindparam("course"))
_PAGE_URL = select(WikiPage.url).where(WikiPage.id == ModuleItem.content_id, ModuleItem.type == "Page")
_DONE = select(ItemCompletion.item_id).where(
    ItemCompletion.item_id == ModuleItem.id, ItemCompletion.user_id == bindparam("user")
)
_ITEM_COLUMNS: Select[Any] = select(
    *ModuleItem.__table__.c,
    _PAGE_URL.scalar_subquery().label("page_url"),
    _DONE.exists().label("completed"),
)
_SEEN = or_(ModuleItem.published, bindparam("staff"))
_ITEMS = CourseRows(
    "module item",
    ModuleItem,
    ModuleItem.position,
    shown=ModuleItem.published,
    columns=_ITEM_COLUMNS,
    inside=ModuleItem.module_id,
)
_BEFORE = select(ModuleItem.id).where(
    ModuleItem.module_id == bindparam("module"),
    ModuleItem.position < bindparam("position"),
    ModuleItem.type != "SubHeader",
    ModuleItem.published,
    ~_DONE.exists(),
)
_PROGRESS = (
    select(
        ModuleItem.module_id,
        func.count().label("items"),
        func.sum(_DONE.exists(), type_=Integer).label("done"),
        func.sum(ModuleItem.type == "SubHeader", type_=Integer).label("headers"),
    )
    .where(ModuleItem.module_id.in_(bindparam("modules", expanding=True)), _SEEN)
    .group_by(ModuleItem.module_id)
)
_COURSES_OF = select(Module.id, Module.course_id).where(Module.id.in_(bindparam("modules", expanding=True)))
_CONTENT_OF = {
    kind: select(model.id, model.course_id).where(model.id.in_(bindparam("keys", expanding=True)))
    for kind, model in CONTENT.items()
}
_LAST_ITEM = select(func.coalesce(func.max(ModuleItem.position), 0).label("last")).where(
    ModuleItem.module_id == bindparam("module")
)


_MODULE_ORDER = (
    select(Module.id).where(Module.course_id == bindparam("course")).order_by(Module.position, Module.id)
)
_ITEM_ORDER = (
    select(ModuleItem.id)
    .where(ModuleItem.module_id == bindparam("module"))
    .order_by(ModuleItem.position, ModuleItem.id)
)
_PREREQUISITES = select(Module.id, Module.prerequisite_module_ids).where(
    Module.course_id == bindparam("course")
)


MODULE: Checks = {"name": values.title, "unlock_at": values.moment}
"""Checks of a module's fields; ``ITEM`` of a module item's."""
ITEM: Checks = {
    "title": values.title,
    "indent": lambda indent, name: values.whole(indent, name, 0, MAX_INDENT),
}


class Modules(StorePart):
    """Modules and their items."""

    # -- reading ----------------------------------------------------------------------------------------

    def listed(self, access: CourseAccess, paging: Paging, *, search_term: str | None = None) -> Page:
        """The modules of a course that the user may see and that match, in their order."""
        return self.rows(_MODULES, access, paging, search_term=search_term)

    def module(self, access: CourseAccess, module_id: int) -> Row:
        """A module that the user may see."""
        return self.row(_MODULES, access, module_id)

    def item_counts(self, access: CourseAccess, module_ids: Sequence[int]) -> dict[int, int]:
        """Count the items of each module that the user may see."""
        return {key: row["items"] for key, row in self._progress(access, module_ids).items()}

    def states(self, access: CourseAccess, modules: Sequence[Row]) -> dict[int, str]:
        """Return the user's state in each module: locked, unlocked, started or completed."""
        wanted = {key for module in modules for key in (module["id"], *module["prerequisite_module_ids"])}
        progress = self._progress(access, sorted(wanted))
        return {module["id"]: _state(module, progress, access.clock) for module in modules}

    def items(self, access: CourseAccess, module_id: int, paging: Paging) -> Page:
        """The items of a module that the user may see, in their order."""
        self.module(access, module_id)
        return self.rows(_ITEMS, access, paging, inside=module_id)

    def item(self, access: CourseAccess, module_id: int, item_id: int) -> Row:
        """An item that the user may see."""
        self.module(access, module_id)
        return self.row(_ITEMS, access, item_id, module_id)

    def _progress(self, access: CourseAccess, module_ids: Sequence[int]) -> dict[int, Row]:
        rows = self.fetch(_PROGRESS, modules=module_ids, staff=access.staff, user=access.user_id)
        return {row["module_id"]: row for row in rows}

    # -- writing ----------------------------------------------------------------------------------------

    def complete(self, access: CourseAccess, module_id: int, item_id: int) -> Row:
        """Mark an item as done by the signed-in user; items of locked modules cannot be."""
        module, item = self.module(access, module_id), self.item(access, module_id, item_id)
        if access.ended or not (access.active or access.admin):
            raise denied()
        if self.states(access, [module])[module_id] == "locked":
            raise Denied("This module is locked: it is not open yet, or its prerequisites are not completed.")
        if module["require_sequential_progress"] and not access.staff:
            before = self.fetch(_BEFORE, module=module_id, position=item["position"], user=access.user_id)
            if before:
                raise Denied("This module's items must be completed in order.")
        if not item["completed"]:
            self.insert(ItemCompletion(item_id=item_id, user_id=access.user_id, completed_at=self.stamp))
        return self.item(access, module_id, item_id)

    def create_module(self, access: CourseAccess, fields: Mapping[str, Any]) -> Row:
        """Create a module, unpublished unless told otherwise; those at its position and after move down."""
        course_id = access.course["id"]
        existing = {row["id"]: row["position"] for row in self.fetch(_MODULE_IDS, course=course_id)}
        position = _position(fields, max(existing.values(), default=0))
        for key in fields.get("prerequisite_module_ids", []):
            if existing.get(key, position) >= position:
                raise Invalid(f"prerequisite_module_ids: {key} is not a module before this one")
        given = checked(fields, MODULE)
        after = (Module.course_id == course_id) & (Module.position >= position)
        self.session.execute(update(table_of(Module)).where(after).values(position=Module.position + 1))
        module = self.insert(
            Module(
                course_id=course_id,
                name=given["name"],
                position=position,
                unlock_at=given.get("unlock_at"),
                require_sequential_progress=fields.get("require_sequential_progress", False),
                prerequisite_module_ids=sorted(set(fields.get("prerequisite_module_ids", []))),
                published=fields.get("published", False),
            )
        )
        return self.module(access, module.id)

    def create_item(self, access: CourseAccess, module_id: int, fields: Mapping[str, Any]) -> Row:
        """Add an item to a module; those at its position and after move down."""
        self.module(access, module_id)
        position = _position(fields, self.fetch(_LAST_ITEM, module=module_id)[0]["last"])
        target, published = self._target(access, fields)
        given = checked(fields, ITEM)
        after = (ModuleItem.module_id == module_id) & (ModuleItem.position >= position)
        self.session.execute(
            update(table_of(ModuleItem)).where(after).values(position=ModuleItem.position + 1)
        )
        item = self.insert(
            ModuleItem(
                module_id=module_id,
                title=given["title"],
                type=fields["type"],
                position=position,
                indent=given.get("indent", 0),
                published=fields.get("published", published),
                **target,
            )
        )
        return self.item(access, module_id, item.id)

    def update_module(self, access: CourseAccess, module_id: int, fields: Mapping[str, Any]) -> Row:
        """Change a module; with ``position`` it moves."""
        self.module(access, module_id)
        changes = checked(fields, MODULE)
        order = self.ids(_MODULE_ORDER, course=access.course["id"])
        if "prerequisite_module_ids" in fields:
            before = order[: order.index(module_id)]
            for key in fields["prerequisite_module_ids"]:
                if key not in before:
                    raise Invalid(f"prerequisite_module_ids: {key} is not a module before this one")
        position = changes.pop("position", None)
        self.change(Module, module_id, changes)
        if position is not None:
            self._move(Module, order, module_id, position)
        return self.module(access, module_id)

    def delete_module(self, access: CourseAccess, module_id: int) -> Row:
        """Delete a module with its items; it is no prerequisite of others any more."""
        module = self.module(access, module_id)
        for row in self.fetch(_PREREQUISITES, course=access.course["id"]):
            if module_id in row["prerequisite_module_ids"]:
                kept = [key for key in row["prerequisite_module_ids"] if key != module_id]
                self.change(Module, row["id"], {"prerequisite_module_ids": kept})
        self.remove(Module, module_id)
        self._renumber(Module, self.ids(_MODULE_ORDER, course=access.course["id"]))
        return module

    def update_item(
        self, access: CourseAccess, module_id: int, item_id: int, fields: Mapping[str, Any]
    ) -> Row:
        """Change an item of a module; with ``position`` it moves, with ``module_id`` to another module."""
        item = self.item(access, module_id, item_id)
        changes = checked(fields, ITEM)
        if address := changes.pop("external_url", None):
            if item["type"] not in EXTERNAL:
                raise Invalid(f"external_url is not for an item of type {item['type']}")
            changes["external_url"] = values.web_address(address, "external_url")
        position, target = changes.pop("position", None), changes.get("module_id", module_id)
        self.module(access, target)
        if target != module_id:
            last = len(self.ids(_ITEM_ORDER, module=target))
            changes["position"] = last + 1
        self.change(ModuleItem, item_id, changes)
        if target != module_id:
            self._renumber(ModuleItem, self.ids(_ITEM_ORDER, module=module_id))
        if position is not None:
            self._move(ModuleItem, self.ids(_ITEM_ORDER, module=target), item_id, position)
        return self.item(access, target, item_id)

    def delete_item(self, access: CourseAccess, module_id: int, item_id: int) -> Row:
        """Take an item out of a module."""
        item = self.item(access, module_id, item_id)
        self.remove(ModuleItem, item_id)
        self._renumber(ModuleItem, self.ids(_ITEM_ORDER, module=module_id))
        return item

    def uncomplete(self, access: CourseAccess, module_id: int, item_id: int) -> Row:
        """Take back that the signed-in user has done an item."""
        item = self.item(access, module_id, item_id)
        if access.ended or not (access.active or access.admin):
            raise denied()
        if item["completed"]:
            self.remove(ItemCompletion, (item_id, access.user_id))
        return self.item(access, module_id, item_id)

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

    def _target(self, access: CourseAccess, fields: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
        """Return the target of an item, and whether it is published."""
        kind, course_id = fields["type"], access.course["id"]
        if kind == "SubHeader":
            return {"content_id": None, "external_url": None}, False
        if kind in EXTERNAL:
            address = fields.get("url") or fields.get("html_url") or ""
            if not address:
                raise Invalid(f"url is required for an item of type {kind}")
            return {"content_id": None, "external_url": values.web_address(address, "url")}, False
        content_id = fields.get("content_id")
        if content_id is None:
            raise Invalid(f"content_id is required for an item of type {kind}")
        model: Any = CONTENT[kind]
        found = self.session.get(model, content_id) if 0 < content_id < 2**63 else None
        if found is None or found.course_id != course_id:
            raise Invalid(f"content_id {content_id} is not a {kind} of this course")
        return {"content_id": content_id, "external_url": None}, getattr(found, "published", True)

    # -- filling ----------------------------------------------------------------------------------------

    def add_modules(self, modules: Sequence[Row]) -> list[int]:
        """Add modules to courses that have none yet, in order; returns their ids.

        ``course_id`` and ``name`` are required.
        """
        count: dict[int, int] = defaultdict(int)
        rows = []
        for module in modules:
            row: dict[str, Any] = {**usual(Module), **module}
            count[row["course_id"]] += 1
            row["unlock_at"] = values.stored_time(row["unlock_at"])
            rows.append({**row, "position": count[row["course_id"]]})
        return self.fill(Module, rows)

    def add_module_items(self, items: Sequence[Row]) -> list[int]:
        """Add items to modules that have none yet, in order; returns their ids.

        ``module_id``, ``title`` and ``type`` are required; ``content_id`` is needed but for ExternalUrl,
        ExternalTool (``external_url``) and SubHeader.
        """
        count: dict[int, int] = defaultdict(int)
        rows = []
        for item in items:
            row: dict[str, Any] = {**usual(ModuleItem), **item}
            values.choice(row["type"], "type", ITEM_TYPES)
            if (row["content_id"] is None) == (row["type"] in CONTENT):
                raise Invalid(f"a module item of type {row['type']} with content_id {row['content_id']}")
            count[row["module_id"]] += 1
            rows.append({**row, "position": count[row["module_id"]]})
        self._check_targets(rows)
        return self.fill(ModuleItem, rows)

    def _check_targets(self, rows: list[dict[str, Any]]) -> None:
        """Refuse items that point to what is not in their module's course."""
        keys = sorted({row["module_id"] for row in rows})
        course_of = {row["id"]: row["course_id"] for row in self.fetch(_COURSES_OF, modules=keys)}
        for kind in CONTENT:
            wanted = {(row["content_id"], course_of[row["module_id"]]) for row in rows if row["type"] == kind}
            keys = sorted(key for key, _ in wanted)
            found = {(row["id"], row["course_id"]) for row in self.fetch(_CONTENT_OF[kind], keys=keys)}
            if not wanted <= found:
                raise Invalid(f"no {kind} of the module's course: {min(wanted - found)[0]}")


def _position(fields: Mapping[str, Any], last: int) -> int:
    wanted = values.whole(fields.get("position", last + 1), "position", 1)
    return min(wanted, last + 1)


def _state(module: Row, progress: dict[int, Row], clock: Clock) -> str:
    if module["unlock_at"] and clock() < module["unlock_at"]:
        return "locked"
    if any(_level(progress.get(key)) != "completed" for key in module["prerequisite_module_ids"]):
        return "locked"
    return _level(progress.get(module["id"]))


def _level(progress: Row | None) -> str:
    """Of a module without anything to do, nothing is left to complete."""
    if progress is None or progress["done"] >= progress["items"] - progress["headers"]:
        return "completed"
    return "started" if progress["done"] else "unlocked"
