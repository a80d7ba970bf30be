"""Knowledge of scripted models about tasks in YAML: the truth of an instance, found by its prompt.

A task in YAML is mostly solved by its solution, told the truth. Whoever lets a scripted model act tells it
here (``eval``, ``run``), or the server of the models is given folders in which instances, runs or episodes
are (``mesocosm model-server --worlds``). No other model is ever told anything.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from mesocosm.families.family import Family, family_of_instance, load_family
from mesocosm.families.instances import EXPECTED
from mesocosm.worlds.manifest import Manifest

if TYPE_CHECKING:
    from mesocosm.families.family import Expected

MAX_TOLD = 10_000
"""Instances of which the truth is remembered."""
PROMPT = "prompt.md"


@dataclass(frozen=True)
class InstanceTruth:
    """An instance whose truth is known."""

    family: Family
    prompt: str
    expected: Expected


class KnownTruths:
    """The instances whose truth is known."""

    def __init__(self) -> None:
        self._told: dict[str, InstanceTruth] = {}
        self._folders: Sequence[Path] = ()
        self._lock = threading.Lock()

    def tell(self, family: Family, prompt: str, expected: Expected) -> None:
        with self._lock:
            self._told[prompt.strip()] = InstanceTruth(family, prompt, expected)
            while len(self._told) > MAX_TOLD:
                self._told.pop(next(iter(self._told)))

    def look_into(self, folders: Sequence[Path]) -> None:
        """Find instances, runs and episodes below these folders, also such as come later."""
        self._folders = folders

    def find(self, text: str) -> InstanceTruth | None:
        """Find the instance whose prompt is in a text."""
        if truth := self._among_told(text):
            return truth
        for folder in self._folders:
            for path in sorted(folder.rglob(PROMPT)):
                prompt = path.read_text(encoding="utf-8").strip()
                if prompt in text and (truth := _read(path.parent, prompt)):
                    self.tell(truth.family, truth.prompt, truth.expected)
                    return truth
        return None

    def _among_told(self, text: str) -> InstanceTruth | None:
        with self._lock:
            return next((truth for prompt, truth in self._told.items() if prompt in text), None)


def _read(folder: Path, prompt: str) -> InstanceTruth | None:
    """Read the truth of the instance or episode in a folder."""
    if not (folder / EXPECTED).is_file():
        return None  # a run, whose episode lies below it
    if (folder / "episode.json").is_file():
        family = load_family(orjson.loads((folder / "episode.json").read_bytes())["task"])
    else:
        family = family_of_instance(folder, Manifest.read(folder / "world").family)
    return InstanceTruth(family, prompt, family.read_expected((folder / EXPECTED).read_bytes()))


known = KnownTruths()
"""Truths that the models of this process know."""
