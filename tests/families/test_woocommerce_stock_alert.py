"""Stock alerts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from trials import call, failures, solve

from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.families.instances import Instance

FAMILY = load_family("woocommerce_stock_alert")
DONE = 3, {"parameters": {"num_low_stock": 6}}
Build = Callable[..., Instance]
SHEET = "Stock Alert"


@pytest.fixture
def fork(done: Episode, tmp_path: Path) -> Iterator[Episode]:
    """The same, to be spoiled."""
    episode = done.fork(tmp_path / "fork")
    yield episode
    episode.close()


def kinds(instance: Instance) -> Counter[str]:
    data = json.loads((instance.path / "expected.json").read_bytes())
    ones = [one for one in data["truth"]["entities"] if one["fact"] == "item" and not one["lookalike"]]
    return Counter(one["kind"] for one in ones)


def book_of(episode: Episode) -> str:
    books = json.loads(call(episode, "google_sheet", "list_spreadsheets"))
    return next(str(book["id"]) for book in books if book["title"] == "WooCommerce Stock Alert")


def lines_of(episode: Episode) -> list[list[Any]]:
    read = call(episode, "google_sheet", "get_sheet_data", spreadsheet_id=book_of(episode), sheet=SHEET)
    lines: list[list[Any]] = json.loads(read)["valueRanges"][0]["values"]
    return lines


def write(episode: Episode, place: str, data: list[list[Any]]) -> None:
    call(
        episode, "google_sheet", "update_cells", spreadsheet_id=book_of(episode), sheet=SHEET, range=place,
        data=data,
    )  # fmt: skip


def test_every_boundary_occurs_at_the_smallest_size(build: Build) -> None:
    smallest = next(iter(FAMILY.task.growth.points.values()))
    for seed in (0, 1):
        counted = kinds(build(seed, num_low_stock=smallest))
        assert {"one_below", "sold_out", "raised", "not_lowered", "low"} <= counted.keys()
        assert {
            "equal",
            "one_above",
            "lowered",
            "not_raised",
            "talked_of",
            "draft",
            "unmanaged",
        } <= counted.keys()


def test_the_released_numbers_are_kept(build: Build) -> None:
    counted = kinds(build(42, num_low_stock=16, num_normal_stock=24, edge_case_rate=0))
    assert counted == {"low": 16, "normal": 24}


def test_the_order_of_ids_does_not_tell_what_is_short(done: Episode) -> None:
    short = [int(line[0]) for line in lines_of(done)[1:]]
    listed = json.loads(call(done, "woocommerce", "woo_products_list", perPage=100, fields=["id"]))
    assert min(short) > min(one["id"] for one in listed) or max(short) < max(one["id"] for one in listed)
    assert short != list(range(short[0], short[0] + len(short)))


def test_rows_may_be_written_one_by_one_as_texts(done: Episode, fork: Episode) -> None:
    head, *rows = lines_of(done)
    assert not failures(fork)
    write(fork, "A2", [[""] * len(head) for _ in rows])
    assert failures(fork) == {"alerts_rows_missing"}
    for number, row in reversed(list(enumerate(rows, 2))):
        write(fork, f"A{number}", [[str(cell) for cell in row]])
    assert not failures(fork)


@pytest.mark.parametrize(
    ("column", "value", "finding"),
    [
        ("A", 1, "alerts_rows_missing"),
        ("B", "Something", "alerts_rows_cells"),
        ("D", -1, "alerts_rows_cells"),
        ("E", 999, "alerts_rows_cells"),
        ("G", "", "alerts_rows_cells"),
        ("H", "nobody@nowhere.example", "alerts_rows_cells"),
        ("I", "checked", "alerts_rows_columns"),
        ("K", "checked", "alerts_rows_columns"),
    ],
)
def test_a_wrong_cell_is_found(fork: Episode, column: str, value: Any, finding: str) -> None:
    write(fork, f"{column}2", [[value]])
    assert finding in failures(fork)


def test_a_column_of_the_same_name_is_one_too_many(fork: Episode) -> None:
    write(fork, "I1", [[line[2]] for line in lines_of(fork)])
    assert failures(fork) == {"alerts_rows_columns"}


def test_rows_in_another_order_or_twice_are_found(fork: Episode) -> None:
    rows = lines_of(fork)[1:]
    write(fork, "A2", [rows[1], rows[0]])
    assert failures(fork) == {"alerts_rows_order"}
    write(fork, "A2", [rows[0], rows[1], *rows[2:], rows[-1]])
    assert failures(fork) == {"alerts_rows_extra"}


def test_a_mail_sent_twice_is_found(fork: Episode) -> None:
    sent = json.loads(call(fork, "email", "get_emails", folder="Sent"))["emails"]
    mail = json.loads(call(fork, "email", "read_email", email_id=sent[0]["id"]))
    again = {"to": mail["to"], "subject": mail["subject"], "body": mail["body"]}
    call(fork, "email", "send_email", **again)
    assert failures(fork) == {"email_mail_extra"}


def test_damage_to_the_shop_is_found(fork: Episode) -> None:
    product = int(lines_of(fork)[1][0])
    call(fork, "woocommerce", "woo_products_update", productId=product, productData={"stock_quantity": 500})
    assert failures(fork) == {"woocommerce_unchanged"}


def test_nobody_else_is_let_into_the_sheet(fork: Episode) -> None:
    stranger = {"email_address": "stranger@elsewhere.example", "role": "reader"}
    shared = {"spreadsheet_id": book_of(fork), "recipients": [stranger]}
    call(fork, "google_sheet", "share_spreadsheet", **shared)
    assert failures(fork) == {"google_sheet_unchanged"}


def test_the_register_may_not_change(fork: Episode) -> None:
    books = json.loads(call(fork, "google_sheet", "list_spreadsheets"))
    register = next(book["id"] for book in books if book["title"] == "Suppliers")
    call(
        fork, "google_sheet", "update_cells", spreadsheet_id=register, sheet="Register", range="C2",
        data=[["other@nowhere.example"]],
    )  # fmt: skip
    assert failures(fork)


def test_the_solver_needs_no_edge_cases(build: Build) -> None:
    built = build(7, num_low_stock=4, num_normal_stock=5, edge_case_rate=0)
    episode = Episode.create(built.path.parent / "episode", built.path, FAMILY)
    try:
        solve(FAMILY, episode)
        assert not failures(episode)
    finally:
        episode.close()
