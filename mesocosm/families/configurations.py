"""Configurations: the numbers with which somebody else's benchmark was released, by its own labels of length.

``tasks/configurations/<name>.yaml`` of a root holds one. It is asked for as the parameter ``preset``
(``--param preset=loca --length 64k``). Its numbers win: what they make longer than the label stays so, and
the measured length is recorded; what they leave is filled up.
"""

# Released numbers are data, so a preset is exactly what was published (decision 039).

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from mesocosm.errors import UsageError
from mesocosm.families.quantities import parse_length, show_length
from mesocosm.services.content import roots

PRESET = "preset"
"""The parameter that names a configuration."""


def _by_length(value: object) -> object:
    if isinstance(value, Mapping):
        return {parse_length(str(length)): numbers for length, numbers in value.items()}
    return value


class Released(BaseModel):
    """Released configuration of one task."""

    model_config = ConfigDict(extra="forbid")

    parameters: dict[str, Any] = {}
    """The same at every length; what the benchmark does not know is off."""
    lengths: Annotated[dict[int, dict[str, Any]], BeforeValidator(_by_length)]
    """Differences by length label in tokens."""


class Configuration(BaseModel):
    """One benchmark's released numbers."""

    model_config = ConfigDict(extra="forbid")

    title: str
    seeds: list[int]
    """The seeds it was released with."""
    tasks: dict[str, Released]

    def of(self, task: str) -> Released:
        """Return the released configuration of a task; raises ``UsageError`` with the alternatives if there
        is none.
        """
        if task not in self.tasks:
            known = ", ".join(self.tasks)
            raise UsageError(f"{self.title}: there are no numbers for {task}; there are for: {known}")
        return self.tasks[task]


@cache
def configurations() -> Mapping[str, Configuration]:
    """All configurations by name; ``UsageError`` names a file that is not in order."""
    paths = [path for root in roots() for path in sorted(root.path.glob("tasks/configurations/*.yaml"))]
    return {path.stem: _read(path) for path in paths}


def _read(path: Path) -> Configuration:
    try:
        return Configuration.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (yaml.YAMLError, ValidationError) as error:
        raise UsageError(f"{path}: {error}") from None


def configuration(preset: object) -> Configuration:
    """Return a configuration by name; ``UsageError`` lists the available ones."""
    known = configurations()
    if not isinstance(preset, str) or preset not in known:
        raise UsageError(f"preset={preset}: there is no such configuration; there are: {', '.join(known)}")
    return known[preset]


def released(task: str, preset: object, target: int | None) -> dict[str, Any]:
    """The parameters of a task in a configuration at one of its lengths.

    Raises ``UsageError`` where there is none, with what there is.
    """
    found = configuration(preset).of(task)
    if target not in found.lengths:
        lengths = ", ".join(map(show_length, found.lengths))
        raise UsageError(f"preset={preset} has numbers for {task} at these lengths: {lengths}")
    return {**found.parameters, **found.lengths[target]}
