"""The parameters of the family."""

from __future__ import annotations

import random
from typing import Self

from pydantic import Field, model_validator

from mesocosm import family
from mesocosm.weaving import Operator, Shape, Values, load_operators


class Params(family.Params):
    """How long the chain is, what its steps are like, and what surrounds it."""

    operations: int = Field(default=20, ge=1)
    """N: how many operations the tree has."""
    operators: list[str] = Field(default=["addition", "subtraction", "concatenation"], min_length=1)
    """What an operation may be; a name with a dot is a module of the user's."""
    min_children: int = Field(default=2, ge=2)
    max_children: int = Field(default=4, ge=2)
    """How many values an operation combines; an operator's own limits come first."""
    leaf_threshold: int = Field(default=24, ge=2)
    """Leaves are collected only while the tree has more than these."""
    collection_probability: float = Field(default=0.3, ge=0, le=1)
    """How likely leaves are then collected after an operation."""
    negative_share: float = Field(default=0, ge=0, le=1)
    """How many of the integers are below zero."""
    distractor_fields: int = Field(default=1, ge=0, le=100)
    """Irrelevant fields beside what a document is about, at most."""
    remark_tokens: int = Field(default=40, ge=0, le=5000)
    """Tokens of remarks in a document, on average."""
    distractor_documents: int = Field(default=0, ge=0)
    """Documents that lead elsewhere (besides those of ``filler_tokens``)."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        self.shape()
        return self

    def shape(self, operations: int | None = None) -> Shape:
        """The form of a tree with these operations."""
        return Shape(
            operations=operations or self.operations,
            min_children=self.min_children,
            max_children=self.max_children,
            leaf_threshold=self.leaf_threshold,
            collection_probability=self.collection_probability,
        )

    def values(self, rng: random.Random) -> Values:
        """A supply of values; those of the tree and of each distractor are drawn from the same range."""
        span = 100
        while span < 4 * self.operations * self.max_children:
            span *= 10
        return Values(rng, span=span, negative_share=self.negative_share)

    def kinds(self) -> list[Operator]:
        """The operators themselves."""
        return load_operators(self.operators)
