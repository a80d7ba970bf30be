"""Judges the list as it is when the agent says that it is done, which it can say within the budget only."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlalchemy import delete, select, update

from mesocosm.families.verdict import Check, Inapplicable, Mutant, finding
from mesocosm.generators.listworld import Expected
from mesocosm.servers.listworld.models import Element, Game, Target
from mesocosm.servers.listworld.store import ListworldStore
from mesocosm.services.world import World
from mesocosm.worlds.changes import Changes


def check(world: World, expected: Expected) -> list[Check]:
    """Check that the list is the target, and that the agent said so in time."""
    store = world.store(ListworldStore)
    current = store.current()
    same = next((place for place, (a, b) in enumerate(zip(current, expected.target)) if a != b), None)  # noqa: B905 - they may differ in length
    place = min(len(current), len(expected.target)) if same is None else same
    ended = store.session.scalar(select(Game.done))
    return [
        Check(name="ended", passed=bool(ended), detail="" if ended else "done was not called"),
        Check(
            name="list",
            passed=current == expected.target,
            detail=f"{len(current)} elements; {len(expected.target)} are wanted"
            + ("" if current == expected.target else f"; they differ from index {place} on"),
        ),
        finding("rules", _against_the_rules(world.changes())),
    ]


def _against_the_rules(changes: Changes) -> Iterator[str]:
    allowed = {"elements": "popped", "game": "done"}
    for (_, table), found in changes.tables.items():
        for _ in [*found.added, *found.removed]:
            yield f"{table}: a row was added or removed"
        for before, after in found.changed:
            column = allowed.get(table, "")
            if {**before, column: None} != {**after, column: None}:
                yield f"{table}: {before} became {after}"


# -- near misses -------------------------------------------------------------------------------------------


def _pop(value: Callable[[Expected], int], popped: bool) -> Callable[[World, Expected], None]:
    """An element that is popped, or left, and should not be; by its place in the first list."""

    def apply(world: World, expected: Expected) -> None:
        store = world.store(ListworldStore)
        element = value(expected) + 1
        before = store.session.scalar(select(Element.popped).where(Element.id == element))
        if before is popped:
            raise Inapplicable("it is so already")
        store.session.execute(update(Element).where(Element.id == element).values(popped=popped))

    return apply


def _removed(expected: Expected) -> list[int]:
    """Places of elements that go."""
    kept, places = 0, []
    for place, value in enumerate(expected.initial):
        if kept < len(expected.target) and expected.target[kept] == value:
            kept += 1
        else:
            places.append(place)
    return places


def _kept(expected: Expected) -> list[int]:
    gone = set(_removed(expected))
    places = [place for place in range(len(expected.initial)) if place not in gone]
    if not places:
        raise Inapplicable("nothing stays")
    return places


def _beside(world: World, expected: Expected) -> None:
    """The element beside the right one was popped."""
    gone = _removed(expected)
    pair = next((one for one in gone if one + 1 in set(_kept(expected))), None)
    if pair is None or expected.initial[pair] == expected.initial[pair + 1]:
        raise Inapplicable("there is no such place")
    _pop(lambda _: pair, False)(world, expected)
    _pop(lambda _: pair + 1, True)(world, expected)


def _sql(statement: Callable[[], object]) -> Callable[[World, Expected], None]:
    def apply(world: World, expected: Expected) -> None:
        world.store(ListworldStore).session.execute(statement())  # type: ignore[call-overload]

    return apply


MUTANTS = [
    Mutant("not said to be done", "ended", _sql(lambda: update(Game).values(done=False))),
    Mutant("the first to go is left", "list", _pop(lambda e: _removed(e)[0], False)),
    Mutant("the last to go is left", "list", _pop(lambda e: _removed(e)[-1], False)),
    Mutant("the first to stay is gone", "list", _pop(lambda e: _kept(e)[0], True)),
    Mutant("the last to stay is gone", "list", _pop(lambda e: _kept(e)[-1], True)),
    Mutant("the one beside was popped", "list", _beside),
    Mutant("the whole list is gone", "list", _sql(lambda: update(Element).values(popped=True))),
    Mutant("nothing is gone", "list", _sql(lambda: update(Element).values(popped=False))),
    Mutant("the target was changed", "rules", _sql(lambda: delete(Target).where(Target.id == 1))),
    Mutant(
        "an element was changed",
        "rules",
        _sql(lambda: update(Element).where(Element.id == 1).values(value=-1)),
    ),
    Mutant("the budget was changed", "rules", _sql(lambda: update(Game).values(budget=10**6))),
]
