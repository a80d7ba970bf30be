"""Routes: a network in which every city has one connection onwards, and the route between two of them."""

from __future__ import annotations

import random

from mesocosm.kits.procedures.answers import compare_blocks
from mesocosm.kits.procedures.places import PlaceNames
from mesocosm.kits.procedures.protocol import ProcedureCase, Score
from mesocosm.kits.procedures.rules import text_of
from mesocosm.worlds import tokens

NAME = "routes"
UPSTREAM = "path_traversal"
TITLE = "Follow a route through a network of one-way connections"
BLOCKS = ("Route",)
SHEET = 1_600
SMALLEST = 60
EXAMPLE = 90
EXAMPLES = 2

MEANS = ("bus", "train", "plane", "ferry")


class RouteCase(ProcedureCase):
    """A network and two of its cities."""

    links: list[tuple[str, str, str]]
    """From, to and means, in the order of the input."""
    start: str
    end: str


CaseType = RouteCase


def draw(rng: random.Random, level: int) -> RouteCase:
    """A route of so many tokens, hidden among other cities that lead into it or into each other."""
    places = PlaceNames(rng)
    path = [places.draw()]
    links: list[tuple[str, str, str]] = []
    left = level - tokens.count("<Route>\n</Route>")
    while True:
        link = (path[-1], places.draw(), rng.choice(MEANS))
        cost = tokens.count(step_text(*link) + "\n")
        if links and left < cost / 2:
            break
        links.append(link)
        path.append(link[1])
        left -= cost
    others = [places.draw() for _ in range(max(3, round(len(links) * rng.uniform(0.15, 0.6))))]
    cities = [*path, *others]
    for city in others:
        onwards = rng.choice(cities)
        while onwards == city:
            onwards = rng.choice(cities)
        links.append((city, onwards, rng.choice(MEANS)))
    rng.shuffle(links)
    return RouteCase(links=links, start=path[0], end=path[-1])


def distract(rng: random.Random, level: int) -> RouteCase:
    """Another network."""
    return draw(rng, level)


def step_text(source: str, target: str, means: str) -> str:
    return f"From {source}, take a {means} to {target}."


def rules() -> str:
    return text_of(NAME)


def question(case: RouteCase) -> str:
    """The two cities."""
    return f"Find the route from {case.start} to {case.end}."


def given(case: RouteCase) -> list[str]:
    """One line per connection."""
    return [f"From {source} there is a {means} to {target}." for source, target, means in case.links]


def gold(case: RouteCase) -> str:
    """The route, from city to city."""
    onwards = {source: (target, means) for source, target, means in case.links}
    at, lines = case.start, []
    while at != case.end:
        target, means = onwards[at]
        lines.append(step_text(at, target, means))
        at = target
    return "<Route>\n" + "\n".join(lines) + "\n</Route>"


def score(case: RouteCase, gold: str, answer: str) -> Score:
    """The route has to be right line by line: there is no other."""
    return compare_blocks(gold, answer, BLOCKS)
