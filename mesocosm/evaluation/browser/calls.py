"""The calls of an episode as people see them: what each delivered and changed, in which turn it was made."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from mesocosm.families.length import EvidenceFinder
from mesocosm.services.previews import readable
from mesocosm.services.service import load_service
from mesocosm.services.world import World
from mesocosm.worlds import tokens
from mesocosm.worlds.changes import TableChanges, compare_database
from mesocosm.worlds.copies import copy_world
from mesocosm.worlds.journal import Entry
from mesocosm.worlds.workspace import Workspace

SHOWN_ROWS = 50
"""Rows of one change that a page shows."""
CONTENT = "content"
"""Column name for a file's text."""
FILES = "files"
"""Name of the table of file changes."""


@dataclass(frozen=True)
class RowChange:
    """Change of one row: values before and after, by column. An added row had none before."""

    how: str
    """added, changed or removed."""
    ref: str
    """``table:key``."""
    before: Mapping[str, Any]
    after: Mapping[str, Any]

    @property
    def values(self) -> list[tuple[str, Any, Any]]:
        """Columns that differ or have something in them, with their values before and after."""
        names = dict.fromkeys([*self.after, *self.before])
        pairs = [(name, self.before.get(name), self.after.get(name)) for name in names]
        if self.how == "changed":
            return [one for one in pairs if one[1] != one[2]]
        return [one for one in pairs if one[1] not in (None, "") or one[2] not in (None, "")]


@dataclass(frozen=True)
class ShownChange:
    """Changes in one table, or among the files."""

    service: str
    table: str
    rows: list[RowChange]
    more: int = 0
    """Number of more rows changed than these."""

    @property
    def told(self) -> str:
        """A short count of the rows."""
        counts = {how: sum(row.how == how for row in self.rows) for how in ("added", "changed", "removed")}
        said = ", ".join(f"{count} {how}" for how, count in counts.items() if count)
        return f"{self.service}.{self.table}: {said}" + (f", {self.more} more" if self.more else "")


@dataclass
class ShownCall:
    seq: int
    parent: int | None
    service: str
    tool: str
    arguments: dict[str, Any]
    status: str
    result: str
    tokens: int
    milliseconds: float | None
    writes: bool
    evidence: list[int]
    """The pieces of evidence that its result holds."""
    fresh: list[int]
    """Those of them that no result held before."""
    turn: int | None = None

    @property
    def name(self) -> str:
        """Service and tool."""
        return f"{self.service}.{self.tool}"


@dataclass
class ShownTurn:
    """One turn of the model: what it was shown and what it said."""

    number: int
    context: int
    shown: list[list[int]]
    """Numbers of the messages, from and to."""
    text: str
    removed: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class ShownText:
    """A message of a conversation."""

    role: str
    text: str


def calls_of(
    world: World, entries: Iterable[Entry], finders: Mapping[str, EvidenceFinder], conversation: Path
) -> list[ShownCall]:
    """The calls of a journal, with what they delivered."""
    seen: set[int] = set()
    found = []
    for entry in entries:
        finder, text = finders.get(entry.service), entry.result or ""
        held = list(finder.held_by(text)) if finder and entry.status == "ok" else []
        service = world.services.get(entry.service)
        tool = service.tools.get(entry.tool) if service else None
        found.append(
            ShownCall(
                seq=entry.seq,
                parent=entry.parent,
                service=entry.service,
                tool=entry.tool,
                arguments=entry.arguments,
                status=entry.status,
                result=text,
                tokens=tokens.count(text) if entry.tokens is None else entry.tokens,
                milliseconds=entry.duration_us / 1000 if entry.duration_us is not None else None,
                writes=tool.writes if tool else not entry.tool.startswith(("GET ", "IMAP ")),
                evidence=held,
                fresh=[piece for piece in held if piece not in seen],
            )
        )
        seen.update(held)
    _give_turns(found, conversation)
    return found


def runs_code(world: World, entry: Entry) -> bool:
    """True if the agent's code may have made calls. It is not run again for the browser."""
    service = world.services.get(entry.service)
    return entry.parent is not None or bool(service and service.runs_code)


# -- what changed ---------------------------------------------------------------------------------------


def replayed(
    base: Path, entries: Iterable[Entry], wanted: Container[int]
) -> Iterator[tuple[Entry, World, list[ShownChange]]]:
    """Repeat the calls on a copy. Yields each with the world after it and, if wanted, the call's changes."""
    with tempfile.TemporaryDirectory(prefix="mesocosm-look-") as name:
        folder = Path(name)
        copy_world(base, folder / "world")
        with World(folder / "world", base=base) as world:
            for entry in entries:
                tools = world.services[entry.service].tools if entry.service in world.services else {}
                tool = tools.get(entry.tool)
                if entry.status in ("interrupted", "disturbed") or (tool is not None and not tool.writes):
                    # What reads is not made again: it is enough that it takes its turn.
                    arguments = orjson.dumps(entry.arguments).decode()
                    world.journal.record(entry.service, entry.tool, arguments, entry.status, "", None, 0)
                    yield entry, world, []
                elif entry.seq in wanted:
                    copy_world(folder / "world", folder / "before")
                    done = world.calls.make_again(entry).status == "ok"
                    yield entry, world, list(_step(folder, entry.service)) if done else []
                    shutil.rmtree(folder / "before")
                else:
                    world.calls.make_again(entry)
                    yield entry, world, []


def _step(folder: Path, service: str) -> Iterator[ShownChange]:
    """Yield the differences between the world and its earlier state."""
    name = f"{service}.db"
    if (folder / "world" / name).is_file():
        for table, changes in compare_database(folder / "world" / name, folder / "before" / name):
            yield change_of(service, table, changes)
    now, before = (Workspace(folder / state / "workspace") for state in ("world", "before"))
    here, there = _hashes(now), _hashes(before)
    if here != there:
        both = here.keys() & there.keys()
        yield files_change(
            sorted(here.keys() - there.keys()),
            sorted(there.keys() - here.keys()),
            sorted(name for name in both if here[name] != there[name]),
            now,
            before,
        )


def _hashes(workspace: Workspace) -> dict[str, str]:
    return {name: hashlib.sha256(workspace.read(name)).hexdigest() for name, _ in workspace.files()}


def files_change(
    added: list[str], removed: list[str], changed: list[str], now: Workspace, before: Workspace
) -> ShownChange:
    """The change of some files, with their texts."""
    rows = [
        RowChange(how, f"{FILES}:{name}", _content(before, name), _content(now, name))
        for how, names in (("added", added), ("changed", changed), ("removed", removed))
        for name in names
    ]
    return ShownChange(FILES, FILES, rows[: 4 * SHOWN_ROWS], max(0, len(rows) - 4 * SHOWN_ROWS))


def _content(workspace: Workspace, name: str) -> dict[str, str]:
    """Return the text of a file, or its size and digest; empty without one."""
    if not workspace.exists(name) or workspace.is_folder(name):
        return {}
    data = workspace.read(name)
    return {CONTENT: readable(name, data) or f"{len(data):,} bytes {hashlib.sha256(data).hexdigest()[:12]}"}


def change_of(service: str, table: str, changes: TableChanges) -> ShownChange:
    most = SHOWN_ROWS
    key = _key(service, table)
    rows = [RowChange("added", _ref(table, key, row), {}, row) for row in changes.added[:most]]
    rows += [RowChange("changed", _ref(table, key, new), old, new) for old, new in changes.changed[:most]]
    rows += [RowChange("removed", _ref(table, key, row), row, {}) for row in changes.removed[:most]]
    number = len(changes.added) + len(changes.changed) + len(changes.removed)
    return ShownChange(service, table, rows, number - len(rows))


def _key(service: str, table: str) -> list[str]:
    metadata = load_service(service).metadata
    if metadata is None or table not in metadata.tables:
        return []
    return [column.name for column in metadata.tables[table].primary_key.columns]


def _ref(table: str, key: list[str], row: Mapping[str, Any]) -> str:
    values = [row.get(name) for name in key] or list(row.values())[:1]
    return f"{table}:{','.join(map(str, values))}"


# -- the conversation -----------------------------------------------------------------------------------


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    if not path.is_file():
        return
    with path.open("rb") as file:
        for line in file:
            try:
                yield orjson.loads(line)
            except orjson.JSONDecodeError:
                return  # the process was ended in the middle of a line


def conversation_of(path: Path) -> tuple[list[ShownTurn], dict[int, ShownText]]:
    """The turns of a model, and all messages by their numbers."""
    turns: list[ShownTurn] = []
    messages: dict[int, ShownText] = {}
    for line in _lines(path):
        if "shown" not in line:
            continue  # written by an earlier version
        for added in line.get("added", ()):
            messages[added["n"]] = ShownText(added["role"], str(added.get("content", "")))
        asked = ", ".join(call["tool"] for call in line["calls"])
        text = "\n".join(filter(None, (line.get("reasoning"), line["text"], asked and f"→ {asked}")))
        messages[line["n"]] = ShownText("assistant", text)
        for call in line["calls"]:
            messages[call["n"]] = ShownText("tool", call["error"] or call["result"])
        turns.append(
            ShownTurn(line["turn"], line["context"], line["shown"], line["text"], line.get("removed", {}))
        )
    return turns, messages


def _give_turns(calls: list[ShownCall], path: Path) -> None:
    """Say of each call in which turn it was made: the server keeps the calls in the order of the turns.

    Calls that reached no tool stand in the conversation alone, so both are gone through together.
    """
    waiting = [call for call in calls if call.parent is None]
    for line in _lines(path):
        for made in line.get("calls", ()):
            found = next((call for call in waiting[:50] if made["tool"].endswith(call.tool)), None)
            if found:
                found.turn = line["turn"]
                waiting.remove(found)
