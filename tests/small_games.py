"""Small games for tests."""

from __future__ import annotations

from mesocosm.kits.rollouts.dataset import RolloutGame, open_book, play_for
from mesocosm.kits.rollouts.engine import RolloutEngine
from mesocosm.kits.rollouts.questions import TYPES, Type
from mesocosm.kits.rollouts.transcript import Format, Scribe
from mesocosm.kits.rollouts.twins import Setting, SymbolVocabulary

SIZE, TOKENS = 90, 7_000


def small_game(
    seed: int, format: Format, *, size: int = SIZE, tokens: int = TOKENS, types: tuple[Type, ...] = TYPES
) -> tuple[RolloutGame, dict[Setting, SymbolVocabulary]]:
    book, words = open_book(seed % 5, size)
    engine = RolloutEngine(book, list(words.values())[:1], format)
    return play_for(engine, f"test {seed}", tokens, seed, types), words


def scribe(game: RolloutGame, words: SymbolVocabulary) -> Scribe:
    return Scribe(words, game.rollout.format, game.rollout.rounds_allowed)
