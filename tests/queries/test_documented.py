"""Casts, rounding, formats and decimals of both products, as their references have them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sources import benchmark

documented = benchmark("documented")
FACTS = [
    fact
    for fact in documented.facts()
    if fact.group in documented.WHOLE and fact.expression not in documented.DIFFERS
]


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Callable[[str], str]]:
    askers: dict[str, Callable[[str], str]] = documented.askers(tmp_path_factory.mktemp("documented"))
    return askers


@pytest.mark.parametrize("product", sorted({fact.product for fact in FACTS}))
@pytest.mark.parametrize("group", documented.WHOLE)
def test_it_gives_what_the_reference_says(product: str, group: str, ask: dict[str, Any]) -> None:
    asked = [fact for fact in FACTS if (fact.product, fact.group) == (product, group)]
    others = {fact.expression: documented.agreement(fact, ask[product]) for fact in asked}
    assert asked
    assert {expression: other for expression, other in others.items() if other is not None} == {}
