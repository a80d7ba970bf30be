"""Replaying: the same calls on the same world give the same results and the same bytes.

Code of the agent is run again, and with it the calls that it made, in the order in which it made them. Code
that asks the machine's clock or its random numbers may do otherwise than it did; that is reported like any
other difference.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import BaseModel

from mesocosm.errors import UsageError
from mesocosm.families.episode import Episode
from mesocosm.services.calls import COLLEAGUE
from mesocosm.services.world import World
from mesocosm.worlds.changes import compare_database
from mesocosm.worlds.copies import SHARED, STEPS, copy_world
from mesocosm.worlds.journal import Entry


class Replay(BaseModel):
    """Differences found by repeating the calls."""

    calls: int
    differences: list[str]

    @property
    def identical(self) -> bool:
        """True if nothing differed."""
        return not self.differences


def replay_episode(path: Path) -> Replay:
    """Make all calls of an episode again, on a copy of its base."""
    World(path / "world", read_only=True).check_tables()
    with tempfile.TemporaryDirectory(prefix="mesocosm-replay-") as folder:
        again = Path(folder) / "world"
        copy_world(path / "base", again)
        differences: list[str] = []
        calls = 0
        episode = Episode(path)
        with World(path / "world") as before, World(again, offer=episode.offer) as world:
            world.disturber = episode.disturber(world)
            interrupted = set()
            for entry in before.journal.entries():
                if entry.parent is not None and entry.parent not in interrupted:
                    continue  # made again by the call that made it
                outcome = world.calls.again(entry, before)
                if outcome is None:
                    interrupted.add(entry.seq)
                    continue
                calls += 1
                if entry.result is not None and (outcome.status, outcome.text) != (
                    entry.status,
                    entry.result,
                ):
                    differences.append(f"call {entry.seq}, {entry.service}.{entry.tool}: another result")
                own = [one for one in world.journal.inside(entry.seq) if one.tool != COLLEAGUE]
                if list(map(_made, world.calls.order_inside)) != list(map(_made, own)):
                    differences.append(
                        f"call {entry.seq}, {entry.service}.{entry.tool}: its code made other calls"
                    )
        return Replay(calls=calls, differences=differences + _compare(path / "world", again))


@contextmanager
def episode_after(path: Path, calls: int | None) -> Iterator[Episode]:
    """Open a copy of an episode as it was after a number of calls; ``None`` for now."""
    World(path / "world", read_only=True).check_tables()
    if calls is None:
        episode = Episode(path)
        try:
            yield episode
        finally:
            episode.close()
        return
    with tempfile.TemporaryDirectory(prefix="mesocosm-step-") as folder:
        now = Episode(path)
        again = now.fork(Path(folder) / "episode")
        try:
            made = [entry for entry in now.world.journal.entries() if entry.parent is None]
            if calls > len(made):
                raise UsageError(f"--after {calls}: the agent made {len(made)} calls")
            again.reset()
            for entry in made[:calls]:
                again.world.calls.again(entry, now.world)
            yield again
        finally:
            again.close()
            now.close()


def _made(entry: Entry) -> tuple[object, ...]:
    return entry.seq, entry.service, entry.tool, entry.arguments, entry.status, entry.result


def _compare(one: Path, other: Path) -> list[str]:
    left, right = _files(one), _files(other)
    return [
        f"file {name}: "
        + ("only in one of the worlds" if name not in left or name not in right else "other bytes")
        for name in sorted(left.keys() | right.keys())
        if left.get(name) != right.get(name) and not _holds_the_same(name, one, other)
    ]


def _holds_the_same(name: str, one: Path, other: Path) -> bool:
    """True if two databases differ in bytes but not in rows. Unused pages may differ after a rollback."""
    both = name.endswith(".db") and (one / name).is_file() and (other / name).is_file()
    return both and not list(compare_database(one / name, other / name))


def _files(world: Path) -> dict[str, bytes]:
    return {
        path.relative_to(world).as_posix(): path.read_bytes()
        for path in world.rglob("*")
        if path.is_file()
        and not path.name.startswith("journal.db")
        and not path.name.endswith("-journal")
        and path.relative_to(world).parts[0] not in (STEPS, SHARED)
    }
