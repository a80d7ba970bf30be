"""Beliefs: positions of people and objects, and the beliefs of somebody who was absent at times."""

from __future__ import annotations

import random
from typing import NamedTuple

from mesocosm.kits.procedures.answers import compare_blocks
from mesocosm.kits.procedures.protocol import ProcedureCase, Score
from mesocosm.kits.procedures.rules import text_of
from mesocosm.worlds import tokens

NAME = "beliefs"
UPSTREAM = "tom_tracking"
TITLE = "Track where an object is and where somebody believes it to be"
BLOCKS = ("Tracking", "Belief")
SHEET = 1_400
SMALLEST = 160
EXAMPLE = 400
EXAMPLES = 2

_AGENTS = """
    Amina Boris Carla Dmitri Elena Farid Greta Hassan Ingrid Jonas Kavya Lorenzo Mirela Nadia Oskar
    Paloma Quentin Rosa Stefan Tamar Ugo Vera Wilma Xenia Yusuf Zelda Anselm Bruna Cosmo Delia Emeka
    Fiona Goran Hilde Ivo Jelena Karim Leila Marek Noemi Otis Petra Rafael Sunita Tobias Ursula Viktor
    Wanda
""".split()  # noqa: SIM905 - a table
_OBJECTS = (  # noqa: SIM905 - a table
    "scarf; stapler; teapot; hammer; notebook; lantern; compass; whistle; kettle; ruler; sponge; candle; "
    "mirror; thimble; flute; magnet; funnel; razor; coaster; apron; corkscrew; dice; envelope; goggles; "
    "harmonica; ladle; marble; needle; padlock; pepper mill; postcard; purse; sieve; spatula; stamp "
    "album; stopwatch; tape measure; telescope; toy car; trowel; umbrella; wallet; wristwatch; yo-yo"
).split("; ")
_ROOMS = (  # noqa: SIM905 - a table
    "attic; bakery; ballroom; basement; bathroom; boathouse; cellar; chapel; conservatory; dining room; "
    "foyer; gallery; garage; greenhouse; guest room; kitchen; laundry; library; lounge; nursery; office; "
    "parlour; pantry; playroom; porch; sauna; stable; studio; study; workshop"
).split("; ")
_TRIES = 20
_CONTAINERS = """
    barrel basket bin bowl box bucket cabinet carton chest crate cupboard drawer hamper jar locker pouch
    rack sack safe shelf suitcase tin tray trunk tub vase wardrobe
""".split()  # noqa: SIM905 - a table


class BeliefStep(NamedTuple):
    """An action: going (perhaps with an object), moving an object, leaving or entering."""

    agent: str
    kind: str
    """``go``, ``carry``, ``put``, ``leave``, ``enter`` or ``wait``."""
    room: str = ""
    thing: str = ""
    container: str = ""


class BeliefCase(ProcedureCase):
    """A story, and the person whose belief is asked for."""

    agents: dict[str, str]
    """The rooms at the beginning."""
    things: dict[str, tuple[str, str]]
    """Room and container at the beginning."""
    rooms: list[str]
    containers: list[str]
    """In each of the rooms."""
    steps: list[BeliefStep]
    agent: str
    thing: str


CaseType = BeliefCase


# -- drawing -----------------------------------------------------------------------------------------------


def draw(rng: random.Random, level: int) -> BeliefCase:
    """A story in which the person is mistaken for a while, unless it is too short for that."""
    story = _story(rng, level)
    for _ in range(_TRIES):
        if _mistaken(story):
            break
        story = _story(rng, level)
    return story


def _mistaken(case: BeliefCase) -> bool:
    """True if the person ever has a false belief."""
    tracker = Tracker(case)
    for number, step in enumerate(case.steps, 1):
        tracker.line(number, step)
        if tracker.belief not in (None, tracker.place):
            return True
    return False


def _story(rng: random.Random, level: int) -> BeliefCase:
    """Draw a story whose trace has ``level`` tokens."""
    names, things = rng.sample(_AGENTS, 2), rng.sample(_OBJECTS, 2)
    rooms, containers = rng.sample(_ROOMS, 2), rng.sample(_CONTAINERS, 2)
    agents = {name: rng.choice(rooms) for name in names}
    placed = {thing: (rng.choice(rooms), rng.choice(containers)) for thing in things}
    start = BeliefCase(
        agents=agents,
        things=placed,
        rooms=rooms,
        containers=containers,
        steps=[],
        agent=rng.choice(names),
        thing=rng.choice(things),
    )
    author = _Author(rng, start)
    tracker = Tracker(start)
    spent = tokens.count(gold(start))
    while True:
        step = author.step(names[len(author.steps) % 2])
        line = tracker.line(len(author.steps) + 1, step)
        cost = tokens.count(line + "\n")
        if spent + cost / 2 > level:
            break
        author.steps.append(step)
        spent += cost
    return start.model_copy(update={"steps": author.steps})


def distract(rng: random.Random, level: int) -> BeliefCase:
    """Another story."""
    return draw(rng, level)


class _Author:
    """Writes a story: agents take turns with actions that are possible where they are."""

    def __init__(self, rng: random.Random, start: BeliefCase) -> None:
        self._rng, self._rooms, self._containers = rng, start.rooms, start.containers
        self._at: dict[str, str | None] = dict(start.agents)
        self._things = dict(start.things)
        self.steps: list[BeliefStep] = []

    def step(self, agent: str) -> BeliefStep:
        """Choose an agent's next action."""
        here = self._at[agent]
        if here is None:
            self._at[agent] = room = self._rng.choice(self._rooms)
            return BeliefStep(agent, "enter", room)
        other = next(room for room in self._rooms if room != here)
        near = [thing for thing, (room, _) in self._things.items() if room == here]
        kind = self._rng.choice(("go", "carry", "put", "leave") if near else ("go", "go", "wait"))
        if kind == "wait":
            return BeliefStep(agent, kind)
        if kind == "leave":
            self._at[agent] = None
            return BeliefStep(agent, kind)
        if kind == "go":
            self._at[agent] = other
            return BeliefStep(agent, kind, other)
        thing = self._rng.choice(near)
        if kind == "carry":
            self._at[agent] = here = other
            container = self._rng.choice(self._containers)
        else:
            container = next(one for one in self._containers if one != self._things[thing][1])
        self._things[thing] = here, container
        return BeliefStep(agent, kind, here, thing, container)


# -- showing -----------------------------------------------------------------------------------------------


def rules() -> str:
    return text_of(NAME)


def question(case: BeliefCase) -> str:
    """The person and the object."""
    return f"Where does {case.agent} believe the {case.thing} to be after the last step? Track both."


def given(case: BeliefCase) -> list[str]:
    """One line per step, the beginning first."""
    where = [f"{agent} is in the {room}" for agent, room in case.agents.items()]
    where += [f"the {thing} is in the {room}'s {box}" for thing, (room, box) in case.things.items()]
    return [f"Step 0: {'; '.join(where)}.", *(_told(n, step) for n, step in enumerate(case.steps, 1))]


def _told(number: int, step: BeliefStep) -> str:
    agent, kind, room, thing, container = step
    said = {
        "go": f"{agent} goes to the {room}",
        "carry": f"{agent} goes to the {room} and puts the {thing}, which was in the room before, "
        f"into the {room}'s {container}",
        "put": f"{agent} puts the {thing} into the {room}'s {container}",
        "leave": f"{agent} leaves for somewhere else",
        "enter": f"{agent} enters the {room}",
        "wait": f"{agent} does nothing",
    }
    return f"Step {number}: {said[kind]}."


# -- tracking ----------------------------------------------------------------------------------------------


class Tracker:
    """Follows the person and the object that are asked for."""

    def __init__(self, case: BeliefCase) -> None:
        self._agent, self._thing = case.agent, case.thing
        self._room: str | None = case.agents[case.agent]
        self._place = case.things[case.thing]
        self.belief: str | None = None

    @property
    def place(self) -> str:
        return f"{self._place[0]}'s {self._place[1]}"

    def first(self) -> str:
        """The line of the beginning."""
        return self._line(0, "initial state")

    def line(self, number: int, step: BeliefStep) -> str:
        before = self._room, self._place
        if step.agent == self._agent:
            if step.kind in ("go", "carry", "enter"):
                self._room = step.room
            elif step.kind == "leave":
                self._room = None
        if step.thing == self._thing:
            self._place = step.room, step.container
        changes = [
            f"{name} location {'unchanged' if old == new else 'changed'}"
            for name, old, new in (
                (self._agent, before[0], self._room),
                (self._thing, before[1], self._place),
            )
        ]
        return self._line(number, "; ".join(changes))

    def _line(self, number: int, note: str) -> str:
        place = self.place
        sees = self._room == self._place[0]
        if sees:
            self.belief = place
        who, what = self._agent, self._thing
        fields = (
            f"{who} location: {self._room}; {what} location: {place}; "
            f"{who} sees {what}: {sees}; {who}'s belief on {what}: {self.belief}"
        )
        return f"- Step {number}: ({note}) {{{fields}}}"


def gold(case: BeliefCase) -> str:
    """The trace and the belief at the end."""
    tracker = Tracker(case)
    lines = [tracker.first(), *(tracker.line(n, step) for n, step in enumerate(case.steps, 1))]
    return f"<Tracking>\n{chr(10).join(lines)}\n</Tracking>\n<Belief>\n{tracker.belief}\n</Belief>"


def score(case: BeliefCase, gold: str, answer: str) -> Score:
    """Every line and the belief have to be right."""
    return compare_blocks(gold, answer, BLOCKS)
