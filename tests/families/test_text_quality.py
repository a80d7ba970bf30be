"""Distractor texts read like many people wrote them: measured at 256K, for every generator.

At 256K the share of 8-word shingles that occur more than once stays below 5 %, and zlib cannot shrink the
free text below 25 % of its size. Free text is what people would have written: the values of JSON results
that are longer than a few words, and text results; not the JSON around them.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mesocosm.families.building import build_instance
from mesocosm.families.family import family_names, load_family
from mesocosm.families.length import take_survey
from mesocosm.services.calling import decode
from mesocosm.worlds.world import World

LENGTH = 256_000
SHORTEST = 80
"""Characters from which a value counts as free text."""


class Recorder:
    """Collects the free texts of a survey, each once, without those that hold evidence."""

    def __init__(self) -> None:
        self.texts: dict[str, None] = {}

    def add(self, block: str) -> None:
        for text in free_texts(decode(block)):
            self.texts.setdefault(text)


def free_texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for item in value.values():
            yield from free_texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from free_texts(item)
    elif isinstance(value, str) and len(value) >= SHORTEST and " " in value:
        yield value


def generators() -> dict[str, str]:
    """A task of each generator: variants of a task write the same texts."""
    return {load_family(name).task.family: name for name in reversed(family_names())}


WITHOUT_PROSE = {"gridworld", "listworld", "treeworld", "puzzle", "puzzle_history", "longproc"}
"""Worlds of values and records: nobody writes in them."""


def writing() -> list[str]:
    """A task of each generator in whose worlds people write."""
    return sorted(task for generator, task in generators().items() if generator not in WITHOUT_PROSE)


@pytest.mark.parametrize("family", writing())
def test_distractor_texts_are_varied(family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder()
    loaded = load_family(family)
    instance = build_instance(loaded, 0, tmp_path / "instance", target=LENGTH)
    with World(instance.path / "world") as world:
        peek = world.peek

        def recording(*call: Any) -> Any:
            outcome = peek(*call)
            for block in outcome.blocks:
                if isinstance(block, str):
                    recorder.add(block)
            return outcome

        monkeypatch.setattr(world, "peek", recording)
        take_survey(loaded, world, instance.expected)
    evidence = [piece.contains for piece in instance.expected.evidence]
    texts = [text for text in recorder.texts if not any(piece in text for piece in evidence)]
    words = [word for text in texts for word in text.lower().split()]
    assert len(words) > 20_000, "there is little free text to judge"
    shingles = Counter(tuple(words[index : index + 8]) for index in range(len(words) - 7))
    repeated = sum(number for number in shingles.values() if number > 1) / sum(shingles.values())
    assert repeated < 0.05, f"{repeated:.1%} of the shingles are repeated"
    together = "\n".join(texts).encode()
    ratio = len(zlib.compress(together, 9)) / len(together)
    assert ratio > 0.25, f"zlib shrinks the text to {ratio:.1%}"
