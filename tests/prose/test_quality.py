"""The acceptance of generated text: varied, the same everywhere, silent on graded facts."""

from __future__ import annotations

import hashlib
import os
import random
import re
import subprocess
import sys
import zlib
from collections import Counter
from functools import cache

import pytest
from samples import sampled

from mesocosm.kits.prose import TOPICS, Prose

SINGLE_TOPIC_FLOOR = 0.25
"""A whole world of one topic still clears the project's limit."""


@cache
def corpus(topics: tuple[str, ...], words: int) -> str:
    prose = Prose(random.Random(41))
    parts: list[str] = []
    written = turn = 0
    while written < words:
        topic = topics[turn % len(topics)]
        if turn % 3:
            message = prose.message(topic, 160, prose.person(), prose.person())
            parts.append(f"{message.subject}\n{message.body}")
        else:
            parts.append(prose.text(topic, 200))
        written += parts[-1].count(" ") + 1
        turn += 1
    return "\n\n".join(parts)


def repeated_shingle_share(text: str, size: int = 8) -> float:
    words = text.lower().split()
    shingles = Counter(zip(*(words[start:] for start in range(size)), strict=False))
    return sum(count for count in shingles.values() if count > 1) / (len(words) - size + 1)


def zlib_share(text: str) -> float:
    data = text.encode()
    return len(zlib.compress(data, 9)) / len(data)


def test_mixed_text_hardly_repeats_eight_words() -> None:
    assert repeated_shingle_share(corpus(TOPICS, 200_000)) < 0.03


def test_mixed_text_does_not_compress() -> None:
    assert zlib_share(corpus(TOPICS, 200_000)) > 0.30


@pytest.mark.parametrize("topic", sampled(TOPICS, ("course_admin", "customer_letters", "shop_orders")))
def test_one_topic_alone_hardly_repeats(topic: str) -> None:
    text = corpus((topic,), 60_000)
    assert repeated_shingle_share(text) < 0.03
    assert zlib_share(text) > SINGLE_TOPIC_FLOOR


def test_text_has_no_trace_of_templates() -> None:
    text = corpus(TOPICS, 200_000)
    for artefact in (
        r"[{}<>\[\]|~_]{2}",
        r"[{}<\[\]|~]",
        r"  ",
        r" [,.;:?!]",
        r"\.\.",
        r",,",
        r"[\x00-\x09]",
    ):
        assert not re.search(artefact, text), artefact
    assert not re.search(r"\b(coachs|boxs|shelfs|secretarys)\b", text)
    # "a" before a vowel, apart from the words that sound otherwise
    assert not re.findall(r"\ba (?!one|once|eu|Eu)[aeioAEIO]\w+", text)


def test_sentences_begin_with_a_capital() -> None:
    text = corpus(("course_admin",), 60_000)
    starts = re.findall(r"[a-z]{3}\. ([^\s])", text)
    lower = [start for start in starts if start.islower()]
    assert len(lower) == 0


@pytest.mark.parametrize(
    ("topic", "forbidden"),
    [
        ("course_admin", r"\b(exams?|examinations?|finals?|midterms?|credits?|proctor\w*|invigilat\w*)\b"),
        ("coursework", r"\b(final exam|exams?|proctor\w*)\b"),
        ("conference", r"\bdeadlines?\b|\bdue\b"),
        ("admissions", r"\b(deadlines?|required?|requirements?|transcripts?|GRE|TOEFL|due)\b"),
        ("shop_orders", r"\b\d+ (units )?in stock\b"),
        ("supplier", r"\b\d+ (units )?in stock\b"),
        ("shop_marketing", r"\b\d+ (units )?in stock\b"),
        ("shop_suppliers", r"\b\d+ (units )?in stock\b"),
        ("shop_visits", r"\b(orders?|refunds?|refunded|money|returns?|returned|kept it|collect\w*)\b|#"),
        ("site_contacts", r"\b(visits?|visited|tours?|cancel\w*|called off|postpone\w*|come|comes|coming)\b"),
        ("counting_notes", r"\b(recounts?|void|pieces|hall \d|shelf|shelves)\b|\b\d{6}\b"),
    ],
)
def test_background_text_states_no_graded_fact(topic: str, forbidden: str) -> None:
    assert not re.findall(forbidden, corpus((topic,), 60_000), re.IGNORECASE)


def test_text_holds_no_addresses() -> None:
    assert "@" not in corpus(TOPICS, 200_000)


SCRIPT = """
import random, hashlib
from mesocosm.kits.prose import TOPICS, Prose
prose = Prose(random.Random(11))
people = [prose.person() for _ in range(3)]
out = [repr((prose.product(), prose.course_subject(), prose.company(), prose.place())) for _ in range(50)]
for locale, state in (("en_US", "NY"), ("fi_FI", ""), ("en_IN", ""), ("de_DE", "")):
    out += [repr(prose.address(locale, state)) for _ in range(9)]
for topic in TOPICS:
    out += [prose.text(topic, 150), repr(prose.thread(topic, 3, people)), prose.sentence(topic)]
print(hashlib.sha256("".join(out).encode()).hexdigest())
"""


def test_same_seed_writes_the_same_in_every_process() -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "4242")
    }
    assert len(digests) == 1
    assert len(digests.pop().strip()) == len(hashlib.sha256().hexdigest())
