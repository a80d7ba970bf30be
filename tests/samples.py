"""The fixed sample of an enumeration in the normal run; the rest is marked ``long`` (see CONTRIBUTING.md)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from itertools import count
from typing import Any

import pytest


def every(step: int) -> Callable[[Any], bool]:
    """The sample of one case in so many, in their order, from the first on."""
    numbers = count()
    return lambda case: next(numbers) % step == 0


def sampled(cases: Iterable[Any], normal: Collection[Any] | Callable[[Any], bool]) -> list[Any]:
    """Mark as ``long`` the cases that are not ``normal``: a fixed sample by name, or by what holds of them.

    Cases of several values are told by the first where a collection is given. A sample of none or of all, and
    a name that no case has, is an error: the sample was meant for other cases.
    """
    listed = [case if isinstance(case, tuple) else (case,) for case in cases]
    if callable(normal):
        chosen = [normal(case if len(case) > 1 else case[0]) for case in listed]
    else:
        missing = set(normal) - {case[0] for case in listed}
        if missing:
            raise ValueError(f"no case is {missing}")
        chosen = [case[0] in normal for case in listed]
    if not 0 < sum(chosen) < len(chosen):
        raise ValueError(f"a sample of {sum(chosen)} cases of {len(chosen)}")
    marks = ((), (pytest.mark.long,))
    return [pytest.param(*case, marks=marks[not one]) for case, one in zip(listed, chosen, strict=True)]
