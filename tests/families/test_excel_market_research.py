"""Growth of a market in a company's own categories."""

from __future__ import annotations

import random
import tracemalloc
from time import process_time
from typing import Any

import pytest
from openpyxl import Workbook, load_workbook
from trials import call, failures, sizes

from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.families.instances import Instance
from mesocosm.generators.excel_market_research.expected import DATA, RESULT, Expected
from mesocosm.generators.excel_market_research.params import Params
from mesocosm.generators.excel_market_research.planning import UNITS, plan_market

FAMILY = load_family("excel_market_research")


def table_of(instance: Instance) -> list[list[Any]]:
    expected = instance.expected
    assert isinstance(expected, Expected)
    rows = zip(expected.years, expected.rows, strict=True)
    return [list(expected.header), *([year, *(round(rate, 2) for rate in rates)] for year, rates in rows)]


def write(episode: Episode, table: list[list[Any]]) -> None:
    call = episode.world.call
    assert call("excel", "create_workbook", {"filepath": RESULT}).status == "ok"
    arguments = {"filepath": RESULT, "sheet_name": "Sheet1", "data": table}
    assert call("excel", "write_data_to_excel", arguments).status == "ok"


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("size", sizes(FAMILY))
def test_every_edge_case_occurs_at_every_length_and_bears_on_the_target(size: str, seed: int) -> None:
    plan = plan_market(Params(num_raw_categories=sizes(FAMILY)[size]), random.Random(seed))
    kinds = {notice.kind for notice in plan.notices}
    assert kinds == {"correction", "withdrawal", "weight", "draft_weight", "proposal", "other_file"}
    assert None in plan.figures.values()
    corrected = [(notice.raw, notice.year) for notice in plan.notices if notice.kind == "correction"]
    assert plan.asked[0] - 1 in {year for _, year in corrected}, "the base of the first growth"
    assert len(set(corrected)) < len(corrected), "no figure is corrected twice"
    fed = {index for index, row in enumerate(plan.weights) if row[plan.target]}
    assert {plan.units[index] for index in fed} == set(UNITS)
    bearing = [notice for notice in plan.notices if plan.bears(notice)]
    assert {notice.kind for notice in bearing} == {"correction", "withdrawal", "weight"}


def test_work_grows_with_the_length() -> None:
    def bearing(size: int) -> int:
        plan = plan_market(Params(num_raw_categories=size), random.Random(0))
        return sum(plan.bears(notice) for notice in plan.notices)

    assert bearing(32) > 2.5 * bearing(16) > 2.5 * bearing(7)


def test_most_memos_of_the_office_on_the_workbook_do_not_matter() -> None:
    """Somebody who looks for the office and the file has found nothing yet."""
    plan = plan_market(Params(num_raw_categories=16), random.Random(0))
    counting = [notice for notice in plan.notices if notice.counts]
    assert sum(plan.bears(notice) for notice in counting) < 0.6 * len(counting)


@pytest.mark.parametrize("seed", range(8))
def test_weights_still_sum_to_one_after_the_memos(seed: int) -> None:
    plan = plan_market(Params(num_raw_categories=9), random.Random(seed))
    _, weights = plan.corrected()
    assert [sum(row) for row in weights] == pytest.approx([1.0] * len(weights))


def test_the_right_table_passes(episode: Episode, instance: Instance) -> None:
    write(episode, table_of(instance))
    assert episode.grade().verdict == "passed"


def test_binary_dust_is_nothing(episode: Episode, instance: Instance) -> None:
    head, *rows = table_of(instance)
    write(episode, [head, *([row[0], *(cell + 4e-15 for cell in row[1:])] for row in rows)])
    assert failures(episode) == set()


def test_a_sign_behind_a_number_is_no_percentage(episode: Episode, instance: Instance) -> None:
    write(episode, table_of(instance))
    cells = {"filepath": RESULT, "sheet_name": "Sheet1", "start_cell": "B2", "end_cell": "C4"}
    for number_format, found in (
        ('0.00" %"', set()),
        ("0.00\\%", set()),
        ('0.00%" of it"', {"category_growth", "numbers"}),
    ):
        call(episode, "excel", "format_range", **cells, number_format=number_format)
        assert failures(episode) == found


def test_a_blank_row_between_years_is_found(episode: Episode, instance: Instance) -> None:
    table = table_of(instance)
    write(episode, [*table[:3], [None] * len(table[0]), *table[3:]])
    assert failures(episode) == {"years"}


def test_numbers_written_as_text_are_no_numbers(episode: Episode, instance: Instance) -> None:
    head, *rows = table_of(instance)
    write(episode, [head, *([str(cell) for cell in row] for row in rows)])
    assert failures(episode) == {"numbers", "years", "category_growth", "growth_rate"}


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        (lambda table: table[1].__setitem__(-1, table[1][-1] + 0.05), {"growth_rate"}),
        (lambda table: table[2].__setitem__(1, "n/a"), {"category_growth", "numbers"}),
        (lambda table: table[2].__setitem__(1, "nan"), {"category_growth", "numbers"}),
        (lambda table: table[2].append("checked"), {"numbers", "other_cells"}),
        (lambda table: table[2].__setitem__(1, table[2][1] + 0.01), {"category_growth"}),
        (lambda table: table[2].__setitem__(1, table[2][1] + 0.001), {"category_growth"}),
        (lambda table: table[0].__setitem__(-1, "Growth"), {"header", "growth_rate"}),
        (lambda table: table.pop(), {"years", "category_growth", "growth_rate"}),
        (lambda table: table.append(table[-1]), {"years"}),
    ],
)
def test_a_wrong_table_breaks_what_is_wrong_with_it(
    episode: Episode, instance: Instance, change: Any, broken: set[str]
) -> None:
    table = table_of(instance)
    change(table)
    write(episode, table)
    assert failures(episode) == broken


def test_a_scratch_file_does_no_harm_and_a_changed_one_does(episode: Episode, instance: Instance) -> None:
    write(episode, table_of(instance))
    episode.world.call("filesystem", "write_file", {"path": "notes.txt", "content": "done"})
    assert failures(episode) == set()
    # What is there already, written over itself: the workbook is saved anew.
    first = load_workbook(episode.world.path / "workspace" / DATA)["RawData"]["A1"].value
    call(episode, "excel", "write_data_to_excel", filepath=DATA, sheet_name="RawData", data=[[first]])
    assert failures(episode) == set()
    call(episode, "filesystem", "move_file", source=DATA, destination="elsewhere.xlsx")
    assert failures(episode) == {"other_files"}


def test_a_broken_workbook_is_a_failed_check_and_no_error(episode: Episode) -> None:
    episode.world.call("filesystem", "write_file", {"path": RESULT, "content": "no workbook"})
    assert episode.grade().verdict == "failed"
    assert "workbook" in failures(episode)


def test_a_cell_far_away_is_found_before_the_table_is_read(episode: Episode, instance: Instance) -> None:
    place = episode.world.path / "workspace" / RESULT

    def judged(*cells: str) -> tuple[dict[str, str], float, int]:
        """What is wrong with a workbook with numbers there, too; seconds, and bytes of memory."""
        book = Workbook()
        for row in table_of(instance):
            book.active.append(row)
        for cell in cells:
            book.active[cell] = 1
        book.save(place)
        began = process_time()
        wrong = {check.name: check.detail for check in episode.findings() if not check.passed}
        seconds = process_time() - began
        tracemalloc.start()  # with which everything takes many times as long
        episode.findings()
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return wrong, seconds, most

    judged()
    wrong, usual, memory = judged()
    assert wrong == {}
    for cells, name, detail in (
        (["XFD1048576"], "workbook", "has cells far beyond any table"),
        (["XFD1"], "workbook", "has cells far beyond any table"),
        (["GR2", "GR1048576"], "years", ""),
    ):
        wrong, seconds, most = judged(*cells)
        assert detail in wrong[name]
        assert (seconds < usual + 4, most < memory + 10_000_000) == (True, True)
        verdict = episode.grade()
        assert (verdict.verdict, verdict.faults) == ("failed", [])
