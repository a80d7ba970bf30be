"""Products of generated shops and warehouses."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache

from mesocosm.kits.prose.inflect import fix_articles
from mesocosm.kits.prose.names import Names
from mesocosm.kits.prose.topics import data

CATEGORIES: tuple[str, ...] = (
    "Baby", "Beauty", "Bicycle", "Books", "Clothing", "Electronics", "Food", "Footwear", "Garden", "Health",
    "Home", "Kitchen", "Lighting", "Music", "Office", "Outdoor", "Pets", "Sports", "Tools", "Toys",
)  # fmt: skip
_BLURBS = (
    "A {kind} {noun} that {feature}.",
    "This {kind} {noun} {feature} and {second}.",
    "Made in {town} by {maker}, this {noun} {feature}.",
    "Our buyers tried {count} before choosing this one: it {feature}.",
    "The {series} {noun} {feature}, and what is more, it {second}.",
    "A favourite in our {town} shop; it {feature}.",
    "Designed with {maker}: a {noun} that {feature} and {second}.",
    "If you have room for one {kind} {noun}, take this one. It {feature}.",
)
_ENDINGS = (".00", ".50", ".90", ".95", ".99", ".25", ".49", ".75")
_COUNTS = ("a dozen", "nine", "fifteen", "more than twenty", "seven", "every one we could find")


@dataclass(frozen=True)
class Product:
    """Something to sell; ``price`` is a decimal string in the shop's currency."""

    name: str
    sku: str
    category: str
    blurb: str
    price: str


@dataclass(frozen=True)
class _Range:
    nouns: dict[str, tuple[int, int]]
    """With what each costs at least and at most."""
    kinds: list[str]
    features: list[str]


@cache
def _ranges() -> dict[str, _Range]:
    ranges = {}
    for line in data("products").splitlines():
        if line.startswith("#"):
            continue
        category, _, rest = line.partition(": ")
        nouns, kinds, features = (part.split("; ") for part in rest.replace("_", " ").split(" / "))
        ranges[category] = _Range(dict(map(_priced, nouns)), kinds, features)
    return ranges


def _priced(entry: str) -> tuple[str, tuple[int, int]]:
    noun, _, prices = entry.rpartition(" ")
    low, _, high = prices.partition("-")
    return noun, (int(low), int(high))


@cache
def price_range(name: str) -> tuple[int, int]:
    """Return the range of prices of most products of this name, in whole units of currency.

    Raises ``ValueError`` for a name that no pool of products has.
    """
    plain = name.lower().rstrip("0123456789 ")
    found = [
        (len(noun), *prices)
        for kit in _ranges().values()
        for noun, prices in kit.nouns.items()
        if plain.endswith(noun.lower())
    ]
    if not found:
        raise ValueError(f"{name!r} is no product of the pool")
    _, low, high = max(found)
    return low, low + max(2, (high - low) // 2)  # as prices crowd towards the cheap end


def _title(text: str) -> str:
    return " ".join(word[0].upper() + word[1:] for word in text.split())


class Products:
    """Draws products with unique names and SKUs."""

    def __init__(self, rng: random.Random, names: Names) -> None:
        self._rng = rng
        self._names = names
        self._taken: set[str] = set()

    def draw(self, category: str | None = None) -> Product:
        """A product of ``category``, or of any; ValueError when there is no such category."""
        if category is None:
            category = CATEGORIES[int(self._rng.random() * len(CATEGORIES))]
        elif category not in CATEGORIES:
            raise ValueError(f"unknown category {category!r}; known: {', '.join(CATEGORIES)}")
        kit = _ranges()[category]
        noun, kind = self._pick(list(kit.nouns)), self._pick(kit.kinds)
        series = self._names.brand()
        name = self._unique(_title(f"{series} {kind} {noun}"), series)
        feature, second = self._rng.sample(kit.features, 2)
        blurb = self._pick(_BLURBS).format(
            kind=kind, noun=noun, feature=feature, second=second, series=series, count=self._pick(_COUNTS),
            town=self._names.town(), maker=self._names.firm(),
        )  # fmt: skip
        # Prices crowd towards the cheap end, as they do in shops.
        low, high = kit.nouns[noun]
        amount = low + int((high - low) * self._rng.random() ** 2)
        return Product(
            name, self._sku(noun), category, fix_articles(blurb), f"{amount}{self._pick(_ENDINGS)}"
        )

    def _unique(self, name: str, series: str) -> str:
        while name in self._taken:
            name = (
                name.replace(series, self._names.brand(), 1)
                if self._rng.random() < 0.7
                else f"{name} {self._digits(3)}"
            )
        self._taken.add(name)
        return name

    def _sku(self, noun: str) -> str:
        letters = [letter for letter in noun.upper() if letter.isalpha() and letter not in "AEIOU"]
        stem = "".join([*letters, "X", "Y"][:3])
        sku = f"{stem}-{self._digits(4)}"
        while sku in self._taken:
            sku = f"{stem}-{self._digits(6)}"
        self._taken.add(sku)
        return sku

    def _digits(self, count: int) -> str:
        return str(int(self._rng.random() * 10**count)).zfill(count)

    def _pick(self, pool: list[str] | tuple[str, ...]) -> str:
        return pool[int(self._rng.random() * len(pool))]
