"""Page of the list world: the current list and the target."""

from __future__ import annotations

import sqlalchemy as sql

from mesocosm.servers.listworld.models import Element, Game, Target
from mesocosm.servers.listworld.store import ListworldStore
from mesocosm.services.views import Asked, Board, Fields, Page, View

view = View()
_WIDTH = 25


@view.page("")
def lists(store: ListworldStore, asked: Asked) -> Page:
    """Both lists, in squares."""
    game = store.session.scalars(sql.select(Game)).one()
    elements = store.session.scalars(sql.select(Element).order_by(Element.id)).all()
    target = store.session.scalars(sql.select(Target.value).order_by(Target.id)).all()
    squares = [(str(one.value), "popped" if one.popped else "element") for one in elements]
    facts = Fields(
        {
            "Elements": sum(not one.popped for one in elements),
            "Wanted": len(target),
            "Budget": game.budget,
            "Ended": "yes" if game.done else "no",
        }
    )
    wanted = [(str(value), "wanted") for value in target]
    return Page("List", [facts, Board(_wrapped(squares), "The list"), Board(_wrapped(wanted), "Wanted")])


def _wrapped(squares: list[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    return [squares[at : at + _WIDTH] for at in range(0, len(squares), _WIDTH)]
