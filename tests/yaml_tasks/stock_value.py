"""What the task beside it computes."""

from __future__ import annotations

from decimal import Decimal
from typing import Any


def revenue(shop: Any) -> float:
    """The sum of pieces times price of the sales of a shop that count."""
    sales = [sale for sale in shop["sale"] if sale["case"] == "plain"]
    return float(sum(sale["pieces"] * Decimal(str(sale["price"])) for sale in sales))
