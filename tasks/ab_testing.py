"""Windows of A/B tests and what they add up to, for ``ab_testing.yaml``; and a solver that reads.

What a scenario's windows hold follows from its seed alone, so that they need not be kept. Those of kind
``closing`` are made last: they bring the overall rates as near to each other as the instance wants them.
"""

from __future__ import annotations

import datetime as dt
import random
import re
from bisect import bisect
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Any
from weakref import WeakKeyDictionary

from mesocosm.kits.other_codes import draw_other as draw_other
from mesocosm.kits.other_codes import some_others
from mesocosm.kits.paging import folder_texts, query_rows
from mesocosm.services.calling import Tools
from mesocosm.services.columns import Columns

COUNTS = ("A_clicks", "A_store_views", "B_clicks", "B_store_views")
_COUNTRIES = {
    "DE": "Germany", "DK": "Denmark", "ES": "Spain", "FR": "France", "IE": "Ireland", "IT": "Italy",
    "NO": "Norway", "PT": "Portugal", "SE": "Sweden", "UK": "the United Kingdom",
}  # fmt: skip
_TOPICS = (
    "Fitness", "Kitchen", "Garden", "Travel", "Music", "Books", "Toys", "Shoes", "Lamps", "Coffee",
    "Bikes", "Camping", "Jewels", "Pets", "Games", "Cameras", "Carpets", "Sofas", "Paint", "Tools",
    "Wine", "Tea", "Honey", "Candles", "Mirrors", "Watches", "Bags", "Hats", "Coats", "Socks",
    "Pens", "Paper", "Puzzles", "Drums", "Guitars", "Tents", "Boots", "Skis", "Rackets", "Plants",
    "Seeds", "Soaps", "Towels", "Pillows", "Blankets", "Clocks", "Vases", "Frames", "Baskets",
    "Knives",
)  # fmt: skip
_PARTS = {
    "home": ("Slider", "Teaser", "Video", "Carousel", "Gallery", "Headline", "Menu", "Footer"),
    "search": ("Filter", "Search", "Ranking", "Preview", "Header", "Menu", "Badge", "Button"),
    "product": ("Gallery", "Video", "Badge", "Button", "Preview", "Countdown", "Headline", "Ranking"),
    "cart": ("Checkout", "Coupon", "Countdown", "Button", "Popup", "Header", "Footer", "Teaser"),
}  # fmt: skip
_ANYWHERE = ("Banner", "Popup")
"""Subjects of tests that every page may have, beside its own."""
_DAYS, _FEW_FOR_DAYS = (3, 4, 5, 6, 7, 5, 3), (20, 50, 150, 400, 3000, 8000)
_SHOPS = 6
"""In the country that the task is about."""
_HOURS, _FEW_FOR_HOURS = (1, 2, 4, 6, 12, 24), (20, 90, 200, 800, 2000)

_RHYTHM = (34, 22, 14, 10, 9, 12, 22, 38, 54, 68, 78, 84, 90, 92, 90, 88, 86, 88, 92, 98, 100, 96, 78, 54)
"""Activity of shops by hour of the day, in percent of the busiest."""
_BUSIEST, _LEAST_SHARE = 150, 400
"""Clicks on a version in the busiest hour of the best-known scenario, and how many of a thousand of these the
least known one has."""

Scenario = Mapping[str, Any]
Row = tuple[int, int, int, int, int]
"""Hours from the first day's midnight, then clicks and views of A and of B."""


# -- drawing ------------------------------------------------------------------------------------------------


def days_for(given: int, scenarios: int) -> int:
    """Days of a test; 0 stands for as many as so many scenarios have."""
    return given or _DAYS[bisect(_FEW_FOR_DAYS, scenarios)]


def hours_for(given: int, scenarios: int) -> int:
    """Hours of a window; 0 stands for as long as so many scenarios have."""
    return given or _HOURS[bisect(_FEW_FOR_HOURS, scenarios)]


def country_of(code: str) -> str:
    return _COUNTRIES[code]


def draw_others(me: Scenario, rng: random.Random) -> list[str]:
    """One or two other countries; one that stands twice has more shops' scenarios."""
    return some_others(me["code"], list(_COUNTRIES), rng)


def draw_sizes(me: Scenario, rng: random.Random) -> dict[str, list[float]]:
    """Draw the relative amounts of tests of shops: small and large in every country, so that frequency does
    not reveal a shop's country.
    """
    shops = {code: _SHOPS * me["others"].count(code) // len(me["others"]) for code in me["others"]}
    shops = {code: max(1, count) for code, count in shops.items()} | {me["code"]: _SHOPS}
    return {code: [rng.uniform(1, 5) for _ in range(count)] for code, count in shops.items()}


def draw_shop(scenario: Scenario, rng: random.Random) -> int:
    """The number of a shop of the scenario's country."""
    sizes = scenario["sizes"][scenario["code"]]
    return rng.choices(range(1, len(sizes) + 1), sizes)[0]


def draw_name(scenario: Scenario, rng: random.Random) -> str:
    """Draw a name; the file asks again if it is taken."""
    part = rng.choice((*_PARTS[scenario["page"]], *_ANYWHERE))
    return f"{rng.choice(_TOPICS)}_{part}_{rng.randint(10, 99)}"


def draw_closing(scenario: Any, rng: random.Random) -> dict[str, int] | None:
    """Draw the totals of this scenario's windows so that the overall rates differ as much as wanted.

    Nothing for one that is not counted.
    """
    if not scenario["counted"]:
        return None
    truth = scenario.truth
    if truth not in _CLOSING:
        _CLOSING[truth] = _closing(scenario)
    return _CLOSING[truth][scenario["name"]]


_CLOSING: WeakKeyDictionary[Any, dict[str, dict[str, int]]] = WeakKeyDictionary()


def _closing(scenario: Scenario) -> dict[str, dict[str, int]]:
    """The same of all that are counted, by name; ``scenario`` is one of them."""
    counted = [one for one in scenario["all"] if one["counted"]]
    closing = [one for one in counted if one["case"] == "closing"]
    usual = [_sums(_within(one)) for one in closing]
    others = overall_of([one for one in counted if one["case"] != "closing"])
    pooled = {}
    # The overall rates are a whole number of parts of so many, so that a tie is exact. It differs between
    # instances: round sums would tell which windows count.
    grain = scenario["grain"]
    clicks = {version: sum(one[f"{version}_clicks"] for one in usual) for version in "AB"}
    clicks |= {version: own + -(others[f"{version}_clicks"] + own) % grain for version, own in clicks.items()}
    seen = sum(others[name] for name in COUNTS[1::2])
    parts = round(Fraction(grain * seen, max(1, others["A_clicks"] + others["B_clicks"])))
    for version in "AB":
        together = others[f"{version}_clicks"] + clicks[version]
        views = together * parts // grain + _ahead(version, scenario["margin"], together)
        pooled[f"{version}_clicks"] = clicks[version]
        pooled[f"{version}_store_views"] = max(
            0, min(clicks[version], views - others[f"{version}_store_views"])
        )
    # Each has about as many as it would have had.
    split = {
        name: _split(pooled[name], [one[name.replace("store_views", "clicks")] for one in usual])
        for name in COUNTS
    }
    return {one["name"]: {name: split[name][place] for name in COUNTS} for place, one in enumerate(closing)}


def _ahead(version: str, margin: str, clicks: int) -> int:
    """By how many views a version is ahead."""
    if margin.startswith(version):
        return 1 if margin.endswith("view") else clicks // 400
    return 0


def _split(number: int, weights: Sequence[int]) -> list[int]:
    """A number in parts that are as large as these weights, to one."""
    ends = [number * end // max(1, sum(weights)) for end in accumulate(weights, initial=0)]
    return [end - start for start, end in pairwise(ends)]


# -- windows ------------------------------------------------------------------------------------------------


def windows_of(scenario: Scenario) -> Columns:
    """The rows of a scenario."""
    starts, *counts = zip(*_windows(scenario), strict=True)
    begun = _begun(scenario["first_day"], starts)
    names = [scenario["name"]] * len(begun)
    return Columns({"scenario": names, "window_start": begun} | dict(zip(COUNTS, counts, strict=True)))


@lru_cache(maxsize=500)
def _begun(first_day: dt.date, starts: tuple[int, ...]) -> list[dt.datetime]:
    """Return the windows' starts, shared between scenarios to save memory."""
    midnight = dt.datetime.combine(first_day, dt.time(), dt.UTC)
    return [midnight + dt.timedelta(hours=start) for start in starts]


def totals_of(scenario: Scenario) -> dict[str, int]:
    """Add up a scenario's windows that count."""
    first, beyond, limit = 24 * scenario["begins"], 24 * scenario["ends"], scenario["limit"]
    return _sums(
        row for row in _windows(scenario) if first <= row[0] < beyond and row[1] <= limit and row[3] <= limit
    )


def _sums(rows: Iterable[Row]) -> dict[str, int]:
    """Add up windows."""
    found = [0, 0, 0, 0]
    for _, *counts in rows:
        found = [one + other for one, other in zip(found, counts, strict=True)]
    return dict(zip(COUNTS, found, strict=True))


def overall_of(scenarios: Sequence[Scenario]) -> dict[str, Any]:
    """Add up scenarios and say which version is better."""
    found = {name: sum(one["totals"][name] for one in scenarios) for name in COUNTS}
    better = found["B_store_views"] * found["A_clicks"] > found["A_store_views"] * found["B_clicks"]
    return {**found, "winner": "B" if better else "A"}


def rate_of(views: int, clicks: int) -> float:
    """A rate in percent, to three decimals."""
    exact = Decimal(100 * views) / Decimal(clicks) if clicks else Decimal()
    return float(exact.quantize(Decimal("0.001"), ROUND_HALF_UP))


def _starts(scenario: Scenario) -> range:
    """Return the windows' starts, from a day before the first to a day after the last."""
    hours, end = scenario["hours"], 24 * scenario["days"]
    before = -(-24 // hours) * hours
    return range(-before, end + 24, hours)


def _within(scenario: Scenario) -> list[Row]:
    """The windows of its days, as they are of themselves."""
    return [row for row in _counted(scenario, "", None) if 0 <= row[0] < 24 * scenario["days"]]


def _windows(scenario: Scenario) -> tuple[Row, ...]:
    kind, own = scenario["case"], scenario["own"]
    made = kind if kind in ("bots", "silent") else ""
    return _counted(scenario, made, tuple(own[name] for name in COUNTS) if own else None)


def _counted(scenario: Scenario, made: str, totals: tuple[int, ...] | None) -> tuple[Row, ...]:
    return _drawn(
        scenario["seed"],
        _starts(scenario),
        scenario["hours"],
        24 * scenario["days"],
        scenario["limit"],
        made,
        totals,
    )


@lru_cache(maxsize=5_000)
def _drawn(
    seed: int,
    starts: range,
    hours: int,
    end: int,
    limit: int,
    kind: str,
    totals: tuple[int, ...] | None,
) -> tuple[Row, ...]:
    rng = random.Random(seed)
    level, lead = rng.uniform(0.20, 0.28), rng.uniform(-0.02, 0.02)
    trial = rng.choice((-0.06, 0.06))
    known = rng.randint(_LEAST_SHARE, 1000)
    rows = []
    for start in starts:
        other = 0 if 0 <= start < end else trial
        down = rng.random() < 0.03
        a, b = (0 if down else _clicks(rng, start, hours, known) for _ in range(2))
        rows.append([start, a, _views(rng, a, level - other), b, _views(rng, b, level + lead + other)])
    inside = [row for row in rows if 0 <= row[0] < end]
    if kind == "bots":
        _let_bots_in(rng, inside, limit)
    if kind == "silent":
        for row in inside:
            row[3:] = 0, 0
    if totals:
        _bring_to(rng, inside, totals)
    return tuple((row[0], row[1], row[2], row[3], row[4]) for row in rows)


def _clicks(rng: random.Random, start: int, hours: int, known: int) -> int:
    """Clicks in a window of a scenario that is so well known, by the hours of the day."""
    busy = sum(_RHYTHM[(start + hour) % 24] for hour in range(hours))
    return _BUSIEST * known * busy * rng.randint(80, 120) // (1000 * 100 * 100)


def _views(rng: random.Random, clicks: int, rate: float) -> int:
    return round(clicks * max(0.0, min(1.0, rate * (1 + rng.gauss(0, 0.1)))))


def _let_bots_in(rng: random.Random, rows: list[list[int]], limit: int) -> None:
    """One window with a click more on one version than the limit, one with some more on the other, and one
    right at it. Bots click and seldom go on to the store."""
    a, b, at = rng.sample(rows, 3)
    extra, more = limit + 1, limit + rng.randint(2, limit)
    if rng.random() < 0.5:
        extra, more = more, extra
    a[1:3] = extra, extra // 12
    b[3:5] = more, more // 15
    at[1:3] = limit, limit * 3 // 10


def _bring_to(rng: random.Random, rows: list[list[int]], totals: tuple[int, ...]) -> None:
    """Rows that add up to these clicks and views."""
    for column, (clicks, views) in ((1, totals[:2]), (3, totals[2:])):
        for row, part in zip(rows, _split(clicks, [row[column] for row in rows]), strict=True):
            row[column] = part
            row[column + 1] = row[column] * views // max(1, clicks)
        missing = views - sum(row[column + 1] for row in rows)
        for row in rows:
            more = min(missing, row[column] - row[column + 1])
            row[column + 1] += more
            missing -= more
        for one, other in zip(rows[::2], rows[1::2], strict=False):
            most = min(one[column + 1], other[column] - other[column + 1], one[column] // 12)
            moved = rng.randint(0, max(0, most))
            one[column + 1] -= moved
            other[column + 1] += moved


# -- a solver that reads ------------------------------------------------------------------------------------

_NAME = re.compile(r"\b[A-Z][a-z]+_[A-Z][a-z]+_\d\d\b")
_DAY = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_NOTHING = re.compile(
    r"Should|Could|had planned|meant|proposed|idea|considered|talked about|did not|undisturbed|looked at"
    r"|as it was|[Nn]othing to tell|no trouble|went smoothly"
)
_BACK = re.compile(
    r"taken back|Forget|Disregard|not been restarted|was not restarted|withdraw|[Nn]o restart of|is not so|"
    r"was a mistake"
)


def solve(tools: Tools, prompt: str) -> None:
    """Read registry and notes, add up by days, write the rates and what follows, declare the task done."""
    text = " ".join(prompt.split())
    found = re.search(r"one of (\w+)-1 to .*? more than (\d+) clicks on A", text)
    assert found
    code, limit = found.groups()
    registry = query_rows(tools, "SELECT * FROM ab_testing.test_registry ORDER BY scenario")
    periods = {
        row["scenario"]: [row["first_day"], row["last_day"]]
        for row in registry
        if row["shop"].startswith(f"{code}-")
    }
    _heed(periods, list(folder_texts(tools, "notes")))
    sums = {name: dict.fromkeys(COUNTS, 0) for name in periods}
    added = ", ".join(f"SUM({name}) AS {name}" for name in COUNTS)
    for page in ("home", "search", "product", "cart"):
        asked = (
            f"SELECT scenario, CAST(DATE(window_start) AS STRING) AS day, {added} FROM ab_testing.ab_{page}"
            f" WHERE A_clicks <= {limit} AND B_clicks <= {limit}"
            " GROUP BY scenario, day ORDER BY scenario, day"
        )
        for row in query_rows(tools, asked):
            first, last = periods.get(row["scenario"], ("9", "0"))
            if first <= row["day"] <= last:
                for name in COUNTS:
                    sums[row["scenario"]][name] += row[name]
    total = {name: sum(one[name] for one in sums.values()) for name in COUNTS}
    lines = ["scenario,A_conversion %,B_conversion %"]
    lines += [_line(name, sums[name]) for name in sorted(sums)]
    lines.append(_line("overall (total_store_views/total_clicks)", total))
    tools.call("filesystem", "write_file", path="record.csv", content="\n".join(lines) + "\n")
    rates = [Fraction(total[f"{one}_store_views"], total[f"{one}_clicks"]) for one in "AB"]
    if rates[1] > rates[0]:
        tools.call("google_cloud", "storage_create_bucket", bucket_name="promo-assets-for-b")
    else:
        message = '{"status": "AB_Test_Concluded", "winner": "A", "action": "No_Change"}'
        tools.call(
            "google_cloud",
            "logging_write_log",
            log_name="abtesting_logging",
            message=message,
            severity="INFO",
        )
    tools.call("claim_done", "claim_done")


def _line(name: str, sums: Mapping[str, int]) -> str:
    rates = []
    for version in "AB":
        clicks = sums[f"{version}_clicks"]
        rates.append(f"{100 * sums[f'{version}_store_views'] / clicks:.3f}" if clicks else "0.000")
    return ",".join([name, *rates])


def _heed(periods: dict[str, list[str]], notes: Sequence[str]) -> None:
    """Move the bounds of periods as the notes say, and leave out what was discarded."""
    restarted: dict[str, str] = {}
    kept, upheld = set(), set()
    sentences = [
        one for note in notes for one in re.split(r"(?<=[.?!])\s+(?=[A-ZÀ-Þ]|\d{4}-)", " ".join(note.split()))
    ]
    for sentence in sentences:
        name = _NAME.search(sentence)
        if name is None or name[0] not in periods or _NOTHING.search(sentence):
            continue
        day = _DAY.search(sentence)
        if _BACK.search(sentence):
            kept.add(name[0])
        elif "after all" in sentence:
            upheld.add(name[0])
        elif "discard" in sentence:
            del periods[name[0]]
        elif day and "stop" in sentence:
            before = dt.date.fromisoformat(day[0]) - dt.timedelta(days=1)
            periods[name[0]][1] = before.isoformat()
        elif day and not re.search(r"not made|dropped", sentence):
            restarted[name[0]] = day[0]
    for who, first in restarted.items():
        if who in periods and who not in kept - upheld:
            periods[who][0] = first
