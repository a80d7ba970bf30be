"""Casts, rounding, formats and decimals of both products, as their references have them."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


def loaded() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / "documented.py"
    spec = importlib.util.spec_from_file_location("documented", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["documented"] = module
    spec.loader.exec_module(module)
    return module


documented = loaded()
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
