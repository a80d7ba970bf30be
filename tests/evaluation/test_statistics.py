"""Intervals, pass@k, pass^k and what a run of a size can show."""

from __future__ import annotations

from itertools import combinations
from math import inf

import pytest

from mesocosm.evaluation.statistics import bootstrap, detectable, half_length, pass_at, pass_hat


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


def test_half_of_the_episodes_pass_at_the_length_where_a_curve_falls_through_a_half() -> None:
    results = [
        (length, passed)
        for length, passes in ((8_000, 10), (32_000, 8), (128_000, 2), (512_000, 0))
        for passed in [True] * passes + [False] * (10 - passes)
    ]
    found = half_length(results)
    assert found is not None
    half, low, high, shortest, longest = found
    assert 45_000 < half < 90_000
    assert low < half < high
    assert (shortest, longest) == (8_000, 512_000)
    assert half_length(results) == found, "the same every time"


def test_who_passes_all_has_no_half_and_one_length_tells_nothing() -> None:
    everything = [(length, True) for length in (8_000, 64_000) for _ in range(5)]
    assert half_length(everything) == (inf, 64_000, inf, 8_000, 64_000)
    assert half_length([(8_000, True), (8_000, False)]) is None
    nothing = [(length, False) for length in (8_000, 64_000) for _ in range(5)]
    assert half_length(nothing) == (0, 0, 8_000, 8_000, 64_000)


def test_the_interval_of_who_passes_all_has_the_end_that_five_instances_allow() -> None:
    told = [(length, True) for length in (8_000, 16_000, 32_000, 64_000) for _ in range(2)]
    assert half_length(told) == (inf, 16_000, inf, 8_000, 64_000), "four reach 32k, six reach 16k"
    assert half_length([(8_000, True)] * 4) == (inf, 0, inf, 8_000, 8_000), "four say nothing"
    assert half_length([(8_000, False)] * 5) == (0, 0, 8_000, 8_000, 8_000)
    assert half_length([(8_000, True)] * 20, [0] * 20) == (inf, 0, inf, 8_000, 8_000), "one instance"
    assert half_length([]) is None
