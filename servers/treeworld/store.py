"""The rules of the tree world: children are told of any node, for as long as the budget lasts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, select
from sqlalchemy.orm import aliased

from mesocosm.errors import Conflict, Invalid, NotFound
from mesocosm.servers.treeworld.models import Base, Ending, Game, Node
from mesocosm.services.service import Store

PER_PAGE = 2_000
MAX_ID = 100

NewNode = tuple[str, int, int | None]
"""Id, value, and the place of its parent in the list of nodes."""

_BUDGET = select(Game.budget)
_NODE = select(Node.number).where(Node.node_id == bindparam("node_id"))
_CHILDREN = (
    select(Node.node_id.label("id"), Node.value.label("val"))
    .where(Node.parent == bindparam("number"))
    .order_by(Node.number)
)
_PARENT = aliased(Node)
_EDGES = (
    select(Node.node_id.label("id"), Node.value.label("val"), _PARENT.node_id.label("parent"))
    .join(_PARENT, Node.parent == _PARENT.number, isouter=True)
    .order_by(Node.number)
    .where(Node.number > bindparam("at"))
    .limit(PER_PAGE)
)
[_BY_PARENT] = Base.metadata.tables["nodes"].indexes
_UNTOLD = select(Node.node_id).where(Node.told.is_(False))
_ENDINGS = select(Ending.found, Ending.unasked).order_by(Ending.id)


class TreeworldStore(Store):
    """One tree and the budget of calls."""

    metadata = Base.metadata

    def children(self, node_id: str) -> list[dict[str, Any]]:
        """Id and value of the children of a node."""
        self._take_turn()
        return [dict(row) for row in self.fetch(_CHILDREN, number=self._number(node_id))]

    def nodes(self, at: int) -> Sequence[Mapping[str, Any]]:
        """A page of all nodes, each with its parent."""
        return self.fetch(_EDGES, at=at)

    def endings(self) -> list[str | None]:
        """Return the final statement, if any, as a list."""
        return [row["found"] for row in self.fetch(_ENDINGS)]

    def unasked(self) -> int:
        """Nodes about which nobody had asked when it was said that the value cannot be reached."""
        return sum(row["unasked"] for row in self.fetch(_ENDINGS))

    def end(self, found: str | None) -> None:
        """End the search with a node, or with the word that there is none."""
        self._take_turn()
        if found is not None:
            self._number(found)
        self.session.add(Ending(found=found, unasked=0 if found is not None else self._unasked()))

    def _unasked(self) -> int:
        asked = {arguments.get("id") for arguments in self.world.done_before(self.service, "get_children")}
        return sum(row["node_id"] not in asked for row in self.fetch(_UNTOLD))

    def _number(self, node_id: str) -> int:
        if not node_id or len(node_id) > MAX_ID:
            raise Invalid(f"id: the id of a node has 1 to {MAX_ID} characters.")
        rows = self.fetch(_NODE, node_id=node_id)
        if not rows:
            raise NotFound(f"There is no node with the id {node_id!r}.")
        return int(rows[0]["number"])

    def _take_turn(self) -> None:
        budget = self.budget
        if self.world.turns(self.service) >= budget:
            raise Conflict(f"The budget of {budget} calls is used up.")

    @property
    def budget(self) -> int:
        """Calls that may be made in all."""
        rows = self.fetch(_BUDGET)
        if not rows:
            raise Conflict("There is no tree in this world.")
        return int(rows[0]["budget"])

    # -- filling ----------------------------------------------------------------------------------------

    def set_up(self, nodes: Iterable[NewNode], told: Collection[str], budget: int) -> None:
        """Create a tree, parents before children; ``told``: nodes whose children are known."""
        rows = [
            (number, node_id, value, None if parent is None else parent + 1, node_id in told)
            for number, (node_id, value, parent) in enumerate(nodes, 1)
        ]
        # As many as there may be: past the mapper, and the index of parents is made at once in the end.
        connection, index = self.session.connection(), _BY_PARENT
        index.drop(connection)
        sql = "INSERT INTO nodes (number, node_id, value, parent, told) VALUES (?, ?, ?, ?, ?)"
        connection.exec_driver_sql(sql, rows)
        index.create(connection)
        self.session.add(Game(id=1, budget=budget))
        self.session.flush()
