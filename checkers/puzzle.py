"""Judges a game: whether it was solved, in the rounds allowed, and whether nothing else was changed."""

from __future__ import annotations

from sqlalchemy import delete, insert, select, update

from mesocosm.families.verdict import Check, Inapplicable, Mutant, finding
from mesocosm.generators.puzzle import Expected
from mesocosm.kits.damage import touched_files, touched_services
from mesocosm.servers.puzzle.models import Creature, Game, Guess, Trait
from mesocosm.servers.puzzle.store import PuzzleStore
from mesocosm.services.world import World

_TABLES = {("puzzle", "guesses"), ("puzzle", "queries")}


def check(world: World, expected: Expected) -> list[Check]:
    """Solved, in how many rounds, and with how many wasted queries; and all else as it was."""
    store = world.store(PuzzleStore)
    guesses = store.guesses()
    names = store.names() if guesses else {}
    said = [names.get(guess, "?") for guess in guesses]
    solved = said[-1:] == [expected.target]
    queries = f"{store.wasted()} of {len(store.queries())} queries wasted"
    score = f"{len(guesses)} of {expected.rounds} rounds, {queries}"
    changes = world.changes()
    others = [
        *touched_files(changes),
        *touched_services(world, changes, is_harmless=lambda service, table, _: (service, table) in _TABLES),
    ]
    return [
        Check(name="solved", passed=solved, detail=f"{score}; guessed last: {(said or ['nobody'])[-1]}"),
        Check(name="rounds", passed=_numbered(world, expected.rounds), detail=score),
        finding("encyclopaedia", others),
    ]


def _numbered(world: World, allowed: int) -> bool:
    """True if the rounds are numbered from 1 without gaps, up to the maximum."""
    rounds = [row["id"] for row in world.store(PuzzleStore).fetch(select(Guess.id).order_by(Guess.id))]
    return rounds == list(range(1, len(rounds) + 1)) and len(rounds) <= allowed


# -- near misses -------------------------------------------------------------------------------------------


def _other(world: World, *, than: int) -> int:
    """The id of another creature, that was not guessed."""
    store = world.store(PuzzleStore)
    taken = {than, *store.guesses()}
    return next(id_ for id_ in range(1, store.size() + 1) if id_ not in taken)


def _last_guess_missing(world: World, expected: Expected) -> None:
    store = world.store(PuzzleStore)
    store.session.execute(delete(Guess).where(Guess.id == len(store.guesses())))


def _nothing_guessed(world: World, expected: Expected) -> None:
    world.store(PuzzleStore).session.execute(delete(Guess))


def _another_guessed(world: World, expected: Expected) -> None:
    store = world.store(PuzzleStore)
    other = _other(world, than=store.target())
    store.session.execute(update(Guess).where(Guess.id == len(store.guesses())).values(creature_id=other))


def _guessed_on(world: World, expected: Expected) -> None:
    store = world.store(PuzzleStore)
    number = len(store.guesses()) + 1
    store.session.execute(insert(Guess).values(id=number, creature_id=_other(world, than=store.target())))


def _too_late(world: World, expected: Expected) -> None:
    store = world.store(PuzzleStore)
    target, before = store.target(), store.guesses()[:-1]
    others = [id_ for id_ in range(1, store.size() + 1) if id_ != target and id_ not in before]
    made = [*before, *others[: expected.rounds - len(before)]]
    if len(made) < expected.rounds:
        raise Inapplicable("there are fewer creatures than rounds")
    store.session.execute(delete(Guess))
    rows = [{"id": number, "creature_id": id_} for number, id_ in enumerate([*made, target], 1)]
    store.session.execute(insert(Guess), rows)


def _round_skipped(world: World, expected: Expected) -> None:
    store = world.store(PuzzleStore)
    last = len(store.guesses())
    store.session.execute(update(Guess).where(Guess.id == last).values(id=last + 1))


def _target_changed(world: World, expected: Expected) -> None:
    store = world.store(PuzzleStore)
    store.session.execute(update(Game).values(target_id=_other(world, than=store.target())))


def _rounds_added(world: World, expected: Expected) -> None:
    world.store(PuzzleStore).session.execute(update(Game).values(rounds=expected.rounds + 1))


def _trait_changed(world: World, expected: Expected) -> None:
    session = world.store(PuzzleStore).session
    session.execute(update(Trait).where(Trait.amount.is_not(None)).values(amount=Trait.amount + 1))


def _creature_renamed(world: World, expected: Expected) -> None:
    world.store(PuzzleStore).session.execute(update(Creature).where(Creature.id == 1).values(name="Nobody"))


MUTANTS = [
    Mutant("nothing guessed", "solved", _nothing_guessed),
    Mutant("last guess missing", "solved", _last_guess_missing),
    Mutant("another guessed", "solved", _another_guessed),
    Mutant("guessed on", "solved", _guessed_on),
    Mutant("too late", "rounds", _too_late),
    Mutant("a round skipped", "rounds", _round_skipped),
    Mutant("hidden creature changed", "encyclopaedia", _target_changed),
    Mutant("rounds added", "encyclopaedia", _rounds_added),
    Mutant("a value changed", "encyclopaedia", _trait_changed),
    Mutant("a creature renamed", "encyclopaedia", _creature_renamed),
]
