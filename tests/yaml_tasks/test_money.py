"""Money is decimal: what expressions and families reckon is what exact arithmetic gives."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance
from mesocosm.generators.excel_market_research.params import Params as Market
from mesocosm.generators.excel_market_research.planning import UNITS, plan_market
from mesocosm.generators.filter_low_selling_products.params import Params as Shop
from mesocosm.generators.filter_low_selling_products.planning import plan_shop
from mesocosm.kits.prose import Prose
from mesocosm.kits.yaml_tasks.expressions import Expression
from mesocosm.kits.yaml_tasks.language import ExpressionError, for_expressions, missing
from mesocosm.tasks.ab_testing import rate_of
from mesocosm.tasks.academic_warning import average_of, drop_of

CENT = Decimal("0.01")
_CENTS = some.integers(-10_000_000, 10_000_000).map(lambda cents: Decimal(cents).scaleb(-2))


def value(source: str, **names: Any) -> Any:
    return Expression(source, bare=True).value(lambda name: names.get(name, missing))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("(21.15 * 90 / 100).round(2)", 19.04),
        ("0.1 + 0.2", 0.3),
        ("([0.1] * 3).sum()", 0.3),
        ("(1.005 * 100).round()", 101),
        ("1.1 * 1.1 - 0.21", 1.0),
        ("-7.5 // 2", -4.0),
        ("-7.5 % 2", 0.5),
        ("1.5h + 30min == 2h", True),
        ("(3975.29 / 12 * 18).round(2)", 5962.94),
        ("10 / 3 * 3 == 10", True),
        ("7.3 % 0.1", 0),
        ("1.1 // 0.1", 11),
        ("1.1 ** 2", 1.21),
        ("((-0.5).abs() / 3 * 3).round()", 1),
        ("-(0.1 / 3) * 3", -0.1),
        ("(0.29 * 100).int()", 29),
        ("0.125.round(2)", 0.13),
        ("0.125.round(2, 'half_even')", 0.12),
        ("19.019.round(2, 'down')", 19.01),
        ("19.011.round(2, 'up')", 19.02),
        ("(-2.5).round()", -3),
        ("(1234567.005 * 10).money()", "12,345,670.05"),
        ("123456789.12 ~ ''", "123456789.12"),
        ("(10.0 ** 11).text()", "100000000000"),
        ("0.00001.text()", "0.00001"),
        ("third * 3", 1),
        ("prices().sum()", 0.3),
    ],
)
def test_numbers_with_decimals_are_worked_out_as_decimals(source: str, expected: Any) -> None:
    third = Expression("{1 / 3}").exact(lambda name: missing)
    prices = for_expressions(lambda: [Decimal("0.1")] * 3)
    found = value(source, third=pickle.loads(pickle.dumps(third)), prices=prices)
    assert found == expected
    assert type(found) in (type(expected), float)


def test_how_to_round_is_one_of_four() -> None:
    with pytest.raises(ExpressionError, match="there are half_up, half_even, up, down"):
        value("2.5.round(0, 'bankers')")


@given(_CENTS, some.integers(1, 400), some.integers(1, 400))
def test_a_part_of_a_part_is_exact(price: Decimal, parts: int, times: int) -> None:
    exact = Fraction(price) / parts * times
    cents = abs(exact) * 100
    wanted = int(cents + Fraction(1, 2)) * (1 if exact >= 0 else -1)
    found = value("(price / parts * times).round(2)", price=float(price), parts=parts, times=times)
    assert found == float(Decimal(wanted).scaleb(-2))


@given(_CENTS, some.integers(0, 100))
def test_a_share_of_a_price_is_rounded_as_people_do(price: Decimal, share: int) -> None:
    exact = (price * share / 100).quantize(CENT, ROUND_HALF_UP)
    assert value("(price * share / 100).round(2)", price=float(price), share=share) == float(exact)


@given(some.lists(_CENTS, max_size=30))
def test_a_sum_is_exact(prices: list[Decimal]) -> None:
    assert value("prices.sum()", prices=[float(price) for price in prices]) == float(sum(prices))


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


def test_growth_is_what_fractions_give() -> None:
    """`excel_market_research` asks for rates that are rounded; the gold is not, and exact enough for any."""
    plan = plan_market(Market(), random.Random(4))
    figures, weights = plan.corrected()

    def millions(raw: int, year: int) -> Fraction:
        known = figures[raw, year]
        either = (raw, year - 1), (raw, year + 1)
        values = [known] if known is not None else [figures[key] for key in either]
        mean = sum(map(_exact, values), Fraction()) / len(values)
        return mean * _exact(UNITS[plan.units[raw]])

    def total(year: int) -> Fraction:
        return sum(
            (_exact(weights[raw][plan.target]) * millions(raw, year) for raw in plan.fed()), Fraction()
        )

    for year, row in zip(plan.asked, plan.growth(), strict=True):
        rates = [millions(raw, year) / millions(raw, year - 1) for raw in plan.fed()]
        for found, rate in zip(row, [*rates, total(year) / total(year - 1)], strict=True):
            assert abs(_exact(found) - (rate - 1) * 100) < Fraction(1, 10**9)


def _half_up(exact: Fraction, digits: int) -> float:
    units = int(abs(exact) * 10**digits + Fraction(1, 2))
    return float(Decimal(units if exact >= 0 else -units).scaleb(-digits))


@given(some.integers(0, 10**6), some.integers(1, 10**6))
def test_rates_of_the_ab_tests_are_rounded_as_people_do(views: int, clicks: int) -> None:
    assert rate_of(views, clicks) == _half_up(Fraction(100 * views, clicks), 3)


@given(some.integers(0, 1000), some.lists(some.integers(0, 1000), min_size=1, max_size=40))
def test_means_and_drops_of_scores_are_rounded_as_people_do(latest: int, past: list[int]) -> None:
    assert average_of(past) == _half_up(Fraction(sum(past), 10 * len(past)), 2)
    if sum(past):
        assert drop_of(latest, past) == _half_up(100 * (1 - Fraction(latest * len(past), sum(past))), 2)


def test_every_discount_of_the_clearance_is_whole_cents() -> None:
    rng = random.Random(4)
    wares = plan_shop(Shop(), rng, Prose(rng)).wares
    assert {ware.discount for ware in wares} > {0}
    assert not [ware for ware in wares for off in (ware.discount, ware.sale) if ware.price * off % 100]


def _exact(number: float | None) -> Fraction:
    return Fraction(repr(number))
