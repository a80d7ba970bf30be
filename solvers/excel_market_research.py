"""Reads workbook and memos, applies the corrections that count, computes growth, and writes the table."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, field
from typing import Any

from mesocosm.kits.paging import sheet_rows
from mesocosm.services.calling import Tools

DATA, RESULT = "Market_Data.xlsx", "growth_rate.xlsx"
_SCALE = {"k USD": 0.001, "mn USD": 1.0, "bn USD": 1000.0}
_VALUE = re.compile(r"([\d,]+(?:\.\d+)?) \((?:k|mn|bn) USD\)")
_WEIGHT = re.compile(r"\b[01]\.\d{3}\b")
_YEAR = re.compile(r"(?<![\d,.])((?:19|20)\d\d)(?![\d,.]*\d)")
_DAY = re.compile(r"\b(\d{1,2} [A-Z][a-z]+ \d{4})\b")
_SENTENCES = re.compile(r"(?<=[.?!]) +(?=[A-Z0-9\"])")


@dataclass
class Market:
    """The figures and weights, as the workbook and the memos have them."""

    names: list[str]
    units: dict[str, str]
    figures: dict[tuple[str, int], float | None]
    weights: dict[tuple[str, str], float]
    corrected: dict[tuple[str, int], tuple[dt.date, float]] = field(default_factory=dict)
    """Corrected figures, with the day of the memo."""

    def millions(self, name: str, year: int) -> float:
        """A figure after all corrections; a missing one is the mean of its neighbours."""
        _, value = self.corrected.get((name, year), (None, self.figures[name, year]))
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
            _apply(memo, market)
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


def _apply(memo: dict[str, str], market: Market) -> None:
    """Take in what a memo of the office says about the workbook; everything else it says is passed over."""
    for paragraph in memo["text"].splitlines():
        for sentence in _SENTENCES.split(paragraph):
            _apply_sentence(sentence, dt.date.fromisoformat(memo["date"]), market)


def _apply_sentence(sentence: str, day: dt.date, market: Market) -> None:
    about = [name for name in market.names if name in sentence]
    if not about or "(draft)" in sentence:
        return
    name = max(about, key=len)
    rest = sentence.replace(name, "")
    if "sheet Methodology" in sentence or "in Methodology" in sentence.replace("In ", "in "):
        [group] = {group for _, group in market.weights if re.search(rf"\b{group}\b", rest)}
        weight = _WEIGHT.search(rest)
        assert weight, sentence
        market.weights[name, group] = float(weight[0])
    elif not re.search(rf"\b{re.escape(DATA)}", sentence):
        return
    elif value := _VALUE.search(rest):
        year = _YEAR.search(rest.replace(value[0], ""))
        assert year, sentence
        market.corrected[name, int(year[1])] = day, float(value[1].replace(",", ""))
    elif named := _DAY.search(rest):
        withdrawn = dt.datetime.strptime(named[1], "%d %B %Y").replace(tzinfo=dt.UTC).date()
        year = _YEAR.search(rest.replace(named[0], ""))
        assert year, sentence
        made = market.corrected.get((name, int(year[1])))
        if made and made[0] == withdrawn:
            del market.corrected[name, int(year[1])]
    elif year := _YEAR.search(rest):
        market.corrected.pop((name, int(year[1])), None)
