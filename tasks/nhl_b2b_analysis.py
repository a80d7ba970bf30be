"""Schedules of hockey: seasons of real clubs with what became of each game, and sets counted from them."""

from __future__ import annotations

import csv
import datetime as dt
import io
import math
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any
from weakref import WeakKeyDictionary
from zoneinfo import ZoneInfo

from mesocosm.kits.paging import found, spreadsheet, spreadsheet_rows

Line = dict[str, Any]

CLUBS = (
    "Anaheim Ducks", "Boston Bruins", "Buffalo Sabres", "Calgary Flames", "Carolina Hurricanes",
    "Chicago Blackhawks", "Colorado Avalanche", "Columbus Blue Jackets", "Dallas Stars", "Detroit Red Wings",
    "Edmonton Oilers", "Florida Panthers", "Los Angeles Kings", "Minnesota Wild", "Montreal Canadiens",
    "Nashville Predators", "New Jersey Devils", "New York Islanders", "New York Rangers", "Ottawa Senators",
    "Philadelphia Flyers", "Pittsburgh Penguins", "San Jose Sharks", "Seattle Kraken", "St. Louis Blues",
    "Tampa Bay Lightning", "Toronto Maple Leafs", "Utah Mammoth", "Vancouver Canucks",
    "Vegas Golden Knights", "Washington Capitals", "Winnipeg Jets",
)  # fmt: skip
FOUNDED = {
    "San Jose": 1991, "Ottawa": 1992, "Tampa": 1992, "Anaheim": 1993, "Florida": 1993, "Nashville": 1998,
    "Winnipeg": 1999, "Columbus": 2000, "Minnesota": 2000, "Vegas": 2017, "Seattle": 2021,
}  # fmt: skip
"""When clubs first played, of those that have not been there, under one name or another, since 1979."""
MINOR_CLUBS = (
    (
        "Belleville Senators", "Bridgeport Islanders", "Charlotte Checkers", "Cleveland Monsters",
        "Hershey Bears", "Laval Rocket", "Providence Bruins", "Rochester Americans",
        "Springfield Thunderbirds", "Toronto Marlies", "Utica Comets",
    ),
    (
        "Abbotsford Canucks", "Chicago Wolves", "Colorado Eagles", "Grand Rapids Griffins", "Iowa Wild",
        "Manitoba Moose", "Milwaukee Admirals", "Ontario Reign", "San Diego Gulls", "Texas Stars",
    ),
)  # fmt: skip
"""Those of the AHL whose names are about as long as the NHL's are, east and west: these do not meet."""
PACIFIC = {"Abbotsford", "Anaheim", "Los", "Ontario", "San", "Seattle", "Vancouver", "Vegas"}
"""Prefixes of club names, by the clocks of their towns."""
MOUNTAIN = {"Calgary", "Colorado", "Edmonton", "Utah"}
CENTRAL = {
    "Chicago", "Dallas", "Iowa", "Manitoba", "Milwaukee", "Minnesota", "Nashville", "St.", "Texas",
    "Winnipeg",
}  # fmt: skip
WESTERN = PACIFIC | MOUNTAIN | CENTRAL
"""The Western Conference of the NHL."""
NEUTRAL = ("Quebec City", "Saskatoon", "Halifax", "Hamilton", "Regina", "Kansas City", "Boise", "Houston")
"""All of them a night's flight away at most: a club may play at home the day before and after."""
EASTERN, SASKATCHEWAN = ZoneInfo("America/Toronto"), ZoneInfo("America/Regina")
DAYS = 191
"""From the opening night of a season to its last day."""
_ROUNDS = ((1, 15), (16, 29), (30, 44))
"""Days after it of the rounds in which clubs of one conference meet; the final follows."""
_PLAYOFFS = _ROUNDS[-1][-1]
_LONGEST, _QUALIFIED = 7, 8
"""Games of a series, and clubs of a conference that are in the playoffs."""
_MINORS_BEGIN = dt.timedelta(days=3)
"""The AHL's season begins so much later, and ends so much later."""
LOOSE = 60
"""Games of a club against the other clubs of the report in a season, at most: 82 are those against all."""
_MEETINGS = 2.6
"""Games of two clubs in a season, on average."""
_MOST_SEASONS = 12
"""Seasons back to which the games go where few clubs are asked to play many: then they meet more often."""
EARLIER_SEASONS = 3
_TRIES = 60
_FURTHER_DAYS = {"replayed": 1, "moved": 1, "withdrawn": 1, "twice": 2, "undone": 2}
"""Of kinds of games: how many more days are told."""
_PUT_OFF, _MISTAKEN = 60, 8
"""A game is made up for within so many days, and a wrong day is so many off at most, if the clubs have one
free that suits."""
_BREAKS = (
    (dt.date(2022, 2, 3), dt.date(2022, 2, 6)), (dt.date(2023, 2, 2), dt.date(2023, 2, 5)),
    (dt.date(2024, 2, 1), dt.date(2024, 2, 4)), (dt.date(2025, 2, 10), dt.date(2025, 2, 21)),
)  # fmt: skip
"""Days on which the clubs of the NHL rested, while all-stars or national teams met."""
_NUMBERS_A_DAY = 140
"""Numbers among which those of the games of one day are: they rise with the days."""
_THURSDAY, _SATURDAY = 3, 5
_ENDS = {"": 14, "/OT": 3, "/SO": 2}

Window = tuple[dt.date, dt.date]


def clubs_for(games: int) -> int:
    """Return how many clubs play this many games, if two clubs meet at most three times a season."""
    return next((clubs for clubs in range(7, 28) if clubs * (clubs - 1) / 2 * _MEETINGS >= games), 28)


def clubs_since(year: int, least: int) -> list[str]:
    """The clubs that played in a year, or the oldest ones, if so many did not."""
    oldest = sorted(CLUBS, key=_founded)
    return [club for number, club in enumerate(oldest) if number < least or _founded(club) <= year]


def _founded(club: str) -> int:
    return next((year for town, year in FOUNDED.items() if club.startswith(town)), 0)


def _by_the_pacific(pair: tuple[str, str]) -> bool:
    return any(_town(club) in PACIFIC for club in pair)


def opening_of(start: dt.date, back: int) -> dt.date:
    """The opening night so many seasons before: the same day of the week, at the same time of the year."""
    return start - dt.timedelta(days=7 * round(back * 365.2425 / 7))


def after_season(start: str) -> dt.datetime:
    """Return a time some weeks after the last season and its playoffs."""
    days = DAYS + _PLAYOFFS + 22
    return dt.datetime.combine(dt.date.fromisoformat(start) + dt.timedelta(days=days), dt.time(9, 20))


def _at_rest(pair: tuple[str, str], day: dt.date) -> bool:
    """True on days without games: Christmas, and for the NHL Thanksgiving and February's break."""
    if pair[0] in CLUBS:
        thanksgiving = day.month == 11 and 22 <= day.day <= 28 and day.weekday() == _THURSDAY
        if thanksgiving or any(first <= day <= last for first, last in _BREAKS):
            return True
    return day.month == 12 and 24 <= day.day <= 26


def _town(club: str) -> str:
    return club.split()[0]


def label_of(opening: dt.date) -> str:
    """2024-25."""
    return f"{opening.year}-{(opening.year + 1) % 100:02}"


class Books:
    """The games of an instance: those that count planned together, further ones as they are asked for."""

    def __init__(self, game: Any) -> None:
        truth = game.truth
        rng = truth.stream("schedule")
        games, listed = truth.sets["game"], len(truth.sets["club"])
        start = dt.date.fromisoformat(game.lookup("start_date"))
        each = min(LOOSE, _MEETINGS * (listed - 1))
        loose = math.ceil(2 * len(games) / (LOOSE * listed))
        count = max(1, loose, min(_MOST_SEASONS, math.ceil(2 * len(games) / (each * listed))))
        openings = [opening_of(start, back) for back in reversed(range(count))]
        self.seasons = [(day, day + dt.timedelta(days=DAYS - 1)) for day in openings]
        earlier = [opening_of(start, count + back) for back in range(EARLIER_SEASONS)]
        there = clubs_since(earlier[-1].year, listed + 1)
        names = rng.sample(there, len(there))
        # One of them plays where a game can begin after midnight by Eastern time.
        names.insert(0, names.pop(next(at for at, name in enumerate(names) if _town(name) in PACIFIC)))
        self.clubs, self.others = sorted(names[:listed]), sorted(names[listed:]) or sorted(names)
        self.earlier = [(day, day + dt.timedelta(days=DAYS - 1)) for day in earlier]
        self.days: dict[tuple[str, Window], list[dt.date]] = {}
        self.busy: set[tuple[str, dt.date]] = set()
        self.numbers: set[int] = set()
        self._first_day = earlier[-1] - dt.timedelta(days=30)
        self.lines: list[Line] = [{} for _ in games]
        self._plan([one.case for one in games], rng)
        self.series = {window: list(self._bracket(window, rng)) for window in self.seasons}
        self.met: Counter[tuple[Any, Window]] = Counter()

    @property
    def span(self) -> str:
        """The seasons that count, as the prompt says it."""
        first, last = label_of(self.seasons[0][0]), label_of(self.seasons[-1][0])
        return f"the season {last}" if first == last else f"the seasons {first} to {last} (both included)"

    def _plan(self, kinds: Sequence[str], rng: random.Random) -> None:
        plain = [place for place, kind in enumerate(kinds) if kind == "plain"]
        left = [place for place in range(len(kinds)) if place not in set(plain)]
        fixed = list(self._boundaries(rng))[: len(plain)]
        for place, (pair, day) in zip(plain, fixed, strict=False):
            window = self.seasons[0]
            self._mark(pair, window, day)
            self.lines[place] = self._line("plain", label_of(window[0]), pair, window, rng, day)
        others = [*plain[len(fixed) :], *left]  # plain ones first: the others lie beside them
        dealt = [
            self._deal(number, others, [pair for pair, _ in fixed], rng)
            for number in range(len(self.seasons))
        ]
        for place in others:
            window = self.seasons[place % len(self.seasons)]
            pairs = dealt[place % len(self.seasons)]
            suits = (at for at, pair in enumerate(pairs) if kinds[place] != "late" or _by_the_pacific(pair))
            pair = self._late_at_home(kinds[place], pairs.pop(next(suits, 0)), rng)
            self.lines[place] = self._line(kinds[place], label_of(window[0]), pair, window, rng)

    def _deal(
        self, season: int, places: Sequence[int], played: Sequence[tuple[str, str]], rng: random.Random
    ) -> list[tuple[str, str]]:
        """Visitor and home of the games of a season: each two clubs have met once before any two meet again,
        by turns at the one's and the other's. The first season has games that were ``played``."""
        wanted = sum(place % len(self.seasons) == season for place in places)
        met = Counter(frozenset(pair) for pair in played) if season == 0 else Counter[frozenset[str]]()
        rounds: list[tuple[str, str]] = []
        turn = 0
        while len(rounds) < wanted:
            pairs = [pair for pair in combinations(self.clubs, 2) if met[frozenset(pair)] <= turn]
            rng.shuffle(pairs)
            flipped = [pair if (turn + at) % 2 else pair[::-1] for at, pair in enumerate(pairs)]
            rounds += flipped
            turn += 1
        return rounds[:wanted]

    def _bracket(self, window: Window, rng: random.Random) -> Iterator[tuple[tuple[str, str], Window]]:
        """Draw a season's playoff pairings with their periods: in each round a club has one opponent from its
        conference.
        """
        day = dt.timedelta(days=1)
        for west in (False, True):
            left = [club for club in self.clubs if (_town(club) in WESTERN) == west]
            left = rng.sample(left, min(_QUALIFIED, len(left)))
            for first, last in _ROUNDS:
                for pair in zip(left[::2], left[1::2], strict=False):
                    yield pair, (window[1] + first * day, window[1] + last * day)
                left = left[::2]

    def _boundaries(self, rng: random.Random) -> Iterator[tuple[tuple[str, str], dt.date]]:
        """Cases that every instance has: sets across the turn of a month and of the year, three days in a
        row, games on the first and the last day, and two with one day between them."""
        opening, last = self.seasons[0]
        year = opening.year
        new_year, february = dt.date(year + 1, 1, 1), dt.date(year + 1, 2, 1)
        day = dt.timedelta(days=1)
        one, *others = rng.sample(self.clubs, min(5, len(self.clubs)))
        middle = opening + 40 * day
        days = [opening, last, middle, middle + day, middle + 2 * day, middle + 4 * day]
        days += [
            when - back for when in (new_year, february) if opening < when < last for back in (day, 0 * day)
        ]
        for number, when in enumerate(days):
            other = others[number % len(others)]
            yield ((one, other) if rng.random() < 0.5 else (other, one)), when

    def _late_at_home(self, kind: str, pair: tuple[str, str], rng: random.Random) -> tuple[str, str]:
        """Visitor and home; a game that begins late is one by the Pacific."""
        visitor, home = pair
        if kind != "late" or _town(home) in PACIFIC:
            return pair
        if _town(visitor) in PACIFIC:
            return home, visitor
        like = next(clubs for clubs in (self.clubs, self.others, *MINOR_CLUBS) if home in clubs)
        hosts = [club for club in like if _town(club) in PACIFIC]
        return visitor, rng.choice(hosts or [home])

    # -- days -------------------------------------------------------------------------------------------

    def _mark(self, pair: tuple[str, str], window: Window, day: dt.date) -> None:
        for club in pair:
            self.busy.add((club, day))
            self.days.setdefault((club, window), []).append(day)

    def spot(
        self,
        pair: tuple[str, str],
        window: Window,
        rng: random.Random,
        *,
        near: bool,
        since: dt.date | None = None,
        within: int = 0,
    ) -> dt.date:
        """A day on which both are free: beside a game of one of them, or far from any if possible; ``within``
        so many days after one that is given, if possible."""
        span = (window[1] - window[0]).days + 1
        first = since or window[0] + dt.timedelta(days=rng.randrange(span))
        for attempt in range(_TRIES + span):
            day = first + dt.timedelta(days=attempt - _TRIES)
            if attempt < _TRIES:
                day = window[0] + dt.timedelta(days=rng.randrange(span))
                taken = self.days.get((rng.choice(pair), window))
                if near and taken:
                    day = rng.choice(taken) + dt.timedelta(days=rng.choice((-1, 1)))
                if since:
                    day = since + dt.timedelta(days=rng.randint(1, within))
            elif day > window[1]:
                day = since - (day - window[1]) if since else day - dt.timedelta(days=span)
            beside = any((club, day + dt.timedelta(days=by)) in self.busy for club in pair for by in (-1, 1))
            if not window[0] <= day <= window[1] or _at_rest(pair, day):
                continue
            if (attempt >= _TRIES or beside == near) and not any((club, day) in self.busy for club in pair):
                self._mark(pair, window, day)
                return day
        return first  # both play every day of the season; such numbers of games were asked for

    # -- lines ------------------------------------------------------------------------------------------

    def _line(
        self,
        kind: str,
        competition: str,
        pair: tuple[str, str],
        window: Window,
        rng: random.Random,
        first: dt.date | None = None,
    ) -> Line:
        """A game and what became of it, as the sheets tell it."""
        league = competition if " " in competition else f"NHL {competition}"
        # In the playoffs nobody plays two days in a row.
        close = "playoffs" not in league
        near = close and (kind != "plain" or rng.random() < 0.22)
        days = [first or self.spot(pair, window, rng, near=near)]
        delayed = kind == "replayed" or (kind in ("twice", "undone") and rng.random() < 0.4)
        within = _PUT_OFF if delayed else _MISTAKEN
        for _ in range(_FURTHER_DAYS.get(kind, 0)):
            days.append(self.spot(pair, window, rng, near=close, since=days[-1], within=within))
        if first is None:  # where a season ends, no later day may have been free
            days.sort()
        first = days[0]
        second, third = (*days[1:], None, None)[:2]
        visitor, home = pair
        line: Line = {
            "number": self._number(first, rng),
            "competition": league,
            "visitor": visitor,
            "home": home,
        }
        line |= {"first": first, "second": second, "third": third, "r1": None, "r2": None}
        line["site"] = rng.choice(NEUTRAL) if kind == "neutral" else "Home"
        called_off = kind == "off" and rng.random() < 0.5
        put_off = called_off or (delayed and days == sorted(days))  # none is made up for before its day
        # Playoffs go on until somebody scores.
        ends = [end for end in _ENDS if end != "/SO" or "playoffs" not in league]
        line |= self._told(first, home, rng, ends, late=kind == "late", played=not put_off)
        if called_off:
            line["status"] = rng.choice(("Postponed", "Cancelled"))
        state = "withdrawn" if kind == "withdrawn" else "in force"
        told = ["r1", "r2"] if third else [rng.choice(("r1", "r2"))]
        result = {key: line[key] for key in ("score", "status")}
        for name, day in zip(told, (second, third), strict=False):
            if day:
                line[name] = self._told(day, home, rng, ends) | {"date": day, "state": state}
                # Another day is not another score.
                line[name] |= result if result["score"] else {}
                result = {key: line[name][key] for key in result}
        if kind == "undone":
            line["r2"]["state"] = "withdrawn"
        if kind == "off" and not called_off:
            annulled = {"date": first, "east": line["east"], "score": None, "status": "Cancelled"}
            line[told[0]] = annulled | {"state": state}
        return line

    def _number(self, day: dt.date, rng: random.Random) -> int:
        """A number of six digits that is not taken: higher than those of the games of earlier days."""
        least = 100_000 + _NUMBERS_A_DAY * max(0, (day - self._first_day).days)
        number = least + rng.randrange(_NUMBERS_A_DAY)
        while number in self.numbers:
            number += 1
        self.numbers.add(number)
        return number

    def _told(
        self,
        day: dt.date,
        home: str,
        rng: random.Random,
        ends: Sequence[str],
        *,
        late: bool = False,
        played: bool = True,
    ) -> Line:
        """Start, score and status of a game on a day."""
        west, central = _town(home) in PACIFIC | MOUNTAIN, _town(home) in CENTRAL
        hours = [22, 22, 21] if west else [20, 20, 21] if central else [19, 19, 18]
        if not west and day.weekday() >= _SATURDAY:
            hours.append(15 if central else 13)
        clock = dt.time(rng.choice(hours), rng.choice((0, 0, 30)))
        if late:
            clock = dt.time(0, rng.choice((5, 10, 25, 40)))
        moment = dt.datetime.combine(day + dt.timedelta(days=late), clock, EASTERN)
        line: Line = {"east": f"{clock:%H:%M}", "sask": f"{moment.astimezone(SASKATCHEWAN):%H:%M}"}
        if not played:
            return line | {"score": None, "status": "Postponed"}
        end = rng.choices(ends, [_ENDS[end] for end in ends])[0]
        loser = rng.choice((0, 1, 1, 2, 2, 2, 3, 3, 4))
        winner = loser + (1 if end else rng.choice((1, 1, 2, 2, 3, 4)))
        goals = (winner, loser) if rng.random() < 0.47 else (loser, winner)
        return line | {"score": f"{goals[0]}-{goals[1]}", "status": f"Final{end}"}

    def alike(self, kind: str, fixture: str, rng: random.Random) -> Line:
        """A game that does not count, among those that do."""
        window = rng.choice(self.seasons)
        label = label_of(window[0])
        pair = rng.sample(self.clubs, 2)
        if fixture == "other_club":
            pair[rng.randrange(2)] = rng.choice(self.others)
        elif fixture == "other_league":
            # Late games are in the west.
            pair = rng.sample(MINOR_CLUBS[1 if kind == "late" else rng.randrange(2)], 2)
            window, label = (window[0] + _MINORS_BEGIN, window[1] + _MINORS_BEGIN), f"AHL {label}"
        elif fixture == "other_season":
            window = rng.choice(self.earlier)
            label = label_of(window[0])
        elif fixture == "other_games":
            return self._beside_the_season(kind, window, pair, rng)
        return self._line(kind, label, self._late_at_home(kind, (pair[0], pair[1]), rng), window, rng)

    def _beside_the_season(self, kind: str, season: Window, pair: Sequence[str], rng: random.Random) -> Line:
        """A game of the playoffs, or one of the preseason of the pair; some are right beside the season."""
        day = dt.timedelta(days=1)
        window, part = (season[0] - 16 * day, season[0] - day), "preseason"
        edge = window[1]
        series = [
            one
            for one in self.series[season]
            if self.met[one] < _LONGEST and (kind != "late" or _by_the_pacific(one[0]))
        ]
        # Nobody plays for the cup on neutral ice.
        if series and kind != "neutral" and rng.random() < 0.5:
            chosen = rng.choice(series)
            self.met[chosen] += 1
            (pair, window), part, edge = chosen, "playoffs", season[1] + day
            pair = rng.sample(pair, 2)
        label, match = f"NHL {label_of(season[0])} {part}", self._late_at_home(kind, (pair[0], pair[1]), rng)
        free = window[0] <= edge <= window[1] and not any((club, edge) in self.busy for club in match)
        if free and rng.random() < 0.25:
            self._mark(match, window, edge)
            return self._line(kind, label, match, window, rng, edge)
        return self._line(kind, label, match, window, rng)


_BOOKS: WeakKeyDictionary[Any, Books] = WeakKeyDictionary()


def _books(entity: Any) -> Books:
    truth = entity.truth
    if truth not in _BOOKS:
        _BOOKS[truth] = Books(entity)
    return _BOOKS[truth]


def draw_line(game: Any, rng: random.Random) -> Line:
    """A game between clubs of the report, in a season that counts."""
    return _books(game).lines[int(game.ident)]


def other_club(game: Any, rng: random.Random) -> Line:
    """One against a club that is not in the report."""
    return _books(game).alike(game.case, "other_club", rng)


def other_games(game: Any, rng: random.Random) -> Line:
    """One of the preseason or the playoffs."""
    return _books(game).alike(game.case, "other_games", rng)


def other_season(game: Any, rng: random.Random) -> Line:
    """One of a season before those that count."""
    return _books(game).alike(game.case, "other_season", rng)


def other_league(game: Any, rng: random.Random) -> Line:
    """One of the AHL."""
    return _books(game).alike(game.case, "other_league", rng)


def draw_club(club: Any, rng: random.Random) -> str:
    """A club that the report is about."""
    names: list[str] = _books(club).clubs
    return names[int(club.ident)]


def draw_span(me: Any, rng: random.Random) -> str:
    """The seasons that count."""
    return _books(me).span


# -- counting -------------------------------------------------------------------------------------------


def tally(
    games: Sequence[Mapping[str, Any]], clubs: Sequence[Mapping[str, Any]]
) -> dict[str, dict[str, int]]:
    """Sets of each club by the places of their two games."""
    played: dict[str, dict[dt.date, str]] = {club["name"]: {} for club in clubs}
    for game in games:
        if game["day"] is not None:
            line = game["line"]
            for side, place in (("visitor", "A"), ("home", "A" if game["neutral"] else "H")):
                played.setdefault(line[side], {})[game["day"]] = place
    found = {}
    for name, days in played.items():
        sets = [
            place + days[after]
            for day, place in days.items()
            if (after := day + dt.timedelta(days=1)) in days
        ]
        found[name] = {kind: sets.count(kind) for kind in ("HA", "AH", "HH", "AA")}
    return found


# -- solving: from the prompt and the tools alone -------------------------------------------------------


def _seasons(prompt: str) -> set[str]:
    named = re.search(r"the seasons? (\d{4})-\d\d(?: to (\d{4})-\d\d)?", " ".join(prompt.split()))
    assert named
    first, last = int(named[1]), int(named[2] or named[1])
    return {f"NHL {year}-{(year + 1) % 100:02}" for year in range(first, last + 1)}


def solve(tools: Any, prompt: str) -> None:
    """Read the sheets, let revisions replace what was said before, and count."""
    book = spreadsheet(tools, found(r'spreadsheet "(.+?)"', prompt))
    clubs = sorted(row["Club"] for row in spreadsheet_rows(tools, book, "Clubs"))
    competitions = _seasons(prompt)
    games = {
        row["Game"]: row
        for row in spreadsheet_rows(tools, book, "Games")
        if row["Competition"] in competitions
    }
    for revision in ("Revision 1", "Revision 2"):
        for row in spreadsheet_rows(tools, book, revision):
            if row["Game"] in games and row["State"] == "in force":
                games[row["Game"]] |= {name: row[name] for name in ("Date", "Status")}
    places: dict[str, list[tuple[dt.date, str]]] = {club: [] for club in clubs}
    for game in games.values():
        if game["Home"] in places and game["Visitor"] in places and game["Status"].startswith("Final"):
            day = dt.date.fromisoformat(game["Date"])
            places[game["Home"]].append((day, "H" if game["Site"] == "Home" else "A"))
            places[game["Visitor"]].append((day, "A"))
    head = ["Team", "HA", "AH", "HH", "AA", "Total"]
    table: list[list[Any]] = [head]
    for club in clubs:
        pairs = pairwise(sorted(places[club]))
        sets = [one[1] + other[1] for one, other in pairs if (other[0] - one[0]).days == 1]
        table.append([club, *(sets.count(kind) for kind in head[1:5]), len(sets)])
    made = tools.call("google_sheet", "create_spreadsheet", title="nhl_b2b_analysis")
    where = {"spreadsheet_id": made["spreadsheetId"], "sheet": "Sheet1", "range": "A1"}
    tools.call("google_sheet", "update_cells", **where, data=table)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(table)
    tools.call("filesystem", "write_file", path="nhl_b2b_analysis.csv", content=text.getvalue())
    tools.call("claim_done", "claim_done")
