"""Subject of the browser: a private copy of an instance, episode, finished run or kept sample.

The copy is made when it is opened, so nothing of what is looked at changes, and an episode that is being
served is seen as it was at that moment.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
import threading
from collections.abc import Container, Iterator, Mapping
from contextlib import ExitStack, suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from mesocosm.agents.loop import Conversation
from mesocosm.errors import UsageError
from mesocosm.evaluation.browser import calls as seen
from mesocosm.evaluation.browser.calls import RowChange, ShownCall, ShownChange, ShownText, ShownTurn
from mesocosm.evaluation.browser.comparison import Pair, compared
from mesocosm.evaluation.browser.content import Content
from mesocosm.evaluation.failures import CLASSES, classify
from mesocosm.evaluation.runs import RunResult
from mesocosm.families import grading
from mesocosm.families.episode import Episode
from mesocosm.families.evidence_coverage import EvidenceCoverage, read_journal
from mesocosm.families.family import Evidence, Expected, family_of_instance
from mesocosm.families.instances import EXPECTED
from mesocosm.families.length import Survey
from mesocosm.families.verdict import Verdict
from mesocosm.services.calling import Direct, ToolError
from mesocosm.services.calls import Outcome
from mesocosm.services.service import ending_tools, load_service
from mesocosm.services.world import World
from mesocosm.worlds.journal import Entry
from mesocosm.worlds.manifest import Manifest
from mesocosm.worlds.workspace import Workspace

NOW, BUILT = "now", "built"
"""States of a world: as it is in the end, and as it was built; ``call-7`` is that after a call."""
SMALL = 150_000
"""Tokens of a world up to which what takes long is done without being asked for."""
_MISREADINGS = 60
"""Ways to misread an event that are tried, at most."""
_COMPARED = 60
"""Writing calls up to which each is held against what the reference solver does."""
_FEW_WRITES = 8
"""Writing calls after each of which the checker is asked; of more, first after some."""


class Subject:
    """Something that is looked at.

    Args:
        path: The folder of an instance, an episode, a run or a kept sample.
        answers: Whether what the checker knows may be shown.
    """

    def __init__(self, path: Path, *, answers: bool = True) -> None:
        self.path = path
        self.lock = threading.RLock()
        """Held by whoever reads: stores are not for several threads."""
        self._stack = ExitStack()
        folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="mesocosm-view-")))
        self._folder = folder
        self.acted = True
        """True if an agent acted on it; false for an untouched instance."""
        self.episode = self._copied(path, folder / "episode")
        self.answers = answers and (self.episode.path / EXPECTED).is_file()
        self._contents: dict[str, Content] = {}
        self._steps: dict[int, list[ShownChange]] = {}

    def _copied(self, path: Path, copy: Path) -> Episode:
        for folder in (path / "episode", path):
            if (folder / "episode.json").is_file():
                World(folder / "world", read_only=True).check_tables()
                return _forked(folder, copy)
        if (path / "world" / "world.json").is_file() and (path / EXPECTED).is_file():
            World(path / "world", read_only=True).check_tables()
            self.acted = False
            family = family_of_instance(path, Manifest.read(path / "world").family)
            return Episode.create(copy, path, family, steps=False)
        raise UsageError(f"{path} holds no instance, episode or run")

    def close(self) -> None:
        """Forget the copy."""
        for content in self._contents.values():
            content.close()
        self.episode.close()
        self._stack.close()

    # -- what it is -------------------------------------------------------------------------------------

    @cached_property
    def name(self) -> str:
        return Path(self.episode.info.task).stem

    @cached_property
    def result(self) -> RunResult | None:
        kept = self.path / "run.json"
        if not kept.is_file():
            return None
        try:
            return RunResult.model_validate_json(kept.read_bytes())
        except ValueError as error:
            raise UsageError(f"{kept} was written by another version, or is damaged: {error}") from None

    @property
    def conversation(self) -> Conversation | None:
        return self.result.conversation if self.result else None

    @cached_property
    def verdict(self) -> Verdict | None:
        """Verdict of the run or of the present state; ``None`` if nobody acted or it is hidden."""
        if not self.acted or not self.answers:
            return None
        if self.result is not None:
            return Verdict.model_validate(self.result.model_dump(include=set(Verdict.model_fields)))
        return grading.grade(self.episode)

    @cached_property
    def expected(self) -> Expected | None:
        """The checker's knowledge; ``None`` where it must stay hidden."""
        return self.episode.expected() if self.answers else None

    @property
    def evidence(self) -> list[Evidence]:
        return self.expected.evidence if self.expected else []

    @cached_property
    def reading(self) -> EvidenceCoverage:
        """Statistics of what was read and written."""
        return read_journal(self.episode)

    @cached_property
    def failure(self) -> tuple[str, str]:
        """Class of the failure with its meaning; empty without a failure."""
        name = classify(self.verdict, self.reading, self.conversation) if self.verdict else ""
        return name, CLASSES.get(name, "")

    # -- what was done ----------------------------------------------------------------------------------

    @cached_property
    def calls(self) -> list[ShownCall]:
        finders = Survey(self.episode.world, self.evidence).finders
        entries = self.episode.world.journal.entries()
        return seen.calls_of(self.episode.world, entries, finders, self.path / "conversation.jsonl")

    @property
    def called(self) -> bool:
        return self.acted and self.episode.world.journal.last > 0

    @cached_property
    def wrote(self) -> bool:
        """True if a call changed something; to declare that all is done changes nothing."""
        ending = ending_tools(self.episode.world.services)
        return any(
            call.writes and call.status == "ok" and f"{call.service}_{call.tool}" not in ending
            for call in self.calls
        )

    @cached_property
    def delivered(self) -> dict[int, int]:
        """By piece of evidence: the call that delivered it first."""
        return {piece: call.seq for call in self.calls for piece in call.fresh}

    @property
    def missed(self) -> list[int]:
        """The pieces of evidence that no result held."""
        return [number for number in range(len(self.evidence)) if number not in self.delivered]

    @cached_property
    def _talk(self) -> tuple[list[ShownTurn], dict[int, ShownText]]:
        return seen.conversation_of(self.path / "conversation.jsonl")

    @property
    def turns(self) -> list[ShownTurn]:
        return self._talk[0]

    @property
    def messages(self) -> dict[int, ShownText]:
        return self._talk[1]

    @cached_property
    def replayable(self) -> bool:
        """True if calls can be repeated to show their changes. Code of the agent is never run again."""
        entries = self.episode.world.journal.entries()
        return not any(seen.runs_code(self.episode.world, entry) for entry in entries)

    def changes_of(self, seq: int) -> list[ShownChange]:
        """Return the changes of a call; empty if calls cannot be repeated."""
        if seq not in self._steps and self.replayable:
            # Of a world that is quickly gone through, all at once.
            wanted = {call.seq for call in self.calls if call.writes} if self.is_small else {seq}
            for entry, _, step in self._replayed(wanted):
                if entry.seq in wanted:
                    self._steps[entry.seq] = step
                    if entry.seq == max(wanted):
                        break
        return self._steps.get(seq, [])

    def _first_broken(self) -> tuple[int, str] | None:
        """The first call after which a finding that held, and does not in the end, no longer holds.

        Not all states are judged: first some, then those between the last that was right and the next.
        """
        verdict, expected = self.verdict, self.expected
        if verdict is None or expected is None:
            return None
        wrong = {check.name for check in verdict.findings if not check.passed}
        wrong &= {check.name for check in self.episode.findings(of_base=True) if check.passed}
        done = [call.seq for call in self.calls if call.writes and call.status == "ok"]
        # A finding may hold no longer because more was to follow: what is as it should be is not to blame.
        right = self.right_calls if wrong else ()
        done = [seq for seq in done if seq not in right]
        writes = done if wrong and self.replayable else []
        while writes:
            step = max(1, round(len(writes) ** 0.5)) if len(writes) > _FEW_WRITES else 1
            chosen = {*writes[step - 1 :: step], writes[-1]}
            found = self._broken(chosen, wrong, expected)
            if found is None or step == 1:
                return found
            at = writes.index(found[0])
            writes = writes[max(0, at - step + 1) : at + 1]
        return None

    @cached_property
    def pairs(self) -> list[tuple[str, list[Pair]]]:
        """The rows that the reference solver changes beside those of the agent, by table; none of a world in
        which that takes long."""
        if not self.is_small or not self.reading.writes or isinstance(self.solution, str):
            return []
        return compared(self.solution, self.changes, self.content(BUILT).row)

    @property
    def compared_calls(self) -> list[int]:
        """The calls that may have changed something; none where they are too many to look at each."""
        writes = [call.seq for call in self.calls if call.writes and call.status == "ok"]
        return writes if len(writes) <= _COMPARED else []

    @cached_property
    def right_calls(self) -> list[int]:
        """The calls of which all that is left is what the reference solver makes, too."""
        rows = {
            (table.partition(".")[0], pair.got.ref): pair.same
            for table, pairs in self.pairs
            for pair in pairs
            if pair.got
        }
        found = []
        for seq in self.compared_calls if any(rows.values()) else ():
            refs = [(one.service, row.ref) for one in self.changes_of(seq) for row in one.rows]
            # Rows of neither side say nothing, such as a counter.
            told = [rows[ref] for ref in refs if ref in rows]
            if told and all(told):
                found.append(seq)
        return found

    def _broken(self, chosen: set[int], wrong: set[str], expected: Expected) -> tuple[int, str] | None:
        """The first of these calls after which one of these findings no longer holds."""
        for entry, world, _ in self._replayed():
            if entry.seq in chosen:
                # A connection of its own: what the checker reads is what lies on the disk.
                with World(world.path, base=world.base, read_only=True) as opened:
                    found = self.episode.family.check(opened, expected)
                    broken = next((one for one in found if not one.passed and one.name in wrong), None)
                if broken:
                    return entry.seq, broken.name
        return None

    @cached_property
    def idle(self) -> frozenset[str]:
        """The findings that hold now and held before anything was done, in a run that changed nothing.

        Where something was changed, that it kept what was to be kept is the agent's.
        """
        if self.verdict is None or self.verdict.verdict != "failed" or not self.counts_quickly or self.wrote:
            return frozenset()
        return frozenset(check.name for check in self.verdict.findings if check.passed)

    @property
    def is_small(self) -> bool:
        """True if the subject is small enough to be scanned at once."""
        return self.episode.info.edl <= SMALL

    @property
    def counts_quickly(self) -> bool:
        """True if what the calls delivered is known, or soon counted, or written down nowhere else."""
        return self.is_small or "calls" in self.__dict__ or self.result is None

    @property
    def known_first_wrong(self) -> tuple[int, str] | None:
        """First wrong call, unless finding it takes long and nobody asked."""
        return self.first_wrong if self.is_small or "first_wrong" in self.__dict__ else None

    @cached_property
    def first_wrong(self) -> tuple[int, str] | None:
        """The first wrong call and what is wrong with it, as far as one call is to blame."""
        if not self.answers or not self.verdict or self.verdict.verdict != "failed":
            return None
        oracle = self.expected.oracle() if self.expected else None
        if oracle is not None:
            own = [call for call in self.calls if call.service not in self.episode.info.added]
            judged = oracle.judge(
                [made for made in self.episode.history() if made.service not in self.episode.info.added]
            )
            for call, best in zip(own, judged or (), strict=False):
                if not best:
                    return call.seq, "not among the best calls at that moment"
        return self._first_broken()

    @cached_property
    def misread(self) -> list[tuple[Any, str]]:
        """Single misreadings that would explain the final state, in families that can tell: derivations, each
        with the way it was misread.
        """
        misreadings = self.episode.family.hook("misreadings")
        if misreadings is None or self.verdict is None or self.verdict.verdict != "failed":
            return []
        if not self.reading.writes:
            return []  # nothing was done, which is right under no reading
        details = " ".join(check.detail for check in self.verdict.findings if not check.passed)
        mistakes = list(misreadings(self.expected))
        # Findings name at least one of those whom the mistake concerns.
        named = [one for one in mistakes if any(len(text) > 3 and text in details for text in one.concerned)]
        with World(self.episode.path / "world", base=self.episode.path / "base", read_only=True) as opened:
            opened.besides = frozenset(self.episode.info.added)
            return [
                (one.derivation, one.how)
                for one in (named or mistakes)[:_MISREADINGS]
                if all(check.passed for check in self.episode.family.check(opened, one.expected()))
            ]

    @cached_property
    def changes(self) -> list[ShownChange]:
        """All that differs from the world as it was built."""
        return _changes(self.episode.path / "world", self.episode.path / "base")

    @cached_property
    def marks(self) -> Mapping[tuple[str, str], RowChange]:
        """By service and ``table:key``: what became of a row."""
        return {(change.service, row.ref): row for change in self.changes for row in change.rows}

    @cached_property
    def solution(self) -> list[ShownChange] | str:
        """All that the reference solver changes on a copy, or why it cannot be had."""
        family, expected = self.episode.family, self.expected
        if expected is None:
            return "the answer is not shown"
        copy = self._folder / "solution"
        with suppress(FileNotFoundError):
            shutil.rmtree(copy)
        solved = self.episode.fork(copy)
        try:
            solved.reset()
            family.solve(
                Direct(solved.world), self.episode.prompt, expected if family.solver == "solution" else None
            )
            solved.close()
            return _changes(copy / "world", copy / "base")
        except (UsageError, ToolError, OSError) as error:
            return f"the reference solver does not get through here: {error}"
        finally:
            solved.close()

    # -- its content ------------------------------------------------------------------------------------

    def content(self, state: str) -> Content:
        """The content of the world in a state; ``UsageError`` if there is none of that name."""
        if state not in self._contents:
            self._contents[state] = Content(self._world_at(state))
        return self._contents[state]

    def _world_at(self, state: str) -> World:
        if state == BUILT:
            return World(self.episode.path / "base", read_only=True)
        if state == NOW:
            return World(self.episode.path / "world", read_only=True)
        seq = state.removeprefix("call-")
        if seq == state or not seq.isdecimal() or not self.replayable or int(seq) > len(self.calls):
            raise UsageError(f"there is no state {state!r}")
        copy = self._folder / state
        for entry, world, _ in self._replayed():
            if entry.seq == int(seq):
                world.copy_to(copy)
                break
        return World(copy, read_only=True)

    def _replayed(self, wanted: Container[int] = ()) -> Iterator[tuple[Entry, World, list[ShownChange]]]:
        return seen.replayed(self.episode.path / "base", self.episode.world.journal.entries(), wanted)

    def ask(self, state: str, service: str, tool: str, arguments: dict[str, Any]) -> Outcome:
        """Call a tool in a state of the world, on a copy that is discarded."""
        content = self.content(state)
        with tempfile.TemporaryDirectory(dir=self._folder) as name:
            content.world.copy_to(copy := Path(name) / "world")
            with World(copy) as world:
                return world.calls.make(service, load_service(service).tools[tool], arguments)

    def fork(self, path: Path) -> Path:
        """A copy on which tools are called by hand."""
        self.episode.fork(path).close()
        return path


def _forked(folder: Path, copy: Path) -> Episode:
    """A copy of an episode that somebody may be serving at the moment."""
    for attempt in range(3):
        with suppress(FileNotFoundError):
            shutil.rmtree(copy)
        try:
            forked = Episode(folder).fork(copy)
            for name in sorted(copy.glob("world/*.db-journal")):
                # What a call was about to write is undone, as it would be if that call had been cut off.
                with sqlite3.connect(name.with_suffix(".db")) as db:
                    db.execute("SELECT count(*) FROM sqlite_master").fetchone()
            return forked
        except (FileNotFoundError, sqlite3.DatabaseError):
            if attempt == 2:  # it is copied between two calls, which may be made at any moment
                raise UsageError(f"{folder} changed while it was copied; try again") from None
    raise AssertionError


def _changes(world: Path, base: Path) -> list[ShownChange]:
    """All that differs between two worlds."""
    with World(world, base=base, read_only=True) as opened:
        changes = opened.changes()
    found = [seen.change_of(service, table, rows) for (service, table), rows in changes.tables.items()]
    if changes.files_added or changes.files_removed or changes.files_changed:
        now, before = (Workspace(state / "workspace", linked=True) for state in (world, base))
        names = (changes.files_added, changes.files_removed, changes.files_changed)
        found.append(seen.files_change(*names, now, before))
    return found
