"""The rule of failed rounds."""

from __future__ import annotations

import pytest

from mesocosm.agents.loop import FailedRounds

FAILED, MIXED, FINE, EMPTY = [True, True], [True, False], [False], list[bool]()


@pytest.mark.parametrize(
    ("limit", "rounds", "ends"),
    [
        (3, [FAILED, FAILED], [False, False]),
        (3, [FAILED, FAILED, [True]], [False, False, True]),
        (3, [FAILED, FAILED, MIXED, FAILED, FAILED, FAILED], [False] * 5 + [True]),
        (3, [FAILED, FAILED, FINE, FAILED], [False] * 4),
        (3, [FAILED, FAILED, EMPTY, FAILED], [False] * 4),
        (1, [FINE, FAILED], [False, True]),
        (0, [FAILED] * 5, [False] * 5),
    ],
)
def test_only_so_many_consecutive_rounds_without_a_success_end_it(
    limit: int, rounds: list[list[bool]], ends: list[bool]
) -> None:
    rule = FailedRounds(limit)
    assert [rule.record(failed) for failed in rounds] == ends
