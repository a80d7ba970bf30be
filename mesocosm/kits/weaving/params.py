"""The parameters that all woven families have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from mesocosm.families import family
from mesocosm.kits.weaving.operator import Operator, load_operators
from mesocosm.kits.weaving.weaver import Shape
from mesocosm.worlds.randomness import Renamed, Streams


class TreeParams(family.Params):
    """Size, shape and operations of a tree."""

    sparing: ClassVar[tuple[str, ...]] = ()
    """Parameters that are dumped only where they are set, so that dumps of other tasks stay as they were."""

    operations: int = Field(default=20, ge=1)
    """N: how many operations the tree has."""
    operators: list[str] = Field(min_length=1)
    """Operations; a name with a dot is a module of the user's."""
    min_children: int = Field(default=2, ge=2)
    max_children: int = Field(default=4, ge=2)
    """Maximum number of values that an operation combines; an operator's own limits come first."""
    leaf_threshold: int = Field(default=8, ge=2)
    """Leaves are collected only while the tree has more than these. Few leaves make tall trees: with this and
    the next two, heights are about 60 at 150 operations and 95 at 350, as the paper's go up to 80."""
    collection_probability: float = Field(default=0.8, ge=0, le=1)
    """Probability that leaves are collected after an operation."""
    max_collected: int = Field(default=7, ge=2)
    """Number of leaves are collected at once, at most."""
    negative_share: float = Field(default=0, ge=0, le=1)
    """Share of the integers that are negative."""

    @model_serializer(mode="wrap")
    def _spared(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        dumped: dict[str, Any] = dump(self)
        return {name: value for name, value in dumped.items() if value or name not in self.sparing}

    @model_validator(mode="after")
    def _fits(self) -> Self:
        self.shape()
        most = max(operator.children[1] for operator in self.kinds())
        for name in ("min_children", "max_children"):
            if name in self.model_fields_set and getattr(self, name) > most:
                raise ValueError(f"{name}: these operators combine at most {most} values")
        return self

    def dice(self, streams: Streams) -> Streams:
        """Return the dice of a tree. N is part of the seed, so trees of different sizes share nothing."""
        return Renamed(streams, f"{self.operations} operations")

    def shape(self, operations: int | None = None) -> Shape:
        """The form of a tree with these operations."""
        return Shape(
            operations=operations or self.operations,
            min_children=self.min_children,
            max_children=self.max_children,
            leaf_threshold=self.leaf_threshold,
            collection_probability=self.collection_probability,
            max_collected=self.max_collected,
        )

    def unexplained(self, prompt: str) -> Sequence[str]:
        """Words of the operators that the prompt of the task does not have."""
        words = {word for operator in self.kinds() for word in operator.words}
        return sorted(word for word in words if word not in prompt)

    def kinds(self) -> list[Operator]:
        return load_operators(self.operators)
