"""Travel: order the stays of a trip so that flights and fixed dates fit, by a search that is written down."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from math import log2

from pydantic import BaseModel, ConfigDict

from mesocosm.families.verdict import told
from mesocosm.kits.procedures.answers import clean_lines, compare_blocks, last_block
from mesocosm.kits.procedures.places import PlaceNames
from mesocosm.kits.procedures.protocol import TOLERANCE, ProcedureCase, Score
from mesocosm.kits.procedures.rules import text_of
from mesocosm.worlds import tokens

NAME = "travel"
UPSTREAM = "travel_planning"
TITLE = "Plan a trip by a search that is written down step by step"
BLOCKS = ("Search", "Plan")
SHEET = 900
SMALLEST = 250
EXAMPLE = 1_000
EXAMPLES = 4

_ORDERS = 12
"""Number of orders of the listing are tried for the cities of one trip."""
_TRIPS = 10
"""Number of trips drawn per attempt."""
_CHARACTERS_PER_TOKEN = 3.0
_NEAR = 0.15
"""How far an estimate may be from the level for the tokens to be counted."""


class Stay(BaseModel):
    """A city to stay in."""

    model_config = ConfigDict(frozen=True)

    city: str
    days: int
    """Those of arrival and departure included."""
    start: int | None = None
    """The day of arrival, where it is fixed."""


class TravelCase(ProcedureCase):
    """A trip to plan."""

    stays: list[Stay]
    """In the order of the listing."""
    flights: list[tuple[str, str]]
    """One way each, in the order of the listing."""

    @property
    def total_days(self) -> int:
        """The last day of the trip: cities share the days on which one flies."""
        return sum(stay.days - 1 for stay in self.stays) + 1

    @cached_property
    def connected(self) -> set[tuple[str, str]]:
        """The flights, for looking up."""
        return set(self.flights)

    @cached_property
    def fixed(self) -> list[tuple[int, Stay]]:
        """The stays with fixed dates by their days of arrival."""
        return sorted(
            ((stay.start, stay) for stay in self.stays if stay.start is not None), key=lambda pair: pair[0]
        )


CaseType = TravelCase


# -- searching ---------------------------------------------------------------------------------------------


class TripSearch:
    """The search laid down; ``plans`` yields every plan, and ``lines`` grows meanwhile."""

    def __init__(self, case: TravelCase, most_characters: int) -> None:
        self._case = case
        self._left = most_characters
        self.lines: list[str] = []

    @property
    def exhausted(self) -> bool:
        """True if the search was cut short by the output limit."""
        return self._left < 0

    def plans(self, day: int = 1, plan: tuple[Stay, ...] = ()) -> Iterator[tuple[Stay, ...]]:
        """All plans in the order in which they are met."""
        case, depth = self._case, ">" * (2 * len(plan))
        before = ", ".join(stay.city for stay in plan) or "nothing"
        head = f"{depth} Day {day} after {before}:".lstrip()
        if len(plan) == len(case.stays):
            self._note(f"{head} all cities are placed, found")
            yield plan
            return
        fixed = next((stay for start, stay in case.fixed if start == day and stay not in plan), None)
        options = [fixed] if fixed else [s for s in case.stays if s.start is None and s not in plan]
        kind = "fixed" if fixed else "choose from"
        self._note(f"{head} {kind} {', '.join(stay.city for stay in options) or 'none'}")
        following = next(((start, stay) for start, stay in case.fixed if start > day), None)
        for stay in options:
            end = day + stay.days - 1
            text, fits = self._tried(plan, stay, end, following)
            self._note(f"{depth}> {stay.city}, day {day}-{end}: {text}")
            if fits:
                yield from self.plans(end, (*plan, stay))
            if self.exhausted:
                return
        self._note(f"{depth} Day {day}: nothing else fits, back".lstrip())

    def _tried(
        self, plan: tuple[Stay, ...], stay: Stay, end: int, following: tuple[int, Stay] | None
    ) -> tuple[str, bool]:
        text = "first city"
        if plan:
            last = plan[-1].city
            if (last, stay.city) not in self._case.connected:
                return f"no flight from {last}, drop", False
            text = f"flight from {last}"
        if following is None:
            return f"{text}; no fixed city follows, go on", True
        start, city = following[0], following[1].city
        if end > start:
            return f"{text}; {city} follows on day {start}, {end} > {start}, drop", False
        return f"{text}; {city} follows on day {start}, {end} <= {start}, go on", True

    def _note(self, line: str) -> None:
        self.lines.append(line)
        self._left -= len(line) + 1


def draw(rng: random.Random, level: int) -> TravelCase | None:
    """Cities with one plan only, listed in an order in which the search is about as long as wanted."""
    count, fixed = _extent(rng, level)
    for _ in range(_TRIPS):
        case = _trip(rng, count, fixed)
        if _is_unique(case, level) and (listed := _listed(rng, case, level)):
            return listed
    return None


def distract(rng: random.Random, level: int) -> TravelCase:
    """Another trip, of which there may be several plans."""
    case = _trip(rng, *_extent(rng, level))
    return TravelCase(stays=rng.sample(case.stays, len(case.stays)), flights=case.flights)


def _extent(rng: random.Random, level: int) -> tuple[int, int]:
    """Draw the number of cities of a trip, and of those with fixed dates."""
    fixed = rng.choice((1, 1, 2))
    count = max(3, round(4.7 + 1.2 * log2(level / 500)) + fixed - 1 + rng.randint(-1, 1))
    return count, min(fixed, count - 2)


def _is_unique(case: TravelCase, level: int) -> bool:
    search = TripSearch(case, round(level * 15 * _CHARACTERS_PER_TOKEN))
    plans = search.plans()
    next(plans)
    return next(plans, None) is None and not search.exhausted


def _listed(rng: random.Random, case: TravelCase, level: int) -> TravelCase | None:
    """The trip with its stays in an order that makes the search as long as wanted."""
    for _ in range(_ORDERS):
        listed = TravelCase(stays=rng.sample(case.stays, len(case.stays)), flights=case.flights)
        search = TripSearch(listed, round(level * 1.4 * _CHARACTERS_PER_TOKEN))
        if next(search.plans(), None) is None:
            continue
        length = sum(map(len, search.lines)) / _CHARACTERS_PER_TOKEN + 40 + 20 * len(case.stays)
        if abs(length / level - 1) < _NEAR and abs(tokens.count(gold(listed)) / level - 1) <= TOLERANCE:
            return listed
    return None


def _trip(rng: random.Random, count: int, dates: int) -> TravelCase:
    """Cities that can be visited in some order, with other flights among them."""
    places = PlaceNames(rng)
    cities = [places.draw() for _ in range(count)]
    fixed = set(rng.sample(range(count), dates))
    stays, day = [], 1
    for at, city in enumerate(cities):
        days = rng.randint(2, 7)
        stays.append(Stay(city=city, days=days, start=day if at in fixed else None))
        day += days - 1
    way = list(pairwise(cities))
    share = rng.uniform(0.12, 0.3)
    others = [(a, b) for a in cities for b in cities if a != b and (a, b) not in way and rng.random() < share]
    flights = [*way, *others]
    rng.shuffle(flights)
    return TravelCase(stays=stays, flights=flights)


# -- showing -----------------------------------------------------------------------------------------------


def rules() -> str:
    return text_of(NAME)


def question(case: TravelCase) -> str:
    """Return the question: number of cities and days."""
    return f"Plan the trip: {len(case.stays)} cities in {case.total_days} days."


def given(case: TravelCase) -> list[str]:
    """Stays, and flights a city a line."""
    lines = []
    for stay in case.stays:
        when = f", from day {stay.start} to day {stay.start + stay.days - 1}" if stay.start else ""
        lines.append(f"Stay: {stay.city} for {stay.days} days{when}.")
    return lines + [f"Flight: from {source} to {target}." for source, target in case.flights]


def gold(case: TravelCase) -> str:
    """The search up to the plan, and the plan."""
    search = TripSearch(case, 1 << 40)
    plan = next(search.plans())
    return (
        "<Search>\n"
        + "\n".join(search.lines)
        + "\n</Search>\n<Plan>\n"
        + "\n".join(plan_lines(plan))
        + "\n</Plan>"
    )


def plan_lines(plan: Sequence[Stay]) -> list[str]:
    """A plan as it is written down."""
    lines, day = [], 1
    for at, stay in enumerate(plan):
        end = day + stay.days - 1
        lines.append(f"Day {day}-{end}: stay in {stay.city} for {stay.days} days.")
        if at + 1 < len(plan):
            lines.append(f"Day {end}: fly from {stay.city} to {plan[at + 1].city}.")
        day = end
    return lines


# -- judging -----------------------------------------------------------------------------------------------

_STAY = re.compile(r"Day (\d{1,5})-(\d{1,5}): stay in (\w{1,60}) for (\d{1,5}) days\.", re.ASCII)
_FLIGHT = re.compile(r"Day (\d{1,5}): fly from (\w{1,60}) to (\w{1,60})\.", re.ASCII)
_MAX_LINE = 200


def score(case: TravelCase, gold: str, answer: str) -> Score:
    """Any plan that keeps all conditions is right; the search has to be the one laid down to be exact."""
    text = compare_blocks(gold, answer, BLOCKS)
    wrong = _wrong(case, last_block(answer, "Plan"))
    return text.model_copy(update={"value": float(not wrong), "why": wrong or text.why})


def _wrong(case: TravelCase, plan: str | None) -> str:
    if plan is None:
        return "there is no complete <Plan>"
    lines = clean_lines(plan)
    if len(lines) != 2 * len(case.stays) - 1:
        return f"lines of the plan: {told(len(lines), 2 * len(case.stays) - 1)}"
    wanted = {stay.city: stay for stay in case.stays}
    day, here = 1, ""
    for at, line in enumerate(lines):
        found = (_FLIGHT if at % 2 else _STAY).fullmatch(line) if len(line) <= _MAX_LINE else None
        if not found:
            return f"{line[:_MAX_LINE]!r} is not as a line {at + 1} has to be"
        if int(found[1]) != day:
            return f"{line!r} is not on day {day}"
        if at % 2:
            if found[2] != here or (here, found[3]) not in case.connected:
                return f"{line!r}: there is no such flight from {here}"
            here = found[3]
            continue
        stay = wanted.pop(found[3], None)
        if stay is None or (here and stay.city != here):
            return f"{line!r} is not in a city that is to be visited then"
        here, day = stay.city, day + stay.days - 1
        if (int(found[2]), int(found[4])) != (day, stay.days):
            return f"{line!r} does not last {stay.days} days"
        if stay.start is not None and stay.start != int(found[1]):
            return f"{line!r}: the stay has to begin on day {stay.start}"
    return ""
