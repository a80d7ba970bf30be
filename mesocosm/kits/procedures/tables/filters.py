"""Filters: which items of a page are wanted, in a sentence and as a rule."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

_NUMBER = re.compile(r"\d+(?:\.\d+)?")


class Filter(BaseModel):
    """A condition on one property."""

    model_config = ConfigDict(frozen=True)

    property: str
    test: str
    """``is``, ``is not``, ``contains``, ``at most`` or ``from`` (of text that sorts as it counts)."""
    value: str

    def keeps(self, cell: str) -> bool:
        """True if an item with this value is wanted. One without a value is not."""
        if not cell:
            return False
        match self.test:
            case "is":
                return cell == self.value
            case "is not":
                return cell != self.value
            case "contains":
                return self.value in cell.split(", ")
            case "at most":
                return _amount(cell) <= _amount(self.value)
            case _:
                return cell >= self.value

    def sentence(self, items: str) -> str:
        """The condition in words."""
        name = f"{self.property!r}".replace("'", '"')
        said = {
            "is": f"{name} is exactly {self.value}",
            "is not": f"{name} is given and is not {self.value}",
            "contains": f"{name} names {self.value} (alone or among others)",
            "at most": f"{name} is at most {self.value}",
            "from": f"{name} is {self.value} or later",
        }
        return f"Only {items} of which {said[self.test]}; those without this property do not count."


def _amount(cell: str) -> float:
    found = _NUMBER.search(cell)
    assert found
    return float(found[0])


def draw_filter(rng: random.Random, kinds: dict[str, str], samples: dict[str, Sequence[str]]) -> Filter:
    """A filter that keeps a good part of items; ``samples`` are values as they occur, by property."""
    usable = [name for name, kind in kinds.items() if kind in ("word", "list", "number", "date", "year")]
    name = rng.choice(usable)
    values = sorted(samples[name])
    match kinds[name]:
        case "word":
            return Filter(
                property=name, test=rng.choice(("is", "is not", "is not")), value=rng.choice(values)
            )
        case "list":
            return Filter(property=name, test="contains", value=rng.choice(rng.choice(values).split(", ")))
        case "number":
            ordered = sorted(values, key=_amount)
            return Filter(
                property=name, test="at most", value=ordered[round(len(ordered) * rng.uniform(0.4, 0.7))]
            )
        case _:
            return Filter(
                property=name, test="from", value=values[round(len(values) * rng.uniform(0.3, 0.6))]
            )
