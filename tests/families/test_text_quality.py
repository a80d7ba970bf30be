"""Texts read like many people wrote them, and in right English: ``benchmarks/texts.py`` at a smaller size."""

from __future__ import annotations

import random

import pytest
from samples import sampled
from sources import benchmark

from mesocosm.families.family import family_names, load_family
from mesocosm.kits.prose import TOPICS, Prose

LENGTH = 64_000
LONGER = {
    "course_assistant": 128_000,
    "woocommerce_stock_alert": 128_000,
    "woocommerce_new_welcome": 144_000,
    "update_material_inventory": 128_000,
}
"""Where rows take more of the length than letters."""

READ = 5_000
"""Words of each task that the checker reads here; ``benchmarks/texts.py`` has it read 75,000."""


TEXTS = benchmark("texts")


def writing() -> list[str]:
    """A task of each generator in whose worlds people write: variants of a task write the same texts."""
    tasks = {load_family(name).task.family: name for name in reversed(family_names())}
    return sorted(task for generator, task in tasks.items() if generator not in TEXTS.WITHOUT_PROSE)


@pytest.mark.parametrize("task", sampled(writing(), ("course_assistant", "recall_campaign")))
def test_texts_are_varied_and_right(task: str) -> None:
    """At most one in a hundred runs of eight words is met again, and one word in a thousand complained of."""
    texts = TEXTS.texts_of(load_family(task), LONGER.get(task, LENGTH), 0)
    assert sum(len(text.split()) for text in texts) > 4_000, "there is little free text to judge"
    assert TEXTS.repeated(texts) <= TEXTS.REPEATED
    assert TEXTS.shrunk(texts) > 0.25
    assert not TEXTS.slips(texts)
    some = TEXTS.first_words(texts, READ)
    american = load_family(task).task.domain == "campus"
    said, read = TEXTS.complaints(some, american=american), sum(len(text.split()) for text in some)
    assert 1000 * len(said) / read <= TEXTS.COMPLAINTS, "\n".join(said)


@pytest.mark.long
def test_everyday_texts_are_right() -> None:
    """At most one complaint of a grammar checker in a thousand words, over all topics."""
    texts = [Prose(random.Random(topic)).text(topic, 900) for topic in TOPICS]
    said, read = TEXTS.complaints(texts), sum(len(text.split()) for text in texts)
    assert read > 12_000
    assert not TEXTS.slips(texts)
    assert 1000 * len(said) / read <= TEXTS.COMPLAINTS, "\n".join(said)


def test_what_a_tool_repeats_is_read_once() -> None:
    first = (
        "We meet at the old mill, and Ann brings the key to the boat house for everybody who wants to row."
    )
    reading = TEXTS._Reading.__new__(TEXTS._Reading)
    reading.texts = dict.fromkeys(
        [
            first,
            f"<p>{first}</p>",
            first[:90] + "...",
            f"That suits me well.\n\n> {first}\n> Who wrote this line?",
        ]
    )
    assert reading.once() == [first, "That suits me well.\n\n> Who wrote this line?"]
    assert reading.once(without=["old mill"]) == []


def test_listings_of_files_are_not_written_by_anybody() -> None:
    listing = (
        "[FILE] 20762.txt        550 B\n[DIR] notes\n\nTotal: 1 files, 1 directories\nCombined size: 550 B"
    )
    assert list(TEXTS.free_texts({"text": listing})) == []


def test_repeats_are_told_with_their_number() -> None:
    said = "one two three four five six seven eight nine"
    assert TEXTS.repeats([said, "and then", said, "ten"]) == [(2, said)]
