"""Mail that an agent has sent is found, whatever it does with the copies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from trials import call, failures

from mesocosm.families.building import build_instance
from mesocosm.families.episode import Episode
from mesocosm.families.family import family_names, load_family

WITH_MAIL = [name for name in family_names() if "email" in load_family(name).task.servers]


def newest(episode: Episode, folder: str) -> Any:
    return json.loads(call(episode, "email", "get_emails", folder=folder, page_size=1))["emails"][0]


@pytest.mark.parametrize("name", WITH_MAIL)
def test_a_mail_that_was_sent_and_wiped_is_found(name: str, tmp_path: Path) -> None:
    instance = build_instance(load_family(name), 0, tmp_path / "instance", target=8_000)
    episode = Episode.create(tmp_path / "episode", instance.path, load_family(name))
    before = failures(episode)
    call(episode, "email", "send_email", to="x@elsewhere.example", subject="wiped", body="b")
    for folder in ("Sent", "Trash"):  # to the trash, and then for good
        mail = newest(episode, folder)
        assert mail["subject"] == "wiped"
        call(episode, "email", "delete_email", email_id=mail["id"])
    # A task in YAML names its finding after the service.
    assert (failures(episode) - before) & {"mailbox", "email_unchanged"}
    episode.close()
