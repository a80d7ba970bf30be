"""Reads workbook and memos, applies the corrections that count, computes growth, and writes the table."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from mesocosm.kits.paging import sheet_rows
from mesocosm.services.calling import Tools

DATA, RESULT = "Market_Data.xlsx", "growth_rate.xlsx"
_SCALE = {"k USD": 0.001, "mn USD": 1.0, "bn USD": 1000.0}
_VALUE = r"([\d,]+(?:\.\d+)?) \((?:k|mn|bn) USD\)"


@dataclass
class Market:
    """The figures and weights, as the workbook and the memos have them."""

    names: list[str]
    units: dict[str, str]
    figures: dict[tuple[str, int], float | None]
    weights: dict[tuple[str, str], float]
    corrected: dict[tuple[str, int], float] = field(default_factory=dict)

    def millions(self, name: str, year: int) -> float:
        """A figure after all corrections; a missing one is the mean of its neighbours."""
        value = self.corrected.get((name, year), self.figures[name, year])
        if value is None:
            return (self.millions(name, year - 1) + self.millions(name, year + 1)) / 2
        return value * _SCALE[self.units[name]]


def solve(tools: Tools, prompt: str) -> None:
    """Read, correct, compute, write, and declare the task done."""
    text = " ".join(prompt.split())
    asked = re.search(r'category "([^"]+)" grew, year by year from (\d+) to (\d+)', text)
    office = re.search(r"Memos from the ([\w ]+?) correct", text)
    assert asked
    assert office
    target, first, last = asked[1], int(asked[2]), int(asked[3])
    market = _read_market(tools)
    for memo in sorted(_memos(tools), key=lambda memo: memo["date"]):
        if memo["author"] == office[1]:
            _apply(memo["text"], market)
    fed = [name for name in market.names if market.weights[name, target]]

    def total(year: int) -> float:
        return sum(market.weights[name, target] * market.millions(name, year) for name in fed)

    table: list[list[Any]] = [["Year", *(f"{name} %" for name in fed), "Growth Rate %"]]
    for year in range(first, last + 1):
        rates = [market.millions(name, year) / market.millions(name, year - 1) for name in fed]
        rates.append(total(year) / total(year - 1))
        table.append([year, *(round((rate - 1) * 100, 2) for rate in rates)])
    tools.call("excel", "create_workbook", filepath=RESULT)
    [sheet] = tools.call("excel", "get_workbook_metadata", filepath=RESULT)["sheets"]
    tools.call("excel", "write_data_to_excel", filepath=RESULT, sheet_name=sheet, data=table)
    tools.call("claim_done", "claim_done")


def _read_market(tools: Tools) -> Market:
    head, *lines = sheet_rows(tools, DATA, "RawData")
    units = {}
    for heading in head[1:]:
        found = re.fullmatch(r"(.+) \((.+)\)", heading)
        assert found, heading
        units[found[1]] = found[2]
    names = list(units)
    figures = {
        (name, int(line[0])): None if value == "n/a" else float(value)
        for line in lines
        for name, value in zip(names, line[1:], strict=True)
    }
    columns, *groups = sheet_rows(tools, DATA, "Methodology")
    weights = {
        (name, group[0]): float(value)
        for group in groups
        for name, value in zip(columns[1:], group[1:], strict=True)
    }
    return Market(names, units, figures, weights)


def _memos(tools: Tools) -> list[dict[str, str]]:
    memos = []
    for folder in _listed(tools, "memos", "[DIR]"):
        for name in _listed(tools, f"memos/{folder}", "[FILE]"):
            text = tools.call("filesystem", "read_text_file", path=f"memos/{folder}/{name}")
            found = re.search(r"^Date: (\S+)\nFrom: (.+)\n", text, re.MULTILINE)
            assert found, name
            memos.append({"date": found[1], "author": found[2].strip(), "text": text})
    return memos


def _listed(tools: Tools, folder: str, mark: str) -> list[str]:
    found, page = [], 1
    while True:
        lines = tools.call("filesystem", "list_directory", path=folder, page=page).splitlines()
        new = [line.removeprefix(mark).strip() for line in lines if line.startswith(mark)]
        found += new
        if len(lines) < 1000:
            return found
        page += 1


def _apply(text: str, market: Market) -> None:
    """Take in a memo of the office that corrects; other memos do not match."""
    for line in text.splitlines():
        if "Market_Data.xlsx" in line or "In the sheet Methodology" in line:
            _apply_line(line, market)


def _apply_line(line: str, market: Market) -> None:
    name = max((name for name in market.names if name in line), key=len, default=None)
    year = re.search(r"\b((?:19|20)\d\d)\b", line)
    if name is None:
        return
    if weight := re.search(r"the weight of .+ for (.+) is now ([\d.]+)\.$", line):
        market.weights[name, weight[1]] = float(weight[2])
    elif year and "is withdrawn" in line:
        market.corrected.pop((name, int(year[1])), None)
    elif year and (value := re.search(_VALUE, line)):
        market.corrected[name, int(year[1])] = float(value[1].replace(",", ""))
