"""A small shop that every test of the service starts from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from shop import (
    ADMIN,
    ANN,
    BLUE,
    BOB,
    CHAIR,
    CLOTHES,
    FURNITURE,
    GUEST_ORDER,
    OAK,
    OLD_ORDER,
    PENDING_ORDER,
    RED,
    SEATS,
    SHIRT,
    STOOL,
    TABLE,
    TEN_PERCENT,
    fill_shop,
)

from mesocosm.servers.woocommerce.store import WooCommerceStore
from mesocosm.services.calling import ToolError
from mesocosm.services.world import World


@dataclass
class Shop:
    """The tools of a shop, and a look at what they leave behind."""

    tools: Any

    CHAIR, STOOL, SHIRT, RED, BLUE, TABLE = CHAIR, STOOL, SHIRT, RED, BLUE, TABLE
    FURNITURE, SEATS, CLOTHES = FURNITURE, SEATS, CLOTHES
    OAK, TEN_PERCENT = OAK, TEN_PERCENT
    ADMIN, ANN, BOB = ADMIN, ANN, BOB
    OLD_ORDER, PENDING_ORDER, GUEST_ORDER = OLD_ORDER, PENDING_ORDER, GUEST_ORDER

    def call(self, tool: str, **arguments: Any) -> Any:
        return self.tools.call("woocommerce", f"woo_{tool}", **arguments)

    def blocks(self, tool: str, **arguments: Any) -> list[str]:
        return list(self.tools.read("woocommerce", f"woo_{tool}", arguments))

    def state(self) -> bytes:
        return bytes((self.tools.world.path / "woocommerce.db").read_bytes())

    def refusal(self, tool: str, **arguments: Any) -> str:
        """The text of a call that is refused and leaves no trace."""
        before = self.state()
        with pytest.raises(ToolError) as refused:
            self.call(tool, **arguments)
        assert self.state() == before
        assert "Internal error" not in str(refused.value)
        return str(refused.value)

    def product(self, product_id: int, *fields: str) -> Any:
        found = self.call("products_get", productId=product_id, fields=list(fields))
        return found[fields[0]] if len(fields) == 1 else found

    def stock(self, product_id: int) -> Any:
        return self.product(product_id, "stock_quantity")

    def notes(self, order_id: int) -> list[str]:
        """The notes of an order, which no tool lists."""
        store = self.tools.world.store(WooCommerceStore)
        connection = store.session.connection()
        rows = connection.exec_driver_sql(
            "SELECT note FROM order_notes WHERE order_id = ? ORDER BY id", (order_id,)
        )
        found = [row[0] for row in rows]
        store.session.rollback()
        return found


@pytest.fixture
def open_shop(open_tools: Callable[..., Any]) -> Callable[..., Shop]:
    """``open_shop(further)``: the shop, after ``further(store)`` changed it."""

    def make(further: Callable[[WooCommerceStore], Any] | None = None) -> Shop:
        if further is None:
            return Shop(open_tools(fill_shop, "woocommerce"))

        def fill(world: World) -> None:
            fill_shop(world)
            further(world.store(WooCommerceStore))

        return Shop(open_tools(fill, "woocommerce"))

    return make


@pytest.fixture
def shop(open_shop: Callable[..., Shop]) -> Shop:
    """The shop."""
    return open_shop()
