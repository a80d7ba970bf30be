"""Money is decimal: what expressions and families reckon is what exact arithmetic gives."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from jinja2.runtime import missing

from mesocosm.families.building import build_instance
from mesocosm.families.family import load_family
from mesocosm.kits.yaml_tasks.expressions import Expression

CENT = Decimal("0.01")
_CENTS = some.integers(-10_000_000, 10_000_000).map(lambda cents: Decimal(cents).scaleb(-2))


def value(source: str, **names: Any) -> Any:
    return Expression(f"{{{{ {source} }}}}").value(lambda name: names.get(name, missing))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("(21.15 * 90 / 100) | round(2)", 19.04),
        ("0.1 + 0.2", 0.3),
        ("([0.1] * 3) | sum", 0.3),
        ("(1.005 * 100) | round", 101),
        ("1.1 * 1.1 - 0.21", 1.0),
        ("-7.5 // 2", -4.0),
        ("-7.5 % 2", 0.5),
        ("1.5h + 30min == 2h", True),
    ],
)
def test_numbers_with_decimals_are_worked_out_as_decimals(source: str, expected: Any) -> None:
    assert value(source) == expected


@given(_CENTS, some.integers(0, 100))
def test_a_share_of_a_price_is_rounded_as_people_do(price: Decimal, share: int) -> None:
    exact = (price * share / 100).quantize(CENT, ROUND_HALF_UP)
    assert value("(price * share / 100) | round(2)", price=float(price), share=share) == float(exact)


@given(some.lists(_CENTS, max_size=30))
def test_a_sum_is_exact(prices: list[Decimal]) -> None:
    assert value("prices | sum", prices=[float(price) for price in prices]) == float(sum(prices))


# -- golds of families ------------------------------------------------------------------------------------


def _decimal(number: Any) -> Decimal:
    return Decimal(repr(number)) if isinstance(number, float) else Decimal(number or 0)


def _paid(invoice: Any) -> None:
    items = sum(item["count"] * _decimal(item["price"]) for item in invoice["items"])
    together = sum(_decimal(invoice[name]) for name in ("paid", "first", "second", "credit"))
    assert (_decimal(invoice["amount"]), _decimal(invoice["together"])) == (items, together)
    assert invoice["flag"] == (together < items)


def _refunded(sale: Any) -> None:
    total = sale["pieces"] * _decimal(sale["first"]["price"]) + sale["others"] * _decimal(
        sale["second"]["price"]
    )
    kept = sale["others"] * _decimal(sale["kept"]["price"]) if sale["kept"] else 0
    assert _decimal(sale["amount"]) == total - kept


def _ordered(customer: Any) -> None:
    exact = customer["pieces"] * _decimal(customer["first"]["price"])
    assert _decimal(customer["amount"]) == exact + customer["more"] * _decimal(customer["second"]["price"])


@pytest.mark.parametrize(
    ("family", "fact", "holds", "size"),
    [
        ("payable_invoice_checker", "invoice", _paid, {"num_invoices": 60}),
        ("refund_list", "sale", _refunded, {"size": 40}),
        ("woocommerce_new_welcome", "customer", _ordered, {"first_time_customers": 30}),
    ],
)
def test_golds_are_what_exact_arithmetic_gives(
    tmp_path: Path, family: str, fact: str, holds: Callable[[Any], None], size: dict[str, int]
) -> None:
    loaded = load_family(family)
    built = build_instance(loaded, 3, tmp_path / "instance", parameters=size)
    written: Any = loaded._module("generators")
    entities = written.truth_of(built.expected).sets[fact]
    assert len(entities) > 10
    for entity in entities:
        holds(entity)
