"""Episodes: a world being acted on, with what is needed to judge and rewind it.

::

    episode/
      world/          what the agent's tools change
      base/           the world as it was built; never written
      expected.json   what the checker needs
      prompt.md       what the agent is asked
      episode.json    which task this is
      snapshots/      named copies of the world

Only ``world/`` is within reach of tools.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import sqlite3
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import cached_property
from pathlib import Path

import orjson
from pydantic import BaseModel, ValidationError

from mesocosm.errors import InUse, OtherVersion, UsageError
from mesocosm.families.disturbances import (
    Disturbances,
    EpisodeDisturber,
    base_with,
    framed,
    read_disturb,
    touched_rows,
)
from mesocosm.families.family import Expected, Family, known_as, load_family
from mesocosm.families.faults import Fault, faults_of
from mesocosm.families.instances import EXPECTED
from mesocosm.families.oracle import Made, Oracle, StepAccuracy, history_of
from mesocosm.families.solver_oracle import SolverOracle
from mesocosm.families.task import Offer
from mesocosm.families.verdict import Check, Verdict
from mesocosm.services.extras import require_extras
from mesocosm.services.troubles import Touched
from mesocosm.services.world import World, add_services
from mesocosm.worlds.copies import copy_world, link_file, link_tree
from mesocosm.worlds.journal import Journal
from mesocosm.worlds.manifest import Manifest
from mesocosm.worlds.removal import remove
from mesocosm.worlds.steps import Steps
from mesocosm.worlds.workspace import replace_file

GRADING = "grading"
"""Place of faults in a checker."""
_TOUCHED = "touched.json"
"""File with the changes by others up to judging."""
CALLS, CALL_FACTOR = 500, 3
"""An episode is given at least so many calls, and so many times those that it takes."""
ORACLE = "oracle"
"""The service that says what the oracle knows."""


class EpisodeInfo(BaseModel):
    """Content of ``episode.json``."""

    task: str
    """Name of the task, or the path of its file."""
    seed: int
    target: int | None
    edl: int
    tools: Offer = "all"
    """Which tools of its services the agent is offered; the world is the same."""
    added: list[str] = []
    """Services that are offered besides the task's own."""
    disturb: str = ""
    """Disturbances of the episode, as ``Disturbances`` parses them; empty for none."""
    abandoned_after: int | None = None
    """Seconds without a call after which its client is taken to be gone, and a server removes it."""


class Episode:
    """One episode on disk. Not for concurrent use: its owner makes one call at a time.

    Args:
        path: Its directory.
        family: That of its task, where the caller has it; otherwise it is loaded when it is needed.
    """

    def __init__(self, path: Path, family: Family | None = None) -> None:
        self.path = path
        self._family = family
        self._expected: tuple[tuple[int, ...], Expected] | None = None
        """The checker's knowledge, and which file it was read from."""
        self._history: list[Made] = []
        self._history_of: Journal | None = None
        self._history_to = 0
        fresh = path / ".world.fresh"
        if fresh.is_dir() and not (path / "world").exists():
            fresh.rename(path / "world")  # a crash came between the two renames of ``_replace_world``
        try:
            self.info = EpisodeInfo.model_validate_json((path / "episode.json").read_bytes())
        except FileNotFoundError:
            raise UsageError(f"{path} is not an episode or a run: it has no episode.json") from None
        except ValueError as error:
            raise UsageError(f"{path}/episode.json is damaged: {error}") from None

    @classmethod
    def create(
        cls,
        path: Path,
        instance: Path,
        family: Family,
        tools: Offer = "all",
        services: Sequence[str] = (),
        disturb: str = "",
        steps: bool = True,
        abandoned_after: int | None = None,
    ) -> Episode:
        """A new episode on a built instance, which stays as it is.

        ``services`` are offered besides the task's own, empty at first and with all their tools. Where no
        ``steps`` are kept, to go back is to make the calls again. It shares the files that are not replaced
        with the instance; they become its own before code of an agent runs there.
        """
        disturb = read_disturb(disturb)
        require_extras([*family.task.servers, *services])
        path.mkdir(parents=True)
        copy_world(instance / "world", path / "world", sharing_files=True)
        if steps:
            Steps.start(path / "world")
        link_tree(instance / "world", path / "base")
        if services:
            for world_folder in ("world", "base"):
                add_services(path / world_folder, services)
        for name in (EXPECTED, "prompt.md"):
            link_file(instance / name, path / name)
        manifest = Manifest.read(path / "base")
        info = EpisodeInfo(
            task=known_as(family),
            seed=manifest.seed,
            target=manifest.length.target if manifest.length else None,
            edl=manifest.length.measured if manifest.length else 0,
            tools=tools,
            added=[name for name in services if name not in family.task.servers],
            disturb=disturb,
            abandoned_after=abandoned_after,
        )
        replace_file(path / "episode.json", orjson.dumps(info.model_dump(), option=orjson.OPT_INDENT_2))
        return cls(path, family)

    @cached_property
    def world(self) -> World:
        base = self.path / "base"
        world = World(self.path / "world", base=base, offer=self.offer)
        world.adviser = self
        world.disturber = self.disturber(world)
        if ORACLE in self.info.added:
            self.oracle.prepare()
        return world

    def disturber(self, world: World) -> EpisodeDisturber | None:
        """Return the disturber of the episode's world, or of another world on which its calls are
        repeated.
        """
        if not self.info.disturb:
            return None
        return EpisodeDisturber(Disturbances.parse(self.info.disturb), world, self.expected().evidence)

    def provoked(self) -> list[Check]:
        """Check the agent's reaction to injected instructions."""
        disturber = self.world.disturber
        return list(disturber.findings()) if isinstance(disturber, EpisodeDisturber) else []

    @property
    def offer(self) -> Mapping[str, Sequence[str] | None] | None:
        """The tools that are offered, by service (``None``: all of it); ``None``: all that the world has."""
        if self.info.tools == "all":
            return None
        return {**self.family.task.offered(self.info.tools), **dict.fromkeys(self.info.added)}

    @cached_property
    def family(self) -> Family:
        """The task's family."""
        return self._family or load_family(self.info.task)

    @property
    def prompt(self) -> str:
        """The task's prompt."""
        text = (self.path / "prompt.md").read_text(encoding="utf-8")
        info = self.info
        return framed(text, info.disturb, f"{info.task}:{info.seed}") if info.disturb else text

    def close(self) -> None:
        """Close the world's files; the next use opens them again."""
        if "world" in self.__dict__:
            self.world.close()
            del self.__dict__["world"]

    @property
    def measures(self) -> dict[str, int]:
        """Measures of difficulty; empty where they cannot be read, which ``grade`` reports."""
        try:
            return self.expected().measures
        except (OSError, ValueError, UsageError):
            return {}

    @property
    def least_calls(self) -> int | None:
        """Calls without which the task cannot be done, in families that know."""
        try:
            return self.expected().least_calls
        except (OSError, ValueError, UsageError):
            return None

    @cached_property
    def _built(self) -> Manifest:
        """The manifest of the world as it was built, which nothing changes."""
        return Manifest.read(self.path / "base")

    @property
    def call_limit(self) -> int:
        """Calls after which the runner ends it by default.

        It is a multiple of what the task takes (of what reading everything takes, in families that do not
        know), so that none is ended for its size.
        """
        length = self._built.length
        needed = self.least_calls or (length.calls if length else 0)
        try:
            granted = self.expected().granted_calls
        except (OSError, ValueError, UsageError):
            granted = 0
        return max(CALLS, CALL_FACTOR * needed, granted)

    @cached_property
    def oracle(self) -> Oracle:
        """The oracle of the instance: its own, or that which follows from the reference solver."""
        expected = self.expected()
        own = expected.oracle()
        return own or SolverOracle(self.family, self.prompt, self.path / "base", expected)

    def history(self) -> list[Made]:
        """The calls that were made, as oracles look at them."""
        journal = self.world.journal
        if journal is not self._history_of or journal.last < self._history_to:
            self._history, self._history_of, self._history_to = [], journal, 0
        new = [entry for entry in journal.entries(self._history_to) if entry.status != "begun"]
        self._history += history_of(new)
        self._history_to = new[-1].seq if new else self._history_to
        return list(self._history)

    def told_state(self) -> str:
        """Return the oracle's current knowledge, in words."""
        return self.oracle.state(self.world, self.history()).text

    def told_plan(self) -> str:
        """Return the oracle's next steps, in words."""
        plan = self.oracle.plan(self.world, self.history())
        return plan[0].goal if plan else "There is nothing left to do."

    def step_accuracy(self) -> StepAccuracy | None:
        """Count the optimal calls; ``None`` if the family or this episode does not allow it, which ``grade``
        reports.
        """
        try:
            oracle = self.expected().oracle()
            # What was asked of services that were added is no step of the task.
            counted = [made for made in self.history() if made.service not in self.info.added]
            judged = oracle.judge(counted) if oracle else None
        except (OSError, ValueError, sqlite3.DatabaseError):
            return None
        return None if judged is None else StepAccuracy(calls=len(judged), optimal_calls=sum(judged))

    def expected(self) -> Expected:
        """Return the checker's knowledge. Raises ``OtherVersion`` if it belongs to an unreadable version of
        the task.
        """
        path = f"{self.path}/{EXPECTED}"
        status = os.stat(path)
        read = status.st_ino, status.st_size, status.st_mtime_ns
        if self._expected is None or self._expected[0] != read:
            self._expected = read, self._read_expected(Path(path))
        return self._expected[1]

    def _read_expected(self, path: Path) -> Expected:
        try:
            return self.family.read_expected(path.read_bytes())
        except ValidationError:
            task, built = self.family.task, self._built.version
            if built == task.version:
                raise
            raise OtherVersion(
                f"it was built by version {built} of {self.family.name}, and cannot be judged by "
                f"version {task.version}: grade it with the Mesocosm that it was built with"
            ) from None

    # -- rewinding --------------------------------------------------------------------------------------

    def reset(self) -> None:
        """Bring the world back to how it was built; the journal starts anew."""
        self._replace_world(self.path / "base")

    def snapshot(self, name: str) -> None:
        """Keep a copy of the world as it is now, under a name that is free."""
        target = self._snapshot_path(name)
        if target.exists():
            raise UsageError(f"there is a snapshot {name!r} already")
        draft = target.with_name(f".{name}")
        shutil.rmtree(draft, ignore_errors=True)
        try:
            copy_world(self.path / "world", draft)
            draft.rename(target)
        finally:
            shutil.rmtree(draft, ignore_errors=True)

    def restore(self, name: str) -> None:
        """Bring the world back to a snapshot."""
        source = self._snapshot_path(name)
        if not source.is_dir():
            raise UsageError(
                f"there is no snapshot {name!r}; there are: {', '.join(self.snapshots()) or 'none'}"
            )
        self._replace_world(source)

    def rollback(self, step: int) -> None:
        """Bring the world back to how it was when the call of that number had been answered, with whatever
        it called itself; 0: to how it was built.

        A step that is no longer kept is made again, call by call. Raises ``UsageError`` where there is no
        such step, or where a call has another result when it is repeated.
        """
        journal, steps = self.world.journal, self.world.steps
        if not 0 <= step <= journal.last:
            raise UsageError(f"there is no step {step}: there are 0 (as it was built) to {journal.last}")
        if not journal.is_step(step):
            raise UsageError(f"there is no step {step}: the agent's code made that call inside another one")
        if steps and step >= steps.first:
            self.world.go_back(step)
        elif step == 0:
            self.reset()
        else:
            self._make_again(step)

    def _make_again(self, step: int) -> None:
        """Go back to a step by making the calls until then on the world as it was built."""
        draft = self.path / ".again"
        shutil.rmtree(draft, ignore_errors=True)
        try:
            copy_world(self.path / "base", draft)
            Steps.start(draft)
            with World(draft, offer=self.offer) as again:
                again.disturber = self.disturber(again)
                self._repeat(again, step)
            self._replace_world(draft)
        finally:
            shutil.rmtree(draft, ignore_errors=True)

    def _repeat(self, again: World, step: int) -> None:
        cut_off = set()
        for entry in self.world.journal.entries():
            if entry.seq > step:
                return
            if entry.parent is not None and entry.parent not in cut_off:
                continue  # made by the call that made it
            outcome = again.calls.again(entry, self.world)
            if outcome is None:
                cut_off.add(entry.seq)
            elif (outcome.status, outcome.text) != (entry.status, entry.result):
                raise UsageError(
                    f"step {step} cannot be restored: call {entry.seq}, {entry.service}.{entry.tool}, "
                    "has another result when it is repeated"
                )

    def snapshots(self) -> list[str]:
        folder = self.path / "snapshots"
        if not folder.is_dir():
            return []
        return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))

    def fork(self, path: Path, *, sharing: bool = False) -> Episode:
        """A new episode that goes on from this one's present state; snapshots stay behind.

        ``sharing``: it shares the base and the files that are not replaced with this one, on which nobody
        acts any more and which outlives it. Its files become its own before code of an agent runs there.
        """
        path.mkdir(parents=True)
        copy_world(self.path / "world", path / "world", sharing_files=sharing)
        if sharing:
            (path / "base").symlink_to((self.path / "base").absolute())
        else:
            link_tree(self.path / "base", path / "base")
        for name in (EXPECTED, "prompt.md", "episode.json"):
            link_file(self.path / name, path / name)
        return Episode(path, self.__dict__.get("family", self._family))

    def _snapshot_path(self, name: str) -> Path:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name):
            raise UsageError(
                f"not a name for a snapshot: {name!r} (letters, digits, dots and dashes, at most 64)"
            )
        return self.path / "snapshots" / name

    def _replace_world(self, source: Path) -> None:
        fresh = self.path / ".world.fresh"
        # Beside the episode: it may take longer to be removed than until the episode is copied.
        old = self.path.with_name(f".{self.path.name}.{secrets.token_hex(8)}.old")
        shutil.rmtree(fresh, ignore_errors=True)
        copy_world(source, fresh, sharing_files=source.name == "base")
        if source.name == "base":
            Steps.start(fresh)
        self.close()
        (self.path / "world").rename(old)
        fresh.rename(self.path / "world")
        remove(old)

    # -- judging ----------------------------------------------------------------------------------------

    def usage(self) -> tuple[int, int]:
        """Tool calls that were made, until the agent said that it was done, and tokens that they delivered;
        none where the journal cannot be read, which ``grade`` reports."""
        try:
            world = self.world
            return world.calls.counted, world.journal.delivered_tokens(world.calls.counted)
        except (sqlite3.DatabaseError, UsageError):
            return 0, 0

    def faults(self) -> list[Fault]:
        """Faults of ours in the calls that count; that the journal cannot be read is one."""
        try:
            return faults_of(self.world.journal.faults(self.world.calls.counted))
        except InUse:
            raise
        except Exception:  # noqa: BLE001 - the episode boundary: a journal that is damaged is our fault
            return faults_of([("reading the journal", traceback.format_exc())])

    def findings(self, *, of_base: bool = False) -> list[Check]:
        """Return the checker's findings in the present state, or in the world as built."""
        world = self.path / ("base" if of_base else "world")
        noted = self.path / _TOUCHED
        touched = orjson.loads(noted.read_bytes()) if noted.is_file() and not of_base else []
        others = [(service, Touched(**one)) for service, one in touched]
        with (
            base_with(self.path / "base", others) as base,
            # A connection of its own: what the checker reads is what lies on the disk.
            World(world, base=base, read_only=of_base) as opened,
        ):
            opened.besides, opened.settled = frozenset(self.info.added), True
            return list(self.family.check(opened, self.expected()))

    def note_touched(self) -> None:
        """Write the changes by others to a file, for judges that cannot read the journal meanwhile."""
        if not self.info.disturb:
            return
        with suppress(sqlite3.DatabaseError):  # which ``faults`` reports
            touched = [(service, asdict(one)) for service, one in touched_rows(self.world)]
            replace_file(self.path / _TOUCHED, orjson.dumps(touched))

    def grade(self) -> Verdict:
        """Judge the present state in this process, without limits of time and memory: see ``grading``."""
        faults = self.faults()
        try:
            self.note_touched()
            return Verdict.of([*self.findings(), *self.provoked()], faults)
        except Exception:  # noqa: BLE001 - the episode boundary: a checker that breaks is our fault
            return Verdict.of([], [*faults_of([(GRADING, traceback.format_exc())]), *faults])
