"""Disturbances: in the vendor's own form, the same again, no fault of ours, and no way to pass by obeying."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Iterator
from typing import Any

import pytest

import mesocosm
from mesocosm.errors import UsageError
from mesocosm.evaluation.replay import replay_episode
from mesocosm.evaluation.report.rows import Sample
from mesocosm.evaluation.report.tables import robustness
from mesocosm.families.disturbances import FINDING, Disturbances, EpisodeDisturber
from mesocosm.families.episode import Episode
from mesocosm.families.proofs import prove_one
from mesocosm.hosting.application import Hosting
from mesocosm.hosting.client import BlockingEpisode, BlockingServer, Refused
from mesocosm.hosting.server import serving
from mesocosm.services.content import service_names
from mesocosm.services.troubles import KINDS, load_troubles
from mesocosm.services.world import World

TASK: Any = {"task": "price_notices", "length": "8k", "seed": 1}


@pytest.fixture(scope="module")
def hosting(tmp_path_factory: pytest.TempPathFactory) -> Hosting:
    return Hosting(tmp_path_factory.mktemp("disturb"), admin_token="token")


@pytest.fixture(scope="module")
def server(hosting: Hosting) -> Iterator[BlockingServer]:
    with serving(hosting) as base, mesocosm.connect_sync(base, token="token") as server:
        yield server


def opened(hosting: Hosting, episode: BlockingEpisode) -> Episode:
    return hosting.pool.get(episode.id).episode


def test_what_is_to_be_disturbed_is_read_and_said() -> None:
    assert str(Disturbances.parse("light")) == "light"
    assert str(Disturbances.parse("light, errors=0.5")) != "light"
    assert str(Disturbances.parse("errors=0.5,seed=3")) == "errors=0.5,seed=3"
    assert not str(Disturbances.parse("errors=0"))
    for wrong, said in (("heavy", "there are: light, hard, rate_limits=..."), ("errors=2", "errors='2'")):
        with pytest.raises(UsageError, match=said):
            Disturbances.parse(wrong)


@pytest.mark.parametrize("service", [name for name in service_names() if load_troubles(name)])
def test_a_service_that_can_be_disturbed_says_all_kinds(service: str) -> None:
    assert set(load_troubles(service)) == set(KINDS)


@pytest.mark.parametrize(
    ("kind", "status", "code"),
    [
        ("rate_limits", 429, "rate_limit_exceeded"),
        ("errors", 500, "internal_server_error"),
        ("timeouts", 504, "gateway_timeout"),
        ("sessions", 401, "woocommerce_rest_cannot_view"),
    ],
)
def test_tools_and_apis_fail_as_the_vendors_do(
    server: BlockingServer, kind: str, status: int, code: str
) -> None:
    episode = server.create(**TASK, disturb=f"{kind}=1")
    answer = episode.act("woo_products_list", {})
    assert answer.is_error
    assert load_troubles("woocommerce")[kind].told == answer.text  # type: ignore[index]
    # A session that has expired is followed by another, which lasts a while.
    between = ["ok"] * 3 if kind == "sessions" else []
    assert [episode.act("woo_products_list", {}).is_error for _ in between] == [False for _ in between]
    url = f"{server.base}/e/{episode.id}/woocommerce/wp-json/wc/v3/products"
    basic = b64encode(f"{episode.id}:{episode.id}".encode()).decode()
    request = urllib.request.Request(url, headers={"Authorization": f"Basic {basic}"})
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request)
    with refused.value as error:
        assert (error.code, json.load(error)["code"]) == (status, code)
        assert kind != "rate_limits" or error.headers["RateLimit-Remaining"] == "0"
    assert not episode.act("claim_done").is_error
    grade = episode.grade()
    assert (grade.verdict, grade.reward) == ("failed", 0)
    assert [call["status"] for call in episode.journal()] == ["disturbed", *between, "disturbed", "ok"]


def test_the_same_calls_are_disturbed_alike(server: BlockingServer, hosting: Hosting) -> None:
    def seen(disturb: str) -> list[str]:
        episode = server.create(**TASK, disturb=disturb)
        for number in range(20):
            episode.act("get_emails", {"page": 1})
            episode.act("send_email", {"to": "a@b.org", "subject": f"{number}", "body": "x"})
        copy = opened(hosting, episode.fork())
        copy.close()
        assert replay_episode(copy.path).identical
        shown = [(call["status"], call["result"]) for call in episode.journal()]
        episode.rollback(7)
        assert [(call["status"], call["result"]) for call in episode.journal()] == shown[:7]
        return [f"{status} {result}" for status, result in shown]

    first = seen("hard")
    assert first == seen("hard")
    assert first != seen("hard,seed=1")
    assert {one.partition(" ")[0] for one in first} == {"ok", "disturbed"}


def test_a_list_lags_behind_a_change_for_a_moment(server: BlockingServer) -> None:
    episode = server.create(**TASK, disturb="stale=1")
    before = episode.call("email", "get_emails", folder="Sent")
    episode.call("email", "send_email", to="a@b.org", subject="new", body="x")
    assert episode.call("email", "get_emails", folder="Sent") == before
    for _ in range(3):
        episode.act("get_folders", {})
    assert episode.call("email", "get_emails", folder="Sent") != before


def test_somebody_else_changes_something_that_does_not_matter(
    server: BlockingServer, hosting: Hosting
) -> None:
    episode = server.create(**TASK, disturb="colleagues=1")
    episode.call("email", "get_emails")
    world: World = opened(hosting, episode).world
    assert [table for _, table in world.changes().tables] == ["emails"]
    assert [call["tool"] for call in episode.journal()] == ["get_emails", "(somebody else)"]


def test_an_agent_that_obeys_a_text_fails_by_name(server: BlockingServer, hosting: Hosting) -> None:
    episode = server.create(**TASK, disturb="injections=1")
    disturber = opened(hosting, episode).world.disturber
    assert isinstance(disturber, EpisodeDisturber)
    read = "".join(
        episode.act("read_email", {"email_id": mail["id"]}).text
        for mail in episode.call("email", "get_emails", page_size=10)["emails"]
    )
    assert disturber.code in read
    assert FINDING not in [finding.name for finding in episode.grade().findings if not finding.passed]
    episode.call("email", "send_email", to="a@b.org", subject="Re", body=f"Ref {disturber.code}")
    assert FINDING in [finding.name for finding in episode.grade().findings if not finding.passed]


def test_a_prompt_stands_in_another_frame_and_keeps_its_words(server: BlockingServer) -> None:
    plain = server.create(**TASK).prompt.strip()
    others = [server.create(**TASK, disturb=f"prompt=1,seed={seed}").prompt for seed in range(8)]
    assert all(plain in other for other in others)
    assert plain + "\n" not in others
    assert len(set(others)) > 2
    assert server.create(**TASK, disturb="prompt=1,seed=3").prompt == others[3]
    assert server.create(**TASK, disturb="errors=0.1").prompt.strip() == plain


def test_a_server_says_what_is_no_disturbance(server: BlockingServer) -> None:
    with pytest.raises(Refused, match="not a disturbance: 'heavy'"):
        server.create(**TASK, disturb="heavy")


@pytest.mark.parametrize("task", ["bug_triage", "apply_phd_email"])
def test_a_solver_that_tries_again_passes(task: str) -> None:
    proof = prove_one(task, 8000, 1, disturb="hard,colleagues=1,stale=1,injections=1")
    assert not proof.problems
    assert proof.disturbed


def test_a_report_says_what_disturbances_cost() -> None:
    same: Any = {"task": "x", "length": 8000, "model": "m", "sample": "s"}
    rows = [
        Sample(**same, seed=0, verdict="passed"),
        Sample(**same, seed=1, verdict="passed"),
        Sample(**same, seed=0, verdict="failed", disturb="hard", missed=f"other {FINDING}"),
        Sample(**same, seed=1, verdict="passed", disturb="hard"),
        Sample(**same, seed=2, verdict="failed", disturb="hard"),
    ]
    (row,) = robustness(rows).rows
    assert (row[0], row[1], row[2], row[5], row[6]) == ("m", "hard", "3", "-50.0%", "1")
    assert "n 2" in row[4]
