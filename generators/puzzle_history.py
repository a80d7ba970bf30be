"""A question about the history of an agent that played a guessing game; the history is served, not given."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Annotated, Any, Literal, Self

import orjson
from pydantic import BeforeValidator, Field, model_validator

from mesocosm.families import family
from mesocosm.families.family import Evidence
from mesocosm.families.quantities import parse_length
from mesocosm.kits.rollouts import wording
from mesocosm.kits.rollouts.dataset import RolloutGame, name_of, play_for, play_job, tokens_of
from mesocosm.kits.rollouts.encyclopaedia import MAX_ENTRIES, MIN_ENTRIES, invent
from mesocosm.kits.rollouts.engine import RolloutEngine
from mesocosm.kits.rollouts.options import read_plan
from mesocosm.kits.rollouts.questions import TYPES, RolloutQuestion, Type
from mesocosm.kits.rollouts.scores import AnswerKind, kind_of
from mesocosm.kits.rollouts.transcript import Format, Scribe, body, heading
from mesocosm.kits.rollouts.twins import Setting, SymbolVocabulary, symbols_of, words_of
from mesocosm.servers.history.store import HistoryStore
from mesocosm.services.calling import Tools
from mesocosm.services.world import World

_LEAST_TOKENS = 4_500
"""Of a history without any filler."""


def _tokens(value: object) -> object:
    return parse_length(value) if isinstance(value, str) else value


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
    bucket: Annotated[int, BeforeValidator(_tokens)] = Field(default=0, ge=0)
    """Tokens such as 32k: not a game of its own, but a trajectory of `dataset agentlongbench` (seed 0), with
    the question that `eval agentlongbench` asks about it. With ``question=any`` seeds 0 to 7 are the
    questions about its first trajectory, 8 to 15 those about the second; else the seed is its number."""

    @model_validator(mode="after")
    def _one_length(self) -> Self:
        if self.bucket and self.filler_tokens:
            raise ValueError("a bucket says how long the history is: leave --length and filler_tokens out")
        return self

    def turn(self, seed: int) -> tuple[Type, int]:
        """The type of a seed's question, and the number of its game."""
        if self.question == "any":
            return TYPES[seed % len(TYPES)], seed // len(TYPES)
        return self.question, seed


@dataclass(frozen=True)
class Posed:
    """A game with the question about it that is asked."""

    game: RolloutGame
    question: RolloutQuestion
    words: SymbolVocabulary
    twin: str = ""
    """The trajectory's name in the dataset; empty: it is in none."""

    @property
    def id(self) -> str:
        """Id of the question in the dataset."""
        return f"{self.words.setting}-{self.twin}-{self.question.type}" if self.twin else ""


class Expected(family.Expected):
    """Knowledge of the checker."""

    type: Type
    question: str = ""
    """The question's name in the dataset, if it is one of the dataset's."""
    answer: list[str]
    kind: AnswerKind
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
    posed = _of_the_dataset(world, params) if params.bucket else _of_its_own(world, params)
    rollout = posed.game.rollout
    scribe = Scribe(posed.words, params.format, rollout.rounds_allowed)
    world.store(HistoryStore).add_messages(
        (message["role"], heading(at, message), body(message))
        for at, message in enumerate(scribe.messages(rollout))
    )
    return _expected(posed, tokens_of(scribe, rollout), world.stream("decoy"))


def _of_the_dataset(world: World, params: Params) -> Posed:
    kind, number = params.turn(world.manifest.seed)
    plan = read_plan(lengths=str(params.bucket), settings=params.setting, formats=params.format, behaviour={})
    job = (params.format, params.bucket, number)
    game = play_job(plan, job)
    _, vocabularies = plan.book(plan.size(params.format, params.bucket))
    question = next(one for one in game.questions if one.type == kind)
    return Posed(game, question, vocabularies[params.setting], name_of(job))


def _of_its_own(world: World, params: Params) -> Posed:
    kind, _ = params.turn(world.manifest.seed)
    book = invent(world.stream("encyclopaedia"), params.items)
    # Drawn in both settings: twins of one seed are the same game.
    symbols = symbols_of(book, world.stream("symbols"))
    words = words_of(book) if params.setting == "ki" else symbols
    engine = RolloutEngine(book, [words_of(book)], params.format)
    name = world.stream("game").randbytes(8).hex()
    turn = world.manifest.seed // len(TYPES)
    game = play_for(engine, name, _LEAST_TOKENS + params.filler_tokens, turn, (kind,))
    return Posed(game, game.questions[0], words)


def _expected(posed: Posed, sizes: Sequence[int], rng: random.Random) -> Expected:
    question, words, format = posed.question, posed.words, posed.game.rollout.format
    answer = wording.answer(question, words)
    held, ends = question.evidence, list(accumulate(sizes))
    return Expected(
        public={"question": wording.put(question, words, format), "thing": words.thing},
        evidence=[Evidence(service="history", contains=f"Message {at} (") for at in held],
        type=question.type,
        question=posed.id,
        answer=answer,
        kind=kind_of(question.type, format),
        decoy=rng.choice([name for name in words.names if name not in answer]),
        evidence_tokens=sum(sizes[at] for at in held),
        evidence_span=ends[held[-1]] - ends[held[0]] + sizes[held[0]],
        rounds=len(posed.game.rollout.rounds),
    )


def survey(tools: Tools, expected: Expected) -> None:
    """Read the whole history."""
    tools.call("history", "describe_history")
    place: dict[str, Any] = {"first": 0}
    while place:
        blocks = tools.read("history", "read_messages", place)
        onward = orjson.loads(blocks[1]) if len(blocks) > 1 else {}
        place = {"first": onward["next_first"], "offset": onward["next_offset"]} if onward else {}
