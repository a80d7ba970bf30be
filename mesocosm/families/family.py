"""Families: a task file with the generator, checker and reference solver of the same name."""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mesocosm.errors import UsageError, first_complaint
from mesocosm.families.task import Task, read_task
from mesocosm.families.trust import VARIABLE, code_of, functions, stamp
from mesocosm.families.verdict import Check, Misreading, Mutant
from mesocosm.families.written import written
from mesocosm.services.content import find_module, roots, service_names

if TYPE_CHECKING:
    from mesocosm.families.oracle import Oracle
    from mesocosm.services.calling import Tools
    from mesocosm.services.world import World

SOLVE = "solve"
"""A function beside a task file that solves it by reading, instead of its solution."""


class Params(BaseModel):
    """Parameters of a generator; every family adds its own."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    filler_tokens: int = Field(default=0, ge=0)
    """Tokens of distracting content to spread over the places where evidence lives."""

    def unexplained(self, prompt: str) -> Sequence[str]:
        """List what instances with these parameters hold that the prompt would have to explain."""
        return ()


class MadeParams(Params):
    """Base of parameters that are made while running: their descriptions are given.

    Pydantic would search the stack for the text of the class, which takes longer than all else of it.
    """

    model_config = ConfigDict(use_attribute_docstrings=False)


class Evidence(BaseModel):
    """One piece of evidence: where the survey meets it."""

    model_config = ConfigDict(frozen=True)

    service: str
    contains: str
    """Text that occurs in exactly those results of the survey that hold this evidence."""
    also: tuple[str, ...] = ()
    """Its forms in results of calls outside the survey, for instance in a list with all fields."""


class Expected(BaseModel):
    """Knowledge of a checker; every family adds its own. Kept outside the world."""

    public: dict[str, str] = {}
    """Values that the prompt may show."""
    evidence: list[Evidence] = []

    def derived(self) -> list[str]:
        """Describe how each fact follows from what is delivered; empty in families that do not know."""
        return []

    def near_misses(self) -> list[str]:
        """Describe what does not count and what distinguishes it; empty in families that do not know."""
        return []

    def lacking(self) -> list[str]:
        """List what the task has but this instance lacks; empty in families that do not know."""
        return []

    def finished(self) -> Expected:
        """Add what is expensive to compute. Called once, on the world whose length fits."""
        return self

    def oracle(self) -> Oracle | None:
        """Return the oracle for this instance, or ``None`` if the family has none."""
        return None

    @property
    def measures(self) -> dict[str, int]:
        """Measures of difficulty besides the length; reports plot against them."""
        return {}

    @property
    def least_calls(self) -> int | None:
        """Calls that whoever makes no mistake needs, in families that know: with fewer it cannot be done."""
        return None

    @property
    def granted_calls(self) -> int:
        """Calls that the task itself grants, so that nothing may end an episode before."""
        return 0


_KEPT = 4
_EXPECTED: dict[tuple[str, bytes], Expected] = {}
"""Cache of checkers' knowledge by family and data: episodes of one instance are judged in a row."""


@dataclass(frozen=True)
class Family:
    """Everything that belongs to one task, found by its name."""

    name: str
    """Name of the task (the YAML file's stem)."""
    task: Task
    path: Path

    @cached_property
    def _generator(self) -> Any:
        return self._module("generators")

    @cached_property
    def _written(self) -> Any:
        """Generator, checker and solver of a task that is one file."""
        return written(self.task, self.path, functions(self.path, self.task.python))

    def _module(self, folder: str) -> Any:
        if self.task.is_written:
            return self._written
        name = find_module(folder, self.task.family)
        if name is None:
            raise UsageError(f"{self.path}: there is no {folder}/{self.task.family}.py")
        return importlib.import_module(name)

    @property
    def params_type(self) -> type[Params]:
        """The class of the generator's parameters."""
        kind: type[Params] = self._generator.Params
        return kind

    def params(self, **values: Any) -> Params:
        """The generator's parameters: its defaults, the task's, those of the ``difficulty``, and these."""
        preset: dict[str, Any] = {}
        if self.task.presets and "difficulty" in values:
            preset = self._preset(values.pop("difficulty"))
        try:
            params = self.params_type(**{**self.task.parameters, **preset, **values})
        except ValidationError as error:
            complaint = first_complaint(error, self.params_type.model_fields)
            raise UsageError(f"{self.path}: parameters: {complaint}") from None
        if unexplained := params.unexplained(self.task.prompt):
            raise UsageError(f"{self.path}: with these parameters the prompt must explain {unexplained[0]!r}")
        return params

    def _preset(self, difficulty: object) -> dict[str, Any]:
        for name, preset in self.task.presets.items():
            if name == difficulty:
                return preset
        known = ", ".join(self.task.presets)
        raise UsageError(f"{self.path}: parameters: difficulty: {difficulty!r} is none of {known}")

    def generate(self, world: World, params: Params) -> Expected:
        """Fill a world; returns what the checker needs."""
        expected = self._generator.generate(world, params)
        assert isinstance(expected, Expected)
        return expected

    def drafting(self) -> AbstractContextManager[None]:
        """Share work between the drafts of a world on the way to a length."""
        begin = self.hook("drafting")
        return begin() if begin else nullcontext()

    def hook(self, name: str) -> Callable[..., Any] | None:
        """A further function of the generator, for kits that ask for one; ``None`` if it has none."""
        return getattr(self._generator, name, None)

    def survey(self, tools: Tools, expected: Expected) -> None:
        """Make the calls that read all an agent would need to read."""
        self._generator.survey(tools, expected)

    def read_expected(self, data: bytes) -> Expected:
        """The family's ``Expected`` from its JSON."""
        known = (str(self.path), data)
        if known not in _EXPECTED:
            kind: type[Expected] = self._generator.Expected
            _EXPECTED[known] = kind.model_validate_json(data)
            while len(_EXPECTED) > _KEPT:
                _EXPECTED.pop(next(iter(_EXPECTED)))
        return _EXPECTED[known]

    @property
    def has_own_oracle(self) -> bool:
        """True if the family has its own oracle, which knows every optimal call."""
        kind: type[Expected] = self._generator.Expected
        return kind.oracle is not Expected.oracle

    @property
    def knows_calls(self) -> bool:
        """True if the family knows a lower bound on the calls of its instances."""
        kind: type[Expected] = self._generator.Expected
        return kind.least_calls is not Expected.least_calls

    def check(self, world: World, expected: Expected) -> Iterable[Check]:
        """Judge a final state."""
        checks: Iterable[Check] = self._module("checkers").check(world, expected, **self.task.checker)
        return checks

    @property
    def mutants(self) -> list[Mutant | Misreading]:
        """The near misses of the family."""
        mutants: list[Mutant | Misreading] = self._module("checkers").MUTANTS
        return mutants

    def prompt(self, expected: Expected) -> str:
        """Return the task's prompt."""
        if self.task.is_written:
            written: str = self._written.prompt(expected)
            return written
        return self.task.render_prompt(expected.public)

    @property
    def solver(self) -> Literal["independent", "solution"]:
        """Kind of the solver: an independent reading of the rules, or a solution that is told the truth."""
        return "solution" if self.task.is_written and SOLVE not in self.task.python else "independent"

    def unstated(self, tools: Tools, expected: Expected) -> list[str]:
        """List what the goal needs but the survey does not deliver, if the solver is told the truth."""
        found: list[str] = self._written.unstated(tools, expected) if self.task.is_written else []
        return found

    def solve(self, tools: Tools, prompt: str, expected: Expected | None = None) -> None:
        """Solve an instance through its tools alone; a solution is also given the truth."""
        if self.task.is_written:
            if expected is None and self.solver == "solution":
                raise UsageError(f"{self.path}: its solution needs the truth, which is not known here")
            self._written.solve(tools, prompt, expected)
        else:
            self._module("solvers").solve(tools, prompt)


def family_names() -> list[str]:
    """Every task there is: the files below ``tasks/`` of all roots."""
    return sorted({path.stem for root in roots() for path in root.tasks()})


def task_path(name: str) -> Path:
    """The file of a task by its name, or by the path itself; ``UsageError`` if there is none."""
    path = Path(name) if name.endswith((".yaml", ".yml")) else _registered(name)
    if path is None or not _is_file(str(path)):
        if name.endswith((".yaml", ".yml")):
            raise UsageError(
                f"there is no file {name!r}; a task is a name of `mesocosm list`, or such a file"
            )
        beside = next((f"{name}{end}" for end in (".yaml", ".yml") if _is_file(f"{name}{end}")), None)
        if beside:
            raise UsageError(f"unknown task {name!r}; the file here is written {beside}")
        raise UsageError(
            f"unknown task {name!r}; there are: {', '.join(family_names())} (or the path of a .yaml)"
        )
    return path


def _is_file(path: str) -> bool:
    return "\0" not in path and len(Path(path).name) <= 255 and Path(path).is_file()


def load_family(name: str) -> Family:
    """Load a task by name or by its file's path; raises ``UsageError`` if it is missing or invalid."""
    path = task_path(name)
    now = time.time_ns()
    settled = _settled(path, now)
    if settled is not None and (known := _LOADED.get(path)) and known[2] == settled:
        return known[0]
    task = read_task(path)
    unknown = [service for service in task.servers if service not in service_names()]
    if unknown:
        raise UsageError(
            f"{path}: servers: unknown service {unknown[0]!r}; there are {', '.join(service_names())}"
        )
    made_of = (task, stamp(path) if task.python else None)
    kept = _LOADED.get(path)
    if kept is None and len(_LOADED) >= _MOST_LOADED:
        _LOADED.clear()
    family = kept[0] if kept and kept[1] == made_of else Family(path.stem, task, path)
    _LOADED[path] = family, made_of, settled
    return family


def _settled(path: Path, now: int) -> tuple[object, ...] | None:
    """The state that changes with a task file, the Python beside it, or whom the user trusts. ``None``
    where a file was written a moment ago: it may be written again and bear the same time.
    """
    status = os.stat(path)
    files = [(status.st_ino, status.st_size, status.st_mtime_ns)]
    try:
        code = os.stat(code_of(path))
        files.append((code.st_ino, code.st_size, code.st_mtime_ns))
    except OSError:
        pass
    if any(abs(now - at) < _SETTLED for _, _, at in files):
        return None
    return *files, os.environ.get(VARIABLE), roots()


_MOST_LOADED = 256
_SETTLED = 2_000_000_000
"""Nanoseconds after which a file that is written again bears another time."""
_LOADED: dict[Path, tuple[Family, tuple[Task, object], object]] = {}
"""Families with what they were made of: a file that is a whole task is read through for each verdict else."""


def known_as(family: Family) -> str:
    """Return the name by which ``load_family`` finds a task from anywhere: its name, or the file's path."""
    return family.name if _registered(family.name) == family.path else str(family.path.absolute())


TASK = "task"
"""The file of an instance that says which file it was built of, where that is a user's own."""


def family_of_instance(path: Path, name: str) -> Family:
    """The task that an instance was built of, which its world knows by this name."""
    own = path / TASK
    return load_family(own.read_text(encoding="utf-8") if own.is_file() else name)


def _registered(name: str) -> Path | None:
    """The task file of that name among those of all roots."""
    return next((path for root in roots() if (path := root.task(name))), None)
