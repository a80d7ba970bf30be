"""Exposure by sentence: what of the messages of a world may be skipped without being read.

An item (a whole mail) says little where the sentence that matters lies bare in it. Families that know which
sentences tell something give them here. A filter of words and pairs of words, trained on worlds of other
scenes, then says how much can be dropped while 98 % of what is told keeps its best sentence: what is told of
the question and what looks like it, since both must be read to be told apart. Beside it stand the filter that
sees what is told, and rules that need no training.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from mesocosm.families.family import Family

RECALL = 0.98
_RUN = 3
"""Sentences of a run."""


@dataclass(frozen=True)
class Sentence:
    """A sentence of a message."""

    text: str
    tokens: int
    message: str
    """Key of the message it stands in."""
    telling: str | None = None
    """Key of what it tells; ``None`` where it tells nothing."""
    evidence: bool = False
    """True if what it tells decides the answer; what is told besides looks like it."""
    dropped_by: Mapping[str, bool] = field(default_factory=dict)
    """By untrained rules: whether each would drop it."""


@dataclass(frozen=True)
class MessageItems:
    """The messages of a world, sentence by sentence, in order of time."""

    sentences: Sequence[Sentence]
    first_names_met_again: float
    repeated_runs: float


class SentenceExposure(BaseModel):
    """Share of the messages' tokens that can be skipped."""

    sentences: int
    tokens: int
    by_sentence: float
    """Share that a filter on single sentences drops."""
    by_run: float
    """Share that a filter on runs of three sentences drops."""
    by_knowing: float
    """Share that a filter drops which knows the sentences that matter."""
    rules: dict[str, tuple[float, float]]
    """Of untrained rules: the share that each drops, and the share of the evidence that it loses."""
    first_names_met_again: float
    """The share of the first names that occur in two messages or more."""
    repeated_runs: float
    """The share of runs of eight words that occur twice, names and numbers masked."""


def measure_sentences(
    family: Family,
    seed: int,
    training: Sequence[int],
    *,
    target: int | None,
    parameters: Mapping[str, Any] | None = None,
    report: Callable[[str], None] = lambda _: None,
) -> SentenceExposure | None:
    """Train a filter of sentences on other worlds and apply it to this one; None for families without.

    The training worlds have the scenes of the split ``train`` where this one has those of ``test``.
    """
    read = _reader(family, target, parameters or {}, report)
    if read is None:
        return None
    learned = [one for other in training for one in read(other, training=True).sentences]
    return judge_sentences(learned, read(seed))


def measure_all_sentences(
    family: Family,
    seeds: Sequence[int],
    others: Callable[[int], Sequence[int]],
    *,
    target: int | None,
    parameters: Mapping[str, Any] | None = None,
    report: Callable[[str], None] = lambda _: None,
) -> SentenceExposure | None:
    """Return the mean over several worlds, each read once, and once more with the scenes of training.

    Args:
        others: The places of the seeds from which the filter of one place learns.
    """
    read = _reader(family, target, parameters or {}, report)
    if read is None:
        return None
    learned = [read(seed, training=True).sentences for seed in seeds]
    return means(
        [
            judge_sentences([one for other in others(number) for one in learned[other]], read(seed))
            for number, seed in enumerate(seeds)
        ]
    )


def _reader(
    family: Family, target: int | None, parameters: Mapping[str, Any], report: Callable[[str], None]
) -> Callable[..., MessageItems] | None:
    """Return a reader of messages by seed, for training on other scenes; ``None`` if there is none."""
    messages = family.hook("messages")
    if messages is None:
        return None
    split = parameters.get("split", family.task.parameters.get("split"))
    others = {**parameters, "split": "train"} if split == "test" else parameters

    def read(seed: int, *, training: bool = False) -> MessageItems:
        report(f"reading sentences of seed {seed}")
        found: MessageItems = messages(family, seed, target, others if training else parameters)
        return found

    return read


def judge_sentences(training: Sequence[Sentence], messages: MessageItems) -> SentenceExposure:
    """Measure what a filter trained on ``training`` can skip in messages."""
    sentences = messages.sentences
    total = sum(one.tokens for one in sentences)
    told = sum(one.tokens for one in sentences if one.telling)
    rules = list(sentences[0].dropped_by) if sentences else []
    return SentenceExposure(
        sentences=len(sentences),
        tokens=total,
        by_sentence=round(skipped(sentences, _scores(training, sentences, 1)), 3),
        by_run=round(skipped(sentences, _scores(training, sentences, _RUN)), 3),
        by_knowing=round(1 - told / max(total, 1), 3),
        rules={rule: dropped_by(sentences, rule) for rule in rules},
        first_names_met_again=round(messages.first_names_met_again, 3),
        repeated_runs=round(messages.repeated_runs, 4),
    )


def _scores(training: Sequence[Sentence], sentences: Sequence[Sentence], size: int) -> list[float]:
    """Return how much each sentence looks like one that tells something, alone or in its best run."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression

    known = _runs(training, size)
    told = [any(one.telling for one in run) for run in known]
    if len(set(told)) < 2:
        return [0.0] * len(sentences)
    words = CountVectorizer(ngram_range=(1, 2), token_pattern=r"(?u)\b\w+\b|[?!]")
    model = LogisticRegression(max_iter=400, class_weight="balanced", C=3)
    model.fit(words.fit_transform([_text(run) for run in known]), told)
    runs = _runs(sentences, size)
    found = model.predict_proba(words.transform([_text(run) for run in runs]))[:, 1].tolist()
    best: dict[int, float] = {}
    for run, score in zip(runs, found, strict=True):
        for one in run:
            best[id(one)] = max(best.get(id(one), 0.0), score)
    return [best[id(one)] for one in sentences]


def _runs(sentences: Sequence[Sentence], size: int) -> list[Sequence[Sentence]]:
    """Runs of so many sentences that follow each other in a message, each sentence in at least one."""
    found: list[Sequence[Sentence]] = []
    for at in range(len(sentences)):
        run = sentences[at : at + size]
        own = [one for one in run if one.message == run[0].message]
        # The end of a message is a run of its own only where the message is shorter than a run.
        begins = at == 0 or sentences[at - 1].message != run[0].message
        if len(own) == size or begins:
            found.append(own)
    return found


def _text(run: Sequence[Sentence]) -> str:
    return " ".join(one.text for one in run)


def skipped(sentences: Sequence[Sentence], scores: Sequence[float], recall: float = RECALL) -> float:
    """Return the share of the tokens that can be dropped while so many of the tellings keep their best
    sentence."""
    best: dict[str, float] = {}
    for sentence, score in zip(sentences, scores, strict=True):
        if sentence.telling is not None:
            best[sentence.telling] = max(best.get(sentence.telling, score), score)
    if not best:
        return 0.0
    bound = sorted(best.values())[int(len(best) * (1 - recall))]
    total = sum(sentence.tokens for sentence in sentences)
    return (
        sum(sentence.tokens for sentence, score in zip(sentences, scores, strict=True) if score < bound)
        / total
    )


def dropped_by(sentences: Sequence[Sentence], rule: str) -> tuple[float, float]:
    """Return the share of the tokens that a rule drops, and of the evidence that it loses."""
    total = sum(sentence.tokens for sentence in sentences)
    gone = sum(sentence.tokens for sentence in sentences if sentence.dropped_by[rule])
    lost = [sentence.dropped_by[rule] for sentence in sentences if sentence.evidence]
    return round(gone / max(total, 1), 3), round(sum(lost) / max(len(lost), 1), 3)


def means(found: Sequence[SentenceExposure]) -> SentenceExposure:
    """Return the mean of several instances, figure by figure."""

    def mean(name: str) -> float:
        return statistics.fmean(getattr(one, name) for one in found)

    return SentenceExposure(
        sentences=round(mean("sentences")),
        tokens=round(mean("tokens")),
        rules={
            rule: (
                statistics.fmean(one.rules[rule][0] for one in found),
                statistics.fmean(one.rules[rule][1] for one in found),
            )
            for rule in found[0].rules
        },
        **{
            name: mean(name)
            for name in (
                "by_sentence",
                "by_run",
                "by_knowing",
                "first_names_met_again",
                "repeated_runs",
            )
        },
    )
