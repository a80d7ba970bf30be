"""Woven trees: the promises of Algorithm 1 in both modes."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from mesocosm.errors import UsageError
from mesocosm.kits.weaving import (
    BottomUp,
    Node,
    Rule,
    Shape,
    TopDown,
    Tree,
    Values,
    Weaver,
    load_operators,
    operator_names,
)

SHAPES = st.builds(
    Shape,
    operations=st.integers(1, 60),
    max_children=st.integers(2, 5),
    leaf_threshold=st.integers(2, 20),
    collection_probability=st.sampled_from([0.0, 0.4, 1.0]),
)
PROPERTY = settings(max_examples=30, deadline=None, derandomize=True, database=None)


def new(kind: type[Weaver], seed: int = 0) -> Weaver:
    rng = random.Random(seed)
    return kind(rng, numbered(1), Values(rng))


def numbered(start: int) -> Callable[[], str]:
    numbers = count(start)
    return lambda: f"v{next(numbers)}"


def woven(kind: type[Weaver], shape: Shape, seed: int) -> Tree:
    return new(kind, seed).weave(shape, load_operators(operator_names()))


@pytest.mark.parametrize("kind", [BottomUp, TopDown])
@PROPERTY
@given(shape=SHAPES, seed=st.integers(0, 10**6))
def test_there_are_n_operations_and_one_way_to_every_node(
    kind: type[Weaver], shape: Shape, seed: int
) -> None:
    tree = woven(kind, shape, seed)
    nodes = list(tree.nodes())
    collected = [node for node in nodes if len(node.parents) > 1]
    assert tree.operations == shape.operations
    assert sum(len(node.children) > 1 for node in nodes) == shape.operations
    assert len(collected) == tree.collections
    assert tree.root.parents == []
    assert all(len(node.parents) == 1 for node in nodes if node is not tree.root and node not in collected)
    # No cycle: walking up from the leaves meets everything.
    assert len(list(tree.bottom_up())) == len(nodes)
    if shape.collection_probability == 0:
        assert sum(len(node.children) for node in nodes) == len(nodes) - 1


@PROPERTY
@given(shape=SHAPES, seed=st.integers(0, 10**6))
def test_every_variable_and_identifier_is_defined_once(shape: Shape, seed: int) -> None:
    nodes = list(woven(BottomUp, shape, seed).nodes())
    defined = [node.variable for node in nodes if node.role == "value"]
    names = [node.id.partition("%")[0] for node in nodes]
    assert len(set(defined + names)) == len(defined) + len(nodes)
    assert all("%" in node.id and not node.id.endswith("%X") for node in nodes)
    for node in nodes:
        if node.rule:
            inside = {child.variable for child in node.children if child.role == "value"}
            assert inside == set(node.rule.variables)


@PROPERTY
@given(shape=SHAPES, seed=st.integers(0, 10**6))
def test_who_reads_from_the_leaves_up_gets_to_the_root_and_only_there(shape: Shape, seed: int) -> None:
    tree = woven(BottomUp, shape, seed)
    documents = {node.id: node for node in tree.nodes()}
    known = {leaf.id for leaf in tree.leaves()}
    read: set[str] = set()
    values: dict[str, int | str] = {}
    rules: list[Rule] = []
    while known - read:
        for name in sorted(known - read):
            node = documents[name]
            read.add(name)
            if node.value is not None:
                values[node.variable] = node.value
            if node.states:
                rules.append(node.states)
            if node.role == "list":
                known |= {parent.id for parent in node.parents}
        known |= {f"{r.target}%{r.execute(values)}" for r in rules if set(r.variables) <= values.keys()}
    assert read == documents.keys()
    holding = [node for node in documents.values() if node.value == tree.root.value]
    assert holding == [tree.root]
    assert tree.root.children, "the root is not among the documents that the prompt lists"


@PROPERTY
@given(shape=SHAPES, seed=st.integers(0, 10**6))
def test_another_value_anywhere_means_another_identifier(shape: Shape, seed: int) -> None:
    for node in woven(BottomUp, shape, seed).nodes():
        if node.rule:
            values = {child.variable: child.value for child in node.children if child.value is not None}
            for name, value in values.items():
                changed = value + 1 if isinstance(value, int) else value + "q"
                changed = changed or 2  # zero is never supplied, and a product would lose it
                result = node.rule.execute(values | {name: changed})
                assert f"{node.rule.target}%{result}" != node.id


@PROPERTY
@given(shape=SHAPES, seed=st.integers(0, 10**6))
def test_a_top_down_tree_has_the_values_that_its_rules_give(shape: Shape, seed: int) -> None:
    tree = woven(TopDown, shape, seed)

    def value(node: Node) -> int:
        if node.rule is None:
            assert isinstance(node.value, int)
            return node.value
        result = node.rule.execute({child.variable: value(child) for child in node.children})
        assert isinstance(result, int)
        return result

    if tree.height < 12:  # the recursion visits what is shared again and again
        assert tree.root.value == value(tree.root)
    assert all(isinstance(node.value, int) and node.id == node.variable for node in tree.nodes())


def test_leaves_are_collected_beyond_the_threshold_only() -> None:
    operators = load_operators(["addition"])
    never = new(BottomUp).weave(Shape(operations=40, leaf_threshold=500, collection_probability=1), operators)
    always = new(BottomUp).weave(Shape(operations=40, leaf_threshold=4, collection_probability=1), operators)
    assert never.collections == 0
    assert always.collections >= 30
    assert len(always.leaves()) < len(never.leaves())
    assert always.height > never.height


def test_leaves_can_be_collected_once_for_sure() -> None:
    shape = Shape(operations=1, collection_probability=0)
    tree = new(BottomUp).weave(shape, load_operators(["addition"]), collect_once=True)
    (collecting,) = [node for node in tree.nodes() if node.role == "list"]
    assert tree.collections == 1
    assert len(collecting.parents) >= 2
    assert collecting in tree.leaves()


def test_children_keep_to_the_bounds() -> None:
    shape = Shape(operations=30, min_children=3, max_children=3)
    tree = new(BottomUp).weave(shape, load_operators(operator_names()))
    assert {len(node.rule.variables) for node in tree.nodes() if node.rule} == {3}


def test_no_value_comes_twice() -> None:
    tree = new(BottomUp).weave(Shape(operations=350), load_operators(operator_names()))
    values = [node.value for node in tree.nodes() if node.value is not None]
    assert len(values) > 700
    assert max(Counter(values).values()) == 1
    assert 0 not in values


def test_the_same_dice_give_the_same_tree() -> None:
    one, other = (woven(BottomUp, Shape(operations=50), 3) for _ in range(2))
    assert [node.id for node in one.nodes()] == [node.id for node in other.nodes()]


def test_only_leaves_grow() -> None:
    weaver = new(BottomUp)
    (addition,) = load_operators(["addition"])
    weaver.expand(weaver.tree.root, addition, 2)
    with pytest.raises(UsageError, match="only a leaf"):
        weaver.expand(weaver.tree.root, addition, 2)


def test_a_top_down_tree_needs_integers() -> None:
    with pytest.raises(UsageError, match="operators on integers"):
        new(TopDown).weave(Shape(operations=3), load_operators(["concatenation"]))


@pytest.mark.parametrize("wrong", [{"operations": 0}, {"min_children": 4, "max_children": 3}, {"height": 3}])
def test_an_impossible_shape_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValidationError):
        Shape(**wrong)  # type: ignore[arg-type]


# -- the worked examples of the paper ----------------------------------------------------------------------


def test_the_document_example_has_the_structure_of_the_paper() -> None:
    weaver = new(BottomUp)
    addition, concatenation = load_operators(["addition", "concatenation"])
    first, *others = weaver.expand(weaver.tree.root, addition, 3)
    weaver.expand(first, concatenation, 4)
    tree = weaver.finish()
    # v1 to v3 with the name v4, v5 to v8 with v9, and the leaves v10 to v17.
    assert (tree.operations, tree.height) == (2, 2)
    assert [node.variable for node in others] == ["v2", "v3", ""]
    assert tree.root.id == f"v4%{sum(node.value for node in [first, *others[:2]])}"  # type: ignore[misc]
    assert first.id.startswith("v9%")
    assert sorted(int(leaf.id[1:3]) for leaf in tree.leaves()) == list(range(10, 18))
    assert isinstance(tree.root.value, str)
    assert len(tree.root.value) == 8


def test_the_image_example_expands_a_rule() -> None:
    weaver = new(BottomUp)
    addition, concatenation = load_operators(["addition", "concatenation"])
    *_, rule = weaver.expand(weaver.tree.root, concatenation, 2)
    weaver.expand(rule, addition, 3)
    tree = weaver.finish()
    # As in v7%-7, which says how to compute v3%mQsVcL: first the sum, then the concatenation.
    assert (tree.operations, tree.height) == (2, 2)
    assert rule.id.startswith("v7%")
    assert rule.states is tree.root.rule
    assert sorted(int(leaf.id[1:].partition("%")[0]) for leaf in tree.leaves()) == list(range(8, 14))


def test_the_code_example_comes_to_115() -> None:
    weaver = TopDown(random.Random(0), numbered(0), Values(random.Random(0)), root="main")
    addition, subtraction = load_operators(["addition", "subtraction"])
    v0, v1 = weaver.expand(weaver.tree.root, addition, 2)
    v2, v3, v4 = weaver.expand(v1, subtraction, 3)
    v1.rule = Rule(subtraction, ("v3", "v4", "v2"), "v3 + v4 - v2")
    tree = weaver.finish()
    assert [node.id for node in (v0, v1, v2, v3, v4)] == ["v0", "v1", "v2", "v3", "v4"]
    assert (tree.operations, tree.height) == (2, 2)
    inner = v1.rule.execute({"v3": 45, "v4": 50, "v2": 24})
    assert tree.root.rule is not None
    assert tree.root.rule.execute({"v0": 44, "v1": inner}) == 115
