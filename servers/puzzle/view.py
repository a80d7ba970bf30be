"""Pages of the puzzle: the creatures with their traits, queries and guesses, without the solution."""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sql

from mesocosm.servers.puzzle import models
from mesocosm.servers.puzzle.models import Creature, Game, Guess, Section, Trait
from mesocosm.servers.puzzle.store import PuzzleStore
from mesocosm.services.views import Asked, Block, Cell, Fields, Item, Link, Page, Row, Table, View, found_in

view = View()


@view.page("")
def creatures(store: PuzzleStore, asked: Asked) -> Page:
    """Page of queries, guesses and creatures."""
    game = store.session.scalars(sql.select(Game)).first()
    names = dict(store.session.execute(sql.select(Creature.id, Creature.name)).all())
    guesses = [
        Row(
            [one.id, Link(names.get(one.creature_id, ""), f"creature/{one.creature_id}")],
            ref=f"guesses:{one.id}",
        )
        for one in store.session.scalars(sql.select(Guess).order_by(Guess.id))
    ]
    queries = [
        Row([one.id, one.guesses, one.conditions], ref=f"queries:{one.id}")
        for one in store.session.scalars(sql.select(models.Query).order_by(models.Query.id))
    ]
    rows = [
        Row([one.number, Link(one.name, f"creature/{one.id}")], ref=f"creatures:{one.id}")
        for one in store.session.scalars(
            sql.select(Creature).order_by(Creature.id).offset(asked.start).limit(asked.size)
        )
    ]
    blocks: list[Block] = [
        Fields({"Guesses": f"{len(guesses)} of {game.rounds}" if game else ""}),
        Table(["Round", "Guess"], guesses, title="Guesses", empty="No guess."),
        Table(["Query", "After guesses", "Conditions"], queries, title="Queries", empty="No query."),
        Table(["Number", "Creature"], rows, len(names), "Creatures"),
    ]
    return Page("Puzzle", blocks)


@view.page("creature/{id}")
def creature(store: PuzzleStore, asked: Asked, id: str) -> Page:
    found = found_in(store, Creature, id, "creature")
    traits = store.session.execute(
        sql.select(Section.name, Trait.word, Trait.amount)
        .join(Section, Section.id == Trait.section_id)
        .where(Trait.creature_id == found.id)
        .order_by(Section.id, Trait.id)
    )
    told: dict[str, list[str]] = {}
    for section, word, amount in traits:
        told.setdefault(section, []).append(str(amount if word is None else word))
    facts: dict[str, Cell] = {
        "Number": found.number,
        **{name: ", ".join(values) for name, values in told.items()},
    }
    return Page(found.name, [Fields(facts, ref=f"creatures:{found.id}")], up=Link("Puzzle", ""))


@view.items
def items(store: PuzzleStore) -> Iterator[Item]:
    """All creatures."""
    words: dict[int, list[str]] = {}
    for creature, word, amount in store.session.execute(
        sql.select(Trait.creature_id, Trait.word, Trait.amount).order_by(Trait.id)
    ):
        words.setdefault(creature, []).append(str(amount if word is None else word))
    for one in store.session.scalars(sql.select(Creature).order_by(Creature.id)):
        yield Item(
            "creature",
            one.name,
            "\n".join(words.get(one.id, ())),
            f"creature/{one.id}",
            f"creatures:{one.id}",
        )
