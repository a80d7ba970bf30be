"""Page of the tree world: the tree, and the final statement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import sqlalchemy as sql

from mesocosm.errors import NotFound
from mesocosm.servers.treeworld.models import Ending, Game, Node
from mesocosm.servers.treeworld.store import TreeworldStore
from mesocosm.services.views import Asked, Branch, Fields, Item, Link, Page, Row, Table, Tree, View

view = View()
_SHOWN = 400
"""Nodes of a page; what lies below is on the page of its parent."""


@view.page("")
def root(store: TreeworldStore, asked: Asked) -> Page:
    """The tree from its root down."""
    budget = store.session.scalar(sql.select(Game.budget))
    endings = [
        Row([one.found or "it cannot be reached", one.unasked], ref=f"endings:{one.id}")
        for one in store.session.scalars(sql.select(Ending).order_by(Ending.id))
    ]
    said = [Table(["Said in the end", "Nodes nobody asked about"], endings)] if endings else []
    total = store.session.scalar(sql.select(sql.func.count()).select_from(Node))
    roots = store.session.scalars(sql.select(Node).where(Node.parent.is_(None)).order_by(Node.number)).all()
    return Page("Tree", [Fields({"Nodes": total, "Budget": budget}), *said, Tree(_branches(store, roots))])


@view.page("node/{id}")
def node(store: TreeworldStore, asked: Asked, id: str) -> Page:
    """The tree from a node down."""
    found = store.session.scalar(sql.select(Node).where(Node.node_id == id))
    if found is None:
        raise NotFound("there is no such node")
    above = store.session.get(Node, found.parent) if found.parent else None
    up = Link(above.node_id, f"node/{above.node_id}") if above else Link("Tree", "")
    return Page(id, [Tree(_branches(store, [found]))], up=up)


def _branches(store: TreeworldStore, roots: Iterable[Node]) -> list[Branch]:
    """Branches, as many levels as a page has room for."""
    level: list[Node] = list(roots)
    levels, shown = [level], len(level)
    while level and shown < _SHOWN:
        numbers = [one.number for one in level]
        level = list(
            store.session.scalars(sql.select(Node).where(Node.parent.in_(numbers)).order_by(Node.number))
        )
        levels.append(level)
        shown += len(level)
    below: dict[int | None, list[Branch]] = {}
    for nodes in reversed(levels):
        made = [(one.parent, _branch(one, below.get(one.number, []))) for one in nodes]
        below = {}
        for parent, branch in made:
            below.setdefault(parent, []).append(branch)
    return [branch for branches in below.values() for branch in branches]


def _branch(one: Node, children: list[Branch]) -> Branch:
    return Branch(f"{one.node_id}: {one.value}", children, f"node/{one.node_id}", f"nodes:{one.number}")


@view.items
def items(store: TreeworldStore) -> Iterator[Item]:
    """All nodes."""
    for one in store.session.scalars(sql.select(Node).order_by(Node.number)):
        yield Item("node", one.node_id, str(one.value), f"node/{one.node_id}", f"nodes:{one.number}")
