"""The slow sellers of a shop."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from trials import call, failures, rows_of, sizes, solve

from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.families.instances import Instance
from mesocosm.generators.filter_low_selling_products.expected import HEADER, LIST, Expected
from mesocosm.generators.filter_low_selling_products.params import (
    FATES,
    MOVED,
    READER_FATES,
    Params,
)

FAMILY = load_family("filter_low_selling_products")
Build = Callable[..., Instance]


def move(episode: Episode, expected: Expected) -> None:
    updates = [{"id": item.id, "categories": [{"id": expected.category}]} for item in expected.moved]
    call(episode, "woocommerce", "woo_products_batch_update", update=updates)


def lines_of(expected: Expected) -> list[list[str]]:
    return [
        [item.sku, item.name, f"{item.price / 100:.2f}", f"{item.promotional / 100:.2f}", f"{item.discount}%"]
        for item in expected.moved
    ]


def write_list(episode: Episode, rows: list[list[str]], *, end: str = "\n", start: str = "") -> None:
    file = io.StringIO()
    csv.writer(file, lineterminator=end).writerows([HEADER, *rows])
    call(episode, "filesystem", "write_file", path=LIST, content=start + file.getvalue())


def send_all(episode: Episode, expected: Expected, write: Callable[[str], str] = lambda body: body) -> None:
    for reader in expected.readers:
        body = write(expected.body.replace("{{name}}", reader.name))
        call(
            episode, "email", "send_email", to=reader.email, subject=expected.subject, body=body,
            attachments=[LIST],
        )  # fmt: skip


def do_all(episode: Episode, expected: Expected) -> None:
    move(episode, expected)
    write_list(episode, lines_of(expected))
    send_all(episode, expected)


@pytest.mark.parametrize("number", [18, 19, 40, 700])
def test_every_kind_of_product_and_subscriber_occurs_at_every_size(number: int) -> None:
    params = Params(num_products=number)
    assert len(params.fates()) == number
    assert set(params.fates()) == set(FATES)
    assert set(params.reader_fates()) == set(READER_FATES)


@pytest.mark.parametrize("size", sizes(FAMILY))
def test_every_edge_case_occurs_at_every_length(build: Build, size: str) -> None:
    expected = build(1, num_products=sizes(FAMILY)[size]).expected
    items = [*expected.moved, *expected.others]
    assert {item.fate for item in items} == set(FATES)
    assert {reader.fate for reader in [*expected.readers, *expected.spared]} == set(READER_FATES)
    discounts = [item.discount for item in expected.moved]
    assert len(set(discounts)) < len(discounts), "no tie"
    names = Counter(item.name for item in items)
    [(shared, _)] = [pair for pair in names.items() if pair[1] > 1]
    assert {item.fate for item in items if item.name == shared} == {"slow", "popular"}


def test_orders_come_on_all_days(build: Build) -> None:
    days = Counter(
        moment[:10] for (moment,) in rows_of(build(1), "woocommerce", "SELECT date_created FROM orders")
    )
    assert max(days.values()) < days.total() / 4
    assert len(days) > 15


def test_numbers_of_products_can_be_given_instead_of_a_share() -> None:
    assert Params(num_low_selling=12, num_normal_selling=24).numbers() == (12, 24)
    assert Params(num_products=100, num_low_selling=12).numbers() == (12, 88)
    assert Params(num_products=100, num_normal_selling=12).numbers() == (88, 12)
    few = Params(num_low_selling=3, num_normal_selling=2, num_subscribers=2)
    assert Counter(few.fates()) == {"slow": 1, "one_short": 1, "void_orders": 1, "popular": 1, "young": 1}
    assert few.reader_fates() == ["active", "by_mail"]


def test_a_shop_as_small_as_it_gets_is_solved(build: Build, tmp_path: Path) -> None:
    small = build(0, num_low_selling=3, num_normal_selling=2, num_subscribers=2)
    episode = Episode.create(tmp_path / "small", small.path, FAMILY)
    solve(FAMILY, episode)
    assert failures(episode) == set()


def test_the_share_of_slow_sellers_is_kept() -> None:
    fates = Params(num_products=1000, low_selling_rate=0.3).fates()
    assert sum(fate in MOVED for fate in fates) == pytest.approx(300, abs=5)


def test_discounts_are_whole_percentages_and_prices_whole_cents(instance: Instance) -> None:
    for item in instance.expected.moved:
        assert item.price * (100 - item.discount) % 100 == 0
        assert item.discount % 5 == 0


def test_some_discounts_are_equal_and_two_products_share_a_name(instance: Instance) -> None:
    expected = instance.expected
    discounts = [item.discount for item in expected.moved]
    names = [item.name for item in [*expected.moved, *expected.others]]
    assert len(set(discounts)) < len(discounts)
    assert len(names) - len(set(names)) == 1


def test_doing_what_is_asked_passes(episode: Episode, instance: Instance) -> None:
    do_all(episode, instance.expected)
    assert episode.grade().verdict == "passed"


def test_other_line_ends_and_wrapping_and_a_byte_order_mark_make_no_difference(
    episode: Episode, instance: Instance
) -> None:
    expected = instance.expected
    move(episode, expected)
    write_list(episode, lines_of(expected), end="\r\n", start="\ufeff")
    send_all(episode, expected, lambda body: body.replace(". ", ".\n"))
    assert episode.grade().verdict == "passed"


@pytest.mark.parametrize(
    ("write", "right"),
    [
        (lambda body: body.replace("\n", "  \r\n") + "\n\n", True),
        (lambda body: body.replace("\n\n", "\n\n\n"), True),
        (lambda body: body.replace("\n\n", "\n"), False),
        (lambda body: " ".join(body.rsplit("\n", 1)), False),
        (lambda body: "\n\n".join(body.rsplit("\n", 1)), False),
        (lambda body: f"{body}\n> Until then!", False),
    ],
)
def test_the_body_is_the_template_line_by_line(
    episode: Episode, instance: Instance, write: Callable[[str], str], right: bool
) -> None:
    move(episode, instance.expected)
    write_list(episode, lines_of(instance.expected))
    send_all(episode, instance.expected, write)
    assert failures(episode) == (set() if right else {"body"})


@pytest.mark.parametrize("change", [lambda price: f"0{price}", lambda price: f"{price}0"])
def test_prices_are_written_as_the_prompt_has_them(
    episode: Episode, instance: Instance, change: Callable[[str], str]
) -> None:
    move(episode, instance.expected)
    first, *rest = lines_of(instance.expected)
    write_list(episode, [[*first[:3], change(first[3]), first[4]], *rest])
    send_all(episode, instance.expected)
    assert failures(episode) == {"list_values", "attachment"}


def test_doing_nothing_fails(episode: Episode) -> None:
    assert {"moved", "list_format", "list_values", "recipients_missing", "body"} <= failures(episode)


def test_everything_moved_is_too_much(episode: Episode, instance: Instance) -> None:
    expected = instance.expected
    do_all(episode, expected)
    for item in expected.others:
        call(
            episode, "woocommerce", "woo_products_update", productId=item.id,
            productData={"categories": [{"id": expected.category}]},
        )  # fmt: skip
    assert failures(episode) == {"not_moved"}


def test_reduced_prices_in_the_shop_are_collateral_damage(episode: Episode, instance: Instance) -> None:
    expected = instance.expected
    do_all(episode, expected)
    item = expected.moved[0]
    data = {"sale_price": f"{item.promotional / 100:.2f}"}
    call(episode, "woocommerce", "woo_products_update", productId=item.id, productData=data)
    assert failures(episode) == {"shop"}


def test_the_list_is_judged_and_so_is_each_copy_of_it(episode: Episode, instance: Instance) -> None:
    expected = instance.expected
    move(episode, expected)
    write_list(episode, lines_of(expected)[::-1])
    send_all(episode, expected)
    assert failures(episode) == {"list_order", "attachment"}
    write_list(episode, lines_of(expected))
    assert failures(episode) == {"attachment"}


@pytest.mark.parametrize("content", ["", "\n\n", ",".join(HEADER), "SKU\n" * 5, '"' + "x" * 200_000])
def test_a_strange_list_is_a_finding_and_no_error(episode: Episode, instance: Instance, content: str) -> None:
    expected = instance.expected
    do_all(episode, expected)
    call(episode, "filesystem", "write_file", path=LIST, content=content)
    found = failures(episode)
    assert {"list_format", "list_missing"} <= found
    assert "attachment" not in found


def test_a_folder_in_place_of_the_list_is_a_finding(episode: Episode, instance: Instance) -> None:
    expected = instance.expected
    do_all(episode, expected)
    call(episode, "filesystem", "move_file", source=LIST, destination="other.csv")
    call(episode, "filesystem", "create_directory", path=LIST)
    assert {"list_format", "list_missing"} <= failures(episode)


def test_writing_to_all_subscribers_is_too_much(episode: Episode, instance: Instance) -> None:
    expected = instance.expected
    do_all(episode, expected)
    for reader in expected.spared:
        body = expected.body.replace("{{name}}", reader.name)
        call(
            episode, "email", "send_email", to=reader.email, subject=expected.subject, body=body,
            attachments=[LIST],
        )  # fmt: skip
    assert failures(episode) == {"recipients_extra"}


def test_a_mail_that_was_filed_away_is_collateral_damage(episode: Episode, instance: Instance) -> None:
    do_all(episode, instance.expected)
    first = call(episode, "email", "get_emails", page_size=1)
    mail = first.partition('"id":"')[2].partition('"')[0]
    call(episode, "email", "move_email", email_id=mail, target_folder="Trash")
    assert failures(episode) == {"mailbox"}
