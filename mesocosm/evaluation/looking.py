"""A look into one episode: its calls, what each delivered and changed, its findings, the context at any
turn."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel

from mesocosm.errors import UsageError
from mesocosm.evaluation.runs import RunResult
from mesocosm.families import grading
from mesocosm.families.episode import Episode
from mesocosm.families.length import Survey
from mesocosm.families.verdict import Check
from mesocosm.services.world import World
from mesocosm.worlds import tokens
from mesocosm.worlds.changes import TableChanges, compare_database
from mesocosm.worlds.copies import copy_tree, copy_world
from mesocosm.worlds.journal import Entry
from mesocosm.worlds.workspace import Workspace

SHOWN_TEXT = 6_000
"""Characters of a result, or of a message, that a page holds."""
SHOWN_ROWS = 5
"""Rows of a change that a page holds."""


class Change(BaseModel):
    """What one call changed in one table, or among the files."""

    table: str
    added: int = 0
    changed: int = 0
    removed: int = 0
    rows: list[str] = []
    """The first few, as text."""


class CallSeen(BaseModel):
    """One call of an episode."""

    seq: int
    turn: int | None = None
    parent: int | None = None
    tool: str
    arguments: str
    status: str
    tokens: int
    milliseconds: float | None
    evidence: list[int]
    """The pieces of evidence that its result holds."""
    fresh: int
    """Those of them that no result held before."""
    result: str
    changes: list[Change] = []


class TurnSeen(BaseModel):
    """One turn of the model: what it was shown and what it said."""

    turn: int
    context: int
    shown: list[list[int]]
    removed: dict[str, int] = {}
    text: str = ""


class Look(BaseModel):
    """All that the page shows."""

    task: str
    title: str
    length: int | None
    seed: int
    edl: int
    verdict: str
    reward: float | None
    error: str | None
    findings: list[Check]
    evidence: int
    delivered: int
    calls: list[CallSeen]
    final: list[Change]
    """All that differs from the world as it was built."""
    replayed: bool
    """Whether the changes of each call are known: code of the agent is not run again for a look."""
    turns: list[TurnSeen] = []
    messages: dict[int, dict[str, Any]] = {}
    """By number: role and text."""
    facts: dict[str, str] = {}


def look_at(run: Path) -> Look:
    """Look into a run, a sample that was kept, or an episode; nothing of it is changed."""
    folder = run / "episode" if (run / "episode").is_dir() else run
    episode = Episode(folder)
    try:
        return _look(run, episode)
    finally:
        episode.close()


def _look(run: Path, episode: Episode) -> Look:
    verdict = grading.grade(episode)
    facts: dict[str, str] = {}
    if (kept := run / "run.json").is_file():
        try:
            result = RunResult.model_validate_json(kept.read_bytes())
        except ValueError as error:
            raise UsageError(f"{kept} was written by another version, or is damaged: {error}") from None
        facts = _facts(result)
    turns, messages = _conversation(run / "conversation.jsonl")
    entries = list(episode.world.journal.entries())
    evidence = episode.expected().evidence
    calls = list(_calls(episode.world, entries, Survey(episode.world, evidence).finders))
    _give_turns(calls, run / "conversation.jsonl")
    replayed = not any(_runs_code(episode.world, entry) for entry in entries)
    if replayed:
        for call, changes in zip(calls, _replayed(episode.path / "base", entries), strict=True):
            call.changes = changes
    held = {piece for call in calls for piece in call.evidence}
    return Look(
        task=episode.info.task,
        title=episode.family.task.title,
        length=episode.info.target,
        seed=episode.info.seed,
        edl=episode.info.edl,
        verdict=verdict.verdict,
        reward=verdict.reward,
        error=verdict.error,
        findings=verdict.findings,
        evidence=len(evidence),
        delivered=len(held),
        calls=calls,
        final=_final(episode),
        replayed=replayed,
        turns=turns,
        messages=messages,
        facts=facts,
    )


def _facts(result: RunResult) -> dict[str, str]:
    talk = result.conversation
    facts = {"agent": talk.model if talk else result.agent}
    if talk:
        facts |= {
            "strategy": talk.strategy,
            "ended": talk.ended or "cut off",
            "trajectory": f"{talk.trajectory_length:,} tokens",
            "largest context": f"{talk.largest_context:,} tokens",
        }
    return facts


def _calls(world: World, entries: Iterable[Entry], finders: Mapping[str, Any]) -> Iterator[CallSeen]:
    seen: set[int] = set()
    for entry in entries:
        finder, text = finders.get(entry.service), entry.result or ""
        held = list(finder.held_by(text)) if finder and entry.status == "ok" else []
        yield CallSeen(
            seq=entry.seq,
            parent=entry.parent,
            tool=f"{entry.service}.{entry.tool}",
            arguments=cut(orjson.dumps(entry.arguments).decode()),
            status=entry.status,
            tokens=tokens.count(text),
            milliseconds=entry.duration_us / 1000 if entry.duration_us is not None else None,
            evidence=held,
            fresh=len(set(held) - seen),
            result=cut(text),
        )
        seen.update(held)


def _runs_code(world: World, entry: Entry) -> bool:
    service = world.services.get(entry.service)
    return entry.parent is not None or bool(service and service.runs_code)


# -- what each call changed -----------------------------------------------------------------------------


def _replayed(base: Path, entries: Iterable[Entry]) -> Iterator[list[Change]]:
    """Make the calls again on a copy, and see after each that writes what differs from before."""
    with tempfile.TemporaryDirectory(prefix="mesocosm-look-") as name:
        folder = Path(name)
        copy_world(base, folder / "world")
        copy_world(base, folder / "before")
        with World(folder / "world") as world:
            for entry in entries:
                if entry.status in ("interrupted", "disturbed"):
                    world.journal.record(entry.service, entry.tool, "{}", entry.status, "", None, 0)
                    yield []
                    continue
                outcome = world.calls.make_again(entry)
                tools = world.services[entry.service].tools if entry.service in world.services else {}
                tool = tools.get(entry.tool)
                silent = outcome.status != "ok" or (tool is not None and not tool.writes)
                yield [] if silent else list(_step(folder / "world", folder / "before", entry.service))


def _step(world: Path, before: Path, service: str) -> Iterator[Change]:
    name = f"{service}.db"
    if (world / name).is_file():
        for table, changes in compare_database(world / name, before / name):
            yield _change(f"{service}.{table}", changes)
        shutil.copyfile(world / name, before / name)
    yield from _files(world / "workspace", before / "workspace")


def _files(now: Path, before: Path) -> Iterator[Change]:
    here, there = _hashes(now), _hashes(before)
    added = sorted(here.keys() - there.keys())
    removed = sorted(there.keys() - here.keys())
    changed = sorted(name for name in here.keys() & there.keys() if here[name] != there[name])
    if added or removed or changed:
        yield Change(
            table="files",
            added=len(added),
            changed=len(changed),
            removed=len(removed),
            rows=[*(f"+ {name}" for name in added), *(f"~ {name}" for name in changed)][:SHOWN_ROWS]
            + [f"- {name}" for name in removed][:SHOWN_ROWS],
        )
        shutil.rmtree(before, ignore_errors=True)
        copy_tree(now, before)


def _hashes(folder: Path) -> dict[str, str]:
    workspace = Workspace(folder)
    return {name: hashlib.sha256(workspace.read(name)).hexdigest() for name, _ in workspace.files()}


def _change(table: str, changes: TableChanges) -> Change:
    rows = [f"+ {_row(row)}" for row in changes.added[:SHOWN_ROWS]]
    for old, new in changes.changed[:SHOWN_ROWS]:
        keys = [key for key in new if old.get(key) != new[key]]
        told = ", ".join(f"{key}: {old.get(key)!r} → {new[key]!r}" for key in keys)
        first = next(iter(new))
        rows.append(f"~ {first} {new[first]}: {told}")
    rows += [f"- {_row(row)}" for row in changes.removed[:SHOWN_ROWS]]
    return Change(
        table=table,
        added=len(changes.added),
        changed=len(changes.changed),
        removed=len(changes.removed),
        rows=[cut(row, 1_500) for row in rows],
    )


def _row(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}: {value!r}" for key, value in row.items() if value not in (None, ""))


def _final(episode: Episode) -> list[Change]:
    with World(episode.path / "world", base=episode.path / "base", read_only=True) as world:
        changes = world.changes()
    found = [_change(f"{service}.{table}", rows) for (service, table), rows in changes.tables.items()]
    files = [f"+ {name}" for name in changes.files_added] + [f"~ {name}" for name in changes.files_changed]
    files += [f"- {name}" for name in changes.files_removed]
    if files:
        found.append(
            Change(
                table="files",
                added=len(changes.files_added),
                changed=len(changes.files_changed),
                removed=len(changes.files_removed),
                rows=files[: 3 * SHOWN_ROWS],
            )
        )
    return found


# -- the conversation -----------------------------------------------------------------------------------


def _lines(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        return []
    found = []
    for line in path.read_bytes().splitlines():
        try:
            found.append(orjson.loads(line))
        except orjson.JSONDecodeError:
            break  # the process was ended in the middle of a line
    return found


def _conversation(path: Path) -> tuple[list[TurnSeen], dict[int, dict[str, Any]]]:
    turns, messages = [], {}
    for line in _lines(path):
        if "shown" not in line:
            continue  # written by an earlier version
        for added in line.get("added", ()):
            messages[added["n"]] = {"role": added["role"], "text": cut(str(added.get("content", "")))}
        asked = ", ".join(call["tool"] for call in line["calls"])
        text = "\n".join(filter(None, (line.get("reasoning"), line["text"], asked and f"→ {asked}")))
        messages[line["n"]] = {"role": "assistant", "text": cut(text)}
        for call in line["calls"]:
            messages[call["n"]] = {"role": "tool", "text": cut(call["error"] or call["result"])}
        turns.append(
            TurnSeen(
                turn=line["turn"],
                context=line["context"],
                shown=line["shown"],
                removed=line.get("removed", {}),
                text=cut(line["text"], 400),
            )
        )
    return turns, messages


def _give_turns(calls: list[CallSeen], path: Path) -> None:
    """Say of each call in which turn it was made: the server keeps the calls in the order of the turns.

    Calls that reached no tool stand in the conversation alone, so both are gone through together.
    """
    waiting = [call for call in calls if call.parent is None]
    for line in _lines(path):
        for made in line["calls"]:
            found = next(
                (call for call in waiting[:50] if made["tool"].endswith(call.tool.partition(".")[2])), None
            )
            if found:
                found.turn = line["turn"]
                waiting.remove(found)


def cut(text: str, limit: int = SHOWN_TEXT) -> str:
    """The text, or its beginning and how much more there is."""
    return text if len(text) <= limit else f"{text[:limit]}\n[… {len(text) - limit:,} more characters]"
