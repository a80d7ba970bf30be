"""Facts that are supposed to be others for a while."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance
from mesocosm.families.verdict import Inapplicable
from mesocosm.kits.yaml_tasks import YamlFamily
from mesocosm.kits.yaml_tasks.grading import Wanted, wanted_of
from mesocosm.kits.yaml_tasks.mistakes import taken_for
from mesocosm.kits.yaml_tasks.supposition import Supposition
from mesocosm.kits.yaml_tasks.truth import Truth

VISITS = Path(__file__).with_name("visits.yaml")


def test_what_is_supposed_is_followed_as_if_it_had_been_drawn_and_taken_back(tmp_path: Path) -> None:
    family = load_family(str(VISITS))
    expected = build_instance(family, 0, tmp_path / "instance", target=8_000).expected
    written = YamlFamily(family.task, family.path)

    def goal(truth: Truth) -> list[Any]:
        return [row.fields for row in wanted_of(written.definition, truth)]

    supposed = Supposition(written.truth_of(expected))
    right = goal(supposed.truth)
    differing = 0
    for number, visit in enumerate(supposed.truth.sets["visit"]):
        for name in visit.drawn:
            another = next(one for one in supposed.truth.sets["visit"] if one is not visit).drawn.get(name)
            drawn_so = written.truth_of(expected)
            for known in (drawn_so.sets["visit"][number].drawn, drawn_so.sets["visit"][number].known):
                known[name] = another
            with supposed.beginning():
                supposed.field(visit, name, another)
                follows = goal(supposed.truth)
            assert follows == goal(drawn_so)
            assert goal(supposed.truth) == right
            differing += follows != right
        drawn_so = written.truth_of(expected)
        drawn_so.sets["visit"][number].case = "cancelled"
        with supposed.beginning():
            supposed.case(visit, "cancelled")
            assert goal(supposed.truth) == goal(drawn_so)
        del drawn_so.sets["visit"][number]
        with supposed.beginning():
            supposed.all_of("visit", [one for one in supposed.truth.sets["visit"] if one is not visit])
            assert goal(supposed.truth) == goal(drawn_so)
        assert goal(supposed.truth) == right
    assert differing > 3


@pytest.fixture(scope="module")
def stock_take(tmp_path_factory: pytest.TempPathFactory) -> tuple[YamlFamily, Any]:
    """The task, and what its smallest instance expects."""
    family = load_family("stock_take")
    place = tmp_path_factory.mktemp("stock") / "instance"
    return YamlFamily(family.task, family.path), build_instance(family, 0, place, target=8_000).expected


def test_a_near_miss_that_differs_in_another_thing_is_named_by_it(stock_take: tuple[YamlFamily, Any]) -> None:
    lines = [line for line in stock_take[1].near_misses() if line.startswith("shelf other_hall")]
    assert lines
    assert "hall is " in lines[0]
    assert any("twin is item " in line for line in stock_take[1].near_misses())


def test_a_misreading_comes_to_the_same_whatever_was_supposed_before(
    stock_take: tuple[YamlFamily, Any],
) -> None:
    written, expected = stock_take

    def misread(supposed: Supposition, right: list[Wanted], kind: str, other: str) -> list[Any] | None:
        with supposed.beginning():
            try:
                return [row.fields for row in taken_for("item", kind, other)(supposed, right)]
            except Inapplicable:
                return None

    once = Supposition(written.truth_of(expected))
    right = wanted_of(written.definition, once.truth)
    kinds = list(written.definition.entities["item"].cases)
    found = []
    for kind, other in itertools.permutations(kinds, 2):
        fresh = Supposition(written.truth_of(expected))
        alone = misread(fresh, wanted_of(written.definition, fresh.truth), kind, other)
        assert misread(once, right, kind, other) == alone, (kind, other)
        found.append(alone)
    assert None in found
    assert len(found) - found.count(None) > 3
