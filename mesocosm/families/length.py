"""Environment description length: measuring what an agent would have to read, and hitting a target.

The length of an instance is the number of cl100k_base tokens in the concatenated text results of its
survey, each result ended by a newline (no token of cl100k_base reaches across these, so the sum over the
results is the count of the whole).
"""

# Length is measured on a survey of the finished world, not estimated from what was put in (decision 004).

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache, partial
from itertools import pairwise
from typing import Any

import orjson

from mesocosm.errors import UsageError
from mesocosm.families.family import Evidence, Expected, Family
from mesocosm.families.items import items_of_text, written
from mesocosm.families.quantities import show_length
from mesocosm.families.task import Growth
from mesocosm.services.calling import Tools
from mesocosm.services.calls import Outcome
from mesocosm.services.service import Image
from mesocosm.services.world import World
from mesocosm.worlds import tokens
from mesocosm.worlds.manifest import Length

TOLERANCE = 0.01
"""Tolerance of a calibrated length, as a share of the target."""
_GOOD_ENOUGH = 0.004
_ATTEMPTS = 10
_FURTHER_ATTEMPTS = 20
"""Further attempts around the nearest length, if none is near enough."""
_AROUND = 0.06
"""Range of those attempts, as a share of the target."""
_GOLDEN = 0.618034
"""Multiples of it modulo 1 are spread evenly, however many there are."""


@dataclass(frozen=True)
class SurveyResult:
    """One call of a survey and what it delivered."""

    service: str
    tool: str
    arguments: dict[str, Any]
    tokens: int
    evidence: tuple[int, ...]
    """Pieces of evidence in this result (indexes into ``Expected.evidence``)."""
    evidence_tokens: int
    """Tokens of those of its items that hold evidence."""


_WORD = re.compile(r"\w+")
_FEW = 8


def _whole_words(needle: str) -> list[str]:
    """The words that are whole wherever the needle occurs: at its ends may be parts of longer ones."""
    found = _WORD.finditer(needle)
    return [word[0] for word in found if word.start() > 0 and word.end() < len(needle)]


class EvidenceFinder:
    """Finds which of many needles occur in a text, in time that does not grow with their product.

    Each needle is looked for only in texts that have its rarest whole word.
    """

    def __init__(self, needles: Sequence[tuple[int, str]]) -> None:
        self._numbers: dict[str, list[int]] = {}
        """Those of each needle, of which many may be the same text."""
        self._forms: dict[int, list[str]] = {}
        for number, needle in needles:
            self._numbers.setdefault(needle, []).append(number)
            self._forms.setdefault(number, []).append(needle)
        inner = {needle: _whole_words(needle) for needle in self._numbers}
        uses = Counter(word for words in inner.values() for word in set(words))
        self._by_word: dict[str, list[str]] = {}
        self._anywhere: list[str] = []
        for needle, words in inner.items():
            if words:
                rarest = min(words, key=lambda word: (uses[word], -len(word), word))
                self._by_word.setdefault(rarest, []).append(needle)
            else:
                self._anywhere.append(needle)
        if len(self._by_word) <= _FEW:
            # To look for a few is quicker than to take a text apart.
            self._anywhere += [one for needles in self._by_word.values() for one in needles]
            self._by_word = {}

    def held_by(self, text: str) -> tuple[int, ...]:
        """The numbers of the needles that the text holds, ascending."""
        candidates = list(self._anywhere)
        if self._by_word:
            for word in self._by_word.keys() & set(_WORD.findall(text)):
                candidates += self._by_word[word]
        return tuple(
            sorted({number for needle in candidates if needle in text for number in self._numbers[needle]})
        )

    def needles(self, numbers: Iterable[int]) -> set[str]:
        """The texts of these numbers."""
        return {needle for number in numbers for needle in self._forms[number]}


def evidence_finders(evidence: Sequence[Evidence]) -> Mapping[str, EvidenceFinder]:
    """Return the finders of evidence in results, by service."""
    return _kept_finders(tuple(evidence))


@lru_cache(maxsize=64)
def _kept_finders(evidence: tuple[Evidence, ...]) -> Mapping[str, EvidenceFinder]:
    """Kept: many episodes are judged that have the same evidence, one after the other."""
    return _new_finders(evidence)


def _new_finders(evidence: Sequence[Evidence]) -> Mapping[str, EvidenceFinder]:
    needles: dict[str, list[tuple[int, str]]] = {}
    for number, piece in enumerate(evidence):
        # As it stands in a result: inside JSON, quotes and line breaks are escaped.
        forms = [piece.contains, orjson.dumps(piece.contains).decode()[1:-1], *piece.also]
        needles.setdefault(piece.service, []).extend((number, form) for form in dict.fromkeys(forms))
    return {service: EvidenceFinder(found) for service, found in needles.items()}


@dataclass
class Survey(Tools):
    """Tools that make the survey's calls on a world without leaving a trace, and measure the results.

    Tokens are counted of every world, evidence is looked for when somebody asks: not on the way to a length.
    """

    world: World
    evidence: list[Evidence] = field(default_factory=list)
    counting: Executor | None = None
    """Executor that counts tokens during the survey; without one they are counted on demand."""

    def __post_init__(self) -> None:
        self._calls: list[tuple[str, str, dict[str, Any], Outcome]] = []
        self._counts: list[Callable[[], int]] = []

    @cached_property
    def finders(self) -> Mapping[str, EvidenceFinder]:
        """Finders of evidence in results, by service."""
        return _new_finders(self.evidence)

    def look(self, service: str, tool: str, arguments: dict[str, Any]) -> list[str | Image]:
        """Make one call and measure its text."""
        outcome = self.world.calls.peek(service, tool, arguments)
        if outcome.is_error:
            raise RuntimeError(f"the survey's call {service}.{tool}({arguments}) was refused: {outcome.text}")
        count = partial(tokens.count, outcome.text + "\n")
        self._calls.append((service, tool, arguments, outcome))
        self._counts.append(self.counting.submit(count).result if self.counting else cache(count))
        return list(outcome.blocks)

    @cached_property
    def results(self) -> list[SurveyResult]:
        """Results of all calls of the survey."""
        measured = [
            self._measured(*call, count()) for call, count in zip(self._calls, self._counts, strict=True)
        ]
        self._calls.clear()  # these hold all the text of the world
        return measured

    def _measured(
        self, service: str, tool: str, arguments: dict[str, Any], outcome: Outcome, number: int
    ) -> SurveyResult:
        finder = self.finders.get(service)
        held = finder.held_by(outcome.text) if finder else ()
        inner = _evidence_tokens(finder, held, outcome.blocks, number) if finder and held else 0
        return SurveyResult(service, tool, arguments, number, held, inner)

    @property
    def tokens(self) -> int:
        """The environment description length."""
        return sum(count() for count in self._counts)

    @property
    def evidence_tokens(self) -> int:
        """Tokens of the items that hold evidence: mails, documents, rows."""
        return sum(result.evidence_tokens for result in self.results)

    @property
    def density(self) -> float:
        """The share of the description in items that hold evidence."""
        return self.evidence_tokens / max(self.tokens, 1)

    def length(self, target: int | None) -> Length:
        """Return the record of this survey for ``world.json``."""
        by_service: dict[str, int] = {}
        for result in self.results:
            by_service[result.service] = by_service.get(result.service, 0) + result.tokens
        return Length(
            target=target,
            measured=self.tokens,
            tokenizer=tokens.TOKENIZER,
            by_service=by_service,
            adequate=sum(result.tokens for result in self.results if result.evidence),
            evidence=self.evidence_tokens,
            calls=len(self.results),
        )


def _evidence_tokens(
    finder: EvidenceFinder, pieces: Sequence[int], blocks: Sequence[str | Image], whole: int
) -> int:
    """Tokens of the items that hold one of these pieces of evidence in a result of ``whole`` tokens."""
    items = [item for block in blocks if isinstance(block, str) for _, item in items_of_text(block)]
    if len(items) == 1:
        return whole
    needles = finder.needles(pieces)
    held = [text for text in map(written, items) if any(map(text.__contains__, needles))]
    return min(whole, sum(map(tokens.count, held))) if held else whole


def take_survey(family: Family, world: World, expected: Expected) -> Survey:
    """Make the family's survey on a finished world."""
    # The tokenizer lets other threads run while it counts.
    with ThreadPoolExecutor(max_workers=min(4, os.cpu_count() or 1)) as counting:
        survey = Survey(world, expected.evidence, counting)
        family.survey(survey, expected)
    return survey


class TooShort(UsageError):
    """A length is below the minimum of a task, its seed and its parameters."""


@dataclass(frozen=True)
class Attempt:
    """One world that was built on the way to a target."""

    size: int
    filler: int
    tokens: int


def calibrate(
    family: Family,
    target: int,
    build: Callable[[int, int], int],
    fixed: int | None = None,
    *,
    growth: Growth | None = None,
    overshoot: bool = False,
) -> Attempt:
    """Find the size (unless it is ``fixed``) and the filler with which an instance has the target length.

    ``build(size, filler)`` builds a world and returns its length. The last world that it built is the one
    that is returned; with ``overshoot`` it may be longer than the target where the numbers of the growth, or
    leaps of the length, leave no other. Raises ``TooShort`` for a target below the family's minimum.
    """
    growth = growth or family.task.growth
    smallest = next(iter(growth.points.values())) if fixed is None else fixed
    size = growth.size_for(target) if fixed is None else fixed
    filler = growth.filler_for(target)
    best: Attempt | None = None
    last: Attempt | None = None
    above: Attempt | None = None
    """The shortest of those that are too long."""
    sides: dict[bool, int] = {}
    """The last filler that was too little, and the last that was too much."""
    for attempt in range(_ATTEMPTS + _FURTHER_ATTEMPTS):
        last = Attempt(size, filler, build(size, filler))
        miss = target - last.tokens
        if best is None or abs(miss) < abs(target - best.tokens):
            best = last
        if miss < 0 and (above is None or last.tokens < above.tokens):
            above = last
        if abs(miss) <= _GOOD_ENOUGH * target:
            return last
        sides[miss < 0] = filler
        if attempt >= _ATTEMPTS - 1:
            if abs(target - best.tokens) <= TOLERANCE * target:
                break
            # A little more filler makes a world of another length in leaps, as where it is drawn in whole
            # mails: look around what came nearest.
            leap = (attempt * _GOLDEN % 1 - 0.5) * _AROUND * target
            size, filler = best.size, max(0, round(best.filler + (target - best.tokens) + leap))
        elif attempt >= _ATTEMPTS // 2 and len(sides) == 2:
            # It leads from one side to the other and back, as small fillers may: try what lies between.
            filler = sum(sides.values()) // 2
        elif filler + round(miss / growth.yields) >= 0:
            filler += round(miss / growth.yields)
        elif filler > 0:
            # Too large by more than the filler: see how large it is without any.
            filler = 0
        elif size > smallest:
            size = max(smallest, min(size - 1, size * target // last.tokens))
            sides.clear()
        elif overshoot or -miss <= TOLERANCE * target:
            return last
        else:
            # Rounded up: a label that a user can ask for next.
            least = -(-last.tokens // 100) * 100
            raise TooShort(
                f"{family.name}: a length of {show_length(target)} tokens is below the minimum of this task "
                f"and seed, which is {show_length(least)}; {_smaller(growth, 0, fixed)}"
            )
    if overshoot and best and abs(target - best.tokens) > TOLERANCE * target:
        best = above
    if best and (overshoot or abs(target - best.tokens) <= TOLERANCE * target):
        if best != last:
            build(best.size, best.filler)
        return best
    assert best
    point = next((at for at, length in enumerate(growth.points) if length >= target), -1)
    raise UsageError(
        f"{family.name}: no world of {target} tokens within {TOLERANCE:.0%} was found for this seed; the "
        f"closest has {best.tokens} ({growth.parameter}={best.size}, filler_tokens={best.filler}); its "
        f"filler is too little or too coarse; {_smaller(growth, point, fixed)}"
    )


def _smaller(growth: Growth, at: int, fixed: int | None) -> str:
    """Suggest a lower point of the growth, which leaves more of the length to filler."""
    if fixed is not None:
        return f"give a smaller {growth.parameter} than {fixed}"
    length, size = list(growth.points.items())[at]
    which = "the first point" if at == 0 else "the point"
    return f"in a task of your own, lower {which} of `growth` ({show_length(length)}: {size})"


_DENSITY_TRIES = 8
_NEAR = 0.02
"""A density is found when it is as near as this."""


def find_density(
    family: Family,
    target: int,
    density: float,
    build: Callable[[int], float],
    *,
    growth: Growth | None = None,
) -> float:
    """Find the size at which this share of a description is in items that hold evidence.

    ``build(size)`` builds a world of the target length and returns its density; the last world that it
    builds has the one that is returned, within 0.02 or as near as whole sizes come. Raises ``UsageError``
    with the densities that can be had.
    """
    growth = growth or family.task.growth
    smallest, size = next(iter(growth.points.values())), growth.size_for(target)
    found: dict[int, float] = {}
    too_large = 0
    refused: TooShort | None = None
    for _ in range(_DENSITY_TRIES):
        try:
            found[size] = build(size)
        except TooShort as error:
            too_large, refused = size, error
        else:
            if abs(found[size] - density) <= _NEAR:
                return found[size]
        below = max((one for one, share in found.items() if share < density), default=None)
        above = min((one for one, share in found.items() if share >= density), default=too_large or None)
        if below is None:
            least = min(found, default=size)
            following = max(smallest, round(least * density / found[least]) if found else least // 2)
        elif above is None:
            following = max(below + 1, min(4 * below, round(below * density / found[below])))
        else:
            following = below + max(1, round((above - below) / 2))
        if following in (*found, too_large):
            break
        size = following
    if not found:
        assert refused
        raise refused
    nearest = min(found, key=lambda one: (abs(found[one] - density), one))
    step = max((abs(a - b) for a, b in pairwise(found[one] for one in sorted(found))), default=0)
    if abs(found[nearest] - density) > max(_NEAR, min(step, density / 3)):
        end = "greatest" if density > found[nearest] else "smallest"
        raise UsageError(
            f"{family.name}: a density of {density:g} and a length of {show_length(target)} cannot be had "
            f"together; the {end} for this task and seed is {found[nearest]:.2f}"
        )
    return found[nearest] if nearest == size and too_large != size else build(nearest)
