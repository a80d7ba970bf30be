"""The calls of a world: the one way in which whoever acts on it reads and changes it."""

# A call is one transaction, and its journal entry is written apart from it, so that a crash can be settled
# (decision 002).

from __future__ import annotations

import traceback
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from math import inf
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Literal, Protocol

import orjson
from sqlalchemy.exc import DBAPIError

from mesocosm.errors import Conflict, CutOff, Invalid, Refusal
from mesocosm.services.calling import FAULT_TEXT
from mesocosm.services.service import Action, Image, Page, Reply, Store, load_service
from mesocosm.worlds import database, deadlines
from mesocosm.worlds.error_mapping import declined
from mesocosm.worlds.journal import Entry, written_down
from mesocosm.worlds.limits import setting, settings

if TYPE_CHECKING:
    from mesocosm.services.world import World


COLLEAGUE = "(somebody else)"
"""The tool of a call that was made meanwhile, and by nobody who is judged."""


class Disturber(Protocol):
    """Comes between. What it does follows from the seed and from the calls that were made, so that the same
    calls are disturbed alike."""

    def instead(self, service: str, action: Action, raw: str) -> Outcome | None:
        """Return the outcome to show instead of making a call (arguments as JSON); ``None`` to make it."""

    def shown(self, service: str, action: Action, raw: str, outcome: Outcome) -> Outcome:
        """Return the outcome of a reading call as the agent shall see it."""

    def meanwhile(self, service: str) -> Action | None:
        """Return a change by somebody else to a service after a call."""


# Clients poll and page back, agents repeat reads, and most calls change nothing: so a result is kept until
# something is written (decision 002), if nothing went into it but its arguments and its service's tables. A
# call that looked at the clock, the dice or the workspace is made anew each time. The journal has every call.

MAX_SIZE = 256 * 1024
"""Characters and bytes of the results that one world keeps; what was asked for longest ago goes first."""

Key = tuple[str, str, str]
"""Service, tool or operation, and the arguments as the journal has them."""


class RecentReads:
    """The results of the latest reading calls on one world."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Key, Outcome] = OrderedDict()
        self._size = 0

    def get(self, key: Key) -> Outcome | None:
        """The result of the same call, if nothing was written since."""
        outcome = self._kept.get(key)
        if outcome is not None:
            self._kept.move_to_end(key)
        return outcome

    def keep(self, key: Key, outcome: Outcome) -> None:
        """Keep a result for the next time."""
        size = _size(outcome)
        if size > MAX_SIZE // 4 or (outcome.reply and not outcome.reply.repeatable):
            return
        self._kept[key] = outcome
        self._size += size
        while self._size > MAX_SIZE:
            _, oldest = self._kept.popitem(last=False)
            self._size -= _size(oldest)

    def clear(self) -> None:
        """Something may have been written."""
        self._kept.clear()
        self._size = 0


def _size(outcome: Outcome) -> int:
    """Estimate the memory of a result. The text is no measure, because a pack may stand behind it."""
    if outcome.reply is not None:
        return len(outcome.reply.body)
    return sum(len(block if isinstance(block, str) else block.data) for block in outcome.blocks)


@dataclass(frozen=True)
class Outcome:
    """Outcome of one call."""

    status: Literal["ok", "refused", "fault", "disturbed"]
    blocks: tuple[str | Image, ...] = field(default=())
    reply: Reply | None = None
    """Reply to an HTTP client; there are no blocks then."""
    refusal: Refusal | None = None
    is_overdue: bool = False
    """True if it met its deadline."""

    @property
    def is_error(self) -> bool:
        """True if the caller is told that the call failed."""
        return self.status != "ok"

    @property
    def text(self) -> str:
        """All text that the agent reads."""
        if self.reply is not None:
            return self.reply.text
        return "\n".join(block for block in self.blocks if isinstance(block, str))


def failed(error: Exception, size: int) -> tuple[Outcome, str | None]:
    """Classify the exception being handled as a refusal or an internal error.

    ``size``: characters of what the call was given to read.
    """
    if deadlines.overdue():
        # A statement that was interrupted, or what somebody made of it.
        raise deadlines.Overdue from error
    refusal = declined(error, size)
    if refusal is None:
        return fault()
    return Outcome("refused", (refusal.message,), refusal=refusal), None


def too_long() -> Outcome:
    """The outcome of a call that met its deadline."""
    refusal = Invalid(
        f"This call took longer than {settings().call_timeout} seconds and was given up; nothing was "
        "changed. Ask for less at once."
    )
    return Outcome("refused", (refusal.message,), refusal=refusal, is_overdue=True)


def fault() -> tuple[Outcome, str]:
    """The outcome of the exception being handled: the agent learns that it happened, the journal what."""
    return Outcome("fault", (FAULT_TEXT,)), traceback.format_exc()


def outcome_of(result: Any) -> Outcome:
    """The outcome of a call that returned something."""
    return Outcome("ok", reply=result) if isinstance(result, Reply) else Outcome("ok", _blocks(result))


def _blocks(result: Any) -> tuple[str | Image, ...]:
    """A tool's result as content blocks: text as it is, data as compact JSON, images as images."""
    if isinstance(result, str):
        return (result,)
    if isinstance(result, Image):
        return (result,)
    if isinstance(result, tuple):
        return tuple(block for part in result for block in _blocks(part))
    if isinstance(result, Page):
        items = orjson.dumps(list(result.items)).decode()
        if result.next_page is None:
            return (items,)
        return (items, orjson.dumps({"next_page": result.next_page, "total": result.total}).decode())
    if isinstance(result, Mapping | Sequence):
        return (orjson.dumps(result).decode(),)
    raise TypeError(f"a tool returned {type(result).__name__}; expected text, data, Image or Page")


_LONG = 1_000_000
"""Characters of what is as large as an agent likes."""
_TIMES = 3
"""Attempts of a call that was cut off; it may itself be the cause."""


@dataclass(frozen=True)
class _Call:
    """A call that is being made."""

    service: str
    action: Action
    raw: str
    """Its arguments, as JSON."""
    size: int
    """Characters that it was given to read."""
    key: str | None
    started: int

    @property
    def microseconds(self) -> int:
        """Microseconds since the call began."""
        return (perf_counter_ns() - self.started) // 1000


class Calls:
    """The calls on an open world, made one after the other; the world's owner serialises them."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._reads = RecentReads()
        self._ended_now = False
        self._inside: int | None = None
        """The call that is being made, when its tool makes further calls."""
        self._outermost: int | None = None
        self.order_inside: Sequence[Entry] = ()
        """While replaying: the calls that code of the agent made inside the next call, in their order."""
        self._times = 1
        """Attempts of the current call."""
        self._cut_off = 0
        """The call that is to be undone."""

    @cached_property
    def _ending_tools(self) -> list[tuple[str, str]]:
        return [
            (service.name, tool.name)
            for service in self._world.services.values()
            for tool in service.tools.values()
            if tool.ends_episode
        ]

    @cached_property
    def _ended_before(self) -> bool:
        return self.end is not None

    @property
    def ended(self) -> bool:
        """True once the agent has declared the task done."""
        return self._ended_now or self._ended_before

    @property
    def end(self) -> int | None:
        """Number of the call that declared the task done; later calls do not count."""
        found = [self._world.journal.first_success(*tool) for tool in self._ending_tools]
        return min((seq for seq in found if seq is not None), default=None)

    @property
    def counted(self) -> int:
        """Number of calls made before the agent declared the task done."""
        end = self.end
        return self._world.journal.last if end is None else end

    @property
    def number(self) -> int:
        """Number of the call that is being made; where it makes others, its own and not theirs."""
        return self._outermost or self._world.journal.last + 1

    def make(
        self,
        service: str,
        action: Action,
        arguments: Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> Outcome:
        """Make one call: validate, run as one transaction, journal. Every failure is an ``Outcome``.

        A tool that keeps nothing in tables may make further calls meanwhile, for code of the agent; the
        journal says of these inside which call they were made.

        One that runs code and is cut off by no fault of the code's is undone, with all the calls that it
        made, and made again.
        """
        calls = self
        for times in count(1):
            if calls._inside is None:
                calls._times = times
            try:
                return calls._make(service, action, arguments, idempotency_key)
            except CutOff:
                if calls._inside is not None:
                    raise
                # Going back opens the world anew, with calls of its own: from here on these make the call.
                calls = calls._undone()
        raise AssertionError

    def _undone(self) -> Calls:
        """The calls of the world as it was before the one that was cut off."""
        self._world.go_back(self._cut_off - 1)
        self._world.calls.order_inside = self.order_inside
        return self._world.calls

    def _may_undo(self) -> bool:
        """True if the current call, with all calls inside it, can be undone and repeated."""
        steps, outermost = self._world.steps, self._outermost
        if self._times >= _TIMES or steps is None or outermost is None or steps.first >= outermost:
            return False
        self._cut_off = outermost
        return True

    def _make(
        self,
        service: str,
        action: Action,
        arguments: Mapping[str, Any],
        idempotency_key: str | None,
    ) -> Outcome:
        started = perf_counter_ns()
        deadlines.begin()
        self._world.call_rng = None
        # Code of agents has limits of its own; the calls that it makes have deadlines again.
        with deadlines.within(inf if action.runs_code else None):
            try:
                raw = written_down(arguments)
            except (RecursionError, UnicodeEncodeError) as error:
                call = _Call(service, action, "{}", _LONG, idempotency_key, started)
                return self._record(call, *failed(error, _LONG))
            call = _Call(service, action, raw, len(raw), idempotency_key, started)
            try:
                bound = action.bind(arguments)
                # After the arguments: a key that comes back with wrong ones is a wrong call like any other.
                retried = self._retried(call)
                if action.writes and not retried:
                    self._check_open()
            except Exception as error:  # noqa: BLE001 - the tool boundary: what is wrong is said or recorded
                return self._record(call, *failed(error, call.size))
            if retried:
                return self._again(call, retried, arguments)
            return self._disturbed(call, bound)

    def _disturbed(self, call: _Call, bound: dict[str, Any]) -> Outcome:
        """Make a call between which and the world somebody may come on purpose."""
        disturber = self._world.disturber
        if disturber and (instead := disturber.instead(call.service, call.action, call.raw)):
            return self._record(call, instead, None)
        outcome = self._write(call, bound) if call.action.writes else self._read(call, bound)
        if disturber and self._inside is None and (other := disturber.meanwhile(call.service)):
            self._inside = self._world.journal.last
            try:
                with (
                    deadlines.within()
                ):  # it is not the caller's to wait for, nor to be given up with the call
                    self._write(_Call(call.service, other, "{}", 0, None, perf_counter_ns()), {})
            finally:
                self._inside = None
        return outcome

    def _check_open(self) -> None:
        if self.ended:
            raise Conflict("The task has been declared done; no further changes are accepted.")
        most = self._world.manifest.refusals
        if most and self._world.journal.refused >= most:
            raise Conflict(f"{most} calls were refused; no further changes are accepted.")

    def _retried(self, call: _Call) -> Entry | None:
        """The call that was made before under the same key."""
        if not call.action.writes or call.key is None:
            return None
        return self._world.journal.find_key(call.key)

    @staticmethod
    def _again(call: _Call, retried: Entry, arguments: Mapping[str, Any]) -> Outcome:
        if (retried.service, retried.tool, retried.arguments) != (
            call.service,
            call.action.name,
            dict(arguments),
        ):
            return Outcome("refused", (f"Idempotency key {call.key!r} was used for another call.",))
        return Outcome("ok", (retried.result or "",))

    def _write(self, call: _Call, bound: dict[str, Any]) -> Outcome:
        journal, outer = self._world.journal, self._inside
        seq = self._inside = journal.begin(call.service, call.action.name, call.raw, call.key, outer)
        if outer is None:
            self._outermost = seq
        try:
            if call.action.runs_code:
                self._world.keep_step(lambda steps: steps.keep_files(self.number))
            outcome, error = self._run_write(call, bound, seq)
        except deadlines.Overdue:
            outcome, error = too_long(), None
        finally:
            self._inside = outer
            if outer is None:
                self._outermost = None
        journal.finish(seq, outcome.status, outcome.text, error, call.microseconds)
        # Only what was answered well ends an episode: a refused declaration leaves the agent at work.
        self._ended_now |= call.action.ends_episode and not outcome.is_error
        return outcome

    def _read(self, call: _Call, bound: dict[str, Any]) -> Outcome:
        world, key = self._world, (call.service, call.action.name, call.raw)
        error = None
        outcome = self._reads.get(key)
        if outcome is None:
            world.looked_further = False
            try:
                outcome, error = self._run_read(call.service, call.action, bound, call.size)
            except deadlines.Overdue:
                outcome = too_long()
            # The clock, the dice and files are no part of the key, so what looked at them is not kept.
            if outcome.status == "ok" and not world.looked_further and call.service in world.databases:
                self._reads.keep(key, outcome)
        if world.disturber:
            outcome = world.disturber.shown(call.service, call.action, call.raw, outcome)
        return self._record(call, outcome, error)

    def _record(self, call: _Call, outcome: Outcome, error: str | None) -> Outcome:
        """Journal a call that changed nothing."""
        self._world.journal.record(
            call.service,
            call.action.name,
            call.raw,
            outcome.status,
            outcome.text,
            error,
            call.microseconds,
            self._inside,
        )
        return outcome

    def again(self, entry: Entry, before: World) -> Outcome | None:
        """Make a call of another world in this one; ``None`` if it was cut off there."""
        if entry.status == "interrupted":
            # It was never applied, but its number was given: the clock must not fall behind.
            self._world.journal.record(entry.service, entry.tool, "{}", "interrupted", "", None, 0)
            return None
        own = [one for one in before.journal.inside(entry.seq) if one.tool != COLLEAGUE]
        self.order_inside = own
        return self.make_again(entry)

    def make_again(self, entry: Entry) -> Outcome:
        """Make a journalled call again."""
        tools = self._world.services[entry.service].tools if entry.service in self._world.services else {}
        action = tools.get(entry.tool) or self._world.operation(entry.service, entry.tool)
        return self.make(entry.service, action, entry.arguments, idempotency_key=entry.idempotency_key)

    def forget(self) -> None:
        """The world was changed from outside its calls: what was read may come out otherwise."""
        self._reads.clear()

    def peek(self, service: str, name: str, arguments: Mapping[str, Any]) -> Outcome:
        """Make a call without any trace, even in the journal; also of tools not offered to the agent. Calls
        that write are not possible.
        """
        tool = load_service(service).tools[name]
        outcome, error = self._run_read(service, tool, tool.bind(arguments), 0)
        if error:
            raise RuntimeError(f"{service}.{name} failed:\n{error}")
        return outcome

    def _run_read(
        self, service: str, action: Action, bound: dict[str, Any], size: int
    ) -> tuple[Outcome, str | None]:
        try:
            store = self._world.stores[service]
        except DBAPIError:
            return fault()
        session = store.session
        if session.bind is None:
            return self._run(store, action, bound, size)
        database.begin(session, read_only=True)
        try:
            return self._run(store, action, bound, size)
        finally:
            database.rollback(session)
            session.expunge_all()

    def _run_write(self, call: _Call, bound: dict[str, Any], seq: int) -> tuple[Outcome, str | None]:
        self._reads.clear()
        try:
            store = self._world.stores[call.service]
        except DBAPIError:
            return fault()
        session = store.session
        if session.bind is None:
            return self._run(store, call.action, bound, call.size)
        database.begin(session, read_only=False)
        try:
            outcome, error = self._run(store, call.action, bound, call.size)
            if outcome.is_error:
                database.rollback(session)
            else:
                session.flush()
                if database.size(session) > (most := setting("service_size")):
                    raise Invalid(
                        f"The service is full: what it keeps may take {most:,} bytes. Remove something first."
                    )
                # Part of the transaction: tells after a crash whether this call was applied.
                database.connection_of(session).exec_driver_sql(f"PRAGMA user_version={seq}")
                self._world.keep_step(lambda steps: steps.keep_pages(seq, call.service))
                database.commit(session)
        except (deadlines.Overdue, CutOff):
            database.rollback(session)
            raise
        except Exception as problem:  # noqa: BLE001 - the tool boundary: a flush that fails is no other matter
            database.rollback(session)
            return failed(problem, call.size)
        finally:
            session.expunge_all()
        return outcome, error

    def _run(
        self, store: Store, action: Action, bound: dict[str, Any], size: int
    ) -> tuple[Outcome, str | None]:
        try:
            return outcome_of(action.function(store, **bound)), None
        except CutOff as error:
            if self._may_undo():
                raise
            return failed(error, size)
        except Exception as error:  # noqa: BLE001 - the tool boundary: whatever is no refusal is our fault
            # Files are input, too, of whatever size the agent gave them.
            return failed(error, _LONG if self._world.looked_further else size)
