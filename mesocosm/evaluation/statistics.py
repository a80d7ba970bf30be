"""Numbers with their uncertainty: intervals, pass@k and pass^k, and the smallest difference that shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb, sqrt

_Z = 1.959964
"""Of the normal distribution: 95 % lie within so many standard deviations."""
_POWER = 0.841621
"""The same for a power of 80 %."""
RESAMPLES = 2_000


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
