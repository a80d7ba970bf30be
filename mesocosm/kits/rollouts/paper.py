"""Number of questions of each type in the paper (its Tables 3 to 6; the same in both settings)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mesocosm.errors import UsageError
from mesocosm.families.quantities import show_length
from mesocosm.kits.rollouts.questions import Type
from mesocosm.kits.rollouts.transcript import Format

BUCKETS = (32_000, 64_000, 128_000, 256_000, 512_000, 1_000_000, 2_000_000, 4_000_000)
"""The paper's eight lengths."""
_COUNTS: Mapping[Format, Mapping[Type, Sequence[int]]] = {
    "c": {
        "count_frequency_tool": [25] * 8,
        "find_duplicates_tool": [25] * 8,
        "find_target_offsets_tool": [25] * 8,
        "count_correctness_env": [25] * 8,
        "count_frequency_env": [16, 12, 18, 17, 23, 21, 16, 17],
        "find_round_largest_value_env": [20, 23, 20, 19, 12, 17, 18, 19],
        "weighted_summation_env": [14, 15, 12, 14, 15, 12, 16, 14],
        "intersection": [50] * 8,
    },
    "v": {
        "count_frequency_tool": [25] * 8,
        "find_duplicates_tool": [24, *[25] * 7],
        "find_target_offsets_tool": [26, *[25] * 7],
        "count_correctness_env": [25] * 8,
        "count_frequency_env": [21, 24, 20, 21, 13, 17, 20, 21],
        "find_round_largest_value_env": [13, 13, 16, 15, 20, 18, 24, 17],
        "weighted_summation_env": [16, 13, 14, 14, 17, 15, 6, 12],
        "intersection": [50] * 8,
    },
}


def paper_count(type: Type, format: Format, length: int) -> int:
    """The number of questions of a type in a bucket; ``UsageError`` for a length that the paper has not."""
    if length not in BUCKETS:
        known = ", ".join(map(show_length, BUCKETS))
        raise UsageError(f"the paper counts no questions at {show_length(length)}; it does at {known}")
    return _COUNTS[format][type][BUCKETS.index(length)]
