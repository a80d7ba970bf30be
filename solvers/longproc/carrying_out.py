"""Carrying procedures out on input as it was read."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from mesocosm.kits.procedures import beliefs, countdown, routes, travel
from mesocosm.solvers.longproc.programming import program
from mesocosm.solvers.longproc.tabulating import table

Lines = Sequence[str]


def answer_to(prompt: str, given: Lines) -> str:
    """The answer to a case: which procedure it is, its prompt says."""
    question = " ".join(prompt.rpartition("# Your case")[2].split())
    for opening, carry_out in _PROCEDURES.items():
        if opening in question:
            return carry_out(question, given)
    raise ValueError("the prompt asks for no procedure that is known")


def _routes(question: str, given: Lines) -> str:
    asked = re.search(r"Find the route from (\w+) to (\w+)\.", question)
    assert asked
    links = re.findall(r"From (\w+) there is a (\w+) to (\w+)\.", "\n".join(given))
    case = routes.RouteCase(links=[(a, b, means) for a, means, b in links], start=asked[1], end=asked[2])
    return routes.gold(case)


def _countdown(question: str, given: Lines) -> str:
    numbers, target = (list(map(int, line.partition(": ")[2].split())) for line in given)
    return countdown.gold(countdown.CountdownCase(numbers=numbers, target=target[0]))


def _travel(question: str, given: Lines) -> str:
    text = "\n".join(given)
    stays = [
        travel.Stay(city=city, days=int(days), start=int(start) if start else None)
        for city, days, start in re.findall(
            r"Stay: (\w+) for (\d+) days(?:, from day (\d+) to day \d+)?\.", text
        )
    ]
    flights = re.findall(r"Flight: from (\w+) to (\w+)\.", text)
    return travel.gold(travel.TravelCase(stays=stays, flights=flights))


def _beliefs(question: str, given: Lines) -> str:
    asked = re.search(r"Where does (\w+) believe the (.+?) to be after", question)
    assert asked
    agents = dict(re.findall(r"(\w+) is in the ([^;.]+)", given[0].replace("Step 0: ", "")))
    things = {
        thing: (room, box)
        for thing, room, box in re.findall(r"the ([^;]+?) is in the ([^;']+)'s ([^;.]+)", given[0])
    }
    case = beliefs.BeliefCase(
        agents={name: room for name, room in agents.items() if name[0].isupper()},
        things=things,
        rooms=[],
        containers=[],
        steps=[_step(line) for line in given[1:]],
        agent=asked[1],
        thing=asked[2],
    )
    return beliefs.gold(case)


def _step(line: str) -> beliefs.BeliefStep:
    text = line.partition(": ")[2].rstrip(".")
    agent = text.split()[0]
    if put := re.search(r"puts the (.+?)(?:, which was in the room before,)? into the ([^']+)'s (.+)$", text):
        kind = "carry" if "goes to" in text else "put"
        return beliefs.BeliefStep(agent, kind, put[2], put[1], put[3])
    if went := re.search(r"(goes to|enters) the (.+)$", text):
        return beliefs.BeliefStep(agent, "go" if went[1] == "goes to" else "enter", went[2])
    return beliefs.BeliefStep(agent, "leave" if "leaves" in text else "wait")


_PROCEDURES: dict[str, Callable[[str, Lines], str]] = {
    "Find the route": _routes,
    "Reach the target": _countdown,
    "Plan the trip": _travel,
    "Where does": _beliefs,
    "Write a table": table,
    "Write this program": program,
}
