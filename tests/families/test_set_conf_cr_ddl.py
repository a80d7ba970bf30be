"""Camera-ready reminders: what the worlds contain, what the checker finds, and that the solver reads them."""

from __future__ import annotations

import datetime as dt
import random
import statistics
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from samples import sampled
from trials import rows_of, sizes, solve

from mesocosm.checkers.set_conf_cr_ddl import MUTANTS
from mesocosm.errors import UsageError
from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.families.instances import Instance
from mesocosm.families.verdict import Inapplicable, Verdict
from mesocosm.generators.set_conf_cr_ddl import Expected, Params
from mesocosm.generators.set_conf_cr_ddl.expected import LEAD
from mesocosm.generators.set_conf_cr_ddl.names import Names
from mesocosm.generators.set_conf_cr_ddl.wording import Voice
from mesocosm.kits.prose import Prose
from mesocosm.servers.calendar.store import CalendarStore
from mesocosm.services.world import World
from mesocosm.solvers.set_conf_cr_ddl.mails import deadlines

FAMILY = load_family("set_conf_cr_ddl")
MANY = 40
"""Enough for every kind of change to occur, so that every mutant has its place."""
LARGE = (0, {"num_target": MANY})

Build = Callable[..., Instance]


# -- worlds ------------------------------------------------------------------------------------------------


def test_domains_of_universities_are_as_long_as_those_of_conferences() -> None:
    names, prose = Names(random.Random(3), 300), Prose(random.Random(4))
    universities = [len(names.university(prose.place())) for _ in range(300)]
    conferences = [len(names.conference().domain) for _ in range(300)]
    assert statistics.fmean(universities) == pytest.approx(statistics.fmean(conferences), abs=0.25)
    assert statistics.stdev(universities) == pytest.approx(statistics.stdev(conferences), rel=0.3)


@pytest.mark.parametrize("size", sizes(FAMILY).values(), ids=sizes(FAMILY))
@pytest.mark.parametrize("seed", sampled(range(4), {0, 1}))
def test_every_edge_case_occurs_at_every_length(build: Build, size: int, seed: int) -> None:
    expected = build(seed, num_target=size).expected
    reminders = expected.reminders
    assert {one.reason for one in expected.not_due} == {"rejected", "withdrawn", "submitted", "open", "past"}
    assert max(Counter(reminder.deadline for reminder in reminders).values()) >= 2, "no tie"
    assert any(reminder.earlier for reminder in reminders), "nothing is superseded"
    assert any(len(reminder.earlier) == 2 for reminder in reminders), "nothing is superseded twice"
    assert {"other"} < {reminder.stated_zone for reminder in reminders}, "no other time zone"
    assert any(reminder.existing for reminder in reminders)
    assert any(reminder.outdated for reminder in reminders)
    assert any(one.needless for one in expected.not_due)
    assert expected.others
    assert expected.unlisted


@pytest.mark.parametrize("number", [8, 30])
@pytest.mark.parametrize("seed", range(4))
def test_three_hours_are_a_boundary_on_both_sides(build: Build, number: int, seed: int) -> None:
    expected = build(seed, num_target=number).expected
    soon = min(reminder.start for reminder in expected.reminders)
    assert dt.timedelta() < soon - expected.now <= dt.timedelta(hours=1)
    late = [one.deadline for one in expected.not_due if one.reason == "past"]
    assert any(expected.now < deadline < expected.now + LEAD for deadline in late)


@pytest.mark.parametrize("seed", range(4))
def test_a_deadline_that_was_yesterday_by_its_date_is_still_ahead(build: Build, seed: int) -> None:
    expected = build(seed, num_target=8).expected
    near = min(expected.reminders, key=lambda reminder: reminder.deadline)
    assert near.stated_zone in ("aoe", "none")
    assert near.stated.date() < expected.now.date() < near.deadline.date() + dt.timedelta(days=1)


def test_every_way_to_state_a_zone_occurs(build: Build) -> None:
    zones = {reminder.stated_zone for reminder in build(0, num_target=MANY).expected.reminders}
    assert zones == {"aoe", "none", "utc", "other"}


def test_some_deadlines_change_twice_and_some_come_forward(build: Build) -> None:
    reminders = build(0, num_target=MANY).expected.reminders
    assert any(len(reminder.earlier) == 2 for reminder in reminders)
    assert any(reminder.earlier and reminder.earlier[-1] > reminder.deadline for reminder in reminders)


def test_a_reminder_that_contradicts_the_latest_change_is_sent_after_it(build: Build) -> None:
    instance = build(1, num_target=8)
    [reminder] = [one for one in instance.expected.reminders if one.earlier]
    conference = reminder.title.removeprefix("Camera-ready: ").partition(" (")[0]
    track = reminder.title.partition("(")[2].rstrip(")")
    mails = rows_of(
        instance,
        "email",
        f"SELECT body FROM emails WHERE body LIKE '%{conference}%' AND body LIKE '%{track}%' ORDER BY date",
    )
    automatic = [body for (body,) in mails if "utomatic reminder" in body]
    assert any(reminder.earlier[-1] in deadlines(body) for body in automatic)


def test_two_tracks_of_one_conference_have_a_reminder_each(build: Build) -> None:
    expected = build(0, num_target=MANY).expected
    titles = [one.title for one in expected.reminders] + [one.title for one in expected.not_due]
    assert len(set(titles)) == len(titles)
    assert max(Counter(title.partition(" (")[0] for title in titles).values()) >= 2


def test_nothing_but_the_text_tells_evidence_from_the_rest(build: Build) -> None:
    instance = build(0, num_target=18, filler_tokens=20_000)
    for folder in ("INBOX", "Sent"):
        said = f"SELECT date FROM emails JOIN folders ON folder_id = folders.id WHERE name = '{folder}'"
        dates = [row[0] for row in rows_of(instance, "email", f"{said} ORDER BY emails.id")]
        assert dates
        assert dates == sorted(dates)
    made = [row[0] for row in rows_of(instance, "calendar", "SELECT created FROM events ORDER BY number")]
    assert made == sorted(made)


def test_evidence_does_not_move_with_the_filler(build: Build) -> None:
    bare, full = build(0, num_target=11), build(0, num_target=11, filler_tokens=9_000)
    mails = [
        {piece.contains for piece in instance.expected.evidence if piece.service == "email"}
        for instance in (bare, full)
    ]
    assert mails[0] == mails[1]
    deadlines_ = [[one.deadline for one in instance.expected.reminders] for instance in (bare, full)]
    assert deadlines_[0] == deadlines_[1]


def test_extensions_and_reminders_can_be_switched_off(build: Build) -> None:
    instance = build(0, num_target=20, enable_extensions=False, enable_reminders=False)
    assert not any(reminder.earlier for reminder in instance.expected.reminders)
    assert not rows_of(instance, "email", "SELECT 1 FROM emails WHERE subject LIKE '%utomatic reminder%'")


def test_noise_is_as_many_conferences_as_asked_for(build: Build) -> None:
    expected = build(0, num_target=8, num_noise=7).expected
    assert len(set(expected.unlisted)) == 7
    assert not build(0, num_target=8, num_noise=0).expected.unlisted


def test_the_base_date_and_the_offset_are_kept(build: Build) -> None:
    expected = build(0, num_target=20, base_date="2025-09-15", deadline_offset=30).expected
    assert expected.now.date() == dt.date(2025, 9, 15)
    ahead = sorted((reminder.deadline - expected.now).days for reminder in expected.reminders)
    assert next(days for days in ahead if days >= 1) >= 29


def test_a_rate_of_zero_means_none(build: Build) -> None:
    rates = {"withdrawn_rate": 0, "due_rate": 0.6, "existing_rate": 0, "needless_rate": 0, "tie_rate": 0}
    expected = build(0, num_target=20, **rates).expected
    assert "withdrawn" not in {one.reason for one in expected.not_due}
    assert not any(reminder.existing for reminder in expected.reminders)
    assert not any(one.needless for one in expected.not_due)


def test_shares_must_sum_to_one() -> None:
    with pytest.raises(ValueError, match=r"must sum to 1, not 1\.1"):
        Params(due_rate=0.6)


def test_too_few_submissions_for_the_shares_are_refused() -> None:
    with pytest.raises(UsageError, match="at least 6"):
        FAMILY.params(num_target=5)


def test_the_survey_meets_every_piece_of_evidence(build: Build) -> None:
    instance = build(0, num_target=18, filler_tokens=5_000)
    seen = {index for result in instance.survey.results for index in result.evidence}
    assert seen == set(range(len(instance.expected.evidence)))
    read = sum(result.tool == "read_email" for result in instance.survey.results)
    received = "SELECT count(*) FROM emails JOIN folders ON folder_id = folders.id WHERE name = 'INBOX'"
    assert [(read,)] == rows_of(instance, "email", received)


# -- solving -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("length", "seed"), sampled([(8_000, 2), (16_000, 3), (64_000, 4)], {8_000}))
def test_the_solver_passes(build: Build, tmp_path: Path, length: int, seed: int) -> None:
    instance = build(seed, target=length)
    assert abs(instance.survey.tokens / length - 1) < 0.01
    episode = Episode.create(tmp_path / "episode", instance.path, FAMILY)
    solve(FAMILY, episode)
    verdict = episode.grade()
    episode.close()
    assert verdict.verdict == "passed", failed(verdict)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("no later than 3 June 2026.", "2026-06-04T11:59"),
        ("due Wednesday, June 3, 2026, 23:59 AoE", "2026-06-04T11:59"),
        ("due 11:59 p.m. on Wed 3 Jun 2026", "2026-06-04T11:59"),
        ("by 12:00 PM Anywhere on Earth on 2026-06-03", "2026-06-04T00:00"),
        ("until 2026-06-03 (UTC-12)", "2026-06-04T11:59"),
        ("until 3 June 2026 at 17:00 GMT", "2026-06-03T17:00"),
        ("is June 3, 2026, 5:00 PM Delhi time (UTC+5:30)", "2026-06-03T11:30"),
        ("is 20:00 New York time (UTC-4) on Wednesday, 3 June 2026", "2026-06-04T00:00"),
        ("on 3 June 2026, London time (UTC+1)", "2026-06-03T22:59"),
        ("on 3 June 2026, AoE (UTC-12)", "2026-06-04T11:59"),
    ],
)
def test_the_solver_reads_every_way_to_state_a_deadline(text: str, moment: str) -> None:
    assert [f"{found:%Y-%m-%dT%H:%M}" for found in deadlines(text)] == [moment]


def test_noon_is_written_as_nobody_can_misread_it() -> None:
    voices = [Voice(random.Random(seed)) for seed in range(20)]
    assert {voice.time(dt.time(12)) for voice in voices} == {"12:00"}
    assert len({voice.time(dt.time(17)) for voice in voices}) > 1


# -- checking ----------------------------------------------------------------------------------------------


def failed(verdict: Verdict) -> dict[str, str]:
    return {check.name: check.detail for check in verdict.findings if not check.passed}


@pytest.fixture
def edit(solved: Episode, tmp_path: Path) -> Callable[[Callable[[World, Expected], None]], dict[str, str]]:
    """``edit(change)``: the findings that fail after ``change(world, expected)`` of the solved state."""

    def apply(change: Callable[[World, Expected], None]) -> dict[str, str]:
        fork = solved.fork(tmp_path / "fork")
        expected = FAMILY.read_expected((fork.path / "expected.json").read_bytes())
        assert isinstance(expected, Expected)
        try:
            with fork.world.editing() as world:
                change(world, expected)
            verdict = fork.grade()
        finally:
            fork.close()
        assert verdict.verdict != "errored", verdict.error
        return failed(verdict)

    return apply


Edit = Callable[[Callable[[World, Expected], None]], dict[str, str]]


def test_the_solved_state_passes(edit: Edit) -> None:
    assert edit(lambda world, expected: None) == {}


def test_doing_nothing_fails(build: Build, tmp_path: Path) -> None:
    episode = Episode.create(tmp_path / "idle", build(0, num_target=8).path, FAMILY)
    assert {"reminders_missing", "reminders_not_due", "start_time"} <= failed(episode.grade()).keys()
    episode.close()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_fails_for_its_reason(edit: Edit, mutant: Any) -> None:
    assert mutant.breaks in edit(mutant.apply)


ALONE = {
    "reminder-missing": "reminders_missing",
    "reminder-twice": "reminders_repeated",
    "withdrawn-reminded": "reminders_not_due",
    "one-hour-long": "end_time",
    "with-a-guest": "reminder_form",
    "existing-described": "right_events_kept",
    "unlisted-reminded": "events_unasked_for",
    "other-event-deleted": "other_events",
    "calendar-shared": "calendars",
    "a mail marked": "mailbox",
    "a file left behind": "files",
}


@pytest.mark.parametrize("name", ALONE)
def test_a_finding_can_fail_alone(edit: Edit, name: str) -> None:
    [mutant] = [mutant for mutant in MUTANTS if mutant.name == name]
    assert list(edit(mutant.apply)) == [ALONE[name]]


def test_a_wrong_start_alone_is_found(edit: Edit) -> None:
    def start_late(world: World, expected: Expected) -> None:
        reminder = next(one for one in expected.reminders if not one.existing)
        change_times(world, reminder.title, reminder.start + dt.timedelta(minutes=5), reminder.deadline)

    assert list(edit(start_late)) == ["start_time"]


def event_of(world: World, title: str) -> str:
    store = world.store(CalendarStore)
    return str(store.session.connection().exec_driver_sql(
        "SELECT id FROM events WHERE summary = ? AND status != 'cancelled'", (title,)
    ).scalar())  # fmt: skip


def change_times(world: World, title: str, start: dt.datetime, end: dt.datetime, zone: str = "UTC") -> None:
    ends: Any = {
        name: {"dateTime": moment.isoformat(), "timeZone": zone}
        for name, moment in (("start", start), ("end", end))
    }
    world.store(CalendarStore).update_event("primary", event_of(world, title), ends)


def test_the_zone_in_which_a_time_is_written_does_not_matter(edit: Edit) -> None:
    def rewrite(world: World, expected: Expected) -> None:
        aoe = dt.timezone(dt.timedelta(hours=-12))
        for one in expected.reminders:
            start, end = (moment.astimezone(aoe) for moment in (one.start, one.deadline))
            change_times(world, one.title, start, end, "Asia/Tokyo")

    assert edit(rewrite) == {}


def test_what_the_task_leaves_open_is_accepted(edit: Edit) -> None:
    def decorate(world: World, expected: Expected) -> None:
        title = next(one.title for one in expected.reminders if not one.existing)
        changes: Any = {
            "description": "AoE",
            "location": "Office",
            "colorId": "5",
            "reminders": {"useDefault": False, "overrides": [{"method": "popup", "minutes": 60}]},
        }
        world.store(CalendarStore).update_event("primary", event_of(world, title), changes)

    assert edit(decorate) == {}


def test_an_outdated_event_may_be_replaced_instead_of_moved(edit: Edit) -> None:
    def replace(world: World, expected: Expected) -> None:
        store = world.store(CalendarStore)
        one = next(one for one in expected.reminders if one.outdated)
        store.delete_event("primary", str(one.outdated))
        ends: Any = {
            "start": {"dateTime": one.start.isoformat()},
            "end": {"dateTime": one.deadline.isoformat()},
        }
        store.create_event("primary", {"summary": one.title, **ends})

    assert edit(replace) == {}


def test_events_made_by_mistake_and_deleted_again_are_forgiven(edit: Edit) -> None:
    def slip(world: World, expected: Expected) -> None:
        store = world.store(CalendarStore)
        at: Any = {"dateTime": expected.now.isoformat()}
        _, made = store.create_event("primary", {"summary": "Camera-ready: ?", "start": at, "end": at})
        store.delete_event("primary", made.id)

    assert edit(slip) == {}


def test_an_event_that_names_all_conferences_does_not_count(edit: Edit) -> None:
    def lump_together(world: World, expected: Expected) -> None:
        store = world.store(CalendarStore)
        tied = [one for one in expected.reminders if not one.existing][:2]
        for one in tied:
            store.delete_event("primary", event_of(world, one.title))
        at: Any = {"dateTime": tied[0].start.isoformat()}
        end: Any = {"dateTime": tied[0].deadline.isoformat()}
        summary = " ".join(one.title for one in tied)
        store.create_event("primary", {"summary": summary, "start": at, "end": end})

    assert {"reminders_missing", "events_unasked_for"} <= edit(lump_together).keys()


def test_an_event_without_a_title_is_a_failed_check(edit: Edit) -> None:
    def untitled(world: World, expected: Expected) -> None:
        at: Any = {"dateTime": expected.now.isoformat()}
        world.store(CalendarStore).create_event("primary", {"start": at, "end": at})

    assert list(edit(untitled)) == ["events_unasked_for"]


def test_a_mutant_without_its_place_says_so(build: Build, tmp_path: Path) -> None:
    instance = build(0, num_target=8, enable_extensions=False)
    episode = Episode.create(tmp_path / "plain", instance.path, FAMILY)
    [mutant] = [mutant for mutant in MUTANTS if mutant.name == "superseded-deadline"]
    with pytest.raises(Inapplicable), episode.world.editing() as world:
        mutant.apply(world, instance.expected)
    episode.close()


def test_the_user_has_answered_mails_of_all_sorts_later_and_without_a_word_on_deadlines(build: Build) -> None:
    instance = build(0, num_target=18, filler_tokens=20_000)
    rows = rows_of(
        instance,
        "email",
        "SELECT sent.date, sent.body, got.date, got.body FROM emails AS sent"
        " JOIN folders ON sent.folder_id = folders.id AND name = 'Sent'"
        " JOIN emails AS got ON got.message_id = sent.in_reply_to",
    )
    assert len(rows) > 5
    assert all(sent > got for sent, _, got, _ in rows)
    assert not any(list(deadlines(body)) for _, body, _, _ in rows)
    bodies = {piece.contains for piece in instance.expected.evidence if piece.service == "email"}
    assert 0 < sum(body in bodies for *_, body in rows) < len(rows)
