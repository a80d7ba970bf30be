"""Intervals, pass@k, pass^k and what a run of a size can show."""

from __future__ import annotations

from itertools import combinations

import pytest

from mesocosm.evaluation.statistics import bootstrap, detectable, pass_at, pass_hat


def test_pass_at_and_pass_hat_are_what_picking_k_runs_gives() -> None:
    results: dict[object, list[bool]] = {"a": [True, False, False, True], "b": [False] * 4, "c": [True] * 4}
    for k in (1, 2, 3, 4):
        picked = [list(combinations(runs, k)) for runs in results.values()]
        one = sum(sum(map(any, sets)) / len(sets) for sets in picked) / 3
        every = sum(sum(map(all, sets)) / len(sets) for sets in picked) / 3
        assert pass_at(k, results) == pytest.approx(one)
        assert pass_hat(k, results) == pytest.approx(every)
    assert pass_at(5, results) is None


def test_the_bootstrap_is_over_instances_and_the_same_every_time() -> None:
    together = [[1.0] * 10, [0.0] * 10] * 3
    apart = [[1.0], [0.0]] * 30
    assert bootstrap(together) == bootstrap(together)
    wide, narrow = bootstrap(together), bootstrap(apart)
    assert wide[1] - wide[0] > 2 * (narrow[1] - narrow[0]), "ten runs of an instance are not ten instances"
    assert bootstrap([[1.0], [1.0]]) == (1.0, 1.0)


def test_more_runs_show_smaller_differences() -> None:
    assert detectable(0) is None
    small, large = detectable(25), detectable(400)
    assert small is not None
    assert large is not None
    assert small == pytest.approx(4 * large)
    assert large == pytest.approx(0.0990, abs=1e-3), "two groups of 400 at one half"
