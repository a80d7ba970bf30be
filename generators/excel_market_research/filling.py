"""Filling the workspace: the workbook, the format, and the memos."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator
from dataclasses import dataclass

from openpyxl import Workbook

from mesocosm.families.family import Evidence
from mesocosm.families.family import Expected as AnyExpected
from mesocosm.generators.excel_market_research.expected import (
    DATA,
    DRAFT_SHEET,
    FORMAT,
    FORMAT_SHEET,
    MEMOS,
    METHODOLOGY_SHEET,
    RAW_SHEET,
    Expected,
)
from mesocosm.generators.excel_market_research.params import Params
from mesocosm.generators.excel_market_research.planning import (
    MEMO_DAYS,
    Notice,
    Plan,
    decimals,
    memo_day,
    plan_market,
)
from mesocosm.generators.excel_market_research.wording import NOTES, Wording
from mesocosm.kits.paging import sheet_cells
from mesocosm.kits.prose import Prose, RecentRuns, Topic
from mesocosm.servers.excel.store import save_workbook
from mesocosm.services.calling import Tools
from mesocosm.services.world import World
from mesocosm.worlds import tokens

OFFICE = "Data Office"
MISSING = "n/a"
"""Stands in the sheet where there is no figure."""
_TOPICS: tuple[Topic, ...] = (NOTES, NOTES, NOTES, NOTES, "market_report", "purchasing", "finance")
_OFFICE_TOPICS: tuple[Topic, ...] = (NOTES,)
_SIZES = (20, 190)
"""Tokens of the text of a memo, beside the one sentence that says something."""
_FACT = 30
"""Tokens of that sentence."""
_FILE_AROUND = 50
"""Tokens of a memo's heading and of its line in the listing, measured on whole worlds."""


@dataclass
class Memo:
    """A file in the folder of memos."""

    day: dt.date
    author: str
    title: str
    text: str
    fact: str = ""
    """The sentence that bears on the result, if it has one."""

    @property
    def moment(self) -> dt.datetime:
        """Time at which the file was written, in working hours."""
        minutes = 37 * len(self.text) % (8 * 60)
        return dt.datetime.combine(self.day, dt.time(9), dt.UTC) + dt.timedelta(minutes=minutes)

    def content(self, number: int) -> str:
        """The text of the file with a number."""
        head = f"Date: {self.day:%Y-%m-%d}\nFrom: {self.author}\nNo.: {number}"
        return f"# {self.title}\n\n{head}\n\n{self.text}\n"


def generate(world: World, params: Params) -> Expected:
    """Build the analyst's world."""
    rng = world.rng
    plan = plan_market(params, rng)
    world.set_now(dt.datetime.combine(plan.today, dt.time(9, 0), dt.UTC))
    said = RecentRuns()
    prose = Prose(rng, said)
    wording = Wording(rng, OFFICE)
    told = [_memo(notice, plan, prose, wording, rng) for notice in plan.notices]
    memos = told + _others(plan, params, wording, said, world.stream("memos"))
    numbered = enumerate(_named(memos), start=1)
    books = ((DATA, _data(plan)), (FORMAT, _format(plan)))
    world.workspace.fill_dated(
        [
            *((name, save_workbook(book, world.now), world.now) for name, book in books),
            *((name, memo.content(number).encode(), memo.moment) for number, (name, memo) in numbered),
        ]
    )
    return _expected(plan, told)


def survey(tools: Tools, expected: AnyExpected) -> None:
    """Read both workbooks and every memo."""
    tools.call("filesystem", "list_directory", path=".")
    sheets = [(DATA, METHODOLOGY_SHEET), (DATA, DRAFT_SHEET), (DATA, RAW_SHEET), (FORMAT, FORMAT_SHEET)]
    for book, sheet in sheets:
        for _ in sheet_cells(tools, book, sheet):
            pass
    for folder in _listed(tools, MEMOS, "[DIR]"):
        for name in _listed(tools, f"{MEMOS}/{folder}", "[FILE]"):
            tools.call("filesystem", "read_text_file", path=f"{MEMOS}/{folder}/{name}")


def _listed(tools: Tools, folder: str, mark: str) -> list[str]:
    lines = tools.call("filesystem", "list_directory", path=folder).splitlines()
    return [line.removeprefix(mark).strip() for line in lines if line.startswith(mark)]


# -- the workbooks --------------------------------------------------------------------------------------


def _data(plan: Plan) -> Workbook:
    workbook = Workbook()
    raw = workbook.worksheets[0]
    raw.title = RAW_SHEET
    raw.append(["Year", *(_heading(plan, index) for index in range(len(plan.raw)))])
    for year in plan.years:
        figures = [plan.figures[index, year] for index in range(len(plan.raw))]
        raw.append([year, *(MISSING if figure is None else figure for figure in figures)])
    for title, weights in ((METHODOLOGY_SHEET, plan.weights), (DRAFT_SHEET, plan.draft_weights)):
        sheet = workbook.create_sheet(title)
        sheet.append(["Category", *plan.raw])
        # The draft has its rows in another order: what stands in them is not known by the number of a row.
        turned = int(title == DRAFT_SHEET)
        for index in (*range(turned, len(plan.groups)), *range(turned)):
            sheet.append([plan.groups[index], *(row[index] for row in weights)])
    return workbook


def _heading(plan: Plan, raw: int) -> str:
    return f"{plan.raw[raw]} ({plan.units[raw]})"


def _format(plan: Plan) -> Workbook:
    workbook = Workbook()
    sheet = workbook.worksheets[0]
    sheet.title = FORMAT_SHEET
    sheet.append(["Year", "<market category> %", "<market category> %", "Growth Rate %"])
    sheet.append([plan.asked[0], 1.23, -4.56, 7.89])
    return workbook


# -- memos ----------------------------------------------------------------------------------------------


def _memo(notice: Notice, plan: Plan, prose: Prose, wording: Wording, rng: random.Random) -> Memo:
    name, unit = plan.raw[notice.raw], plan.units[notice.raw]
    if notice.kind in ("weight", "draft_weight"):
        values = {"name": name, "group": plan.groups[notice.group], "value": f"{notice.value:.3f}"}
        fact = wording.weight(values, draft=notice.kind == "draft_weight")
    else:
        values = {
            "name": name,
            "year": str(notice.year),
            "unit": unit,
            "value": f"{notice.value:,.{decimals(unit)}f}",
        }
        fact = wording.figure(notice.kind, values, earlier=spoken(notice.earlier) if notice.earlier else None)
    # A wish comes from somebody who cannot decide it.
    author = prose.person().name if notice.kind == "proposal" else OFFICE
    topic = rng.choice(_OFFICE_TOPICS if author == OFFICE else _TOPICS)
    title, text = wording.memo(prose, rng.randint(*_SIZES), topic, fact, name=name)
    return Memo(notice.day, author, title, text, fact if plan.bears(notice) else "")


def spoken(day: dt.date) -> str:
    """A day as memos write it."""
    return f"{day.day} {day:%B %Y}"


def _others(plan: Plan, params: Params, wording: Wording, said: RecentRuns, rng: random.Random) -> list[Memo]:
    """Memos about anything else, until the filler is used up."""
    prose = Prose(rng, said)
    memos: list[Memo] = []
    left = params.filler_tokens
    while left >= _FILE_AROUND + 30:
        size = min(rng.randint(*_SIZES) + _FACT, left - _FILE_AROUND)
        author = OFFICE if rng.random() < 0.5 else prose.person().name
        topic = rng.choice(_OFFICE_TOPICS if author == OFFICE else _TOPICS)
        name = rng.choice(plan.raw)
        title, text = wording.memo(prose, size, topic, name=name)
        day = memo_day(plan.today, rng.randrange(1, MEMO_DAYS))
        memos.append(Memo(day, author, title, text))
        left -= _FILE_AROUND + tokens.count(text)
    return memos


def _named(memos: list[Memo]) -> list[tuple[str, Memo]]:
    """File names that tell the date and a number, the same for every kind of memo."""
    ordered = sorted(memos, key=lambda memo: (memo.day, memo.title))
    return [
        (f"{MEMOS}/{memo.day:%Y-%m}/{memo.day:%d}-{number:05}.md", memo)
        for number, memo in enumerate(ordered, start=1)
    ]


def _expected(plan: Plan, memos: list[Memo]) -> Expected:
    return Expected(
        public={
            "target": plan.groups[plan.target],
            "first": str(plan.asked[0]),
            "last": str(plan.asked[-1]),
            "today": f"{plan.today:%B} {plan.today.day}, {plan.today.year}",
            "office": OFFICE,
        },
        evidence=list(_evidence(plan, memos)),
        header=["Year", *(f"{plan.raw[index]} %" for index in plan.fed()), "Growth Rate %"],
        years=plan.asked,
        rows=plan.growth(),
    )


def _evidence(plan: Plan, memos: list[Memo]) -> Iterator[Evidence]:
    needed = range(plan.asked[0] - 1, plan.asked[-1] + 1)
    # A figure says nothing without the year before its row, and the unit above its column.
    for year in needed:
        yield Evidence(service="excel", contains=f'"value":{year},"row":{year - plan.years[0] + 2},')
    for raw in plan.fed():
        yield Evidence(service="excel", contains=f'"value":"{_heading(plan, raw)}",')
        for year in needed:
            figure = plan.figures[raw, year]
            if figure is not None:
                yield Evidence(service="excel", contains=f'"value":{str(figure).removesuffix(".0")},')
            else:
                cell = f'"row":{year - plan.years[0] + 2},"column":{raw + 2}'
                yield Evidence(service="excel", contains=f'"value":"{MISSING}",{cell}')
    # In the methodology: the draft has the same name in another row.
    yield Evidence(service="excel", contains=f'"value":"{plan.groups[plan.target]}","row":{plan.target + 2},')
    for memo in memos:
        if memo.fact:
            yield Evidence(service="filesystem", contains=memo.fact)
