"""Appointments are not made for public holidays where a file says so."""

from __future__ import annotations

import datetime as dt

import pytest

from mesocosm.families.family import load_family
from mesocosm.kits.moments import is_holiday
from mesocosm.kits.yaml_tasks.written import Start
from mesocosm.worlds.randomness import Dice


@pytest.mark.parametrize(
    "day", ["2025-01-01", "2025-04-18", "2025-04-21", "2025-05-26", "2025-06-20", "2025-11-27"]
)
def test_holidays(day: str) -> None:
    assert is_holiday(dt.date.fromisoformat(day))


@pytest.mark.parametrize("day", ["2025-01-02", "2025-04-17", "2025-05-19", "2025-06-27", "2025-11-20"])
def test_working_days(day: str) -> None:
    assert not is_holiday(dt.date.fromisoformat(day))


@pytest.mark.parametrize("seed", range(6))
def test_no_visit_is_on_a_holiday(seed: int) -> None:
    written = load_family("visit_calendar")._written
    dice = Dice("visit_calendar", seed)
    truth = written.draw(Start(dice), written.Params(size=60), dice.stream)
    visits = truth.lookup("visit")
    assert len(visits) == 60
    assert not [visit for visit in visits if is_holiday(visit.lookup("agreed").date())]
