"""An oracle for every family that has a reference solver.

The solver solves the instance once, on a copy of the world as it was built; its calls are the script. *Plan*
is the first call of the script that the agent has no longer to be told: not made, and what it delivers not
read in another way. *State* is what was read and done, with the records among it that hold evidence, and
what is known to be unread.

An agent that went its own way has made writes that are not in the script. Then ways on are tried on a copy
of the world, and the first after which the family's checker passes is the plan: to end, to do the rest of the
script, to take back what was done besides and do the rest. Where none passes, the plan says what cannot be
mended. Nothing is planned to be written before all is read that the script reads before it, so no value is
told that the agent could not have read. (The walk of a task in YAML knows the truth, so its script begins
with the calls of the survey that deliver what the statements tell.)
"""

# An oracle for any task follows from its reference solver, which may be at any step (decision 041).

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson

from mesocosm.families.family import Expected, Family
from mesocosm.families.length import evidence_finders
from mesocosm.families.oracle import Call, Made, Oracle, State, Subtask
from mesocosm.families.scripts import Delivered, ScriptStep, key_of, records_of, write_script
from mesocosm.services.calls import Outcome
from mesocosm.services.service import load_service
from mesocosm.services.undo import Done, load_undo
from mesocosm.services.world import World
from mesocosm.worlds.copies import copy_world

_SHOWN = 160
"""Characters of a call's argument that are shown of what was done."""
_MEND = "take back what should not have been done"
_MAX_NAMED = 12
"""Things that are named one by one."""


@dataclass
class _Journey:
    """Reads and writes of an agent so far."""

    delivered: Delivered = field(default_factory=Delivered)
    read: dict[str, None] = field(default_factory=dict)
    evidence: set[int] = field(default_factory=set)
    """Pieces of evidence that were delivered."""
    relevant: dict[str, None] = field(default_factory=dict)
    """Records that hold evidence, as they stand in the results."""
    writes: list[tuple[int, Made]] = field(default_factory=list)
    """Writes that took effect, each with its place in the journal."""
    refused: dict[str, None] = field(default_factory=dict)
    """Writes that were refused at some time."""
    ended: bool = False


@dataclass(frozen=True)
class _Way:
    """Remaining steps from a state."""

    mending: tuple[Call, ...] = ()
    rest: tuple[int, ...] = ()
    """Steps of the script that are still to be done, of those that write."""
    lost: str = ""
    """Reason why the goal is out of reach."""


class SolverOracle(Oracle):
    """The oracle that follows from a family's reference solver.

    Args:
        family: The family.
        prompt: The instance's prompt.
        base: The world as it was built.
        expected: What the checker knows.
    """

    def __init__(self, family: Family, prompt: str, base: Path, expected: Expected) -> None:
        self._family, self._prompt, self._base, self._expected = family, prompt, base, expected
        self._finders = evidence_finders(expected.evidence)
        self._journey, self._taken = _Journey(), list[Made]()
        self._ways: dict[tuple[int, int], _Way] = {}
        """By the number of writes that took effect, and of those that were refused."""

    @cached_property
    def script(self) -> list[ScriptStep]:
        """The calls of the reference solver on the world as it was built."""
        return write_script(self._family, self._prompt, self._base, self._expected)

    def prepare(self) -> None:
        """Write the script, and judge the world as it was built."""
        _ = self.script, self._failing_at_first

    # -- what was done ----------------------------------------------------------------------------------

    def _follow(self, journal: Sequence[Made]) -> _Journey:
        known = len(self._taken)
        if len(journal) < known or (known and journal[known - 1] != self._taken[-1]):
            self._journey, self._taken, self._ways, known = _Journey(), [], {}, 0
        for made in journal[known:]:
            self._taken.append(made)
            self._take(made, len(self._taken))
        return self._journey

    def _take(self, made: Made, place: int) -> None:
        if made.service == "oracle":
            return
        journey = self._journey
        key = key_of(made.service, made.tool, made.arguments)
        tool = load_service(made.service).tools.get(made.tool)
        if tool is None:
            return
        if not made.ok:
            if tool.writes:
                journey.refused[key] = None
            return
        if tool.writes:
            journey.writes.append((place, made))
            journey.ended |= tool.ends_episode
            return
        journey.read[key] = None
        journey.delivered.take(made.service, made.result)
        if finder := self._finders.get(made.service):
            journey.evidence.update(finder.held_by(made.result))
            for _, shown in records_of(made.result):
                if finder.held_by(shown):
                    journey.relevant[f"{made.service}: {shown}"] = None

    def _is_read(self, step: ScriptStep, journey: _Journey) -> bool:
        """True if the agent knows the result of a reading step."""
        if step.key in journey.read:
            return True
        if step.evidence or step.opens:
            return step.evidence <= journey.evidence and step.opens <= journey.delivered.values
        return bool(step.records) and all(
            journey.delivered.holds(step.call.service, record) for record in step.records
        )

    # -- the interface ----------------------------------------------------------------------------------

    def plan(self, world: World, journal: Sequence[Made]) -> list[Subtask]:
        """The next call of the way on, as a subtask."""
        journey = self._follow(journal)
        if journey.ended:
            return []
        way: _Way | None = None
        for number, step in enumerate(self.script):
            if not step.writes:
                if not self._is_read(step, journey):
                    return [_subtask(step.call)]
                continue
            # Ways on are looked for no sooner than something is to be written.
            way = way or self._way(world, journey)
            if way.mending:
                return [_subtask(way.mending[0], _MEND, way.lost)]
            if number in way.rest:
                return [_subtask(step.call, lost=way.lost)]
        return []

    def state(self, world: World, journal: Sequence[Made]) -> State:
        """Return what was read and done, which of it matters, and which evidence is unread."""
        journey = self._follow(journal)
        unread = [_show(step.call) for step in self._unread(journey)]
        done = [_show(made) for _, made in journey.writes]
        relevant = list(journey.relevant)
        tools = Counter(key.split(" ", 1)[0] for key in journey.read)
        lines = [
            f"Read so far: {_several([f'{tool} ({number} calls)' for tool, number in tools.items()])}.",
            f"Of what was read, this matters: {_several(relevant, len(relevant), '; ')}.",
            f"Done so far: {_several(done, len(done), '; ')}.",
            f"Known to be unread: {_several(unread)}.",
        ]
        if journey.ended:
            lines.append("The task has been declared done.")
        facts = {"read": list(journey.read), "relevant": relevant, "done": done, "unread": unread}
        return State(text="\n".join(lines), facts=facts)

    def _unread(self, journey: _Journey) -> Iterator[ScriptStep]:
        """Readings that are still to be made and of whose arguments the agent knows already."""
        for step in self.script:
            if not step.writes and not self._is_read(step, journey):
                values = [
                    str(value) for value in step.call.arguments.values() if isinstance(value, str | int)
                ]
                if all(
                    value in self._prompt or value in journey.delivered.values or len(value) < 3
                    for value in values
                ):
                    yield step

    # -- ways on ----------------------------------------------------------------------------------------

    def _way(self, world: World, journey: _Journey) -> _Way:
        key = len(journey.writes), len(journey.refused)
        if key not in self._ways:
            before = self._ways.get((key[0] - 1, key[1]), _Way())
            made = journey.writes[-1][1] if journey.writes else None
            # Whoever goes a way that was found is on it still.
            if made and before.mending and not before.lost and _is(made, before.mending[0]):
                self._ways[key] = replace(before, mending=before.mending[1:])
            elif made and self._goes(before, made):
                self._ways[key] = replace(before, rest=before.rest[1:])
            else:
                self._ways[key] = self._find_way(world, journey)
        return self._ways[key]

    def _goes(self, way: _Way, made: Made) -> bool:
        """True if a call is the next on a way, with nothing to undo first."""
        if way.mending or way.lost or not way.rest:
            return False
        return _is(made, self.script[way.rest[0]].call)

    def _find_way(self, world: World, journey: _Journey) -> _Way:
        rest, own = self._rest(journey)
        mending, hopeless = self._mending(own)
        # What was refused may be superfluous by now: a sheet that is there already.
        less = tuple(number for number in rest if self.script[number].key not in journey.refused)
        if less != rest and not self._failing(world, way := _Way(mending=mending, rest=less)):
            return way
        if not mending and not hopeless:
            return _Way(rest=rest)
        ends = tuple(number for number in rest if self.script[number].ends)
        failed = self._failing(world, _Way(rest=ends))
        if not failed:
            return _Way(rest=ends)
        # To do the rest is dear to try, and does not lead there where something is amiss that was not before.
        ways = [_Way(rest=rest), _Way(mending=mending, rest=rest)]
        for way in reversed(ways) if mending and failed - self._failing_at_first else ways:
            if not self._failing(world, way):
                return way
        named = "; ".join(_show(made) for made in hopeless) or "what was done besides"
        return _Way(mending=mending, rest=rest, lost=f"This cannot be mended any more: {named}.")

    def _rest(self, journey: _Journey) -> tuple[tuple[int, ...], list[Made]]:
        """Writing steps of the script that are still to be done, and writes that are not in the script."""
        steps = {number: step for number, step in enumerate(self.script) if step.writes}
        open_: dict[str, list[int]] = {}
        for number, step in steps.items():
            open_.setdefault(step.key, []).append(number)
        done: dict[int, int] = {}
        own: list[tuple[int, Made]] = []
        for place, made in journey.writes:
            key = key_of(made.service, made.tool, made.arguments)
            numbers = open_.get(key, [])
            fresh = next((number for number in numbers if number not in done), None)
            if fresh is not None:
                done[fresh] = place
            elif numbers and steps[numbers[0]].repeatable:
                done[numbers[-1]] = place
            else:
                own.append((place, made))
        # A file that was touched besides is written anew.
        for place, made in own:
            texts = {value for value in made.arguments.values() if isinstance(value, str)}
            for number, at in list(done.items()):
                step = steps[number]
                mine = {value for value in step.call.arguments.values() if isinstance(value, str)}
                if step.repeatable and at < place and texts & mine:
                    del done[number]
        return tuple(number for number in steps if number not in done), [made for _, made in own]

    def _mending(self, own: Sequence[Made]) -> tuple[tuple[Call, ...], list[Made]]:
        """Calls that take back writes, the last one first, and writes that cannot be taken back."""
        pending: list[tuple[Made, list[Call]]] = []
        with World(self._base, read_only=True) as base:
            for made in own:
                key = key_of(made.service, made.tool, made.arguments)
                if self._takes_back(key, pending):
                    continue
                pending.append((made, self._undo(made, base)))
        calls = tuple(call for _, undo in reversed(pending) for call in undo)
        return calls, [made for made, undo in pending if not undo]

    @staticmethod
    def _takes_back(key: str, pending: list[tuple[Made, list[Call]]]) -> bool:
        """True if a write undoes a pending one, which is then settled."""
        for number in range(len(pending) - 1, -1, -1):
            made, calls = pending[number]
            left = [call for call in calls if key_of(call.service, call.tool, call.arguments) != key]
            if len(left) < len(calls):
                if left:
                    pending[number] = (made, left)
                else:
                    del pending[number]
                return True
        return False

    def _undo(self, made: Made, base: World) -> list[Call]:
        undo = load_undo(made.service).get(made.tool)
        if undo is None:
            return []

        def before(tool: str, arguments: dict[str, Any]) -> str | None:
            outcome = base.calls.peek(made.service, tool, arguments)
            return None if outcome.is_error else outcome.text

        done = Done(made.tool, made.arguments, made.result, before)
        return [Call(service=made.service, tool=tool, arguments=given) for tool, given in undo(done)]

    @cached_property
    def _failing_at_first(self) -> set[str]:
        """Findings that do not pass when nothing is done but to end."""
        ends = tuple(number for number, step in enumerate(self.script) if step.ends)
        with World(self._base, read_only=True) as base:
            return self._failing(base, _Way(rest=ends))

    def _failing(self, world: World, way: _Way) -> set[str]:
        """Names of the findings that do not pass when this way is gone from the present state, on a copy."""
        with tempfile.TemporaryDirectory(prefix="mesocosm-oracle-") as folder:
            copy = Path(folder) / "world"
            copy_world(world.path, copy)
            with World(copy) as ahead:
                for call in (*way.mending, *(self.script[number].call for number in way.rest)):
                    outcome: Outcome = ahead.call(call.service, call.tool, call.arguments)
                    if outcome.status == "fault":
                        return {"fault"}
            with World(copy, base=self._base) as judged:
                found = self._family.check(judged, self._expected)
                return {check.name for check in found if not check.passed}


def _subtask(call: Call, why: str = "", lost: str = "") -> Subtask:
    first = load_service(call.service).tools[call.tool].description.replace("\n", " ").partition(". ")[0]
    goal = f"Call {call.service}.{call.tool} with {_arguments(call)}: {(why or first).rstrip('.')}."
    return Subtask(goal=f"{lost} {goal}".strip(), calls=[call])


def _is(made: Made, call: Call) -> bool:
    keys = [key_of(one.service, one.tool, one.arguments) for one in (made, call)]
    return keys[0] == keys[1]


def _arguments(call: Call) -> str:
    return orjson.dumps(call.arguments).decode() if call.arguments else "no arguments"


def _show(call: Call) -> str:
    given = ", ".join(f"{name}={_short(value)}" for name, value in call.arguments.items())
    return f"{call.service}.{call.tool}({given})"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _several(parts: Sequence[str], most: int = _MAX_NAMED, between: str = ", ") -> str:
    more = f"{between}and {len(parts) - most} more" if len(parts) > most else ""
    return (between.join(parts[:most]) or "nothing") + more
