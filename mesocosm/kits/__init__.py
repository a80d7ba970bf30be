"""Kits: what families are made with (people, mailboxes, prose, dependency trees, judging)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mesocosm.families.written import KITS, SIZES

if TYPE_CHECKING:
    from mesocosm.families.task import Growth, Task


# Loaded when a file asks for one.


def _entities(task: Task, path: Path, functions: Mapping[str, Callable[..., Any]]) -> Any:
    from mesocosm.kits.yaml_tasks import YamlFamily

    return YamlFamily(task, path, functions)


def _domain(task: Task, path: Path, functions: Mapping[str, Callable[..., Any]]) -> Any:
    from mesocosm.kits.organisations.questions import QuestionTask

    return QuestionTask(task, path, functions)


def _sizes(task: Task, path: Path) -> Growth:
    from mesocosm.kits.yaml_tasks.sizes import sized

    return sized(task, path)


SIZES |= {"entities": _sizes}
KITS |= {"entities": _entities, "domain": _domain}
