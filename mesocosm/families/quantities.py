"""Lengths and seeds as people write them: ``8k``, ``64000``, ``1m``; ``0``, ``0-4``, ``1,7``."""

from __future__ import annotations

import re

from mesocosm.errors import UsageError

_LENGTH = re.compile(r"(\d{1,12}(?:\.\d{1,12})?)\s*([km]?)", re.IGNORECASE)
_SCALE = {"": 1, "k": 1_000, "m": 1_000_000}
MAX_LENGTH = 4_000_000
MAX_SEED = 2**63 - 1
MAX_SEEDS = 100_000


def parse_length(text: str | int) -> int:
    """Tokens of a length such as ``8k`` (8,000), ``64000`` or ``1m`` (1,000,000)."""
    found = _LENGTH.fullmatch(str(text).strip().replace("_", ""))
    if not found:
        raise UsageError(f"not a length: {text!r}; write for example 8k, 64000 or 1m")
    tokens = round(float(found[1]) * _SCALE[found[2].lower()])
    if not 0 < tokens <= MAX_LENGTH:
        raise UsageError(f"length {text} is out of range: lengths go up to 4m tokens")
    return tokens


def parse_lengths(text: str) -> list[int]:
    """Several lengths separated by commas."""
    return [parse_length(part) for part in text.split(",")]


def show_length(tokens: int) -> str:
    """The shortest way to write a length: 8000 is ``8k``."""
    for suffix, scale in (("m", 1_000_000), ("k", 1_000)):
        if tokens >= scale and tokens % (scale // 10) == 0:
            return f"{tokens / scale:g}{suffix}"
    return str(tokens)


def parse_seeds(text: str | int) -> list[int]:
    """Seeds: one (``3``), a range with both ends (``0-4``), or a list of these (``1,7,10-12``)."""
    seeds = _parse_ranges(str(text), "seed", "0, 0-4 or 1,7")
    if max(seeds) > MAX_SEED:
        raise UsageError(f"seeds go up to {MAX_SEED}")
    return seeds


def parse_counts(text: str | int) -> list[int]:
    """Counts from 1 on: like seeds, and ranges may have a step (``10-100:10``)."""
    counts = _parse_ranges(str(text), "count", "20, 1-350, 10-100:10 or 1,5,50")
    if min(counts) < 1:
        raise UsageError("counts begin with 1")
    return counts


def _parse_ranges(text: str, what: str, examples: str) -> list[int]:
    numbers: list[int] = []
    for part in text.split(","):
        found = re.fullmatch(r"\s*(\d{1,30})(?:-(\d{1,30})(?::([1-9]\d{0,9}))?)?\s*", part)
        if not found or (found[2] and int(found[2]) < int(found[1])):
            raise UsageError(f"not a {what}: {part.strip()!r}; write for example {examples}")
        wanted = range(int(found[1]), int(found[2] or found[1]) + 1, int(found[3] or 1))
        if (wanted.stop - wanted.start) // wanted.step > MAX_SEEDS:
            raise UsageError(f"{what}s {part.strip()}: at most {MAX_SEEDS:,} at once")
        numbers.extend(wanted)
    return numbers


def parse_size(value: str | int | None) -> int:
    """Tokens of a window: like a length, and without its upper limit."""
    text = str(value).strip().lower()
    scale = {"k": 1_000, "m": 1_000_000}.get(text[-1:], 1)
    number = text.rstrip("km") if scale > 1 else text
    if not number.replace(".", "", 1).isdigit() or float(number) <= 0:
        raise UsageError(f"not a number of tokens: {value!r}; write for example 16k, 128000 or 1m")
    return round(float(number) * scale)
