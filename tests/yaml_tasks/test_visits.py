"""A task that is one YAML file: built, acted on, judged and proven by its path."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from trials import call, failed, failures, solve, truth

from mesocosm.errors import UsageError
from mesocosm.evaluation.runs import Actor, WantedRun, run_remote
from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance
from mesocosm.families.proofs import prove_one
from mesocosm.hosting.application import Hosting
from mesocosm.hosting.client import connect_sync
from mesocosm.hosting.server import serving

WHOLE = Path(__file__).with_name("whole.yaml").read_text()


VISITS = Path(__file__).with_name("visits.yaml")


@pytest.fixture
def episode(tmp_path: Path) -> Episode:
    family = load_family(str(VISITS))
    instance = build_instance(family, 0, tmp_path / "instance", target=8_000)
    return Episode.create(tmp_path / "episode", instance.path, family)


def test_it_is_proven() -> None:
    proof = prove_one(str(VISITS), 8_000, 3)
    assert not proof.problems, "\n".join(proof.problems)
    assert proof.solver == "solution"
    assert len(set(proof.applied)) == proof.mutants >= 12


def test_attempts_on_the_way_to_a_length_leave_no_trace_in_the_world(tmp_path: Path) -> None:
    family = load_family("refund_list")  # its texts name numbers that the shop gives
    found = build_instance(family, 1, tmp_path / "found", target=9_000)
    parameters = json.loads((found.path / "world/world.json").read_text())["parameters"]
    build_instance(family, 1, tmp_path / "direct", parameters=parameters)
    for name in ("world/email.db", "world/woocommerce.db", "expected.json"):
        assert (tmp_path / "found" / name).read_bytes() == (tmp_path / "direct" / name).read_bytes(), name


def test_the_reference_agent_walks_on_a_server_that_is_elsewhere(tmp_path: Path) -> None:
    app = Hosting(tmp_path / "state", admin_token="token")
    with serving(app) as base:
        server, out = connect_sync(base, token="token"), tmp_path / "run"
        result = run_remote(load_family("price_notices"), server, WantedRun(8_000), Actor("reference"), out)
    assert result.verdict == "passed", result.findings


def test_an_event_too_much_and_a_mail_that_was_moved_are_found(episode: Episode) -> None:
    solve(load_family(str(VISITS)), episode)
    assert failures(episode) == set()


def test_doing_nothing_misses_every_visit(episode: Episode) -> None:
    assert failed(episode.grade()) == {"calendar_event_missing"}


def test_what_is_true_is_not_in_the_world(episode: Episode) -> None:
    kept = truth(load_family(str(VISITS)), episode).truth["entities"]
    assert any(entity["kind"] == "moved" for entity in kept)
    assert "kind" not in (episode.path / "world" / "world.json").read_text()


def test_a_finding_says_which_line_was_wanted(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(WHOLE.replace("See you on {agreed}\\n", "See you at {agreed}\\n"))
    family = load_family(str(path))
    instance = build_instance(family, 0, tmp_path / "instance", target=8_000)
    episode = Episode.create(tmp_path / "episode", instance.path, family)
    solve(family, episode)
    [body] = [check for check in episode.grade().findings if not check.passed]
    assert re.search(
        r": got Hello, See you at [\d :-]+, expected lines: See you on [\d :-]+;", body.detail
    ), body.detail


def test_an_event_of_the_own_calendar_is_too_much(episode: Episode) -> None:
    moments = {"start": {"dateTime": "2025-12-01T09:00:00Z"}, "end": {"dateTime": "2025-12-01T10:00:00Z"}}
    call(episode, "calendar", "create_event", summary="Visit: nobody", **moments)
    assert "calendar_event_extra" in failures(episode)


def test_an_event_that_comes_again_is_another(episode: Episode) -> None:
    solve(load_family(str(VISITS)), episode, claim=False)
    visits = next(
        one["id"]
        for one in json.loads(call(episode, "calendar", "list_calendars"))["items"]
        if one["summary"] == "Visits"
    )
    events = json.loads(
        call(
            episode, "calendar", "list_events", calendarId=visits, timeMin="2000-01-01T00:00:00Z",
            timeMax="2100-01-01T00:00:00Z",
        )
    )["items"]  # fmt: skip
    event = {"calendarId": visits, "eventId": events[-1]["id"]}
    call(episode, "calendar", "update_event", **event, recurrence=["RRULE:FREQ=WEEKLY;COUNT=3"])
    assert failures(episode) == {"calendar_event_otherwise"}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "faker: name, unique: true",
            "fakir: name",
            ["line 25", "entities.visit.fields.guest", "fakir", "choice"],
        ),
        ("cases: [moved, west_moved]", "cases: [mooved]", ["evidence.1", "mooved", "plain, moved"]),
        ("email.mail:\n      from", "email.letter:\n      from", ["evidence.0", "email.mail"]),
        (
            '      date: "{asked}"\n',
            '      dated: "{asked}"\n',
            ["evidence.0", "dated: unknown field", "date"],
        ),
        ("calendar.create_event", "calendar.make_event", ["solution.0", "'make_event'", "create_event"]),
        ("spoken(start)", "spoken(begin)", ["begin"]),
        ("{new_start or start}", "{final}", ["circle", "final -> final"]),
        ("before: now + 40d", "before: now + 1d", ["entities.visit.fields.start", "no moment between"]),
        ("goal:\n", "gaol:\n", ["gaol", "unknown key"]),
        ("count: size", "count: number", ["entities.visit.count", "no parameter 'number'", "size"]),
        ("topics: [travel,", "topics: [travels,", ["noise", "no topic 'travels'", "travel"]),
        (
            "    email.mail:\n",
            "    topics: [gossip]\n    email.mail:\n",
            ["evidence.0.topics", "no topic 'gossip'"],
        ),
    ],
)
def test_complaints_say_where_and_what_is_possible(
    old: str, new: str, words: list[str], tmp_path: Path
) -> None:
    text = VISITS.read_text()
    assert old in text
    path = tmp_path / "visits.yaml"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(UsageError) as complaint:
        build_instance(load_family(str(path)), 0, tmp_path / "x", target=8_000)
    for word in words:
        assert word in str(complaint.value)
