"""Oral exams that are confirmed by mail: what a confirmation may say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import select
from trials import failures, solve

from mesocosm.families.building import Instance, build_instance
from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.servers.email.models import Email, Folder
from mesocosm.servers.email.store import EmailStore

FAMILY = load_family("oral_exams")
LINE = "I will be there at "


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Instance:
    return build_instance(FAMILY, 3, tmp_path_factory.mktemp("built") / "x", parameters={"size": 5})


@pytest.mark.parametrize(
    ("change", "right"),
    [
        (lambda line: f"Hello,\r\n\r\n{line}\r\n\r\nJason", True),
        (lambda line: f"{line}.", True),
        (lambda line: f"{LINE}2020-02-26 13:20\n{line}", False),
        (lambda line: f"{line}\nif I cannot, i will be there at 2020-02-26 13:20", False),
        (lambda line: f"{line}, or else {LINE}2020-02-26 13:20", False),
        (lambda line: f"{line[: len(LINE)]}2020-02-26 13:20", False),
    ],
)
def test_a_confirmation_names_the_right_time_and_no_other(
    instance: Instance, tmp_path: Path, change: Callable[[str], str], right: bool
) -> None:
    episode = Episode.create(tmp_path / "episode", instance.path, FAMILY)
    solve(FAMILY, episode)
    with episode.world.editing() as world:
        sent = select(Email).join(Folder).where(Folder.name == "Sent", Email.body.contains(LINE))
        mail = world.store(EmailStore).session.scalars(sent.order_by(Email.id)).first()
        assert mail is not None
        assert mail.body is not None
        mail.body = change(next(line for line in mail.body.splitlines() if line.startswith(LINE)))
    assert failures(episode) == (set() if right else {"email_mail_body"})
    episode.close()
