"""Numbers with their uncertainty: intervals, pass@k and pass^k, and the smallest difference that shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb, sqrt
from typing import Any

_Z = 1.959964
"""Of the normal distribution: 95 % lie within so many standard deviations."""
_POWER = 0.841621
"""The same for a power of 80 %."""
RESAMPLES = 2_000
_RESAMPLES_OF_FITS = 400
_RIDGE = 0.05
"""Weight of the prior of a fit that has to be finite: less than that of one episode."""


def wilson(passed: float, runs: int) -> tuple[float, float]:
    """The Wilson score interval of a share, at 95 %; everything where nothing was tried."""
    if not runs:
        return 0.0, 1.0
    share, square = passed / runs, _Z * _Z
    middle = (share + square / (2 * runs)) / (1 + square / runs)
    half = _Z * sqrt(share * (1 - share) / runs + square / (4 * runs * runs)) / (1 + square / runs)
    return max(0.0, middle - half), min(1.0, middle + half)


def bootstrap(groups: Sequence[Sequence[float]]) -> tuple[float, float]:
    """The interval of a mean at 95 %, over instances: all runs of an instance come or go together.

    The same groups give the same interval on every machine.
    """
    import numpy

    filled = [group for group in groups if group]
    if not filled:
        return 0.0, 0.0
    sums = numpy.array([sum(group) for group in filled], dtype=float)
    counts = numpy.array([len(group) for group in filled], dtype=float)
    rng = numpy.random.Generator(numpy.random.PCG64(0))
    picked = rng.integers(0, len(filled), size=(RESAMPLES, len(filled)))
    means = sums[picked].sum(axis=1) / counts[picked].sum(axis=1)
    low, high = numpy.percentile(means, [2.5, 97.5])
    return float(low), float(high)


_EXACT = 1 << 14
"""Assignments of signs up to which all are tried."""


def paired(differences: Sequence[float]) -> tuple[float, float, float, float]:
    """The mean of differences between pairs, its bootstrap interval at 95 %, and the chance of a mean as far
    from 0 if the sign of each were drawn by lot.

    With differences of -1, 0 and 1 that is McNemar's exact test. The same differences give the same numbers
    on every machine.
    """
    import numpy

    apart = numpy.array(differences, dtype=float)
    low, high = bootstrap([[float(one)] for one in apart])
    moved = apart[apart != 0]
    mean = float(apart.mean())
    if not len(moved):
        return mean, low, high, 1.0
    if len(set(abs(moved))) == 1:
        ups = int((moved > 0).sum())
        few = min(ups, len(moved) - ups)
        chance = 2 * sum(comb(len(moved), k) for k in range(few + 1)) / 2 ** len(moved)
        return mean, low, high, min(1.0, chance)
    far = abs(moved.sum()) - 1e-9
    if 2 ** len(moved) <= _EXACT:
        bits = (numpy.arange(2 ** len(moved))[:, None] >> numpy.arange(len(moved))) & 1
        return mean, low, high, float((abs((2 * bits - 1) @ moved) >= far).mean())
    rng = numpy.random.Generator(numpy.random.PCG64(0))
    signs = 2 * rng.integers(0, 2, size=(_EXACT, len(moved)), dtype=numpy.int8) - 1
    return mean, low, high, float(((abs(signs @ moved) >= far).sum() + 1) / (_EXACT + 1))


def holm(chances: Sequence[float]) -> list[float]:
    """Probabilities of several tests, corrected for their number by Holm's method."""
    corrected, worst = [0.0] * len(chances), 0.0
    for rank, at in enumerate(sorted(range(len(chances)), key=lambda at: chances[at])):
        worst = max(worst, min(1.0, (len(chances) - rank) * chances[at]))
        corrected[at] = worst
    return corrected


def half_length(results: Sequence[tuple[int, bool]]) -> tuple[float, float, float] | None:
    """L50: the description length (tokens) at which half of the episodes are still passed, with its
    interval at 95 %.

    A logistic curve is fitted over the logarithm of the length (by Newton's method, with a ridge, so that
    runs that all pass or all fail have a finite fit), once for all results and once for each of several
    resamples of them. The ends are 0 and infinity where the fit does not fall, or puts the half beyond a
    thousand times the lengths that were run.

    Returns:
        The length and its interval; None for fewer than two lengths.
    """
    import numpy

    lengths = {length for length, _ in results}
    if len(lengths) < 2:
        return None
    x = numpy.log2(numpy.array([length for length, _ in results], dtype=float))
    y = numpy.array([passed for _, passed in results], dtype=float)
    middle = x.mean()
    least, most = min(lengths) / 1_000, max(lengths) * 1_000

    def half(x: Any, y: Any) -> float:
        if y.min() == y.max():
            return float("inf") if y.min() else 0.0
        weights = numpy.zeros(2)
        columns = numpy.stack([numpy.ones_like(x), x - middle], axis=1)
        for _ in range(30):
            shares = 1 / (1 + numpy.exp(-numpy.clip(columns @ weights, -30, 30)))
            gradient = columns.T @ (y - shares) - _RIDGE * weights
            curvature = (columns * (shares * (1 - shares))[:, None]).T @ columns + _RIDGE * numpy.eye(2)
            step = numpy.linalg.solve(curvature, gradient)
            weights += step
            if float(abs(step).max()) < 1e-9:
                break
        start, slope = (float(one) for one in weights)
        if slope >= -1e-6:
            return float("inf") if y.mean() >= 0.5 else 0.0
        exponent = float(middle) - start / slope
        if exponent > numpy.log2(most):
            return float("inf")
        return 0.0 if exponent < numpy.log2(least) else float(2**exponent)

    rng = numpy.random.Generator(numpy.random.PCG64(0))
    drawn = rng.integers(0, len(x), size=(_RESAMPLES_OF_FITS, len(x)))
    halves = sorted(half(x[some], y[some]) for some in drawn)
    edge = int(0.025 * len(halves))
    return half(x, y), halves[edge], halves[-1 - edge]


def pass_at(k: int, results: Mapping[object, Sequence[bool]]) -> float | None:
    """pass@k: the chance that at least one of k runs of an instance passes, as a mean over instances.

    Instances with fewer than k runs are left out; ``None`` where that leaves none.
    """
    counted = [(len(runs), sum(runs)) for runs in results.values() if len(runs) >= k]
    if not counted:
        return None
    return sum(1 - comb(n - c, k) / comb(n, k) for n, c in counted) / len(counted)


def pass_hat(k: int, results: Mapping[object, Sequence[bool]]) -> float | None:
    """pass^k: the chance that all of k runs of an instance pass, as a mean over instances."""
    counted = [(len(runs), sum(runs)) for runs in results.values() if len(runs) >= k]
    if not counted:
        return None
    return sum(comb(c, k) / comb(n, k) for n, c in counted) / len(counted)


def detectable(runs: int, share: float = 0.5) -> float | None:
    """The smallest difference between two shares that two groups of so many runs each show, with a chance of
    80 %, at 5 %. ``None`` where nothing was run."""
    if not runs:
        return None
    # A share at its end says little of the spread of another group.
    share = min(max(share, 0.1), 0.9)
    return min(1.0, (_Z + _POWER) * sqrt(2 * share * (1 - share) / runs))
