"""What belongs to others, what is chosen by a condition, and tables of groups."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from mesocosm.families.family import load_family
from mesocosm.families.proofs import prove_one
from mesocosm.kits.yaml_tasks.grading import wanted_of
from mesocosm.kits.yaml_tasks.lint import lint
from mesocosm.kits.yaml_tasks.written import Start, YamlFamily
from mesocosm.worlds.randomness import Dice

GROUPED = Path(__file__).with_name("grouped.yaml")


@pytest.fixture(scope="module")
def truth() -> Any:
    family = load_family(str(GROUPED))
    written = YamlFamily(family.task, family.path)
    streams = Start(Dice("grouped", 4))
    drawn = written.draw(streams, written.Params(size=40), streams.stream)
    for _ in range(30):
        drawn.add_background("customer", None, "rivals")
    return drawn


def test_it_is_proven() -> None:
    proof = prove_one(str(GROUPED), 8_000, 1)
    assert not proof.problems, "\n".join(proof.problems)


def test_numbers_of_what_belongs_to_others_are_never_the_same(truth: Any) -> None:
    orders = [*truth.sets["order"], *truth.background["order"]]
    numbers = [order["number"] for order in orders]
    assert len(orders) > 100
    assert len(set(numbers)) == len(numbers)
    for customer in truth.sets["customer"]:
        own = [order["number"] for order in customer["order"]]
        assert own == sorted(own)


def test_unique_is_across_all_or_of_one_parent(truth: Any) -> None:
    amounts = [order["amount"] for order in (*truth.sets["order"], *truth.background["order"])]
    assert len(set(amounts)) == len(amounts)
    for customer in truth.sets["customer"]:
        shelves = [order["shelf"] for order in customer["order"]]
        assert len(set(shelves)) == len(shelves)


def test_one_is_chosen_by_a_condition(truth: Any) -> None:
    for customer in truth.sets["customer"]:
        assert customer["depot"]["north"] == customer["north"]
    assert len({customer["depot"]["city"] for customer in truth.sets["customer"]}) == 5


def test_rows_are_made_of_groups(truth: Any) -> None:
    [wanted] = wanted_of(truth.definition, truth)
    rows, orders = wanted.fields["rows"].rows, truth.sets["order"]
    assert [row["City"] for row in rows] == sorted({order["city"] for order in orders})
    assert Counter(order["city"] for order in orders) == {row["City"]: row["Orders"] for row in rows}
    for row in rows:
        own = [order for order in orders if order["city"] == row["City"]]
        assert Decimal(repr(row["Total"])) == sum(Decimal(repr(order["amount"])) for order in own)
        assert row["Largest"] == max(own, key=lambda order: order["amount"])["number"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("where: north ==", "where: south ==", ["depot", "unknown name 'south'", "city"]),
        ("north == customer.north", "city == 'Rome'", ["there is no depot to choose where city == 'Rome'"]),
        ("{ref: depot,", "{ref: shop,", ["no entities 'shop'; there are depot, customer, order"]),
        ("{choice: [true, false]}", "{choice: [true, false], unique: parent}", ["customer belongs to none"]),
        ("order.group('city')", "orders.group('city')", ["unknown name 'orders'"]),
        ("order.group('city')", "order.group('town')", ["there is no 'town'", "rows.each"]),
        ("row.items.length()", "row.item.length()", ["there is no 'item'; there are key, items"]),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, old: str, new: str, words: list[str]) -> None:
    text = GROUPED.read_text()
    assert old in text
    (task := tmp_path / "task.yaml").write_text(text.replace(old, new))
    found = "\n".join(map(str, lint(task)))
    assert all(word in found for word in words), found
