"""The reminders of a teaching assistant."""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Callable
from zoneinfo import ZoneInfo

import pytest
from trials import call, failures, rows_of, sizes

from mesocosm.families.building import Instance
from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.generators.course_assistant.expected import Expected
from mesocosm.generators.course_assistant.params import FATES, REMINDED, Params

FAMILY = load_family("course_assistant")
Build = Callable[..., Instance]


def send(episode: Episode, to: str, subject: str, body: str, **more: str) -> None:
    call(episode, "email", "send_email", to=to, subject=subject, body=body, **more)


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


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("size", sizes(FAMILY))
def test_every_edge_case_occurs_at_every_length(build: Build, size: str, seed: int) -> None:
    instance = build(seed, num_students=sizes(FAMILY)[size])
    expected = instance.expected
    students = [*expected.reminded, *expected.others]
    assert {student.fate for student in students} == set(FATES)
    # Two share a name: the one has handed in, the other is to be reminded.
    names = Counter(student.name for student in students)
    [shared] = [name for name, number in names.items() if number > 1]
    assert {student.fate for student in students if student.name == shared} == {"submitted", "silent"}
    subjects = [subject for (subject,) in rows_of(instance, "email", "SELECT subject FROM emails")]
    about = {number for subject in subjects for number in re.findall(r"\d{7}", subject)}
    assert any(student.number in about for student in students if student.fate == "dropped")
    handed_in = "SELECT count(DISTINCT folder_id) FROM emails WHERE subject LIKE '%resentation%'"
    assert rows_of(instance, "email", handed_in)[0][0] >= 2, "all presentations lie in the inbox"


@pytest.mark.parametrize("seed", range(6))
def test_the_last_minute_of_the_deadline_is_another_day_in_utc_in_most_zones(build: Build, seed: int) -> None:
    instance = build(seed, num_students=16)
    zone = ZoneInfo(instance.expected.public["zone"])
    number = next(student.number for student in instance.expected.others if student.fate == "boundary")
    query = f"SELECT date FROM emails WHERE subject LIKE '%{number}%' AND subject LIKE '%presentation%'"
    [(date,)] = rows_of(instance, "email", query)
    assert dt.datetime.fromisoformat(date).astimezone(zone).strftime("%H:%M") == "23:59"


def test_attachments_are_files_of_their_type(instance: Instance) -> None:
    starts = {"pdf": b"%PDF-", "odp": b"PK", "odt": b"PK"}
    attached = rows_of(instance, "email", "SELECT filename, data FROM attachments")
    assert attached
    assert all(bytes(data).startswith(starts[name.rpartition(".")[2]]) for name, data in attached)


def test_mails_are_written_by_day(instance: Instance) -> None:
    zone = ZoneInfo(instance.expected.public["zone"])
    dates = [date for (date,) in rows_of(instance, "email", "SELECT date FROM emails")]
    hours = [dt.datetime.fromisoformat(date).astimezone(zone).hour for date in dates]
    assert sum(1 <= hour < 7 for hour in hours) == 0


def test_parameters_that_leave_nobody_to_remind_are_refused() -> None:
    with pytest.raises(ValueError, match="leave nobody to remind"):
        Params(num_students=20, submission_rate=1)


def test_doing_what_is_asked_passes(episode: Episode, instance: Instance) -> None:
    send_all(episode, instance.expected)
    assert episode.grade().verdict == "passed"


def test_a_name_over_two_lines_in_capitals_is_still_the_name(episode: Episode, instance: Instance) -> None:
    expected = instance.expected
    for student in expected.reminded:
        name = student.name.upper().replace(" ", "\n")
        send(episode, student.email, expected.subject, f"Dear {name} (no. {student.number})!")
    assert episode.grade().verdict == "passed"


@pytest.mark.parametrize(
    ("body", "html", "found"),
    [
        ("{name}, {number}: it is missing.", "<p>{name},<br>{number}: it is missing.</p>", set()),
        ("", "<p>{name}, {number}: it is missing.</p>", set()),
        ("{name}, {number}: it is missing.", "<p>{name}</p>", {"body_student_id"}),
        ("{name}, {number}", "<p>Hello</p><p hidden>{name}, {number}</p>", {"body_name", "body_student_id"}),
    ],
)
def test_a_mail_says_it_in_each_of_its_forms(
    episode: Episode, instance: Instance, body: str, html: str, found: set[str]
) -> None:
    for student in instance.expected.reminded:
        values = {"name": student.name, "number": student.number}
        forms = {"body": body.format(**values), "html_body": html.format(**values)}
        send(episode, student.email, instance.expected.subject, **forms)
    assert failures(episode) == found


def test_everything_to_everybody_fails(episode: Episode, instance: Instance) -> None:
    expected = instance.expected
    everybody = [*expected.reminded, *expected.others]
    text = "\n".join(f"{student.name} {student.number}" for student in everybody)
    for student in everybody:
        send(episode, student.email, expected.subject, text)
    assert failures(episode) == {"recipients_extra", "body_other_ids"}


def test_an_answered_mail_is_collateral_damage(episode: Episode, instance: Instance) -> None:
    send_all(episode, instance.expected)
    first = episode.world.call("email", "get_emails", {"page_size": 1}).text
    mail = first.partition('"id":"')[2].partition('"')[0]
    episode.world.call("email", "move_email", {"email_id": mail, "target_folder": "Trash"})
    assert failures(episode) == {"mailbox"}


def test_reading_and_signing_in_again_is_no_damage(episode: Episode, instance: Instance) -> None:
    expected = instance.expected
    password = f"{expected.assistant}!"
    episode.world.call("email", "login", {"email": expected.assistant, "password": password})
    send_all(episode, expected)
    assert failures(episode) == set()
