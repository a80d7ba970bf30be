"""Rollouts: tokens a second on one core, memory, exactness of counting, and golds against the reader.

    python benchmarks/rollouts.py [--lengths 128k,4m] [--games 200]

Speed is that of all there is to it: playing, questions, both settings, counting and writing as JSON lines.
Tokens are those of both settings. Counting is checked by tokenising every message of the longest trajectories
again. ``--games`` small games are played, and every gold is compared with what ``reading`` finds in the text.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
from time import process_time

import orjson

from mesocosm.families.quantities import parse_lengths, show_length
from mesocosm.kits.rollouts import wording
from mesocosm.kits.rollouts.answers import History, answer_from
from mesocosm.kits.rollouts.dataset import DatasetPlan, lines, open_book, play_for
from mesocosm.kits.rollouts.engine import RolloutEngine
from mesocosm.kits.rollouts.transcript import FORMATS, Scribe, message_tokens


def speed(lengths: list[int]) -> None:
    """Tokens a second, and whether the tokenizer counts the same."""
    for format in FORMATS:
        for length in lengths:
            # As many as a bucket has: some short games are begun several times before one fits.
            many = max(3, min(25, 3_200_000 // length))
            plan = DatasetPlan(lengths=(length,), per_type=many, formats=(format,))
            open_book(plan.seed, plan.size(format, plan.lengths[0]))
            started, made = process_time(), 0
            for number in range(plan.per_type):
                written = lines(plan, (format, length, number))
                made += sum(rows[0].tokens for _, _, rows in written)
            seconds = process_time() - started
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            exact = all(_recounted(line) == rows[0].tokens for line, _, rows in written)
            print(
                f"{format} {show_length(length):>5}  {made / seconds / 1e6:5.2f}M tokens/s  {seconds:6.2f} s "
                f" peak {memory:5.0f} MiB  counted exactly: {exact}"
            )


def _recounted(line: bytes) -> int:
    return sum(map(message_tokens, orjson.loads(line)["messages"]))


def golds(games: int) -> int:
    """Golds that the reader does not find, of so many games in both settings."""
    wrong = asked = 0
    rng = random.Random(7)
    for number in range(games):
        format, size = FORMATS[number % 2], rng.choice((60, 90, 150))
        book, words = open_book(number % 7, size)
        engine = RolloutEngine(book, [words["ki"]], format)
        game = play_for(engine, f"soak {number}", rng.randint(5_000, 12_000), number)
        for vocabulary in words.values():
            scribe = Scribe(vocabulary, format, game.rollout.rounds_allowed)
            history = History.of(scribe.messages(game.rollout))
            for question in game.questions:
                found = answer_from(wording.put(question, vocabulary, format), history)
                wrong += found != ", ".join(wording.answer(question, vocabulary))
                asked += 1
    print(f"golds: {asked:,} of {games:,} games compared, {wrong} differ")
    return wrong


def main() -> None:
    """Measure and compare."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--lengths", default="128k,1m,4m")
    parser.add_argument("--games", type=int, default=200)
    options = parser.parse_args()
    speed(parse_lengths(options.lengths))
    sys.exit(golds(options.games) > 0)


if __name__ == "__main__":
    main()
