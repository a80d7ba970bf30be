"""Tools of the resources: from what is declared of one, and the sentences that only agents read."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from keyword import iskeyword
from typing import Annotated, Any, Literal, NamedTuple

from mesocosm.servers.woocommerce.store import Selection, WooCommerceStore, window
from mesocosm.servers.woocommerce.store.resources import Collection, ShopResource
from mesocosm.servers.woocommerce.tools.service import server
from mesocosm.servers.woocommerce.tools.shapes import only
from mesocosm.services.schema import Extra
from mesocosm.services.service import Page

Answer = dict[str, Any]
_CHOSEN = ("orderby", "order", "include", "exclude")
_NONE = inspect.Parameter.empty
_KIND = inspect.Parameter.POSITIONAL_OR_KEYWORD


class Argument(NamedTuple):
    """One parameter of a tool; those with a default may be left out."""

    name: str
    type: Any
    about: str
    default: Any = _NONE


def declare(
    name: str, about: str, arguments: Sequence[Argument], answer: Callable[..., Any], returns: Any = Answer
) -> Callable[..., Any]:
    """A function with these parameters, as a tool is written by hand."""
    store = Argument("store", WooCommerceStore, "")
    given = [
        inspect.Parameter(_in_python(one.name), _KIND, default=one.default, annotation=one.type)
        for one in (store, *arguments)
    ]

    def tool(store: WooCommerceStore, **values: Any) -> Any:
        return answer(store, **values)

    told = "".join(f"\n    {one.name}: {one.about}" for one in arguments)
    tool.__name__ = tool.__qualname__ = name
    tool.__doc__ = f"{about}\n\nArgs:{told}" if told else about
    tool.__annotations__ = {one.name: one.annotation for one in given} | {"return": returns}
    tool.__signature__ = inspect.Signature(given, return_annotation=returns)  # type: ignore[attr-defined]
    return tool


def _in_python(name: str) -> str:
    return f"{name}_" if iskeyword(name) else name


class ResourceTools:
    """The tools of a resource: ``woo_coupons_list`` and its like.

    Args:
        names: What their names begin with.
        one: What the product calls one.
        resource: The declaration.
        collection: The objects, in a store.
        fields: Fields that an agent may ask for alone, as an example; none where it cannot.
    """

    def __init__(
        self,
        names: str,
        one: str,
        resource: ShopResource,
        collection: Callable[[WooCommerceStore], Collection],
        *,
        data: Any = None,
        fields: str = "",
    ) -> None:
        self._names, self._one, self._resource, self._collection = names, one, resource, collection
        self._data, self._fields = data, fields
        self._id = Argument(f"{one}Id", int, f"ID of the {one}.")

    def list(self, about: str, things: str, *, long: bool = False) -> Callable[..., Any]:
        """Register the tool that lists them; ``long``: as of ``reads``."""
        resource, filters = self._resource, self._resource.filters
        names = {one.tool or name: name for name, one in filters.items() if one.about}
        said = [
            Argument(name, filters[known].type | None, filters[known].about, None)
            for name, known in names.items()
        ]
        first = [one for one in said if filters[names[one.name]].first]
        usual = resource.per_page
        pages = [
            Argument("perPage", int | None, f"{things} per page, 1 to 100; {usual} by default.", None),
            Argument("page", int | None, "Page number, from 1.", None),
        ]

        def answer(store: WooCommerceStore, **values: Any) -> Page:
            page, per_page, fields = (values.pop(name, None) for name in ("page", "perPage", "fields"))
            chosen = Selection(**{name: values.pop(name, None) for name in _CHOSEN})
            asked = {names[name]: value for name, value in values.items()}
            rows, total = self._collection(store).listed(
                page=page, per_page=per_page, selection=chosen, **asked
            )
            shown = [only(resource.shape(row), fields) for row in rows]
            return Page(shown, *window(page, per_page, usual), total)

        rest = [one for one in said if one not in first]
        if self._fields:
            rest += self._choices(things.lower())
        tool = declare(f"{self._names}_list", about, [*first, *pages, *rest], answer, Page)
        return server.reads(long=long)(tool)

    def _choices(self, things: str) -> Sequence[Argument]:
        by, direction = self._resource.order
        orders: Any = Literal[tuple(self._resource.orders)]
        said = {
            "orderby": (orders, f"What to order by; {by} by default."),
            "order": (Literal["asc", "desc"], f"Direction; {direction} by default."),
            "include": (list[int], f"Only {things} with these IDs."),
            "exclude": (list[int], f"No {things} with these IDs."),
            "fields": (list[str], f"Give only these fields of each {self._one}, such as {self._fields}."),
        }
        return [Argument(name, kind | None, about, None) for name, (kind, about) in said.items()]

    def get(self, about: str, of: str = "") -> Callable[..., Any]:
        """Register the tool that reads one; ``of`` says more of its id."""
        id_ = self._id._replace(about=of or self._id.about)

        def answer(store: WooCommerceStore, **values: Any) -> Answer:
            shape = self._resource.shape(self._collection(store).one(values[self._id.name]))
            return only(shape, values.get("fields"))

        fields = Argument("fields", list[str] | None, "Give only these fields.", None)
        arguments = [id_, fields] if self._fields else [id_]
        return server.reads(declare(f"{self._names}_get", about, arguments, answer))

    def create(self, about: str, data: str) -> Callable[..., Any]:
        """Register the tool that makes one."""
        body = Argument(f"{self._one}Data", self._data, data)

        def answer(store: WooCommerceStore, **values: Any) -> Answer:
            return self._resource.shape(self._collection(store).create(values[body.name]))

        return server.writes(declare(f"{self._names}_create", about, [body], answer))

    def create_of(self, about: str, **told: str | tuple[str, Any]) -> Callable[..., Any]:
        """Register the tool that makes one of fields that are its arguments: what is told of each, with the
        default where one is shown."""

        def answer(store: WooCommerceStore, **values: Any) -> Answer:
            return self._resource.shape(self._collection(store).create(_given(values)))

        return server.writes(declare(f"{self._names}_create", about, self._arguments(told), answer))

    def update_of(self, about: str, of: str, **told: str) -> Callable[..., Any]:
        """Register the tool that changes one by such arguments."""
        id_ = self._id._replace(about=of)

        def answer(store: WooCommerceStore, **values: Any) -> Answer:
            one = values.pop(id_.name)
            return self._resource.shape(self._collection(store).change(one, _given(values)))

        arguments = [id_, *self._arguments(told, optional=True)]
        return server.writes(idempotent=True)(declare(f"{self._names}_update", about, arguments, answer))

    def _arguments(
        self, told: Mapping[str, str | tuple[str, Any]], *, optional: bool = False
    ) -> Sequence[Argument]:
        found = []
        for given, said in told.items():
            name = given.removesuffix("_")
            about, default = said if isinstance(said, tuple) else (said, None)
            kind = self._resource.taken(name)
            if name in self._resource.required and not optional:
                found.append(Argument(name, kind, about))
            else:
                found.append(Argument(name, kind | None if default is None else kind, about, default))
        return found

    def update(self, about: str, more: str = "", data: Any = None) -> Callable[..., Any]:
        """Register the tool that changes one; ``more`` goes on after what it takes."""
        changes: Any = data or Annotated[self._data, Extra(required=[])]
        told = f"The fields to change, as for {self._names}_create{more}."
        body = Argument(f"{self._one}Data", changes, told)

        def answer(store: WooCommerceStore, **values: Any) -> Answer:
            changed = self._collection(store).change(values[self._id.name], values[body.name])
            return self._resource.shape(changed)

        function = declare(f"{self._names}_update", about, [self._id, body], answer)
        return server.writes(idempotent=True)(function)

    def delete(self, about: str, force: str, usual: bool) -> Callable[..., Any]:
        """Register the tool that deletes one, for good if ``usual``."""

        def answer(store: WooCommerceStore, **values: Any) -> Answer:
            gone = self._collection(store).remove(values[self._id.name], force=values.get("force", usual))
            return self._resource.shape(gone)

        arguments = [self._id, Argument("force", bool, force, usual)]
        return server.writes(destructive=True)(declare(f"{self._names}_delete", about, arguments, answer))


def _given(values: Mapping[str, Any]) -> Answer:
    return {name.removesuffix("_"): value for name, value in values.items() if value is not None}
