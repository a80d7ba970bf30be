"""Worlds: one transaction a call, a clock and a journal, refusals and faults kept apart."""

from __future__ import annotations

import dataclasses
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from mailbox import fill_mailbox
from pathlib import Path
from typing import Any

import pytest

from mesocosm.errors import Conflict, OtherVersion, UsageError
from mesocosm.families.instances import fingerprint
from mesocosm.servers.email.store import EmailStore
from mesocosm.services.calling import FAULT_TEXT, Direct
from mesocosm.services.service import Store, UnknownTool, load_service
from mesocosm.services.world import World
from mesocosm.worlds import deadlines, tokens
from mesocosm.worlds.archives import pack
from mesocosm.worlds.database import check_tables
from mesocosm.worlds.journal import Journal
from mesocosm.worlds.manifest import Manifest

MakeWorld = Callable[..., World]


@pytest.fixture
def world(make_world: MakeWorld) -> World:
    return make_world(fill_mailbox, "email", "claim_done")


@pytest.fixture
def replace_tool(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Callable[..., Any]], None]:
    """Make a tool of the email service do something else."""
    tools = load_service("email").tools

    def replace(name: str, function: Callable[..., Any]) -> None:
        monkeypatch.setitem(tools, name, dataclasses.replace(tools[name], function=function))

    return replace


def database_bytes(world: World) -> bytes:
    return (world.path / "email.db").read_bytes()


def test_every_call_is_journalled_and_moves_the_clock(world: World) -> None:
    before = world.now
    world.call("email", "get_emails", {"page_size": 2})
    world.call("email", "get_emails", {"page": 0})
    entries = list(world.journal.entries())
    assert [(e.seq, e.tool, e.arguments, e.status) for e in entries] == [
        (1, "get_emails", {"page_size": 2}, "ok"),
        (2, "get_emails", {"page": 0}, "refused"),
    ]
    assert (world.now - before).total_seconds() == 2
    assert world.journal.delivered_tokens() > 50


def test_a_refused_call_leaves_no_trace_in_the_database(world: World, replace_tool: Any) -> None:
    def change_and_refuse(store: EmailStore, **_: Any) -> None:
        store.create_account("new@example.org", "New", "x" * 12)
        raise Conflict("changed my mind")

    replace_tool("send_email", change_and_refuse)
    before = database_bytes(world)
    outcome = world.call("email", "send_email", {"to": "a@b.org", "subject": "s", "body": "b"})
    assert (outcome.status, outcome.text) == ("refused", "changed my mind")
    assert database_bytes(world) == before


def test_a_call_that_took_too_long_is_no_refusal_to_programs_of_ours(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Proofs and trajectories take refusals for findings: on a slow machine they would be others."""
    monkeypatch.setattr(deadlines, "_timeout", lambda _: -1)
    for tool, arguments in (
        ("get_emails", {"folder": "INBOX"}),
        ("send_email", {"to": "a@b.org", "subject": "s", "body": "b"}),
    ):
        with pytest.raises(TimeoutError, match="This call took longer than"):
            Direct(world).look("email", tool, arguments)
        assert list(world.journal.entries())[-1].status == "refused"


def test_a_bug_is_recorded_hidden_from_the_agent_and_leaves_no_trace(world: World, replace_tool: Any) -> None:
    def broken(store: EmailStore, **_: Any) -> None:
        store.create_account("new@example.org", "New", "x" * 12)
        raise ZeroDivisionError("secret detail")

    replace_tool("send_email", broken)
    before = database_bytes(world)
    outcome = world.call("email", "send_email", {"to": "a@b.org", "subject": "s", "body": "b"})
    assert (outcome.status, outcome.text) == ("fault", FAULT_TEXT)
    assert database_bytes(world) == before
    [fault] = world.journal.with_status("fault")
    assert "secret detail" in (fault.error or "")


def test_a_reading_tool_that_writes_is_a_fault(world: World, replace_tool: Any) -> None:
    def sneaky(store: EmailStore, **_: Any) -> str:
        store.create_account("new@example.org", "New", "x" * 12)
        return "done"

    replace_tool("get_emails", sneaky)
    before = database_bytes(world)
    assert world.call("email", "get_emails", {}).status == "fault"
    assert database_bytes(world) == before


def test_what_a_tool_returns_must_be_an_answer(world: World, replace_tool: Any) -> None:
    replace_tool("get_emails", lambda store, **_: {1, 2})
    assert world.call("email", "get_emails", {}).status == "fault"


def test_unknown_tools_are_no_calls(world: World) -> None:
    with pytest.raises(UnknownTool):
        world.call("email", "teleport", {})
    with pytest.raises(UnknownTool):
        world.call("canvas", "canvas_list_courses", {})
    assert world.journal.last == 0


def test_only_the_tools_that_the_task_offers_are_there(tmp_path: Path) -> None:
    world = World.create(tmp_path / "w", Manifest(services={"email": ["get_emails"]}))
    world.finish_building()
    with world, pytest.raises(UnknownTool):
        world.call("email", "send_email", {})


def test_nothing_is_changed_after_the_task_was_declared_done(world: World) -> None:
    assert world.call("claim_done", "claim_done", {}).status == "ok"
    outcome = world.call("email", "send_email", {"to": "a@b.org", "subject": "s", "body": "b"})
    assert outcome.status == "refused"
    assert "done" in outcome.text
    assert world.call("email", "get_emails", {}).status == "ok"
    world.close()
    with World(world.path) as reopened:
        assert reopened.calls.ended
        assert reopened.call("claim_done", "claim_done", {}).status == "refused"


def test_a_retried_write_with_the_same_key_counts_once(world: World) -> None:
    arguments = {"to": "a@elsewhere.net", "subject": "s", "body": "b"}
    first = world.call("email", "send_email", arguments, idempotency_key="k1")
    again = world.call("email", "send_email", arguments, idempotency_key="k1")
    assert (first.status, again.text) == ("ok", first.text)
    assert world.journal.last == 1
    other = world.call("email", "send_email", arguments | {"body": "c"}, idempotency_key="k1")
    assert other.status == "refused"


def test_a_key_of_a_refused_call_can_be_used_again(world: World) -> None:
    refused = world.call(
        "email", "send_email", {"to": "nobody", "subject": "s", "body": "b"}, idempotency_key="k"
    )
    assert refused.status == "refused"
    good = {"to": "a@elsewhere.net", "subject": "s", "body": "b"}
    assert world.call("email", "send_email", good, idempotency_key="k").status == "ok"


@pytest.mark.parametrize(("applied", "status"), [(True, "ok"), (False, "interrupted")])
def test_a_call_cut_off_by_a_crash_is_settled_on_opening(world: World, applied: bool, status: str) -> None:
    world.call("email", "get_emails", {})
    world.close()
    journal = Journal(world.path / "journal.db")
    seq = journal.begin("email", "send_email", "{}", None)
    journal.close()
    if applied:
        with sqlite3.connect(world.path / "email.db") as db:
            db.execute(f"PRAGMA user_version={seq}")
        db.close()
    with World(world.path) as reopened:
        assert [entry.status for entry in reopened.journal.entries()] == ["ok", status]


def test_a_damaged_database_is_a_fault_and_the_process_lives_on(world: World, tmp_path: Path) -> None:
    world.close()
    (world.path / "email.db").write_bytes(b"this is no database" * 500)
    with World(world.path) as damaged:
        assert damaged.call("email", "get_emails", {}).status == "fault"
        assert damaged.call("claim_done", "claim_done", {}).status == "ok"


def test_a_directory_without_a_manifest_is_no_world(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"world\.json"):
        World(tmp_path)
    (tmp_path / "world.json").write_text("{")
    with pytest.raises(UsageError, match="damaged"):
        World(tmp_path)


def test_randomness_and_ids_come_from_seed_and_journal_alone(make_world: MakeWorld) -> None:
    draws = []
    for _ in range(2):
        world = make_world(fill_mailbox, "email")
        world.call("email", "get_emails", {})
        draws.append((world.rng.random(), world.stream("x").random(), world.now))
    assert draws[0] == draws[1]


def test_two_worlds_filled_alike_are_the_same_bytes(make_world: MakeWorld) -> None:
    one, other = make_world(fill_mailbox, "email"), make_world(fill_mailbox, "email")
    for world in (one, other):
        world.call("email", "send_email", {"to": "a@elsewhere.net", "subject": "s", "body": "b"})
        world.close()
        (world.path / "journal.db").unlink()
        for leftover in world.path.glob("*-journal"):
            leftover.unlink()
    assert fingerprint(one.path) == fingerprint(other.path)


def test_changes_name_rows_and_files_since_the_base(world: World, tmp_path: Path) -> None:
    base = tmp_path / "base"
    world.copy_to(base)
    world.base = base
    assert not world.changes().tables
    world.call("email", "send_email", {"to": "a@elsewhere.net", "subject": "Hello", "body": "b"})
    world.workspace.write("new.txt", b"x")
    changes = world.changes()
    assert changes.services() == {"email"}
    [row] = changes.table("email", "emails").added
    assert row["subject"] == "Hello"
    assert not changes.table("email", "emails").removed
    assert changes.files_added == ["new.txt"]


def test_changes_tell_a_changed_row_from_an_added_one(world: World, tmp_path: Path) -> None:
    base = tmp_path / "base"
    world.copy_to(base)
    shutil.copyfile(world.path / "email.db", base / "email.db")
    world.close()
    with sqlite3.connect(world.path / "email.db") as db:
        db.execute("UPDATE emails SET subject = 'other' WHERE id = 1")
        db.execute("DELETE FROM emails WHERE id = 2")
    db.close()
    with World(world.path, base=base) as changed:
        table = changed.changes().table("email", "emails")
    assert [(before["subject"], after["subject"]) for before, after in table.changed] == [("Card 0", "other")]
    assert [row["id"] for row in table.removed] == [2]


def test_a_store_belongs_to_a_service_of_the_world(world: World) -> None:
    class Stray(Store):
        service = "canvas"

    with pytest.raises(UsageError, match="no service 'canvas'"):
        world.store(Stray)


def test_a_text_that_is_answered_again_and_again_is_kept_once(world: World) -> None:
    (world.path / "workspace").mkdir(exist_ok=True)
    long = "many words " * 5_000
    for number in range(40):
        query = {"query": long if number % 2 else f"{number}"}
        assert world.call("email", "search_emails", query).status in ("ok", "refused")
        world.call("email", "get_emails", {"folder": "INBOX"})
    entries = list(world.journal.entries())
    assert len({entry.result for entry in entries if entry.tool == "get_emails"}) == 1
    assert [entry.arguments["query"] == long for entry in entries[::2]] == [n % 2 == 1 for n in range(40)]
    counted = world.journal.delivered_tokens()
    assert counted == sum(tokens.count(entry.result or "") for entry in entries)
    kept = [text for (text,) in world.journal._db.execute("SELECT text FROM texts")]
    assert len(kept) == len(set(kept))
    assert sum(text.startswith('{"query":"many words') for text in kept) == 1


def test_calls_that_lie_in_the_log_of_a_journal_alone_are_read(world: World, tmp_path: Path) -> None:
    assert world.journal.last == 0
    assert not (world.path / "journal.db-wal").exists(), "nobody asked for a call"
    world.call("email", "get_emails", {"folder": "INBOX"})
    for name in ("journal.db", "journal.db-wal"):  # as the end of the process would leave them
        shutil.copy(world.path / name, tmp_path / name)
    left = Journal(tmp_path / "journal.db")
    assert [entry.tool for entry in left.entries()] == ["get_emails"]
    left.close()
    with pytest.raises(sqlite3.ProgrammingError):
        list(left.entries())


def test_tables_of_a_copy_are_looked_at_where_they_are_no_longer_those_of_its_base(
    world: World, tmp_path: Path
) -> None:
    metadata = load_service("email").metadata
    assert metadata is not None
    world.close()
    base, copy = tmp_path / "base.db", tmp_path / "copy.db"
    for path in (base, copy):
        shutil.copy(world.path / "email.db", path)
    for _ in range(2):
        check_tables(copy, metadata, base)
    with closing(sqlite3.connect(copy)) as db:
        db.execute("ALTER TABLE emails RENAME COLUMN subject TO title")
    with pytest.raises(OtherVersion, match=r"emails\.subject"):
        check_tables(copy, metadata, base)


def test_a_world_that_was_packed_is_still_its_process_own(world: World, tmp_path: Path) -> None:
    _ = world.journal
    with (tmp_path / "packed").open("wb") as file:
        pack(world.path, file)  # whoever closes a file that SQLite has locked takes the lock away
    code = (
        "import sys, pathlib; from mesocosm.worlds.journal import Journal; Journal(pathlib.Path(sys.argv[1]))"
    )
    command = [sys.executable, "-c", code, str(world.path / "journal.db")]
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "InUse" in refused.stderr
    world.close()
    assert subprocess.run(command, check=False).returncode == 0
