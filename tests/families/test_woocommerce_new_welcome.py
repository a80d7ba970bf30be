"""Welcomes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from trials import call, failures

from mesocosm.families.building import Instance
from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family

FAMILY = load_family("woocommerce_new_welcome")
DONE = 3, {"parameters": {"first_time_customers": 6}}
Build = Callable[..., Instance]
TABLE = "woocommerce_crm.customers"
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


def test_one_more_mail_is_found(fork: Episode) -> None:
    mail = sent_mail(fork)
    call(fork, "email", "send_email", **mail | {"subject": "Hello"})
    assert failures(fork) == {"email_mail_extra"}


def test_an_order_that_was_touched_is_found(fork: Episode) -> None:
    call(fork, "woocommerce", "woo_orders_update", orderId=entered(fork), orderData={"status": "on-hold"})
    assert failures(fork) == {"woocommerce_unchanged"}
