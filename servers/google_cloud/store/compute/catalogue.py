"""Zones and machine types."""

from __future__ import annotations

_LETTERS = {
    "us-central1": "abcf",
    "us-east1": "bcd",
    "us-east4": "abc",
    "us-west1": "abc",
    "us-west2": "abc",
    "northamerica-northeast1": "abc",
    "southamerica-east1": "abc",
    "europe-north1": "abc",
    "europe-west1": "bcd",
    "europe-west2": "abc",
    "europe-west3": "abc",
    "europe-west4": "abc",
    "europe-west6": "abc",
    "asia-east1": "abc",
    "asia-northeast1": "abc",
    "asia-south1": "abc",
    "asia-southeast1": "abc",
    "australia-southeast1": "abc",
}
ZONES = tuple(f"{region}-{letter}" for region, letters in _LETTERS.items() for letter in letters)


def _types() -> dict[str, tuple[float, float]]:
    """Virtual processors and GiB of memory, by name."""
    types: dict[str, tuple[float, float]] = {
        "f1-micro": (0.2, 0.6),
        "g1-small": (0.5, 1.7),
        "e2-micro": (0.25, 1),
        "e2-small": (0.5, 2),
        "e2-medium": (1, 4),
    }
    sizes = {
        "e2": (2, 4, 8, 16, 32),
        "n1": (1, 2, 4, 8, 16, 32, 64, 96),
        "n2": (2, 4, 8, 16, 32, 48, 64, 80, 96, 128),
        "n2d": (2, 4, 8, 16, 32, 48, 64, 80, 96, 128, 224),
        "c3": (4, 8, 22, 44, 88, 176),
    }
    for family, numbers in sizes.items():
        for number in numbers:
            types[f"{family}-standard-{number}"] = (number, number * (3.75 if family == "n1" else 4))
            types[f"{family}-highmem-{number}"] = (number, number * (6.5 if family == "n1" else 8))
            types[f"{family}-highcpu-{number}"] = (number, number * (0.9 if family == "n1" else 1))
    for number in (4, 8, 16, 30, 60):
        types[f"c2-standard-{number}"] = (number, number * 4)
    return types


MACHINE_TYPES = _types()
