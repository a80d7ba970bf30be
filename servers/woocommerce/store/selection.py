"""Base of all lists: selection and order of objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import case

from mesocosm.servers.woocommerce.refusals import invalid, invalid_parameter
from mesocosm.servers.woocommerce.values import MAX_LIST, date, is_whole_day


@dataclass(frozen=True)
class Selection:
    """Selection common to all lists; ``None`` does not filter."""

    include: Sequence[int] | None = None
    exclude: Sequence[int] | None = None
    after: str | None = None
    before: str | None = None
    orderby: str | None = None
    order: str | None = None


EVERYTHING = Selection()


def ordering(
    kind: Any, selection: Selection, columns: Mapping[str, Any], orderby: str, order: str
) -> list[Any]:
    """Build the order of a list: ``orderby`` and ``order`` unless the selection overrides them."""
    wanted = selection.orderby or orderby
    if wanted == "include":
        return [included_order(kind, selection.include)]
    if (selection.order or order) == "asc":
        return [columns[wanted].asc(), kind.id]
    return [columns[wanted].desc(), kind.id.desc()]


def chosen(kind: Any, wanted: Any) -> list[Any]:
    """Conditions on the id and on the date of creation that listings share."""
    found = []
    for name, ids in (("include", wanted.include), ("exclude", wanted.exclude)):
        if ids is not None:
            if len(ids) > MAX_LIST:
                raise invalid_parameter(name, f"{name} must contain at most {MAX_LIST} items.")
            condition = kind.id.in_(list(ids))
            found.append(condition if name == "include" else ~condition)
    if wanted.after is not None:
        after = date(wanted.after, "after")
        # A moment is left out as the product does; a day alone is meant as a whole.
        within = kind.date_created >= after if is_whole_day(wanted.after) else kind.date_created > after
        found.append(within)
    if wanted.before is not None:
        found.append(kind.date_created < date(wanted.before, "before"))
    return found + _modified_within(kind, wanted)


def _modified_within(kind: Any, wanted: Any) -> list[Any]:
    found = []
    if getattr(wanted, "modified_after", None) is not None:
        found.append(kind.date_modified > date(wanted.modified_after, "modified_after"))
    if getattr(wanted, "modified_before", None) is not None:
        found.append(kind.date_modified < date(wanted.modified_before, "modified_before"))
    return found


def included_order(kind: Any, ids: Sequence[int] | None) -> Any:
    """The order in which ``include`` names the objects."""
    if not ids:
        raise invalid(
            "rest_orderby_include_missing_include",
            "You need to define an include parameter to order by include.",
        )
    return case({value: place for place, value in enumerate(ids)}, value=kind.id)
