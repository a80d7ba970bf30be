"""Welcomes."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from trials import call, failures, rows_of, solve_but_mails

from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.families.instances import Instance

FAMILY = load_family("woocommerce_new_welcome")
DONE = 3, {"parameters": {"first_time_customers": 6}}
Build = Callable[..., Instance]
TABLE = "woocommerce_crm.customers"
_PURCHASE = (
    r"I have (bought|ordered)|[Ww]hat I (bought|ordered|got)|[Aa]dvertising|offers|When I ordered|"
    r"newsletters?\b|hear of|(invoice|receipt|slip in the box) (shows|gives|has) |"
    r"[Mm]y (parcel|order) |to say thank you"
)
EDGES = {
    "at_the_start",
    "retried",
    "from_elsewhere",
    "known",
    "relented",
    "twice",
    "other_case",
    "welcomed",
    "opted_out",
}


@pytest.fixture
def fork(done: Episode, tmp_path: Path) -> Iterator[Episode]:
    """The same, to be spoiled."""
    episode = done.fork(tmp_path / "fork")
    yield episode
    episode.close()


Welcome = tuple[Episode, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def unsent(done: Episode, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Welcome]:
    folder = tmp_path_factory.mktemp("unsent")
    episode = Episode.create(folder / "episode", done.path.parent / "instance", FAMILY)
    yield episode, solve_but_mails(FAMILY, episode)
    episode.close()


@pytest.fixture
def welcome(unsent: Welcome, tmp_path: Path) -> Iterator[Welcome]:
    """An episode in which the rows are right and nothing is sent yet, and the mails that are to be sent."""
    episode = unsent[0].fork(tmp_path / "fork")
    yield episode, unsent[1]
    episode.close()


def kinds(instance: Instance) -> Counter[str]:
    data = json.loads((instance.path / "expected.json").read_bytes())
    ones = [one for one in data["truth"]["entities"] if one["fact"] == "customer" and not one["lookalike"]]
    return Counter(one["kind"] for one in ones)


def ask(episode: Episode, query: str) -> str:
    return call(episode, "google_cloud", "bigquery_run_query", query=query)


def sent_mail(episode: Episode) -> dict[str, str]:
    listed = json.loads(call(episode, "email", "get_emails", folder="Sent"))["emails"]
    mail = json.loads(call(episode, "email", "read_email", email_id=listed[0]["id"]))
    return {"to": mail["to"], "subject": mail["subject"], "body": mail["body"]}


def entered(episode: Episode) -> int:
    """The id of a row that was entered, with the number of an order."""
    text = ask(episode, f"SELECT id FROM {TABLE} WHERE id < 200000 ORDER BY id LIMIT 1")
    return int(text.rpartition('"id":')[2].partition("}")[0])


def test_every_boundary_occurs_at_the_smallest_size(build: Build) -> None:
    smallest = next(iter(FAMILY.task.growth.points.values()))
    counted = kinds(build(1, first_time_customers=smallest))
    assert {*EDGES, "new", "returning", "outside", "just_before", "incomplete"} <= counted.keys()


def test_nobody_speaks_of_an_order_before_it_was_placed(build: Build) -> None:
    instance = build(2, target=32_000)
    orders = rows_of(instance, "woocommerce", "SELECT lower(billing->>'email'), date_created FROM orders")
    since: dict[str, str] = {}
    for email, placed in orders:
        since[email] = min(placed, since.get(email, placed))
    mails = rows_of(instance, "email", "SELECT sender, date, body FROM emails")
    told = [(sender, date) for sender, date, body in mails if re.search(_PURCHASE, body)]
    assert len(told) > 5
    for sender, date in told:
        assert date > since[sender.rpartition("<")[2].rstrip(">").lower()], sender


def test_orders_do_not_come_in_the_same_second(build: Build) -> None:
    moments = rows_of(build(2, target=32_000), "woocommerce", "SELECT date_created FROM orders")
    assert max(Counter(moments).values()) <= 2


def test_the_released_numbers_are_kept(build: Build) -> None:
    released = {
        "total_orders": 25,
        "first_time_customers": 5,
        "noise_outside_window": 2,
        "noise_incomplete": 2,
    }
    counted = kinds(build(42, **released, edge_case_rate=0))
    assert counted == {"new": 5, "returning": 10, "outside": 2, "incomplete": 2}


def test_what_the_solver_did_is_right(fork: Episode) -> None:
    assert not failures(fork)


def test_a_row_may_be_deleted_and_entered_again(fork: Episode) -> None:
    number = entered(fork)
    ask(fork, f"CREATE TABLE woocommerce_crm.spare AS SELECT * FROM {TABLE} WHERE id = {number}")
    ask(fork, f"DELETE FROM {TABLE} WHERE id = {number}")
    assert failures(fork)
    ask(fork, f"INSERT INTO {TABLE} SELECT * FROM woocommerce_crm.spare")
    ask(fork, "DROP TABLE woocommerce_crm.spare")
    assert not failures(fork)


@pytest.mark.parametrize(
    "change",
    [
        "welcome_email_sent = FALSE",
        "welcome_email_date = NULL",
        "first_order_date = TIMESTAMP_ADD(first_order_date, INTERVAL 1 SECOND)",
        "sync_date = NULL",
        "email = UPPER(email)",
        "phone = NULL",
        "last_name = 'Somebody'",
        "metadata = NULL",
        "woocommerce_id = 99999",
    ],
)
def test_a_wrong_column_is_found(fork: Episode, change: str) -> None:
    ask(fork, f"UPDATE {TABLE} SET {change} WHERE id = {entered(fork)}")
    assert failures(fork) == {"entered_values"}


def test_history_may_not_change(fork: Episode) -> None:
    ask(fork, f"UPDATE {TABLE} SET phone = '1' WHERE id = (SELECT MIN(id) FROM {TABLE} WHERE id > 200000)")
    assert failures(fork)


def turned_round(body: str) -> str:
    """The lines of a mail, the last one first."""
    return "\n".join(reversed(body.splitlines()))


@pytest.mark.parametrize(
    ("write", "right"),
    [
        (lambda body: {"body": body.replace("\n\n", "\r\n") + "  \n"}, True),
        (lambda body: {"body": body, "html_body": "<p>" + body.replace("\n", "<br>") + "</p>"}, True),
        (lambda body: {"body": "", "html_body": f"<pre>{body}</pre>"}, True),
        (lambda body: {"body": turned_round(body)}, False),
        (lambda body: {"body": f"{body}\n> Buy two and pay one."}, False),
        (
            lambda body: {"body": body, "html_body": f"<pre>{body}</pre><blockquote>Buy two.</blockquote>"},
            False,
        ),
        (
            lambda body: {"body": body, "html_body": f"<pre>{body}</pre>".replace("Order amount: ", "$")},
            False,
        ),
    ],
)
def test_a_mail_has_the_lines_of_the_template_in_their_order(
    welcome: Welcome, write: Callable[[str], dict[str, str]], right: bool
) -> None:
    episode, sent = welcome
    for mail in sent[:1]:
        call(episode, "email", "send_email", **mail | write(mail["body"]))
    for mail in sent[1:]:
        call(episode, "email", "send_email", **mail)
    assert failures(episode) == (set() if right else {"mails_body"})


def test_what_was_saved_as_it_was_does_no_harm(fork: Episode) -> None:
    listed = call(fork, "woocommerce", "woo_customers_list", perPage=1, fields=["id", "first_name"])
    [customer] = json.loads(listed.splitlines()[0])
    for name in ("Somebody", customer["first_name"]):
        call(
            fork, "woocommerce", "woo_customers_update", customerId=customer["id"],
            customerData={"first_name": name},
        )  # fmt: skip
    assert not failures(fork)


def test_one_more_mail_is_found(fork: Episode) -> None:
    mail = sent_mail(fork)
    call(fork, "email", "send_email", **mail | {"subject": "Hello"})
    assert failures(fork) == {"email_mail_extra"}


def test_an_order_that_was_touched_is_found(fork: Episode) -> None:
    call(fork, "woocommerce", "woo_orders_update", orderId=entered(fork), orderData={"status": "on-hold"})
    assert failures(fork) == {"woocommerce_unchanged"}
