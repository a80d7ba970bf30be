"""Filters that learn from items of other instances which ones hold evidence, and how well they tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from mesocosm.families.exposure.items import DescriptionItem

KEPT = 0.99
"""The share of evidence items that a filter has to keep."""


def area(items: Sequence[DescriptionItem], scores: Sequence[float]) -> float | None:
    """Return the probability that an item with evidence scores above one of its kind without; ``None``
    without such pairs.

    Items of different kinds are no pair: which tool delivers what is no secret, and the prompt says it.
    """
    from scipy.stats import rankdata

    kinds: dict[str, tuple[list[bool], list[float]]] = {}
    for item, score in zip(items, scores, strict=True):
        truth, scored = kinds.setdefault(item.kind, ([], []))
        truth.append(item.evidence)
        scored.append(score)
    right = pairs = 0.0
    for truth, scored in kinds.values():
        held = sum(truth)
        if 0 < held < len(truth):
            # The Mann-Whitney statistic; ties are half right.
            ranks = rankdata(scored).compress(truth)
            right += float(ranks.sum()) - held * (held + 1) / 2
            pairs += held * (len(truth) - held)
    return round(right / pairs, 3) if pairs else None


def curve(
    items: Sequence[DescriptionItem], scores: Sequence[float], points: int = 60
) -> list[tuple[float, float]]:
    """Return points of (share of tokens skipped, share of evidence items kept)."""
    ranked = sorted(zip(scores, items, strict=True), key=lambda pair: pair[0])
    total = sum(item.tokens for item in items)
    held = left = sum(item.evidence for item in items)
    found, dropped = [(0.0, 1.0)], 0
    for number, (_, item) in enumerate(ranked, 1):
        dropped += item.tokens
        left -= item.evidence
        if number * points // len(ranked) > (number - 1) * points // len(ranked):
            found.append((round(dropped / total, 4), round(left / held, 4)))
    return found


def skippable(items: Sequence[DescriptionItem], scores: Sequence[float]) -> float:
    """The share of tokens in items that score below all but the last hundredth of the evidence."""
    held = sorted(score for item, score in zip(items, scores, strict=True) if item.evidence)
    bar = held[int(len(held) * (1 - KEPT))]
    dropped = sum(item.tokens for item, score in zip(items, scores, strict=True) if score < bar)
    return dropped / sum(item.tokens for item in items)


def score_texts(training: Sequence[DescriptionItem], items: Sequence[DescriptionItem]) -> list[float]:
    """Scores of the items by words and pairs of words."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    words = TfidfVectorizer(ngram_range=(1, 2), min_df=2, max_features=60_000, sublinear_tf=True)
    try:
        known = words.fit_transform(f"{item.kind} {item.text}" for item in training)
    except ValueError:  # nothing that is a word
        return [0.0] * len(items)
    model = LogisticRegression(C=10, max_iter=300, class_weight="balanced")
    model.fit(known, [item.evidence for item in training])
    scores = model.decision_function(words.transform(f"{item.kind} {item.text}" for item in items))
    return _standard([float(score) for score in scores])


def score_facts(training: Sequence[DescriptionItem], items: Sequence[DescriptionItem]) -> list[float]:
    """Scores of the items by everything but their text."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.feature_extraction import DictVectorizer

    columns = DictVectorizer(sparse=False)
    known = columns.fit_transform([_categories(item) for item in training])
    model = HistGradientBoostingClassifier(max_iter=120, random_state=0)
    # A tree parts no column of which fewer rows than a leaf has differ: leaving them out changes nothing, and
    # most columns are such (each subject and each code is one).
    apart = [_differing(column) >= model.min_samples_leaf for column in known.T]
    model.fit(known[:, apart], [item.evidence for item in training])
    asked = columns.transform([_categories(item) for item in items])[:, apart]
    return _standard([float(chance) for chance in model.predict_proba(asked)[:, 1]])


def _differing(column: Iterable[float]) -> int:
    """Count the values that are not the most frequent one."""
    counts = Counter(column)
    return counts.total() - max(counts.values())


def _categories(item: DescriptionItem) -> dict[str, float | str]:
    return {"kind": item.kind, **item.facts}


def _standard(scores: list[float]) -> list[float]:
    mean = sum(scores) / len(scores)
    spread = (sum((score - mean) ** 2 for score in scores) / len(scores)) ** 0.5
    return [(score - mean) / (spread or 1) for score in scores]


def fact_names(items: Sequence[DescriptionItem]) -> set[str]:
    """The facts that more than three of the items have; one of few values is named with each value."""
    names = Counter(name for item in items for name in _single(item))
    return {name for name, number in names.items() if number > 3}


def _single(item: DescriptionItem) -> Iterator[str]:
    for name, value in item.facts.items():
        yield f"{name}={value}" if isinstance(value, str) else name


def fact(item: DescriptionItem, name: str) -> float:
    """Return a feature of an item as a number; -1 if it has none."""
    key, is_text, wanted = name.partition("=")
    value = item.facts.get(key)
    if is_text:
        return float(value == wanted)
    return float(value) if isinstance(value, int | float) else -1.0
