"""Small games for tests."""

from __future__ import annotations

from mesocosm.kits.rollouts.dataset import Game, open_book, play_for
from mesocosm.kits.rollouts.engine import Engine
from mesocosm.kits.rollouts.questions import TYPES, Type
from mesocosm.kits.rollouts.transcript import Format, Scribe
from mesocosm.kits.rollouts.twins import Setting, Vocabulary

SIZE, TOKENS = 90, 7_000


def small_game(
    seed: int, format: Format, *, size: int = SIZE, tokens: int = TOKENS, types: tuple[Type, ...] = TYPES
) -> tuple[Game, dict[Setting, Vocabulary]]:
    book, words = open_book(seed % 5, size)
    engine = Engine(book, list(words.values())[:1], format)
    return play_for(engine, f"test {seed}", tokens, seed, types), words


def scribe(game: Game, words: Vocabulary) -> Scribe:
    return Scribe(words, game.rollout.format, game.rollout.rounds_allowed)
