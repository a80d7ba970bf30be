"""Judging what was handed in for a woven task: exactly, and that nothing else was changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mesocosm.changes import TableChanges
from mesocosm.checking import Check
from mesocosm.world import World

_SHOWN = 200
"""Characters of a submitted answer that a finding repeats."""


def judge_answer(
    world: World,
    answers: Sequence[str],
    right: str,
    *,
    is_harmless: Callable[[str, str, TableChanges], bool] = lambda service, table, changes: False,
) -> list[Check]:
    """Whether there is one answer, whether it is right, and whether no document was changed.

    Args:
        world: The final state.
        answers: What the service ``submit_answer`` holds.
        right: The answer.
        is_harmless: ``is_harmless(service, table, changes)`` says which changes the tools may have made.
    """
    shown = ", ".join(repr(answer[:_SHOWN]) for answer in answers) or "nothing"
    changes = world.changes()
    others = [*changes.files_added, *changes.files_removed, *changes.files_changed]
    others += [
        f"{service}.{table}"
        for (service, table), found in changes.tables.items()
        if service != "submit_answer" and not is_harmless(service, table, found)
    ]
    return [
        Check(name="submitted", passed=len(answers) == 1, detail=f"submitted: {shown}"),
        Check(
            name="answer",
            passed=list(answers) == [right],
            detail=f"submitted: {shown}; the value is {right!r}",
        ),
        Check(name="documents", passed=not others, detail=f"changed: {', '.join(others)}" if others else ""),
    ]
