"""What a review found: bad input, crashes and races that must not cost an episode anything."""

from __future__ import annotations

import shutil
import socket
import sqlite3
from collections.abc import Callable, Iterator
from mailbox import fill_mailbox
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from commands import mesocosm

from mesocosm.doors.episodes import UnknownEpisode
from mesocosm.errors import UsageError
from mesocosm.families.episode import Episode
from mesocosm.families.family import known_as, load_family
from mesocosm.families.quantities import parse_length, parse_lengths, parse_seeds
from mesocosm.families.task import read_task
from mesocosm.hosting.application import Hosting
from mesocosm.hosting.pool import EpisodePool, HostedEpisode
from mesocosm.hosting.server import admin_token
from mesocosm.services.calls import Outcome
from mesocosm.services.service import load_service
from mesocosm.services.world import World
from mesocosm.worlds.changes import compare
from mesocosm.worlds.copies import copy_world
from mesocosm.worlds.manifest import Manifest

TASK: Any = SimpleNamespace(name="mailbox", path=Path("tasks/mailbox.yaml"), task=SimpleNamespace(servers={}))
FOLDER = {"folder_name": "New"}


@pytest.fixture
def pool(tmp_path: Path) -> Iterator[EpisodePool]:
    pool = EpisodePool(tmp_path / "state", max_open=1)
    yield pool
    pool.close()


@pytest.fixture
def instance(tmp_path: Path) -> Path:
    path = tmp_path / "instance"
    with World.create(path / "world", Manifest(services={"email": None, "claim_done": None})) as world:
        fill_mailbox(world)
        world.finish_building()
    (path / "expected.json").write_text("{}")
    (path / "prompt.md").write_text("Read your mail.\n")
    return path


@pytest.fixture
def episode(pool: EpisodePool, instance: Path) -> Iterator[Episode]:
    episode = Episode(pool.path(pool.adopt(instance, TASK)))
    yield episode
    episode.close()


def test_a_call_that_a_crash_cut_off_is_made_when_it_is_retried_with_its_key(episode: Episode) -> None:
    episode.world.journal.begin("email", "create_folder", '{"folder_name":"New"}', "key-1")
    episode.close()
    assert episode.world.call("email", "create_folder", FOLDER, idempotency_key="key-1").status == "ok"
    assert "New" in episode.world.call("email", "get_folders", {}).text
    assert [entry.status for entry in episode.world.journal.entries()] == ["interrupted", "ok", "ok"]


def test_a_retry_is_answered_even_after_the_agent_has_declared_itself_done(episode: Episode) -> None:
    made = episode.world.call("email", "create_folder", FOLDER, idempotency_key="key-1")
    done = episode.world.call("claim_done", "claim_done", {}, idempotency_key="key-2")
    assert episode.world.call("email", "create_folder", FOLDER, idempotency_key="key-1") == made
    assert episode.world.call("claim_done", "claim_done", {}, idempotency_key="key-2") == done
    assert episode.world.call("email", "create_folder", FOLDER).status == "refused"


def test_a_crash_in_the_middle_of_a_reset_leaves_the_world_that_was_to_come(episode: Episode) -> None:
    copy_world(episode.path / "base", episode.path / ".world.fresh")
    (episode.path / "world").rename(episode.path / ".world.old")
    again = Episode(episode.path)
    assert again.world.call("email", "get_folders", {}).status == "ok"
    again.close()


def test_a_snapshot_that_fails_leaves_nothing(episode: Episode, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(source: Path, target: Path) -> None:
        target.mkdir(parents=True)
        raise OSError("disk full")

    monkeypatch.setattr("mesocosm.families.episode.copy_world", fail)
    with pytest.raises(OSError, match="disk full"):
        episode.snapshot("one")
    assert episode.snapshots() == []
    assert list((episode.path / "snapshots").iterdir()) == []


def test_a_rollback_journal_that_a_crash_left_is_copied_with_its_world(
    episode: Episode, tmp_path: Path
) -> None:
    (episode.path / "world" / "email.db-journal").write_bytes(b"left by a crash")
    (episode.path / "world" / "other.db-journal").write_bytes(b"")
    copy_world(episode.path / "world", tmp_path / "copy")
    assert (tmp_path / "copy" / "email.db-journal").exists()
    assert not (tmp_path / "copy" / "other.db-journal").exists()


async def call(held: HostedEpisode, tool: str, arguments: dict[str, Any]) -> Outcome:
    return await held.make("email", load_service("email").tools[tool], arguments, None)


def test_who_holds_an_episode_that_was_closed_as_surplus_reaches_the_one_opened_since(
    pool: EpisodePool, instance: Path
) -> None:
    one, other = pool.adopt(instance, TASK), pool.adopt(instance, TASK)

    async def act() -> None:
        held = pool.get(one)
        assert (await call(held, "create_folder", FOLDER)).status == "ok"
        pool.get(other)  # closes the first
        again = pool.get(one)
        assert again is not held
        assert "New" in (await call(again, "get_folders", {})).text
        assert "New" in (await call(held, "get_folders", {})).text
        assert await held.do(lambda episode: episode.world.journal.last) == 3

    anyio.run(act)


def test_an_episode_just_opened_is_not_closed_because_all_others_are_busy(
    pool: EpisodePool, instance: Path
) -> None:
    one, other = pool.adopt(instance, TASK), pool.adopt(instance, TASK)

    async def act() -> None:
        async with pool.get(one).turn:
            assert (await call(pool.get(other), "get_folders", {})).status == "ok"

    anyio.run(act)


def test_a_deleted_episode_is_unknown_to_whoever_still_holds_it(pool: EpisodePool, instance: Path) -> None:
    id_ = pool.adopt(instance, TASK)

    async def act() -> None:
        held = pool.get(id_)
        await pool.delete(id_)
        with pytest.raises(UnknownEpisode):
            await call(held, "get_folders", {})
        with pytest.raises(UnknownEpisode):
            await pool.delete(id_)

    anyio.run(act)
    assert list((pool.root / "episodes").iterdir()) == []


def test_an_episode_that_cannot_be_read_can_be_deleted(pool: EpisodePool, instance: Path) -> None:
    id_ = pool.adopt(instance, TASK)
    (pool.path(id_) / "episode.json").write_text("{")
    anyio.run(pool.delete, id_)
    assert pool.ids() == []


@pytest.mark.parametrize(
    ("path", "damage", "status"),
    [("/mcp", None, 404), ("//mcp", None, 404), ("/fax/mcp", None, 404), ("/mcp", "world.json", 500)],
)
def test_a_wrong_endpoint_and_a_damaged_world_are_answered_clearly(
    tmp_path: Path, instance: Path, path: str, damage: str | None, status: int
) -> None:
    app = Hosting(tmp_path / "hosted", admin_token="x")
    id_ = app.pool.adopt(instance, TASK) if path != "/mcp" or damage else "0" * 32
    if damage:
        (app.pool.path(id_) / "world" / damage).write_text("{")
    sent: list[Any] = []

    async def act() -> None:
        async def send(message: Any) -> None:
            sent.append(message)

        scope = {"type": "http", "path": f"/e/{id_}{path}", "method": "POST", "headers": []}
        await app(scope, None, send)  # type: ignore[arg-type]

    anyio.run(act)
    app.pool.close()
    assert sent[0]["status"] == status
    assert b'"error"' in sent[1]["body"]


@pytest.mark.parametrize("name", ["plain", "with#hash", "with%41percent", "with?mark"])
def test_a_change_is_seen_wherever_the_world_lies(instance: Path, tmp_path: Path, name: str) -> None:
    world_path = tmp_path / name / "world"
    copy_world(instance / "world", world_path)
    with World(world_path) as world:
        assert world.call("email", "create_folder", FOLDER).status == "ok"
    assert compare(world_path, instance / "world").services() == {"email"}


def test_a_change_of_case_alone_is_a_change_in_every_column(tmp_path: Path) -> None:
    for name, value in (("base", "Ann@example.com"), ("world", "ann@example.com")):
        (tmp_path / name / "workspace").mkdir(parents=True)
        db = sqlite3.connect(tmp_path / name / "shop.db")
        db.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, email TEXT COLLATE NOCASE)")
        db.execute("INSERT INTO people VALUES (1, ?)", (value,))
        db.commit()
        db.close()
    changes = compare(tmp_path / "world", tmp_path / "base")
    assert [after["email"] for _, after in changes.table("shop", "people").changed] == ["ann@example.com"]


def test_a_lost_database_is_not_taken_for_no_change(instance: Path, tmp_path: Path) -> None:
    copy_world(instance / "world", tmp_path / "world")
    (tmp_path / "world" / "email.db").unlink()
    with pytest.raises(FileNotFoundError):
        compare(tmp_path / "world", instance / "world")


def test_a_corrupted_journal_makes_the_verdict_errored(episode: Episode) -> None:
    (episode.path / "world" / "journal.db").write_bytes(b"no database at all" * 100)
    assert episode.grade().verdict == "errored"
    assert episode.usage() == (0, 0)


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (parse_length, "9" * 400),
        (parse_lengths, ","),
        (parse_lengths, ""),
        (parse_seeds, "0-99999999999"),
        (parse_seeds, "9" * 25),
    ],
)
def test_absurd_quantities_are_wrong_usage(parse: Callable[[str], object], text: str) -> None:
    with pytest.raises(UsageError):
        parse(text)


def test_a_token_file_that_a_crash_left_empty_opens_nothing(tmp_path: Path) -> None:
    (tmp_path / "admin-token").touch(mode=0o600)
    token = admin_token(tmp_path, "127.0.0.1", None)
    assert len(token) > 30
    assert admin_token(tmp_path, "127.0.0.1", None) == token


def test_a_port_that_is_taken_is_wrong_usage_and_builds_nothing(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = mesocosm("serve", "--port", port, "--task", "canvas_arrange_exam", cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert "cannot listen on 127.0.0.1" in done.stderr
    assert not list(tmp_path.glob(".mesocosm/episodes/*"))


def test_a_task_of_the_users_own_in_a_folder_called_tasks_is_known_by_its_path(tmp_path: Path) -> None:
    builtin = load_family("canvas_arrange_exam")
    assert known_as(builtin) == "canvas_arrange_exam"
    own = tmp_path / "tasks" / "canvas_arrange_exam.yaml"
    own.parent.mkdir()
    shutil.copyfile(builtin.path, own)
    assert known_as(load_family(str(own))) == str(own)


def test_a_prompt_with_a_value_that_the_instance_lacks_is_wrong_usage() -> None:
    task = load_family("canvas_arrange_exam").task
    for prompt, complaint in (("Hello ${nobody}", "nobody"), ("It costs $ 5", r"\$\$")):
        with pytest.raises(UsageError, match=complaint):
            task.model_copy(update={"prompt": prompt}).render_prompt({"name": "Ann"})


def test_a_value_that_is_no_date_is_said_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text("title: 2025-13-45\n")
    with pytest.raises(UsageError, match=r"own.yaml, line 1: '2025-13-45' cannot be read: month"):
        read_task(path)
