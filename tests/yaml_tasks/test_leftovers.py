"""What is left beside a right end, or done to it afterwards."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

from trials import call, failures, solve

from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance


def _solved(name: str, tmp_path: Path) -> Episode:
    family = load_family(name)
    growth = family.task.growth
    smallest = {growth.parameter: next(iter(growth.points.values()))}
    instance = build_instance(family, 0, tmp_path / "instance", parameters=smallest)
    episode = Episode.create(tmp_path / "episode", instance.path, family)
    solve(family, episode, claim=False)
    assert failures(episode) == set()
    return episode


def test_a_pull_request_that_was_closed_again_is_not_open(tmp_path: Path) -> None:
    episode = _solved("bug_triage", tmp_path)
    found = json.loads(call(episode, "codehost", "search_pull_requests", query="is:open Triage"))["items"]
    owner, repo = found[0]["repository_url"].split("/")[-2:]
    pull = {"owner": owner, "repo": repo, "pullNumber": found[0]["number"]}
    call(episode, "codehost", "update_pull_request", **pull, state="closed")
    assert failures(episode) == {"codehost_pull_otherwise"}


def test_a_pull_request_that_was_locked_is_another(tmp_path: Path) -> None:
    episode = _solved("bug_triage", tmp_path)
    found = json.loads(call(episode, "codehost", "search_pull_requests", query="is:open Triage"))["items"]
    with sqlite3.connect(episode.path / "world/codehost.db") as changed:
        changed.execute("UPDATE issues SET locked = 1 WHERE id = ?", [found[0]["id"]])
    assert failures(episode) == {"codehost_pull_otherwise"}


def test_a_sheet_with_a_single_cell_has_something_in_it(tmp_path: Path) -> None:
    episode = _solved("stock_take", tmp_path)
    sheet = {"filepath": "final.xlsx", "sheet_name": "Sheet1"}
    call(episode, "excel", "create_worksheet", **sheet)
    assert failures(episode) == set()
    call(episode, "excel", "write_data_to_excel", **sheet, data=[["Notes"]])
    assert failures(episode) == {"excel_sheet_extra"}


def test_a_sheet_with_a_chart_has_something_in_it(tmp_path: Path) -> None:
    episode = _solved("stock_take", tmp_path)
    sheet = {"filepath": "final.xlsx", "sheet_name": "Sheet1"}
    call(episode, "excel", "create_worksheet", **sheet)
    chart = {"data_range": "Final!A1:C3", "chart_type": "bar", "target_cell": "B2"}
    call(episode, "excel", "create_chart", **sheet, **chart)
    assert failures(episode) == {"final_rows_columns"}


def test_a_cell_of_the_final_workbook_that_is_a_formula_has_no_value(tmp_path: Path) -> None:
    episode = _solved("stock_take", tmp_path)
    assert "not formulas" in episode.prompt
    final = {"filepath": "final.xlsx", "sheet_name": "Final"}
    pieces = json.loads(call(episode, "excel", "read_data_from_excel", **final))["cells"][5]
    assert pieces["address"] == "C2"
    call(episode, "excel", "apply_formula", **final, cell="C2", formula=f"={pieces['value']}")
    assert failures(episode) == {"final_rows_cells"}


def test_a_price_that_was_changed_and_set_back_has_not_changed(tmp_path: Path) -> None:
    episode = _solved("price_notices", tmp_path)
    changed = {after["id"] for _, after in episode.world.changes().table("woocommerce", "products").changed}
    fields = ["id", "regular_price"]
    products = json.loads(call(episode, "woocommerce", "woo_products_list", perPage=100, fields=fields))
    other = next(one for one in products if one["id"] not in changed)
    _set_price(episode, other["id"], "1.00")
    assert failures(episode) == {"woocommerce_product_change_extra"}
    _set_price(episode, other["id"], f"{float(other['regular_price']):g}")
    assert failures(episode) == set()


def _set_price(episode: Episode, number: int, price: str) -> None:
    data = {"regular_price": price}
    call(episode, "woocommerce", "woo_products_update", productId=number, productData=data)


def test_an_amount_with_other_than_two_decimals_is_not_as_asked(tmp_path: Path) -> None:
    episode = _solved("refund_list", tmp_path)
    assert "with two decimals" in episode.prompt
    line = call(episode, "filesystem", "read_text_file", path="refunds.csv").splitlines()[-1]
    edits = [{"oldText": line, "newText": f"{line}0"}]
    call(episode, "filesystem", "edit_file", path="refunds.csv", edits=edits)
    assert failures(episode) == {"refunds_rows_cells"}


def test_an_amount_without_its_decimals_is_not_as_asked(tmp_path: Path) -> None:
    episode = _solved("refund_list", tmp_path)
    lines = call(episode, "filesystem", "read_text_file", path="refunds.csv").splitlines()
    number = len(lines) - 1
    order, email, pieces, amount = lines[number].split(",")
    rounded = ",".join((order, email, pieces, f"{float(amount):.0f}"))
    edits = [{"oldText": lines[number], "newText": rounded}]
    call(episode, "filesystem", "edit_file", path="refunds.csv", edits=edits)
    assert failures(episode) == {"refunds_rows_cells"}


def test_a_blank_line_between_refunds_is_no_refund(tmp_path: Path) -> None:
    episode = _solved("refund_list", tmp_path)
    text = call(episode, "filesystem", "read_text_file", path="refunds.csv")
    call(episode, "filesystem", "write_file", path="refunds.csv", content=f"{text.rstrip()}\n\n")
    assert failures(episode) == set()
    call(episode, "filesystem", "write_file", path="refunds.csv", content=text.replace("\n", "\n\n", 1))
    assert failures(episode) == {"refunds_rows_columns"}
