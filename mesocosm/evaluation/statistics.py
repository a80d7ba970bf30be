"""Numbers with their uncertainty: intervals, pass@k and pass^k, and the smallest difference that shows."""

# A few dozen lines of numpy replace scipy and statsmodels, 170 MB for four functions (decision 096).

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb, inf, sqrt
from typing import Any, NamedTuple

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


class HalfLength(NamedTuple):
    """L50 with its interval at 95 %, and between which lengths it was looked for."""

    value: float
    """Infinity where it lies above the longest length, 0 where it lies below the shortest."""
    low: float
    high: float
    shortest: int
    longest: int


def half_length(
    results: Sequence[tuple[int, bool]], instances: Sequence[object] | None = None
) -> HalfLength | None:
    """L50: the description length (tokens) at which half of the episodes are still passed, with its
    interval at 95 %.

    A logistic curve is fitted over the logarithm of the length (by Newton's method, with a ridge, so that
    runs that all pass or all fail have a finite fit), once for all results and once for each of several
    resamples of them. The ends are 0 and infinity where the fit does not fall, or puts the half beyond a
    thousand times the lengths that were run.

    Where all runs pass, or all fail, resamples tell nothing. Then the interval has one end: the longest
    length (the shortest) for which a sign test over the instances of at least that length (at most that)
    says at 95 % that more than half of them are passed (failed).

    Args:
        results: Length and outcome of each run.
        instances: What each was a run of: runs of one instance come or go together in a resample.

    Returns:
        The length and its interval; None without runs, and where some of one length pass and others fail.
    """
    import numpy

    lengths = {length for length, _ in results}
    outcomes = {passed for _, passed in results}
    if not lengths or (len(lengths) < 2 and len(outcomes) > 1):
        return None
    if len(outcomes) < 2:
        return _one_sided(results, instances, min(lengths), max(lengths))
    x = numpy.log2(numpy.array([length for length, _ in results], dtype=float))
    y = numpy.array([passed for _, passed in results], dtype=float)
    least, most = min(lengths) / 1_000, max(lengths) * 1_000

    def half(x: Any, y: Any) -> float:
        if y.min() == y.max():
            return float("inf") if y.min() else 0.0
        start, slope = logistic(x, y)
        if slope >= -1e-6:
            return float("inf") if y.mean() >= 0.5 else 0.0
        exponent = -start / slope
        if exponent > numpy.log2(most):
            return float("inf")
        return 0.0 if exponent < numpy.log2(least) else float(2**exponent)

    groups: dict[object, list[int]] = {}
    for at, instance in enumerate(instances if instances is not None else range(len(x))):
        groups.setdefault(instance, []).append(at)
    members = [numpy.array(group) for group in groups.values()]
    rng = numpy.random.Generator(numpy.random.PCG64(0))
    drawn = rng.integers(0, len(members), size=(_RESAMPLES_OF_FITS, len(members)))
    picked = (numpy.concatenate([members[one] for one in some]) for some in drawn)
    halves = sorted(half(x[some], y[some]) for some in picked)
    edge = int(0.025 * len(halves))
    return HalfLength(half(x, y), halves[edge], halves[-1 - edge], min(lengths), max(lengths))


_FEWEST = 5
"""Instances that must all pass for a sign test to say at 95 % that more than half do: 1 / 2^5 < 0.05."""


def _one_sided(
    results: Sequence[tuple[int, bool]], instances: Sequence[object] | None, shortest: int, longest: int
) -> HalfLength:
    """L50 where all runs have the same outcome."""
    [passed] = {passed for _, passed in results}
    lengths = {
        instance: length
        for (length, _), instance in zip(results, instances or range(len(results)), strict=True)
    }
    ordered = sorted(lengths.values(), reverse=passed)
    sure = float(ordered[_FEWEST - 1]) if len(ordered) >= _FEWEST else None
    if passed:
        return HalfLength(inf, sure or 0.0, inf, shortest, longest)
    return HalfLength(0.0, 0.0, sure or inf, shortest, longest)


def logistic(x: Any, y: Any) -> tuple[float, float]:
    """Intercept and slope of a logistic curve through outcomes ``y`` (0 or 1) over ``x``, with a ridge."""
    import numpy

    middle = x.mean()
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
    return start - slope * float(middle), slope


@dataclass(frozen=True)
class Rasch:
    """Abilities of rows and difficulties of instances, in logits, with their standard errors."""

    abilities: list[float]
    ability_errors: list[float]
    difficulties: list[float]
    difficulty_errors: list[float]


_SPREAD = 2.0
"""Standard deviation of the normal priors of abilities and difficulties, in logits."""


def rasch(rows: int, items: int, counts: Sequence[tuple[int, int, int, int]]) -> Rasch:
    """The Rasch model: the log odds that a row passes an item are its ability less the item's difficulty.

    The mode under normal priors, by Newton's method; difficulties have the mean that their prior gives: 0.

    Args:
        rows: How many there are.
        items: How many there are.
        counts: Row, item, runs that passed, runs.
    """
    import numpy

    who, what, passed, runs = (numpy.array(one) for one in zip(*counts, strict=True))
    size = rows + items
    at = numpy.zeros(size)
    prior = numpy.eye(size) / _SPREAD**2
    curvature = prior
    for _ in range(50):
        shares = 1 / (1 + numpy.exp(-(at[who] - at[rows + what])))
        gradient, curvature = -at / _SPREAD**2, prior.copy()
        numpy.add.at(gradient, who, passed - runs * shares)
        numpy.add.at(gradient, rows + what, runs * shares - passed)
        weight = runs * shares * (1 - shares)
        numpy.add.at(curvature, (who, who), weight)
        numpy.add.at(curvature, (rows + what, rows + what), weight)
        numpy.add.at(curvature, (who, rows + what), -weight)
        numpy.add.at(curvature, (rows + what, who), -weight)
        step = numpy.linalg.solve(curvature, gradient)
        at += step
        if float(abs(step).max()) < 1e-9:
            break
    errors = numpy.sqrt(numpy.diag(numpy.linalg.inv(curvature)))
    values = [float(one) for one in at], [float(one) for one in errors]
    (found, spread) = values
    return Rasch(found[:rows], spread[:rows], found[rows:], spread[rows:])


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
    """Return the smallest difference between two shares that groups of ``runs`` each detect with 80 % power
    at 5 %; ``None`` without runs.
    """
    if not runs:
        return None
    # A share at its end says little of the spread of another group.
    share = min(max(share, 0.1), 0.9)
    return min(1.0, (_Z + _POWER) * sqrt(2 * share * (1 - share) / runs))
