"""Kits: what families are made with (people, mailboxes, prose, dependency trees, judging)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mesocosm.families.written import KITS

if TYPE_CHECKING:
    from mesocosm.families.task import Task


# Loaded when a file asks for one.


def _entities(task: Task, path: Path, functions: Mapping[str, Callable[..., Any]]) -> Any:
    from mesocosm.kits.yaml_tasks import Written

    return Written(task, path, functions)


def _domain(task: Task, path: Path, functions: Mapping[str, Callable[..., Any]]) -> Any:
    from mesocosm.kits.organisations.asking import Asked

    return Asked(task, path, functions)


KITS |= {"entities": _entities, "domain": _domain}
