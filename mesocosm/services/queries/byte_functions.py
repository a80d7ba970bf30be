"""Functions of BYTES, which DuckDB has for texts alone; and SOUNDEX, of texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any


def _substring(value: bytes, start: int, length: int) -> bytes:
    if length < 0:
        raise ValueError("Third argument in SUBSTR() cannot be negative")
    first = max(0, len(value) + start) if start < 0 else max(start, 1) - 1
    return value[first : first + length]


def _position(value: bytes, sought: bytes, start: int, occurrence: int) -> int:
    """The place of an occurrence from a place on, or from there back; 0 where there is none."""
    if start == 0 or occurrence < 1:
        raise ValueError("INSTR position must be non-zero and occurrence positive")
    backwards = start < 0
    last = len(value) - len(sought)
    places = range(min(last, len(value) + start), -1, -1) if backwards else range(start - 1, last + 1)
    found = [at for at in places if value.startswith(sought, at)]
    return found[occurrence - 1] + 1 if len(found) >= occurrence else 0


def _trimmed(value: bytes, characters: bytes, where: str) -> bytes:
    return {"LEADING": value.lstrip, "TRAILING": value.rstrip}.get(where, value.strip)(characters)


def _split(value: bytes, separator: bytes) -> list[bytes]:
    return value.split(separator) if separator else [bytes([one]) for one in value] or [b""]


def _translated(value: bytes, source: bytes, target: bytes) -> bytes:
    if len(set(source)) < len(source):
        raise ValueError("Duplicate character in TRANSLATE source characters")
    kept = source[: len(target)]
    return value.translate(bytes.maketrans(kept, target[: len(kept)]), source[len(target) :])


def _combined(value: bytes, other: bytes, how: str) -> bytes:
    if len(value) != len(other):
        raise ValueError(
            "Bitwise binary operator for BYTES requires equal length of the inputs. Got"
            f" {len(value)} bytes on the left hand side and {len(other)} bytes on the right hand side."
        )
    does: Callable[[int, int], int] = {"&": int.__and__, "|": int.__or__, "^": int.__xor__}[how]
    return bytes(does(*pair) for pair in zip(value, other, strict=True))


def _shifted(value: bytes, bits: int, how: str) -> bytes:
    if bits < 0:
        raise ValueError("Bitwise shift by negative offset.")
    number, width = int.from_bytes(value), 8 * len(value)
    if bits >= width:
        return bytes(len(value))
    moved = number << bits & (1 << width) - 1 if how == "<" else number >> bits
    return moved.to_bytes(len(value))


_CODES = {
    letter: code
    for code, letters in {"1": "BFPV", "2": "CGJKQSXZ", "3": "DT", "4": "L", "5": "MN", "6": "R"}.items()
    for letter in letters
}


def _soundex(text: str) -> str:
    """A letter and three digits; H and W do not part letters of one code, vowels do."""
    letters = re.sub("[^A-Z]", "", text.upper())
    if not letters:
        return ""
    made, before = letters[0], _CODES.get(letters[0], "")
    for letter in letters[1:]:
        code = _CODES.get(letter, "")
        if code and code != before:
            made += code
        if letter not in "HW":
            before = code
    return made[:4].ljust(4, "0")


FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[str, ...], str]] = {
    "computed_bytes_reverse": (lambda value: value[::-1], ("BLOB",), "BLOB"),
    "computed_bytes_substring": (_substring, ("BLOB", "BIGINT", "BIGINT"), "BLOB"),
    "computed_bytes_position": (_position, ("BLOB", "BLOB", "BIGINT", "BIGINT"), "BIGINT"),
    "computed_bytes_starts": (lambda value, sought: value.startswith(sought), ("BLOB", "BLOB"), "BOOLEAN"),
    "computed_bytes_ends": (lambda value, sought: value.endswith(sought), ("BLOB", "BLOB"), "BOOLEAN"),
    "computed_bytes_replace": (
        lambda value, old, new: value.replace(old, new) if old else value,
        ("BLOB", "BLOB", "BLOB"),
        "BLOB",
    ),
    "computed_bytes_trim": (_trimmed, ("BLOB", "BLOB", "VARCHAR"), "BLOB"),
    "computed_bytes_upper": (lambda value: value.upper(), ("BLOB",), "BLOB"),
    "computed_bytes_lower": (lambda value: value.lower(), ("BLOB",), "BLOB"),
    "computed_bytes_split": (_split, ("BLOB", "BLOB"), "BLOB[]"),
    "computed_bytes_translate": (_translated, ("BLOB", "BLOB", "BLOB"), "BLOB"),
    "computed_bytes_codes": (lambda value: [*value], ("BLOB",), "BIGINT[]"),
    "computed_bytes_combine": (_combined, ("BLOB", "BLOB", "VARCHAR"), "BLOB"),
    "computed_bytes_not": (lambda value: bytes(255 - one for one in value), ("BLOB",), "BLOB"),
    "computed_bytes_shift": (_shifted, ("BLOB", "BIGINT", "VARCHAR"), "BLOB"),
    "computed_bytes_count": (lambda value: int.from_bytes(value).bit_count(), ("BLOB",), "BIGINT"),
    "computed_bytes_text": (lambda value: value.decode(errors="replace"), ("BLOB",), "VARCHAR"),
    "computed_soundex": (_soundex, ("VARCHAR",), "VARCHAR"),
}
"""Name, function, types of its arguments, type of its result: as ``computed.FUNCTIONS``."""
