"""A question about the history of an agent that played a guessing game; the history is served, not given."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, Literal

import orjson
from pydantic import Field

from mesocosm.families import family
from mesocosm.families.family import Evidence
from mesocosm.kits.rollouts import wording
from mesocosm.kits.rollouts.dataset import Game, play_for, tokens_of
from mesocosm.kits.rollouts.encyclopaedia import MAX_ENTRIES, MIN_ENTRIES, invent
from mesocosm.kits.rollouts.engine import Engine
from mesocosm.kits.rollouts.plain_text import body, heading
from mesocosm.kits.rollouts.questions import TYPES, Type
from mesocosm.kits.rollouts.scoring import Kind, kind_of
from mesocosm.kits.rollouts.transcript import Format, Scribe
from mesocosm.kits.rollouts.twins import Setting, Vocabulary, symbols_of, words_of
from mesocosm.servers.history.store import HistoryStore
from mesocosm.services.calling import Tools
from mesocosm.worlds.world import World

_LEAST_TOKENS = 4_500
"""Of a history without any filler."""


class Params(family.Params):
    """The parameters of the family; the filler is further rounds of the same game."""

    items: int = Field(default=60, ge=MIN_ENTRIES, le=MAX_ENTRIES)
    """Creatures of the encyclopaedia."""
    question: Literal["any"] | Type = "any"
    """The type of the question; ``any`` takes them in turn with the seed."""
    setting: Setting = "ki"
    """Words (``ki``) or symbols (``kf``)."""
    format: Format = "c"
    """Concise (``c``) or verbose (``v``) results."""


class Expected(family.Expected):
    """What the checker needs."""

    type: Type
    answer: list[str]
    kind: Kind
    decoy: str
    """A name that is wrong as an answer."""
    evidence_tokens: int
    evidence_span: int
    rounds: int

    @property
    def measures(self) -> dict[str, int]:
        """Tokens of the evidence, from its first message to its last, and rounds."""
        return {
            "evidence_tokens": self.evidence_tokens,
            "evidence_span": self.evidence_span,
            "rounds": self.rounds,
        }


def generate(world: World, params: Params) -> Expected:
    """Play the game and keep its messages."""
    seed = world.manifest.seed
    kind = TYPES[seed % len(TYPES)] if params.question == "any" else params.question
    book = invent(world.stream("encyclopaedia"), params.items)
    # Drawn in both settings: twins of one seed are the same game.
    symbols = symbols_of(book, world.stream("symbols"))
    words = words_of(book) if params.setting == "ki" else symbols
    engine = Engine(book, [words_of(book)], params.format)
    name = world.stream("game").randbytes(8).hex()
    game = play_for(engine, name, _LEAST_TOKENS + params.filler_tokens, seed // len(TYPES), (kind,))
    scribe = Scribe(words, params.format, game.rollout.rounds_allowed)
    messages = list(scribe.messages(game.rollout))
    world.store(HistoryStore).add_messages(
        (message["role"], heading(at, message), body(message)) for at, message in enumerate(messages)
    )
    return _expected(game, words, tokens_of(scribe, game.rollout), world.stream("decoy"))


def _expected(game: Game, words: Vocabulary, sizes: Sequence[int], rng: random.Random) -> Expected:
    (question,) = game.questions
    answer = wording.answer(question, words)
    held, ends = question.evidence, list(accumulate(sizes))
    return Expected(
        public={"question": wording.put(question, words, game.rollout.format), "thing": words.thing},
        evidence=[Evidence(service="history", contains=f"Message {at} (") for at in held],
        type=question.type,
        answer=answer,
        kind=kind_of(question.type, game.rollout.format),
        decoy=rng.choice([name for name in words.names if name not in answer]),
        evidence_tokens=sum(sizes[at] for at in held),
        evidence_span=ends[held[-1]] - ends[held[0]] + sizes[held[0]],
        rounds=len(game.rollout.rounds),
    )


def survey(tools: Tools, expected: Expected) -> None:
    """Read the whole history."""
    tools.call("history", "describe_history")
    place: dict[str, Any] = {"first": 0}
    while place:
        blocks = tools.read("history", "read_messages", place)
        onward = orjson.loads(blocks[1]) if len(blocks) > 1 else {}
        place = {"first": onward["next_first"], "offset": onward["next_offset"]} if onward else {}
