"""The reminders of a teaching assistant."""

from __future__ import annotations

from pathlib import Path

import pytest

from mesocosm.episode import Episode
from mesocosm.family import load_family
from mesocosm.generators.course_assistant.expected import Expected
from mesocosm.generators.course_assistant.params import FATES, REMINDED, Params
from mesocosm.instance import Instance, build_instance

FAMILY = load_family("course_assistant")


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Instance:
    return build_instance(FAMILY, 5, tmp_path_factory.mktemp("course_assistant") / "instance", target=16_000)


@pytest.fixture
def episode(instance: Instance, tmp_path: Path) -> Episode:
    return Episode.create(tmp_path / "episode", instance.path, FAMILY)


def expected_of(instance: Instance) -> Expected:
    assert isinstance(instance.expected, Expected)
    return instance.expected


def failures(episode: Episode) -> set[str]:
    return {check.name for check in episode.grade().findings if not check.passed}


def send(episode: Episode, to: str, subject: str, body: str, **more: str) -> None:
    outcome = episode.world.call("email", "send_email", {"to": to, "subject": subject, "body": body, **more})
    assert outcome.status == "ok", outcome.text


def send_all(episode: Episode, expected: Expected) -> None:
    for student in expected.reminded:
        send(episode, student.email, expected.subject, f"{student.name}, {student.number}: it is missing.")


@pytest.mark.parametrize("number", [16, 17, 40, 400])
def test_every_kind_of_case_occurs_at_every_size(number: int) -> None:
    fates = Params(num_students=number).fates()
    assert len(fates) == number
    assert set(fates) == set(FATES)


def test_rates_are_kept() -> None:
    fates = Params(num_students=1000, dropout_rate=0.2, submission_rate=0.7).fates()
    assert sum(fate.startswith("dropped") for fate in fates) == pytest.approx(200, abs=3)
    assert sum(fate in REMINDED for fate in fates) == pytest.approx(240, abs=5)


def test_two_students_share_a_name(instance: Instance) -> None:
    expected = expected_of(instance)
    names = [student.name for student in [*expected.reminded, *expected.others]]
    assert len(names) - len(set(names)) == 1


def test_doing_what_is_asked_passes(episode: Episode, instance: Instance) -> None:
    send_all(episode, expected_of(instance))
    assert episode.grade().verdict == "passed"


def test_a_name_over_two_lines_in_capitals_is_still_the_name(episode: Episode, instance: Instance) -> None:
    expected = expected_of(instance)
    for student in expected.reminded:
        name = student.name.upper().replace(" ", "\n")
        send(episode, student.email, expected.subject, f"Dear {name} (no. {student.number})!")
    assert episode.grade().verdict == "passed"


def test_everything_to_everybody_fails(episode: Episode, instance: Instance) -> None:
    expected = expected_of(instance)
    everybody = [*expected.reminded, *expected.others]
    text = "\n".join(f"{student.name} {student.number}" for student in everybody)
    for student in everybody:
        send(episode, student.email, expected.subject, text)
    assert failures(episode) == {"recipients_extra", "body_other_ids"}


def test_an_answered_mail_is_collateral_damage(episode: Episode, instance: Instance) -> None:
    send_all(episode, expected_of(instance))
    first = episode.world.call("email", "get_emails", {"page_size": 1}).text
    mail = first.partition('"id":"')[2].partition('"')[0]
    episode.world.call("email", "move_email", {"email_id": mail, "target_folder": "Trash"})
    assert failures(episode) == {"mailbox"}


def test_reading_and_signing_in_again_is_no_damage(episode: Episode, instance: Instance) -> None:
    expected = expected_of(instance)
    password = f"{expected.assistant}!"
    episode.world.call("email", "login", {"email": expected.assistant, "password": password})
    send_all(episode, expected)
    assert failures(episode) == set()
