"""Stock and sales counts, as orders change them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import bindparam, select, update

from mesocosm.servers.woocommerce.models import LineItem, Order, Product
from mesocosm.servers.woocommerce.store.product_data import stock_status
from mesocosm.servers.woocommerce.store.shop import Record, StorePart

_LINES = select(LineItem.__table__).where(LineItem.order_id == bindparam("order")).order_by(LineItem.id)


class Stock(StorePart):
    """Stock and sales counts, as orders change them."""

    def order_lines(self, order_id: int) -> Sequence[Record]:
        """The line items of an order as the table keeps them."""
        return self.fetch(_LINES, order=order_id)

    def reduce_stock(self, order_id: int) -> None:
        """Take the pieces of an order from stock, where stock is managed, and note it on the order."""
        told = []
        for line in self.order_lines(order_id):
            change = self._move_stock(line, -line["quantity"])
            if change:
                self._set_reduced(line, line["quantity"])
                told.append(change)
        self.run(update(Order).where(Order.id == order_id).values(stock_reduced=True))
        if told:
            self.store.orders.write_note(order_id, "Stock levels reduced: " + ", ".join(told))

    def return_stock(self, order_id: int) -> None:
        """Put back what an order took from stock and did not return yet."""
        told = []
        for line in self.order_lines(order_id):
            change = self._move_stock(line, line["reduced_stock"]) if line["reduced_stock"] else None
            if change:
                told.append(change)
            self._set_reduced(line, 0)
        self.run(update(Order).where(Order.id == order_id).values(stock_reduced=False))
        if told:
            self.store.orders.write_note(order_id, "Stock levels increased: " + ", ".join(told))

    def restock(self, line: Record, quantity: int) -> None:
        """Put back some pieces of a line that was refunded."""
        pieces = min(quantity, line["reduced_stock"])
        change = self._move_stock(line, pieces) if pieces else None
        if change:
            self._set_reduced(line, line["reduced_stock"] - pieces)
            self.store.orders.write_note(
                line["order_id"], f"Item #{line['product_id']} stock increased: {change}."
            )

    def adjust_stock(self, order_id: int, before: Sequence[Record]) -> None:
        """After a change of lines of an order that took stock: take or return the difference."""
        after = {line["id"]: line for line in self.order_lines(order_id)}
        told = []
        for line in before:
            if line["id"] not in after and line["reduced_stock"]:
                told.append(self._move_stock(line, line["reduced_stock"]))
        known = {line["id"]: line for line in before}
        for line in after.values():
            taken = line["reduced_stock"]
            if line["id"] in known and line["quantity"] == known[line["id"]]["quantity"]:
                continue
            change = self._move_stock(line, taken - line["quantity"])
            if change:
                self._set_reduced(line, line["quantity"])
                told.append(change)
        if changes := [change for change in told if change]:
            self.store.orders.write_note(order_id, "Adjusted stock: " + ", ".join(changes))

    def _set_reduced(self, line: Record, quantity: int) -> None:
        self.run(update(LineItem).where(LineItem.id == line["id"]).values(reduced_stock=quantity))

    def _move_stock(self, line: Record, by: int) -> str | None:
        """Change the stock of a line's product; returns a note, or ``None`` if stock is not managed."""
        rows = self.store.products.product_rows([line["variation_id"] or line["product_id"]])
        if not rows or not by:
            return None
        (product,) = rows.values()
        holder = product
        if product["parent_id"] and not product["manage_stock"]:
            holder = self.store.products.product_rows([product["parent_id"]]).get(
                product["parent_id"], product
            )
        if not holder["manage_stock"]:
            return None
        quantity = holder["stock_quantity"] + by
        status = stock_status(
            quantity, holder["backorders"], self.store.catalogue.stock_rules.out_of_stock_at
        )
        values = {"stock_quantity": quantity, "stock_status": status}
        self.run(update(Product).where(Product.id == holder["id"]).values(values))
        if holder["parent_id"]:
            self.store.catalogue.sync_parent(holder["parent_id"])
        name = f"{holder['name']} ({holder['sku'] or '#' + str(holder['id'])})"
        return f"{name} {holder['stock_quantity']}→{quantity}"

    def count_sales(self, quantities: Mapping[int, int]) -> None:
        """Add to the sales counts of products (negative to take away), by product id."""
        rows = [{"b_id": product, "b_by": by} for product, by in quantities.items() if by]
        self.change_many(Product, {"total_sales": Product.total_sales + bindparam("b_by")}, rows)
