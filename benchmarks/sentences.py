"""What of a campus world can be skipped without being read, sentence by sentence.

    python benchmarks/sentences.py [TASK ...] [--lengths 64k 256k] [--seeds 6] [--difficulties medium hard]

For each task, length and difficulty, over so many seeds of the split `test`: a filter of words and pairs
of words that learned from as many worlds of the split `train` (scenes that it has not seen are what it is
tried on), with the perfect filter beside it; untrained rules (names that nobody of the headers has; names and
student IDs of those in question; who wrote to whom); first names that are met again; runs of eight words
that occur twice, names and numbers masked; the processor time of building.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import process_time

from mesocosm.families.building import build_instance
from mesocosm.families.family import load_family
from mesocosm.families.quantities import parse_length
from mesocosm.kits.organisations.asking import Asked
from mesocosm.kits.organisations.people import Person
from mesocosm.kits.organisations.sentences import (
    Role,
    Sentence,
    dropped_by,
    first_names_met_again,
    repeated_runs,
    sentences_of,
    skipped,
)
from mesocosm.kits.organisations.telling import Letter
from mesocosm.worlds.manifest import Manifest
from mesocosm.worlds.randomness import Dice

EVIDENCE: frozenset[Role] = frozenset({"evidence"})
BOTH: frozenset[Role] = frozenset({"evidence", "lookalike"})
TASKS = ("course_assistant", "oral_exams", "canvas_arrange_exam")


def world(
    task: str, length: str, seed: int, difficulty: str, split: str
) -> tuple[list[Letter], set[str], Person, float]:
    """The letters of an instance, keys of those that matter, whose mailbox it is, and the seconds of
    building."""
    family = load_family(task)
    parameters = {"difficulty": difficulty, "split": split}
    began = process_time()
    with tempfile.TemporaryDirectory() as folder:
        built = build_instance(
            family, seed, Path(folder) / "x", target=parse_length(length), parameters=parameters
        )
        seconds = process_time() - began
        manifest = Manifest.read(built.path / "world")
    asked = family._written
    assert isinstance(asked, Asked)
    params = family.params_type(**manifest.parameters)
    made, letters, matter = asked.told(Dice(task, seed).stream, params)
    return letters, matter, made.me, seconds


def scores(train: Sequence[Sentence], test: Sequence[Sentence], roles: frozenset[Role]) -> list[float]:
    """How much each sentence looks like one that tells something, to a filter that learned from others."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression

    vectorizer = CountVectorizer(ngram_range=(1, 2), token_pattern=r"(?u)\b\w+\b|[?!]")
    features = vectorizer.fit_transform([one.text for one in train])
    model = LogisticRegression(max_iter=400, class_weight="balanced", C=3)
    model.fit(features, [one.role in roles for one in train])
    found: list[float] = model.predict_proba(vectorizer.transform([one.text for one in test]))[:, 1].tolist()
    return found


def measure(task: str, length: str, seeds: int, difficulty: str) -> dict[str, list[float]]:
    """The figures of each seed, by their names."""
    learned = []
    for seed in range(seeds):
        letters, _, _, _ = world(task, length, 100 + seed, difficulty, "train")
        learned += sentences_of(letters)
    found: dict[str, list[float]] = {}
    for seed in range(seeds):
        letters, matter, me, seconds = world(task, length, seed, difficulty, "test")
        sentences = sentences_of(letters)
        total = sum(one.size for one in sentences)
        told = sum(one.size for one in sentences if one.role in BOTH)
        people = {who for letter in letters for who in (letter.sender, letter.to, letter.cc) if who}
        everybody = {
            who.first
            for letter in letters
            for who in letter.cast.story.roles.values()
            if isinstance(who, Person)
        }
        written = {who.first for who in people}
        target = [letter for letter in letters if letter.key in matter]
        about = {letter.about for letter in target}
        theirs = {who for course in about if course for who in (*course.students, course.instructor)} - {me}
        unknown = [any(name in everybody - written for name in one.text.split()) for one in sentences]
        keys = {part for who in theirs for part in (who.last, who.number) if part}
        keyless = [not any(key in one.text for key in keys) for one in sentences]
        strangers = [not ({one.letter.sender, one.letter.to} & theirs) for one in sentences]
        names = {part for who in people for part in (who.first, who.last)} | everybody
        names |= {
            word
            for letter in letters
            if letter.about
            for word in (letter.about.title, letter.about.short, letter.about.room)
        }
        names |= {topic for course in about if course for topic in course.topic.values()}
        row = {
            "filter": skipped(sentences, scores(learned, sentences, BOTH), BOTH),
            "filter, evidence alone": skipped(sentences, scores(learned, sentences, EVIDENCE), EVIDENCE),
            "perfect filter": 1 - told / total,
            "unknown names drop": dropped_by(sentences, unknown)[0],
            "unknown names lose": dropped_by(sentences, unknown)[1],
            "keys drop": dropped_by(sentences, keyless)[0],
            "keys lose": dropped_by(sentences, keyless)[1],
            "headers drop": dropped_by(sentences, strangers)[0],
            "headers lose": dropped_by(sentences, strangers)[1],
            "first names met again": first_names_met_again(letters, everybody | written),
            "repeated runs": repeated_runs([letter.body for letter in letters], names),
            "messages": float(len(letters)),
            "CPU s": seconds,
        }
        for name, value in row.items():
            found.setdefault(name, []).append(value)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tasks", nargs="*", default=list(TASKS))
    parser.add_argument("--lengths", nargs="+", default=["64k", "256k"])
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--difficulties", nargs="+", default=["medium", "hard"])
    options = parser.parse_args()
    for task in options.tasks:
        for length in options.lengths:
            for difficulty in options.difficulties:
                print(f"{task} {length} {difficulty}, {options.seeds} seeds", flush=True)
                for name, values in measure(task, length, options.seeds, difficulty).items():
                    mean, least, most = statistics.mean(values), min(values), max(values)
                    print(f"  {name:24} {mean:7.3f}  ({least:.3f} to {most:.3f})")


if __name__ == "__main__":
    main()
