"""Command line options of a dataset, parsed into a plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from pydantic import ValidationError

from mesocosm.errors import UsageError, first_complaint
from mesocosm.families.quantities import parse_length, show_length
from mesocosm.kits.rollouts.dataset import BUCKETS, DatasetPlan
from mesocosm.kits.rollouts.dataset_files import Upstream
from mesocosm.kits.rollouts.simulated_player import Behaviour
from mesocosm.kits.rollouts.transcript import FORMATS
from mesocosm.kits.rollouts.twins import SETTINGS

LEAST = 16_000
"""Below, there are too few rounds to ask about."""


def read_plan(
    *, lengths: str, settings: str, formats: str, behaviour: Mapping[str, Any], **others: Any
) -> DatasetPlan:
    """Parse the options into a plan; ``UsageError`` names a wrong one and what was expected."""
    try:
        return DatasetPlan(
            lengths=tuple(read_lengths(lengths)),
            settings=_chosen(settings, SETTINGS, "settings"),
            formats=_chosen(formats, FORMATS, "formats"),
            behaviour=Behaviour(**behaviour),
            **others,
        )
    except ValidationError as error:
        raise UsageError(first_complaint(error, Behaviour.model_fields)) from None


def read_lengths(text: str) -> list[int]:
    """Lengths such as ``32k-4m`` (all buckets from one to the other) or ``32k,100k``, ascending."""
    found: set[int] = set()
    for part in text.split(","):
        low, dash, high = part.partition("-")
        first = parse_length(low)
        last = parse_length(high) if dash else first
        if dash:
            chosen = {bucket for bucket in BUCKETS if first <= bucket <= last}
            if not chosen:
                known = ", ".join(map(show_length, BUCKETS))
                raise UsageError(f"no bucket lies in {part.strip()}; there are {known}")
            found |= chosen
        else:
            found.add(first)
    if min(found) < LEAST:
        raise UsageError(
            f"a trajectory has at least {show_length(LEAST)} tokens, not {show_length(min(found))}"
        )
    return sorted(found)


def read_upstream(text: str) -> Upstream:
    """Parse how much of upstream's format is written."""
    known: tuple[Upstream, ...] = get_args(Upstream)
    for one in known:
        if one == text:
            return one
    raise UsageError(f"--upstream {text!r}: write one of {', '.join(known)}")


def _chosen(text: str, known: Sequence[str], what: str) -> tuple[str, ...]:
    parts = [part.strip() for part in text.split(",")]
    for part in parts:
        if part not in known:
            raise UsageError(f"--{what} {text!r}: {part!r} is none of {', '.join(known)}")
    return tuple(one for one in known if one in parts)
