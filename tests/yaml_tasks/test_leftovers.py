"""What is left beside a right end, or done to it afterwards."""

from __future__ import annotations

import json
from pathlib import Path

from trials import call, failures, solve

from mesocosm.families.building import build_instance
from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family


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
    assert failures(episode) == {"excel_sheet_extra"}
