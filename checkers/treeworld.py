"""Judges what the agent said at the end of its search, which it can say within the budget only."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from sqlalchemy import delete, insert, select, update

from mesocosm.families.verdict import Check, Inapplicable, Misreading, Mutant, finding
from mesocosm.generators.treeworld import Expected
from mesocosm.kits.damage import touched_tables
from mesocosm.servers.treeworld.models import Ending, Game, Node
from mesocosm.servers.treeworld.store import TreeworldStore
from mesocosm.services.calling import Tools
from mesocosm.services.world import World


def check(world: World, expected: Expected) -> list[Check]:
    """Check that the node was found, or the value correctly reported as unreachable."""
    store = world.store(TreeworldStore)
    endings, unasked = store.endings(), store.unasked()
    said = ", ".join("unreachable" if one is None else f"found {one}" for one in endings) or "nothing"
    wanted = "it is unreachable" if expected.answer is None else f"it is {expected.answer}"
    return [
        Check(name="ended", passed=len(endings) == 1, detail=f"said: {said}"),
        Check(name="answer", passed=endings == [expected.answer], detail=f"said: {said}; {wanted}"),
        # That the value is nowhere is known only to who has asked about every node: a guess is not enough.
        Check(name="searched", passed=not unasked, detail=f"nodes never asked about: {unasked}"),
        finding("tree", touched_tables(world, world.changes(), "treeworld", apart_from=("endings",))),
    ]


# -- near misses -------------------------------------------------------------------------------------------


def _said(other: Callable[[World, Expected], str | None]) -> Callable[[World, Expected], None]:
    """Something else was said than what is right."""

    def apply(world: World, expected: Expected) -> None:
        said = other(world, expected)
        if said == expected.answer:
            raise Inapplicable("it is right")
        world.store(TreeworldStore).session.execute(update(Ending).values(found=said))

    return apply


def _node(world: World, *conditions: object) -> str:
    statement = select(Node.node_id).where(*conditions).order_by(Node.number)  # type: ignore[arg-type]
    found = world.store(TreeworldStore).session.scalars(statement).first()
    if found is None:
        raise Inapplicable("there is no such node")
    return found


def _parent(world: World, expected: Expected) -> int:
    statement = select(Node.parent).where(Node.node_id == expected.answer)
    found = world.store(TreeworldStore).session.scalar(statement)
    if found is None:
        raise Inapplicable("there is nothing to be found")
    return found


def _sql(statement: Callable[[], object]) -> Callable[[World, Expected], None]:
    def apply(world: World, expected: Expected) -> None:
        world.store(TreeworldStore).session.execute(statement())  # type: ignore[call-overload]

    return apply


def _all_but_one(tools: Tools, expected: Expected) -> None:
    """Asks about all nodes but the last one that became known, and gives up."""
    frontier = deque(node for node, _, children in expected.given if children is None)
    if len(frontier) < 2:
        raise Inapplicable("there is nothing to leave out")
    while len(frontier) > 1:
        frontier.extend(
            child["id"] for child in tools.call("treeworld", "get_children", id=frontier.popleft())
        )
    tools.call("treeworld", "unreachable")


MUTANTS = [
    Misreading(
        "given up at once",
        frozenset({"searched", "answer"}),
        lambda tools, e: None,
        lambda tools, e: tools.call("treeworld", "unreachable"),
    ),
    Misreading(
        "given up with one node left", frozenset({"searched", "answer"}), lambda tools, e: None, _all_but_one
    ),
    Mutant("nothing said", "ended", _sql(lambda: delete(Ending))),
    Mutant("said twice", "ended", _sql(lambda: insert(Ending).values(found=None))),
    Mutant("given up", "answer", _said(lambda world, e: None)),
    Mutant("the root", "answer", _said(lambda world, e: e.given[0][0])),
    Mutant("a node that was told", "answer", _said(lambda world, e: e.given[-1][0])),
    Mutant("the parent", "answer", _said(lambda w, e: _node(w, Node.number == _parent(w, e)))),
    Mutant(
        "a sibling",
        "answer",
        _said(lambda w, e: _node(w, Node.parent == _parent(w, e), Node.node_id != e.answer)),
    ),
    Mutant("a greater value", "answer", _said(lambda w, e: _node(w, Node.value > e.value))),
    Mutant("a smaller value", "answer", _said(lambda w, e: _node(w, Node.value < e.value))),
    Mutant("the value instead of the id", "answer", _said(lambda w, e: str(e.value))),
    Mutant(
        "a value was changed", "tree", _sql(lambda: update(Node).where(Node.number == 1).values(value=-1))
    ),
    Mutant("the budget was changed", "tree", _sql(lambda: update(Game).values(budget=10**6))),
]
