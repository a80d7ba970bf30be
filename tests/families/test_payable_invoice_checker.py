"""Invoices, orders, transfers and credit notes: what decides, and what is damage."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from trials import call, failures, solve, solve_but_mails

from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.families.instances import Instance, build_instance
from mesocosm.tasks.payable_invoice_checker import draw_scan, draw_second_scan

FAMILY = load_family("payable_invoice_checker")
SCHEMA = "PURCHASE_INVOICE.PUBLIC"


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Instance:
    """The least there can be, and hardly anything around it."""
    parameters = {"num_invoices": 8, "filler_tokens": 500}
    return build_instance(FAMILY, 3, tmp_path_factory.mktemp("built") / "x", parameters=parameters)


@pytest.fixture(scope="module")
def once_solved(instance: Instance, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Episode]:
    episode = Episode.create(tmp_path_factory.mktemp("solved") / "episode", instance.path, FAMILY)
    solve(FAMILY, episode, claim=False)
    yield episode
    episode.close()


@pytest.fixture(scope="module")
def unsent(
    instance: Instance, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Episode, list[dict[str, Any]]]]:
    """All that is asked for but the mails, and what those are."""
    episode = Episode.create(tmp_path_factory.mktemp("unsent") / "episode", instance.path, FAMILY)
    yield episode, solve_but_mails(FAMILY, episode)
    episode.close()


@pytest.fixture
def solved(once_solved: Episode, tmp_path: Path) -> Iterator[Episode]:
    """All that is asked for is done."""
    episode = once_solved.fork(tmp_path / "fork")
    yield episode
    episode.close()


def write(episode: Episode, query: str) -> None:
    call(episode, "snowflake", "write_query", query=query)


def cents(number: float) -> int:
    return round(number * 100)


def invoices(instance: Instance) -> dict[str, Any]:
    """What was drawn for the invoices that count, by kind."""
    kept = json.loads((instance.path / "expected.json").read_bytes())["truth"]["entities"]
    return {one["kind"]: one["drawn"] for one in kept if one["fact"] == "invoice" and one["ident"][0] != "b"}


@pytest.mark.parametrize("seed", range(2))
def test_each_case_occurs_in_the_smallest_world(seed: int, tmp_path: Path) -> None:
    built = build_instance(FAMILY, seed, tmp_path / "x", parameters={"num_invoices": 8})
    found = invoices(built)
    assert set(found) == set(FAMILY.task.definition["entities"]["invoice"]["cases"])
    assert abs(cents(found["cent"]["off"])) == 1
    assert {"over", "twice", "thought", "news", "nothing"} == {one["said"] for one in found.values()}


def test_all_tables_are_there_where_a_case_is_not(tmp_path: Path) -> None:
    """The released numbers have one invoice, and no transfer."""
    built = build_instance(FAMILY, 42, tmp_path / "x", target=8_000, parameters={"preset": "loca"})
    episode = Episode.create(tmp_path / "episode", built.path, FAMILY)
    solve(FAMILY, episode)
    assert not failures(episode)
    episode.close()


def test_the_same_in_other_words_is_right(instance: Instance, once_solved: Episode, tmp_path: Path) -> None:
    """Rows by one statement in another order, mails with more text, and the comment by ALTER TABLE."""
    with_solver = once_solved
    other = Episode.create(tmp_path / "other", instance.path, FAMILY)
    before, after = (
        json.loads(call(one, "email", "get_emails", folder="Sent", page_size=100))["emails"]
        for one in (other, with_solver)
    )
    for entry in reversed([entry for entry in after if entry not in before]):
        mail = json.loads(call(with_solver, "email", "read_email", email_id=entry["id"]))
        lines = "\n".join(reversed(mail["body"].splitlines()))
        body = f"Hello,\n\nplease see to this:\n\n{lines}\n\nKind regards"
        call(other, "email", "send_email", to=mail["to"], subject=mail["subject"], body=body)
    for table in ("INVOICES", "INVOICE_PAYMENTS"):
        copied = [tuple(one.values()) for one in added(with_solver, table)]
        rows = ", ".join(str(tuple(map(str, row))) for row in reversed(copied))
        write(other, f"INSERT INTO {SCHEMA}.{table} VALUES {rows}")
    comment = "ALTER COLUMN OUTSTANDING_FLAG COMMENT '0=Paid, 1=Outstanding'"
    write(other, f"ALTER TABLE {SCHEMA}.INVOICE_PAYMENTS {comment}")
    assert not failures(other)
    other.close()


def added(episode: Episode, table: str) -> list[dict[str, str]]:
    """The rows of a table that were not there at first."""
    text = call(episode, "snowflake", "read_query", query=f"SELECT * FROM {SCHEMA}.{table}")
    rows = [
        dict(line.strip("- ").split(": ", 1) for line in row.splitlines())
        for row in text.partition("\ndata:\n")[2].split("\n- ")
    ]
    new = {one["number"] for kind, one in invoices_of(episode).items() if kind != "entered"}
    clean = [{name: value.strip("'\"") for name, value in row.items()} for row in rows]
    return [row for row in clean if row["INVOICE_ID"] in new]


def invoices_of(episode: Episode) -> dict[str, Any]:
    kept = json.loads((episode.path / "expected.json").read_bytes())["truth"]["entities"]
    return {one["kind"]: one["drawn"] for one in kept if one["fact"] == "invoice" and one["ident"][0] != "b"}


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        ("UPDATE {0}.INVOICES SET SUPPLIER_NAME = 'Nobody' WHERE {1}", "invoices_"),
        ("UPDATE {0}.INVOICES SET INVOICE_DATE = INVOICE_DATE + 1 WHERE {1}", "invoices_"),
        ("UPDATE {0}.INVOICES SET PURCHASER_EMAIL = NULL WHERE {1}", "invoices_"),
        ("UPDATE {0}.INVOICE_PAYMENTS SET PAYMENT_AMOUNT = PAYMENT_AMOUNT + 0.01 WHERE {1}", "payments_"),
        ("UPDATE {0}.INVOICE_PAYMENTS SET OUTSTANDING_FLAG = 1 - OUTSTANDING_FLAG WHERE {1}", "payments_"),
        ("INSERT INTO {0}.INVOICES SELECT * FROM {0}.INVOICES WHERE {2}", "snowflake_row_extra"),
        ("DELETE FROM {0}.TRANSFERS", "snowflake_unchanged"),
        ("UPDATE {0}.PURCHASE_ORDERS SET ORDER_AMOUNT = 1", "snowflake_unchanged"),
        ("COMMENT ON COLUMN {0}.INVOICE_PAYMENTS.OUTSTANDING_FLAG IS '1=Outstanding'", "snowflake_comment"),
        ("COMMENT ON COLUMN {0}.INVOICES.INVOICE_ID IS 'The number'", "snowflake_comment"),
    ],
)
def test_what_is_not_as_it_should_be_in_the_tables_is_found(
    solved: Episode, instance: Instance, change: str, broken: str
) -> None:
    found = invoices(instance)
    rows = [f"INVOICE_ID = '{found[kind]['number']}'" for kind in ("joined", "entered")]
    write(solved, change.format(SCHEMA, *rows))
    assert any(name.startswith(broken) for name in failures(solved))


@pytest.mark.parametrize("subject", ["Process Outstanding Invoices", "Question about order"])
def test_a_mail_too_many_is_found(solved: Episode, subject: str) -> None:
    address = json.loads(call(solved, "email", "get_emails", folder="INBOX"))["emails"][0]["from"]
    call(solved, "email", "send_email", to=address, subject=subject, body="scan-1.pdf")
    assert "email_mail_extra" in failures(solved)


OPEN, QUESTION = "Process Outstanding Invoices", "Question about"


@pytest.mark.parametrize(
    ("subject", "body", "more", "broken"),
    [
        (OPEN, "These are the .pdf files:\n\n{}", {}, set()),
        (OPEN, "{}\nscan-1.pdf", {}, {"outstanding_body"}),
        (OPEN, "{}\nand scan-1, I think", {}, {"outstanding_body"}),
        (OPEN, "{}\nAlso scan no. 17", {}, {"outstanding_body"}),
        (OPEN, "{}\nAlso scan\u200b-17", {}, {"outstanding_body"}),
        (OPEN, "{}\nAlso INV-2025-1234", {}, {"outstanding_body"}),
        (OPEN, "These 2 PDF files are open on 2025-03-03:\n\n{}\n\nBest regards", {}, set()),
        (OPEN, "{0}\n{0}", {}, {"outstanding_body"}),
        (OPEN, "- {}", {}, {"outstanding_body"}),
        (OPEN, "{}", {"html_body": "<p>scan-1.pdf</p>"}, {"outstanding_body"}),
        (OPEN, "{}", {"attachments": ["files"]}, {"outstanding_otherwise"}),
        (QUESTION, "The invoice is not over what order PO-400001 says:\n\n{}\n\nWhat is right?", {}, set()),
        (QUESTION, "{}\nInvoice 1.00, order 2.00", {}, {"questions_body"}),
        (QUESTION, "{}\nOr was it invoice 1.00, order 2.00?", {}, {"questions_body"}),
        (QUESTION, "{} EUR", {}, {"questions_body"}),
    ],
)
def test_a_mail_says_what_it_should_and_nothing_against_it(
    instance: Instance,
    unsent: tuple[Episode, list[dict[str, Any]]],
    tmp_path: Path,
    subject: str,
    body: str,
    more: dict[str, Any],
    broken: set[str],
) -> None:
    episode = unsent[0].fork(tmp_path / "fork")
    if "attachments" in more:
        more = {"attachments": [f"files/scan-{invoices(instance)['settled']['scan_number']}.pdf"]}
    otherwise = next(mail for mail in unsent[1] if mail["subject"].startswith(subject))
    for mail in unsent[1]:
        other = {"body": body.format(mail["body"]), **more} if mail is otherwise else {}
        call(episode, "email", "send_email", **mail | other)
    assert failures(episode) == broken
    episode.close()


MADE_ANEW = "CREATE OR REPLACE TABLE {0}.INVOICES AS SELECT "
COLUMNS = "INVOICE_ID, SUPPLIER_NAME, {} AS INVOICE_AMOUNT, PURCHASER_EMAIL, INVOICE_DATE FROM {{0}}.INVOICES"


@pytest.mark.parametrize(
    ("changes", "broken"),
    [
        (
            [
                "CREATE TABLE {0}.B CLONE {0}.INVOICES",
                "ALTER TABLE {0}.INVOICES SWAP WITH {0}.B",
                "DROP TABLE {0}.B",
            ],
            set(),
        ),
        (["INSERT OVERWRITE INTO {0}.INVOICES SELECT * FROM {0}.INVOICES ORDER BY INVOICE_AMOUNT"], set()),
        (["CREATE TEMPORARY TABLE {0}.B AS SELECT * FROM {0}.INVOICES"], set()),
        ([MADE_ANEW + COLUMNS.format("INVOICE_AMOUNT")], set()),
        ([MADE_ANEW + COLUMNS.format("TO_VARCHAR(INVOICE_AMOUNT)")], {"snowflake_unchanged"}),
        (["CREATE VIEW {0}.OPEN AS SELECT * FROM {0}.INVOICE_PAYMENTS"], {"snowflake_unchanged"}),
        (
            ["ALTER TABLE {0}.INVOICES RENAME TO {0}.B", "CREATE VIEW {0}.INVOICES AS SELECT * FROM {0}.B"],
            {"invoices_table", "snowflake_unchanged"},
        ),
    ],
)
def test_rows_may_come_to_the_tables_in_any_way(
    solved: Episode, changes: list[str], broken: set[str]
) -> None:
    for change in changes:
        write(solved, change.format(SCHEMA))
    assert failures(solved) == broken


def test_no_credit_note_takes_the_name_of_an_invoice() -> None:
    scans, notes = ({draw(None, Random(n)) for n in range(3_000)} for draw in (draw_scan, draw_second_scan))
    assert len(scans) > 2_900
    assert len(notes) > 2_000
    assert not scans & notes
