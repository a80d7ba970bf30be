"""The market: figures, weights, corrections, and the growth that follows from them."""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from mesocosm.generators.excel_market_research.params import Params
from mesocosm.kits.apportionment import share_of

UNITS = {"k USD": 0.001, "mn USD": 1.0, "bn USD": 1000.0}
"""Unit to millions of dollars."""
_NOUNS = (
    "Refrigerators", "Freezers", "Dishwashers", "Cooktops", "Ovens", "Kettles", "Toasters", "Blenders",
    "Mixers", "Vacuum Cleaners", "Cookers", "Heaters", "Fans", "Irons", "Washing Machines", "Dryers",
    "Hair Dryers", "Shavers", "Sewing Machines", "Scales", "Televisions", "Radios", "Headphones", "Speakers",
    "Projectors", "Typewriters", "Calculators", "Printers", "Copiers", "Telephones", "Clocks", "Watches",
    "Cameras", "Lenses", "Binoculars", "Drills", "Lawn Mowers", "Bicycles", "Lamps", "Pumps",
)  # fmt: skip
_KINDS = (
    "Compact", "Premium", "Budget", "Standard", "Professional", "Imported", "Domestic", "Refurbished",
    "Mid-range", "Designer",
)  # fmt: skip
"""Each goes with every noun."""
_GROUPS = (
    "Households", "Hotels", "Restaurants", "Offices", "Schools", "Hospitals", "Retail Chains", "Mail Order",
    "Export", "Landlords", "Public Sector", "Corner Shops", "Department Stores", "Builders", "Care Homes",
    "Universities", "Shipping", "Airlines", "Caterers", "Laundries", "Workshops", "Farms", "Clubs", "Museums",
    "Theatres", "Libraries", "Banks", "Clinics", "Cafes", "Camps", "Railways", "Ports", "Studios", "Gyms",
    "Salons", "Churches", "Embassies", "Fairs", "Factories", "Festivals",
)  # fmt: skip
"""The company's categories: who buys."""

_LAST_YEARS = range(2009, 2024)

Key = tuple[int, int]
"""(index of the raw category, year)."""


@dataclass(frozen=True)
class Notice:
    """Statement of a memo about one figure or weight."""

    kind: str
    """``correction``, ``withdrawal``, ``proposal``, ``other_file``, ``weight`` or ``draft_weight``."""
    day: dt.date
    raw: int
    year: int = 0
    value: float = 0.0
    group: int = 0
    earlier: dt.date | None = None
    """The day of the correction that is withdrawn, if no other memo of that day is about the category."""

    @property
    def counts(self) -> bool:
        """True if it is of a kind that changes the workbook's content."""
        return self.kind in ("correction", "withdrawal", "weight")


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

    def bears(self, notice: Notice) -> bool:
        """True if the result cannot be right without this memo."""
        if not notice.counts or not self.weights[notice.raw][self.target]:
            return False
        if notice.kind == "weight":
            return notice.group == self.target
        return self.asked[0] - 1 <= notice.year <= self.asked[-1]

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
    names = [f"{kind} {noun}" for noun in _NOUNS for kind in _KINDS]
    raw = rng.sample(names, params.num_raw_categories)
    groups = rng.sample(_GROUPS, params.internal_categories)
    # However many years there are, they are over by now.
    first = params.start_year or max(1900, rng.choice(_LAST_YEARS) + 1 - params.years)
    years = list(range(first, first + params.years))
    # As many of each unit: else the rarer ones would have a part in the target more often than the others.
    units = [list(UNITS)[index % len(UNITS)] for index in range(len(raw))]
    rng.shuffle(units)
    # Three that have a part in the target are in different units, so ignoring units is never right by chance.
    anchors = [rng.choice([index for index, one in enumerate(units) if one == unit]) for unit in UNITS]
    figures: dict[Key, float | None] = {}
    for index, unit in enumerate(units):
        level = rng.uniform(300, 9000)
        for year in years:
            level *= 1 + rng.gauss(0.04, 0.09)
            figures[index, year] = round(level / UNITS[unit], 3 if unit == "bn USD" else 2)
    target = rng.randrange(len(groups))
    weights = _weights(rng, len(raw), len(groups), target, anchors)
    draft = _weights(rng, len(raw), len(groups), target, anchors)
    # All of them: which rows matter would be known from their place.
    asked = years[1:]
    today = dt.date(years[-1] + 1, rng.randint(3, 11), rng.randint(1, 28))
    plan = Plan(raw, units, groups, weights, draft, years, figures, target, asked, today)
    _disturb(plan, params, rng)
    return plan


def _weights(
    rng: random.Random, raw: int, groups: int, target: int, anchors: Sequence[int]
) -> list[list[float]]:
    """Shares of each raw category, summing to 1; half of them, and all anchors, have a part in the target."""
    rest = [index for index in range(raw) if index not in anchors]
    fed = {*anchors, *rng.sample(rest, max(0, raw // 2 - len(set(anchors))))}
    others = [group for group in range(groups) if group != target]
    table = []
    for index in range(raw):
        row = [0.0] * groups
        number = rng.randint(1, 3)
        takers = rng.sample(others, min(len(others), number - (index in fed))) + [target] * (index in fed)
        rng.shuffle(takers)
        cuts = sorted(rng.sample(range(5, 100, 5), len(takers) - 1))
        for taker, low, high in zip(takers, [0, *cuts], [*cuts, 100], strict=True):
            row[taker] = (high - low) / 100
        table.append(row)
    return table


def _disturb(plan: Plan, params: Params, rng: random.Random) -> None:
    """Corrections and the rest: at the same rates for what bears on the target and for what does not."""
    fed = [index for index in range(len(plan.raw)) if plan.weights[index][plan.target]]
    rest = [index for index in range(len(plan.raw)) if not plan.weights[index][plan.target]]
    for index, raws in enumerate((fed, rest)):
        if raws:
            _Disturbance(plan, params, rng).figures(raws, edges=index == 0)
    _change_weights(plan, params, rng)
    plan.notices[:] = _referring(plan.notices)


@dataclass
class _Disturbance:
    """Makes memos about the figures of some of the market's categories, each figure in one story."""

    plan: Plan
    params: Params
    rng: random.Random

    def figures(self, raws: list[int], *, edges: bool) -> None:
        """``edges``: the first stories are about the years at the ends of what is asked."""
        plan, params, rng = self.plan, self.params, self.rng
        inner = [(raw, year) for raw in raws for year in plan.years[1:-1]]
        rng.shuffle(inner)
        missing: list[Key] = []
        for _ in range(share_of(params.missing_rate, len(inner))):
            raw, year = inner.pop()
            plan.figures[raw, year] = None
            missing.append((raw, year))
            # What is missing is filled from its neighbours, which therefore keep their figures.
            inner = [key for key in inner if _apart(key, raw, year)]
        ends = _ends(plan, raws, rng) if edges else []
        outer = [(raw, year) for raw in raws for year in (plan.years[0], plan.years[-1])]
        inner += [key for key in outer if key not in ends and all(_apart(key, *other) for other in missing)]
        rng.shuffle(inner)
        number = len(inner)

        def taken(rate: float, least: int = 1) -> Iterator[Key]:
            """Figures for a share of those that were left, none twice."""
            for _ in range(max(least, share_of(rate, number)) if rate else 0):
                if inner:
                    yield inner.pop()

        for index in range(share_of(params.correction_rate, number)):
            if not (ends or inner):
                break
            key = (ends or inner).pop()
            for day in self._days(2 if index % 3 == 0 else 1, key[1]):
                plan.notices.append(Notice("correction", day, *key, self._changed(key)))
        for key in taken(params.withdrawn_rate):
            first, second = self._days(2, key[1])
            plan.notices.append(Notice("correction", first, *key, self._changed(key)))
            plan.notices.append(Notice("withdrawal", second, *key, earlier=first))
        kinds = rng.sample(("proposal", "other_file"), 2)
        for index, key in enumerate(taken(params.proposal_rate, len(kinds))):
            [day] = self._days(1, key[1])
            plan.notices.append(Notice(kinds[index % 2], day, *key, self._changed(key)))

    def _days(self, number: int, year: int) -> list[dt.date]:
        """Different days on which memos about a year were written, ascending: after its end."""
        today = self.plan.today
        longest = min(MEMO_DAYS, (today - dt.date(year + 1, 1, 6)).days)
        days: set[dt.date] = set()
        while len(days) < number:
            days = {memo_day(today, back) for back in self.rng.sample(range(1, longest), number)}
        return sorted(days)

    def _changed(self, key: Key) -> float:
        value = self.plan.figures[key]
        assert value is not None
        factor = self.rng.choice((-1, 1)) * self.rng.uniform(0.04, 0.15) + 1
        return round(value * factor, decimals(self.plan.units[key[0]]))


MEMO_DAYS = 900
"""How far back memos go."""


_CLOSED = frozenset({(1, 1), (1, 2), (5, 1), (7, 4), (12, 24), (12, 25), (12, 26), (12, 31)})
"""(month, day): nobody writes memos."""
_FRIDAY = 4


def memo_day(today: dt.date, back: int) -> dt.date:
    """The working day on or before the one that is ``back`` days ago."""
    day = today - dt.timedelta(days=back)
    while day.weekday() > _FRIDAY or (day.month, day.day) in _CLOSED:
        day -= dt.timedelta(days=1)
    return day


def _referring(notices: list[Notice]) -> list[Notice]:
    """Withdrawals name the earlier memo by its day only where no other is about that category and day."""
    days = Counter((notice.raw, notice.day) for notice in notices if notice.counts)
    return [
        notice
        if notice.earlier is None or days[notice.raw, notice.earlier] == 1
        else replace(notice, earlier=None)
        for notice in notices
    ]


def decimals(unit: str) -> int:
    """Return the number of decimals that memos give for a unit."""
    return 3 if unit == "bn USD" else 2


def _ends(plan: Plan, fed: list[int], rng: random.Random) -> list[Key]:
    """A figure of the last year, and of the base of the first growth asked for: each decides one growth."""
    missing = [key for key, figure in plan.figures.items() if figure is None]
    found = []
    for year in (plan.years[-1], plan.years[0]):
        free = [raw for raw in fed if all(_apart((raw, year), *key) for key in missing)]
        if free:
            found.append((rng.choice(free), year))
    return found


def _apart(key: Key, raw: int, year: int) -> bool:
    """True if a figure is not next to a missing one."""
    return key[0] != raw or abs(key[1] - year) > 1


def _change_weights(plan: Plan, params: Params, rng: random.Random) -> None:
    """Move parts of market categories from one of the company's to another, some from the target."""
    first = rng.choice([index for index, row in enumerate(plan.weights) if row[plan.target]])
    others = [index for index in range(len(plan.raw)) if index != first]
    more = rng.sample(others, share_of(params.weight_rate, len(others)))
    for raw in [first, *more] if params.weight_rate else []:
        row = plan.weights[raw]
        givers = [group for group, weight in enumerate(row) if weight]
        giver = plan.target if row[plan.target] else rng.choice(givers)
        takers = [group for group in range(len(row)) if group not in (giver, plan.target)]
        if not takers:
            continue
        taker = rng.choice(takers)
        moved = round(row[giver] / 2, 3)
        back = rng.randrange(1, MEMO_DAYS)
        day = memo_day(plan.today, back)
        plan.notices.append(Notice("weight", day, raw, value=round(row[giver] - moved, 3), group=giver))
        plan.notices.append(Notice("weight", day, raw, value=round(row[taker] + moved, 3), group=taker))
    for raw in rng.sample(range(len(plan.raw)), share_of(params.weight_rate / 2, len(plan.raw))):
        back = rng.randrange(1, MEMO_DAYS)
        value = round(rng.randint(2, 38) * 0.025, 3)  # as fine as the weights that count
        day, group = memo_day(plan.today, back), rng.randrange(len(plan.groups))
        plan.notices.append(Notice("draft_weight", day, raw, value=value, group=group))
