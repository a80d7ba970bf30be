"""Going back to a step: the same content as at that step, in every service, and what is refused."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mesocosm.errors import UsageError
from mesocosm.evaluation.replay import replay_episode
from mesocosm.families.cache import InstanceCache
from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.services.calling import ToolError, Tools
from mesocosm.services.service import Image
from mesocosm.services.world import World


def content(world: Path) -> dict[str, Any]:
    """All rows of all tables, and all files with their times; what an agent's calls can change."""
    found: dict[str, Any] = {}
    for path in sorted(world.glob("*.db")):
        if path.name != "journal.db":
            db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
            found[path.name] = [*db.iterdump(), db.execute("PRAGMA user_version").fetchone()]
            db.close()
    for path in sorted((world / "workspace").rglob("*")):
        status = path.stat()
        found[str(path.relative_to(world))] = (
            path.read_bytes() if path.is_file() else None,
            status.st_mode,
            status.st_mtime_ns,
        )
    return found


class Watched(Tools):
    """Tools of an episode whose content is looked at after each call that writes."""

    def __init__(self, episode: Episode) -> None:
        self.episode = episode
        self.seen = {0: content(episode.path / "world")}

    def look(self, service: str, tool: str, arguments: dict[str, Any]) -> list[str | Image]:
        world = self.episode.world
        outcome = world.call(service, tool, arguments)
        if world.tool(service, tool).writes:
            self.seen[world.journal.last] = content(world.path)
        if outcome.is_error:
            raise ToolError(outcome.text)
        return list(outcome.blocks)


@pytest.fixture(scope="module")
def instances(tmp_path_factory: pytest.TempPathFactory) -> InstanceCache:
    return InstanceCache(tmp_path_factory.mktemp("instances"))


@pytest.fixture
def mail_episode(instances: InstanceCache, tmp_path: Path) -> Iterator[Episode]:
    family = load_family("refund_list")
    episode = Episode.create(tmp_path / "episode", instances.get(family, 1, 8000, {}), family)
    yield episode
    episode.close()


def send(world: World, text: str) -> None:
    assert not world.call("email", "send_email", {"to": "a@b.org", "subject": text, "body": text}).is_error


def write(world: World, name: str, text: str) -> None:
    assert not world.call("filesystem", "write_file", {"path": name, "content": text}).is_error


@pytest.mark.parametrize("task", ["woocommerce_stock_alert", "bug_triage"])
def test_every_step_of_a_solver_can_be_had_again(task: str, instances: InstanceCache, tmp_path: Path) -> None:
    family = load_family(task)
    episode = Episode.create(tmp_path / "episode", instances.get(family, 1, 8000, {}), family)
    watched = Watched(episode)
    family.solve(watched, episode.prompt, episode.expected())
    for step in sorted(watched.seen, reverse=True):
        episode.rollback(step)
        assert content(episode.path / "world") == watched.seen[step], step
        assert episode.world.journal.last == step
    assert len(watched.seen) > 2
    again = Watched(episode)
    family.solve(again, episode.prompt, episode.expected())
    assert again.seen == watched.seen
    assert episode.grade().verdict == "passed"
    episode.close()
    assert replay_episode(episode.path).identical


def test_a_step_that_is_no_longer_kept_is_made_again(
    mail_episode: Episode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESOCOSM_STEPS_KEPT", "3")
    watched = Watched(mail_episode)
    for number in range(8):
        watched.look("filesystem", "write_file", {"path": "a.txt", "content": f"{number}"})
    assert mail_episode.world.steps
    assert mail_episode.world.steps.first == 5
    for step in (6, 2, 0):
        mail_episode.rollback(step)
        assert content(mail_episode.path / "world") == watched.seen[step]
    monkeypatch.setenv("MESOCOSM_STEPS_SIZE", "0")
    send(mail_episode.world, "not kept")
    assert mail_episode.world.steps.first == 1


def test_a_large_workspace_is_not_copied_with_each_change(
    mail_episode: Episode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESOCOSM_STEPS_ENTRIES", "4")
    watched = Watched(mail_episode)
    for number in range(8):
        watched.look("filesystem", "write_file", {"path": f"{number}.txt", "content": f"{number}"})
    send(mail_episode.world, "after them")
    steps = mail_episode.world.steps
    assert steps
    assert steps.first == 8
    assert not list((mail_episode.path / "world" / "steps").glob("*.workspace-files"))
    for step in (8, 7, 2):
        mail_episode.rollback(step)
        assert content(mail_episode.path / "world") == watched.seen[step]


def test_forks_snapshots_and_resets_have_the_steps_of_their_own_past(mail_episode: Episode) -> None:
    write(mail_episode.world, "a.txt", "first")
    send(mail_episode.world, "second")
    then = content(mail_episode.path / "world")
    mail_episode.snapshot("then")
    fork = mail_episode.fork(mail_episode.path.with_name("fork"))
    write(mail_episode.world, "a.txt", "other")
    for episode, text in ((fork, "fork"), (mail_episode, "own")):
        write(episode.world, "a.txt", text)
        send(episode.world, text)
    for episode in (fork, mail_episode):
        episode.rollback(2)
        assert content(episode.path / "world") == then
        episode.rollback(1)
        assert (episode.path / "world/workspace/a.txt").read_text() == "first"
    mail_episode.restore("then")
    mail_episode.rollback(1)
    send(mail_episode.world, "again")
    mail_episode.reset()
    with pytest.raises(UsageError, match=r"there are 0 \(as it was built\) to 0"):
        mail_episode.rollback(1)
    fork.close()


def test_no_call_fails_where_its_step_cannot_be_kept(mail_episode: Episode) -> None:
    write(mail_episode.world, "a.txt", "first")
    then = content(mail_episode.path / "world")
    shutil.rmtree(mail_episode.path / "world" / "steps")
    write(mail_episode.world, "a.txt", "second")
    send(mail_episode.world, "third")
    mail_episode.rollback(1)
    assert content(mail_episode.path / "world") == then


def test_going_back_is_finished_when_it_was_cut_off(mail_episode: Episode) -> None:
    write(mail_episode.world, "a.txt", "first")
    send(mail_episode.world, "second")
    then = content(mail_episode.path / "world")
    send(mail_episode.world, "third")
    write(mail_episode.world, "a.txt", "fourth")
    steps = mail_episode.world.steps
    assert steps
    steps.begin(2)
    mail_episode.close()
    steps.put_back(2)
    # Cut off again, between the journal's first name and SQLite's undoing it.
    world = mail_episode.path / "world"
    (world / "email.db-journal").hardlink_to(world / "steps" / "3.email")
    with World(mail_episode.path / "world") as world:
        assert world.journal.last == 2
        assert content(world.path) == then
