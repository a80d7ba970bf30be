"""Buckets, objects and entries as task files state and judge them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mesocosm.services.words import load_words
from mesocosm.services.world import World
from mesocosm.worlds.manifest import Manifest

WORDS = load_words("google_cloud")
assert WORDS is not None
THINGS = WORDS.things
START = datetime(2025, 3, 3, 9, tzinfo=UTC)


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World.create(tmp_path / "base", Manifest(services={"google_cloud": None}))
    made.set_now(START)
    THINGS["bucket"].add(made, [{"name": "reports-2025"}])
    rows = [{"id": 1, "day": START.date()}, {"id": 2, "day": None}]
    THINGS["object"].add(
        made,
        [
            {"bucket": "reports-2025", "name": "a.csv", "rows": rows},
            {"bucket": "other-place", "name": "b.txt", "content": "As it was"},
        ],
    )
    before = START - timedelta(days=2)
    THINGS["entry"].add(
        made,
        [
            {"log": "app", "timestamp": before, "severity": "ERROR", "text": "It broke"},
            {"log": "app", "timestamp": before, "payload": {"user": "ada", "n": 3}},
        ],
    )
    made.finish_building()
    made.close()
    World(tmp_path / "base").copy_to(tmp_path / "world")
    return World(tmp_path / "world", base=tmp_path / "base")


def do(world: World, tool: str, **arguments: Any) -> str:
    outcome = world.call("google_cloud", tool, arguments)
    assert outcome.status == "ok", outcome.text
    return outcome.text


def upload(world: World, name: str, text: str) -> None:
    world.workspace.write("file", text.encode(), world.now)
    place = {"bucket_name": "reports-2025", "destination_blob_name": name}
    do(world, "storage_upload_file", source_file_path="file", **place)


def others(world: World, *explained: Any) -> list[str]:
    assert WORDS is not None
    return list(WORDS.others(world, world.changes(), explained))


def test_what_was_stated_is_read(world: World) -> None:
    assert "- a.csv: 23 bytes" in do(world, "storage_list_objects", bucket_name="reports-2025")
    logs = do(world, "logging_read_logs")
    assert "ERROR - app:\n  It broke" in logs
    assert '{"user":"ada","n":3}' in logs
    assert others(world) == []


def test_objects_made_changed_and_gone(world: World) -> None:
    upload(world, "new.csv", "id,day\n7,2025-01-01\n")
    upload(world, "a.csv", "id,day\n1,\n")
    do(world, "storage_delete_object", bucket_name="other-place", blob_name="b.txt")
    changes, thing = world.changes(), THINGS["object"]
    (made,), (altered,), (gone,) = (
        list(way(world, changes)) for way in (thing.made, thing.altered, thing.gone)
    )
    new, old = made.fields["rows"], altered.fields["rows"]
    assert (made.fields["name"], new.head, new.lines) == ("new.csv", ["id", "day"], [["7", "2025-01-01"]])
    assert (altered.fields["name"], old.head, old.lines) == ("a.csv", ["id", "day"], [["1", ""]])
    assert gone.fields == {"bucket": "other-place", "name": "b.txt"}
    assert others(world, made, altered, gone) == []
    assert len(others(world, made, altered)) == 1


def test_an_entry_that_was_written_and_a_log_that_was_deleted(world: World) -> None:
    do(world, "logging_delete_log", log_name="app")
    do(world, "logging_write_log", log_name="audit", message='{"done": true}', severity="NOTICE")
    changes, thing = world.changes(), THINGS["entry"]
    (made,), gone = list(thing.made(world, changes)), list(thing.gone(world, changes))
    assert made.fields == {"log": "audit", "severity": "NOTICE", "text": None, "payload": {"done": True}}
    assert [one.fields["severity"] for one in gone] == ["ERROR", "INFO"]
    assert others(world, made, *gone) == []
