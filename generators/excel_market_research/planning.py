"""The market: figures, weights, corrections, and the growth that follows from them."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from mesocosm.generators.excel_market_research.params import Params
from mesocosm.kits.apportioning import share_of

UNITS = {"k USD": 0.001, "mn USD": 1.0, "bn USD": 1000.0}
"""Unit to millions of dollars."""
_NOUNS = (
    "Refrigerators", "Freezers", "Dishwashers", "Cooktops", "Ovens", "Kettles", "Toasters", "Blenders",
    "Mixers", "Vacuum Cleaners", "Air Purifiers", "Heaters", "Fans", "Irons", "Washing Machines",
    "Dryers", "Hair Dryers", "Shavers", "Toothbrushes", "Scales", "Televisions", "Soundbars",
    "Headphones", "Speakers", "Projectors", "Monitors", "Keyboards", "Printers", "Scanners", "Routers",
    "Tablets", "Notebooks", "Cameras", "Lenses", "Drones", "Watches", "Trackers", "Thermostats",
    "Doorbells", "Lamps",
)  # fmt: skip
_KINDS = ("Compact", "Built-in", "Portable")
_GROUPS = (
    "Kitchen", "Laundry", "Floor Care", "Climate", "Personal Care", "Entertainment", "Office", "Imaging",
    "Wearables", "Smart Home", "Cooling", "Cooking", "Small Appliances", "Audio", "Networking", "Lighting",
    "Health", "Mobility", "Garden", "Gaming", "Travel", "Baby", "Pets", "Tools", "Bath", "Water", "Power",
    "Safety", "Learning", "Outdoor", "Studio", "Cleaning", "Display", "Storage", "Print", "Voice", "Motion",
    "Comfort", "Beauty", "Energy",
)  # fmt: skip

Key = tuple[int, int]
"""(index of the raw category, year)."""


@dataclass(frozen=True)
class Notice:
    """What a memo says about one figure or weight."""

    kind: str
    """``correction``, ``withdrawal``, ``proposal``, ``other_file`` or ``weight``."""
    day: dt.date
    raw: int
    year: int = 0
    value: float = 0.0
    group: int = 0


@dataclass
class Plan:
    """Everything that the files are written from."""

    raw: list[str]
    units: list[str]
    groups: list[str]
    weights: list[list[float]]
    """By raw category, then by the company's: as the workbook shows them."""
    draft_weights: list[list[float]]
    years: list[int]
    figures: dict[Key, float | None]
    """In the unit of the column, as the workbook shows them."""
    target: int
    asked: list[int]
    """The years whose growth is asked for."""
    today: dt.date
    notices: list[Notice] = field(default_factory=list)

    def corrected(self) -> tuple[dict[Key, float | None], list[list[float]]]:
        """Figures and weights after all memos that count, in the order of their dates."""
        figures, weights = dict(self.figures), [list(row) for row in self.weights]
        for notice in sorted(self.notices, key=lambda notice: notice.day):
            key = (notice.raw, notice.year)
            if notice.kind == "correction":
                figures[key] = notice.value
            elif notice.kind == "withdrawal":
                figures[key] = self.figures[key]
            elif notice.kind == "weight":
                weights[notice.raw][notice.group] = notice.value
        return figures, weights

    def fed(self) -> list[int]:
        """The raw categories that have a part in the target."""
        _, weights = self.corrected()
        return [index for index in range(len(self.raw)) if weights[index][self.target]]

    def growth(self) -> list[list[float]]:
        """Percent per asked year: each raw category that has a part in the target, then the target."""
        figures, weights = self.corrected()
        fed = self.fed()

        def millions(raw: int, year: int) -> float:
            value = figures[raw, year]
            if value is None:
                before, after = figures[raw, year - 1], figures[raw, year + 1]
                assert before is not None
                assert after is not None
                value = (before + after) / 2
            return value * UNITS[self.units[raw]]

        def total(year: int) -> float:
            return sum(weights[raw][self.target] * millions(raw, year) for raw in fed)

        return [
            [
                *((millions(raw, year) / millions(raw, year - 1) - 1) * 100 for raw in fed),
                (total(year) / total(year - 1) - 1) * 100,
            ]
            for year in self.asked
        ]


def plan_market(params: Params, rng: random.Random) -> Plan:
    """Draw the market."""
    names = [f"{kind} {noun}" for noun in _NOUNS for kind in _KINDS]
    raw = rng.sample(names, params.num_raw_categories)
    groups = rng.sample(_GROUPS, params.internal_categories)
    years = list(range(params.start_year, params.start_year + params.num_years))
    units = [rng.choice(("mn USD", "mn USD", "bn USD", "k USD")) for _ in raw]
    # Each unit is met among any four neighbours, so ignoring units is never right by chance.
    units[:3] = rng.sample(list(UNITS), 3)
    figures: dict[Key, float | None] = {}
    for index, unit in enumerate(units):
        level = rng.uniform(300, 9000)
        for year in years:
            level *= 1 + rng.gauss(0.04, 0.09)
            figures[index, year] = round(level / UNITS[unit], 3 if unit == "bn USD" else 2)
    target = rng.randrange(len(groups))
    weights = _weights(rng, len(raw), len(groups), target)
    draft = _weights(rng, len(raw), len(groups), target)
    asked = years[2:-1]
    today = dt.date(params.start_year + params.num_years, rng.randint(2, 11), rng.randint(1, 28))
    plan = Plan(raw, units, groups, weights, draft, years, figures, target, asked, today)
    _disturb(plan, params, rng)
    return plan


def _weights(rng: random.Random, raw: int, groups: int, target: int) -> list[list[float]]:
    """Shares of each raw category, summing to 1; the first three all have a part in the target."""
    table = []
    for index in range(raw):
        row = [0.0] * groups
        takers = rng.sample(range(groups), min(groups, rng.randint(1, 3)))
        if index < 3 and target not in takers:
            takers[0] = target
        cuts = sorted(rng.sample(range(5, 100, 5), len(takers) - 1))
        for taker, low, high in zip(takers, [0, *cuts], [*cuts, 100], strict=True):
            row[taker] = (high - low) / 100
        table.append(row)
    return table


def _disturb(plan: Plan, params: Params, rng: random.Random) -> None:
    """Corrections and the rest, each about a figure of its own that bears on the target."""
    fed = [index for index in range(len(plan.raw)) if plan.weights[index][plan.target]]
    inner = [(raw, year) for raw in fed for year in plan.years[2:-2]]
    rng.shuffle(inner)
    for _ in range(share_of(params.missing_rate, len(inner))):
        raw, year = inner.pop()
        plan.figures[raw, year] = None
        # What is missing is filled from its neighbours, which therefore keep their figures.
        inner = [key for key in inner if _apart(key, raw, year)]
    edges = _edges(plan, fed, rng)
    number = len(inner)
    day = plan.today - dt.timedelta(days=300)

    def taken(rate: float, least: int = 1) -> Iterator[Key]:
        """Figures for a share of those that were left, none twice."""
        for _ in range(max(least, share_of(rate, number)) if rate else 0):
            if inner:
                yield inner.pop()

    def later(after: dt.date) -> dt.date:
        return after + dt.timedelta(days=rng.randint(3, 120))

    def changed(key: Key) -> float:
        value = plan.figures[key]
        assert value is not None
        return round(value * rng.choice((0.88, 0.93, 1.07, 1.12)), decimals(plan.units[key[0]]))

    for index in range(share_of(params.correction_rate, number)):
        raw, year = key = (edges or inner).pop()
        plan.notices.append(Notice("correction", later(day), raw, year, changed(key)))
        if index % 3 == 0:
            last = plan.notices[-1].day
            plan.notices.append(Notice("correction", later(last), raw, year, changed(key)))
    for raw, year in taken(params.withdrawn_rate):
        plan.notices.append(Notice("correction", later(day), raw, year, changed((raw, year))))
        plan.notices.append(Notice("withdrawal", later(plan.notices[-1].day), raw, year))
    kinds = rng.sample(("proposal", "other_file"), 2)
    for index, (raw, year) in enumerate(taken(params.proposal_rate, len(kinds))):
        plan.notices.append(Notice(kinds[index % 2], later(day), raw, year, changed((raw, year))))
    _change_weight(plan, rng, later(day))


def decimals(unit: str) -> int:
    """How many decimals a memo gives of a figure in this unit."""
    return 3 if unit == "bn USD" else 2


def _edges(plan: Plan, fed: list[int], rng: random.Random) -> list[Key]:
    """A figure of the last year, and of the base of the first growth asked for: each decides one growth."""
    missing = [key for key, figure in plan.figures.items() if figure is None]
    found = []
    for year in (plan.years[-2], plan.years[1]):
        free = [raw for raw in fed if all(_apart((raw, year), *key) for key in missing)]
        if free:
            found.append((rng.choice(free), year))
    return found


def _apart(key: Key, raw: int, year: int) -> bool:
    """Whether a figure is not next to one that is missing."""
    return key[0] != raw or abs(key[1] - year) > 1


def _change_weight(plan: Plan, rng: random.Random, day: dt.date) -> None:
    """Move a part of one raw category from the target to another group."""
    raw = rng.choice([index for index in range(3) if plan.weights[index][plan.target]])
    had = plan.weights[raw][plan.target]
    other = rng.choice([group for group in range(len(plan.groups)) if group != plan.target])
    moved = round(had / 2, 3)
    plan.notices.append(Notice("weight", day, raw, value=round(had - moved, 3), group=plan.target))
    plan.notices.append(
        Notice("weight", day, raw, value=round(plan.weights[raw][other] + moved, 3), group=other)
    )
