"""Chains of documents as they are composed: what holds for all of them, whatever their form."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mesocosm.generators.lore_documents import Params, compose
from mesocosm.kits.weaving.chains import Chain
from mesocosm.kits.weaving.steps import MISTAKES
from mesocosm.services.world import World
from mesocosm.worlds.manifest import Manifest
from mesocosm.worlds.randomness import Dice

CHAINS = st.builds(
    lambda seed, **knobs: compose(Dice("lore_documents", seed), Params(remark_tokens=0, **knobs)),
    seed=st.integers(0, 10**6),
    operations=st.integers(1, 60),
    max_children=st.integers(2, 5),
    leaf_threshold=st.integers(2, 20),
    collection_probability=st.sampled_from([0.0, 0.4, 1.0]),
    negative_share=st.sampled_from([0.0, 0.3]),
    distractor_documents=st.integers(0, 30),
)
PROPERTY = settings(max_examples=25, deadline=None, derandomize=True, database=None)


@PROPERTY
@given(chain=CHAINS)
def test_the_prompt_names_exactly_the_leaves(chain: Chain) -> None:
    listed = chain.public["documents"].split(", ")
    assert sorted(listed) == sorted(leaf.id for leaf in chain.tree.leaves())
    assert len(set(listed)) == len(listed)


@PROPERTY
@given(chain=CHAINS)
def test_the_answer_is_in_the_root_alone_and_nothing_names_the_root(chain: Chain) -> None:
    files = {file.id: file.text for file in chain.files}
    root = chain.tree.root.id
    assert [name for name, text in files.items() if chain.answer in text] == [root]
    assert chain.answer not in str(chain.public)
    assert not any(root in text for text in [*files.values(), *chain.public.values()])


@PROPERTY
@given(chain=CHAINS)
def test_no_document_names_one_that_has_to_be_computed(chain: Chain) -> None:
    computed = {step.document for step in chain.steps}
    named = {name for file in chain.files for name in re.findall(r"v\d+%[-\w]+", file.text)}
    assert not computed & named
    assert {file.id for file in chain.files} == set(chain.reading_order)


@PROPERTY
@given(chain=CHAINS)
def test_every_variable_is_defined_in_one_document(chain: Chain) -> None:
    texts = {file.id: file.text for file in chain.files}
    for node in chain.tree.nodes():
        if node.variable:
            stating = [name for name, text in texts.items() if _states(text, node.variable)]
            assert stating == [node.id]


def _states(text: str, variable: str) -> bool:
    """Whether a line that is no rule speaks of the variable."""
    return any(re.search(rf"\b{variable}\b(?!%)", line) for line in text.splitlines() if "%X'" not in line)


@pytest.mark.parametrize("mistake", MISTAKES)
@PROPERTY
@given(chain=CHAINS)
def test_a_step_that_is_done_wrongly_leads_to_no_document(mistake: str, chain: Chain) -> None:
    documents = {file.id for file in chain.files}
    for step in chain.steps:
        wrong = f"{step.target}%{MISTAKES[mistake](step)}"
        assert wrong == step.document or wrong not in documents


@PROPERTY
@given(chain=CHAINS)
def test_every_leaf_counts(chain: Chain) -> None:
    """Another value of any variable gives another identifier, up to that of a document on the way to v0."""
    for step in chain.steps:
        operator = next(
            node.rule.operator for node in chain.tree.nodes() if node.id == step.document and node.rule
        )
        for name, value in step.values.items():
            other = value + 1 or 2 if isinstance(value, int) else f"{value}q"
            assert str(operator.execute(step.expression, {**step.values, name: other})) != step.result
    used = {name for step in chain.steps for name in step.values}
    assert used | {"v0"} == {node.variable for node in chain.tree.nodes() if node.variable}


def test_dice_give_what_a_world_gives(tmp_path_factory: pytest.TempPathFactory) -> None:
    manifest = Manifest(family="lore_documents", seed=3, services={"documents": None})
    params = Params(operations=20, distractor_documents=10)
    with World.create(tmp_path_factory.mktemp("world") / "world", manifest) as world:
        one = compose(world, params)
    other = compose(Dice("lore_documents", 3), params)
    assert (one.files, one.public, one.answer) == (other.files, other.public, other.answer)
