"""The shortest length that a task names, of seeds whose evidence is long."""

from __future__ import annotations

from pathlib import Path

import pytest

from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance


@pytest.mark.parametrize(
    ("task", "seed"), [("price_notices", 11), ("refund_list", 23), ("visit_calendar", 1)]
)
def test_a_seed_with_long_evidence_has_the_shortest_length_too(task: str, seed: int, tmp_path: Path) -> None:
    instance = build_instance(load_family(task), seed, tmp_path / "instance", target=8000)
    assert abs(instance.survey.tokens - 8000) <= 80
