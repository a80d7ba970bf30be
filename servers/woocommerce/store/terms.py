"""Categories and tags of products."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NotRequired, TypedDict

from sqlalchemy import bindparam, func, select

from mesocosm.servers.woocommerce.models import Category, Product, ProductCategory, ProductTag, Tag
from mesocosm.servers.woocommerce.refusals import invalid, invalid_parameter, missing, not_found
from mesocosm.servers.woocommerce.store.selection import EVERYTHING, Selection, chosen, ordering
from mesocosm.servers.woocommerce.store.shop import Part, Record, Row
from mesocosm.servers.woocommerce.values import (
    MAX_COUNT,
    checked,
    choice,
    fields,
    free_slug,
    identifier,
    line,
    optional,
    slug_of,
    text,
    title,
    url,
    whole,
    window,
)
from mesocosm.services.values import Checks

DISPLAYS = ("default", "products", "subcategories", "both")

_CATEGORY_CHECKS: Checks = {
    "name": title,
    "slug": line,
    "parent": identifier,
    "description": text,
    "display": choice(*DISPLAYS),
    "image": optional(fields({"src": url, "alt": line, "name": line}, ("id",))),
    "menu_order": whole(0, MAX_COUNT),
    "menuOrder": whole(0, MAX_COUNT),
}
_TAG_CHECKS: Checks = {"name": title, "slug": line, "description": text}
_READ_ONLY = ("id", "count", "_links")

_CATEGORY_COUNT = (
    select(func.count())
    .select_from(ProductCategory)
    .join(Product, Product.id == ProductCategory.product_id)
    .where(ProductCategory.category_id == Category.id, Product.status == "publish")
    .scalar_subquery()
)
_TAG_COUNT = (
    select(func.count())
    .select_from(ProductTag)
    .join(Product, Product.id == ProductTag.product_id)
    .where(ProductTag.tag_id == Tag.id, Product.status == "publish")
    .scalar_subquery()
)
_CATEGORIES = select(*Category.__table__.c, _CATEGORY_COUNT.label("count"))
_TAGS = select(*Tag.__table__.c, _TAG_COUNT.label("count"))
_CATEGORY_BY_ID = _CATEGORIES.where(Category.id == bindparam("id"))
TAG_BY_ID = _TAGS.where(Tag.id == bindparam("id"))
_PARENTS = select(Category.id, Category.parent)
_CATEGORY_NAMES = select(Category.id, Category.name, Category.parent, Category.slug)
_TAG_SLUGS = select(Tag.slug)


class NewCategory(TypedDict):
    """A category for ``add_categories``."""

    name: str
    slug: NotRequired[str]
    parent: NotRequired[int]
    description: NotRequired[str]
    display: NotRequired[str]
    image: NotRequired[dict[str, str]]
    menu_order: NotRequired[int]


class NewTag(TypedDict):
    """A tag for ``add_tags``."""

    name: str
    slug: NotRequired[str]
    description: NotRequired[str]


class Terms(Part):
    """Categories and tags of products."""

    def categories(
        self,
        *,
        page: int | None,
        per_page: int | None,
        search: str | None = None,
        parent: int | None = None,
        hide_empty: bool | None = None,
        slug: str | None = None,
        selection: Selection = EVERYTHING,
    ) -> tuple[Sequence[Record], int]:
        """One page of the categories, by name, and how many there are."""
        self.authorise("view")
        conditions = _term_conditions(Category, search, slug)
        if parent is not None:
            conditions.append(Category.parent == parent)
        if hide_empty:
            conditions.append(_CATEGORY_COUNT > 0)
        return self._terms(Category, _CATEGORIES, _CATEGORY_COUNT, conditions, selection, page, per_page)

    def tags(
        self,
        *,
        page: int | None,
        per_page: int | None,
        search: str | None = None,
        hide_empty: bool | None = None,
        slug: str | None = None,
        selection: Selection = EVERYTHING,
    ) -> tuple[Sequence[Record], int]:
        """One page of the tags, by name, and how many there are."""
        self.authorise("view")
        conditions = _term_conditions(Tag, search, slug)
        if hide_empty:
            conditions.append(_TAG_COUNT > 0)
        return self._terms(Tag, _TAGS, _TAG_COUNT, conditions, selection, page, per_page)

    def _terms(
        self,
        kind: type[Category] | type[Tag],
        statement: Any,
        count: Any,
        conditions: list[Any],
        selection: Selection,
        page: int | None,
        per_page: int | None,
    ) -> tuple[Sequence[Record], int]:
        page, per_page = window(page, per_page)
        conditions = conditions + chosen(kind, selection)
        columns = {"id": kind.id, "name": func.lower(kind.name), "slug": kind.slug, "count": count}
        order = ordering(kind, selection, columns | {"description": kind.description}, "name", "asc")
        ordered = statement.where(*conditions).order_by(*order)
        rows = self.fetch(ordered.limit(per_page).offset((page - 1) * per_page))
        return rows, self.count(kind, *conditions)

    def create_category(self, data: Mapping[str, Any]) -> Record:
        """A new category."""
        self.authorise("create")
        (category_id,) = self._add_categories([data])
        return self.category_record(category_id)

    def category_record(self, category_id: int) -> Record:
        """A category that exists."""
        rows = self.fetch(_CATEGORY_BY_ID, id=category_id)
        if not rows:
            raise not_found("woocommerce_rest_term_invalid", "Resource does not exist.")
        return rows[0]

    def add_categories(self, categories: Iterable[NewCategory]) -> list[int]:
        """Many categories at once; returns their ids. A parent must be there, or earlier in the list."""
        return self._add_categories(categories)

    def _add_categories(self, categories: Iterable[Mapping[str, Any]]) -> list[int]:
        found = self.fetch(_CATEGORY_NAMES)
        names = {(row["parent"], row["name"].lower()) for row in found}
        slugs = {row["slug"] for row in found}
        ids = {row["id"] for row in found}
        rows: list[Row] = []
        next_id = self.next_id(Category)
        for entry in categories:
            row = _category_row(entry) | {"id": next_id + len(rows)}
            if row["parent"] and row["parent"] not in ids:
                raise invalid("woocommerce_rest_term_invalid", "Parent term does not exist.")
            name = (row["parent"], row["name"].lower())
            if name in names or row["slug"] in slugs:
                raise invalid("term_exists", "A term with the name provided already exists with this parent.")
            row["slug"] = row["slug"] or free_slug(slug_of(row["name"]) or f"category-{row['id']}", slugs)
            names.add(name)
            slugs.add(row["slug"])
            ids.add(row["id"])
            rows.append(row)
        self.add(Category, rows)
        return [row["id"] for row in rows]

    def add_tags(self, tags: Iterable[NewTag] | Iterable[Mapping[str, Any]]) -> list[int]:
        """Many tags at once; returns their ids."""
        slugs = {row["slug"] for row in self.fetch(_TAG_SLUGS)}
        rows: list[Row] = []
        next_id = self.next_id(Tag)
        for entry in tags:
            row = {"slug": "", "description": ""} | checked(entry, _TAG_CHECKS) | {"id": next_id + len(rows)}
            if "name" not in row:
                raise _nameless()
            row["slug"] = slug_of(row["slug"] or row["name"]) or f"tag-{row['id']}"
            if row["slug"] in slugs:
                raise invalid("term_exists", "A term with the name and slug provided already exists.")
            slugs.add(row["slug"])
            rows.append(row)
        self.add(Tag, rows)
        return [row["id"] for row in rows]

    def category_parents(self) -> dict[int, int]:
        """The parent of each category; 0 at the top."""
        return {row["id"]: row["parent"] for row in self.fetch(_PARENTS)}

    def with_descendants(self, category_ids: Iterable[int]) -> list[int]:
        """Categories together with all below them: a product's category is also the ones above it."""
        children: dict[int, list[int]] = {}
        for category, parent in self.category_parents().items():
            children.setdefault(parent, []).append(category)
        found: list[int] = []
        waiting = list(category_ids)
        while waiting:
            category = waiting.pop()
            if category and category not in found:
                found.append(category)
                waiting += children.get(category, [])
        return found


def category_changes(entry: Mapping[str, Any]) -> Row:
    """The columns of a category that some data is about."""
    data = checked(entry, _CATEGORY_CHECKS, _READ_ONLY)
    if "menuOrder" in data:
        data["menu_order"] = data.pop("menuOrder")
    return data


def tag_changes(entry: Mapping[str, Any]) -> Row:
    """The columns of a tag that some data is about."""
    return checked(entry, _TAG_CHECKS, _READ_ONLY)


def _category_row(entry: Mapping[str, Any]) -> Row:
    data = checked(entry, _CATEGORY_CHECKS, _READ_ONLY)
    if "name" not in data:
        raise _nameless()
    menu_order = data.pop("menuOrder", 0)
    image = data.pop("image", None)
    if image is not None and "src" not in image:
        raise invalid_parameter("image.src", "An image needs a src.")
    defaults = {"parent": 0, "description": "", "display": "default", "menu_order": menu_order}
    return defaults | data | {"slug": slug_of(data.get("slug", "")), "image": image}


def _nameless() -> Exception:
    return missing("name")


def _term_conditions(kind: type[Category] | type[Tag], search: str | None, slug: str | None) -> list[Any]:
    found: list[Any] = [kind.slug == slug] if slug else []
    if not search:
        return found
    wanted = text(search, "search")
    return [
        *found,
        kind.name.icontains(wanted, autoescape=True) | kind.slug.icontains(wanted, autoescape=True),
    ]
