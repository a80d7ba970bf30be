"""Batches: many objects in one request, each done or refused by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from mesocosm.errors import Refusal
from mesocosm.servers.woocommerce.refusals import invalid_parameter, too_large
from mesocosm.servers.woocommerce.store.shop import Row, StorePart
from mesocosm.servers.woocommerce.values import identifier

MAX_BATCH = 100

Result = Row | tuple[int, Refusal]
"""The record of an object, or the id that was meant (0 for a new one) and why it was refused."""


class Batches(StorePart):
    """Batches of products and orders, and of what else has the same three verbs."""

    def batch_products(
        self,
        create: Sequence[Mapping[str, Any]] | None,
        update: Sequence[Mapping[str, Any]] | None,
        delete: Sequence[int] | None,
    ) -> dict[str, list[Result]]:
        """Create, update and delete products; deletion is for good."""
        return self.batch(
            (create, update, delete),
            self.store.catalogue.create_product,
            self.store.catalogue.update_product,
            lambda product: self.store.catalogue.delete_product(product, force=True),
        )

    def batch_orders(
        self,
        create: Sequence[Mapping[str, Any]] | None,
        update: Sequence[Mapping[str, Any]] | None,
        delete: Sequence[int] | None,
    ) -> dict[str, list[Result]]:
        """Create, update and delete orders; deletion is for good."""
        return self.batch(
            (create, update, delete),
            self.store.ordering.create_order,
            self.store.ordering.update_order,
            lambda order: self.store.ordering.delete_order(order, force=True),
        )

    def batch(
        self,
        parts: tuple[
            Sequence[Mapping[str, Any]] | None, Sequence[Mapping[str, Any]] | None, Sequence[int] | None
        ],
        create: Callable[[Mapping[str, Any]], Row],
        update: Callable[[int, Mapping[str, Any]], Row],
        delete: Callable[[int], Row],
    ) -> dict[str, list[Result]]:
        """The results of each part that was given. A batch that is not well-formed is refused whole."""
        self.authorise("edit")
        new, changed, gone = parts
        _check_batch(new, changed, gone)
        results: dict[str, list[Result]] = {}
        if new is not None:
            results["create"] = [self._one(0, partial(create, data)) for data in new]
        if changed is not None:
            ids = [int(data["id"]) for data in changed]
            todo = zip(ids, changed, strict=True)
            results["update"] = [self._one(target, partial(update, target, data)) for target, data in todo]
        if gone is not None:
            results["delete"] = [self._one(target, partial(delete, target)) for target in gone]
        return results

    def _one(self, target: int, do: Callable[[], Row]) -> Result:
        """Do one item of a batch; one that is refused leaves no trace."""
        savepoint = self.session.begin_nested()
        try:
            record = do()
        except Refusal as refusal:
            savepoint.rollback()
            return target, refusal
        savepoint.commit()
        return record


def _check_batch(
    create: Sequence[Any] | None, update: Sequence[Any] | None, delete: Sequence[Any] | None
) -> None:
    items = [*(create or ()), *(update or ()), *(delete or ())]
    if not items:
        raise invalid_parameter("create", "Name at least one object to create, update or delete.")
    if len(items) > MAX_BATCH:
        raise too_large(MAX_BATCH)
    for index, data in enumerate(update or ()):
        if "id" not in data:
            raise invalid_parameter(f"update[{index}].id", "An object to update is named by its id.")
        identifier(data["id"], f"update[{index}].id")
