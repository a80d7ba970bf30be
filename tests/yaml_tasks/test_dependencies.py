"""Facts that are supposed to be others for a while."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance
from mesocosm.kits.yaml_tasks import Written
from mesocosm.kits.yaml_tasks.dependencies import Supposition
from mesocosm.kits.yaml_tasks.grading import wanted_of
from mesocosm.kits.yaml_tasks.truth import Truth

VISITS = Path(__file__).with_name("visits.yaml")


def test_what_is_supposed_is_followed_as_if_it_had_been_drawn_and_taken_back(tmp_path: Path) -> None:
    family = load_family(str(VISITS))
    expected = build_instance(family, 0, tmp_path / "instance", target=8_000).expected
    written = Written(family.task, family.path)

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
