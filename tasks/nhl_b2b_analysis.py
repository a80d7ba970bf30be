"""Schedules of hockey: seasons of real clubs with what became of each game, and sets counted from them."""

from __future__ import annotations

import csv
import datetime as dt
import io
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
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
    "Tampa Bay Lightning", "Toronto Maple Leafs", "Utah Hockey Club", "Vancouver Canucks",
    "Vegas Golden Knights", "Washington Capitals", "Winnipeg Jets",
)  # fmt: skip
MINOR_CLUBS = (
    "Abbotsford Canucks", "Belleville Senators", "Bridgeport Islanders", "Charlotte Checkers",
    "Chicago Wolves", "Cleveland Monsters", "Colorado Eagles", "Grand Rapids Griffins", "Hershey Bears",
    "Iowa Wild", "Laval Rocket", "Manitoba Moose", "Milwaukee Admirals", "Ontario Reign",
    "Providence Bruins", "Rochester Americans", "San Diego Gulls", "Springfield Thunderbirds",
    "Texas Stars", "Toronto Marlies", "Utica Comets",
)  # fmt: skip
"""Those whose names are about as long as the NHL's are."""
PACIFIC = {
    "Anaheim",
    "Calgary",
    "Edmonton",
    "Los",
    "San",
    "Seattle",
    "Vancouver",
    "Vegas",
    "Utah",
    "Colorado",
}
CENTRAL = {"Chicago", "Dallas", "Minnesota", "Nashville", "St.", "Winnipeg", "Iowa", "Milwaukee", "Texas"}
ABROAD = ("Prague", "Stockholm", "Tampere", "Helsinki", "Berlin", "Gothenburg")
NEAR = ("Quebec City", "Saskatoon", "Halifax", "Hamilton", "Cleveland", "Kansas City")
"""Neutral towns: in the first weeks of a season teams go overseas, later they do not."""
EASTERN, SASKATCHEWAN = ZoneInfo("America/Toronto"), ZoneInfo("America/Regina")
DAYS = 191
"""From the opening night of a season to its last day."""
_PLAYOFFS = 58
"""Days of the games after it."""
LOOSE = 60
"""Games of a club against the other clubs of the report in a season, at most: 82 are those against all."""
EARLIER_SEASONS = 3
_TRIES = 60
_PUT_OFF = dt.timedelta(days=60)
"""A game is made up for within so many days, if the clubs have one free that suits."""
_ENDS = {"": 14, "/OT": 3, "/SO": 2}

Window = tuple[dt.date, dt.date]


def clubs_for(games: int) -> int:
    """How many clubs play so many games."""
    return max(5, min(28, 4 + games // 55))


def opening_of(start: dt.date, back: int) -> dt.date:
    """The opening night so many seasons before: the same day of the week, at the same time of the year."""
    return start - dt.timedelta(days=7 * round(back * 365.2425 / 7))


def after_season(start: str) -> dt.datetime:
    """When the last season has been over for some weeks, and its playoffs, too."""
    days = DAYS + _PLAYOFFS + 8
    return dt.datetime.combine(dt.date.fromisoformat(start) + dt.timedelta(days=days), dt.time(9, 20))


def label_of(opening: dt.date) -> str:
    """2024-25."""
    return f"{opening.year}-{(opening.year + 1) % 100:02}"


class Books:
    """The games of an instance: those that count planned together, further ones as they are asked for."""

    def __init__(self, game: Any) -> None:
        truth = game.truth
        rng = truth.stream("schedule")
        games, listed = truth.sets["game"], len(truth.sets["club"])
        names = rng.sample(CLUBS, len(CLUBS))
        self.clubs, self.others = sorted(names[:listed]), sorted(names[listed:]) or sorted(names)
        start = dt.date.fromisoformat(game.lookup("start_date"))
        count = max(1, -(-2 * len(games) // (LOOSE * listed)))
        openings = [opening_of(start, back) for back in reversed(range(count))]
        self.seasons = [(day, day + dt.timedelta(days=DAYS - 1)) for day in openings]
        earlier = [opening_of(start, count + back) for back in range(EARLIER_SEASONS)]
        self.earlier = [(day, day + dt.timedelta(days=DAYS - 1)) for day in earlier]
        self.days: dict[tuple[str, Window], list[dt.date]] = {}
        self.busy: set[tuple[str, dt.date]] = set()
        self.numbers: set[int] = set()
        self.lines: list[Line] = [{} for _ in games]
        self._plan([one.kind for one in games], rng)

    @property
    def span(self) -> str:
        """The seasons that count, as the prompt says it."""
        first, last = label_of(self.seasons[0][0]), label_of(self.seasons[-1][0])
        return f"the season {last}" if first == last else f"the seasons {first} to {last} (both included)"

    def _plan(self, kinds: Sequence[str], rng: random.Random) -> None:
        pairs = self._pairs(len(kinds), rng)
        plain = [place for place, kind in enumerate(kinds) if kind == "plain"]
        left = [place for place in range(len(kinds)) if place not in set(plain)]
        fixed = list(self._boundaries(rng))[: len(plain)]
        for place, (pair, day) in zip(plain, fixed, strict=False):
            window = self.seasons[0]
            self._mark(pair, window, day)
            self.lines[place] = self._line("plain", label_of(window[0]), pair, window, rng, day)
        for place in [*plain[len(fixed) :], *left]:  # plain ones first: the others lie beside them
            window = self.seasons[place % len(self.seasons)]
            pair = pairs.pop()
            self.lines[place] = self._line(kinds[place], label_of(window[0]), pair, window, rng)

    def _pairs(self, count: int, rng: random.Random) -> list[tuple[str, str]]:
        """Visitor and home of so many games, in which all clubs play about as often."""
        pairs: list[tuple[str, str]] = []
        waiting: list[str] = []
        while len(pairs) < count:
            waiting += rng.sample(self.clubs, len(self.clubs))
            while len(waiting) > 1:
                one, other = waiting.pop(0), waiting.pop(0)
                if one == other:
                    waiting.append(other)
                    waiting.insert(0, one) if len(waiting) > 1 else None
                    continue
                pairs.append((one, other))
        return pairs[:count]

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
    ) -> dt.date:
        """A day on which both are free: beside a game of one of them, or far from any if possible; soon after
        a day that is given, if possible."""
        span = (window[1] - window[0]).days + 1
        first = since or window[0] + dt.timedelta(days=rng.randrange(span))
        for attempt in range(_TRIES + span):
            day = first + dt.timedelta(days=attempt - _TRIES)
            if attempt < _TRIES:
                day = window[0] + dt.timedelta(days=rng.randrange(span))
                taken = self.days.get((rng.choice(pair), window))
                if near and taken:
                    day = rng.choice(taken) + dt.timedelta(days=rng.choice((-1, 1)))
                if since and not since < day <= since + _PUT_OFF:
                    continue
            elif day > window[1]:
                day -= dt.timedelta(days=span)
            beside = any((club, day + dt.timedelta(days=by)) in self.busy for club in pair for by in (-1, 1))
            if not window[0] <= day <= window[1] or (day.month == 12 and 24 <= day.day <= 26):
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
        near = kind != "plain" or rng.random() < 0.22
        first = first or self.spot(pair, window, rng, near=near)
        visitor, home = pair
        line: Line = {"number": self._number(rng), "competition": league, "visitor": visitor, "home": home}
        line |= {"first": first, "second": None, "third": None, "r1": None, "r2": None}
        towns = ABROAD if first.month in (9, 10, 11) else NEAR
        line["site"] = rng.choice(towns) if kind == "neutral" else "Home"
        called_off = kind == "off" and rng.random() < 0.5
        put_off = kind == "replayed" or called_off or (kind in ("twice", "undone") and rng.random() < 0.4)
        line |= self._told(first, home, rng, late=kind == "late", played=not put_off)
        if called_off:
            line["status"] = rng.choice(("Postponed", "Cancelled"))
        if kind in ("replayed", "moved", "withdrawn", "twice", "undone"):
            line["second"] = self.spot(pair, window, rng, near=True, since=first)
            if kind in ("twice", "undone"):
                line["third"] = self.spot(pair, window, rng, near=True, since=line["second"])
        state = "withdrawn" if kind == "withdrawn" else "in force"
        told = ["r1", "r2"] if line["third"] else [rng.choice(("r1", "r2"))]
        for name, day in zip(told, (line["second"], line["third"]), strict=False):
            if day:
                line[name] = self._told(day, home, rng) | {"date": day, "state": state}
        if kind == "undone":
            line["r2"]["state"] = "withdrawn"
        if kind == "off" and not called_off:
            annulled = {"date": first, "east": line["east"], "score": None, "status": "Cancelled"}
            line[told[0]] = annulled | {"state": state}
        return line

    def _number(self, rng: random.Random) -> int:
        while (number := rng.randrange(100_000, 1_000_000)) in self.numbers:
            pass
        self.numbers.add(number)
        return number

    def _told(
        self, day: dt.date, home: str, rng: random.Random, *, late: bool = False, played: bool = True
    ) -> Line:
        """Start, score and status of a game on a day."""
        town = home.split()[0]
        hours = (22, 22, 21) if town in PACIFIC else (20, 20, 21) if town in CENTRAL else (19, 19, 18, 13)
        clock = dt.time(rng.choice(hours), rng.choice((0, 0, 30)))
        if late:
            clock = dt.time(rng.choice((0, 0, 1)), rng.choice((5, 10, 25, 40)))
        moment = dt.datetime.combine(day + dt.timedelta(days=late), clock, EASTERN)
        line: Line = {"east": f"{clock:%H:%M}", "sask": f"{moment.astimezone(SASKATCHEWAN):%H:%M}"}
        if not played:
            return line | {"score": None, "status": "Postponed"}
        end = rng.choices(list(_ENDS), list(_ENDS.values()))[0]
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
            pair, label = rng.sample(MINOR_CLUBS, 2), f"AHL {label}"
        elif fixture == "other_season":
            window = rng.choice(self.earlier)
            label = label_of(window[0])
        elif fixture == "other_games":
            day = dt.timedelta(days=1)
            if rng.random() < 0.5:
                window, label = (window[0] - 16 * day, window[0] - day), f"NHL {label} preseason"
            else:
                window, label = (window[1] + day, window[1] + _PLAYOFFS * day), f"NHL {label} playoffs"
            edge = window[0] if "playoffs" in label else window[1]
            if rng.random() < 0.25 and not any((club, edge) in self.busy for club in pair):
                self._mark((pair[0], pair[1]), window, edge)
                return self._line(kind, label, (pair[0], pair[1]), window, rng, edge)
        return self._line(kind, label, (pair[0], pair[1]), window, rng)


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
    return _books(game).alike(game.kind, "other_club", rng)


def other_games(game: Any, rng: random.Random) -> Line:
    """One of the preseason or the playoffs."""
    return _books(game).alike(game.kind, "other_games", rng)


def other_season(game: Any, rng: random.Random) -> Line:
    """One of a season before those that count."""
    return _books(game).alike(game.kind, "other_season", rng)


def other_league(game: Any, rng: random.Random) -> Line:
    """One of the AHL."""
    return _books(game).alike(game.kind, "other_league", rng)


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
